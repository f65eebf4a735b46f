
/*
 * Whether a node serves: for load balancers, which ask often and of everyone, so
 * one round trip to the store that reads nothing.
 */

#include "ngx_queues_api.h"
#include "../store/ngx_queues_store_logs.h"


static ngx_int_t ngx_queues_api_health_names(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);
static void ngx_queues_api_health(ngx_queues_api_t *api);
static void ngx_queues_api_health_done(void *data,
    ngx_queues_store_result_t *result);


static const ngx_queues_api_route_t  ngx_queues_api_health_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/{name}"),
      ngx_string("Health"),
      NGX_QUEUES_CONF_HEALTH,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_health },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static const ngx_queues_api_route_t *const  ngx_queues_api_health_tables[] = {
    ngx_queues_api_health_routes,
    NULL
};


/* the path is the location's affair: its last part may be any name */

const ngx_queues_api_surface_t  ngx_queues_api_health_surface = {
    NGX_QUEUES_CONF_HEALTH,
    ngx_null_string,
    ngx_queues_api_health_tables,
    ngx_queues_api_codes,
    ngx_queues_api_health_names,
    ngx_queues_api_queues_error,
    NULL,
    0,
    ngx_null_string,
    1,
    0,
    0
};


/* no project is asked about: the place of all nodes' workers has a root too */

static ngx_int_t
ngx_queues_api_health_names(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    ngx_str_set(&api->root, NGX_QUEUES_STORE_PUSH_ROOT);

    return NGX_OK;
}


static void
ngx_queues_api_health(ngx_queues_api_t *api)
{
    ngx_str_t  value;

    ngx_str_set(&value, "no-store");

    if (ngx_queues_http_add_header(api->op->request, "Cache-Control", &value)
        != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
        return;
    }

    ngx_queues_api_ping(api, ngx_queues_api_health_done);
}


void
ngx_queues_api_ping(ngx_queues_api_t *api, ngx_queues_store_done_pt done)
{
    ngx_queues_store_logs_t  call;

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_PING);

    ngx_queues_api_started(api,
        ngx_queues_store_logs_start(&api->root, &call, done, api));
}


static void
ngx_queues_api_health_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    static u_char  up[] = "{\"status\":\"ok\"}";
    static u_char  down[] = "{\"status\":\"unavailable\"}";

    if (api->op->request == NULL) {
        /* who asked has gone */

    } else if (result->code == NGX_QUEUES_STORE_OK) {
        ngx_queues_api_answer(api, NGX_HTTP_OK, up, up + sizeof(up) - 1);

    } else {
        ngx_queues_api_answer(api, NGX_HTTP_SERVICE_UNAVAILABLE, down,
                              down + sizeof(down) - 1);
    }

    ngx_queues_http_op_release(api->op);
}
