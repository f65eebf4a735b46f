
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_event_connect.h>

#include "ngx_queues_redis_link.h"
#include "../net/ngx_queues_net.h"


#define NGX_QUEUES_REDIS_BUFFER_SIZE  65536
#define NGX_QUEUES_REDIS_MIN_DELAY    20
#define NGX_QUEUES_REDIS_MAX_DELAY    500

/* a connection that lasted less has not proved anything: back off further */
#define NGX_QUEUES_REDIS_PROVED       1000

/* seconds between two lines in the log about the same failure */
#define NGX_QUEUES_REDIS_LOG_PERIOD   10


static void ngx_queues_redis_link_init_event(ngx_queues_redis_link_t *l,
    ngx_event_t *ev, ngx_event_handler_pt handler);
static u_char *ngx_queues_redis_link_log(ngx_log_t *log, u_char *buf,
    size_t len);
static void ngx_queues_redis_link_retry_handler(ngx_event_t *ev);
static void ngx_queues_redis_link_limit_handler(ngx_event_t *ev);
static void ngx_queues_redis_link_drop_handler(ngx_event_t *ev);
static void ngx_queues_redis_link_attempt(ngx_queues_redis_link_t *l);
static void ngx_queues_redis_link_report(ngx_queues_redis_link_t *l,
    ngx_err_t err, const char *reason);
static void ngx_queues_redis_link_close(ngx_queues_redis_link_t *l);
static void ngx_queues_redis_link_pause(ngx_queues_redis_link_t *l,
    ngx_queues_redis_link_state_e was);


ngx_queues_redis_link_t *
ngx_queues_redis_link_create(ngx_cycle_t *cycle, ngx_queues_conf_redis_t *conf,
    const ngx_queues_redis_role_t *role)
{
    ngx_uint_t                i;
    ngx_queues_redis_link_t  *l;

    l = ngx_calloc(sizeof(ngx_queues_redis_link_t), cycle->log);
    if (l == NULL) {
        return NULL;
    }

    l->buffer = ngx_alloc(NGX_QUEUES_REDIS_BUFFER_SIZE, cycle->log);
    if (l->buffer == NULL) {
        ngx_free(l);
        return NULL;
    }

    l->conf = conf;
    l->role = role;
    l->ident = (ngx_socket_t) -1;
    l->delay = NGX_QUEUES_REDIS_MIN_DELAY;

    l->log = *cycle->log;
    l->log.handler = ngx_queues_redis_link_log;
    l->log.data = l;
    l->log.action = NULL;
    l->log_level = l->log.log_level;

    l->peers.addrs = conf->addrs;
    l->peers.naddrs = conf->naddrs;

    ngx_queue_init(&l->unsent);
    ngx_queue_init(&l->sent);

    for (i = 0; i < NGX_QUEUES_REDIS_CHAIN; i++) {
        l->bufs[i].memory = 1;
        l->chain[i].buf = &l->bufs[i];
    }

    ngx_queues_redis_link_init_event(l, &l->retry,
                                     ngx_queues_redis_link_retry_handler);
    ngx_queues_redis_link_init_event(l, &l->limit,
                                     ngx_queues_redis_link_limit_handler);
    ngx_queues_redis_link_init_event(l, &l->alive,
                                     ngx_queues_redis_alive_handler);
    ngx_queues_redis_link_init_event(l, &l->flush,
                                     ngx_queues_redis_link_flush_handler);
    ngx_queues_redis_link_init_event(l, &l->dropping,
                                     ngx_queues_redis_link_drop_handler);

    return l;
}


static void
ngx_queues_redis_link_init_event(ngx_queues_redis_link_t *l, ngx_event_t *ev,
    ngx_event_handler_pt handler)
{
    ev->data = l;
    ev->handler = handler;
    ev->log = &l->log;

    /* none of them may keep a worker from leaving */

    ev->cancelable = 1;
}


static u_char *
ngx_queues_redis_link_log(ngx_log_t *log, u_char *buf, size_t len)
{
    ngx_queues_redis_link_t  *l;

    l = log->data;

    return ngx_snprintf(buf, len, " while talking to Redis %V",
                        &l->conf->address);
}


