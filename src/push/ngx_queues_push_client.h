
/*
 * The parts of an attempt (ngx_queues_push_attempt.h).  It goes from state to
 * state, each in a file of its own, and ends by a failure, by an answer, or by
 * being aborted.  Whatever ends it closes its connection at once, but the
 * attempt itself is there until the event loop's turn is over: a function that
 * has called one of those that may end it must not use the connection after.
 */

#ifndef _NGX_QUEUES_PUSH_CLIENT_H_INCLUDED_
#define _NGX_QUEUES_PUSH_CLIENT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_event_connect.h>
#include <ngx_http.h>

#include "ngx_queues_push_attempt.h"


/* all heads of an answer together, those of 1xx too */
#define NGX_QUEUES_PUSH_HEAD_MAX       16384

/* an answer's bytes with all of its framing */
#define NGX_QUEUES_PUSH_RAW_MAX        (1024 * 1024)

/* addresses of an endpoint that are tried; all of them are checked */
#define NGX_QUEUES_PUSH_ADDRESSES_MAX  16

/* ms that a connection is kept: servers close theirs after 5 s and more */
#define NGX_QUEUES_PUSH_IDLE           4000


typedef enum {
    NGX_QUEUES_PUSH_NEW = 0,
    NGX_QUEUES_PUSH_RESOLVE,
    NGX_QUEUES_PUSH_CONNECT,
    NGX_QUEUES_PUSH_HANDSHAKE,
    NGX_QUEUES_PUSH_SEND,
    NGX_QUEUES_PUSH_READ,                  /* all of the request is written */
    NGX_QUEUES_PUSH_ENDED
} ngx_queues_push_state_e;


typedef enum {
    NGX_QUEUES_PUSH_STATUS = 0,
    NGX_QUEUES_PUSH_FIELDS,
    NGX_QUEUES_PUSH_BODY
} ngx_queues_push_part_e;


typedef enum {
    NGX_QUEUES_PUSH_UNTIL_CLOSE = 0,
    NGX_QUEUES_PUSH_NO_BODY,
    NGX_QUEUES_PUSH_LENGTH,
    NGX_QUEUES_PUSH_CHUNKED
} ngx_queues_push_framing_e;


typedef enum {
    NGX_QUEUES_PUSH_IDENTITY = 0,
    NGX_QUEUES_PUSH_GZIP,
    NGX_QUEUES_PUSH_DEFLATE,
    NGX_QUEUES_PUSH_OTHER
} ngx_queues_push_encoding_e;


typedef struct {
    ngx_http_request_t            *r;      /* only what nginx's parsers need */
    ngx_http_status_t              status;
    ngx_http_chunked_t             chunked;
    ngx_buf_t                     *buf;

    ngx_queues_push_part_e         part;
    ngx_queues_push_framing_e      framing;
    ngx_queues_push_encoding_e     encoding;

    off_t                          length;   /* left, with LENGTH */
    size_t                         raw;      /* bytes received */

    u_char                        *body;
    size_t                         len;
    size_t                         size;

    ngx_str_t                      retry_after;
    u_char                         retry_after_text[64];
    ngx_msec_t                     idle;     /* the connection may be kept */

    unsigned                       has_length:1;
    unsigned                       has_retry_after:1;
    unsigned                       keepalive:1;
    unsigned                       close:1;
    unsigned                       over:1;   /* the body is longer than
                                                the limit */
} ngx_queues_push_response_t;


typedef struct ngx_queues_push_kept_s  ngx_queues_push_kept_t;


struct ngx_queues_push_attempt_s {
    ngx_connection_t              *connection;
    ngx_resolver_ctx_t            *ctx;
    ngx_pool_t                    *pool;

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t                   ident;

    ngx_queues_push_state_e        state;
    ngx_queues_push_request_t      request;
    ngx_queues_push_answer_t       answer;

    ngx_str_t                      host;     /* zero terminated */
    ngx_addr_t                    *addrs;    /* all of them are permitted */
    ngx_uint_t                     naddrs;
    ngx_uint_t                     current;

    ngx_event_t                    turn;     /* begins it, and calls done */
    ngx_event_t                    deadline;
    ngx_event_t                    limit;    /* of one address of several */
    ngx_msec_t                     started;

    ngx_log_t                      log;

    ngx_buf_t                      bufs[2];  /* head and body */
    ngx_chain_t                    chain[2];
    ngx_chain_t                   *out;

