
#include "ngx_queues_store_log_call.h"
#include "../base/ngx_queues_base_fingerprint.h"


/* arguments, at most, of a queue, a partition and a message */
#define NGX_QUEUES_STORE_LOG_QUEUE_ARGS   3
#define NGX_QUEUES_STORE_LOG_LANE_ARGS    4
#define NGX_QUEUES_STORE_LOG_ITEM_ARGS    3

/* bytes of the numbers that a segment begins with, at most */
#define NGX_QUEUES_STORE_LOG_HEAD         (7 * NGX_QUEUES_BASE_DECIMAL_MAX + 7)


typedef struct {
    ngx_queues_store_log_work_t   *work;
    ngx_queues_store_log_table_t   queues;
    ngx_queues_store_log_table_t   lanes;
    ngx_queues_store_log_table_t   ids;
} ngx_queues_store_log_plan_t;


static ngx_uint_t ngx_queues_store_log_plan_queue(
    ngx_queues_store_log_plan_t *plan, ngx_uint_t i);
static ngx_uint_t ngx_queues_store_log_plan_lane(
    ngx_queues_store_log_plan_t *plan, ngx_uint_t i, ngx_uint_t queue);
static ngx_uint_t ngx_queues_store_log_plan_id(
    ngx_queues_store_log_plan_t *plan, ngx_uint_t i, ngx_uint_t lane);
static void ngx_queues_store_log_plan_count(ngx_queues_store_log_work_t *work,
    ngx_queues_store_log_args_t *args);


/*
 * Links the items of each partition.  One whose id another one of them has is
 * not sent: it is linked to those that repeat, and has its first one's number
 * in the place of its offset.
 */

ngx_int_t
ngx_queues_store_log_push_plan(ngx_queues_store_call_t *call,
    ngx_queues_store_log_push_t *push, ngx_queues_store_log_args_t *args)
{
    ngx_uint_t                    i, n, queue, lane, first;
    ngx_queues_store_log_set_t   *set;
    ngx_queues_store_log_item_t  *items;
    ngx_queues_store_log_plan_t   plan;
    ngx_queues_store_log_work_t  *work;

    n = push->nitems;
    items = push->items;
    work = call->log;

    plan.work = work;

    work->push = *push;
    work->repeated = NGX_QUEUES_STORE_LOG_NONE;
    work->queues = ngx_palloc(call->pool, n * sizeof(ngx_uint_t));
    work->lanes = ngx_palloc(call->pool,
                             n * sizeof(ngx_queues_store_log_set_t));

    if (work->queues == NULL || work->lanes == NULL
        || ngx_queues_store_log_table_init(&plan.queues, args->pool, n)
           != NGX_OK
        || ngx_queues_store_log_table_init(&plan.lanes, args->pool, n)
           != NGX_OK
        || ngx_queues_store_log_table_init(&plan.ids, args->pool, n) != NGX_OK)
    {
        return NGX_ERROR;
    }

    queue = 0;
    lane = 0;

    for (i = 0; i < n; i++) {

        /* the one before is most often of the same partition */

        if (i == 0
            || !ngx_queues_store_log_same(&items[i].queue, &items[i - 1].queue))
        {
            queue = ngx_queues_store_log_plan_queue(&plan, i);
            lane = ngx_queues_store_log_plan_lane(&plan, i, queue);

        } else if (!ngx_queues_store_log_same(&items[i].lane,
                                              &items[i - 1].lane))
        {
            lane = ngx_queues_store_log_plan_lane(&plan, i, queue);
        }

        first = ngx_queues_store_log_plan_id(&plan, i, lane);

        if (first != i) {
            items[i].offset = first;
            items[i].next = work->repeated;
            work->repeated = i;
            continue;
        }

        set = &work->lanes[lane];

        if (set->n) {
            items[set->last].next = i;
        }

        ngx_queues_store_log_append(set, i);
    }

    ngx_queues_store_log_plan_count(work, args);

    return NGX_OK;
}


/* these return numbers, of what was found or is put in */

static ngx_uint_t
ngx_queues_store_log_plan_queue(ngx_queues_store_log_plan_t *plan,
    ngx_uint_t i)
{
    uint32_t                      hash;
    ngx_str_t                    *name;
    ngx_queues_store_log_slot_t  *slot;
    ngx_queues_store_log_item_t  *items;
    ngx_queues_store_log_work_t  *work;

    work = plan->work;
    items = work->push.items;
    name = &items[i].queue;

    hash = (uint32_t) ngx_queues_store_log_hash(name->data, name->len);

    for (slot = ngx_queues_store_log_first(&plan->queues, hash);
         slot->number;
         slot = ngx_queues_store_log_next(&plan->queues, slot))
    {
        if (slot->hash == hash
            && ngx_queues_store_log_same(
                   name, &items[work->queues[slot->number - 1]].queue))
        {
            return slot->number - 1;
        }
    }

    work->queues[work->nqueues++] = i;

    slot->hash = hash;
    slot->number = work->nqueues;

    return work->nqueues - 1;
}


