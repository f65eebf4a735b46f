
#include "ngx_queues_conf.h"
#include "../base/ngx_queues_base_path.h"


/* what Google takes of a publish */
#define NGX_QUEUES_CONF_PUBSUB_BODY   10485760

#define NGX_QUEUES_CONF_ATTEMPTS_MAX  1000000


char *
ngx_queues_conf_set_pubsub_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    char       *error;
    ngx_str_t  *value;

    error = ngx_queues_conf_first_api(cf, cmd, qlcf);
    if (error != NGX_CONF_OK) {
        return error;
    }

    value = cf->args->elts;

    if (ngx_queues_base_name_check(&value[1], NGX_QUEUES_CONF_NAME_MAX)
        != NGX_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_pubsub_api %V\": write an "
                           "organization of 1 to %d letters, digits, \"_\" or "
                           "\"-\"; the project is in the paths",
                           &value[1], NGX_QUEUES_CONF_NAME_MAX);
        return NGX_CONF_ERROR;
    }

    qlcf->organization = value[1];
    qlcf->api = NGX_QUEUES_CONF_PUBSUB;

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_max_attempts(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_int_t   n;
    ngx_str_t  *value;

    if (qmcf->max_attempts != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    n = ngx_atoi(value[1].data, value[1].len);

    if (n == NGX_ERROR || n > NGX_QUEUES_CONF_ATTEMPTS_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_pubsub_max_delivery_attempts "
                           "%V\": write how often, up to %d, or 0 for no limit",
                           &value[1], NGX_QUEUES_CONF_ATTEMPTS_MAX);
        return NGX_CONF_ERROR;
    }

    qmcf->max_attempts = n;

    return NGX_CONF_OK;
}


/*
 * nginx' default is 1m, with which it would refuse what clients may well send.
 * By now nginx has merged its own directives: a location that has the value of
 * what is around it has none of its own.
 */

void
ngx_queues_conf_merge_pubsub(ngx_conf_t *cf, ngx_queues_conf_loc_t *prev,
    ngx_queues_conf_loc_t *conf)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    conf->body_max = clcf->client_max_body_size;

    if (conf->api == NGX_QUEUES_CONF_PUBSUB
        && conf->body_max == prev->body_max
        && conf->body_max
        && conf->body_max < NGX_QUEUES_CONF_PUBSUB_BODY)
    {
        clcf->client_max_body_size = NGX_QUEUES_CONF_PUBSUB_BODY;
    }
}
