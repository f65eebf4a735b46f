
/* Traces: what those who handle messages note of them. */

#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_TRACE_NAMES     100     /* of one trace */
#define NGX_QUEUES_API_QUEEN_TRACES_LIMIT    100
#define NGX_QUEUES_API_QUEEN_NAMES_LIMIT     50
#define NGX_QUEUES_API_QUEEN_TRACES_MAX      1000


typedef enum {
    NGX_QUEUES_API_QUEEN_TRACE_TRANSACTION = 0,
    NGX_QUEUES_API_QUEEN_TRACE_PARTITION,
    NGX_QUEUES_API_QUEEN_TRACE_DATA,
    NGX_QUEUES_API_QUEEN_TRACE_GROUP,
    NGX_QUEUES_API_QUEEN_TRACE_TYPE,
    NGX_QUEUES_API_QUEEN_TRACE_NAMED,
    NGX_QUEUES_API_QUEEN_TRACE_NMEMBERS
} ngx_queues_api_queen_trace_member_e;


static void ngx_queues_api_queen_trace(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_trace_place(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_queues_store_logs_t *call);
static ngx_int_t ngx_queues_api_queen_trace_names(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_store_logs_t *call);
static ngx_int_t ngx_queues_api_queen_trace_name(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_store_logs_t *call);
static void ngx_queues_api_queen_trace_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_traces(ngx_queues_api_t *api);
static void ngx_queues_api_queen_traces_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_traces_named(ngx_queues_api_t *api);
static void ngx_queues_api_queen_traces_named_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_names(ngx_queues_api_t *api);
static void ngx_queues_api_queen_names_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static ngx_queues_api_queen_page_t *ngx_queues_api_queen_traces_page(
    ngx_queues_api_t *api, uint64_t limit);
static ngx_queues_store_value_t *ngx_queues_api_queen_traces_row(
    ngx_queues_api_queen_out_t *out, ngx_queues_store_value_t *row);


static const ngx_str_t  ngx_queues_api_queen_trace_members[] = {
    ngx_string("transactionId"),
    ngx_string("partitionId"),
    ngx_string("data"),
    ngx_string("consumerGroup"),
    ngx_string("eventType"),
    ngx_string("traceNames")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_traces_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/api/v1/traces"),
      ngx_string("QueenTrace"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.use.trace"),
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_queen_trace },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/traces/names"),
      ngx_string("QueenTraceNames"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.traces"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_names },

    /* before the one whose partition may be any */

    { NGX_HTTP_GET,
      ngx_string("/api/v1/traces/by-name/{name}"),
      ngx_string("QueenTracesByName"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.traces"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_traces_named },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/traces/{partitionId}/{transactionId}"),
      ngx_string("QueenTraces"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.traces"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_traces },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


/* Q l id group type data, the trace's id, names */

static void
ngx_queues_api_queen_trace(ngx_queues_api_t *api)
{
    ngx_str_t                      group, type, *id;
    ngx_queues_store_logs_t        call;
    ngx_queues_base_json_value_t  *data;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_QUEEN_TRACE_NMEMBERS];

    ngx_str_set(&group, "");
    ngx_str_set(&type, "info");

    id = ngx_palloc(api->op->pool, sizeof(ngx_str_t));
    if (id == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = id;

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_TRACE);

    if (ngx_queues_api_queen_any(api) != NGX_OK
        || ngx_queues_api_queen_body(api, ngx_queues_api_queen_trace_members,
                                     NGX_QUEUES_API_QUEEN_TRACE_NMEMBERS,
                                     values)
           != NGX_OK
        || ngx_queues_api_queen_trace_place(api, values, &call) != NGX_OK
        || ngx_queues_api_queen_string(api,
                                 &values[NGX_QUEUES_API_QUEEN_TRACE_GROUP],
                                 "consumerGroup", &group)
           != NGX_OK
        || ngx_queues_api_queen_string(api,
                                 &values[NGX_QUEUES_API_QUEEN_TRACE_TYPE],
                                 "eventType", &type)
           != NGX_OK
        || ngx_queues_api_queen_uuid(api, id) != NGX_OK)
    {
        return;
    }

    data = &values[NGX_QUEUES_API_QUEEN_TRACE_DATA];

    if (data->type == NGX_QUEUES_BASE_JSON_STRING) {
        data->raw.data--;
        data->raw.len += 2;
    }

    ngx_queues_store_logs_text(&call, &group);
    ngx_queues_store_logs_text(&call, &type);
    ngx_queues_store_logs_text(&call, &data->raw);
    ngx_queues_store_logs_text(&call, id);

    if (ngx_queues_api_queen_trace_names(api,
                                 &values[NGX_QUEUES_API_QUEEN_TRACE_NAMED],
                                 &call)
        == NGX_OK)
    {
        ngx_queues_api_queen_start(api, &call,
                                   ngx_queues_api_queen_trace_answer);
    }
}


static ngx_int_t
ngx_queues_api_queen_trace_place(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_queues_store_logs_t *call)
{
    ngx_str_t                partition, id;
    ngx_queues_store_lane_t  place;

    ngx_str_null(&partition);
    ngx_str_null(&id);

    if (ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_TRACE_TRANSACTION],
                              "transactionId", &id)
        != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_TRACE_PARTITION],
                              "partitionId", &partition)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (id.len == 0 || partition.len == 0
        || values[NGX_QUEUES_API_QUEEN_TRACE_DATA].raw.data == NULL)
    {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "transactionId, partitionId and data are "
                             "required");
        return NGX_ERROR;
    }

    if (ngx_queues_base_lane_parse(&partition, &place.queue, &place.lane)
        != NGX_OK)
    {
        ngx_queues_api_error(api, NGX_QUEUES_API_MESSAGE_NOT_FOUND, NULL,
                             "Message not found");
        return NGX_ERROR;
    }

    ngx_queues_store_logs_lane(call, &place);
    ngx_queues_store_logs_text(call, &id);

    return NGX_OK;
}


