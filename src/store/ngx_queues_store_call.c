
#include "ngx_queues_store_call.h"

#include <openssl/rand.h>


typedef struct {
    ngx_str_t                code;
    ngx_queues_store_code_e  value;
} ngx_queues_store_error_t;


static void ngx_queues_store_call_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_call_late(ngx_queues_store_call_t *call,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_call_error(ngx_queues_store_call_t *call,
    ngx_str_t *text, ngx_queues_store_result_t *result);
static void ngx_queues_store_call_too_big(ngx_queues_store_call_t *call,
    u_char *p, u_char *last, ngx_queues_store_result_t *result);


/* the codes of docs/redis.md */

static ngx_queues_store_error_t  ngx_queues_store_errors[] = {
    { ngx_string("NOQUEUE"), NGX_QUEUES_STORE_NO_QUEUE },
    { ngx_string("EXISTS"), NGX_QUEUES_STORE_EXISTS },
    { ngx_string("IDTAKEN"), NGX_QUEUES_STORE_ID_TAKEN },
    { ngx_string("INUSE"), NGX_QUEUES_STORE_IN_USE },
    { ngx_string("TOOBIG"), NGX_QUEUES_STORE_TOO_BIG },
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
        ngx_free(call);
    }

    return rc;
}


static void
ngx_queues_store_call_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_store_call_t *call = data;

    ngx_queues_store_result_t  result;

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
        }

    } else if (rc == NGX_QUEUES_REDIS_APP) {
        ngx_queues_store_call_error(call, &reply->str, &result);

    } else {
        result.code = NGX_QUEUES_STORE_UNAVAILABLE;
        result.reason = ngx_queues_redis_result_text(rc);
    }

    call->done(call->data, &result);

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {
        call->answered = 1;
        return;
    }

    ngx_free(call);
}


/*
 * The reply of a command that was already answered as timed out: messages in
 * it are with nobody.
 */

static void
ngx_queues_store_call_late(ngx_queues_store_call_t *call,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply)
{
    ngx_uint_t                  i, n;
    ngx_queues_store_id_t       ids[NGX_QUEUES_STORE_BATCH_MAX];
    ngx_queues_store_result_t   result;

    if (rc == NGX_QUEUES_REDIS_OK && call->undo) {

        ngx_memzero(&result, sizeof(ngx_queues_store_result_t));

        if (call->parse(call, reply, &result) == NGX_OK && result.nmessages) {
            n = ngx_min(result.nmessages, NGX_QUEUES_STORE_BATCH_MAX);

            for (i = 0; i < n; i++) {
                ids[i] = result.messages[i].id;
            }

            ngx_queues_store_undo(&call->root, &result.place, call->token,
                                  ids, n);
        }
    }

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    ngx_free(call);
}


static void
ngx_queues_store_call_error(ngx_queues_store_call_t *call, ngx_str_t *text,
    ngx_queues_store_result_t *result)
{
    u_char                    *p, *last;
    size_t                     len;
    ngx_queues_store_error_t  *e;

    last = text->data + text->len;

    p = ngx_strlchr(text->data, last, ' ');
    if (p == NULL) {
        p = last;
    }

    len = p - text->data;

    for (e = ngx_queues_store_errors; e->code.len; e++) {
        if (e->code.len == len
            && ngx_memcmp(e->code.data, text->data, len) == 0)
        {
            result->code = e->value;

            if (e->value == NGX_QUEUES_STORE_TOO_BIG) {
                ngx_queues_store_call_too_big(call, p, last, result);
            }

            return;
        }
    }

    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                  "unknown error of a Redis function: \"%V\"", text);

    result->code = NGX_QUEUES_STORE_UNAVAILABLE;
    result->reason = "unknown error";
}


/* " LIMIT" */

