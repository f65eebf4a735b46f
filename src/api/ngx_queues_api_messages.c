
#include "ngx_queues_api_messages.h"


#define NGX_QUEUES_API_MESSAGES  "/v1/organizations/{org}/projects/{project}" \
                                 "/queues/{queue}/messages"


const ngx_queues_api_route_t  ngx_queues_api_messages_routes[] = {

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_MESSAGES "/receive"),
      NGX_QUEUES_CONF_LIVE,
      ngx_string("queues.messages.receive"),
      NGX_QUEUES_API_BODY,
      ngx_queues_api_receive },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_MESSAGES),
      NGX_QUEUES_CONF_LIVE,
      ngx_string("queues.messages.send"),
      NGX_QUEUES_API_BODY,
      ngx_queues_api_send },

    { 0, ngx_null_string, 0, ngx_null_string, NGX_QUEUES_API_NO_BODY, NULL }
};
