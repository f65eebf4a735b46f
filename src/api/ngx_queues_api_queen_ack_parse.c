
/*
 * An acknowledgement, of a call by itself or in a transaction: how it is read,
 * and what is said of it.
 */

#include "ngx_queues_api_queen.h"


/* bytes of an error that a dead letter keeps */
#define NGX_QUEUES_API_QUEEN_ERROR_MAX  4096


typedef enum {
    NGX_QUEUES_API_QUEEN_ACK_TRANSACTION = 0,
    NGX_QUEUES_API_QUEEN_ACK_PARTITION,
    NGX_QUEUES_API_QUEEN_ACK_LEASE,
    NGX_QUEUES_API_QUEEN_ACK_STATUS,
    NGX_QUEUES_API_QUEEN_ACK_ERROR,
    NGX_QUEUES_API_QUEEN_ACK_NMEMBERS
} ngx_queues_api_queen_ack_member_e;


typedef struct {
    ngx_str_t                      name;
    ngx_queues_store_log_status_e  status;
} ngx_queues_api_queen_status_t;


static ngx_int_t ngx_queues_api_queen_ack_texts(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_queues_store_log_ack_t *ack);
static ngx_int_t ngx_queues_api_queen_ack_error(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *text);
static ngx_queues_store_log_status_e ngx_queues_api_queen_ack_status(
    ngx_queues_base_json_value_t *value);


static const ngx_str_t  ngx_queues_api_queen_ack_names[] = {
    ngx_string("transactionId"),
    ngx_string("partitionId"),
    ngx_string("leaseId"),
    ngx_string("status"),
    ngx_string("error")
};


/* all other words mean that it failed */

static const ngx_queues_api_queen_status_t  ngx_queues_api_queen_statuses[] = {
    { ngx_string("completed"), NGX_QUEUES_STORE_LOG_COMPLETED },
    { ngx_string("success"), NGX_QUEUES_STORE_LOG_COMPLETED },
    { ngx_string("acked"), NGX_QUEUES_STORE_LOG_COMPLETED },
    { ngx_string("ok"), NGX_QUEUES_STORE_LOG_COMPLETED },
    { ngx_string("retry"), NGX_QUEUES_STORE_LOG_RETRY },
    { ngx_string("dlq"), NGX_QUEUES_STORE_LOG_DLQ },
    { ngx_null_string, NGX_QUEUES_STORE_LOG_FAILED }
};


