
/*
 * The switches of maintenance.  Nothing is spooled here, so pushes are taken as
 * ever while theirs is on: it is kept and told for those who ask.
 */

#include "ngx_queues_api_queen_extra.h"


static void ngx_queues_api_queen_maintenance(ngx_queues_api_t *api);
static void ngx_queues_api_queen_maintenance_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_switch_push(ngx_queues_api_t *api);
static void ngx_queues_api_queen_switch_push_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_switch_pop(ngx_queues_api_t *api);
static void ngx_queues_api_queen_show_pop(ngx_queues_api_t *api);
static void ngx_queues_api_queen_switch_pop_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_switch(ngx_queues_api_t *api,
    const char *kind, ngx_queues_api_queen_answer_pt answer);
static void ngx_queues_api_queen_switch_call(ngx_queues_api_t *api,
    const char *kind, const char *value,
    ngx_queues_api_queen_answer_pt answer);


/* the columns of log_switch */

typedef enum {
    NGX_QUEUES_API_QUEEN_SWITCH_PUSH = 0,
    NGX_QUEUES_API_QUEEN_SWITCH_POP
} ngx_queues_api_queen_switch_e;


static const ngx_str_t  ngx_queues_api_queen_switch_names[] = {
    ngx_string("enabled")
};


const ngx_queues_api_route_t  ngx_queues_api_queen_maintenance_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/api/v1/system/maintenance"),
      ngx_string("QueenMaintenance"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.maintenance"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_maintenance },

    { NGX_HTTP_POST,
      ngx_string("/api/v1/system/maintenance"),
      ngx_string("QueenMaintenance"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.maintenance"),
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_queen_switch_push },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/system/maintenance/pop"),
      ngx_string("QueenMaintenance"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.maintenance"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_show_pop },

    { NGX_HTTP_POST,
      ngx_string("/api/v1/system/maintenance/pop"),
      ngx_string("QueenMaintenance"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.admin.maintenance"),
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_queen_switch_pop },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_maintenance(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_switch_call(api, "", "",
                                     ngx_queues_api_queen_maintenance_answer);
}


static void
ngx_queues_api_queen_maintenance_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_store_value_t    *v;
    ngx_queues_api_queen_out_t   out;

    v = result->values;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'maintenanceMode':%b,'popMaintenanceMode':%b,'bufferedMessages':0,"
        "'bufferHealthy':true,'bufferStats':{'pending':0,'failed':0}}",
        (ngx_uint_t) v[NGX_QUEUES_API_QUEEN_SWITCH_PUSH].number,
        (ngx_uint_t) v[NGX_QUEUES_API_QUEEN_SWITCH_POP].number);
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_switch_push(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_switch(api, "push",
                                ngx_queues_api_queen_switch_push_answer);
}


static void
ngx_queues_api_queen_switch_push_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                  on;
    ngx_queues_api_queen_out_t  out;

    on = (ngx_uint_t) result->values[NGX_QUEUES_API_QUEEN_SWITCH_PUSH].number;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'maintenanceMode':%b,'bufferedMessages':0,'bufferHealthy':true,"
        "'message':'Maintenance mode is %c; messages are stored as ever'}",
        on, on ? "on" : "off");
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_switch_pop(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_switch(api, "pop",
                                ngx_queues_api_queen_switch_pop_answer);
}


static void
ngx_queues_api_queen_show_pop(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_switch_call(api, "", "",
                                     ngx_queues_api_queen_switch_pop_answer);
}


static void
ngx_queues_api_queen_switch_pop_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                  on;
    ngx_queues_api_queen_out_t  out;

    on = (ngx_uint_t) result->values[NGX_QUEUES_API_QUEEN_SWITCH_POP].number;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'popMaintenanceMode':%b,'message':'Pop maintenance mode is %c; pops "
        "%c'}", on, on ? "on" : "off",
        on ? "answer that there is nothing" : "deliver");
    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_switch(ngx_queues_api_t *api, const char *kind,
    ngx_queues_api_queen_answer_pt answer)
{
    ngx_queues_base_json_value_t  value;

    if (ngx_queues_api_queen_body(api, ngx_queues_api_queen_switch_names, 1,
                                  &value)
        != NGX_OK)
    {
        return;
    }

    if (value.type != NGX_QUEUES_BASE_JSON_TRUE
        && value.type != NGX_QUEUES_BASE_JSON_FALSE)
    {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "enabled must be a boolean");
        return;
    }

    ngx_queues_api_queen_switch_call(api, kind,
                                     value.type == NGX_QUEUES_BASE_JSON_TRUE
                                     ? "1" : "0", answer);
}


static void
ngx_queues_api_queen_switch_call(ngx_queues_api_t *api, const char *kind,
    const char *value, ngx_queues_api_queen_answer_pt answer)
{
    ngx_str_t                text;
    ngx_queues_store_logs_t  call;

    if (ngx_queues_api_queen_any(api) != NGX_OK) {
        return;
    }

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_SWITCH);

    text.data = (u_char *) kind;
    text.len = ngx_strlen(kind);
    ngx_queues_store_logs_text(&call, &text);

    text.data = (u_char *) value;
    text.len = ngx_strlen(value);
    ngx_queues_store_logs_text(&call, &text);

    ngx_queues_api_queen_start(api, &call, answer);
}
