
#include "ngx_queues_store_log_call.h"


/* arguments, at most, of a set and of an item */
#define NGX_QUEUES_STORE_LOG_SET_ARGS  7
#define NGX_QUEUES_STORE_LOG_ACK_ARGS  3


static ngx_int_t ngx_queues_store_log_ack_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_uint_t ngx_queues_store_log_ack_set(
    ngx_queues_store_log_work_t *work, ngx_queues_store_log_table_t *table,
    ngx_uint_t i);
static ngx_uint_t ngx_queues_store_log_ack_together(
    ngx_queues_store_log_ack_t *a, ngx_queues_store_log_ack_t *b);
static void ngx_queues_store_log_ack_set_args(
    ngx_queues_store_log_ack_t *acks, ngx_queues_store_log_set_t *set,
    ngx_queues_store_log_args_t *args);
static ngx_int_t ngx_queues_store_log_ack_read_set(
    ngx_queues_store_log_ack_t *acks, ngx_queues_store_log_set_t *set,
    ngx_queues_redis_reply_t *elt);
static ngx_int_t ngx_queues_store_log_ack_verdict(
    ngx_queues_store_log_ack_t *ack, u_char letter);


ngx_int_t
ngx_queues_store_log_ack(ngx_str_t *root, ngx_queues_store_log_ack_t *acks,
    ngx_uint_t n, ngx_queues_store_done_pt done, void *data)
{
    ngx_int_t                     rc;
    ngx_queues_store_call_t      *call;
    ngx_queues_store_log_args_t   args;

    call = ngx_queues_store_log_create(root, ngx_queues_store_log_ack_parse,
                                       done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    rc = ngx_queues_store_log_args_init(&args);

    if (rc == NGX_OK) {
        rc = ngx_queues_store_log_ack_plan(call, acks, n, &args);
    }

    if (rc == NGX_OK) {
        args.n += 2;
        args.size += NGX_QUEUES_BASE_DECIMAL_MAX;
        rc = ngx_queues_store_log_args_alloc(&args);
    }

    if (rc == NGX_OK) {
        ngx_queues_store_log_arg(&args, &acks[0].group);
        ngx_queues_store_log_number(&args, call->log->nsets);
        ngx_queues_store_log_ack_args(call->log, 0, &args);
    }

    return ngx_queues_store_log_start(call, "log_ack", &args, rc);
}


static ngx_int_t
ngx_queues_store_log_ack_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts != call->log->nsets)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_log_ack_read(call->log, reply->elts);
}