ngx_int_t
ngx_queues_api_queen_group(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *group)
{
    ngx_str_null(group);

    if (ngx_queues_api_queen_string(api, value, "consumerGroup", group)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (group->len == 0) {
        ngx_str_set(group, NGX_QUEUES_API_QUEEN_NO_GROUP);
    }

    return NGX_OK;
}


/*
 * What is wrong with one is said of it alone: whoever acknowledges has to learn
 * of the others, too.
 */

ngx_int_t
ngx_queues_api_queen_read_ack(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *group,
    ngx_queues_store_log_ack_t *ack, ngx_queues_api_queen_ack_t *item)
{
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_QUEEN_ACK_NMEMBERS];
    ngx_queues_base_json_value_t  *partition;

    item->ack = NULL;
    item->error = "transactionId and partitionId are required";

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        return NGX_OK;
    }

    if (ngx_queues_api_queen_members(api, value,
                                     ngx_queues_api_queen_ack_names,
                                     NGX_QUEUES_API_QUEEN_ACK_NMEMBERS, values)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_memzero(ack, sizeof(ngx_queues_store_log_ack_t));

    if (ngx_queues_api_queen_ack_texts(api, values, ack) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ack->group = *group;
    ack->status = ngx_queues_api_queen_ack_status(
                                   &values[NGX_QUEUES_API_QUEEN_ACK_STATUS]);

    item->id = ack->id;

    partition = &values[NGX_QUEUES_API_QUEEN_ACK_PARTITION];

    if (partition->type != NGX_QUEUES_BASE_JSON_STRING
        || partition->raw.len == 0
        || ack->id.len == 0)
    {
        return NGX_OK;
    }

    item->error = "unresolvable transactionId";

    if (ack->id.len > NGX_QUEUES_API_QUEEN_NAME_MAX) {
        return NGX_OK;
    }

    item->error = "consumer not found";

    if (ngx_queues_base_lane_parse(&partition->raw, &ack->place.queue,
                                   &ack->place.lane)
        != NGX_OK)
    {
        return NGX_OK;
    }

    item->error = "invalid or expired lease";

    if (ack->lease.len > NGX_QUEUES_API_QUEEN_NAME_MAX) {
        return NGX_OK;
    }

    item->ack = ack;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_ack_texts(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_queues_store_log_ack_t *ack)
{
    ngx_queues_base_json_value_t  *value;

    value = &values[NGX_QUEUES_API_QUEEN_ACK_TRANSACTION];

    if (value->type == NGX_QUEUES_BASE_JSON_STRING
        && ngx_queues_api_queen_canonical(api, &value->raw, &ack->id)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* what is no string is nobody's lease */

    value = &values[NGX_QUEUES_API_QUEEN_ACK_LEASE];

    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {

        if (ngx_queues_api_queen_canonical(api, &value->raw, &ack->lease)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

    } else if (value->type != NGX_QUEUES_BASE_JSON_NULL) {
        ngx_str_set(&ack->lease, "-");
    }

    return ngx_queues_api_queen_ack_error(api,
                                     &values[NGX_QUEUES_API_QUEEN_ACK_ERROR],
                                     &ack->error);
}


/* a long one is cut, between two characters */

static ngx_int_t
ngx_queues_api_queen_ack_error(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *text)
{
    u_char     *p;
    ngx_str_t   decoded;

    if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
        return NGX_OK;
    }

    if (value->raw.len <= NGX_QUEUES_API_QUEEN_ERROR_MAX) {
        return ngx_queues_api_queen_canonical(api, &value->raw, text);
    }

    p = ngx_pnalloc(api->op->pool, value->raw.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    decoded.data = p;
    decoded.len = ngx_queues_base_json_decode(p, &value->raw) - p;

    if (decoded.len > NGX_QUEUES_API_QUEEN_ERROR_MAX) {
        decoded.len = NGX_QUEUES_API_QUEEN_ERROR_MAX;

        while ((p[decoded.len] & 0xc0) == 0x80) {
            decoded.len--;
        }
    }

    text->len = ngx_queues_base_json_escape_length(&decoded);

    text->data = ngx_pnalloc(api->op->pool, text->len);
    if (text->data == NULL) {
        return NGX_ERROR;
    }

    ngx_queues_base_json_escape(text->data, &decoded);

    return NGX_OK;
}


static ngx_queues_store_log_status_e
ngx_queues_api_queen_ack_status(ngx_queues_base_json_value_t *value)
{
    ngx_str_t                             name;
    const ngx_queues_api_queen_status_t  *s;

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_QUEUES_STORE_LOG_COMPLETED;
    }

    for (s = ngx_queues_api_queen_statuses; s->name.len; s++) {
        name = s->name;

        if (value->type == NGX_QUEUES_BASE_JSON_STRING
            && ngx_queues_base_json_equal(&value->raw, &name))
        {
            break;
        }
    }

    return s->status;
}


const char *
ngx_queues_api_queen_verdict(ngx_queues_api_queen_ack_t *item)
{
    if (item->ack == NULL) {
        return item->error;
    }

    switch (item->ack->verdict) {

    case NGX_QUEUES_STORE_LOG_COMMITTED:
        return "already committed";

    case NGX_QUEUES_STORE_LOG_UNRESOLVABLE:
        return "unresolvable transactionId";

    case NGX_QUEUES_STORE_LOG_BEYOND:
        return "position beyond leased batch";

    case NGX_QUEUES_STORE_LOG_NO_LEASE:
        return "invalid or expired lease";

    case NGX_QUEUES_STORE_LOG_NO_CONSUMER:
        return "consumer not found";

    default: /* ACKED, NOOP, BURIED, DROPPED */
        return NULL;
    }
}
