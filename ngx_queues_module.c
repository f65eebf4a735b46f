
/*
 * ngx_queues: a message broker of nginx and Redis.  This file has the
 * directives, the module record and the wiring of the layers; docs/design.md
 * is the way in.
 */

#include "src/conf/ngx_queues_conf.h"
#include "src/auth/ngx_queues_auth.h"
#include "src/auth/ngx_queues_auth_oidc.h"
#include "src/stat/ngx_queues_stat_metrics.h"
#include "src/redis/ngx_queues_redis.h"
#include "src/store/ngx_queues_store.h"
#include "src/http/ngx_queues_http.h"
#include "src/api/ngx_queues_api.h"
#include "src/push/ngx_queues_push.h"


static ngx_int_t ngx_queues_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_queues_postconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_queues_init_module(ngx_cycle_t *cycle);
static ngx_int_t ngx_queues_init_process(ngx_cycle_t *cycle);
static void ngx_queues_exit_process(ngx_cycle_t *cycle);
static void ngx_queues_wake(ngx_str_t *root, ngx_str_t *id);


static ngx_command_t  ngx_queues_commands[] = {

    { ngx_string("queues_redis"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_queues_conf_set_redis,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_redis_user"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis.user),
      NULL },

    { ngx_string("queues_redis_password_file"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis_password_file),
      NULL },

    { ngx_string("queues_redis_database"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_queues_conf_set_database,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_redis_connect_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis.connect_timeout),
      NULL },

    { ngx_string("queues_redis_timeout"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis.timeout),
      NULL },

    { ngx_string("queues_redis_replicas"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE2,
      ngx_queues_conf_set_replicas,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_redis_tls"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis_tls),
      NULL },

    { ngx_string("queues_redis_trusted_certificate"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis_trusted_certificate),
      NULL },

    { ngx_string("queues_redis_certificate"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis_certificate),
      NULL },

    { ngx_string("queues_redis_certificate_key"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, redis_certificate_key),
      NULL },

    { ngx_string("queues_secret_file"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, secret_file),
      NULL },

    { ngx_string("queues_api_keys"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, api_keys_file),
      NULL },

    { ngx_string("queues_jwt_key"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_array_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, jwt.key_files),
      NULL },

    { ngx_string("queues_jwt_issuer"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, jwt.issuer),
      NULL },

    { ngx_string("queues_jwt_audience"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, jwt.audience),
      NULL },

    { ngx_string("queues_jwt_leeway"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_sec_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, jwt.leeway),
      NULL },

    { ngx_string("queues_jwt_roles_claim"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, jwt.roles_claim),
      NULL },

    { ngx_string("queues_oidc_key"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_array_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, oidc.key_files),
      NULL },

    { ngx_string("queues_oidc_issuer"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, oidc.issuer),
      NULL },

    { ngx_string("queues_push"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, push.on),
      NULL },

    { ngx_string("queues_push_allow_address"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_queues_conf_set_push_address,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_push_allow_host"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_queues_conf_set_push_host,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_push_allow_port"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_1MORE,
      ngx_queues_conf_set_push_port,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_push_allow_localhost"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, push.localhost),
      NULL },

    { ngx_string("queues_push_trusted_certificate"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_str_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_queues_conf_main_t, push.trusted_certificate),
      NULL },

    { ngx_string("queues_push_max_deliveries"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_queues_conf_set_push_max,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_push_header_prefix"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_queues_conf_set_push_prefix,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_zone"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE2,
      ngx_queues_conf_set_zone,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_auth"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_conf_set_flag_slot,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_queues_conf_loc_t, auth),
      NULL },

    { ngx_string("queues_rate_limit"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_1MORE,
      ngx_queues_conf_set_rate_limit,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_api"),
      NGX_HTTP_LOC_CONF|NGX_CONF_ANY,
      ngx_queues_conf_set_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_queen_api"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_queues_conf_set_queen_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_pubsub_api"),
      NGX_HTTP_LOC_CONF|NGX_CONF_TAKE1,
      ngx_queues_conf_set_pubsub_api,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_pubsub_max_delivery_attempts"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_queues_conf_set_max_attempts,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_oidc_discovery"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_queues_conf_set_oidc_discovery,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_health"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_queues_conf_set_health,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_metrics"),
      NGX_HTTP_LOC_CONF|NGX_CONF_ANY,
      ngx_queues_conf_set_metrics,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("queues_dashboard"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS|NGX_CONF_TAKE1,
      ngx_queues_conf_set_dashboard,
      NGX_HTTP_LOC_CONF_OFFSET,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_queues_module_ctx = {
    ngx_queues_preconfiguration,       /* preconfiguration */
    ngx_queues_postconfiguration,      /* postconfiguration */

    ngx_queues_conf_create_main,       /* create main configuration */
    ngx_queues_conf_init_main,         /* init main configuration */

    NULL,                              /* create server configuration */
    NULL,                              /* merge server configuration */

    ngx_queues_conf_create_loc,        /* create location configuration */
    ngx_queues_conf_merge_loc          /* merge location configuration */
};


ngx_module_t  ngx_queues_module = {
    NGX_MODULE_V1,
    &ngx_queues_module_ctx,            /* module context */
    ngx_queues_commands,               /* module directives */
    NGX_HTTP_MODULE,                   /* module type */
    NULL,                              /* init master */
    ngx_queues_init_module,            /* init module */
    ngx_queues_init_process,           /* init process */
    NULL,                              /* init thread */
    NULL,                              /* exit thread */
    ngx_queues_exit_process,           /* exit process */
    NULL,                              /* exit master */
    NGX_MODULE_V1_PADDING
};


/* the handler of locations with an API: conf, which sets it, knows no API */

static ngx_int_t
ngx_queues_preconfiguration(ngx_conf_t *cf)
{
    ngx_queues_conf_main_t  *qmcf;

    qmcf = ngx_http_conf_get_module_main_conf(cf, ngx_queues_module);

    qmcf->handler = ngx_queues_api_handler;

    return ngx_queues_http_add_variables(cf);
}


static ngx_int_t
ngx_queues_postconfiguration(ngx_conf_t *cf)
{
    ngx_queues_conf_main_t  *qmcf;

    qmcf = ngx_http_conf_get_module_main_conf(cf, ngx_queues_module);

    if (!qmcf->used) {
        return NGX_OK;
    }

    ngx_queues_http_filter_init(ngx_queues_api_nginx_error);

    if (ngx_queues_conf_check(cf, qmcf) != NGX_OK
        || ngx_queues_api_operations(cf, qmcf) != NGX_OK
        || ngx_queues_stat_add_zone(cf, qmcf) != NGX_OK
        || ngx_queues_auth_load(cf, qmcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_auth_oidc_load(cf, qmcf);
}


static ngx_int_t
ngx_queues_init_module(ngx_cycle_t *cycle)
{
    ngx_queues_store_maintain_load();

    return NGX_OK;
}


static ngx_int_t
ngx_queues_init_process(ngx_cycle_t *cycle)
{
    ngx_queues_conf_main_t  *qmcf;

    if (ngx_process != NGX_PROCESS_WORKER
        && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    qmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_queues_module);

    if (qmcf == NULL || !qmcf->used) {
        return NGX_OK;
    }

    ngx_queues_stat_begin(qmcf);

    if (ngx_queues_http_wait_init(cycle) != NGX_OK
        || ngx_queues_store_maintain_init(cycle) != NGX_OK
        || ngx_queues_push_init(cycle, qmcf) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_redis_init(cycle, &qmcf->redis, ngx_queues_wake);
}


/* hints are for those who wait for messages, and for those who deliver them */

static void
ngx_queues_wake(ngx_str_t *root, ngx_str_t *id)
{
    ngx_queues_http_wake(root, id);
    ngx_queues_push_wake(root, id);
}


static void
ngx_queues_exit_process(ngx_cycle_t *cycle)
{
    ngx_queues_conf_main_t  *qmcf;

    qmcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_queues_module);

    if (qmcf == NULL || !qmcf->used) {
        return;
    }

    ngx_queues_redis_exit(cycle);
    ngx_queues_push_exit(cycle);
    ngx_queues_store_maintain_exit(cycle);
    ngx_queues_http_wait_exit(cycle);
    ngx_queues_stat_end(qmcf);
}
