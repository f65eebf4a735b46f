
#include "ngx_queues_api_messages.h"

#include <openssl/evp.h>


#define NGX_QUEUES_API_ID_MAX      128

/* "messages[9]." */
#define NGX_QUEUES_API_PREFIX_MAX  16


static ngx_int_t ngx_queues_api_fifo_id(ngx_queues_api_t *api,
    ngx_str_t *prefix, ngx_queues_base_json_value_t *value,
    const ngx_str_t *name, ngx_str_t *id);
static ngx_int_t ngx_queues_api_fifo_hash(ngx_queues_store_send_t *message);
static void ngx_queues_api_fifo_kind(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_fifo_missing(ngx_queues_api_t *api);
static void ngx_queues_api_fifo_standard(ngx_queues_api_t *api);
static void ngx_queues_api_fifo_invalid(ngx_queues_api_t *api,
    ngx_uint_t index, const ngx_str_t *name, const char *what);


static const ngx_str_t  ngx_queues_api_fifo_group = ngx_string("groupId");
static const ngx_str_t  ngx_queues_api_fifo_dedup =
    ngx_string("deduplicationId");
static const ngx_str_t  ngx_queues_api_fifo_delay = ngx_string("delaySeconds");


ngx_int_t
ngx_queues_api_fifo_ids(ngx_queues_api_t *api, ngx_str_t *prefix,
    ngx_queues_base_json_value_t *group, ngx_queues_base_json_value_t *id,
    ngx_queues_store_send_t *message)
{
    if (ngx_queues_api_fifo_id(api, prefix, group, &ngx_queues_api_fifo_group,
                               &message->group)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_fifo_id(api, prefix, id, &ngx_queues_api_fifo_dedup,
                                  &message->id);
}


static ngx_int_t
ngx_queues_api_fifo_id(ngx_queues_api_t *api, ngx_str_t *prefix,
    ngx_queues_base_json_value_t *value, const ngx_str_t *name, ngx_str_t *id)
{
    size_t  i;

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
        goto invalid;
    }

    id->len = ngx_queues_base_json_decoded_length(&value->raw);

    if (id->len == 0 || id->len > NGX_QUEUES_API_ID_MAX) {
        goto invalid;
    }

    /* the same id in other escapes is the same id */

    if (id->len == value->raw.len) {
        id->data = value->raw.data;

    } else {
        id->data = ngx_pnalloc(api->op->pool, id->len);
        if (id->data == NULL) {
            ngx_queues_api_no_memory(api);
            return NGX_ERROR;
        }

        (void) ngx_queues_base_json_decode(id->data, &value->raw);
    }

    for (i = 0; i < id->len; i++) {
        if (id->data[i] < 0x20 || id->data[i] > 0x7e) {
            goto invalid;
        }
    }

    return NGX_OK;

invalid:

    ngx_queues_api_invalid(api, prefix, name,
                           "must be 1 to 128 printable ASCII characters");

    return NGX_ERROR;
}


void
ngx_queues_api_fifo_send(ngx_queues_api_t *api,
    ngx_queues_store_send_t *messages, ngx_queues_store_done_pt done)
{
    ngx_uint_t              i;
    ngx_queues_api_sent_t  *sent;

    sent = api->data;

    if (sent->ungrouped < sent->n || sent->delayed < sent->n) {

        /* no queue takes this: its kind says what is wrong with it */

        ngx_queues_api_started(api,
            ngx_queues_store_queue_get(&api->root, &api->ref,
                                       ngx_queues_api_fifo_kind, api));
        return;
    }

    for (i = sent->by_content; i < sent->n; i++) {
        if (messages[i].id.len == 0
            && ngx_queues_api_fifo_hash(&messages[i]) != NGX_OK)
        {
            ngx_queues_api_no_memory(api);
            return;
        }
    }

    ngx_queues_api_started(api,
        ngx_queues_store_send_fifo(&api->root, &api->ref, messages, sent->n,
                                   done, api));
}


/* of the decoded body, for the same text may be written in two ways */

static ngx_int_t
ngx_queues_api_fifo_hash(ngx_queues_store_send_t *message)
{
    u_char     *decoded, *data;
    ngx_int_t   rc;

    decoded = NULL;
    data = message->body.data;

    if (message->length != message->body.len) {

        decoded = ngx_alloc(message->length, ngx_cycle->log);
        if (decoded == NULL) {
            return NGX_ERROR;
        }

        (void) ngx_queues_base_json_decode(decoded, &message->body);
        data = decoded;
    }

    rc = NGX_OK;

    if (EVP_Digest(data, message->length, message->hash, NULL, EVP_sha256(),
                   NULL)
        != 1)
    {
        rc = NGX_ERROR;
    }

    if (decoded) {
        ngx_free(decoded);
    }

    return rc;
}


static void
ngx_queues_api_fifo_kind(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code != NGX_QUEUES_STORE_OK) {
            ngx_queues_api_store_error(api, result);

        } else if (result->queues[0].kind.data[0] == 'f') {
            ngx_queues_api_fifo_missing(api);

        } else {
            ngx_queues_api_fifo_standard(api);
        }
    }

    ngx_queues_http_op_release(api->op);
}


