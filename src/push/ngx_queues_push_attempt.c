
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_push_client.h"


static void ngx_queues_push_attempt_init_event(ngx_queues_push_attempt_t *a,
    ngx_event_t *ev, ngx_event_handler_pt handler);
static ngx_int_t ngx_queues_push_attempt_copy_host(
    ngx_queues_push_attempt_t *a);
static u_char *ngx_queues_push_attempt_log(ngx_log_t *log, u_char *buf,
    size_t len);
static void ngx_queues_push_attempt_turn_handler(ngx_event_t *ev);
static void ngx_queues_push_attempt_deadline_handler(ngx_event_t *ev);
static void ngx_queues_push_attempt_end(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_attempt_stop(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_attempt_report(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_attempt_free(ngx_queues_push_attempt_t *a);


static ngx_uint_t  ngx_queues_push_attempts;


ngx_queues_push_attempt_t *
ngx_queues_push_attempt_start(ngx_queues_push_request_t *request)
{
    ngx_pool_t                 *pool;
    ngx_queues_push_attempt_t  *a;

    pool = ngx_create_pool(4096, ngx_cycle->log);
    if (pool == NULL) {
        return NULL;
    }

    a = ngx_pcalloc(pool, sizeof(ngx_queues_push_attempt_t));
    if (a == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    a->pool = pool;
    a->ident = (ngx_socket_t) -1;
    a->request = *request;
    a->started = ngx_current_msec;

    a->log = *ngx_cycle->log;
    a->log.handler = ngx_queues_push_attempt_log;
    a->log.data = a;
    a->log.action = NULL;

    ngx_queues_push_attempt_quiet(&a->log);

    if (ngx_queues_push_attempt_copy_host(a) != NGX_OK) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    ngx_queues_push_attempt_init_event(a, &a->turn,
                                       ngx_queues_push_attempt_turn_handler);
    ngx_queues_push_attempt_init_event(a, &a->deadline,
                                     ngx_queues_push_attempt_deadline_handler);
    ngx_queues_push_attempt_init_event(a, &a->limit,
                                       ngx_queues_push_connect_limit_handler);

    /* the deadline holds a worker that leaves, the other one need not */

    a->limit.cancelable = 1;

    ngx_add_timer(&a->deadline, request->timeout);

    ngx_post_event(&a->turn, &ngx_posted_events);

    ngx_queues_push_attempts++;

    return a;
}


static void
ngx_queues_push_attempt_init_event(ngx_queues_push_attempt_t *a,
    ngx_event_t *ev, ngx_event_handler_pt handler)
{
    ev->data = a;
    ev->handler = handler;
    ev->log = &a->log;
}


static ngx_int_t
ngx_queues_push_attempt_copy_host(ngx_queues_push_attempt_t *a)
{
    ngx_str_t  *host;

    host = &a->request.endpoint->host;

    a->host.data = ngx_pnalloc(a->pool, host->len + 1);
    if (a->host.data == NULL) {
        return NGX_ERROR;
    }

    a->host.len = host->len;
    (void) ngx_cpystrn(a->host.data, host->data, host->len + 1);

    return NGX_OK;
}


/*
 * What nginx says of an endpoint's faults, in levels up to "crit", would let
 * anybody fill the log.  Its alerts are about this worker.
 */

void
ngx_queues_push_attempt_quiet(ngx_log_t *log)
{
    if (!(log->log_level & NGX_LOG_DEBUG_ALL)) {
        log->log_level = ngx_min(log->log_level, NGX_LOG_ALERT);
    }
}


static u_char *
ngx_queues_push_attempt_log(ngx_log_t *log, u_char *buf, size_t len)
{
    ngx_queues_push_attempt_t  *a;

    a = log->data;

    return ngx_snprintf(buf, len, " while delivering to \"%V\"", &a->host);
}


static void
ngx_queues_push_attempt_turn_handler(ngx_event_t *ev)
{
    ngx_queues_push_attempt_t  *a;

    a = ev->data;

    if (a->state == NGX_QUEUES_PUSH_NEW) {
        ngx_queues_push_target_start(a);
        return;
    }

    a->request.done(a->request.data, &a->answer);

    ngx_queues_push_attempt_free(a);
}


static void
ngx_queues_push_attempt_deadline_handler(ngx_event_t *ev)
{
    const char                 *reason;
    ngx_queues_push_attempt_t  *a;

    a = ev->data;

    switch (a->state) {

    case NGX_QUEUES_PUSH_NEW:
    case NGX_QUEUES_PUSH_RESOLVE:
        reason = "The look-up of the endpoint's name took too long.";
        break;

    case NGX_QUEUES_PUSH_CONNECT:
        reason = "The endpoint could not be connected to in time.";
        break;

    case NGX_QUEUES_PUSH_HANDSHAKE:
        reason = "The endpoint did not finish the TLS handshake in time.";
        break;

    case NGX_QUEUES_PUSH_SEND:
        reason = "The endpoint did not take the request in time.";
        break;

    default:
        reason = "The endpoint did not answer in time.";
        break;
    }

    ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_TIMEOUT, reason);
}


ngx_uint_t
ngx_queues_push_attempt_sent(ngx_queues_push_attempt_t *attempt)
{
    return attempt->sent;
}


void
ngx_queues_push_attempt_abort(ngx_queues_push_attempt_t *attempt)
{
    if (attempt->connection) {
        ngx_queues_push_connect_close(attempt->connection);
        attempt->connection = NULL;
    }

    ngx_queues_push_attempt_stop(attempt);
    ngx_queues_push_attempt_free(attempt);
}


void
ngx_queues_push_attempt_fail(ngx_queues_push_attempt_t *a,
    ngx_queues_stat_outcome_e class, const char *reason)
{
    a->answer.class = class;
    a->answer.reason = reason;

    ngx_queues_push_attempt_end(a);
}


/*
 * A kept connection may have been closed by the endpoint while the request was
 * on its way.  Once, and if it cannot have been read, it is sent again.
 */

void
ngx_queues_push_attempt_lost(ngx_queues_push_attempt_t *a, const char *reason)
{
    if (a->reused && !a->resent && a->response.raw == 0
        && ngx_queues_push_send_incomplete(a))
    {
        ngx_queues_push_connect_close(a->connection);

        a->connection = NULL;
        a->kept = NULL;
        a->reused = 0;
        a->resent = 1;

        ngx_queues_push_connect_start(a);
        return;
    }

    ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION, reason);
}


/* of a failure that has a status, the body only illustrates the message */

void
ngx_queues_push_attempt_answered(ngx_queues_push_attempt_t *a)
{
    ngx_queues_push_response_t  *response;

    response = &a->response;

    if (ngx_queues_push_inflate(response, &a->log) != NGX_OK) {

        if (response->status.code < 300) {
            ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The body of the answer is not readable.");
            return;
        }

        response->len = 0;
        response->over = 1;
    }

    a->answer.class = NGX_QUEUES_STAT_HTTP;
    a->answer.status = response->status.code;
    a->answer.body.data = response->body;
    a->answer.body.len = response->len;
    a->answer.whole = !response->over;
    a->answer.retry_after = response->retry_after;

    if (ngx_queues_push_pool_keep(a) == NGX_OK) {
        a->connection = NULL;
    }

    ngx_queues_push_attempt_end(a);
}


static void
ngx_queues_push_attempt_end(ngx_queues_push_attempt_t *a)
{
    ngx_queues_push_attempt_report(a);

    if (a->connection) {
        ngx_queues_push_connect_close(a->connection);
        a->connection = NULL;
    }

    ngx_queues_push_attempt_stop(a);

    a->state = NGX_QUEUES_PUSH_ENDED;

    ngx_post_event(&a->turn, &ngx_posted_events);
}


static void
ngx_queues_push_attempt_stop(ngx_queues_push_attempt_t *a)
{
    ngx_queues_push_target_cancel(a);

    if (a->deadline.timer_set) {
        ngx_del_timer(&a->deadline);
    }

    if (a->limit.timer_set) {
        ngx_del_timer(&a->limit);
    }

    if (a->turn.posted) {
        ngx_delete_posted_event(&a->turn);
    }
}


static void
ngx_queues_push_attempt_report(ngx_queues_push_attempt_t *a)
{
    ngx_msec_t  ms;

    ms = ngx_current_msec - a->started;

    if (a->answer.class == NGX_QUEUES_STAT_HTTP) {
        ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                      "delivery to \"%V\" was answered %ui after %M ms",
                      &a->host, a->answer.status, ms);
        return;
    }

    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0,
                  "delivery to \"%V\" failed after %M ms: %s",
                  &a->host, ms, a->answer.reason);
}


const char *
ngx_queues_push_attempt_text(ngx_queues_push_attempt_t *a, const char *text,
    const char *detail)
{
    u_char  *p;

    p = ngx_snprintf(a->text, sizeof(a->text) - 2, "%s: %s", text, detail);

    *p++ = '.';
    *p = '\0';

    return (const char *) a->text;
}


static void
ngx_queues_push_attempt_free(ngx_queues_push_attempt_t *a)
{
    ngx_queues_push_response_free(a);

    ngx_destroy_pool(a->pool);

    ngx_queues_push_attempts--;
}


ngx_int_t
ngx_queues_push_attempts_init(ngx_cycle_t *cycle)
{
    ngx_queues_push_attempts = 0;

    ngx_queues_push_pool_init(cycle);

    return NGX_OK;
}


ngx_uint_t
ngx_queues_push_attempts_exit(ngx_cycle_t *cycle)
{
    ngx_queues_push_pool_drain();

    return ngx_queues_push_attempts;
}


void
ngx_queues_push_attempts_drain(void)
{
    ngx_queues_push_pool_drain();
}
