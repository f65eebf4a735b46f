
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_calls.h"
#include "ngx_queues_redis_error.h"
#include "ngx_queues_redis_wake.h"


#define NGX_QUEUES_REDIS_NAME_MAX  128


static ngx_int_t ngx_queues_redis_calls_open(ngx_queues_redis_calls_t *calls,
    ngx_cycle_t *cycle, ngx_queues_conf_redis_t *conf,
    const ngx_queues_redis_role_t *role);
static void ngx_queues_redis_calls_close(ngx_queues_redis_calls_t *calls);
static ngx_int_t ngx_queues_redis_calls_start(ngx_queues_redis_calls_t *calls,
    const char *function, ngx_str_t *key, ngx_str_t *args, ngx_uint_t nargs,
    ngx_queues_redis_done_pt done, void *data);
static ngx_queues_redis_command_t *ngx_queues_redis_calls_create(
    ngx_queues_redis_link_t *l, const char *function, ngx_str_t *key,
    ngx_str_t *args, ngx_uint_t nargs);
static ngx_int_t ngx_queues_redis_calls_refuse(
    ngx_queues_redis_calls_t *calls, ngx_queues_redis_done_pt done,
    void *data);
static void ngx_queues_redis_calls_refuse_handler(ngx_event_t *ev);
static void ngx_queues_redis_calls_ready(ngx_queues_redis_link_t *l);
static void ngx_queues_redis_calls_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply);
static ngx_queues_redis_result_e ngx_queues_redis_calls_error(
    ngx_queues_redis_calls_t *calls, ngx_queues_redis_command_t *cmd,
    ngx_str_t *str);
static void ngx_queues_redis_calls_log(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_result_e rc, ngx_str_t *str);
static void ngx_queues_redis_calls_lost(ngx_queues_redis_link_t *l,
    ngx_queue_t *sent, ngx_queue_t *unsent);


static const ngx_queues_redis_role_t  ngx_queues_redis_calls_role = {
    ngx_string("commands"),
    ngx_string("ngx_queues-commands"),
    NGX_QUEUES_STAT_LINK_COMMANDS,
    1,
    ngx_queues_redis_calls_ready,
    ngx_queues_redis_calls_reply,
    ngx_queues_redis_calls_lost
};


static const ngx_queues_redis_role_t  ngx_queues_redis_durable_role = {
    ngx_string("sends"),
    ngx_string("ngx_queues-sends"),
    NGX_QUEUES_STAT_LINK_SENDS,
    1,
    ngx_queues_redis_calls_ready,
    ngx_queues_redis_calls_reply,
    ngx_queues_redis_calls_lost
};


static ngx_queues_redis_calls_t  ngx_queues_redis_calls;

/* WAIT holds up what follows it: sends that wait for replicas go apart */

static ngx_queues_redis_calls_t  ngx_queues_redis_durable;


