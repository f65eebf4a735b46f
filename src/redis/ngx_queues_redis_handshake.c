
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_link.h"
#include "ngx_queues_redis_error.h"


/* of an error text of Redis, which may repeat what was sent */
#define NGX_QUEUES_REDIS_TEXT_MAX  200


static void ngx_queues_redis_handshake_next(ngx_queues_redis_link_t *l);
static ngx_uint_t ngx_queues_redis_handshake_needed(
    ngx_queues_redis_link_t *l);
static ngx_queues_redis_command_t *ngx_queues_redis_handshake_command(
    ngx_queues_redis_link_t *l);
static ngx_queues_redis_command_t *ngx_queues_redis_handshake_auth(
    ngx_queues_conf_redis_t *conf);
static ngx_uint_t ngx_queues_redis_handshake_tolerated(
    ngx_queues_redis_link_t *l, ngx_str_t *text);
static void ngx_queues_redis_handshake_failed(ngx_queues_redis_link_t *l,
    ngx_str_t *text);
static const char *ngx_queues_redis_handshake_reason(
    ngx_queues_redis_link_t *l, ngx_queues_redis_result_e rc, ngx_str_t *text);


/*
 * One step at a time: a server that refuses AUTH may drop what follows it, and
 * then replies would be taken for those of other commands.
 */

void
ngx_queues_redis_handshake_start(ngx_queues_redis_link_t *l)
{
    l->step = NGX_QUEUES_REDIS_HANDSHAKE_AUTH;

    ngx_queues_redis_handshake_next(l);
}


void
ngx_queues_redis_handshake_reply(ngx_queues_redis_link_t *l,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queue_t                 *q;
    ngx_queues_redis_command_t  *cmd;

    if (l->drop) {
        ngx_queues_redis_reply_free(reply);
        return;
    }

    if (ngx_queue_empty(&l->sent)) {
        ngx_queues_redis_reply_free(reply);
        ngx_queues_redis_link_drop(l, "a reply to nothing");
        return;
    }

    q = ngx_queue_head(&l->sent);
    ngx_queue_remove(q);

    cmd = ngx_queue_data(q, ngx_queues_redis_command_t, queue);
    ngx_queues_redis_command_free(cmd);

    if (reply->type == NGX_QUEUES_REDIS_ERROR
        && !ngx_queues_redis_handshake_tolerated(l, &reply->str))
    {
        ngx_queues_redis_handshake_failed(l, &reply->str);

    } else {
        l->step++;
        ngx_queues_redis_handshake_next(l);
    }

    ngx_queues_redis_reply_free(reply);
}


static void
ngx_queues_redis_handshake_next(ngx_queues_redis_link_t *l)
{
    ngx_queues_redis_command_t  *cmd;

    while (!ngx_queues_redis_handshake_needed(l)) {
        l->step++;
    }

    if (l->step == NGX_QUEUES_REDIS_HANDSHAKE_DONE) {
        ngx_queues_redis_link_ready(l);
        return;
    }

    cmd = ngx_queues_redis_handshake_command(l);

    if (cmd == NULL) {
        ngx_queues_redis_link_drop(l, "no memory");
        return;
    }

    ngx_queues_redis_link_send(l, cmd);
}


static ngx_uint_t
ngx_queues_redis_handshake_needed(ngx_queues_redis_link_t *l)
{
    switch (l->step) {

    case NGX_QUEUES_REDIS_HANDSHAKE_AUTH:
        return l->conf->password.len != 0;

    case NGX_QUEUES_REDIS_HANDSHAKE_SELECT:
        return l->conf->database != 0;

    case NGX_QUEUES_REDIS_HANDSHAKE_LOAD:
        return l->role->functions;

    default:
        return 1;
    }
}


static ngx_queues_redis_command_t *
ngx_queues_redis_handshake_command(ngx_queues_redis_link_t *l)
{
    u_char     digits[NGX_INT_T_LEN];
    ngx_str_t  args[3];

    switch (l->step) {

    case NGX_QUEUES_REDIS_HANDSHAKE_AUTH:
        return ngx_queues_redis_handshake_auth(l->conf);

    case NGX_QUEUES_REDIS_HANDSHAKE_SELECT:
        ngx_str_set(&args[0], "SELECT");
        args[1].data = digits;
        args[1].len = ngx_sprintf(digits, "%ui", l->conf->database) - digits;
        return ngx_queues_redis_command_create(args, 2, NULL, 0);

    case NGX_QUEUES_REDIS_HANDSHAKE_SETNAME:
        ngx_str_set(&args[0], "CLIENT");
        ngx_str_set(&args[1], "SETNAME");
        args[2] = l->role->client;
        return ngx_queues_redis_command_create(args, 3, NULL, 0);

    case NGX_QUEUES_REDIS_HANDSHAKE_LOAD:
        return ngx_queues_redis_handshake_load(l->conf);

    default: /* NGX_QUEUES_REDIS_HANDSHAKE_PING */
        ngx_str_set(&args[0], "PING");
        return ngx_queues_redis_command_create(args, 1, NULL, 0);
    }
}


