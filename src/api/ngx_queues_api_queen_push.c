
#include "ngx_queues_api_queen.h"


/* that there is room for at first */
#define NGX_QUEUES_API_QUEEN_PUSH_ITEMS  16


typedef enum {
    NGX_QUEUES_API_QUEEN_ITEM_QUEUE = 0,
    NGX_QUEUES_API_QUEEN_ITEM_PARTITION,
    NGX_QUEUES_API_QUEEN_ITEM_TRANSACTION,
    NGX_QUEUES_API_QUEEN_ITEM_TRACE,
    NGX_QUEUES_API_QUEEN_ITEM_PAYLOAD,
    NGX_QUEUES_API_QUEEN_ITEM_DATA,
    NGX_QUEUES_API_QUEEN_ITEM_NMEMBERS
} ngx_queues_api_queen_item_member_e;


static void ngx_queues_api_queen_push(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_queen_push_items(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_store_log_push_t *push);
static void ngx_queues_api_queen_push_start(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push);
static void ngx_queues_api_queen_push_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_push_answer(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push);
static ngx_int_t ngx_queues_api_queen_payload(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_uint_t loose,
    ngx_str_t *payload);


static const ngx_str_t  ngx_queues_api_queen_push_names[] = {
    ngx_string("items")
};


static const ngx_str_t  ngx_queues_api_queen_item_names[] = {
    ngx_string("queue"),
    ngx_string("partition"),
    ngx_string("transactionId"),
    ngx_string("traceId"),
    ngx_string("payload"),
    ngx_string("data")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_push_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/api/v1/push"),
      ngx_string("QueenPush"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.push"),
      NGX_QUEUES_API_ANY_BODY,
      0,
      ngx_queues_api_queen_push },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_push(ngx_queues_api_t *api)
{
    ngx_queues_store_log_push_t   *push;
    ngx_queues_base_json_value_t   items;

    push = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_store_log_push_t));
    if (push == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = push;

    if (ngx_queues_api_queen_body(api, ngx_queues_api_queen_push_names, 1,
                                  &items)
        != NGX_OK
        || ngx_queues_api_queen_push_items(api, &items, push) != NGX_OK
        || ngx_queues_api_queen_producer(api, &push->producer) != NGX_OK)
    {
        return;
    }

    if (push->nitems == 0) {
        ngx_queues_api_queen_push_answer(api, push);
        return;
    }

    if (ngx_queues_api_queen_seal(api, push) == NGX_OK) {
        ngx_queues_api_queen_push_start(api, push);
    }
}


static void
ngx_queues_api_queen_push_start(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push)
{
    ngx_queues_api_started(api,
        ngx_queues_store_log_push(&api->root, push,
                                  ngx_queues_api_queen_push_done, api));
}


static ngx_int_t
ngx_queues_api_queen_push_items(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_store_log_push_t *push)
{
    ngx_array_t                    items;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;
    ngx_queues_store_log_item_t   *item;

    if (ngx_queues_api_queen_array(api, array, "items") != NGX_OK) {
        return NGX_ERROR;
    }

    /* to count them, or to look for their ends, would be to walk over all
       payloads once more */

    if (ngx_array_init(&items, api->op->pool, NGX_QUEUES_API_QUEEN_PUSH_ITEMS,
                       sizeof(ngx_queues_store_log_item_t))
        != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ngx_queues_base_json_open(&it, array);

    while (ngx_queues_base_json_enter(&it, &value) == NGX_OK) {

        if (items.nelts == NGX_QUEUES_STORE_LOG_PUSHES) {
            ngx_queues_api_queen_too_many(api, "items",
                                          NGX_QUEUES_STORE_LOG_PUSHES);
            return NGX_ERROR;
        }

        item = ngx_array_push(&items);
        if (item == NULL) {
            ngx_queues_api_no_memory(api);
            return NGX_ERROR;
        }

        ngx_memzero(item, sizeof(ngx_queues_store_log_item_t));

        if (ngx_queues_api_queen_item(api, &value, 0, item) != NGX_OK) {
            return NGX_ERROR;
        }

        ngx_queues_base_json_leave(&it, &value);
    }

    push->items = items.elts;
    push->nitems = items.nelts;

    return NGX_OK;
}


static void
ngx_queues_api_queen_push_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_queen_push_answer(api, api->data);

        } else if (result->code == NGX_QUEUES_STORE_LOG_SEAL) {

            if (ngx_queues_api_queen_reseal(api, api->data, result)
                == NGX_OK)
            {
                ngx_queues_api_queen_push_start(api, api->data);
            }

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_queen_push_answer(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push)
{
    u_char                       *p, *start;
    size_t                        size;
    ngx_uint_t                    i;
    ngx_queues_store_log_item_t  *item;

    size = sizeof("[]");

    for (i = 0; i < push->nitems; i++) {
        size += sizeof(",{\"index\":,\"message_id\":\"\",\"transaction_id\":"
                       "\"\",\"queueName\":\"\",\"status\":\"duplicate\"}")
                + NGX_INT_T_LEN + NGX_QUEUES_BASE_UUID_LEN
                + push->items[i].id.len + push->items[i].queue.len;
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = start;
    *p++ = '[';

    for (i = 0; i < push->nitems; i++) {
        item = &push->items[i];

        if (i) {
            *p++ = ',';
        }

        p = ngx_queues_api_queen_literal(p, "{\"index\":");
        p = ngx_queues_base_decimal_print(p, i);
        p = ngx_queues_api_queen_literal(p, ",\"message_id\":\"");
        p = ngx_queues_api_queen_message_id(p, &item->place, item->offset,
                                            item->ms);
        p = ngx_queues_api_queen_literal(p, "\",\"transaction_id\":\"");
        p = ngx_queues_api_queen_copy(p, &item->id);
        p = ngx_queues_api_queen_literal(p, "\",\"queueName\":\"");
        p = ngx_queues_api_queen_copy(p, &item->queue);
        p = ngx_queues_api_queen_literal(p, "\",\"status\":\"");
        p = item->duplicate ? ngx_queues_api_queen_literal(p, "duplicate")
                            : ngx_queues_api_queen_literal(p, "queued");
        p = ngx_queues_api_queen_literal(p, "\"}");
    }

    *p++ = ']';

    api->op->note->messages = push->nitems;

    ngx_queues_api_answer(api, NGX_HTTP_CREATED, start, p);
}


ngx_int_t
ngx_queues_api_queen_item(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_uint_t loose,
    ngx_queues_store_log_item_t *item)
{
    ngx_queues_base_json_value_t
        values[NGX_QUEUES_API_QUEEN_ITEM_NMEMBERS];

    /* of a push in a transaction, too, whose own permission is another one */

    static ngx_str_t  permission = ngx_string("queen.push");

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "an item must be an object");
        return NGX_ERROR;
    }

    ngx_str_set(&item->lane, "Default");

    if (ngx_queues_api_queen_members(api, value,
                              ngx_queues_api_queen_item_names,
                              NGX_QUEUES_API_QUEEN_ITEM_NMEMBERS, values)
        != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_ITEM_QUEUE],
                              "queue", &item->queue)
           != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_ITEM_PARTITION],
                              "partition", &item->lane)
           != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_ITEM_TRANSACTION],
                              "transactionId", &item->id)
           != NGX_OK
        || ngx_queues_api_queen_string(api,
                              &values[NGX_QUEUES_API_QUEEN_ITEM_TRACE],
                              "traceId", &item->trace)
           != NGX_OK
        || ngx_queues_api_queen_payload(api, values, loose, &item->payload)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* the empty name is one, too */

    if (item->queue.data == NULL) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "queue is required");
        return NGX_ERROR;
    }

    if (!ngx_queues_api_permits(api, &permission, &item->queue)) {
        ngx_queues_api_error(api, NGX_QUEUES_API_PERMISSION_DENIED, NULL, "");
        return NGX_ERROR;
    }

    if (item->id.len) {
        return NGX_OK;
    }

    item->made = 1;

    return ngx_queues_api_queen_uuid(api, &item->id);
}