    ngx_queues_push_response_t     response;
    ngx_queues_push_kept_t        *kept;     /* of a connection from there */

    u_char                         text[160];

    int                            alert;    /* of TLS, 0: none came */

    unsigned                       sent:1;
    unsigned                       reused:1;
    unsigned                       resent:1;
    unsigned                       unwritable:1;
};


#pragma GCC visibility push(hidden)


/*
 * _attempt.c.  fail ends it without an answer; a reason is a sentence that
 * lives as long as the attempt.  lost is for a connection that broke off after
 * the request was begun.  answered ends it by what the response holds.
 */
void ngx_queues_push_attempt_fail(ngx_queues_push_attempt_t *a,
    ngx_queues_stat_outcome_e class, const char *reason);
void ngx_queues_push_attempt_lost(ngx_queues_push_attempt_t *a,
    const char *reason);
void ngx_queues_push_attempt_answered(ngx_queues_push_attempt_t *a);

/*
 * Puts a sentence together: both texts, a colon between them.  It is in the
 * attempt.
 */
const char *ngx_queues_push_attempt_text(ngx_queues_push_attempt_t *a,
    const char *text, const char *detail);

/* nginx's own lines about endpoints are not for the error log */
void ngx_queues_push_attempt_quiet(ngx_log_t *log);

/* _target.c: goes on with a connection once all addresses are checked */
void ngx_queues_push_target_start(ngx_queues_push_attempt_t *a);
void ngx_queues_push_target_cancel(ngx_queues_push_attempt_t *a);

/*
 * _connect.c.  start takes a kept connection or tries the addresses in turn,
 * next goes on after a failure with one of them.  close ends a connection with
 * what belongs to it, and never waits.
 */
void ngx_queues_push_connect_start(ngx_queues_push_attempt_t *a);
void ngx_queues_push_connect_next(ngx_queues_push_attempt_t *a,
    ngx_queues_stat_outcome_e class, const char *reason);
void ngx_queues_push_connect_limit_handler(ngx_event_t *ev);
void ngx_queues_push_connect_close(ngx_connection_t *c);

/*
 * _tls.c.  closed is 1 if the endpoint has said that nothing more comes, which
 * without TLS is all that its end can say; alert
 * is a sentence about the fault for which it has ended TLS, or NULL.
 */
void ngx_queues_push_tls_start(ngx_queues_push_attempt_t *a);
ngx_uint_t ngx_queues_push_tls_closed(ngx_connection_t *c);
const char *ngx_queues_push_tls_alert(ngx_queues_push_attempt_t *a);

/* _send.c */
void ngx_queues_push_send_start(ngx_queues_push_attempt_t *a);

/* 1 if the endpoint has certainly not got all of the request */
ngx_uint_t ngx_queues_push_send_incomplete(ngx_queues_push_attempt_t *a);

/* _response.c */
ngx_int_t ngx_queues_push_response_start(ngx_queues_push_attempt_t *a);
void ngx_queues_push_response_handler(ngx_event_t *rev);
void ngx_queues_push_response_read(ngx_queues_push_attempt_t *a);
void ngx_queues_push_response_free(ngx_queues_push_attempt_t *a);

/*
 * _fields.c: parses the heads.  NGX_OK with part BODY, NGX_AGAIN, or NGX_ERROR
 * with *reason.
 */
ngx_int_t ngx_queues_push_fields_parse(ngx_queues_push_attempt_t *a,
    const char **reason);

/*
 * _inflate.c: replaces the response's body by what it says when unpacked, at
 * most the limit of it, and sets over where there is more.  NGX_ERROR where it
 * cannot be.
 */
ngx_int_t ngx_queues_push_inflate(ngx_queues_push_response_t *response,
    ngx_log_t *log);

/*
 * _pool.c: kept connections.  take returns NULL where there is none that the
 * attempt may use, keep NGX_DECLINED where the caller is to close it.
 */
void ngx_queues_push_pool_init(ngx_cycle_t *cycle);
ngx_connection_t *ngx_queues_push_pool_take(ngx_queues_push_attempt_t *a);
ngx_int_t ngx_queues_push_pool_keep(ngx_queues_push_attempt_t *a);
void ngx_queues_push_pool_drain(void);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_PUSH_CLIENT_H_INCLUDED_ */