ngx_int_t
ngx_queues_api_fifo_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_sent_t  *sent;

    switch (result->code) {

    case NGX_QUEUES_STORE_IS_FIFO:
        ngx_queues_api_fifo_missing(api);
        return NGX_OK;

    case NGX_QUEUES_STORE_NOT_FIFO:
        ngx_queues_api_fifo_standard(api);
        return NGX_OK;

    case NGX_QUEUES_STORE_NO_DEDUPLICATION:
        sent = api->data;

        ngx_queues_api_fifo_invalid(api, sent->by_content,
                                    &ngx_queues_api_fifo_dedup,
                                    "is required: the queue has no "
                                    "contentBasedDeduplication");
        return NGX_OK;

    default:
        return NGX_DECLINED;
    }
}


/* a FIFO queue's answer to what is for a standard one */

static void
ngx_queues_api_fifo_missing(ngx_queues_api_t *api)
{
    ngx_queues_api_sent_t  *sent;

    sent = api->data;

    if (sent->delayed < sent->ungrouped) {
        ngx_queues_api_fifo_invalid(api, sent->delayed,
                                    &ngx_queues_api_fifo_delay,
                                    "is not for messages of FIFO queues");
        return;
    }

    ngx_queues_api_fifo_invalid(api, sent->ungrouped,
                                &ngx_queues_api_fifo_group,
                                "is required in a FIFO queue");
}


/* and a standard one's */

static void
ngx_queues_api_fifo_standard(ngx_queues_api_t *api)
{
    ngx_queues_api_sent_t  *sent;

    sent = api->data;

    if (sent->deduplicated < sent->grouped) {
        ngx_queues_api_fifo_invalid(api, sent->deduplicated,
                                    &ngx_queues_api_fifo_dedup,
                                    "is for FIFO queues only");
        return;
    }

    ngx_queues_api_fifo_invalid(api, sent->grouped,
                                &ngx_queues_api_fifo_group,
                                "is for FIFO queues only");
}


static void
ngx_queues_api_fifo_invalid(ngx_queues_api_t *api, ngx_uint_t index,
    const ngx_str_t *name, const char *what)
{
    u_char                  buf[NGX_QUEUES_API_PREFIX_MAX];
    ngx_str_t               prefix;
    ngx_queues_api_sent_t  *sent;

    sent = api->data;

    if (!sent->batch) {
        ngx_queues_api_invalid(api, NULL, name, what);
        return;
    }

    prefix.data = buf;
    prefix.len = ngx_snprintf(buf, sizeof(buf), "messages[%ui].", index) - buf;

    ngx_queues_api_invalid(api, &prefix, name, what);
}
