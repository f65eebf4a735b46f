
#include "ngx_queues_store_log_call.h"
#include "../base/ngx_queues_base_segment.h"


#define NGX_QUEUES_STORE_LOG_POP_ARGS  13

/* elements of the reply before the partitions: Q, next, now */
#define NGX_QUEUES_STORE_LOG_POP_HEAD  3


/* messages of a partition, from first to last */
typedef struct {
    ngx_queues_store_lane_t    place;
    ngx_str_t                  name;
    uint64_t                   first;
    uint64_t                   last;
    uint64_t                   offset;     /* of the next one to be read */
    ngx_queues_redis_reply_t  *segments;
    uint64_t                   nsegments;
} ngx_queues_store_log_run_t;


static void ngx_queues_store_log_pop_args(ngx_queues_store_log_pop_t *pop,
    u_char *p, ngx_str_t *arg);
static ngx_int_t ngx_queues_store_log_pop_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static void ngx_queues_store_log_pop_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_log_pop_head(
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_log_pop_run(ngx_queues_redis_reply_t **elt,
    ngx_queues_redis_reply_t *end, ngx_queues_store_log_run_t *run);
static ngx_int_t ngx_queues_store_log_pop_segments(
    ngx_queues_store_log_t *log, ngx_queues_store_log_run_t *run);
static ngx_int_t ngx_queues_store_log_pop_segment(ngx_queues_store_log_t *log,
    ngx_str_t *text, ngx_queues_store_log_run_t *run);


ngx_int_t
ngx_queues_store_log_pop(ngx_str_t *root, ngx_queues_store_log_pop_t *pop,
    ngx_queues_store_done_pt done, void *data)
{
    u_char                    id[NGX_QUEUES_BASE_SHORT_LEN];
    u_char                    uuid[NGX_QUEUES_BASE_UUID_LEN];
    u_char                    buf[5 * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t                 args[NGX_QUEUES_STORE_LOG_POP_ARGS];
    ngx_uint_t                k;
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_log_create(root, ngx_queues_store_log_pop_parse,
                                       done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_store_new_id(id, uuid) != NGX_OK
        || ngx_queues_store_new_id(NULL, pop->lease) != NGX_OK)
    {
        ngx_queues_store_call_free(call);
        return NGX_ERROR;
    }

    call->late = ngx_queues_store_log_pop_late;
    call->log->batch = pop->batch;
    ngx_memcpy(call->log->lease, pop->lease, NGX_QUEUES_BASE_UUID_LEN);

    k = 0;

    if (pop->queue.data) {
        args[k++] = pop->queue;

        args[k].data = id;
        args[k++].len = NGX_QUEUES_BASE_SHORT_LEN;

        args[k].data = uuid;
        args[k++].len = NGX_QUEUES_BASE_UUID_LEN;

        args[k++] = pop->lane;

    } else {
        args[k++] = pop->space;
        args[k++] = pop->task;
    }

    ngx_queues_store_log_pop_args(pop, buf, &args[k]);

    return ngx_queues_store_call_start(call,
                                       pop->queue.data ? "log_pop" : "log_find",
                                       args, k + 9);
}


/* the nine that both have */

static void
ngx_queues_store_log_pop_args(ngx_queues_store_log_pop_t *pop, u_char *p,
    ngx_str_t *arg)
{
    static ngx_str_t  modes[] = {
        ngx_string("a"), ngx_string("n"), ngx_string("t")
    };

    *arg++ = pop->group;

    p = ngx_queues_store_number_arg(arg++, p, pop->batch);
    p = ngx_queues_store_number_arg(arg++, p, pop->lanes);
    p = ngx_queues_store_number_arg(arg++, p, pop->auto_ack != 0);
    p = ngx_queues_store_number_arg(arg++, p, pop->seconds);

    *arg++ = modes[pop->from];

    p = ngx_queues_store_number_arg(arg++, p,
                                    pop->from == NGX_QUEUES_STORE_LOG_FROM_TIME
                                    ? (int64_t) pop->moment : -1);

    (void) ngx_queues_store_number_arg(arg++, p, pop->wait != 0);

    arg->data = pop->lease;
    arg->len = NGX_QUEUES_BASE_UUID_LEN;
}


/* Q next now, then what of each partition: counted, and then taken */

static ngx_int_t
ngx_queues_store_log_pop_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_uint_t                   n;
    ngx_queues_store_log_t      *log;
    ngx_queues_redis_reply_t    *elt, *end;
    ngx_queues_store_log_run_t   run;

    if (ngx_queues_store_log_pop_head(reply, result) != NGX_OK) {
        return NGX_ERROR;
    }

    n = 0;
    log = result->log;
    end = reply->elts + reply->nelts;

    for (elt = reply->elts + NGX_QUEUES_STORE_LOG_POP_HEAD; elt < end; ) {

        if (ngx_queues_store_log_pop_run(&elt, end, &run) != NGX_OK
            || run.last - run.first >= call->log->batch - n)
        {
            return NGX_ERROR;
        }

        n += run.last - run.first + 1;
        log->nlanes++;
    }

    if (n == 0) {
        return NGX_OK;
    }

    log->messages = ngx_palloc(reply->pool,
                               n * sizeof(ngx_queues_store_log_message_t));
    if (log->messages == NULL) {
        return NGX_ERROR;
    }

    for (elt = reply->elts + NGX_QUEUES_STORE_LOG_POP_HEAD; elt < end; ) {

        if (ngx_queues_store_log_pop_run(&elt, end, &run) != NGX_OK
            || ngx_queues_store_log_pop_segments(log, &run) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static void
ngx_queues_store_log_pop_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result)
{
    if (result->log->nmessages) {
        ngx_queues_store_log_undo(&call->root, call->log->lease);
    }
}


static ngx_int_t
ngx_queues_store_log_pop_head(ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result)
{
    ngx_str_t                id;
    ngx_queues_store_log_t  *log;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < NGX_QUEUES_STORE_LOG_POP_HEAD
        || ngx_queues_store_string(&reply->elts[0], &id) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[1], &result->next) != NGX_OK
        || ngx_queues_store_unsigned(&reply->elts[2], &result->now) != NGX_OK)
    {
        return NGX_ERROR;
    }

    log = ngx_pcalloc(reply->pool, sizeof(ngx_queues_store_log_t));
    if (log == NULL) {
        return NGX_ERROR;
    }

    if (id.len
        && ngx_queues_base_short_parse(&id, &log->queue) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->log = log;
    result->place.queue = log->queue;

    return NGX_OK;
}


/* "Q:l:first:last:start:n", the partition's name and n segments */

static ngx_int_t
ngx_queues_store_log_pop_run(ngx_queues_redis_reply_t **elt,
    ngx_queues_redis_reply_t *end, ngx_queues_store_log_run_t *run)
{
    ngx_str_t                  text;
    ngx_queues_redis_reply_t  *e;

    e = *elt;

    if (end - e < 2
        || ngx_queues_store_string(&e[0], &text) != NGX_OK
        || ngx_queues_store_string(&e[1], &run->name) != NGX_OK
        || ngx_queues_store_log_lane(&text, &run->place) != NGX_OK
        || ngx_queues_store_number(&text, ':', &run->first) != NGX_OK
        || ngx_queues_store_number(&text, ':', &run->last) != NGX_OK
        || ngx_queues_store_number(&text, ':', &run->offset) != NGX_OK
        || ngx_queues_base_decimal_parse(&text, &run->nsegments) != NGX_OK)
    {
        return NGX_ERROR;
    }

    run->segments = e + 2;

    if (run->offset > run->first
        || run->first > run->last
        || run->last == UINT64_MAX
        || run->nsegments > (uint64_t) (end - run->segments))
    {
        return NGX_ERROR;
    }

    *elt = run->segments + run->nsegments;

    return NGX_OK;
}


/* all of the messages are there, and each segment has some of them */

static ngx_int_t
ngx_queues_store_log_pop_segments(ngx_queues_store_log_t *log,
    ngx_queues_store_log_run_t *run)
{
    uint64_t    i;
    ngx_str_t   text;
    ngx_uint_t  n;

    for (i = 0; i < run->nsegments; i++) {
        n = log->nmessages;

        if (ngx_queues_store_string(&run->segments[i], &text) != NGX_OK
            || ngx_queues_store_log_pop_segment(log, &text, run) != NGX_OK
            || log->nmessages == n)
        {
            return NGX_ERROR;
        }
    }

    return run->offset == run->last + 1 ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_queues_store_log_pop_segment(ngx_queues_store_log_t *log, ngx_str_t *text,
    ngx_queues_store_log_run_t *run)
{
    ngx_int_t                           rc;
    ngx_queues_base_segment_t           segment;
    ngx_queues_store_log_message_t     *m;
    ngx_queues_base_segment_message_t   message;

    if (ngx_queues_base_segment_open(&segment, text) != NGX_OK) {
        return NGX_ERROR;
    }

    for ( /* void */ ; run->offset <= run->last; run->offset++) {
        rc = ngx_queues_base_segment_next(&segment, &message);

        if (rc == NGX_DONE) {
            break;
        }

        if (rc != NGX_OK) {
            return NGX_ERROR;
        }

        if (run->offset < run->first) {
            continue;
        }

        m = &log->messages[log->nmessages++];

        m->place = run->place;
        m->lane = run->name;
        m->offset = run->offset;
        m->ms = segment.ms;
        m->producer = segment.producer;
        m->id = message.id;
        m->trace = message.trace;
        m->payload = message.payload;
        m->sealed = segment.sealed;
    }

    return NGX_OK;
}
