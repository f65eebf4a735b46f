
/*
 * One attempt to deliver: a POST to an endpoint over a connection of ours, to
 * an address that was checked.  It knows no queue and no store: an attempt is
 * started, ends by its done, or is aborted.  For src/push only.
 */

#ifndef _NGX_QUEUES_PUSH_ATTEMPT_H_INCLUDED_
#define _NGX_QUEUES_PUSH_ATTEMPT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "../base/ngx_queues_base_endpoint.h"
#include "../conf/ngx_queues_conf_push.h"
#include "../stat/ngx_queues_stat_metrics.h"


#define NGX_QUEUES_PUSH_ANSWER_MAX  65536      /* bytes of a body that are
                                                  read, decoded too */


/* lives until done returns */
typedef struct {
    ngx_queues_stat_outcome_e     class;
    ngx_uint_t                    status;      /* 0: there was no answer */
    ngx_str_t                     body;        /* decoded; cut at the limit */
    ngx_uint_t                    whole;       /* the body is all of it */
    ngx_str_t                     retry_after; /* the header, if there was
                                                  exactly one */
    const char                   *reason;      /* where it was no answer, for
                                                  a person */
} ngx_queues_push_answer_t;


/* Called exactly once, never before the start has returned. */
typedef void (*ngx_queues_push_done_pt)(void *data,
    ngx_queues_push_answer_t *answer);

/*
 * Writes header lines, each with its CRLF, to p, which has room for lines_max
 * bytes, just before the request is sent, and again where it is sent anew.
 * Returns the end, or NULL on failure.
 */
typedef u_char *(*ngx_queues_push_lines_pt)(void *data, u_char *p);


/* what it points to lives until done is called, or the attempt aborted */
typedef struct {
    ngx_queues_conf_push_t       *conf;
    ngx_queues_base_endpoint_t   *endpoint;
    ngx_msec_t                    timeout;     /* from the start to the end of
                                                  the answer */
    ngx_str_t                     body;
    ngx_queues_push_lines_pt      lines;
    size_t                        lines_max;
    void                        (*begun)(void *data);
                                               /* there is a connection; called
                                                  again where it is sent anew */
    ngx_queues_push_done_pt       done;
    void                         *data;
} ngx_queues_push_request_t;


typedef struct ngx_queues_push_attempt_s  ngx_queues_push_attempt_t;


#pragma GCC visibility push(hidden)


/* The request is copied, not what it points to.  NULL when out of memory. */
ngx_queues_push_attempt_t *ngx_queues_push_attempt_start(
    ngx_queues_push_request_t *request);

/* 1 once the first byte of the request may have left. */
ngx_uint_t ngx_queues_push_attempt_sent(ngx_queues_push_attempt_t *attempt);

/* Ends it without done. */
void ngx_queues_push_attempt_abort(ngx_queues_push_attempt_t *attempt);

/*
 * The worker's kept connections.  exit closes them and returns how many
 * attempts are not ended, which is 0 where nothing was forgotten.
 */
ngx_int_t ngx_queues_push_attempts_init(ngx_cycle_t *cycle);
ngx_uint_t ngx_queues_push_attempts_exit(ngx_cycle_t *cycle);

/* No connection is kept from now on: the worker is shutting down. */
void ngx_queues_push_attempts_drain(void);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_PUSH_ATTEMPT_H_INCLUDED_ */
