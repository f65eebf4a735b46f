
#include "ngx_queues_store_call.h"


static ngx_int_t ngx_queues_store_receive_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static void ngx_queues_store_receive_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_standard_parse(
    ngx_queues_redis_reply_t *reply, ngx_queues_redis_reply_t *elt,
    ngx_str_t *text, uint64_t now, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_message_word(ngx_str_t *word,
    ngx_queues_store_message_t *m, ngx_uint_t *attributes,
    ngx_uint_t *origin);


ngx_int_t
ngx_queues_store_receive(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_receive_t *receive, ngx_queues_store_done_pt done,
    void *data)
{
    u_char                   *p;
    u_char                    buf[4 * NGX_QUEUES_BASE_DECIMAL_MAX];
    uint64_t                  token;
    ngx_str_t                 args[5];
    ngx_queues_store_call_t  *call;

    if (ngx_queues_store_token(&token) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_queues_store_call_create(root, ngx_queues_store_receive_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->token = token;
    call->late = ngx_queues_store_receive_late;

    p = buf;

    args[0] = *ref;
    p = ngx_queues_store_number_arg(&args[1], p, receive->max);
    p = ngx_queues_store_number_arg(&args[2], p, receive->visibility);
    p = ngx_queues_store_number_arg(&args[3], p, receive->wait);
    (void) ngx_queues_store_number_arg(&args[4], p, call->token);

    return ngx_queues_store_call_start(call, "receive", args, 5);
}


ngx_int_t
ngx_queues_store_peek(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_peek_e state, ngx_uint_t limit,
    ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[3];

    static ngx_str_t  states[] = {
        ngx_string("v"), ngx_string("f"), ngx_string("d")
    };

    args[0] = *ref;
    args[1] = states[state];
    (void) ngx_queues_store_number_arg(&args[2], buf, limit);

    return ngx_queues_store_call("peek", root, args, 3, NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_receive_parse, done, data);
}


static ngx_int_t
ngx_queues_store_receive_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (reply->type != NGX_QUEUES_REDIS_ARRAY) {
        return NGX_ERROR;
    }

    return ngx_queues_store_messages_parse(reply, 0, result);
}


static void
ngx_queues_store_receive_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result)
{
    ngx_queues_store_undo_all(&call->root, result);
}


/*
 * Q G wait next, what the messages are, then the messages.  The moment in the
 * text has an "f" before it where the queue is a FIFO queue.
 */

ngx_int_t
ngx_queues_store_messages_parse(ngx_queues_redis_reply_t *reply,
    ngx_uint_t from, ngx_queues_store_result_t *result)
{
    uint64_t                   now;
    ngx_str_t                  text, word;
    ngx_uint_t                 fifo, n;
    ngx_queues_redis_reply_t  *elt;

    if (reply->nelts < from + NGX_QUEUES_STORE_HEAD_ELTS) {
        return NGX_ERROR;
    }

    elt = reply->elts + from;

    if (ngx_queues_store_place(elt, &result->place) != NGX_OK
        || ngx_queues_store_integer(&elt[2], &result->wait) != NGX_OK
        || ngx_queues_store_integer(&elt[3], &result->next) != NGX_OK
        || ngx_queues_store_string(&elt[4], &text) != NGX_OK
        || ngx_queues_base_word(&text, ' ', &word) != NGX_OK)
    {
        return NGX_ERROR;
    }

    fifo = (word.len && word.data[0] == 'f');

    word.data += fifo;
    word.len -= fifo;

    if (ngx_queues_base_decimal_parse(&word, &now) != NGX_OK) {
        return NGX_ERROR;
    }

    n = reply->nelts - from - NGX_QUEUES_STORE_HEAD_ELTS;

    if (n == 0) {
        return text.len ? NGX_ERROR : NGX_OK;
    }

    /* as many as there may be */

    result->messages = ngx_pcalloc(reply->pool,
                                   n * sizeof(ngx_queues_store_message_t));
    if (result->messages == NULL) {
        return NGX_ERROR;
    }

    elt += NGX_QUEUES_STORE_HEAD_ELTS;

    return fifo ? ngx_queues_store_fifo_parse(reply, elt, &text, now, result)
                : ngx_queues_store_standard_parse(reply, elt, &text, now,
                                                  result);
}


static ngx_int_t
ngx_queues_store_standard_parse(ngx_queues_redis_reply_t *reply,
    ngx_queues_redis_reply_t *elt, ngx_str_t *text, uint64_t now,
    ngx_queues_store_result_t *result)
{
    ngx_str_t                    word;
    ngx_uint_t                   attributes, origin;
    ngx_queues_redis_reply_t    *last;
    ngx_queues_store_message_t  *m;

    m = result->messages;
    last = reply->elts + reply->nelts;

    while (text->len) {

        /* each message has an element, and only so many have room */

        if (elt == last) {
            return NGX_ERROR;
        }

        m->count = 1;
        m->first = now;

        if (ngx_queues_base_word(text, ' ', &word) != NGX_OK
            || ngx_queues_store_message_word(&word, m, &attributes, &origin)
               != NGX_OK
            || (ngx_uint_t) (last - elt) < 1 + attributes + origin
            || ngx_queues_store_string(elt++, &m->body) != NGX_OK
            || (attributes
                && ngx_queues_store_string(elt++, &m->attributes) != NGX_OK))
        {
            return NGX_ERROR;
        }

        m->origin.place = result->place;
        m->origin.spot = m->spot;

        if (origin) {
            if (ngx_queues_store_string(elt++, &word) != NGX_OK
                || ngx_queues_store_origin(&word, &m->origin) != NGX_OK)
            {
                return NGX_ERROR;
            }
        }

        m++;
    }

    result->nmessages = m - result->messages;

    return elt == last ? NGX_OK : NGX_ERROR;
}


/*
 * "id" or "id:count:first", then "a" where there are attributes, then "o"
 * where the message was moved.
 */

static ngx_int_t
ngx_queues_store_message_word(ngx_str_t *word, ngx_queues_store_message_t *m,
    ngx_uint_t *attributes, ngx_uint_t *origin)
{
    ngx_str_t  text, id;

    text = *word;

    *origin = (text.len && text.data[text.len - 1] == 'o');
    text.len -= *origin;

    *attributes = (text.len && text.data[text.len - 1] == 'a');
    text.len -= *attributes;

    if (ngx_queues_base_word(&text, ':', &id) != NGX_OK
        || ngx_queues_store_spot(&id, &m->spot) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (text.len == 0) {
        return NGX_OK;
    }

    if (ngx_queues_store_number(&text, ':', &m->count) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_base_decimal_parse(&text, &m->first);
}