ngx_int_t
ngx_queues_store_log_ack_plan(ngx_queues_store_call_t *call,
    ngx_queues_store_log_ack_t *acks, ngx_uint_t n,
    ngx_queues_store_log_args_t *args)
{
    ngx_uint_t                     i, number;
    ngx_queues_store_log_set_t    *set;
    ngx_queues_store_log_work_t   *work;
    ngx_queues_store_log_table_t   table;

    work = call->log;

    work->acks = acks;
    work->sets = ngx_palloc(call->pool,
                            n * sizeof(ngx_queues_store_log_set_t));

    if (work->sets == NULL
        || ngx_queues_store_log_table_init(&table, args->pool, n) != NGX_OK)
    {
        return NGX_ERROR;
    }

    number = 0;

    for (i = 0; i < n; i++) {

        if (i == 0
            || !ngx_queues_store_log_ack_together(&acks[i], &acks[i - 1]))
        {
            number = ngx_queues_store_log_ack_set(work, &table, i);
        }

        set = &work->sets[number];

        if (set->n) {
            acks[set->last].next = i;
        }

        ngx_queues_store_log_append(set, i);

        args->n += acks[i].error.len ? NGX_QUEUES_STORE_LOG_ACK_ARGS : 1;
        args->size += 1 + (acks[i].error.len ? NGX_QUEUES_BASE_DECIMAL_MAX
                                             : 0);
    }

    args->n += work->nsets * NGX_QUEUES_STORE_LOG_SET_ARGS;
    args->size += work->nsets * (NGX_QUEUES_BASE_SHORT_LEN
                                 + 3 * NGX_QUEUES_BASE_DECIMAL_MAX);

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_store_log_ack_set(ngx_queues_store_log_work_t *work,
    ngx_queues_store_log_table_t *table, ngx_uint_t i)
{
    uint32_t                      hash;
    ngx_queues_store_log_ack_t   *ack;
    ngx_queues_store_log_slot_t  *slot;

    ack = &work->acks[i];

    hash = (uint32_t) (ngx_queues_store_log_hash((u_char *) &ack->place,
                                                 sizeof(ack->place))
                       + ngx_queues_store_log_hash(ack->lease.data,
                                                   ack->lease.len)
                       + 3 * ngx_queues_store_log_hash(ack->group.data,
                                                       ack->group.len));

    for (slot = ngx_queues_store_log_first(table, hash);
         slot->number;
         slot = ngx_queues_store_log_next(table, slot))
    {
        if (slot->hash == hash
            && ngx_queues_store_log_ack_together(
                   ack, &work->acks[work->sets[slot->number - 1].first]))
        {
            return slot->number - 1;
        }
    }

    work->sets[work->nsets++].n = 0;

    slot->hash = hash;
    slot->number = work->nsets;

    return work->nsets - 1;
}


static ngx_uint_t
ngx_queues_store_log_ack_together(ngx_queues_store_log_ack_t *a,
    ngx_queues_store_log_ack_t *b)
{
    return a->place.lane == b->place.lane
           && a->place.queue == b->place.queue
           && ngx_queues_store_log_same(&a->lease, &b->lease)
           && ngx_queues_store_log_same(&a->group, &b->group);
}


void
ngx_queues_store_log_ack_args(ngx_queues_store_log_work_t *work,
    ngx_uint_t grouped, ngx_queues_store_log_args_t *args)
{
    ngx_uint_t  i;

    for (i = 0; i < work->nsets; i++) {
        if (grouped) {
            ngx_queues_store_log_arg(args,
                                     &work->acks[work->sets[i].first].group);
        }

        ngx_queues_store_log_ack_set_args(work->acks, &work->sets[i], args);
    }
}


/* Q l lease n statuses nerr (i error)... id... */

static void
ngx_queues_store_log_ack_set_args(ngx_queues_store_log_ack_t *acks,
    ngx_queues_store_log_set_t *set, ngx_queues_store_log_args_t *args)
{
    ngx_str_t                    statuses;
    ngx_uint_t                   i, k, nerrors;
    ngx_queues_store_log_ack_t  *ack;

    ack = &acks[set->first];
    nerrors = 0;

    args->p = ngx_queues_store_short_arg(&args->elts[args->n++], args->p,
                                         ack->place.queue);
    ngx_queues_store_log_number(args, ack->place.lane);
    ngx_queues_store_log_arg(args, &ack->lease);
    ngx_queues_store_log_number(args, set->n);

    statuses.data = args->p;

    for (i = set->first, k = 0; k < set->n; i = acks[i].next, k++) {
        *args->p++ = (u_char) acks[i].status;
        nerrors += (acks[i].error.len != 0);
    }

    statuses.len = args->p - statuses.data;

    ngx_queues_store_log_arg(args, &statuses);
    ngx_queues_store_log_number(args, nerrors);

    for (i = set->first, k = 0; nerrors && k < set->n; i = acks[i].next, k++) {
        if (acks[i].error.len) {
            ngx_queues_store_log_number(args, k);
            ngx_queues_store_log_arg(args, &acks[i].error);
        }
    }

    for (i = set->first, k = 0; k < set->n; i = acks[i].next, k++) {
        ngx_queues_store_log_arg(args, &acks[i].id);
    }
}


ngx_int_t
ngx_queues_store_log_ack_read(ngx_queues_store_log_work_t *work,
    ngx_queues_redis_reply_t *elts)
{
    ngx_uint_t  i;

    for (i = 0; i < work->nsets; i++) {
        if (ngx_queues_store_log_ack_read_set(work->acks, &work->sets[i],
                                              &elts[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* whether the lease was released, 0 or 1, and a letter for each */

static ngx_int_t
ngx_queues_store_log_ack_read_set(ngx_queues_store_log_ack_t *acks,
    ngx_queues_store_log_set_t *set, ngx_queues_redis_reply_t *elt)
{
    ngx_str_t   text;
    ngx_uint_t  i, k, released;

    if (ngx_queues_store_string(elt, &text) != NGX_OK
        || text.len != 1 + set->n
        || (text.data[0] != '0' && text.data[0] != '1'))
    {
        return NGX_ERROR;
    }

    released = (text.data[0] == '1');

    for (i = set->first, k = 1; k <= set->n; i = acks[i].next, k++) {
        if (ngx_queues_store_log_ack_verdict(&acks[i], text.data[k])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        acks[i].released = released;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_store_log_ack_verdict(ngx_queues_store_log_ack_t *ack,
    u_char letter)
{
    static const u_char  letters[] = {
        NGX_QUEUES_STORE_LOG_ACKED, NGX_QUEUES_STORE_LOG_NOOP,
        NGX_QUEUES_STORE_LOG_COMMITTED, NGX_QUEUES_STORE_LOG_UNRESOLVABLE,
        NGX_QUEUES_STORE_LOG_BEYOND, NGX_QUEUES_STORE_LOG_NO_LEASE,
        NGX_QUEUES_STORE_LOG_NO_CONSUMER, NGX_QUEUES_STORE_LOG_BURIED,
        NGX_QUEUES_STORE_LOG_DROPPED
    };

    if (memchr(letters, letter, sizeof(letters)) == NULL) {
        return NGX_ERROR;
    }

    ack->verdict = (ngx_queues_store_log_verdict_e) letter;

    return NGX_OK;
}


/* "letter number", in the order of the arguments */

ngx_int_t
ngx_queues_store_log_ack_refused(ngx_queues_store_log_work_t *work,
    ngx_str_t *text, ngx_uint_t *index)
{
    uint64_t                     number;
    ngx_str_t                    rest, letter;
    ngx_uint_t                   i;
    ngx_queues_store_log_set_t  *set;

    rest = *text;

    if (ngx_queues_base_word(&rest, ' ', &letter) != NGX_OK
        || letter.len != 1
        || ngx_queues_base_decimal_parse(&rest, &number) != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (set = work->sets; set < work->sets + work->nsets; set++) {

        if (number >= set->n) {
            number -= set->n;
            continue;
        }

        for (i = set->first; number; number--) {
            i = work->acks[i].next;
        }

        *index = i;

        return ngx_queues_store_log_ack_verdict(&work->acks[i],
                                                letter.data[0]);
    }

    return NGX_ERROR;
}
