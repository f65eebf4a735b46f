
/*
 * Queues, as they are.  What the queue mode has not consumed is pending; how
 * much of it is leased would take a look at every partition.
 */

#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_QUEUES_MAX  100
#define NGX_QUEUES_API_QUEEN_LANES_MAX   1000


typedef struct {
    ngx_queues_api_queen_page_t   page;
    ngx_queues_api_queen_out_t    out;
    ngx_uint_t                    status;    /* of /status, not /resources;
                                                unsigned  status:1; */
    uint64_t                      messages;
    uint64_t                      pushed;
    uint64_t                      pending;
    uint64_t                      dead;
} ngx_queues_api_queen_queues_t;


static void ngx_queues_api_queen_queues(ngx_queues_api_t *api);
static void ngx_queues_api_queen_status_queues(ngx_queues_api_t *api);
static ngx_queues_api_queen_queues_t *ngx_queues_api_queen_queues_create(
    ngx_queues_api_t *api, uint64_t max, ngx_uint_t status);
static void ngx_queues_api_queen_queues_start(ngx_queues_api_t *api,
    ngx_uint_t status);
static void ngx_queues_api_queen_queues_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_queue(ngx_queues_api_t *api);
static void ngx_queues_api_queen_status_queue(ngx_queues_api_t *api);
static void ngx_queues_api_queen_queue_start(ngx_queues_api_t *api,
    ngx_uint_t status);
static void ngx_queues_api_queen_queue_head(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_queue_lanes(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_queue_lane(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *id, ngx_queues_store_value_t *row);
static uint64_t ngx_queues_api_queen_pending(
    ngx_queues_store_value_t *messages, ngx_queues_store_value_t *lag);


const ngx_queues_api_route_t  ngx_queues_api_queen_queues_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/api/v1/resources/queues"),
      ngx_string("QueenQueues"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.queues"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_queues },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/resources/queues/{queue}"),
      ngx_string("QueenQueue"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.queues"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_queue },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/status/queues"),
      ngx_string("QueenQueues"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.queues"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_status_queues },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/status/queues/{queue}"),
      ngx_string("QueenQueue"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.queues"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_status_queue },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_queues(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_queues_start(api, 0);
}


static void
ngx_queues_api_queen_status_queues(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_queues_start(api, 1);
}


/* NULL after it has answered */

static ngx_queues_api_queen_queues_t *
ngx_queues_api_queen_queues_create(ngx_queues_api_t *api, uint64_t max,
    ngx_uint_t status)
{
    ngx_queues_api_queen_queues_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_queues_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    api->data = ctx;
    ctx->status = status;

    ngx_queues_api_queen_open(api, &ctx->out);

    if (ngx_queues_api_queen_page(api, max, max, &ctx->page) != NGX_OK) {
        return NULL;
    }

    return ctx;
}


static void
ngx_queues_api_queen_queues_start(ngx_queues_api_t *api, ngx_uint_t status)
{
    ngx_queues_store_logs_t         call;
    ngx_queues_api_queen_queues_t  *ctx;

    ctx = ngx_queues_api_queen_queues_create(api,
                                             NGX_QUEUES_API_QUEEN_QUEUES_MAX,
                                             status);
    if (ctx == NULL) {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_QUEUES);
    ngx_queues_store_logs_text(&call, &ctx->page.after);
    ngx_queues_store_logs_number(&call, ctx->page.limit);
    ngx_queues_store_logs_number(&call, ctx->page.offset);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_queues_answer);
}


/* those that the principal may see: a page may be short */

static void
ngx_queues_api_queen_queues_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_str_t                       last;
    ngx_uint_t                      i;
    ngx_queues_store_value_t       *row;
    ngx_queues_api_queen_out_t     *out;
    ngx_queues_api_queen_queues_t  *ctx;

    ctx = api->data;
    out = &ctx->out;

    ngx_str_null(&last);

    ngx_queues_api_queen_write(out, "{'queues':[");

    for (i = 1; i < result->nvalues; i += NGX_QUEUES_STORE_OF_LISTED_NCOLUMNS) {
        row = &result->values[i];
        last = row[NGX_QUEUES_STORE_OF_LISTED_NAME].text;

        if (!ngx_queues_api_permits(api, NULL, &last)) {
            continue;
        }

        ngx_queues_api_queen_write(out,
            "{'id':%s,'name':%s,'namespace':%s,'task':%s,'createdAt':%t,"
            "'partitions':%v,'messages':{'total':%v,'pending':%d,"
            "'processing':0,'deadLetter':%v}},",
            &row[NGX_QUEUES_STORE_OF_LISTED_UUID].text, &last,
            &row[NGX_QUEUES_STORE_OF_LISTED_SPACE].text,
            &row[NGX_QUEUES_STORE_OF_LISTED_TASK].text,
            row[NGX_QUEUES_STORE_OF_LISTED_CREATED].number,
            &row[NGX_QUEUES_STORE_OF_LISTED_LANES],
            &row[NGX_QUEUES_STORE_OF_LISTED_MESSAGES],
            ngx_queues_api_queen_pending(
                                     &row[NGX_QUEUES_STORE_OF_LISTED_MESSAGES],
                                     &row[NGX_QUEUES_STORE_OF_LISTED_LAG]),
            &row[NGX_QUEUES_STORE_OF_LISTED_DEAD]);
    }

    ngx_queues_api_queen_trim(out);
    ngx_queues_api_queen_write(out, "],");

    if (ctx->status) {
        ngx_queues_api_queen_write(out, "'pagination':{'limit':%d,"
                                   "'offset':%d},", ctx->page.limit,
                                   ctx->page.offset);
    }

    if (result->values[0].number) {
        ngx_queues_api_queen_write(out, "'next':%s}", &last);

    } else {
        ngx_queues_api_queen_write(out, "'next':null}");
    }

    ngx_queues_api_queen_close(out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_queue(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_queue_start(api, 0);
}


static void
ngx_queues_api_queen_status_queue(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_queue_start(api, 1);
}


static void
ngx_queues_api_queen_queue_start(ngx_queues_api_t *api, ngx_uint_t status)
{
    ngx_queues_store_logs_t  call;

    if (ngx_queues_api_queen_queues_create(api, NGX_QUEUES_API_QUEEN_LANES_MAX,
                                           status)
        == NULL)
    {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_GET);
    ngx_queues_store_logs_text(&call, &api->queue);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_queue_head);
}


static void
ngx_queues_api_queen_queue_head(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_str_t                       options;
    ngx_queues_store_logs_t         call;
    ngx_queues_store_value_t       *v;
    ngx_queues_api_queen_queues_t  *ctx;

    v = result->values;
    ctx = api->data;

    options = v[NGX_QUEUES_STORE_OF_QUEUE_OPTIONS].text;

    if (options.len == 0
        && ngx_queues_api_queen_defaults(api, &options) != NGX_OK)
    {
        return;
    }

    ctx->messages = v[NGX_QUEUES_STORE_OF_QUEUE_MESSAGES].number;
    ctx->pushed = v[NGX_QUEUES_STORE_OF_QUEUE_PUSHED].number;
    ctx->dead = v[NGX_QUEUES_STORE_OF_QUEUE_DEAD].number;
    ctx->pending = ngx_queues_api_queen_pending(
                                       &v[NGX_QUEUES_STORE_OF_QUEUE_MESSAGES],
                                       &v[NGX_QUEUES_STORE_OF_QUEUE_LAG]);

    ngx_queues_api_queen_write(&ctx->out,
        "%c{'id':%s,'name':%s,'namespace':%s,'task':%s,'createdAt':%t,"
        "'%c':%r%c,'partitions':[",
        ctx->status ? "{\"queue\":" : "",
        &v[NGX_QUEUES_STORE_OF_QUEUE_UUID].text, &api->queue,
        &v[NGX_QUEUES_STORE_OF_QUEUE_SPACE].text,
        &v[NGX_QUEUES_STORE_OF_QUEUE_TASK].text,
        v[NGX_QUEUES_STORE_OF_QUEUE_CREATED].number,
        ctx->status ? "config" : "options", &options,
        ctx->status ? "}" : "");

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_LANES);
    ngx_queues_store_logs_text(&call, &api->queue);
    ngx_queues_store_logs_number(&call, ctx->page.offset);
    ngx_queues_store_logs_number(&call, ctx->page.limit);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_queue_lanes);
}