static ngx_queues_redis_command_t *
ngx_queues_redis_handshake_auth(ngx_queues_conf_redis_t *conf)
{
    ngx_uint_t  n;
    ngx_str_t   args[3];

    ngx_str_set(&args[0], "AUTH");
    n = 1;

    if (conf->user.len) {
        args[n++] = conf->user;
    }

    args[n++] = conf->password;

    return ngx_queues_redis_command_create(args, n, NULL, 0);
}


ngx_queues_redis_command_t *
ngx_queues_redis_handshake_load(ngx_queues_conf_redis_t *conf)
{
    ngx_str_t  args[3];

    ngx_str_set(&args[0], "FUNCTION");
    ngx_str_set(&args[1], "LOAD");
    args[2] = conf->library;

    return ngx_queues_redis_command_create(args, 3, NULL, 0);
}


/*
 * A Redis that takes no writes refuses to load what it has already, and what
 * makes room in it, such as to acknowledge, must work all the same.
 */

static ngx_uint_t
ngx_queues_redis_handshake_tolerated(ngx_queues_redis_link_t *l,
    ngx_str_t *text)
{
    if (l->step == NGX_QUEUES_REDIS_HANDSHAKE_SETNAME) {

        /* the name is for people who look at CLIENT LIST */

        return ngx_queues_redis_error_parse(text) == NGX_QUEUES_REDIS_NOPERM;
    }

    if (l->step != NGX_QUEUES_REDIS_HANDSHAKE_LOAD) {
        return 0;
    }

    if (ngx_queues_redis_error_loaded(text)) {
        return 1;
    }

    switch (ngx_queues_redis_error_parse(text)) {

    case NGX_QUEUES_REDIS_OOM:
    case NGX_QUEUES_REDIS_MISCONF:
    case NGX_QUEUES_REDIS_NOREPLICAS:
        return 1;

    default:
        return 0;
    }
}


static void
ngx_queues_redis_handshake_failed(ngx_queues_redis_link_t *l, ngx_str_t *text)
{
    size_t                      len;
    const char                 *reason;
    ngx_queues_redis_result_e   rc;

    rc = ngx_queues_redis_error_parse(text);
    reason = ngx_queues_redis_handshake_reason(l, rc, text);

    /* an unknown command is answered with its arguments: not the password */

    if (ngx_queues_redis_link_loud(l, reason)
        && !(l->step == NGX_QUEUES_REDIS_HANDSHAKE_AUTH
             && ngx_queues_redis_error_unknown(text)))
    {
        len = ngx_min(text->len, NGX_QUEUES_REDIS_TEXT_MAX);

        ngx_log_error(NGX_LOG_ERR, &l->log, 0, "Redis answered: \"%*s\"",
                      len, text->data);
    }

    if (rc == NGX_QUEUES_REDIS_READONLY || rc == NGX_QUEUES_REDIS_MASTERDOWN) {
        l->moved = 1;
    }

    ngx_queues_redis_link_drop(l, reason);
}


static const char *
ngx_queues_redis_handshake_reason(ngx_queues_redis_link_t *l,
    ngx_queues_redis_result_e rc, ngx_str_t *text)
{
    switch (rc) {

    case NGX_QUEUES_REDIS_NOAUTH:
        return l->conf->password.len
               ? "Redis does not accept the user name or the password"
               : "Redis wants a password and none is configured";

    case NGX_QUEUES_REDIS_OTHER:
    case NGX_QUEUES_REDIS_SCRIPT:

        if (ngx_queues_redis_error_unknown(text)) {
            return "Redis 7.0 or later is needed";
        }

        break;

    default:
        return ngx_queues_redis_result_text(rc);
    }

    switch (l->step) {

    case NGX_QUEUES_REDIS_HANDSHAKE_AUTH:
        return "Redis refused AUTH";

    case NGX_QUEUES_REDIS_HANDSHAKE_SELECT:
        return "Redis refused the database number";

    case NGX_QUEUES_REDIS_HANDSHAKE_SETNAME:
        return "Redis refused CLIENT SETNAME";

    case NGX_QUEUES_REDIS_HANDSHAKE_LOAD:
        return "Redis refused the function library";

    default:
        return "Redis refused PING";
    }
}
