
#include "ngx_queues_conf.h"
#include "../base/ngx_queues_base_path.h"
#include "../base/ngx_queues_base_text.h"


#define NGX_QUEUES_CONF_METRICS_QUEUES        500
#define NGX_QUEUES_CONF_METRICS_QUEUES_MAX    10000
#define NGX_QUEUES_CONF_METRICS_PROJECTS_MAX  100


static ngx_int_t ngx_queues_conf_metrics_queues(ngx_conf_t *cf,
    ngx_queues_conf_metrics_t *metrics, ngx_str_t *value);
static ngx_int_t ngx_queues_conf_metrics_project(ngx_conf_t *cf,
    ngx_queues_conf_metrics_t *metrics, ngx_str_t *value);


char *
ngx_queues_conf_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    char                       *error;
    ngx_int_t                   rc;
    ngx_str_t                  *value;
    ngx_uint_t                  i;
    ngx_queues_conf_metrics_t  *metrics;

    error = ngx_queues_conf_first_api(cf, cmd, qlcf);
    if (error != NGX_CONF_OK) {
        return error;
    }

    metrics = ngx_pcalloc(cf->pool, sizeof(ngx_queues_conf_metrics_t));
    if (metrics == NULL
        || ngx_array_init(&metrics->projects, cf->pool, 1, sizeof(ngx_str_t))
           != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    metrics->queues = NGX_CONF_UNSET_UINT;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        if (ngx_strncmp(value[i].data, "queues=", 7) == 0) {
            rc = ngx_queues_conf_metrics_queues(cf, metrics, &value[i]);

        } else if (ngx_strncmp(value[i].data, "project=", 8) == 0) {
            rc = ngx_queues_conf_metrics_project(cf, metrics, &value[i]);

        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid parameter \"%V\" of "
                               "\"queues_metrics\": write \"queues=N\" or "
                               "\"project=ORGANIZATION/PROJECT\"", &value[i]);
            return NGX_CONF_ERROR;
        }

        if (rc != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    ngx_conf_init_uint_value(metrics->queues, NGX_QUEUES_CONF_METRICS_QUEUES);

    qlcf->metrics = metrics;
    qlcf->api = NGX_QUEUES_CONF_METRICS;

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_queues_conf_metrics_queues(ngx_conf_t *cf,
    ngx_queues_conf_metrics_t *metrics, ngx_str_t *value)
{
    ngx_int_t  n;

    if (metrics->queues != NGX_CONF_UNSET_UINT) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"queues_metrics\" has \"queues=\" twice: leave "
                           "\"%V\" out", value);
        return NGX_ERROR;
    }

    n = ngx_atoi(value->data + 7, value->len - 7);

    if (n == NGX_ERROR || n > NGX_QUEUES_CONF_METRICS_QUEUES_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"%V\" of \"queues_metrics\": write how "
                           "many queues are told of at most, 0 to %d, such as "
                           "\"queues=%d\"", value,
                           NGX_QUEUES_CONF_METRICS_QUEUES_MAX,
                           NGX_QUEUES_CONF_METRICS_QUEUES);
        return NGX_ERROR;
    }

    metrics->queues = n;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_conf_metrics_project(ngx_conf_t *cf,
    ngx_queues_conf_metrics_t *metrics, ngx_str_t *value)
{
    ngx_str_t   rest, name, *project;
    ngx_uint_t  i;

    rest.data = value->data + 8;
    rest.len = value->len - 8;

    project = metrics->projects.elts;

    for (i = 0; i < metrics->projects.nelts; i++) {
        if (project[i].len == rest.len
            && ngx_memcmp(project[i].data, rest.data, rest.len) == 0)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"queues_metrics\" has \"%V\" twice: leave "
                               "one out", value);
            return NGX_ERROR;
        }
    }

    if (metrics->projects.nelts == NGX_QUEUES_CONF_METRICS_PROJECTS_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"queues_metrics\" has more than %d projects: "
                           "name none, and all are told of",
                           NGX_QUEUES_CONF_METRICS_PROJECTS_MAX);
        return NGX_ERROR;
    }

    project = ngx_array_push(&metrics->projects);
    if (project == NULL) {
        return NGX_ERROR;
    }

    *project = rest;

    if (ngx_queues_base_word(&rest, '/', &name) != NGX_OK
        || ngx_queues_base_name_check(&name, NGX_QUEUES_CONF_NAME_MAX)
           != NGX_OK
        || ngx_queues_base_name_check(&rest, NGX_QUEUES_CONF_NAME_MAX)
           != NGX_OK)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"%V\" of \"queues_metrics\": write "
                           "\"project=ORGANIZATION/PROJECT\", each of 1 to "
                           "%d letters, digits, \"_\" or \"-\"", value,
                           NGX_QUEUES_CONF_NAME_MAX);
        return NGX_ERROR;
    }

    return NGX_OK;
}
