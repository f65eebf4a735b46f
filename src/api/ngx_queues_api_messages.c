
#include "ngx_queues_api_messages.h"


#define NGX_QUEUES_API_MESSAGES  "/v1/organizations/{org}/projects/{project}" \
                                 "/queues/{queue}/messages"

/*
 * All of a message's JSON but its handle, body and attributes, with the longest
 * numbers: 207 bytes, and a comma.
 */
#define NGX_QUEUES_API_MESSAGE_FIXED  256

#define ngx_queues_api_copy(p, text)  ngx_cpymem(p, text, sizeof(text) - 1)


const ngx_queues_api_route_t  ngx_queues_api_messages_routes[] = {

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_MESSAGES "/receive"),
      NGX_QUEUES_CONF_LIVE,
      ngx_string("queues.messages.receive"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_RECEIVE_BODY,
      ngx_queues_api_receive },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_MESSAGES),
      NGX_QUEUES_CONF_LIVE,
      ngx_string("queues.messages.send"),
      NGX_QUEUES_API_BODY,
      0,
      ngx_queues_api_send },

    { 0, ngx_null_string, 0, ngx_null_string, NGX_QUEUES_API_NO_BODY, 0, NULL }
};


size_t
ngx_queues_api_message_length(ngx_str_t *project,
    ngx_queues_store_message_t *message)
{
    return NGX_QUEUES_API_MESSAGE_FIXED
           + ngx_queues_base_handle_length(project->len)
           + message->body.len + message->attributes.len;
}


u_char *
ngx_queues_api_message_print(u_char *p, ngx_str_t *project,
    ngx_queues_base_handle_key_t *key, ngx_queues_store_result_t *result,
    ngx_queues_store_message_t *message)
{
    ngx_queues_base_handle_t  handle;

    handle.project = *project;
    handle.queue = result->place.queue;
    handle.generation = result->place.generation;
    handle.ms = message->id.ms;
    handle.seq = message->id.seq;
    handle.delayed = message->id.delayed;
    handle.token = result->token;

    p = ngx_queues_api_copy(p, "{\"messageId\":\"");
    p = ngx_queues_api_message_id(p, &result->place, &message->id);

    p = ngx_queues_api_copy(p, "\",\"receiptHandle\":\"");
    p = ngx_queues_base_handle_print(key, &handle, p);
    if (p == NULL) {
        return NULL;
    }

    p = ngx_queues_api_copy(p, "\",\"body\":\"");
    p = ngx_cpymem(p, message->body.data, message->body.len);

    p = ngx_queues_api_copy(p, "\",\"attributes\":");

    if (message->attributes.len) {
        p = ngx_cpymem(p, message->attributes.data, message->attributes.len);

    } else {
        p = ngx_queues_api_copy(p, "{}");
    }

    p = ngx_queues_api_copy(p, ",\"sentAt\":\"");
    p = ngx_queues_base_time_print(p, (int64_t) (message->id.ms / 1000));

    p = ngx_queues_api_copy(p, "\",\"firstReceivedAt\":\"");
    p = ngx_queues_base_time_print(p, (int64_t) (message->first / 1000));

    p = ngx_queues_api_copy(p, "\",\"receiveCount\":");
    p = ngx_queues_base_decimal_print(p, message->count);

    *p++ = '}';

    return p;
}


u_char *
ngx_queues_api_message_id(u_char *p, ngx_queues_store_place_t *place,
    ngx_queues_store_id_t *id)
{
    u_char  uuid[NGX_QUEUES_BASE_UUID_SIZE];

    ngx_queues_base_message_id(uuid, place->queue, place->generation, id->ms,
                               id->seq, id->delayed);

    return ngx_queues_base_uuid_print(p, uuid);
}
