
#include "ngx_queues_api_queen_extra.h"


typedef enum {
    NGX_QUEUES_API_QUEEN_PAGE_LIMIT = 0,
    NGX_QUEUES_API_QUEEN_PAGE_OFFSET,
    NGX_QUEUES_API_QUEEN_PAGE_AFTER,
    NGX_QUEUES_API_QUEEN_PAGE_NPARAMETERS
} ngx_queues_api_queen_page_parameter_e;


typedef struct {
    ngx_queues_api_t                *api;
    ngx_queues_api_queen_answer_pt   answer;
} ngx_queues_api_queen_call_t;


static void ngx_queues_api_queen_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_failed(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


ngx_int_t
ngx_queues_api_queen_query(ngx_queues_api_t *api, const ngx_str_t *names,
    ngx_uint_t n, ngx_str_t *values)
{
    ngx_int_t  rc;
    ngx_str_t  odd;

    rc = ngx_queues_api_query_read(api, names, n, values, &odd);

    if (rc == NGX_DECLINED) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "the query is not well-formed");
    }

    return rc == NGX_OK ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_queues_api_queen_word(ngx_queues_api_t *api, const char *name,
    ngx_str_t *value, ngx_str_t *text)
{
    if (value->len) {
        return ngx_queues_api_queen_text(api, value, name, text);
    }

    ngx_str_set(text, "");

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_number(ngx_queues_api_t *api, const ngx_str_t *name,
    ngx_str_t *value, uint64_t min, uint64_t max, uint64_t *n)
{
    ngx_str_t   digits, field;
    ngx_uint_t  i, negative;

    digits = *value;

    if (digits.len == 0) {
        return NGX_OK;
    }

    negative = (digits.data[0] == '-');

    digits.data += negative;
    digits.len -= negative;

    for (i = 0; i < digits.len; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') {
            break;
        }
    }

    if (digits.len == 0 || i != digits.len) {
        field = *name;
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "%V must be an integer", &field);
        return NGX_ERROR;
    }

    if (negative) {
        *n = min;
        return NGX_OK;
    }

    /* what has too many digits is large */

    if (ngx_queues_base_decimal_parse(&digits, n) != NGX_OK || *n > max) {
        *n = max;
    }

    *n = ngx_max(*n, min);

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_page(ngx_queues_api_t *api, uint64_t limit,
    uint64_t max, ngx_queues_api_queen_page_t *page)
{
    ngx_str_t  values[NGX_QUEUES_API_QUEEN_PAGE_NPARAMETERS];

    static const ngx_str_t  names[] = {
        ngx_string("limit"),
        ngx_string("offset"),
        ngx_string("after")
    };

    page->limit = limit;
    page->offset = 0;

    if (ngx_queues_api_queen_query(api, names,
                               NGX_QUEUES_API_QUEEN_PAGE_NPARAMETERS, values)
        != NGX_OK
        || ngx_queues_api_queen_number(api,
                                   &names[NGX_QUEUES_API_QUEEN_PAGE_LIMIT],
                                   &values[NGX_QUEUES_API_QUEEN_PAGE_LIMIT],
                                   1, max, &page->limit)
           != NGX_OK
        || ngx_queues_api_queen_number(api,
                                   &names[NGX_QUEUES_API_QUEEN_PAGE_OFFSET],
                                   &values[NGX_QUEUES_API_QUEEN_PAGE_OFFSET],
                                   0, NGX_QUEUES_API_QUEEN_OFFSET_MAX,
                                   &page->offset)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_queen_word(api, "after",
                                     &values[NGX_QUEUES_API_QUEEN_PAGE_AFTER],
                                     &page->after);
}


ngx_int_t
ngx_queues_api_queen_any(ngx_queues_api_t *api)
{
    if (api->scope == NGX_QUEUES_BASE_GLOB_ALL) {
        return NGX_OK;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_PERMISSION_DENIED, NULL, "");

    return NGX_ERROR;
}


ngx_int_t
ngx_queues_api_queen_of(ngx_queues_api_t *api, ngx_str_t *queue)
{
    if (queue->len && ngx_queues_api_permits(api, NULL, queue)) {
        return NGX_OK;
    }

    return ngx_queues_api_queen_any(api);
}


uint64_t
ngx_queues_api_queen_now(void)
{
    ngx_time_t  *tp;

    tp = ngx_timeofday();

    return (uint64_t) tp->sec * 1000 + tp->msec;
}


void
ngx_queues_api_queen_sum(ngx_queues_api_t *api, ngx_str_t *after,
    ngx_queues_api_queen_answer_pt answer)
{
    ngx_str_t                none;
    ngx_queues_store_logs_t  call;

    ngx_str_set(&none, "");

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_OVERVIEW);
    ngx_queues_store_logs_text(&call, after ? after : &none);

    ngx_queues_api_queen_start(api, &call, answer);
}


