
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_TOKEN_SIZE      5     /* bytes: 40 bits */

#define NGX_QUEUES_STORE_EACH_ARGS       3     /* of a message of send_each */
#define NGX_QUEUES_STORE_RECEIVE_HEAD    5     /* elements of a reply before */


static ngx_int_t ngx_queues_store_send_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_receive_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_message_word(ngx_str_t *word,
    ngx_queues_store_message_t *m, ngx_uint_t *attributes);


ngx_int_t
ngx_queues_store_send(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_send_t *messages, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data)
{
    size_t                    longest;
    u_char                   *p;
    u_char                    buf[(NGX_QUEUES_STORE_BATCH_MAX + 1)
                                  * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t                 args[2 + NGX_QUEUES_STORE_BATCH_MAX
                                       * NGX_QUEUES_STORE_EACH_ARGS];
    ngx_uint_t                i, k, each;
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root, ngx_queues_store_send_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    each = 0;
    longest = 0;

    for (i = 0; i < n; i++) {
        longest = ngx_max(longest, messages[i].length);
        call->lengths[i] = messages[i].length;

        if (messages[i].delay >= 0 || messages[i].attributes.len) {
            each = 1;
        }
    }

    call->nlengths = n;
    call->durable = 1;

    k = 0;

    args[k++] = *ref;
    p = ngx_queues_store_number_arg(&args[k++], buf, longest);

    for (i = 0; i < n; i++) {
        if (each) {
            p = ngx_queues_store_number_arg(&args[k++], p, messages[i].delay);
        }

        args[k++] = messages[i].body;

        if (each) {
            args[k++] = messages[i].attributes;
        }
    }

    return ngx_queues_store_call_start(call, each ? "send_each" : "send", args,
                                       k);
}


/* "Q G id ..." */

static ngx_int_t
ngx_queues_store_send_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_str_t   text, word;
    ngx_uint_t  i;

    if (ngx_queues_store_string(reply, &text) != NGX_OK
        || ngx_queues_store_place_words(&text, &result->place) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->nids = call->nlengths;
    result->ids = ngx_palloc(reply->pool, result->nids
                                          * sizeof(ngx_queues_store_id_t));
    if (result->ids == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < result->nids; i++) {
        if (ngx_queues_store_word(&text, &word) != NGX_OK
            || ngx_queues_store_id(&word, &result->ids[i]) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return text.len ? NGX_ERROR : NGX_OK;
}


ngx_int_t
ngx_queues_store_receive(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_receive_t *receive, ngx_queues_store_done_pt done,
    void *data)
{
    u_char                   *p;
    u_char                    random[NGX_QUEUES_STORE_TOKEN_SIZE];
    u_char                    buf[4 * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t                 args[5];
    ngx_uint_t                i;
    ngx_queues_store_call_t  *call;

    if (ngx_queues_store_random(random, sizeof(random)) != NGX_OK) {
        return NGX_ERROR;
    }

    call = ngx_queues_store_call_create(root, ngx_queues_store_receive_parse,
                                        done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_QUEUES_STORE_TOKEN_SIZE; i++) {
        call->token = call->token << 8 | random[i];
    }

    call->undo = 1;

    p = buf;

    args[0] = *ref;
    p = ngx_queues_store_number_arg(&args[1], p, receive->max);
    p = ngx_queues_store_number_arg(&args[2], p, receive->visibility);
    p = ngx_queues_store_number_arg(&args[3], p, receive->wait);
    (void) ngx_queues_store_number_arg(&args[4], p, call->token);

    return ngx_queues_store_call_start(call, "receive", args, 5);
}


/* Q G wait next, what the messages are, then their bodies */

static ngx_int_t
ngx_queues_store_receive_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    uint64_t                     now;
    ngx_str_t                    text, word;
    ngx_uint_t                   attributes;
    ngx_queues_redis_reply_t    *elt, *last;
    ngx_queues_store_message_t  *m;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < NGX_QUEUES_STORE_RECEIVE_HEAD
        || ngx_queues_store_place(reply->elts, &result->place) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[2], &result->wait) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[3], &result->next) != NGX_OK
        || ngx_queues_store_string(&reply->elts[4], &text) != NGX_OK
        || ngx_queues_store_word(&text, &word) != NGX_OK
        || ngx_queues_base_decimal_parse(&word, &now) != NGX_OK)
    {
        return NGX_ERROR;
    }

    elt = reply->elts + NGX_QUEUES_STORE_RECEIVE_HEAD;
    last = reply->elts + reply->nelts;

    if (elt == last) {
        return text.len ? NGX_ERROR : NGX_OK;
    }

    /* as many as there may be */

    m = ngx_palloc(reply->pool,
                   (last - elt) * sizeof(ngx_queues_store_message_t));
    if (m == NULL) {
        return NGX_ERROR;
    }

    result->messages = m;

    while (elt < last) {
        m->count = 1;
        m->first = now;
        ngx_str_null(&m->attributes);

        if (ngx_queues_store_word(&text, &word) != NGX_OK
            || ngx_queues_store_message_word(&word, m, &attributes) != NGX_OK
            || ngx_queues_store_string(elt++, &m->body) != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (attributes
            && (elt == last
                || ngx_queues_store_string(elt++, &m->attributes) != NGX_OK))
        {
            return NGX_ERROR;
        }

        m++;
    }

    result->nmessages = m - result->messages;

    return text.len ? NGX_ERROR : NGX_OK;
}


/* "id" or "id:count:first", and "a" after either where there are attributes */

static ngx_int_t
ngx_queues_store_message_word(ngx_str_t *word, ngx_queues_store_message_t *m,
    ngx_uint_t *attributes)
{
    u_char     *colon, *last;
    ngx_str_t   part;

    last = word->data + word->len;

    *attributes = (word->len && last[-1] == 'a');
    last -= *attributes;

    colon = ngx_strlchr(word->data, last, ':');

    part.data = word->data;
    part.len = (colon ? colon : last) - part.data;

    if (ngx_queues_store_id(&part, &m->id) != NGX_OK) {
        return NGX_ERROR;
    }

    if (colon == NULL) {
        return NGX_OK;
    }

    part.data = colon + 1;

    colon = ngx_strlchr(part.data, last, ':');
    if (colon == NULL) {
        return NGX_ERROR;
    }

    part.len = colon - part.data;

    if (ngx_queues_base_decimal_parse(&part, &m->count) != NGX_OK) {
        return NGX_ERROR;
    }

    part.data = colon + 1;
    part.len = last - part.data;

    return ngx_queues_base_decimal_parse(&part, &m->first);
}
