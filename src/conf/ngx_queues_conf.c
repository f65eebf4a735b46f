
#include "ngx_queues_conf.h"
#include "../base/ngx_queues_base_path.h"
#include "../base/ngx_queues_base_text.h"


#define NGX_QUEUES_CONF_ZONE_SIZE  (8 * 1024 * 1024)
#define NGX_QUEUES_CONF_ZONE_MIN   (1024 * 1024)

#define NGX_QUEUES_CONF_REPLICAS   10


typedef struct {
    const char  *name;
    ngx_uint_t   group;
} ngx_queues_conf_group_t;


static void ngx_queues_conf_cleanup(void *data);


static ngx_queues_conf_group_t  ngx_queues_conf_groups[] = {
    { "all", NGX_QUEUES_CONF_ALL },
    { "control", NGX_QUEUES_CONF_CONTROL },
    { "live", NGX_QUEUES_CONF_LIVE },
    { "receipts", NGX_QUEUES_CONF_RECEIPTS },
    { NULL, 0 }
};


void *
ngx_queues_conf_create_main(ngx_conf_t *cf)
{
    ngx_pool_cleanup_t      *cln;
    ngx_queues_conf_main_t  *qmcf;

    qmcf = ngx_pcalloc(cf->pool, sizeof(ngx_queues_conf_main_t));
    if (qmcf == NULL) {
        return NULL;
    }

    qmcf->redis.connect_timeout = NGX_CONF_UNSET_MSEC;
    qmcf->redis.timeout = NGX_CONF_UNSET_MSEC;
    qmcf->redis_tls = NGX_CONF_UNSET;
    qmcf->redis.database = NGX_CONF_UNSET_UINT;
    qmcf->jwt.leeway = NGX_CONF_UNSET;
    qmcf->max_attempts = NGX_CONF_UNSET_UINT;

    qmcf->jwt.key_files = ngx_array_create(cf->pool, 1, sizeof(ngx_str_t));
    if (qmcf->jwt.key_files == NULL) {
        return NULL;
    }

    qmcf->oidc.key_files = ngx_array_create(cf->pool, 1, sizeof(ngx_str_t));
    if (qmcf->oidc.key_files == NULL) {
        return NULL;
    }

    if (ngx_queues_conf_create_push(cf, &qmcf->push) != NGX_OK) {
        return NULL;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    cln->handler = ngx_queues_conf_cleanup;
    cln->data = qmcf;

    return qmcf;
}


static void
ngx_queues_conf_cleanup(void *data)
{
    ngx_queues_conf_main_t *qmcf = data;

    ngx_uint_t  i;

    if (qmcf->redis.ssl) {
        ngx_ssl_cleanup_ctx(qmcf->redis.ssl);
    }

    for (i = 0; i < qmcf->nhandle_keys; i++) {
        ngx_queues_base_handle_key_destroy(qmcf->handle_keys[i]);
    }

    ngx_queues_conf_cleanup_push(&qmcf->push);
}


char *
ngx_queues_conf_init_main(ngx_conf_t *cf, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_conf_init_msec_value(qmcf->redis.connect_timeout, 1000);
    ngx_conf_init_msec_value(qmcf->redis.timeout, 5000);
    ngx_conf_init_uint_value(qmcf->redis.database, 0);
    ngx_conf_init_uint_value(qmcf->max_attempts, 0);

    if (qmcf->zone_name.len == 0) {
        ngx_str_set(&qmcf->zone_name, "queues");
        qmcf->zone_size = NGX_QUEUES_CONF_ZONE_SIZE;
    }

    ngx_queues_conf_init_push(&qmcf->push);

    return NGX_CONF_OK;
}


void *
ngx_queues_conf_create_loc(ngx_conf_t *cf)
{
    ngx_queues_conf_loc_t  *qlcf;

    qlcf = ngx_pcalloc(cf->pool, sizeof(ngx_queues_conf_loc_t));
    if (qlcf == NULL) {
        return NULL;
    }

    qlcf->auth = NGX_CONF_UNSET;
    qlcf->limits = NGX_CONF_UNSET_PTR;

    /* qlcf->api is not inherited, as no handler is */

    return qlcf;
}


char *
ngx_queues_conf_merge_loc(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_queues_conf_loc_t *prev = parent;
    ngx_queues_conf_loc_t *conf = child;

    ngx_queues_conf_loc_t     *server;
    ngx_queues_conf_main_t    *qmcf;
    ngx_http_core_loc_conf_t  *clcf;
    ngx_http_core_srv_conf_t  *cscf;

    ngx_conf_merge_value(conf->auth, prev->auth, 1);
    ngx_conf_merge_ptr_value(conf->limits, prev->limits, NULL);

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    /* "if" and "limit_except" make locations without a name of their own */

    if (clcf->noname && conf->api == 0) {
        conf->api = prev->api;
        conf->directive = prev->directive;
        conf->organization = prev->organization;
        conf->project = prev->project;
        conf->metrics = prev->metrics;
        conf->dashboard = prev->dashboard;
    }

    ngx_queues_conf_merge_pubsub(cf, prev, conf);

    if (conf->api) {
        qmcf = ngx_http_conf_get_module_main_conf(cf, ngx_queues_module);

        clcf->handler = qmcf->handler;

        /* of the server, however deep the location is */

        cscf = ngx_http_conf_get_module_srv_conf(cf, ngx_http_core_module);
        server = cscf->ctx->loc_conf[ngx_queues_module.ctx_index];
        server->serves |= conf->api;

        qmcf->used = conf->directive;

        if (conf->api & NGX_QUEUES_CONF_OIDC) {
            qmcf->oidc.discovery = 1;
        }

        if (conf->auth && !(conf->api & NGX_QUEUES_CONF_OPEN)) {
            qmcf->auth = 1;
        }

        if (conf->api & (NGX_QUEUES_CONF_CONTROL|NGX_QUEUES_CONF_PUBSUB)) {
            qmcf->control = 1;
        }
    }

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_redis(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_str_t                *value;
    ngx_url_t                 u;
    ngx_queues_conf_redis_t  *rc;

    rc = &qmcf->redis;
    value = cf->args->elts;

    if (rc->address.len) {
        return "is duplicate: one address is enough";
    }

    if (cf->args->nelts > 2) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"queues_redis\" takes one address here, "
                           "\"unix:PATH\" or \"HOST:PORT\"");
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&u, sizeof(ngx_url_t));

    u.url = value[1];
    u.default_port = 6379;

    /* a path after a host is parsed, so that it can be refused by its name */

    u.uri_part = ngx_strncasecmp(value[1].data, (u_char *) "unix:", 5) != 0;

    if (ngx_parse_url(cf->pool, &u) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "%s in \"queues_redis %V\": write \"unix:PATH\" "
                           "or \"HOST:PORT\"",
                           u.err ? u.err : "invalid address", &value[1]);
        return NGX_CONF_ERROR;
    }

    if (u.uri.len) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"queues_redis %V\" must not have a path: write "
                           "\"HOST:PORT\", and the database as "
                           "\"queues_redis_database N\"", &value[1]);
        return NGX_CONF_ERROR;
    }

    rc->address = value[1];
    rc->addrs = u.addrs;
    rc->naddrs = u.naddrs;

    if (u.family != AF_UNIX) {
        rc->host = u.host;
        rc->port = u.port;
    }

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_database(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_int_t   n;
    ngx_str_t  *value;

    if (qmcf->redis.database != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    n = ngx_atoi(value[1].data, value[1].len);
    if (n == NGX_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"queues_redis_database %V\" is not a number: "
                           "write the database's number, such as \"0\"",
                           &value[1]);
        return NGX_CONF_ERROR;
    }

    qmcf->redis.database = n;

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_replicas(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_int_t   n, timeout;
    ngx_str_t  *value;

    if (qmcf->redis.replicas) {
        return "is duplicate";
    }

    value = cf->args->elts;

    n = ngx_atoi(value[1].data, value[1].len);
    timeout = ngx_parse_time(&value[2], 0);

    /* to WAIT, a timeout of 0 is none */

    if (n < 1 || n > NGX_QUEUES_CONF_REPLICAS
        || timeout == NGX_ERROR || timeout == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_redis_replicas %V %V\": write "
                           "how many replicas, 1 to %d, and how long to wait "
                           "for them, such as \"1 500ms\"",
                           &value[1], &value[2], NGX_QUEUES_CONF_REPLICAS);
        return NGX_CONF_ERROR;
    }

    qmcf->redis.replicas = n;
    qmcf->redis.replicas_timeout = timeout;

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ssize_t     size;
    ngx_str_t  *value;

    if (qmcf->zone_name.len) {
        return "is duplicate";
    }

    value = cf->args->elts;

    size = ngx_parse_size(&value[2]);

    if (value[1].len == 0 || size < NGX_QUEUES_CONF_ZONE_MIN) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_zone %V %V\": write a name and a "
                           "size of at least 1m, such as \"queues 8m\"",
                           &value[1], &value[2]);
        return NGX_CONF_ERROR;
    }

    qmcf->zone_name = value[1];
    qmcf->zone_size = size;

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    char                     *error;
    ngx_str_t                *value;
    ngx_uint_t                i;
    ngx_queues_conf_group_t  *g;

    error = ngx_queues_conf_first_api(cf, cmd, qlcf);
    if (error != NGX_CONF_OK) {
        return error;
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        for (g = ngx_queues_conf_groups; g->name; g++) {
            if (ngx_strcmp(value[i].data, g->name) == 0) {
                break;
            }
        }

        if (g->name == NULL) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid part \"%V\" in \"queues_api\": write "
                               "\"all\", \"control\", \"live\" or "
                               "\"receipts\"", &value[i]);
            return NGX_CONF_ERROR;
        }

        qlcf->api |= g->group;
    }

    if (qlcf->api == 0) {
        qlcf->api = NGX_QUEUES_CONF_ALL;
    }

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_queen_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    char       *error;
    ngx_str_t  *value, rest;

    error = ngx_queues_conf_first_api(cf, cmd, qlcf);
    if (error != NGX_CONF_OK) {
        return error;
    }

    value = cf->args->elts;
    rest = value[1];

    if (ngx_queues_base_word(&rest, '/', &qlcf->organization) != NGX_OK
        || ngx_queues_base_name_check(&qlcf->organization,
                                      NGX_QUEUES_CONF_NAME_MAX)
           != NGX_OK
        || ngx_queues_base_name_check(&rest, NGX_QUEUES_CONF_NAME_MAX)
           != NGX_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_queen_api %V\": write "
                           "\"ORGANIZATION/PROJECT\", each of 1 to %d "
                           "letters, digits, \"_\" or \"-\"",
                           &value[1], NGX_QUEUES_CONF_NAME_MAX);
        return NGX_CONF_ERROR;
    }

    qlcf->project = rest;
    qlcf->api = NGX_QUEUES_CONF_QUEEN;

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_oidc_discovery(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    qlcf->api = NGX_QUEUES_CONF_OIDC;

    return ngx_queues_conf_first_api(cf, cmd, qlcf);
}


char *
ngx_queues_conf_set_health(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    qlcf->api = NGX_QUEUES_CONF_HEALTH;

    return ngx_queues_conf_first_api(cf, cmd, qlcf);
}


/* a location has one API: a path and an error belong to one of them */

char *
ngx_queues_conf_first_api(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_queues_conf_loc_t *qlcf)
{
    const char  *name;

    name = (const char *) cmd->name.data;

    if (qlcf->directive == NULL) {
        qlcf->directive = name;
        return NGX_CONF_OK;
    }

    if (ngx_strcmp(qlcf->directive, name) == 0) {
        return "is duplicate";
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%s\" and \"%s\" are in one location: give each "
                       "API a location of its own", qlcf->directive, name);

    return NGX_CONF_ERROR;
}
