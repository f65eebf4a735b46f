
/*
 * One command of a link: the encoded request and who waits for its reply.
 */

#ifndef _NGX_QUEUES_REDIS_COMMAND_H_INCLUDED_
#define _NGX_QUEUES_REDIS_COMMAND_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis.h"


typedef struct ngx_queues_redis_calls_s  ngx_queues_redis_calls_t;

struct ngx_queues_redis_command_s {
    ngx_queue_t                 queue;      /* place on the link */
    ngx_queue_t                 due;        /* place among the deadlines */

    ngx_queues_redis_calls_t   *calls;      /* whose deadlines; NULL: none */

    ngx_queues_redis_done_pt    done;       /* NULL: the reply is not wanted */
    void                       *data;
    ngx_msec_t                  deadline;
    uint64_t                    since;      /* us, of a call */

    ngx_queues_redis_reply_t   *reply;      /* held for that of WAIT */

    u_char                     *pos;        /* not yet handed to the socket */
    u_char                     *last;

    unsigned                    abandoned:1;    /* was answered TIMEOUT */
    unsigned                    resent:1;   /* the library was missing once */
    unsigned                    silent:1;   /* no reply comes in order */
    unsigned                    durable:1;  /* OK only after WAIT's */
    unsigned                    call:1;     /* of a function */
    unsigned                    again:1;    /* was refused once by what was no
                                               primary */
};


#define ngx_queues_redis_command_start(cmd)                                   \
    ((u_char *) (cmd) + sizeof(ngx_queues_redis_command_t))


#pragma GCC visibility push(hidden)

/* The arguments of the command are those of head followed by args. */
ngx_queues_redis_command_t *ngx_queues_redis_command_create(ngx_str_t *head,
    ngx_uint_t nhead, ngx_str_t *args, ngx_uint_t nargs);
void ngx_queues_redis_command_free(ngx_queues_redis_command_t *cmd);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_COMMAND_H_INCLUDED_ */