/* as it was written: of a string with its quotes */

static ngx_int_t
ngx_queues_api_queen_payload(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_uint_t loose,
    ngx_str_t *payload)
{
    ngx_queues_base_json_value_t  *value;

    value = &values[NGX_QUEUES_API_QUEEN_ITEM_PAYLOAD];

    if (value->raw.data == NULL && loose) {
        value = &values[NGX_QUEUES_API_QUEEN_ITEM_DATA];
    }

    if (value->raw.data == NULL) {

        if (loose) {
            ngx_str_set(payload, "{}");
            return NGX_OK;
        }

        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "payload is required");
        return NGX_ERROR;
    }

    *payload = value->raw;

    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {
        payload->data--;
        payload->len += 2;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_producer(ngx_queues_api_t *api, ngx_str_t *text)
{
    if (api->principal == NULL) {
        return NGX_OK;
    }

    return ngx_queues_api_queen_text(api, &api->principal->name, "sub", text);
}


u_char *
ngx_queues_api_queen_message_id(u_char *p, ngx_queues_store_lane_t *place,
    uint64_t offset, uint64_t ms)
{
    u_char  uuid[NGX_QUEUES_BASE_UUID_SIZE];

    ngx_queues_base_lane_message(uuid, ms, place->queue, place->lane, offset);

    return ngx_queues_base_uuid_print(p, uuid);
}
