
/* Consumer groups, as they are. */

#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_GROUPS_MAX   100     /* of a page */
#define NGX_QUEUES_API_QUEEN_LAGGING_MAX  1000
#define NGX_QUEUES_API_QUEEN_LAGGING      300     /* seconds */
#define NGX_QUEUES_API_QUEEN_MIN_LAG      3600


typedef enum {
    NGX_QUEUES_API_QUEEN_GROUPS_LIMIT = 0,
    NGX_QUEUES_API_QUEEN_GROUPS_AFTER,
    NGX_QUEUES_API_QUEEN_GROUPS_AFTER_QUEUE,
    NGX_QUEUES_API_QUEEN_GROUPS_QUEUE,
    NGX_QUEUES_API_QUEEN_GROUPS_MIN_LAG,
    NGX_QUEUES_API_QUEEN_GROUPS_NPARAMETERS
} ngx_queues_api_queen_groups_parameter_e;


static void ngx_queues_api_queen_groups(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_groups_after(ngx_queues_api_t *api,
    ngx_str_t *values, ngx_str_t *after);
static void ngx_queues_api_queen_groups_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_groups_row(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *row);
static void ngx_queues_api_queen_lagging(ngx_queues_api_t *api);
static void ngx_queues_api_queen_lagging_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_one_group(ngx_queues_api_t *api);
static void ngx_queues_api_queen_group_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_group_lane(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *row);
static uint64_t ngx_queues_api_queen_group_late(
    ngx_queues_store_value_t *oldest);


static const ngx_str_t  ngx_queues_api_queen_groups_names[] = {
    ngx_string("limit"),
    ngx_string("after"),
    ngx_string("afterQueue"),
    ngx_string("queue"),
    ngx_string("minLagSeconds")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_groups_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/api/v1/consumer-groups"),
      ngx_string("QueenGroups"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.groups"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_groups },

    /* before the one whose group may be any */

    { NGX_HTTP_GET,
      ngx_string("/api/v1/consumer-groups/lagging"),
      ngx_string("QueenLagging"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.groups"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_lagging },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/consumer-groups/{group}"),
      ngx_string("QueenGroup"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.groups"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_one_group },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_groups(ngx_queues_api_t *api)
{
    uint64_t                  limit;
    ngx_str_t                 after, queue, *of;
    const ngx_str_t          *names;
    ngx_queues_store_logs_t   call;
    ngx_str_t  values[NGX_QUEUES_API_QUEEN_GROUPS_NPARAMETERS];

    limit = NGX_QUEUES_API_QUEEN_GROUPS_MAX;
    names = ngx_queues_api_queen_groups_names;
    of = &values[NGX_QUEUES_API_QUEEN_GROUPS_QUEUE];

    if (ngx_queues_api_queen_query(api, names,
                              NGX_QUEUES_API_QUEEN_GROUPS_NPARAMETERS, values)
        != NGX_OK
        || ngx_queues_api_queen_word(api, "queue", of, &queue) != NGX_OK
        || ngx_queues_api_queen_of(api, &queue) != NGX_OK
        || ngx_queues_api_queen_number(api,
                                  &names[NGX_QUEUES_API_QUEEN_GROUPS_LIMIT],
                                  &values[NGX_QUEUES_API_QUEEN_GROUPS_LIMIT],
                                  1, NGX_QUEUES_API_QUEEN_GROUPS_MAX, &limit)
           != NGX_OK
        || ngx_queues_api_queen_groups_after(api, values, &after) != NGX_OK)
    {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_GROUPS);
    ngx_queues_store_logs_text(&call, &after);
    ngx_queues_store_logs_number(&call, limit);

    /* an empty name is one as well */

    if (of->data) {
        ngx_queues_store_logs_text(&call, &queue);
    }

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_groups_answer);
}


/* name and queueName of the last one of the page before */

static ngx_int_t
ngx_queues_api_queen_groups_after(ngx_queues_api_t *api, ngx_str_t *values,
    ngx_str_t *after)
{
    u_char     *p;
    ngx_str_t   group, queue, *of;

    ngx_str_set(after, "");

    if (values[NGX_QUEUES_API_QUEEN_GROUPS_AFTER].len == 0) {
        return NGX_OK;
    }

    /* rows of one queue are all after one of that queue */

    of = &values[NGX_QUEUES_API_QUEEN_GROUPS_QUEUE];

    if (of->data == NULL) {
        of = &values[NGX_QUEUES_API_QUEEN_GROUPS_AFTER_QUEUE];
    }

    if (ngx_queues_api_queen_word(api, "after",
                              &values[NGX_QUEUES_API_QUEEN_GROUPS_AFTER],
                              &group)
        != NGX_OK
        || ngx_queues_api_queen_word(api, "afterQueue", of, &queue) != NGX_OK)
    {
        return NGX_ERROR;
    }

    p = ngx_pnalloc(api->op->pool, group.len + 1 + queue.len);
    if (p == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    after->data = p;

    p = ngx_cpymem(p, group.data, group.len);
    *p++ = LF;
    p = ngx_cpymem(p, queue.data, queue.len);

    after->len = p - after->data;

    return NGX_OK;
}


static void
ngx_queues_api_queen_groups_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                  i;
    ngx_queues_api_queen_out_t  out;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "[");

    for (i = 1; i < result->nvalues; i += NGX_QUEUES_STORE_OF_GROUP_NCOLUMNS) {
        ngx_queues_api_queen_groups_row(&out, &result->values[i]);
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "]");
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_groups_row(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *row)
{
    uint64_t                   late, from, created;
    ngx_str_t                 *queue;
    const char                *state, *mode;

    queue = &row[NGX_QUEUES_STORE_OF_GROUP_QUEUE].text;
    created = row[NGX_QUEUES_STORE_OF_GROUP_CREATED].number;
    from = row[NGX_QUEUES_STORE_OF_GROUP_FROM].number;

    late = ngx_queues_api_queen_group_late(
                                       &row[NGX_QUEUES_STORE_OF_GROUP_OLDEST]);

    if (late > NGX_QUEUES_API_QUEEN_LAGGING) {
        state = "Lagging";

    } else {
        state = row[NGX_QUEUES_STORE_OF_GROUP_CONSUMED].number ? "Stable"
                                                               : "Dead";
    }

    /* who begins with what is new begins in the ms after the first contact */

    if (row[NGX_QUEUES_STORE_OF_GROUP_MODE].text.data[0] == 'a') {
        mode = "all";
        from = 0;

    } else {
        mode = (from == created + 1) ? "new" : "timestamp";
    }

    ngx_queues_api_queen_write(out,
        "{'name':%s,'topics':[%s],'queueName':%s,'members':%v,"
        "'partitionsWithLag':%v,'totalLag':%v,'maxTimeLag':%d,'state':'%c',",
        &row[NGX_QUEUES_STORE_OF_GROUP_NAME].text, queue, queue,
        &row[NGX_QUEUES_STORE_OF_GROUP_CURSORS],
        &row[NGX_QUEUES_STORE_OF_GROUP_LANES],
        &row[NGX_QUEUES_STORE_OF_GROUP_LAG], late, state);

    ngx_queues_api_queen_write(out,
        "'subscriptionMode':'%c','subscriptionTimestamp':%t,"
        "'subscriptionCreatedAt':%t},", mode, from, created);
}


static void
ngx_queues_api_queen_lagging(ngx_queues_api_t *api)
{
    uint64_t                  seconds;
    const ngx_str_t          *names;
    ngx_queues_store_logs_t   call;
    ngx_str_t  values[NGX_QUEUES_API_QUEEN_GROUPS_NPARAMETERS];

    seconds = NGX_QUEUES_API_QUEEN_MIN_LAG;
    names = ngx_queues_api_queen_groups_names;

    if (ngx_queues_api_queen_any(api) != NGX_OK
        || ngx_queues_api_queen_query(api, names,
                              NGX_QUEUES_API_QUEEN_GROUPS_NPARAMETERS, values)
           != NGX_OK
        || ngx_queues_api_queen_number(api,
                                &names[NGX_QUEUES_API_QUEEN_GROUPS_MIN_LAG],
                                &values[NGX_QUEUES_API_QUEEN_GROUPS_MIN_LAG],
                                0, NGX_QUEUES_API_QUEEN_OFFSET_MAX, &seconds)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_LAGGING);
    ngx_queues_store_logs_number(&call, seconds);
    ngx_queues_store_logs_number(&call, NGX_QUEUES_API_QUEEN_LAGGING_MAX);

    ngx_queues_api_queen_start(api, &call,
                               ngx_queues_api_queen_lagging_answer);
}


static void
ngx_queues_api_queen_lagging_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    uint64_t                     late;
    ngx_uint_t                   i;
    ngx_queues_store_lane_t      lane;
    ngx_queues_store_value_t    *row;
    ngx_queues_api_queen_out_t   out;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "[");

    for (i = 0; i < result->nvalues;
         i += NGX_QUEUES_STORE_OF_LAGGING_NCOLUMNS)
    {
        row = &result->values[i];

        ngx_queues_api_queen_lane(&row[NGX_QUEUES_STORE_OF_LAGGING_ID],
                                  &row[NGX_QUEUES_STORE_OF_LAGGING_L], &lane);

        late = ngx_queues_api_queen_group_late(
                                     &row[NGX_QUEUES_STORE_OF_LAGGING_OLDEST]);

        ngx_queues_api_queen_write(&out,
            "{'consumer_group':%s,'queue_name':%s,'partition_name':%s,"
            "'partition_id':%l,'worker_id':%n,'offset_lag':%v,",
            &row[NGX_QUEUES_STORE_OF_LAGGING_GROUP].text,
            &row[NGX_QUEUES_STORE_OF_LAGGING_QUEUE].text,
            &row[NGX_QUEUES_STORE_OF_LAGGING_LANE].text, &lane,
            &row[NGX_QUEUES_STORE_OF_LAGGING_LEASE].text,
            &row[NGX_QUEUES_STORE_OF_LAGGING_LAG]);

        /* hours with two digits after the point */

        ngx_queues_api_queen_write(&out,
            "'time_lag_seconds':%d,'lag_hours':%d.%d%d,"
            "'oldest_unconsumed_at':%t,'last_consumed_at':%t},",
            late, late / 3600, late % 3600 / 360, late % 360 / 36,
            row[NGX_QUEUES_STORE_OF_LAGGING_OLDEST].number,
            row[NGX_QUEUES_STORE_OF_LAGGING_CONSUMED].number);
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "]");
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_one_group(ngx_queues_api_t *api)
{
    ngx_str_t                group, text;
    ngx_queues_store_logs_t  call;

    group = ngx_queues_api_capture(api, "group");

    if (ngx_queues_api_queen_any(api) != NGX_OK
        || ngx_queues_api_queen_word(api, "group", &group, &text) != NGX_OK)
    {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_GROUP);
    ngx_queues_store_logs_text(&call, &text);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_group_answer);
}


static void
ngx_queues_api_queen_group_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    uint64_t                     n;
    ngx_queues_store_value_t    *v, *last;
    ngx_queues_api_queen_out_t   out;

    v = result->values;
    last = v + result->nvalues;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{");

    while (v < last) {
        ngx_queues_api_queen_write(&out, "%s:{'partitions':[",
                                   &v[NGX_QUEUES_STORE_OF_GROUP_QUEUE].text);

        n = v[NGX_QUEUES_STORE_OF_GROUP_NCOLUMNS].number;
        v += NGX_QUEUES_STORE_OF_GROUP_NCOLUMNS + 1;

        for ( /* void */ ; n; n--) {
            ngx_queues_api_queen_group_lane(&out, v);
            v += NGX_QUEUES_STORE_OF_CURSOR_NCOLUMNS;
        }

        ngx_queues_api_queen_trim(&out);
        ngx_queues_api_queen_write(&out, "]},");
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "}");
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_group_lane(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *row)
{
    uint64_t    committed, passed, lag;
    ngx_str_t  *lease;

    committed = row[NGX_QUEUES_STORE_OF_CURSOR_COMMITTED].number;

    /* what is gone needs not be consumed any more */

    passed = ngx_max(committed,
                     row[NGX_QUEUES_STORE_OF_CURSOR_HEAD].number - 1);
    lag = row[NGX_QUEUES_STORE_OF_CURSOR_NEXT].number - 1 - passed;

    lease = &row[NGX_QUEUES_STORE_OF_CURSOR_LEASE].text;

    ngx_queues_api_queen_write(out,
        "{'partition':%s,'workerId':%n,'lastConsumedAt':%t,"
        "'totalConsumed':%d,'offsetLag':%d,'timeLagSeconds':%d,"
        "'leaseActive':%b},",
        &row[NGX_QUEUES_STORE_OF_CURSOR_LANE].text, lease,
        row[NGX_QUEUES_STORE_OF_CURSOR_CONSUMED].number, committed, lag,
        ngx_queues_api_queen_group_late(
                                      &row[NGX_QUEUES_STORE_OF_CURSOR_OLDEST]),
        (ngx_uint_t) (lease->len != 0));
}


/* seconds; by the worker's clock, which may be some ms behind Redis' */

static uint64_t
ngx_queues_api_queen_group_late(ngx_queues_store_value_t *oldest)
{
    uint64_t  now;

    now = ngx_queues_api_queen_now();

    return oldest->none || oldest->number > now
           ? 0 : (now - oldest->number) / 1000;
}
