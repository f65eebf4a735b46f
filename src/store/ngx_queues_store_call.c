
#include "ngx_queues_store_call.h"
#include "ngx_queues_store_maintain.h"

#include <openssl/rand.h>


typedef struct {
    ngx_str_t                code;
    ngx_queues_store_code_e  value;
} ngx_queues_store_error_t;


static void ngx_queues_store_call_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_call_late(ngx_queues_store_call_t *call,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_call_note(ngx_queues_store_call_t *call,
    ngx_queues_redis_result_e rc);
static void ngx_queues_store_call_error(ngx_queues_store_call_t *call,
    ngx_str_t *text, ngx_queues_store_result_t *result);
static void ngx_queues_store_call_too_big(ngx_queues_store_call_t *call,
    ngx_str_t *word, ngx_queues_store_result_t *result);


/* the codes of docs/redis.md */

static ngx_queues_store_error_t  ngx_queues_store_errors[] = {
    { ngx_string("NOQUEUE"), NGX_QUEUES_STORE_NO_QUEUE },
    { ngx_string("EXISTS"), NGX_QUEUES_STORE_EXISTS },
    { ngx_string("IDTAKEN"), NGX_QUEUES_STORE_ID_TAKEN },
    { ngx_string("INUSE"), NGX_QUEUES_STORE_IN_USE },
    { ngx_string("TOOBIG"), NGX_QUEUES_STORE_TOO_BIG },
    { ngx_string("ISFIFO"), NGX_QUEUES_STORE_IS_FIFO },
    { ngx_string("NOTFIFO"), NGX_QUEUES_STORE_NOT_FIFO },
    { ngx_string("NODEDUP"), NGX_QUEUES_STORE_NO_DEDUPLICATION },
    { ngx_string("NODLQ"), NGX_QUEUES_STORE_NO_DEAD_LETTER },
    { ngx_string("DLQKIND"), NGX_QUEUES_STORE_DEAD_LETTER_KIND },
    { ngx_string("DLQSELF"), NGX_QUEUES_STORE_DEAD_LETTER_SELF },
    { ngx_string("CONFLICT"), NGX_QUEUES_STORE_CONFLICT },
    { ngx_string("NODEST"), NGX_QUEUES_STORE_NO_DESTINATION },
    { ngx_string("DESTKIND"), NGX_QUEUES_STORE_DESTINATION_KIND },
    { ngx_string("DESTSELF"), NGX_QUEUES_STORE_DESTINATION_SELF },
    { ngx_string("NOSUB"), NGX_QUEUES_STORE_NO_SUBSCRIPTION },
    { ngx_string("SUBEXISTS"), NGX_QUEUES_STORE_SUBSCRIPTION_EXISTS },
    { ngx_string("SEAL"), NGX_QUEUES_STORE_LOG_SEAL },
    { ngx_string("GROUPS"), NGX_QUEUES_STORE_TOO_MANY_GROUPS },
    { ngx_string("NOLANE"), NGX_QUEUES_STORE_NO_LANE },
    { ngx_string("NOMESSAGE"), NGX_QUEUES_STORE_NO_MESSAGE },
    { ngx_string("NOTOPIC"), NGX_QUEUES_STORE_NO_TOPIC },
    { ngx_string("NOSNAP"), NGX_QUEUES_STORE_NO_SNAPSHOT },
    { ngx_string("NODLTOPIC"), NGX_QUEUES_STORE_NO_DEAD_LETTER_TOPIC },
    { ngx_string("CHANGED"), NGX_QUEUES_STORE_CHANGED },
    { ngx_string("ISPUSH"), NGX_QUEUES_STORE_IS_PUSH },
    { ngx_string("DETACHED"), NGX_QUEUES_STORE_DETACHED },
    { ngx_string("FOREIGN"), NGX_QUEUES_STORE_FOREIGN },
    { ngx_string("TOOMANY"), NGX_QUEUES_STORE_TOO_MANY },
    { ngx_string("OTHERTOPIC"), NGX_QUEUES_STORE_OTHER_TOPIC },
    { ngx_string("TOOOLD"), NGX_QUEUES_STORE_TOO_OLD },
    { ngx_string("SEEKING"), NGX_QUEUES_STORE_SEEKING },
    { ngx_null_string, NGX_QUEUES_STORE_OK }
};


ngx_queues_store_call_t *
ngx_queues_store_call_create(ngx_str_t *root, ngx_queues_store_parse_pt parse,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_call_t  *call;

    call = ngx_alloc(sizeof(ngx_queues_store_call_t) + root->len,
                     ngx_cycle->log);
    if (call == NULL) {
        return NULL;
    }

    ngx_memzero(call, sizeof(ngx_queues_store_call_t));

    call->parse = parse;
    call->done = done;
    call->data = data;

    call->root.len = root->len;
    call->root.data = (u_char *) call + sizeof(ngx_queues_store_call_t);
    ngx_memcpy(call->root.data, root->data, root->len);

    return call;
}


ngx_int_t
ngx_queues_store_call_start(ngx_queues_store_call_t *call,
    const char *function, ngx_str_t *args, ngx_uint_t nargs)
{
    ngx_int_t  rc;

    if (call->durable) {
        rc = ngx_queues_redis_call_durable(function, &call->root, args, nargs,
                                           ngx_queues_store_call_done, call);

    } else {
        rc = ngx_queues_redis_call(function, &call->root, args, nargs,
                                   ngx_queues_store_call_done, call);
    }

    if (rc != NGX_OK) {
        ngx_queues_store_call_free(call);
    }

    return rc;
}


void
ngx_queues_store_call_free(ngx_queues_store_call_t *call)
{
    if (call->pool) {
        ngx_destroy_pool(call->pool);
    }

    ngx_free(call);
}


ngx_int_t
ngx_queues_store_call(const char *function, ngx_str_t *root, ngx_str_t *args,
    ngx_uint_t nargs, ngx_queues_store_kind_e kind,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root, parse, done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->reads = (kind == NGX_QUEUES_STORE_READS);
    call->tells = (kind == NGX_QUEUES_STORE_TELLS);

    return ngx_queues_store_call_start(call, function, args, nargs);
}


static void
ngx_queues_store_call_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_store_call_t *call = data;

    ngx_queues_store_result_t  result;

    ngx_queues_store_call_note(call, rc);

    if (call->answered) {
        ngx_queues_store_call_late(call, rc, reply);
        return;
    }

    ngx_memzero(&result, sizeof(ngx_queues_store_result_t));

    result.token = call->token;

    if (rc == NGX_QUEUES_REDIS_OK) {

        if (call->parse(call, reply, &result) != NGX_OK) {
            ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                          "unexpected reply of a Redis function");

            result.code = NGX_QUEUES_STORE_UNAVAILABLE;
            result.reason = "unexpected reply";

        } else if (call->tells && result.active >= 0
                   && ngx_queues_store_tell(&call->root, result.active, call,
                                            reply, &result)
                      == NGX_OK)
        {
            return;
        }

    } else if (rc == NGX_QUEUES_REDIS_APP) {
        ngx_queues_store_call_error(call, &reply->str, &result);

    } else {
        result.code = NGX_QUEUES_STORE_UNAVAILABLE;
        result.reason = ngx_queues_redis_result_text(rc);
    }

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {
        call->answered = 1;
        result.late = 1;
        call->done(call->data, &result);
        return;
    }

    ngx_queues_store_call_end(call, reply, &result);
}


