
#include "ngx_queues_store_log_call.h"


static ngx_int_t ngx_queues_store_log_push_parse(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static void ngx_queues_store_log_push_set(ngx_queues_store_log_item_t *items,
    ngx_queues_store_log_set_t *set, ngx_queues_store_log_args_t *args);
static ngx_uint_t ngx_queues_store_log_push_chunk(
    ngx_queues_store_log_item_t *items, ngx_uint_t i,
    ngx_queues_store_log_args_t *args);
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
        args.n++;
        rc = ngx_queues_store_log_args_alloc(&args);
    }

    if (rc == NGX_OK) {
        ngx_queues_store_log_arg(&args, &push->producer);
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
 * nq (name Q uuid)... ngroups (qi lane n sealed id... (count lengths payloads
 * traces)...)...
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
        ngx_queues_store_log_push_set(items, &work->lanes[i], args);
    }

    return NGX_OK;
}


static void
ngx_queues_store_log_push_set(ngx_queues_store_log_item_t *items,
    ngx_queues_store_log_set_t *set, ngx_queues_store_log_args_t *args)
{
    ngx_uint_t  i, k, n;

    items[set->last].next = NGX_QUEUES_STORE_LOG_NONE;

    ngx_queues_store_log_number(args, set->queue + 1);
    ngx_queues_store_log_arg(args, &items[set->first].lane);
    ngx_queues_store_log_number(args, set->n);
    ngx_queues_store_log_number(args, items[set->first].sealed != 0);

    for (i = set->first, k = 0; k < set->n; i = items[i].next, k++) {
        ngx_queues_store_log_arg(args, &items[i].id);
    }

    for (i = set->first; i != NGX_QUEUES_STORE_LOG_NONE; /* void */ ) {
        n = ngx_queues_store_log_push_chunk(items, i, args);

        for ( /* void */ ; n; n--) {
            i = items[i].next;
        }
    }
}


/* of as many items as make a segment, from i on; returns their number */

static ngx_uint_t
ngx_queues_store_log_push_chunk(ngx_queues_store_log_item_t *items,
    ngx_uint_t i, ngx_queues_store_log_args_t *args)
{
    size_t                        size;
    ngx_str_t                     text;
    ngx_uint_t                    j, k, n, traced;
    ngx_queues_store_log_item_t  *item;

    n = 0;
    size = 0;
    traced = 0;

    for (k = i; k != NGX_QUEUES_STORE_LOG_NONE; k = items[k].next) {
        size += ngx_queues_store_log_item_size(&items[k]);

        if (n == NGX_QUEUES_STORE_LOG_CHUNK
            || (n && size > NGX_QUEUES_STORE_LOG_CHUNK_BYTES))
        {
            break;
        }

        traced |= items[k].trace.len;
        n++;
    }

    ngx_queues_store_log_number(args, n);

    if (n == 1) {
        ngx_queues_store_log_number(args, items[i].payload.len);
        ngx_queues_store_log_arg(args, &items[i].payload);
        ngx_queues_store_log_arg(args, &items[i].trace);

        return 1;
    }

    text.data = args->p;

    for (k = 0, j = i; k < n; k++, j = items[j].next) {
        args->p = ngx_queues_base_decimal_print(args->p,
                                                items[j].payload.len);
        *args->p++ = ' ';
    }

    text.len = args->p - 1 - text.data;
    ngx_queues_store_log_arg(args, &text);

    text.data = args->p;

    for (k = 0, j = i; k < n; k++, j = items[j].next) {
        args->p = ngx_cpymem(args->p, items[j].payload.data,
                             items[j].payload.len);
    }

    text.len = args->p - text.data;
    ngx_queues_store_log_arg(args, &text);

    text.data = args->p;

    for (k = 0, j = i; traced && k < n; k++, j = items[j].next) {
        item = &items[j];

        if (item->trace.len) {
            args->p = ngx_cpymem(args->p, item->trace.data, item->trace.len);
        }

        *args->p++ = LF;
    }

    text.len = traced ? args->p - 1 - text.data : 0;
    ngx_queues_store_log_arg(args, &text);

    return n;
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