/* labels are those of the project in each call */

ngx_uint_t
ngx_queues_api_queen_summed(ngx_queues_store_result_t *result,
    uint64_t *sums)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_QUEUES_STORE_OF_SUM_NCOLUMNS; i++) {
        sums[i] = result->values[i].number
                  + (i < NGX_QUEUES_STORE_OF_SUM_SPACES ? sums[i] : 0);
    }

    return result->values[NGX_QUEUES_STORE_OF_SUM_MORE].text.len != 0;
}


/* an id tells nothing of the queue's name */

ngx_int_t
ngx_queues_api_queen_partition(ngx_queues_api_t *api,
    ngx_queues_store_lane_t *lane)
{
    ngx_str_t  text;

    if (ngx_queues_api_queen_any(api) != NGX_OK) {
        return NGX_ERROR;
    }

    text = ngx_queues_api_capture(api, "partitionId");

    if (ngx_queues_base_lane_parse(&text, &lane->queue, &lane->lane)
        == NGX_OK)
    {
        return NGX_OK;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_MESSAGE_NOT_FOUND, NULL,
                         "Message not found");

    return NGX_ERROR;
}


void
ngx_queues_api_queen_lane(ngx_queues_store_value_t *id,
    ngx_queues_store_value_t *l, ngx_queues_store_lane_t *lane)
{
    /* the functions make ids, which are well-formed */

    lane->queue = 0;
    (void) ngx_queues_base_short_parse(&id->text, &lane->queue);

    lane->lane = l->number;
}


void
ngx_queues_api_queen_start(ngx_queues_api_t *api,
    ngx_queues_store_logs_t *call, ngx_queues_api_queen_answer_pt answer)
{
    ngx_queues_api_queen_call_t  *c;

    c = ngx_palloc(api->op->pool, sizeof(ngx_queues_api_queen_call_t));
    if (c == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    c->api = api;
    c->answer = answer;

    ngx_queues_api_started(api,
        ngx_queues_store_logs_start(&api->root, call,
                                    ngx_queues_api_queen_done, c));
}


static void
ngx_queues_api_queen_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_queen_call_t *c = data;

    ngx_queues_api_t  *api;

    api = c->api;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            c->answer(api, result);

        } else {
            ngx_queues_api_queen_failed(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_queen_failed(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    switch (result->code) {

    case NGX_QUEUES_STORE_NO_QUEUE:
        ngx_queues_api_error(api, NGX_QUEUES_API_QUEUE_NOT_FOUND, NULL,
                             "Queue not found");
        return;

    case NGX_QUEUES_STORE_NO_LANE:
        ngx_queues_api_error(api, NGX_QUEUES_API_PARTITION_NOT_FOUND, NULL,
                             "Partition not found");
        return;

    case NGX_QUEUES_STORE_NO_MESSAGE:
        ngx_queues_api_error(api, NGX_QUEUES_API_MESSAGE_NOT_FOUND, NULL,
                             "Message not found");
        return;

    default:
        ngx_queues_api_store_error(api, result);
    }
}