static void
ngx_queues_store_call_too_big(ngx_queues_store_call_t *call, u_char *p,
    u_char *last, ngx_queues_store_result_t *result)
{
    uint64_t    n;
    ngx_str_t   word;
    ngx_uint_t  i;

    word.data = ngx_min(p + 1, last);
    word.len = last - word.data;

    if (ngx_queues_base_decimal_parse(&word, &n) != NGX_OK) {
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


u_char *
ngx_queues_store_number_arg(ngx_str_t *arg, u_char *p, int64_t n)
{
    arg->data = p;

    if (n >= 0) {
        p = ngx_queues_base_decimal_print(p, (uint64_t) n);
    }

    /* negative: an empty argument, "the queue's own" */

    arg->len = p - arg->data;

    return p;
}


u_char *
ngx_queues_store_short_arg(ngx_str_t *arg, u_char *p, uint64_t id)
{
    arg->data = p;
    p = ngx_queues_base_short_print(p, id);
    arg->len = p - arg->data;

    return p;
}


u_char *
ngx_queues_store_id_arg(ngx_str_t *arg, u_char *p, ngx_queues_store_id_t *id)
{
    arg->data = p;

    if (id->delayed) {
        *p++ = 'z';
    }

    p = ngx_queues_base_decimal_print(p, id->ms);
    *p++ = '-';
    p = ngx_queues_base_decimal_print(p, id->seq);

    arg->len = p - arg->data;

    return p;
}


ngx_int_t
ngx_queues_store_integer(ngx_queues_redis_reply_t *elt, int64_t *n)
{
    if (elt->type != NGX_QUEUES_REDIS_INTEGER) {
        return NGX_ERROR;
    }

    *n = elt->integer;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_string(ngx_queues_redis_reply_t *elt, ngx_str_t *str)
{
    if (elt->type != NGX_QUEUES_REDIS_STRING) {
        return NGX_ERROR;
    }

    *str = elt->str;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_word(ngx_str_t *text, ngx_str_t *word)
{
    u_char  *last;

    if (text->len == 0) {
        return NGX_ERROR;
    }

    last = ngx_strlchr(text->data, text->data + text->len, ' ');

    if (last == NULL) {
        *word = *text;
        text->data += text->len;
        text->len = 0;

        return NGX_OK;
    }

    word->data = text->data;
    word->len = last - text->data;

    text->data += word->len + 1;
    text->len -= word->len + 1;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_id(ngx_str_t *text, ngx_queues_store_id_t *id)
{
    u_char     *p, *last, *dash;
    uint64_t    seq;
    ngx_str_t   word;

    if (text->len == 0) {
        return NGX_ERROR;
    }

    p = text->data;
    last = p + text->len;

    id->delayed = (*p == 'z');
    p += id->delayed;

    dash = ngx_strlchr(p, last, '-');
    if (dash == NULL) {
        return NGX_ERROR;
    }

    word.data = p;
    word.len = dash - p;

    if (ngx_queues_base_decimal_parse(&word, &id->ms) != NGX_OK) {
        return NGX_ERROR;
    }

    word.data = dash + 1;
    word.len = last - word.data;

    if (ngx_queues_base_decimal_parse(&word, &seq) != NGX_OK
        || seq > 0xffffffff)
    {
        return NGX_ERROR;
    }

    id->seq = (uint32_t) seq;

    return NGX_OK;
}


/* Q G */

ngx_int_t
ngx_queues_store_place(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_place_t *place)
{
    int64_t    n;
    ngx_str_t  id;

    if (ngx_queues_store_string(&elts[0], &id) != NGX_OK
        || ngx_queues_base_short_parse(&id, &place->queue) != NGX_OK
        || ngx_queues_store_integer(&elts[1], &n) != NGX_OK
        || n < 0)
    {
        return NGX_ERROR;
    }

    place->generation = (uint64_t) n;

    return NGX_OK;
}


/* the same as the first words of a string */

ngx_int_t
ngx_queues_store_place_words(ngx_str_t *text, ngx_queues_store_place_t *place)
{
    ngx_str_t  word;

    if (ngx_queues_store_word(text, &word) != NGX_OK
        || ngx_queues_base_short_parse(&word, &place->queue) != NGX_OK
        || ngx_queues_store_word(text, &word) != NGX_OK
        || ngx_queues_base_decimal_parse(&word, &place->generation) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
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