static void
ngx_queues_api_queen_queue_lanes(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    uint64_t                        done;
    ngx_uint_t                      i;
    ngx_queues_store_value_t       *v;
    ngx_queues_api_queen_out_t     *out;
    ngx_queues_api_queen_queues_t  *ctx;

    /* before the rows */

    enum { id = 0, now, total, rows };

    ctx = api->data;
    out = &ctx->out;
    v = result->values;

    for (i = rows; i < result->nvalues; i += NGX_QUEUES_STORE_OF_LANE_NCOLUMNS)
    {
        ngx_queues_api_queen_queue_lane(out, &v[id], &v[i]);
    }

    done = ctx->messages - ngx_min(ctx->messages, ctx->pending);

    ngx_queues_api_queen_trim(out);
    ngx_queues_api_queen_write(out,
        "],'totals':{'partitions':%v,'total':%d,'pending':%d,'processing':0,"
        "'completed':%d,'failed':0,'deadLetter':%d,'pushed':%d},"
        "'pagination':{'limit':%d,'offset':%d}}",
        &v[total], ctx->messages, ctx->pending, done, ctx->dead, ctx->pushed,
        ctx->page.limit, ctx->page.offset);

    ngx_queues_api_queen_close(out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_queue_lane(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *id, ngx_queues_store_value_t *row)
{
    uint64_t                   head, next, passed, newest;
    ngx_queues_store_lane_t    lane;
    ngx_queues_store_value_t  *first;

    ngx_queues_api_queen_lane(id, &row[NGX_QUEUES_STORE_OF_LANE_L], &lane);

    head = row[NGX_QUEUES_STORE_OF_LANE_HEAD].number;
    next = row[NGX_QUEUES_STORE_OF_LANE_NEXT].number;
    first = &row[NGX_QUEUES_STORE_OF_LANE_FIRST];

    /* what is gone is neither pending nor completed */

    passed = ngx_max(row[NGX_QUEUES_STORE_OF_LANE_COMMITTED].number,
                     head - 1);
    newest = first->none ? 0 : row[NGX_QUEUES_STORE_OF_LANE_LAST].number;

    ngx_queues_api_queen_write(out,
        "{'id':%l,'name':%s,'createdAt':%t,'stats':{'total':%d,'pending':%d,"
        "'processing':0,'completed':%d,'failed':0,'deadLetter':0},"
        "'oldestMessage':%t,'newestMessage':%t,'leasedUntil':%t},",
        &lane, &row[NGX_QUEUES_STORE_OF_LANE_NAME].text,
        row[NGX_QUEUES_STORE_OF_LANE_CREATED].number, next - head,
        next - 1 - passed, passed - (head - 1), first->number, newest,
        row[NGX_QUEUES_STORE_OF_LANE_EXPIRY].number);
}


/* all, where the queue mode has not been used */

static uint64_t
ngx_queues_api_queen_pending(ngx_queues_store_value_t *messages,
    ngx_queues_store_value_t *lag)
{
    return lag->none ? messages->number : lag->number;
}