/* an array, one, or none */

static ngx_int_t
ngx_queues_api_queen_trace_names(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_store_logs_t *call)
{
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   name;

    if (value->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        return ngx_queues_api_queen_trace_name(api, value, call);
    }

    if (ngx_queues_api_queen_count(api, value, "traceNames",
                                   NGX_QUEUES_API_QUEEN_TRACE_NAMES)
        == NGX_ERROR)
    {
        return NGX_ERROR;
    }

    ngx_queues_base_json_open(&it, value);

    while (ngx_queues_base_json_next(&it, NULL, &name) == NGX_OK) {

        if (ngx_queues_api_queen_trace_name(api, &name, call) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_trace_name(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_queues_store_logs_t *call)
{
    ngx_str_t  text;

    ngx_str_null(&text);

    if (ngx_queues_api_queen_string(api, value, "traceNames", &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (text.len) {
        ngx_queues_store_logs_text(call, &text);
    }

    return NGX_OK;
}


static void
ngx_queues_api_queen_trace_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_out_t  out;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'success':true,'traceId':%s}",
                               (ngx_str_t *) api->data);
    ngx_queues_api_queen_close(&out, NGX_HTTP_CREATED);
}


static void
ngx_queues_api_queen_traces(ngx_queues_api_t *api)
{
    ngx_str_t                id, text;
    ngx_queues_store_lane_t  place;
    ngx_queues_store_logs_t  call;

    id = ngx_queues_api_capture(api, "transactionId");

    if (ngx_queues_api_queen_partition(api, &place) != NGX_OK
        || ngx_queues_api_queen_word(api, "transactionId", &id, &text)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_TRACES);
    ngx_queues_store_logs_lane(&call, &place);
    ngx_queues_store_logs_text(&call, &text);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_traces_answer);
}


static void
ngx_queues_api_queen_traces_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_store_value_t    *v, *last;
    ngx_queues_api_queen_out_t   out;

    v = result->values;
    last = v + result->nvalues;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'traces':[");

    while (v < last) {
        v = ngx_queues_api_queen_traces_row(&out, v);
        ngx_queues_api_queen_write(&out, "},");
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "]}");
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_traces_named(ngx_queues_api_t *api)
{
    ngx_str_t                     name, text;
    ngx_queues_store_logs_t       call;
    ngx_queues_api_queen_page_t  *page;

    page = ngx_queues_api_queen_traces_page(api,
                                            NGX_QUEUES_API_QUEEN_TRACES_LIMIT);
    name = ngx_queues_api_capture(api, "name");

    if (page == NULL
        || ngx_queues_api_queen_word(api, "name", &name, &text) != NGX_OK)
    {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_TRACES_NAMED);
    ngx_queues_store_logs_text(&call, &text);
    ngx_queues_store_logs_number(&call, page->limit);
    ngx_queues_store_logs_number(&call, page->offset);

    ngx_queues_api_queen_start(api, &call,
                               ngx_queues_api_queen_traces_named_answer);
}


static void
ngx_queues_api_queen_traces_named_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_str_t                     payload;
    ngx_queues_store_lane_t       place;
    ngx_queues_store_value_t     *v, *last;
    ngx_queues_api_queen_out_t    out;
    ngx_queues_api_queen_page_t  *page;

    page = api->data;
    v = result->values + 1;
    last = result->values + result->nvalues;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'traces':[");

    while (v < last) {
        v = ngx_queues_api_queen_traces_row(&out, v);

        payload = v[NGX_QUEUES_STORE_OF_TRACED_PAYLOAD].text;

        if (payload.len == 0) {
            ngx_str_set(&payload, "null");

        } else if (v[NGX_QUEUES_STORE_OF_TRACED_SEALED].number
                   && ngx_queues_api_queen_unseal(api, &payload) != NGX_OK)
        {
            return;
        }

        ngx_queues_api_queen_lane(&v[NGX_QUEUES_STORE_OF_TRACED_ID],
                                  &v[NGX_QUEUES_STORE_OF_TRACED_L], &place);

        ngx_queues_api_queen_write(&out,
            ",'transaction_id':%s,'partition_id':%l,'queue_name':%s,"
            "'partition_name':%s,'message_payload':%r},",
            &v[NGX_QUEUES_STORE_OF_TRACED_TXN].text, &place,
            &v[NGX_QUEUES_STORE_OF_TRACED_QUEUE].text,
            &v[NGX_QUEUES_STORE_OF_TRACED_LANE].text, &payload);

        v += NGX_QUEUES_STORE_OF_TRACED_NCOLUMNS;
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "],'total':%v,'pagination':{'limit':%d,"
                               "'offset':%d}}", &result->values[0],
                               page->limit, page->offset);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_names(ngx_queues_api_t *api)
{
    ngx_queues_store_logs_t       call;
    ngx_queues_api_queen_page_t  *page;

    page = ngx_queues_api_queen_traces_page(api,
                                            NGX_QUEUES_API_QUEEN_NAMES_LIMIT);
    if (page == NULL) {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_TRACE_NAMES);
    ngx_queues_store_logs_number(&call, page->limit);
    ngx_queues_store_logs_number(&call, page->offset);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_names_answer);
}


static void
ngx_queues_api_queen_names_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                    i;
    ngx_queues_store_value_t     *row;
    ngx_queues_api_queen_out_t    out;
    ngx_queues_api_queen_page_t  *page;

    page = api->data;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'trace_names':[");

    for (i = 1; i < result->nvalues; i += NGX_QUEUES_STORE_OF_NAME_NCOLUMNS) {
        row = &result->values[i];

        ngx_queues_api_queen_write(&out,
            "{'trace_name':%s,'trace_count':%v,'message_count':%v,"
            "'last_seen':%t},",
            &row[NGX_QUEUES_STORE_OF_NAME_NAME].text,
            &row[NGX_QUEUES_STORE_OF_NAME_TRACES],
            &row[NGX_QUEUES_STORE_OF_NAME_MESSAGES],
            row[NGX_QUEUES_STORE_OF_NAME_LAST].number);
    }

    ngx_queues_api_queen_trim(&out);
    ngx_queues_api_queen_write(&out, "],'total':%v,'pagination':{'limit':%d,"
                               "'offset':%d}}", &result->values[0],
                               page->limit, page->offset);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


/* NULL after it has answered */

static ngx_queues_api_queen_page_t *
ngx_queues_api_queen_traces_page(ngx_queues_api_t *api, uint64_t limit)
{
    ngx_queues_api_queen_page_t  *page;

    page = ngx_palloc(api->op->pool, sizeof(ngx_queues_api_queen_page_t));
    if (page == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    api->data = page;

    if (ngx_queues_api_queen_any(api) != NGX_OK
        || ngx_queues_api_queen_page(api, limit,
                                     NGX_QUEUES_API_QUEEN_TRACES_MAX, page)
           != NGX_OK)
    {
        return NULL;
    }

    return page;
}


/* up to its closing brace; returns the end of the row */

static ngx_queues_store_value_t *
ngx_queues_api_queen_traces_row(ngx_queues_api_queen_out_t *out,
    ngx_queues_store_value_t *row)
{
    uint64_t                   n;
    ngx_queues_store_value_t  *name;

    ngx_queues_api_queen_write(out,
        "{'id':%s,'event_type':%s,'data':%r,'consumer_group':%n,"
        "'worker_id':null,'created_at':%t,'trace_names':[",
        &row[NGX_QUEUES_STORE_OF_TRACE_ID].text,
        &row[NGX_QUEUES_STORE_OF_TRACE_TYPE].text,
        &row[NGX_QUEUES_STORE_OF_TRACE_DATA].text,
        &row[NGX_QUEUES_STORE_OF_TRACE_GROUP].text,
        row[NGX_QUEUES_STORE_OF_TRACE_MS].number);

    name = row + NGX_QUEUES_STORE_OF_TRACE_NCOLUMNS;

    for (n = name++->number; n; n--) {
        ngx_queues_api_queen_write(out, "%s,", &name++->text);
    }

    ngx_queues_api_queen_trim(out);
    ngx_queues_api_queen_write(out, "]");

    return name;
}
