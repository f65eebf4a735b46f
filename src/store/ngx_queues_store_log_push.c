
#include "ngx_queues_store_log_call.h"
#include "../base/ngx_queues_base_fingerprint.h"


/* of a segment, and of the texts that its messages have in it */
typedef struct {
    ngx_uint_t                    n;
    size_t                        ids;
    size_t                        traces;   /* 0: none has one */
    size_t                        lengths;
} ngx_queues_store_log_sizes_t;


static ngx_int_t ngx_queues_store_log_push_parse(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_log_push_set(
    ngx_queues_store_log_push_t *push, ngx_queues_store_log_set_t *set,
    ngx_queues_store_log_args_t *args);
static ngx_uint_t ngx_queues_store_log_push_chunk(
    ngx_queues_store_log_push_t *push, ngx_uint_t i,
    ngx_queues_store_log_args_t *args);
static ngx_int_t ngx_queues_store_log_push_hashes(
    ngx_queues_store_log_push_t *push, ngx_uint_t i, ngx_uint_t n,
    ngx_queues_store_log_args_t *args);
static void ngx_queues_store_log_push_segment(
    ngx_queues_store_log_push_t *push, ngx_uint_t i,
    ngx_queues_store_log_sizes_t *sizes, ngx_queues_store_log_args_t *args);
static u_char *ngx_queues_store_log_push_head(u_char *p,
    ngx_queues_store_log_push_t *push, ngx_uint_t i,
    ngx_queues_store_log_sizes_t *sizes);
static size_t ngx_queues_store_log_push_digits(size_t n);
static ngx_int_t ngx_queues_store_log_push_read_set(
    ngx_queues_store_log_item_t *items, ngx_queues_store_log_set_t *set,
    ngx_queues_redis_reply_t *elt);


ngx_int_t
ngx_queues_store_log_push(ngx_str_t *root, ngx_queues_store_log_push_t *push,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_int_t                     rc;
    ngx_queues_store_call_t      *call;
    ngx_queues_store_log_args_t   args;

    call = ngx_queues_store_log_create(root, ngx_queues_store_log_push_parse,
                                       done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    call->durable = 1;

    rc = ngx_queues_store_log_args_init(&args);

    if (rc == NGX_OK) {
        rc = ngx_queues_store_log_push_plan(call, push, &args);
    }

    if (rc == NGX_OK) {
        rc = ngx_queues_store_log_args_alloc(&args);
    }

    if (rc == NGX_OK) {
        rc = ngx_queues_store_log_push_args(call->log, &args);
    }

    return ngx_queues_store_log_start(call, "log_push", &args, rc);
}


static ngx_int_t
ngx_queues_store_log_push_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts != call->log->nlanes)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_log_push_read(call->log, reply->elts);
}


/*
 * nq (name Q uuid)... ngroups (qi lane n flags (hashes segment "")...)...
 * of which a large message has (hash segment payload), as it is not copied
 */