void
ngx_queues_redis_link_start(ngx_queues_redis_link_t *l)
{
    ngx_queues_redis_link_attempt(l);
}


void
ngx_queues_redis_link_stop(ngx_queues_redis_link_t *l)
{
    l->stopped = 1;

    ngx_queues_redis_link_lost(l, 0, NULL);

    if (l->retry.timer_set) {
        ngx_del_timer(&l->retry);
    }
}


void
ngx_queues_redis_link_destroy(ngx_queues_redis_link_t *l)
{
    ngx_queues_redis_peers_free(l);
    ngx_free(l->buffer);
    ngx_free(l);
}


static void
ngx_queues_redis_link_retry_handler(ngx_event_t *ev)
{
    ngx_queues_redis_link_attempt(ev->data);
}


static void
ngx_queues_redis_link_limit_handler(ngx_event_t *ev)
{
    ngx_queues_redis_link_lost(ev->data, NGX_ETIMEDOUT,
                               "not ready within the connect timeout");
}


static void
ngx_queues_redis_link_attempt(ngx_queues_redis_link_t *l)
{
    /* what nginx itself says of a failure that is known already is noise */

    l->log.log_level = l->log_level;

    if (l->failure && ngx_time() - l->logged < NGX_QUEUES_REDIS_LOG_PERIOD
        && !(l->log_level & NGX_LOG_DEBUG_ALL))
    {
        l->log.log_level = NGX_LOG_ALERT;
    }

    l->state = NGX_QUEUES_REDIS_LINK_RESOLVING;

    ngx_queues_redis_peers_start(l);
}


void
ngx_queues_redis_link_ready(ngx_queues_redis_link_t *l)
{
    ngx_uint_t  level;

    ngx_del_timer(&l->limit);

    l->state = NGX_QUEUES_REDIS_LINK_READY;
    l->since = ngx_current_msec;
    l->log.log_level = l->log_level;

    level = l->failed ? NGX_LOG_NOTICE : NGX_LOG_INFO;

    ngx_log_error(level, &l->log, 0, "connection for %V is ready",
                  &l->role->name);

    if (l->made) {
        ngx_queues_stat_add(reconnects, 1);
    }

    l->made = 1;
    l->failed = 0;

    ngx_queues_stat_gauge(l->role->gauge, 1);

    ngx_queues_redis_alive_start(l);

    l->role->ready(l);
}


/* for callbacks of the reader and whoever else may not close at once */

void
ngx_queues_redis_link_drop(ngx_queues_redis_link_t *l, const char *reason)
{
    if (l->drop == NULL) {
        l->drop = reason;
    }

    ngx_post_event(&l->dropping, &ngx_posted_events);
}


/* the same, when what was sent has been answered: see _reply() in _io.c */

void
ngx_queues_redis_link_drain(ngx_queues_redis_link_t *l, const char *reason)
{
    if (ngx_queue_empty(&l->sent)) {
        ngx_queues_redis_link_drop(l, reason);
        return;
    }

    l->drop = reason;

    ngx_add_timer(&l->limit, l->conf->connect_timeout);
}


static void
ngx_queues_redis_link_drop_handler(ngx_event_t *ev)
{
    ngx_queues_redis_link_t  *l;

    l = ev->data;

    if (l->connection && l->connection->close) {

        /*
         * worker_shutdown_timeout: what closing the other connections has
         * made necessary, such as giving messages back, still leaves
         */

        l->stopped = 1;

        if (l->state == NGX_QUEUES_REDIS_LINK_READY) {
            ngx_queues_redis_link_write(l);
        }
    }

    if (l->drop) {
        ngx_queues_redis_link_lost(l, 0, l->drop);
    }
}


/*
 * The one way from any state to IDLE.  Without a reason nothing is logged: the
 * worker leaves.
 */