void
ngx_queues_store_call_end(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    call->done(call->data, result);

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    ngx_queues_store_call_free(call);
}


/*
 * The reply of a command that was already answered as timed out: messages in
 * it are with nobody, and what has changed is to be known nevertheless.
 */

static void
ngx_queues_store_call_late(ngx_queues_store_call_t *call,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply)
{
    ngx_queues_store_result_t  result;

    if (rc == NGX_QUEUES_REDIS_OK && (call->late || call->tells)) {

        ngx_memzero(&result, sizeof(ngx_queues_store_result_t));

        result.token = call->token;

        if (call->parse(call, reply, &result) != NGX_OK) {
            ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                          "unexpected late reply of a Redis function");

        } else if (call->late) {
            call->late(call, &result);

        } else if (result.active >= 0) {
            (void) ngx_queues_store_tell(&call->root, result.active, NULL,
                                         NULL, NULL);
        }
    }

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    ngx_queues_store_call_free(call);
}


/*
 * What was executed, or perhaps was, may have made something due.  Not so what
 * was refused: who asks for queues that do not exist is not to fill tables.
 */

static void
ngx_queues_store_call_note(ngx_queues_store_call_t *call,
    ngx_queues_redis_result_e rc)
{
    if (call->reads) {
        return;
    }

    if (rc == NGX_QUEUES_REDIS_OK || rc == NGX_QUEUES_REDIS_LOST) {
        ngx_queues_store_maintain_note(&call->root);
    }
}


