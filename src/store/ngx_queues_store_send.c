
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_EACH_ARGS       3     /* of a message of send_each */
#define NGX_QUEUES_STORE_FIFO_ARGS       4     /* of send_fifo */

/* the longest deduplication id, or a hash in hex, and a letter before it */
#define NGX_QUEUES_STORE_DEDUPLICATION   (1 + 128)


static ngx_queues_store_call_t *ngx_queues_store_send_create(ngx_str_t *root,
    ngx_queues_store_send_t *messages, ngx_uint_t n, size_t *longest,
    ngx_queues_store_done_pt done, void *data);
static ngx_int_t ngx_queues_store_send_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_sent_word(ngx_str_t *word,
    ngx_queues_store_sent_t *sent);


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

    call = ngx_queues_store_send_create(root, messages, n, &longest, done,
                                        data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    each = 0;

    for (i = 0; i < n; i++) {
        if (messages[i].delay >= 0 || messages[i].attributes.len) {
            each = 1;
        }
    }

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


ngx_int_t
ngx_queues_store_send_fifo(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_send_t *messages, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data)
{
    size_t                    longest;
    u_char                   *p;
    u_char                    buf[NGX_QUEUES_BASE_DECIMAL_MAX
                                  + NGX_QUEUES_STORE_BATCH_MAX
                                    * NGX_QUEUES_STORE_DEDUPLICATION];
    ngx_str_t                 args[2 + NGX_QUEUES_STORE_BATCH_MAX
                                       * NGX_QUEUES_STORE_FIFO_ARGS];
    ngx_uint_t                i, k;
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_send_create(root, messages, n, &longest, done,
                                        data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    k = 0;

    args[k++] = *ref;
    p = ngx_queues_store_number_arg(&args[k++], buf, longest);

    for (i = 0; i < n; i++) {
        args[k++] = messages[i].group;

        args[k].data = p;

        if (messages[i].id.len) {
            *p++ = 'd';
            p = ngx_cpymem(p, messages[i].id.data, messages[i].id.len);

        } else {
            *p++ = 'h';
            p = ngx_hex_dump(p, messages[i].hash, NGX_QUEUES_STORE_HASH_SIZE);
        }

        args[k].len = p - args[k].data;
        k++;

        args[k++] = messages[i].body;
        args[k++] = messages[i].attributes;
    }

    return ngx_queues_store_call_start(call, "send_fifo", args, k);
}


/* with the lengths of the messages, which a refusal refers to */

static ngx_queues_store_call_t *
ngx_queues_store_send_create(ngx_str_t *root,
    ngx_queues_store_send_t *messages, ngx_uint_t n, size_t *longest,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_uint_t                i;
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_call_create(root, ngx_queues_store_send_parse,
                                        done, data);
    if (call == NULL) {
        return NULL;
    }

    *longest = 0;

    for (i = 0; i < n; i++) {
        *longest = ngx_max(*longest, messages[i].length);
        call->lengths[i] = messages[i].length;
    }

    call->nlengths = n;
    call->durable = 1;

    return call;
}


/* "Q G id ..." */

static ngx_int_t
ngx_queues_store_send_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_str_t   text, word;
    ngx_uint_t  i;

    if (ngx_queues_store_string(reply, &text) != NGX_OK
        || ngx_queues_store_place_words(&text, ' ', &result->place) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->nsent = call->nlengths;
    result->sent = ngx_pcalloc(reply->pool, result->nsent
                                            * sizeof(ngx_queues_store_sent_t));
    if (result->sent == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < result->nsent; i++) {
        result->sent[i].place = result->place;

        if (ngx_queues_base_word(&text, ' ', &word) != NGX_OK
            || ngx_queues_store_sent_word(&word, &result->sent[i]) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return text.len ? NGX_ERROR : NGX_OK;
}


/* "id"; of a FIFO queue "id:seq", of a duplicate "id:seq:G" */

static ngx_int_t
ngx_queues_store_sent_word(ngx_str_t *word, ngx_queues_store_sent_t *sent)
{
    ngx_str_t  text, id;

    text = *word;

    if (ngx_queues_base_word(&text, ':', &id) != NGX_OK
        || ngx_queues_store_spot(&id, &sent->spot) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (text.len == 0) {
        return NGX_OK;
    }

    if (ngx_queues_store_number(&text, ':', &sent->seq) != NGX_OK) {
        return NGX_ERROR;
    }

    if (text.len == 0) {
        return NGX_OK;
    }

    sent->duplicate = 1;

    return ngx_queues_base_decimal_parse(&text, &sent->place.generation);
}