void
ngx_queues_redis_link_lost(ngx_queues_redis_link_t *l, ngx_err_t err,
    const char *reason)
{
    ngx_queue_t                    sent, unsent;
    ngx_queues_redis_link_state_e  was;

    was = l->state;

    if (was == NGX_QUEUES_REDIS_LINK_IDLE) {
        return;
    }

    if (reason) {

        /* what was found before says more than what came of it */

        ngx_queues_redis_link_report(l, err, l->drop ? l->drop : reason);
    }

    if (was == NGX_QUEUES_REDIS_LINK_READY) {
        ngx_queues_stat_gauge(l->role->gauge, -1);
    }

    l->state = NGX_QUEUES_REDIS_LINK_IDLE;

    ngx_queues_redis_peers_cancel(l);
    ngx_queues_redis_link_close(l);
    ngx_queues_redis_link_pause(l, was);

    /* what the role calls may issue new commands: they are not these */

    ngx_queue_init(&sent);
    ngx_queue_init(&unsent);

    if (!ngx_queue_empty(&l->sent)) {
        ngx_queue_add(&sent, &l->sent);
        ngx_queue_init(&l->sent);
    }

    if (!ngx_queue_empty(&l->unsent)) {
        ngx_queue_add(&unsent, &l->unsent);
        ngx_queue_init(&l->unsent);
    }

    l->role->lost(l, &sent, &unsent);
}


static void
ngx_queues_redis_link_report(ngx_queues_redis_link_t *l, ngx_err_t err,
    const char *reason)
{
    ngx_uint_t  level;

    l->log.log_level = l->log_level;

    level = l->stopped ? NGX_LOG_INFO : NGX_LOG_ERR;

    if (l->state == NGX_QUEUES_REDIS_LINK_READY) {
        ngx_log_error(level, &l->log, err, "connection for %V lost: %s",
                      &l->role->name, reason);

    } else if (ngx_queues_redis_link_loud(l, reason)) {
        ngx_log_error(level, &l->log, err, "no connection for %V: %s",
                      &l->role->name, reason);
        l->failure = reason;
        l->logged = ngx_time();
    }

    l->failed = 1;
}


ngx_uint_t
ngx_queues_redis_link_loud(ngx_queues_redis_link_t *l, const char *reason)
{
    time_t  passed;

    passed = ngx_time() - l->logged;

    return passed >= NGX_QUEUES_REDIS_LOG_PERIOD
           || (passed > 0 && l->failure != reason);
}


static void
ngx_queues_redis_link_close(ngx_queues_redis_link_t *l)
{
    ngx_connection_t  *c;

    l->drop = NULL;
    l->pinged = 0;

    if (l->limit.timer_set) {
        ngx_del_timer(&l->limit);
    }

    if (l->alive.timer_set) {
        ngx_del_timer(&l->alive);
    }

    if (l->flush.posted) {
        ngx_delete_posted_event(&l->flush);
    }

    if (l->dropping.posted) {
        ngx_delete_posted_event(&l->dropping);
    }

    if (l->reader) {
        ngx_queues_redis_reader_free(l->reader);
        l->reader = NULL;
    }

    c = l->connection;

    if (c == NULL) {
        return;
    }

    l->connection = NULL;

    if (c->ssl) {
        ngx_queues_net_tls_close(c);
    }

    if (c->pool) {
        ngx_destroy_pool(c->pool);
    }

    ngx_close_connection(c);
}


static void
ngx_queues_redis_link_pause(ngx_queues_redis_link_t *l,
    ngx_queues_redis_link_state_e was)
{
    ngx_msec_t  delay;

    if (was == NGX_QUEUES_REDIS_LINK_READY) {
        if (ngx_current_msec - l->since >= NGX_QUEUES_REDIS_PROVED) {
            l->delay = NGX_QUEUES_REDIS_MIN_DELAY;
        }

    } else {
        l->peers.turn++;
    }

    if (l->stopped) {
        return;
    }

    /* workers and hosts lose Redis in the same moment */

    delay = l->delay * (75 + ngx_random() % 51) / 100;

    ngx_add_timer(&l->retry, delay);

    /* the other addresses are tried before it gets slower */

    if (was == NGX_QUEUES_REDIS_LINK_READY || l->peers.naddrs == 0
        || l->peers.turn % l->peers.naddrs == 0)
    {
        l->delay = ngx_min(l->delay * 2, NGX_QUEUES_REDIS_MAX_DELAY);
    }
}
