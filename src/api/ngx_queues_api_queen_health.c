
#include "ngx_queues_api_queen_extra.h"


static void ngx_queues_api_queen_health(ngx_queues_api_t *api);
static void ngx_queues_api_queen_health_done(void *data,
    ngx_queues_store_result_t *result);


const ngx_queues_api_route_t  ngx_queues_api_queen_health_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/health"),
      ngx_string("QueenHealth"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_health },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_health(ngx_queues_api_t *api)
{
    ngx_queues_api_ping(api, ngx_queues_api_queen_health_done);
}


static void
ngx_queues_api_queen_health_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    static u_char  up[] = "{\"status\":\"healthy\",\"database\":\"connected\"}";
    static u_char  down[] = "{\"status\":\"unhealthy\","
                            "\"database\":\"disconnected\"}";

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_answer(api, NGX_HTTP_OK, up, up + sizeof(up) - 1);

        } else {
            ngx_queues_api_answer(api, NGX_HTTP_SERVICE_UNAVAILABLE, down,
                                  down + sizeof(down) - 1);
        }
    }

    ngx_queues_http_op_release(api->op);
}
