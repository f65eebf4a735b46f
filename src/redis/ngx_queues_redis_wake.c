
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_link.h"
#include "ngx_queues_redis_wake.h"


/* of a project is its key and this */
#define NGX_QUEUES_REDIS_CHANNEL      ":w"
#define NGX_QUEUES_REDIS_CHANNEL_LEN  (sizeof(NGX_QUEUES_REDIS_CHANNEL) - 1)

#define NGX_QUEUES_REDIS_QUEUE_MAX    64


typedef enum {
    NGX_QUEUES_REDIS_WATCH_NONE = 0,
    NGX_QUEUES_REDIS_WATCH_JOINING,
    NGX_QUEUES_REDIS_WATCH_JOINED
} ngx_queues_redis_watch_state_e;


typedef struct {
    ngx_str_node_t                   sn;        /* the project's key */
    ngx_queue_t                      queue;
    ngx_str_t                        channel;
    ngx_queues_redis_watch_state_e   state;
} ngx_queues_redis_watch_t;


typedef struct {
    ngx_queues_redis_link_t         *link;
    ngx_queues_redis_wake_pt         handler;

    ngx_rbtree_t                     rbtree;
    ngx_rbtree_node_t                sentinel;
    ngx_queue_t                      watches;

    time_t                           logged;
} ngx_queues_redis_wake_t;


static ngx_queues_redis_watch_t *ngx_queues_redis_watch_find(ngx_str_t *key);
static ngx_queues_redis_watch_t *ngx_queues_redis_watch_create(
    ngx_str_t *key);
static void ngx_queues_redis_watch_join(ngx_queues_redis_link_t *l,
    ngx_queues_redis_watch_t *watch);
static void ngx_queues_redis_wake_ready(ngx_queues_redis_link_t *l);
static void ngx_queues_redis_wake_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply);
static void ngx_queues_redis_wake_refused(void);
static void ngx_queues_redis_wake_push(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply);
static ngx_queues_redis_watch_t *ngx_queues_redis_wake_channel(
    ngx_queues_redis_reply_t *reply);
static ngx_uint_t ngx_queues_redis_wake_is(ngx_queues_redis_reply_t *reply,
    const char *kind);
static ngx_int_t ngx_queues_redis_wake_message(
    ngx_queues_redis_watch_t *watch, ngx_queues_redis_reply_t *reply);
static void ngx_queues_redis_wake_lost(ngx_queues_redis_link_t *l,
    ngx_queue_t *sent, ngx_queue_t *unsent);
static void ngx_queues_redis_wake_free(ngx_queue_t *commands);


static const ngx_queues_redis_role_t  ngx_queues_redis_wake_role = {
    ngx_string("hints"),
    ngx_string("ngx_queues-hints"),
    NGX_QUEUES_STAT_LINK_HINTS,
    0,
    ngx_queues_redis_wake_ready,
    ngx_queues_redis_wake_reply,
    ngx_queues_redis_wake_lost
};


static ngx_queues_redis_wake_t  ngx_queues_redis_wake;


ngx_int_t
ngx_queues_redis_wake_init(ngx_cycle_t *cycle, ngx_queues_conf_redis_t *conf,
    ngx_queues_redis_link_t *commands, ngx_queues_redis_wake_pt handler)
{
    ngx_queues_redis_link_t  *l;
    ngx_queues_redis_wake_t  *wake;

    l = ngx_queues_redis_link_create(cycle, conf, &ngx_queues_redis_wake_role);
    if (l == NULL) {
        return NGX_ERROR;
    }

    wake = &ngx_queues_redis_wake;

    l->leader = commands;

    wake->link = l;
    wake->handler = handler;

    ngx_rbtree_init(&wake->rbtree, &wake->sentinel,
                    ngx_str_rbtree_insert_value);
    ngx_queue_init(&wake->watches);

    ngx_queues_redis_link_start(l);

    return NGX_OK;
}


