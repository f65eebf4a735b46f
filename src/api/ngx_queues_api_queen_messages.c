
/* Messages are looked at, as lists. */

#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_MESSAGES_MAX  200
#define NGX_QUEUES_API_QUEEN_HOUR          3600000

/* the end of the time that there is */
#define NGX_QUEUES_API_QUEEN_EVER          9999999999999ULL


typedef enum {
    NGX_QUEUES_API_QUEEN_MESSAGES_QUEUE = 0,
    NGX_QUEUES_API_QUEEN_MESSAGES_LANE,
    NGX_QUEUES_API_QUEEN_MESSAGES_NS,
    NGX_QUEUES_API_QUEEN_MESSAGES_SPACE,
    NGX_QUEUES_API_QUEEN_MESSAGES_TASK,
    NGX_QUEUES_API_QUEEN_MESSAGES_STATUS,
    NGX_QUEUES_API_QUEEN_MESSAGES_FROM,
    NGX_QUEUES_API_QUEEN_MESSAGES_TO,
    NGX_QUEUES_API_QUEEN_MESSAGES_NPARAMETERS
} ngx_queues_api_queen_messages_parameter_e;


typedef struct {
    ngx_str_t                     status;    /* empty: any */
    ngx_queues_api_queen_out_t    out;
    ngx_uint_t                    queue_mode;
    uint64_t                      groups;
} ngx_queues_api_queen_messages_t;


