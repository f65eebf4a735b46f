
/* One message, by its partition and transaction. */

#include "ngx_queues_api_queen_extra.h"


typedef struct {
    ngx_queues_store_lane_t       place;
    ngx_str_t                     id;        /* of the transaction */
    ngx_str_t                     again;     /* its next one */
} ngx_queues_api_queen_message_t;


static ngx_queues_api_queen_message_t *ngx_queues_api_queen_message_call(
    ngx_queues_api_t *api, ngx_queues_store_logs_t *call,
    ngx_queues_store_logs_e function);
static void ngx_queues_api_queen_message(ngx_queues_api_t *api);
static void ngx_queues_api_queen_message_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_message_state(
    ngx_queues_store_value_t *groups, uint64_t offset,
    ngx_queues_api_queen_state_t *state);
static void ngx_queues_api_queen_message_config(
    ngx_queues_api_queen_out_t *out, ngx_str_t *settings);
static void ngx_queues_api_queen_message_groups(
    ngx_queues_api_queen_out_t *out, ngx_queues_store_value_t *groups,
    uint64_t offset);
static ngx_uint_t ngx_queues_api_queen_message_passed(
    ngx_queues_store_value_t *group, uint64_t offset);
static void ngx_queues_api_queen_message_delete(ngx_queues_api_t *api);
static void ngx_queues_api_queen_message_deleted(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_message_retry(ngx_queues_api_t *api);
static void ngx_queues_api_queen_message_retried(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


const ngx_queues_api_route_t  ngx_queues_api_queen_message_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/api/v1/messages/{partitionId}/{transactionId}"),
      ngx_string("QueenMessage"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.messages"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_message },

    { NGX_HTTP_DELETE,
      ngx_string("/api/v1/messages/{partitionId}/{transactionId}"),
      ngx_string("QueenDeleteMessage"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.deleteMessage"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_message_delete },

    { NGX_HTTP_POST,
      ngx_string("/api/v1/messages/{partitionId}/{transactionId}/retry"),
      ngx_string("QueenRetryMessage"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.retryMessage"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_message_retry },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


/* NULL after it has answered */

static ngx_queues_api_queen_message_t *
ngx_queues_api_queen_message_call(ngx_queues_api_t *api,
    ngx_queues_store_logs_t *call, ngx_queues_store_logs_e function)
{
    ngx_str_t                        id;
    ngx_queues_api_queen_message_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_message_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    api->data = ctx;

    id = ngx_queues_api_capture(api, "transactionId");

    if (ngx_queues_api_queen_partition(api, &ctx->place) != NGX_OK
        || ngx_queues_api_queen_word(api, "transactionId", &id, &ctx->id)
           != NGX_OK)
    {
        return NULL;
    }

    ngx_queues_store_logs_init(call, function);
    ngx_queues_store_logs_lane(call, &ctx->place);
    ngx_queues_store_logs_text(call, &ctx->id);

    return ctx;
}


static void
ngx_queues_api_queen_message(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t  call;

    if (ngx_queues_api_queen_message_call(api, &call,
                                          NGX_QUEUES_STORE_LOGS_MESSAGE))
    {
        ngx_queues_api_queen_start(api, &call,
                                   ngx_queues_api_queen_message_answer);
    }
}


static void
ngx_queues_api_queen_message_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    uint64_t                         offset, ms, ndead;
    ngx_str_t                       *payload, *queue, *lane, status, own, why;
    ngx_queues_store_value_t        *v, *dead, *groups, none;
    ngx_queues_api_queen_out_t       out;
    ngx_queues_api_queen_state_t     state;
    ngx_queues_api_queen_message_t  *ctx;

    ctx = api->data;
    v = result->values;

    payload = &v[NGX_QUEUES_STORE_OF_MESSAGE_PAYLOAD].text;
    queue = &v[NGX_QUEUES_STORE_OF_MESSAGE_QUEUE].text;
    lane = &v[NGX_QUEUES_STORE_OF_MESSAGE_LANE].text;
    offset = v[NGX_QUEUES_STORE_OF_MESSAGE_OFFSET].number;
    ms = v[NGX_QUEUES_STORE_OF_MESSAGE_MS].number;

    if (v[NGX_QUEUES_STORE_OF_MESSAGE_SEALED].number
        && ngx_queues_api_queen_unseal(api, payload) != NGX_OK)
    {
        return;
    }

    /* the last dead letter, then the groups, each with their number before */

    ndead = v[NGX_QUEUES_STORE_OF_MESSAGE_NCOLUMNS].number;
    dead = v + NGX_QUEUES_STORE_OF_MESSAGE_NCOLUMNS + 1;
    groups = dead + ndead * NGX_QUEUES_STORE_OF_DEAD_NCOLUMNS;
    dead = groups - NGX_QUEUES_STORE_OF_DEAD_NCOLUMNS;

    ngx_memzero(&none, sizeof(ngx_queues_store_value_t));
    none.none = 1;
    ngx_str_null(&why);

    if (ndead) {
        why = dead[NGX_QUEUES_STORE_OF_DEAD_ERROR].text;
        none = dead[NGX_QUEUES_STORE_OF_DEAD_RETRIES];
    }

    ngx_queues_api_queen_message_state(groups, offset, &state);
    state.dead = (ndead != 0);

    ngx_queues_api_queen_state(&state, offset, &status, &own);

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'id':%m,'transactionId':%s,'partitionId':%l,'queue':%s,"
        "'partition':%s,'queuePath':'%r/%r','namespace':%s,'task':%s,"
        "'status':%s,'payload':%r,'isEncrypted':%b,'traceId':%n,",
        &ctx->place, offset, ms, &ctx->id, &ctx->place, queue, lane, queue,
        lane, &v[NGX_QUEUES_STORE_OF_MESSAGE_SPACE].text,
        &v[NGX_QUEUES_STORE_OF_MESSAGE_TASK].text, &status, payload,
        (ngx_uint_t) (v[NGX_QUEUES_STORE_OF_MESSAGE_SEALED].number != 0),
        &v[NGX_QUEUES_STORE_OF_MESSAGE_TRACE].text);

    ngx_queues_api_queen_write(&out,
        "'producerSub':%n,'createdAt':%t,'errorMessage':%n,'retryCount':%v,"
        "'leaseExpiresAt':%t,'queueConfig':",
        &v[NGX_QUEUES_STORE_OF_MESSAGE_PRODUCER].text, ms, &why, &none,
        state.expiry);

    ngx_queues_api_queen_message_config(&out,
                               &v[NGX_QUEUES_STORE_OF_MESSAGE_SETTINGS].text);
    ngx_queues_api_queen_message_groups(&out, groups, offset);
    ngx_queues_api_queen_mode(&out, state.queue_mode, state.groups);
    ngx_queues_api_queen_write(&out, "}");
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_message_state(ngx_queues_store_value_t *groups,
    uint64_t offset, ngx_queues_api_queen_state_t *state)
{
    uint64_t                   n;
    ngx_str_t                 *name;
    ngx_queues_store_value_t  *g;

    ngx_memzero(state, sizeof(ngx_queues_api_queen_state_t));

    g = groups + 1;

    for (n = groups->number; n; n--) {
        name = &g[NGX_QUEUES_STORE_OF_READER_NAME].text;

        if (name->len == sizeof(NGX_QUEUES_API_QUEEN_NO_GROUP) - 1
            && ngx_memcmp(name->data, NGX_QUEUES_API_QUEEN_NO_GROUP,
                          name->len)
               == 0)
        {
            state->queue_mode = 1;
            state->committed = g[NGX_QUEUES_STORE_OF_READER_COMMITTED].number;
            state->expiry = g[NGX_QUEUES_STORE_OF_READER_EXPIRY].number;

        } else {
            state->groups++;
            state->passed += ngx_queues_api_queen_message_passed(g, offset);
        }

        g += NGX_QUEUES_STORE_OF_READER_NCOLUMNS;
    }
}


/* "w:Q:lease:retry:delay:window:...", the numbers after the first two */

static void
ngx_queues_api_queen_message_config(ngx_queues_api_queen_out_t *out,
    ngx_str_t *settings)
{
    ngx_str_t    text, word;
    ngx_uint_t   i;

    static const char  *names[] = {
        "leaseTime", "retryLimit", "delayedProcessing", "windowBuffer", NULL
    };

    text = *settings;

    ngx_queues_api_queen_write(out, "{");

    (void) ngx_queues_base_word(&text, ':', &word);
    (void) ngx_queues_base_word(&text, ':', &word);

    for (i = 0; names[i]; i++) {

        if (ngx_queues_base_word(&text, ':', &word) == NGX_OK) {
            ngx_queues_api_queen_write(out, "'%c':%r,", names[i], &word);
        }
    }

    ngx_queues_api_queen_trim(out);
    ngx_queues_api_queen_write(out, "}");
}


static void
ngx_queues_api_queen_message_groups(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *groups, uint64_t offset)
{
    uint64_t                   n;
    ngx_queues_store_value_t  *g;

    ngx_queues_api_queen_write(out, ",'consumerGroups':[");

    g = groups + 1;

    for (n = groups->number; n; n--) {
        ngx_queues_api_queen_write(out,
            "{'name':%s,'consumed':%b,'leaseExpiresAt':%t},",
            &g[NGX_QUEUES_STORE_OF_READER_NAME].text,
            ngx_queues_api_queen_message_passed(g, offset),
            g[NGX_QUEUES_STORE_OF_READER_EXPIRY].number);

        g += NGX_QUEUES_STORE_OF_READER_NCOLUMNS;
    }

    ngx_queues_api_queen_trim(out);
    ngx_queues_api_queen_write(out, "],'mode':");
}


static ngx_uint_t
ngx_queues_api_queen_message_passed(ngx_queues_store_value_t *group,
    uint64_t offset)
{
    return group[NGX_QUEUES_STORE_OF_READER_COMMITTED].number >= offset;
}


static void
ngx_queues_api_queen_message_delete(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t  call;

    if (ngx_queues_api_queen_message_call(api, &call,
                                          NGX_QUEUES_STORE_LOGS_DELETE_DEAD))
    {
        ngx_queues_api_queen_start(api, &call,
                                   ngx_queues_api_queen_message_deleted);
    }
}


/* what is in a log stays there: only dead letters can be deleted */

static void
ngx_queues_api_queen_message_deleted(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_out_t       out;
    ngx_queues_api_queen_message_t  *ctx;

    ctx = api->data;

    if (result->values[0].number == 0) {
        ngx_queues_api_error(api, NGX_QUEUES_API_MESSAGE_NOT_FOUND, NULL,
                             "Message not found among the dead letters");
        return;
    }

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'success':true,'partitionId':%l,'transactionId':%s,"
        "'message':'Dead letter deleted'}", &ctx->place, &ctx->id);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_message_retry(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t          call;
    ngx_queues_api_queen_message_t  *ctx;

    ctx = ngx_queues_api_queen_message_call(api, &call,
                                            NGX_QUEUES_STORE_LOGS_RETRY_DEAD);

    if (ctx == NULL || ngx_queues_api_queen_uuid(api, &ctx->again) != NGX_OK) {
        return;
    }

    ngx_queues_store_logs_text(&call, &ctx->again);

    ngx_queues_api_queen_start(api, &call,
                               ngx_queues_api_queen_message_retried);
}


static void
ngx_queues_api_queen_message_retried(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_store_value_t        *v;
    ngx_queues_api_queen_out_t       out;
    ngx_queues_api_queen_message_t  *ctx;

    /* Q l ms offset */

    enum { id = 0, l, ms, offset };

    ctx = api->data;
    v = result->values;

    ngx_queues_api_queen_lane(&v[id], &v[l], &ctx->place);

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'success':true,'partitionId':%l,'transactionId':%s,"
        "'newTransactionId':%s,'messageId':%m,'message':'Message pushed "
        "again'}", &ctx->place, &ctx->id, &ctx->again, &ctx->place,
        v[offset].number, v[ms].number);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}