ngx_int_t
ngx_queues_store_log_push_args(ngx_queues_store_log_work_t *work,
    ngx_queues_store_log_args_t *args)
{
    ngx_str_t                     id, uuid;
    ngx_uint_t                    i;
    ngx_queues_store_log_item_t  *items;

    items = work->push.items;

    ngx_queues_store_log_number(args, work->nqueues);

    for (i = 0; i < work->nqueues; i++) {
        id.data = args->p;
        id.len = NGX_QUEUES_BASE_SHORT_LEN;

        uuid.data = id.data + id.len;
        uuid.len = NGX_QUEUES_BASE_UUID_LEN;

        if (ngx_queues_store_new_id(id.data, uuid.data) != NGX_OK) {
            return NGX_ERROR;
        }

        args->p = uuid.data + uuid.len;

        ngx_queues_store_log_arg(args, &items[work->queues[i]].queue);
        ngx_queues_store_log_arg(args, &id);
        ngx_queues_store_log_arg(args, &uuid);
    }

    ngx_queues_store_log_number(args, work->nlanes);

    for (i = 0; i < work->nlanes; i++) {
        if (ngx_queues_store_log_push_set(&work->push, &work->lanes[i], args)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/*
 * With the flags, if there is more than one id, the lowest one and the highest
 * one; of ids that rise, of each segment.
 */

static ngx_int_t
ngx_queues_store_log_push_set(ngx_queues_store_log_push_t *push,
    ngx_queues_store_log_set_t *set, ngx_queues_store_log_args_t *args)
{
    u_char                        *p;
    ngx_str_t                     *text;
    ngx_uint_t                     i, n, flags, last;
    ngx_queues_store_log_item_t   *items;
    ngx_queues_store_log_range_t   range;

    items = push->items;
    items[set->last].next = NGX_QUEUES_STORE_LOG_NONE;

    flags = ngx_queues_store_log_range(push, set, &range);

    ngx_queues_store_log_number(args, set->queue + 1);
    ngx_queues_store_log_arg(args, &items[set->first].lane);
    ngx_queues_store_log_number(args, set->n);

    text = &args->elts[args->n++];
    text->data = args->p;

    args->p += 1 + range.room;

    p = text->data;
    *p++ = (u_char) ('0' + flags);

    if (set->n > 1 && !(flags & NGX_QUEUES_STORE_LOG_RISING)) {
        p = ngx_queues_store_log_range_print(p, range.low, range.high);
    }

    for (i = set->first; i != NGX_QUEUES_STORE_LOG_NONE; /* void */ ) {
        n = ngx_queues_store_log_push_chunk(push, i, args);

        if (n == 0) {
            return NGX_ERROR;
        }

        range.low = &items[i].id;

        for (last = i; n; n--) {
            last = i;
            i = items[i].next;
        }

        if (flags & NGX_QUEUES_STORE_LOG_RISING) {
            p = ngx_queues_store_log_range_print(p, range.low,
                                                 &items[last].id);
        }
    }

    text->len = p - text->data;

    return NGX_OK;
}


/* of as many items as make a segment, from i on; returns their number, or 0 */

static ngx_uint_t
ngx_queues_store_log_push_chunk(ngx_queues_store_log_push_t *push,
    ngx_uint_t i, ngx_queues_store_log_args_t *args)
{
    size_t                         size;
    ngx_uint_t                     k;
    ngx_queues_store_log_item_t   *item;
    ngx_queues_store_log_sizes_t   sizes;

    size = 0;

    ngx_memzero(&sizes, sizeof(ngx_queues_store_log_sizes_t));

    for (k = i; k != NGX_QUEUES_STORE_LOG_NONE; k = item->next) {
        item = &push->items[k];
        size += ngx_queues_store_log_item_size(item);

        if (sizes.n == NGX_QUEUES_STORE_LOG_CHUNK
            || (sizes.n && size > NGX_QUEUES_STORE_LOG_CHUNK_BYTES))
        {
            break;
        }

        sizes.n++;
        sizes.ids += item->id.len + 1;
        sizes.traces += item->trace.len;
        sizes.lengths += ngx_queues_store_log_push_digits(item->payload.len)
                         + 1;
    }

    /* between each two there is a byte */

    sizes.ids--;
    sizes.lengths--;
    sizes.traces += sizes.traces ? sizes.n - 1 : 0;

    if (ngx_queues_store_log_push_hashes(push, i, sizes.n, args) != NGX_OK) {
        return 0;
    }

    ngx_queues_store_log_push_segment(push, i, &sizes, args);

    return sizes.n;
}


static ngx_int_t
ngx_queues_store_log_push_hashes(ngx_queues_store_log_push_t *push,
    ngx_uint_t i, ngx_uint_t n, ngx_queues_store_log_args_t *args)
{
    ngx_str_t                     hashes;
    ngx_queues_store_log_item_t  *item;

    hashes.data = args->p;

    for ( /* void */ ; n; n--, i = item->next) {
        item = &push->items[i];

        if (ngx_queues_base_fingerprint(args->p, &item->lane, &item->id)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        args->p += NGX_QUEUES_BASE_FINGERPRINT;
    }

    hashes.len = args->p - hashes.data;

    ngx_queues_store_log_arg(args, &hashes);

    return NGX_OK;
}


/* the segment as it is stored, ""; or without the payload, the payload */

static void
ngx_queues_store_log_push_segment(ngx_queues_store_log_push_t *push,
    ngx_uint_t i, ngx_queues_store_log_sizes_t *sizes,
    ngx_queues_store_log_args_t *args)
{
    u_char                       *p, *lengths, *payloads, *traces;
    ngx_str_t                     text, rest;
    ngx_uint_t                    k;
    ngx_queues_store_log_item_t  *item;

    item = &push->items[i];

    if (ngx_queues_store_log_item_size(item)
        > NGX_QUEUES_STORE_LOG_CHUNK_BYTES)
    {
        rest = item->payload;

    } else {
        ngx_str_null(&rest);
    }

    text.data = args->p;

    p = ngx_queues_store_log_push_head(text.data, push, i, sizes);
    p = ngx_cpymem(p, push->producer.data, push->producer.len);

    traces = p + sizes->ids;
    lengths = traces + sizes->traces;
    payloads = lengths + sizes->lengths;

    for (k = 0; k < sizes->n; k++, i = item->next) {
        item = &push->items[i];

        if (k) {
            *p++ = LF;
            *lengths++ = ' ';

            if (sizes->traces) {
                *traces++ = LF;
            }
        }

        p = ngx_cpymem(p, item->id.data, item->id.len);

        if (sizes->traces) {
            traces = ngx_cpymem(traces, item->trace.data, item->trace.len);
        }

        lengths = ngx_queues_base_decimal_print(lengths, item->payload.len);

        if (rest.len == 0) {
            payloads = ngx_cpymem(payloads, item->payload.data,
                                  item->payload.len);
        }
    }

    text.len = payloads - text.data;
    args->p = payloads;

    ngx_queues_store_log_arg(args, &text);
    ngx_queues_store_log_arg(args, &rest);
}


/* the moment stands where Redis finds that it is right */

static u_char *
ngx_queues_store_log_push_head(u_char *p, ngx_queues_store_log_push_t *push,
    ngx_uint_t i, ngx_queues_store_log_sizes_t *sizes)
{
    uint64_t     numbers[7];
    ngx_uint_t   k;
    ngx_time_t  *tp;

    tp = ngx_timeofday();

    numbers[0] = (uint64_t) tp->sec * 1000 + tp->msec;
    numbers[1] = sizes->n;
    numbers[2] = (push->items[i].sealed != 0);
    numbers[3] = push->producer.len;
    numbers[4] = sizes->ids;
    numbers[5] = sizes->traces;
    numbers[6] = sizes->lengths;

    for (k = 0; k < 7; k++) {
        p = ngx_queues_base_decimal_print(p, numbers[k]);
        *p++ = (k < 6) ? ':' : LF;
    }

    return p;
}


static size_t
ngx_queues_store_log_push_digits(size_t n)
{
    size_t  digits;

    for (digits = 1; n >= 10; n /= 10) {
        digits++;
    }

    return digits;
}


ngx_int_t
ngx_queues_store_log_push_read(ngx_queues_store_log_work_t *work,
    ngx_queues_redis_reply_t *elts)
{
    ngx_uint_t                    i, next;
    ngx_queues_store_log_item_t  *items, *first;

    items = work->push.items;

    for (i = 0; i < work->nlanes; i++) {
        if (ngx_queues_store_log_push_read_set(items, &work->lanes[i],
                                               &elts[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    for (i = work->repeated; i != NGX_QUEUES_STORE_LOG_NONE; i = next) {
        next = items[i].next;
        first = &items[items[i].offset];

        items[i].place = first->place;
        items[i].offset = first->offset;
        items[i].ms = first->ms;
        items[i].duplicate = 1;
    }

    return NGX_OK;
}


/* "Q:l:ms:start", and " i:offset:ms" of duplicates in their order */

static ngx_int_t
ngx_queues_store_log_push_read_set(ngx_queues_store_log_item_t *items,
    ngx_queues_store_log_set_t *set, ngx_queues_redis_reply_t *elt)
{
    uint64_t                      ms, offset, k, number;
    ngx_str_t                     text, word;
    ngx_uint_t                    i;
    ngx_queues_store_lane_t       place;
    ngx_queues_store_log_item_t  *item;

    if (ngx_queues_store_string(elt, &text) != NGX_OK
        || ngx_queues_base_word(&text, ' ', &word) != NGX_OK
        || ngx_queues_store_log_lane(&word, &place) != NGX_OK
        || ngx_queues_store_number(&word, ':', &ms) != NGX_OK
        || ngx_queues_base_decimal_parse(&word, &offset) != NGX_OK)
    {
        return NGX_ERROR;
    }

    number = NGX_QUEUES_STORE_LOG_NONE;

    for (i = set->first, k = 0; k < set->n; i = items[i].next, k++) {
        item = &items[i];

        if (number == NGX_QUEUES_STORE_LOG_NONE && text.len) {
            if (ngx_queues_base_word(&text, ' ', &word) != NGX_OK
                || ngx_queues_store_number(&word, ':', &number) != NGX_OK
                || number >= set->n)
            {
                return NGX_ERROR;
            }
        }

        item->place = place;
        item->duplicate = (number == k);

        if (number != k) {
            item->offset = offset++;
            item->ms = ms;
            continue;
        }

        number = NGX_QUEUES_STORE_LOG_NONE;

        if (ngx_queues_store_number(&word, ':', &item->offset) != NGX_OK
            || ngx_queues_base_decimal_parse(&word, &item->ms) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    /* nothing is left, nor a duplicate that there is not */

    return number == NGX_QUEUES_STORE_LOG_NONE && text.len == 0 ? NGX_OK
                                                                : NGX_ERROR;
}


ngx_int_t
ngx_queues_store_log_seal(ngx_queues_store_call_t *call, ngx_str_t *word,
    ngx_queues_store_result_t *result)
{
    uint64_t                      n;
    ngx_queues_store_log_work_t  *work;

    work = call->log;

    if (work == NULL
        || ngx_queues_base_decimal_parse(word, &n) != NGX_OK
        || n == 0
        || n > work->nqueues)
    {
        return NGX_ERROR;
    }

    result->index = work->queues[n - 1];
    result->limit = !work->push.items[result->index].sealed;

    return NGX_OK;
}