static ngx_uint_t
ngx_queues_store_log_plan_lane(ngx_queues_store_log_plan_t *plan, ngx_uint_t i,
    ngx_uint_t queue)
{
    uint32_t                      hash;
    ngx_str_t                    *name;
    ngx_queues_store_log_set_t   *set;
    ngx_queues_store_log_slot_t  *slot;
    ngx_queues_store_log_item_t  *items;
    ngx_queues_store_log_work_t  *work;

    work = plan->work;
    items = work->push.items;
    name = &items[i].lane;

    hash = (uint32_t) (ngx_queues_store_log_hash(name->data, name->len)
                       + ngx_queues_base_mix(queue));

    for (slot = ngx_queues_store_log_first(&plan->lanes, hash);
         slot->number;
         slot = ngx_queues_store_log_next(&plan->lanes, slot))
    {
        set = &work->lanes[slot->number - 1];

        if (slot->hash == hash
            && set->queue == queue
            && ngx_queues_store_log_same(name, &items[set->first].lane))
        {
            return slot->number - 1;
        }
    }

    set = &work->lanes[work->nlanes++];

    set->n = 0;
    set->queue = queue;

    slot->hash = hash;
    slot->number = work->nlanes;

    return work->nlanes - 1;
}


static ngx_uint_t
ngx_queues_store_log_plan_id(ngx_queues_store_log_plan_t *plan, ngx_uint_t i,
    ngx_uint_t lane)
{
    uint32_t                      hash;
    ngx_queues_store_log_slot_t  *slot;
    ngx_queues_store_log_item_t  *items, *first;

    items = plan->work->push.items;

    hash = (uint32_t) (ngx_queues_store_log_hash(items[i].id.data,
                                                 items[i].id.len)
                       + ngx_queues_base_mix(lane));

    /* meanwhile the partition's number is in the place of a result */

    items[i].ms = lane;

    for (slot = ngx_queues_store_log_first(&plan->ids, hash);
         slot->number;
         slot = ngx_queues_store_log_next(&plan->ids, slot))
    {
        first = &items[slot->number - 1];

        if (slot->hash == hash
            && first->ms == lane
            && ngx_queues_store_log_same(&items[i].id, &first->id))
        {
            return slot->number - 1;
        }
    }

    slot->hash = hash;
    slot->number = i + 1;

    return i;
}


static void
ngx_queues_store_log_plan_count(ngx_queues_store_log_work_t *work,
    ngx_queues_store_log_args_t *args)
{
    size_t      size, copied;
    ngx_uint_t  i, segments;

    args->n += 2 + work->nqueues * NGX_QUEUES_STORE_LOG_QUEUE_ARGS
               + work->nlanes * NGX_QUEUES_STORE_LOG_LANE_ARGS
               + work->push.nitems * NGX_QUEUES_STORE_LOG_ITEM_ARGS;

    args->size += 2 * NGX_QUEUES_BASE_DECIMAL_MAX
                  + work->nqueues * (NGX_QUEUES_BASE_SHORT_LEN
                                     + NGX_QUEUES_BASE_UUID_LEN)
                  + work->nlanes * 3 * NGX_QUEUES_BASE_DECIMAL_MAX;

    copied = 0;
    segments = work->nlanes;

    for (i = 0; i < work->push.nitems; i++) {
        size = ngx_queues_store_log_item_size(&work->push.items[i]);

        /* a large payload is not copied, and may end two segments */

        args->size += NGX_QUEUES_BASE_FINGERPRINT
                      + NGX_QUEUES_BASE_DECIMAL_MAX + 1
                      + 2 * (work->push.items[i].id.len + 1);

        if (size <= NGX_QUEUES_STORE_LOG_CHUNK_BYTES) {
            copied += size;

        } else {
            args->size += size - work->push.items[i].payload.len;
            segments += 2;
        }
    }

    /* of two that follow one another for their bytes both are not half full */

    segments += work->push.nitems / NGX_QUEUES_STORE_LOG_CHUNK
                + 2 * (copied / NGX_QUEUES_STORE_LOG_CHUNK_BYTES + 1);

    args->size += copied + segments * (NGX_QUEUES_STORE_LOG_HEAD
                                       + work->push.producer.len);
}
