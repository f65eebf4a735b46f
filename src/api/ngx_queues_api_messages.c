
#include "ngx_queues_api_messages.h"


#define NGX_QUEUES_API_MESSAGES  "/v1/organizations/{org}/projects/{project}" \
                                 "/queues/{queue}/messages"

/*
 * A message's braces, commas and id, the handle's name, and the first receive:
 * 116 bytes.
 */
#define NGX_QUEUES_API_MESSAGE_FIXED  128


static size_t ngx_queues_api_message_length(ngx_str_t *project,
    ngx_queues_store_message_t *message);
static u_char *ngx_queues_api_message_print(u_char *p, ngx_str_t *project,
    ngx_queues_base_handle_key_t *key, ngx_queues_store_result_t *result,
    ngx_queues_store_message_t *message);


const ngx_queues_api_route_t  ngx_queues_api_messages_routes[] = {

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_MESSAGES "/receive"),
      ngx_string("ReceiveMessages"),
      NGX_QUEUES_CONF_LIVE,
      ngx_string("queues.messages.receive"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_RECEIVE_BODY,
      ngx_queues_api_receive },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_MESSAGES),
      ngx_string("SendMessages"),
      NGX_QUEUES_CONF_LIVE,
      ngx_string("queues.messages.send"),
      NGX_QUEUES_API_BODY,
      0,
      ngx_queues_api_send },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string,
      NGX_QUEUES_API_NO_BODY, 0, NULL }
};


ngx_int_t
ngx_queues_api_messages_answer(ngx_queues_api_t *api,
    ngx_queues_base_handle_key_t *key, ngx_queues_store_result_t *result)
{
    u_char      *p, *start;
    size_t       size;
    ngx_uint_t   i;

    size = sizeof("{\"messages\":[]}");

    for (i = 0; i < result->nmessages; i++) {
        size += ngx_queues_api_message_length(&api->project,
                                              &result->messages[i]);
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return NGX_ERROR;
    }

    p = ngx_queues_base_copy(start, "{\"messages\":[");

    for (i = 0; i < result->nmessages; i++) {

        if (i) {
            *p++ = ',';
        }

        p = ngx_queues_api_message_print(p, &api->project, key, result,
                                         &result->messages[i]);
        if (p == NULL) {
            ngx_queues_api_error(api, NGX_QUEUES_API_INTERNAL, NULL,
                                 "No receipt handle could be made.");
            return NGX_ERROR;
        }
    }

    *p++ = ']';
    *p++ = '}';

    api->op->note->messages = result->nmessages;

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);

    return NGX_OK;
}


static size_t
ngx_queues_api_message_length(ngx_str_t *project,
    ngx_queues_store_message_t *message)
{
    return NGX_QUEUES_API_MESSAGE_FIXED
           + ngx_queues_base_handle_length(message->spot.kind, project->len)
           + ngx_queues_store_message_length(message);
}


/* with a receipt handle where key is not NULL; NULL if none could be made */

static u_char *
ngx_queues_api_message_print(u_char *p, ngx_str_t *project,
    ngx_queues_base_handle_key_t *key, ngx_queues_store_result_t *result,
    ngx_queues_store_message_t *message)
{
    ngx_queues_base_handle_t  handle;

    p = ngx_queues_base_copy(p, "{\"messageId\":\"");
    p = ngx_queues_store_message_id(p, &message->origin.place,
                                    &message->origin.spot);

    if (key) {
        handle.project = *project;
        handle.queue = result->place.queue;
        handle.generation = result->place.generation;
        handle.spot = message->spot;
        handle.token = result->token;

        p = ngx_queues_base_copy(p, "\",\"receiptHandle\":\"");
        p = ngx_queues_base_handle_print(key, &handle, p);
        if (p == NULL) {
            return NULL;
        }
    }

    *p++ = '"';
    *p++ = ',';
    p = ngx_queues_store_message_print(p, message);

    if (message->first) {
        p = ngx_queues_base_copy(p, ",\"firstReceivedAt\":\"");
        p = ngx_queues_base_time_print(p, (int64_t) (message->first / 1000));
        *p++ = '"';

    } else {
        p = ngx_queues_base_copy(p, ",\"firstReceivedAt\":null");
    }

    *p++ = ',';
    p = ngx_queues_store_message_print_count(p, message);

    *p++ = '}';

    return p;
}