void
ngx_queues_redis_wake_exit(void)
{
    ngx_queue_t               *q;
    ngx_queues_redis_link_t   *l;
    ngx_queues_redis_wake_t   *wake;
    ngx_queues_redis_watch_t  *watch;

    wake = &ngx_queues_redis_wake;
    l = wake->link;

    if (l == NULL) {
        return;
    }

    ngx_queues_redis_link_stop(l);

    wake->link = NULL;

    while (!ngx_queue_empty(&wake->watches)) {
        q = ngx_queue_head(&wake->watches);
        ngx_queue_remove(q);

        watch = ngx_queue_data(q, ngx_queues_redis_watch_t, queue);

        ngx_free(watch);
    }

    ngx_queues_redis_link_destroy(l);
}


void
ngx_queues_redis_wake_drop(const char *reason)
{
    ngx_queues_redis_link_t  *l;

    l = ngx_queues_redis_wake.link;

    if (l && l->state == NGX_QUEUES_REDIS_LINK_READY && l->drop == NULL) {
        l->peers.turn++;
        ngx_queues_redis_link_drop(l, reason);
    }
}


void
ngx_queues_redis_wake_follow(ngx_queues_redis_link_t *commands)
{
    ngx_queues_redis_link_t  *l;

    l = ngx_queues_redis_wake.link;

    if (l == NULL || l->drop
        || l->state == NGX_QUEUES_REDIS_LINK_IDLE
        || l->state == NGX_QUEUES_REDIS_LINK_RESOLVING)
    {
        return;
    }

    /*
     * A replica takes subscribers, and the one that was the primary may have
     * taken this before the name or the socket led to the new one.
     */

    if (commands->moved || !ngx_queues_redis_link_beside(l, commands)) {
        ngx_queues_redis_link_drop(l, "Redis has moved");
    }
}


ngx_int_t
ngx_queues_redis_watch(ngx_str_t *key)
{
    ngx_queues_redis_link_t   *l;
    ngx_queues_redis_watch_t  *watch;

    l = ngx_queues_redis_wake.link;

    if (l == NULL) {
        return NGX_ERROR;
    }

    watch = ngx_queues_redis_watch_find(key);

    if (watch == NULL) {
        watch = ngx_queues_redis_watch_create(key);
        if (watch == NULL) {
            return NGX_ERROR;
        }
    }

    if (watch->state == NGX_QUEUES_REDIS_WATCH_JOINED) {
        return NGX_OK;
    }

    /* else all channels are joined when the link is ready */

    if (watch->state == NGX_QUEUES_REDIS_WATCH_NONE
        && l->state == NGX_QUEUES_REDIS_LINK_READY)
    {
        ngx_queues_redis_watch_join(l, watch);
    }

    return NGX_AGAIN;
}


static ngx_queues_redis_watch_t *
ngx_queues_redis_watch_find(ngx_str_t *key)
{
    uint32_t  hash;

    hash = ngx_crc32_short(key->data, key->len);

    return (ngx_queues_redis_watch_t *)
           ngx_str_rbtree_lookup(&ngx_queues_redis_wake.rbtree, key, hash);
}


static ngx_queues_redis_watch_t *
ngx_queues_redis_watch_create(ngx_str_t *key)
{
    u_char                    *p;
    ngx_queues_redis_watch_t  *watch;

    watch = ngx_alloc(sizeof(ngx_queues_redis_watch_t) + key->len
                      + NGX_QUEUES_REDIS_CHANNEL_LEN, ngx_cycle->log);
    if (watch == NULL) {
        return NULL;
    }

    p = (u_char *) watch + sizeof(ngx_queues_redis_watch_t);

    watch->state = NGX_QUEUES_REDIS_WATCH_NONE;

    watch->sn.str.data = p;
    watch->sn.str.len = key->len;
    watch->sn.node.key = ngx_crc32_short(key->data, key->len);

    watch->channel.data = p;
    watch->channel.len = key->len + NGX_QUEUES_REDIS_CHANNEL_LEN;

    p = ngx_cpymem(p, key->data, key->len);
    ngx_memcpy(p, NGX_QUEUES_REDIS_CHANNEL, NGX_QUEUES_REDIS_CHANNEL_LEN);

    ngx_rbtree_insert(&ngx_queues_redis_wake.rbtree, &watch->sn.node);
    ngx_queue_insert_tail(&ngx_queues_redis_wake.watches, &watch->queue);

    return watch;
}