ngx_int_t
ngx_queues_redis_calls_init(ngx_cycle_t *cycle, ngx_queues_conf_redis_t *conf)
{
    if (ngx_queues_redis_calls_open(&ngx_queues_redis_calls, cycle, conf,
                                    &ngx_queues_redis_calls_role)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (conf->replicas == 0) {
        return NGX_OK;
    }

    return ngx_queues_redis_calls_open(&ngx_queues_redis_durable, cycle, conf,
                                       &ngx_queues_redis_durable_role);
}


static ngx_int_t
ngx_queues_redis_calls_open(ngx_queues_redis_calls_t *calls,
    ngx_cycle_t *cycle, ngx_queues_conf_redis_t *conf,
    const ngx_queues_redis_role_t *role)
{
    ngx_queues_redis_link_t  *l;

    l = ngx_queues_redis_link_create(cycle, conf, role);
    if (l == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(calls, sizeof(ngx_queues_redis_calls_t));

    l->data = calls;
    l->leader = ngx_queues_redis_calls.link;

    calls->link = l;

    ngx_queue_init(&calls->waiting);
    ngx_queue_init(&calls->refused);

    ngx_queues_redis_deadline_init(calls);
    ngx_queues_redis_round_init(calls);
    ngx_queues_redis_hold_init(calls);

    calls->refuse.data = calls;
    calls->refuse.log = &l->log;
    calls->refuse.handler = ngx_queues_redis_calls_refuse_handler;

    ngx_queues_redis_link_start(l);

    return NGX_OK;
}


ngx_queues_redis_link_t *
ngx_queues_redis_calls_link(void)
{
    return ngx_queues_redis_calls.link;
}


void
ngx_queues_redis_calls_exit(void)
{
    ngx_queues_redis_calls_close(&ngx_queues_redis_durable);
    ngx_queues_redis_calls_close(&ngx_queues_redis_calls);
}


static void
ngx_queues_redis_calls_close(ngx_queues_redis_calls_t *calls)
{
    ngx_queue_t               sent, unsent;
    ngx_queues_redis_link_t  *l;

    l = calls->link;

    if (l == NULL) {
        return;
    }

    /* whoever starts a call when told of the loss gets NGX_ERROR */

    calls->link = NULL;

    ngx_queues_redis_link_stop(l);

    /* a link that is not there is not lost: whoever waits for it is told */

    ngx_queue_init(&sent);
    ngx_queue_init(&unsent);

    ngx_queues_redis_calls_lost(l, &sent, &unsent);

    if (calls->refuse.timer_set) {
        ngx_del_timer(&calls->refuse);
        ngx_queues_redis_calls_refuse_handler(&calls->refuse);
    }

    ngx_queues_redis_deadline_exit(calls);

    ngx_queues_redis_link_destroy(l);
}


ngx_int_t
ngx_queues_redis_call(const char *function, ngx_str_t *key, ngx_str_t *args,
    ngx_uint_t nargs, ngx_queues_redis_done_pt done, void *data)
{
    return ngx_queues_redis_calls_start(&ngx_queues_redis_calls, function, key,
                                        args, nargs, done, data);
}


ngx_int_t
ngx_queues_redis_call_durable(const char *function, ngx_str_t *key,
    ngx_str_t *args, ngx_uint_t nargs, ngx_queues_redis_done_pt done,
    void *data)
{
    ngx_queues_redis_calls_t  *calls;

    calls = &ngx_queues_redis_calls;

    if (calls->link && calls->link->conf->replicas) {
        calls = &ngx_queues_redis_durable;
    }

    return ngx_queues_redis_calls_start(calls, function, key, args, nargs,
                                        done, data);
}


static ngx_int_t
ngx_queues_redis_calls_start(ngx_queues_redis_calls_t *calls,
    const char *function, ngx_str_t *key, ngx_str_t *args, ngx_uint_t nargs,
    ngx_queues_redis_done_pt done, void *data)
{
    ngx_queues_redis_link_t     *l;
    ngx_queues_redis_command_t  *cmd;

    l = calls->link;

    if (l == NULL) {
        return NGX_ERROR;
    }

    if (l->state == NGX_QUEUES_REDIS_LINK_IDLE
        && !ngx_queues_redis_hold_on(calls))
    {
        return ngx_queues_redis_calls_refuse(calls, done, data);
    }

    cmd = ngx_queues_redis_calls_create(l, function, key, args, nargs);
    if (cmd == NULL) {
        return NGX_ERROR;
    }

    cmd->done = done;
    cmd->data = data;
    cmd->durable = (calls == &ngx_queues_redis_durable);
    cmd->call = 1;

    ngx_queues_redis_deadline_add(calls, cmd);

    if (l->state == NGX_QUEUES_REDIS_LINK_READY) {
        ngx_queues_redis_calls_send(calls, cmd);

    } else {
        ngx_queue_insert_tail(&calls->waiting, &cmd->queue);
    }

    return NGX_OK;
}


void
ngx_queues_redis_calls_send(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd)
{
    if (cmd->durable) {
        ngx_queues_redis_round_send(calls, cmd);
        return;
    }

    ngx_queues_redis_link_send(calls->link, cmd);
}


static ngx_queues_redis_command_t *
ngx_queues_redis_calls_create(ngx_queues_redis_link_t *l, const char *function,
    ngx_str_t *key, ngx_str_t *args, ngx_uint_t nargs)
{
    u_char     *p, name[NGX_QUEUES_REDIS_NAME_MAX];
    size_t      len;
    ngx_str_t   head[4], *library;

    library = &l->conf->library_name;
    len = ngx_strlen(function);

    if (library->len + 1 + len > NGX_QUEUES_REDIS_NAME_MAX) {
        ngx_log_error(NGX_LOG_ALERT, &l->log, 0,
                      "name of function \"%s\" is too long", function);
        return NULL;
    }

    p = ngx_cpymem(name, library->data, library->len);
    *p++ = '_';
    p = ngx_cpymem(p, function, len);

    ngx_str_set(&head[0], "FCALL");
    head[1].data = name;
    head[1].len = p - name;
    ngx_str_set(&head[2], "1");
    head[3] = *key;

    return ngx_queues_redis_command_create(head, 4, args, nargs);
}


static ngx_int_t
ngx_queues_redis_calls_refuse(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_done_pt done, void *data)
{
    ngx_queues_redis_command_t  *cmd;

    cmd = ngx_queues_redis_command_create(NULL, 0, NULL, 0);
    if (cmd == NULL) {
        return NGX_ERROR;
    }

    cmd->done = done;
    cmd->data = data;

    ngx_queue_insert_tail(&calls->refused, &cmd->queue);

    /*
     * In a later turn of the loop: the caller may try again at once.  By a
     * timer, as nothing else keeps a worker that is to leave from doing so
     * before whoever asked has his answer.
     */

    if (!calls->refuse.timer_set) {
        ngx_add_timer(&calls->refuse, 1);
    }

    return NGX_OK;
}


static void
ngx_queues_redis_calls_refuse_handler(ngx_event_t *ev)
{
    ngx_queue_t                 *q, refused;
    ngx_queues_redis_calls_t    *calls;
    ngx_queues_redis_command_t  *cmd;

    calls = ev->data;

    ngx_queue_init(&refused);

    ngx_queue_add(&refused, &calls->refused);
    ngx_queue_init(&calls->refused);

    while (!ngx_queue_empty(&refused)) {
        q = ngx_queue_head(&refused);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        ngx_queues_redis_calls_answer(cmd, NGX_QUEUES_REDIS_DOWN, NULL);
    }
}


/* the last of a command */

void
ngx_queues_redis_calls_answer(ngx_queues_redis_command_t *cmd,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply)
{
    void                      *data;
    ngx_queues_redis_done_pt   done;

    done = cmd->done;
    data = cmd->data;

    if (cmd->calls) {
        ngx_queues_redis_deadline_remove(cmd);

        if (reply) {
            ngx_queues_stat_observe(&ngx_queues_stat_counters->command,
                                    ngx_queues_stat_now() - cmd->since);
        }

        if (reply && rc != NGX_QUEUES_REDIS_OK && rc != NGX_QUEUES_REDIS_APP) {
            ngx_queues_redis_reply_free(reply);
            reply = NULL;
        }
    }

    ngx_queues_redis_command_free(cmd);

    if (done) {
        done(data, rc, reply);

    } else if (reply) {
        ngx_queues_redis_reply_free(reply);
    }
}


static void
ngx_queues_redis_calls_ready(ngx_queues_redis_link_t *l)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_calls_t    *calls;
    ngx_queues_redis_command_t  *cmd;

    calls = l->data;

    if (calls == &ngx_queues_redis_calls) {
        ngx_queues_redis_wake_follow(l);
    }

    l->moved = 0;

    ngx_queues_redis_hold_ready(calls);

    while (!ngx_queue_empty(&calls->waiting)) {
        q = ngx_queue_head(&calls->waiting);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        ngx_queues_redis_calls_send(calls, cmd);
    }
}


static void
ngx_queues_redis_calls_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_calls_t    *calls;
    ngx_queues_redis_result_e    rc;
    ngx_queues_redis_command_t  *cmd;

    calls = l->data;

    if (ngx_queue_empty(&l->sent)) {
        ngx_queues_redis_reply_free(reply);
        ngx_queues_redis_link_drop(l, "a reply to nothing");
        return;
    }

    q = ngx_queue_head(&l->sent);
    ngx_queue_remove(q);

    cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

    rc = NGX_QUEUES_REDIS_OK;

    if (reply->type == NGX_QUEUES_REDIS_ERROR) {

        if (cmd->calls && ngx_queues_redis_error_no_function(&reply->str)) {

            if (ngx_queues_redis_library_missing(calls, cmd) == NGX_OK) {
                ngx_queues_redis_reply_free(reply);
                return;
            }

            rc = ngx_queues_redis_library_result(cmd);
            ngx_queues_redis_calls_log(calls, rc, &reply->str);

        } else {
            rc = ngx_queues_redis_calls_error(calls, cmd, &reply->str);
        }

        if (ngx_queues_redis_hold_refused(calls, cmd, rc) == NGX_OK) {
            ngx_queues_redis_reply_free(reply);
            return;
        }

    } else if (cmd->durable && !cmd->abandoned) {
        ngx_queues_redis_round_hold(calls, cmd, reply);
        return;
    }

    ngx_queues_redis_calls_answer(cmd, rc, reply);
}