static void ngx_queues_api_queen_messages(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_messages_times(ngx_queues_api_t *api,
    ngx_str_t *values, uint64_t *from, uint64_t *to);
static ngx_int_t ngx_queues_api_queen_messages_args(ngx_queues_api_t *api,
    ngx_str_t *values, ngx_queues_store_logs_t *call);
static void ngx_queues_api_queen_messages_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_queen_messages_row(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);


static const ngx_str_t  ngx_queues_api_queen_messages_names[] = {
    ngx_string("queue"),
    ngx_string("partition"),
    ngx_string("ns"),
    ngx_string("namespace"),
    ngx_string("task"),
    ngx_string("status"),
    ngx_string("from"),
    ngx_string("to")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_messages_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/api/v1/messages"),
      ngx_string("QueenMessages"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.messages"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_messages },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_messages(ngx_queues_api_t *api)
{
    uint64_t                          from, to;
    ngx_queues_store_logs_t           call;
    ngx_queues_api_queen_page_t       page;
    ngx_queues_api_queen_messages_t  *ctx;
    ngx_str_t  values[NGX_QUEUES_API_QUEEN_MESSAGES_NPARAMETERS];

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_messages_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_MESSAGES);

    if (ngx_queues_api_queen_query(api, ngx_queues_api_queen_messages_names,
                                   NGX_QUEUES_API_QUEEN_MESSAGES_NPARAMETERS,
                                   values)
        != NGX_OK
        || ngx_queues_api_queen_messages_times(api, values, &from, &to)
           != NGX_OK
        || ngx_queues_api_queen_page(api, NGX_QUEUES_API_QUEEN_MESSAGES_MAX,
                                     NGX_QUEUES_API_QUEEN_MESSAGES_MAX, &page)
           != NGX_OK
        || ngx_queues_api_queen_messages_args(api, values, &call) != NGX_OK)
    {
        return;
    }

    ctx->status = values[NGX_QUEUES_API_QUEEN_MESSAGES_STATUS];

    ngx_queues_store_logs_number(&call, from);
    ngx_queues_store_logs_number(&call, to);
    ngx_queues_store_logs_number(&call, page.offset);
    ngx_queues_store_logs_number(&call, page.limit);

    ngx_queues_api_queen_start(api, &call,
                               ngx_queues_api_queen_messages_answer);
}


/* the last hour where nothing is said */

static ngx_int_t
ngx_queues_api_queen_messages_times(ngx_queues_api_t *api, ngx_str_t *values,
    uint64_t *from, uint64_t *to)
{
    ngx_str_t  *first, *last;

    first = &values[NGX_QUEUES_API_QUEEN_MESSAGES_FROM];
    last = &values[NGX_QUEUES_API_QUEEN_MESSAGES_TO];

    *from = ngx_queues_api_queen_now() - NGX_QUEUES_API_QUEEN_HOUR;
    *to = NGX_QUEUES_API_QUEEN_EVER;

    if ((first->len && ngx_queues_base_moment_parse(first, from) != NGX_OK)
        || (last->len && ngx_queues_base_moment_parse(last, to) != NGX_OK))
    {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "from and to must be times, as "
                             "2026-10-13T17:02:40Z");
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* queue, lane and labels */

static ngx_int_t
ngx_queues_api_queen_messages_args(ngx_queues_api_t *api, ngx_str_t *values,
    ngx_queues_store_logs_t *call)
{
    ngx_str_t   text;
    ngx_uint_t  i;

    if (values[NGX_QUEUES_API_QUEEN_MESSAGES_NS].len == 0) {
        values[NGX_QUEUES_API_QUEEN_MESSAGES_NS]
                                 = values[NGX_QUEUES_API_QUEEN_MESSAGES_SPACE];
    }

    for (i = 0; i <= NGX_QUEUES_API_QUEEN_MESSAGES_TASK; i++) {

        if (i == NGX_QUEUES_API_QUEEN_MESSAGES_SPACE) {
            continue;
        }

        if (ngx_queues_api_queen_word(api,
                      (char *) ngx_queues_api_queen_messages_names[i].data,
                      &values[i], &text)
            != NGX_OK
            || (i == NGX_QUEUES_API_QUEEN_MESSAGES_QUEUE
                && ngx_queues_api_queen_of(api, &text) != NGX_OK))
        {
            return NGX_ERROR;
        }

        ngx_queues_store_logs_text(call, &text);
    }

    return NGX_OK;
}


static void
ngx_queues_api_queen_messages_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                        i;
    ngx_queues_api_queen_messages_t  *ctx;

    ctx = api->data;

    ngx_queues_api_queen_open(api, &ctx->out);
    ngx_queues_api_queen_write(&ctx->out, "{'messages':[");

    for (i = 0; i < result->nvalues; i += NGX_QUEUES_STORE_OF_ROW_NCOLUMNS) {
        if (ngx_queues_api_queen_messages_row(api, &result->values[i])
            != NGX_OK)
        {
            return;
        }
    }

    ngx_queues_api_queen_trim(&ctx->out);
    ngx_queues_api_queen_write(&ctx->out, "],'mode':");
    ngx_queues_api_queen_mode(&ctx->out, ctx->queue_mode, ctx->groups);
    ngx_queues_api_queen_write(&ctx->out, "}");
    ngx_queues_api_queen_close(&ctx->out, NGX_HTTP_OK);
}


static ngx_int_t
ngx_queues_api_queen_messages_row(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row)
{
    uint64_t                          offset, ms;
    ngx_str_t                        *payload, *queue, *lane, status, own;
    ngx_queues_store_lane_t           place;
    ngx_queues_api_queen_out_t       *out;
    ngx_queues_api_queen_state_t      state;
    ngx_queues_api_queen_messages_t  *ctx;

    ctx = api->data;
    out = &ctx->out;

    offset = row[NGX_QUEUES_STORE_OF_ROW_OFFSET].number;
    ms = row[NGX_QUEUES_STORE_OF_ROW_MS].number;
    queue = &row[NGX_QUEUES_STORE_OF_ROW_QUEUE].text;
    lane = &row[NGX_QUEUES_STORE_OF_ROW_LANE].text;
    payload = &row[NGX_QUEUES_STORE_OF_ROW_PAYLOAD].text;

    state.dead = row[NGX_QUEUES_STORE_OF_ROW_DEAD].number != 0;
    state.queue_mode = row[NGX_QUEUES_STORE_OF_ROW_MODE].number != 0;
    state.committed = row[NGX_QUEUES_STORE_OF_ROW_COMMITTED].number;
    state.expiry = row[NGX_QUEUES_STORE_OF_ROW_EXPIRY].number;
    state.groups = row[NGX_QUEUES_STORE_OF_ROW_GROUPS].number;
    state.passed = row[NGX_QUEUES_STORE_OF_ROW_PASSED].number;

    ctx->queue_mode |= state.queue_mode;
    ctx->groups = ngx_max(ctx->groups, state.groups);

    ngx_queues_api_queen_state(&state, offset, &status, &own);

    if (ctx->status.len
        && (ctx->status.len != status.len
            || ngx_memcmp(ctx->status.data, status.data, status.len) != 0))
    {
        return NGX_OK;
    }

    if (row[NGX_QUEUES_STORE_OF_ROW_SEALED].number
        && ngx_queues_api_queen_unseal(api, payload) != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_api_queen_lane(&row[NGX_QUEUES_STORE_OF_ROW_ID],
                              &row[NGX_QUEUES_STORE_OF_ROW_L], &place);

    ngx_queues_api_queen_write(out,
        "{'id':%m,'transactionId':%s,'partitionId':%l,'queuePath':'%r/%r',"
        "'queue':%s,'partition':%s,'namespace':%s,'task':%s,'status':%s,"
        "'queueStatus':%n,'busStatus':{'consumedBy':%d,'totalGroups':%d},",
        &place, offset, ms, &row[NGX_QUEUES_STORE_OF_ROW_TXN].text, &place,
        queue, lane, queue, lane, &row[NGX_QUEUES_STORE_OF_ROW_SPACE].text,
        &row[NGX_QUEUES_STORE_OF_ROW_TASK].text, &status, &own, state.passed,
        state.groups);

    ngx_queues_api_queen_write(out,
        "'traceId':%n,'producerSub':%n,'createdAt':%t,'leaseExpiresAt':%t,"
        "'data':%r,'payload':%r},",
        &row[NGX_QUEUES_STORE_OF_ROW_TRACE].text,
        &row[NGX_QUEUES_STORE_OF_ROW_PRODUCER].text, ms, state.expiry, payload,
        payload);

    return NGX_OK;
}


/* own: of the queue mode alone, empty where nobody uses that */

void
ngx_queues_api_queen_state(ngx_queues_api_queen_state_t *state,
    uint64_t offset, ngx_str_t *status, ngx_str_t *own)
{
    ngx_str_null(own);

    if (state->queue_mode || state->groups == 0) {

        if (state->committed >= offset) {
            ngx_str_set(status, "completed");

        } else if (state->expiry) {
            ngx_str_set(status, "processing");

        } else {
            ngx_str_set(status, "pending");
        }

        if (state->queue_mode) {
            *own = *status;
        }

    } else if (state->passed == state->groups) {
        ngx_str_set(status, "completed");

    } else {
        ngx_str_set(status, "pending");
    }

    if (state->dead) {
        ngx_str_set(status, "dead_letter");
    }
}


void
ngx_queues_api_queen_mode(ngx_queues_api_queen_out_t *out,
    ngx_uint_t queue_mode, uint64_t groups)
{
    const char  *type;

    if (queue_mode) {
        type = groups ? "hybrid" : "queue";

    } else {
        type = groups ? "bus" : "none";
    }

    ngx_queues_api_queen_write(out, "{'hasQueueMode':%b,'busGroupsCount':%d,"
                               "'type':'%c'}", queue_mode, groups, type);
}