static void
ngx_queues_redis_watch_join(ngx_queues_redis_link_t *l,
    ngx_queues_redis_watch_t *watch)
{
    ngx_str_t                    args[2];
    ngx_queues_redis_command_t  *cmd;

    ngx_str_set(&args[0], "SSUBSCRIBE");
    args[1] = watch->channel;

    cmd = ngx_queues_redis_command_create(args, 2, NULL, 0);

    if (cmd == NULL) {

        /* the next one who watches it tries again */

        watch->state = NGX_QUEUES_REDIS_WATCH_NONE;
        return;
    }

    cmd->silent = 1;
    watch->state = NGX_QUEUES_REDIS_WATCH_JOINING;

    ngx_queues_redis_link_send(l, cmd);
}


static void
ngx_queues_redis_wake_ready(ngx_queues_redis_link_t *l)
{
    ngx_queue_t               *q;
    ngx_queues_redis_wake_t   *wake;
    ngx_queues_redis_watch_t  *watch;

    wake = &ngx_queues_redis_wake;

    for (q = ngx_queue_head(&wake->watches);
         q != ngx_queue_sentinel(&wake->watches);
         q = ngx_queue_next(q))
    {
        watch = ngx_queue_data(q, ngx_queues_redis_watch_t, queue);

        ngx_queues_redis_watch_join(l, watch);
    }
}


static void
ngx_queues_redis_wake_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply)
{
    switch (reply->type) {

    case NGX_QUEUES_REDIS_ARRAY:
        ngx_queues_redis_wake_push(l, reply);
        break;

    case NGX_QUEUES_REDIS_ERROR:

        /* joining was refused: the next one who waits asks again */

        ngx_queues_redis_wake_refused();

        if (ngx_queues_redis_wake.logged != ngx_time()) {
            ngx_queues_redis_wake.logged = ngx_time();

            ngx_log_error(NGX_LOG_ERR, &l->log, 0,
                          "hints are refused: \"%V\"", &reply->str);
        }

        break;

    default:

        /* +PONG while nothing is watched */

        break;
    }

    ngx_queues_redis_reply_free(reply);
}


/* the error does not say which channel it is for */

static void
ngx_queues_redis_wake_refused(void)
{
    ngx_queue_t               *q;
    ngx_queues_redis_wake_t   *wake;
    ngx_queues_redis_watch_t  *watch;

    wake = &ngx_queues_redis_wake;

    for (q = ngx_queue_head(&wake->watches);
         q != ngx_queue_sentinel(&wake->watches);
         q = ngx_queue_next(q))
    {
        watch = ngx_queue_data(q, ngx_queues_redis_watch_t, queue);

        if (watch->state == NGX_QUEUES_REDIS_WATCH_JOINING) {
            watch->state = NGX_QUEUES_REDIS_WATCH_NONE;
        }
    }
}