static ngx_queues_redis_result_e
ngx_queues_redis_calls_error(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd, ngx_str_t *str)
{
    const char                 *reason;
    ngx_queues_redis_result_e   rc;

    rc = ngx_queues_redis_error_parse(str);

    if (ngx_queues_redis_error_moved_on(rc) && calls->link->drop == NULL) {

        /* the primary, if there is one, is perhaps at another address */

        reason = ngx_queues_redis_result_text(rc);

        ngx_queues_redis_hold_start(&ngx_queues_redis_calls, reason);
        ngx_queues_redis_hold_start(&ngx_queues_redis_durable, reason);
        ngx_queues_redis_wake_drop(reason);
    }

    /* a WAIT behind what a replica has refused is an error there */

    if (cmd->calls && (cmd->call || calls->link->drop == NULL)) {
        ngx_queues_redis_calls_log(calls, rc, str);
    }

    return rc;
}


/* what the caller's own line in the log cannot explain */

static void
ngx_queues_redis_calls_log(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_result_e rc, ngx_str_t *str)
{
    ngx_uint_t  level;

    switch (rc) {

    case NGX_QUEUES_REDIS_SCRIPT:
        level = NGX_LOG_ALERT;
        break;

    case NGX_QUEUES_REDIS_NOAUTH:
    case NGX_QUEUES_REDIS_NOPERM:
    case NGX_QUEUES_REDIS_MOVED:
    case NGX_QUEUES_REDIS_OTHER:
        level = NGX_LOG_ERR;
        break;

    default:
        return;
    }

    /* thousands of calls may fail alike */

    if (calls->logged == ngx_time()) {
        return;
    }

    calls->logged = ngx_time();

    ngx_log_error(level, &calls->link->log, 0, "%s: \"%V\"",
                  ngx_queues_redis_result_text(rc), str);
}