static void
ngx_queues_store_call_error(ngx_queues_store_call_t *call, ngx_str_t *text,
    ngx_queues_store_result_t *result)
{
    u_char                    *p, *last;
    size_t                     len;
    ngx_str_t                  word;
    ngx_queues_store_error_t  *e;

    last = text->data + text->len;

    p = ngx_strlchr(text->data, last, ' ');
    if (p == NULL) {
        p = last;
    }

    len = p - text->data;

    word.data = ngx_min(p + 1, last);
    word.len = last - word.data;

    for (e = ngx_queues_store_errors; e->code.len; e++) {
        if (e->code.len == len
            && ngx_memcmp(e->code.data, text->data, len) == 0)
        {
            result->code = e->value;

            if (e->value == NGX_QUEUES_STORE_TOO_BIG) {
                ngx_queues_store_call_too_big(call, &word, result);
            }

            if (e->value == NGX_QUEUES_STORE_LOG_SEAL
                && ngx_queues_store_log_seal(call, &word, result) != NGX_OK)
            {
                break;
            }

            return;
        }
    }

    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                  "unknown error of a Redis function: \"%V\"", text);

    result->code = NGX_QUEUES_STORE_UNAVAILABLE;
    result->reason = "unknown error";
}


/* "LIMIT" */

static void
ngx_queues_store_call_too_big(ngx_queues_store_call_t *call, ngx_str_t *word,
    ngx_queues_store_result_t *result)
{
    uint64_t    n;
    ngx_uint_t  i;

    if (ngx_queues_base_decimal_parse(word, &n) != NGX_OK) {
        return;
    }

    result->limit = (int64_t) n;

    for (i = 0; i < call->nlengths; i++) {
        if (call->lengths[i] > n) {
            result->index = i;
            return;
        }
    }
}


ngx_uint_t
ngx_queues_store_ready(void)
{
    return ngx_queues_redis_ready();
}


ngx_int_t
ngx_queues_store_watch(ngx_str_t *root)
{
    return ngx_queues_redis_watch(root);
}


/*
 * OpenSSL's generator costs more to enter than to run, so it is asked for
 * many bytes at a time.  What was given out is wiped.
 */

ngx_int_t
ngx_queues_store_random(u_char *p, size_t len)
{
    static u_char  pool[512];
    static size_t  used = sizeof(pool);

    if (len > sizeof(pool)) {
        return NGX_ERROR;
    }

    if (len > sizeof(pool) - used) {
        if (RAND_bytes(pool, sizeof(pool)) != 1) {
            return NGX_ERROR;
        }

        used = 0;
    }

    ngx_memcpy(p, pool + used, len);
    ngx_explicit_memzero(pool + used, len);

    used += len;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_token(uint64_t *token)
{
    u_char      random[NGX_QUEUES_STORE_TOKEN_SIZE];
    ngx_uint_t  i;

    if (ngx_queues_store_random(random, sizeof(random)) != NGX_OK) {
        return NGX_ERROR;
    }

    *token = 0;

    for (i = 0; i < NGX_QUEUES_STORE_TOKEN_SIZE; i++) {
        *token = *token << 8 | random[i];
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_new_id(u_char *id, u_char *uuid)
{
    u_char       bytes[NGX_QUEUES_BASE_UUID_SIZE];
    u_char       random[NGX_QUEUES_BASE_UUID_RANDOM];
    ngx_time_t  *tp;

    if (ngx_queues_store_random(random, sizeof(random)) != NGX_OK) {
        return NGX_ERROR;
    }

    /* the time in an id is for people: at most a list's order depends on it */

    tp = ngx_timeofday();

    ngx_queues_base_uuid_make(bytes, (uint64_t) tp->sec * 1000 + tp->msec,
                              random);

    (void) ngx_queues_base_uuid_print(uuid, bytes);

    if (id) {
        (void) ngx_queues_base_short_print(id,
                                           ngx_queues_base_short_id(bytes));
    }

    return NGX_OK;
}
