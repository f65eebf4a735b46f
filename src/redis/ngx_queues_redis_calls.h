
/*
 * Calls of functions over a link: that of commands, and with
 * queues_redis_replicas one more for sends, where they go in rounds.
 */

#ifndef _NGX_QUEUES_REDIS_CALLS_H_INCLUDED_
#define _NGX_QUEUES_REDIS_CALLS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis_link.h"


typedef struct {
    /* both in the order of deadlines, as all commands have the same timeout */
    ngx_queue_t                  due;
    ngx_queue_t                  overdue;   /* abandoned */

    ngx_event_t                  event;
} ngx_queues_redis_deadline_t;


typedef struct {
    ngx_uint_t                   loading;
    ngx_queues_redis_result_e    rc;        /* of the last load */
} ngx_queues_redis_library_t;


typedef struct {
    ngx_queue_t                  held;      /* whose replies have come */
    ngx_event_t                  close;     /* posted: WAIT is to follow */
    ngx_uint_t                   waiting;   /* for WAIT's reply */
} ngx_queues_redis_round_t;


typedef struct {
    ngx_queue_t                  again;     /* the first of the next link */
    ngx_msec_t                   until;     /* it is waited for */
    ngx_uint_t                   on;
} ngx_queues_redis_hold_t;


struct ngx_queues_redis_calls_s {
    ngx_queues_redis_link_t     *link;

    ngx_queue_t                  waiting;   /* for the link to be ready, or
                                               for the next round */
    ngx_queue_t                  refused;   /* will be answered DOWN */

    ngx_event_t                  refuse;    /* a timer */

    time_t                       logged;

    ngx_queues_redis_deadline_t  deadline;
    ngx_queues_redis_library_t   library;
    ngx_queues_redis_round_t     round;
    ngx_queues_redis_hold_t      hold;
};


#pragma GCC visibility push(hidden)

/* _calls.c: start and outcome */
ngx_int_t ngx_queues_redis_calls_init(ngx_cycle_t *cycle,
    ngx_queues_conf_redis_t *conf);
void ngx_queues_redis_calls_exit(void);

/* that of commands: the others go where it is */
ngx_queues_redis_link_t *ngx_queues_redis_calls_link(void);

/* to the link, which is ready, or to the next round */
void ngx_queues_redis_calls_send(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd);

/* the last of a command: it is freed, the reply becomes the caller's */
void ngx_queues_redis_calls_answer(ngx_queues_redis_command_t *cmd,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);

/* _deadline.c */
void ngx_queues_redis_deadline_init(ngx_queues_redis_calls_t *calls);
void ngx_queues_redis_deadline_exit(ngx_queues_redis_calls_t *calls);
void ngx_queues_redis_deadline_add(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd);
void ngx_queues_redis_deadline_remove(ngx_queues_redis_command_t *cmd);

/* _library.c: NGX_OK when the command is sent again, after the library */
ngx_int_t ngx_queues_redis_library_missing(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd);
/* what to answer where it is not, or did not help */
ngx_queues_redis_result_e ngx_queues_redis_library_result(
    ngx_queues_redis_command_t *cmd);

/* _round.c: sends that are answered when replicas have them */
void ngx_queues_redis_round_init(ngx_queues_redis_calls_t *calls);
void ngx_queues_redis_round_send(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd);
void ngx_queues_redis_round_hold(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd, ngx_queues_redis_reply_t *reply);
void ngx_queues_redis_round_lost(ngx_queues_redis_calls_t *calls);

/* _hold.c: calls that outlast a failover */
void ngx_queues_redis_hold_init(ngx_queues_redis_calls_t *calls);
void ngx_queues_redis_hold_start(ngx_queues_redis_calls_t *calls,
    const char *reason);
ngx_uint_t ngx_queues_redis_hold_on(ngx_queues_redis_calls_t *calls);
/* NGX_OK when the command, whose reply this is, goes once more */
ngx_int_t ngx_queues_redis_hold_refused(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd, ngx_queues_redis_result_e rc);
/* what is left in unsent is to be answered */
void ngx_queues_redis_hold_lost(ngx_queues_redis_calls_t *calls,
    ngx_queue_t *unsent);
void ngx_queues_redis_hold_ready(ngx_queues_redis_calls_t *calls);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_CALLS_H_INCLUDED_ */