static void
ngx_queues_redis_calls_lost(ngx_queues_redis_link_t *l, ngx_queue_t *sent,
    ngx_queue_t *unsent)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_result_e    rc;
    ngx_queues_redis_calls_t    *calls;
    ngx_queues_redis_command_t  *cmd;

    calls = l->data;

    /* before anybody is told: he may start a call that waits */

    ngx_queues_redis_hold_lost(calls, unsent);

    while (!ngx_queue_empty(sent)) {
        q = ngx_queue_head(sent);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        ngx_queues_redis_calls_answer(cmd, NGX_QUEUES_REDIS_LOST, NULL);
    }

    ngx_queues_redis_round_lost(calls);

    while (!ngx_queue_empty(unsent)) {
        q = ngx_queue_head(unsent);
        ngx_queue_remove(q);

        cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);

        /* who was told TIMEOUT waits for the reply or for LOST */

        rc = cmd->abandoned ? NGX_QUEUES_REDIS_LOST : NGX_QUEUES_REDIS_DOWN;

        ngx_queues_redis_calls_answer(cmd, rc, NULL);
    }
}


ngx_uint_t
ngx_queues_redis_ready(void)
{
    ngx_queues_redis_link_t  *l;

    l = ngx_queues_redis_calls.link;

    return l && l->state == NGX_QUEUES_REDIS_LINK_READY && l->drop == NULL;
}