static void
ngx_queues_redis_wake_push(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply)
{
    ngx_str_t                  none;
    ngx_queues_redis_watch_t  *watch;

    if (ngx_queues_redis_wake_is(reply, "pong")) {
        return;
    }

    watch = ngx_queues_redis_wake_channel(reply);

    if (watch == NULL) {
        goto unknown;
    }

    if (ngx_queues_redis_wake_is(reply, "ssubscribe")) {

        watch->state = NGX_QUEUES_REDIS_WATCH_JOINED;

        /* what was sent before it was joined gave no hint */

        ngx_str_null(&none);
        ngx_queues_redis_wake.handler(&watch->sn.str, &none);
        return;
    }

    if (ngx_queues_redis_wake_is(reply, "smessage")
        && ngx_queues_redis_wake_message(watch, reply) == NGX_OK)
    {
        return;
    }

    if (ngx_queues_redis_wake_is(reply, "sunsubscribe")) {

        /* the slot has moved to another node */

        ngx_queues_redis_watch_join(l, watch);
        return;
    }

unknown:

    ngx_log_error(NGX_LOG_INFO, &l->log, 0,
                  "ignored an unexpected message from Redis");
}


static ngx_queues_redis_watch_t *
ngx_queues_redis_wake_channel(ngx_queues_redis_reply_t *reply)
{
    ngx_str_t  key;

    if (reply->nelts != 3 || reply->elts[1].type != NGX_QUEUES_REDIS_STRING) {
        return NULL;
    }

    key = reply->elts[1].str;

    if (key.len < NGX_QUEUES_REDIS_CHANNEL_LEN) {
        return NULL;
    }

    key.len -= NGX_QUEUES_REDIS_CHANNEL_LEN;

    if (ngx_memcmp(key.data + key.len, NGX_QUEUES_REDIS_CHANNEL,
                   NGX_QUEUES_REDIS_CHANNEL_LEN)
        != 0)
    {
        return NULL;
    }

    return ngx_queues_redis_watch_find(&key);
}


static ngx_uint_t
ngx_queues_redis_wake_is(ngx_queues_redis_reply_t *reply, const char *kind)
{
    size_t                     len;
    ngx_queues_redis_reply_t  *first;

    if (reply->nelts == 0) {
        return 0;
    }

    first = &reply->elts[0];
    len = ngx_strlen(kind);

    return first->type == NGX_QUEUES_REDIS_STRING && first->str.len == len
           && ngx_memcmp(first->str.data, kind, len) == 0;
}


static ngx_int_t
ngx_queues_redis_wake_message(ngx_queues_redis_watch_t *watch,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_redis_reply_t  *queue;

    queue = &reply->elts[2];

    /* an empty one would say that anything may have changed */

    if (queue->type != NGX_QUEUES_REDIS_STRING || queue->str.len == 0
        || queue->str.len > NGX_QUEUES_REDIS_QUEUE_MAX)
    {
        return NGX_DECLINED;
    }

    ngx_queues_redis_wake.handler(&watch->sn.str, &queue->str);

    return NGX_OK;
}


static void
ngx_queues_redis_wake_lost(ngx_queues_redis_link_t *l, ngx_queue_t *sent,
    ngx_queue_t *unsent)
{
    ngx_str_t                  none;
    ngx_queue_t               *q;
    ngx_queues_redis_wake_t   *wake;
    ngx_queues_redis_watch_t  *watch;

    wake = &ngx_queues_redis_wake;

    ngx_queues_redis_wake_free(sent);
    ngx_queues_redis_wake_free(unsent);

    ngx_str_null(&none);

    for (q = ngx_queue_head(&wake->watches);
         q != ngx_queue_sentinel(&wake->watches);
         q = ngx_queue_next(q))
    {
        watch = ngx_queue_data(q, ngx_queues_redis_watch_t, queue);

        watch->state = NGX_QUEUES_REDIS_WATCH_NONE;

        /*
         * Hints are lost from now on: whoever waits looks, and finds that it
         * has to look by itself for a while.  Not where Redis is away as a
         * whole: then all look when it is back.
         */

        if (!l->stopped && ngx_queues_redis_ready()) {
            wake->handler(&watch->sn.str, &none);
        }
    }
}


static void
ngx_queues_redis_wake_free(ngx_queue_t *commands)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_command_t  *cmd;

    while (!ngx_queue_empty(commands)) {
        q = ngx_queue_head(commands);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        ngx_queues_redis_command_free(cmd);
    }
}
