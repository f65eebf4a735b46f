
#include "ngx_queues_conf.h"


#define NGX_QUEUES_CONF_RATE_MAX   1000000
#define NGX_QUEUES_CONF_SECOND     1000000000ULL      /* ns */
#define NGX_QUEUES_CONF_DAY        (86400 * NGX_QUEUES_CONF_SECOND)


typedef struct {
    ngx_int_t  queue;          /* tokens, 0: not there */
    ngx_int_t  queue_unit;     /* in so many seconds */
    ngx_int_t  organization;
    ngx_int_t  organization_unit;
    ngx_int_t  burst;
} ngx_queues_conf_rate_limit_t;


static ngx_int_t ngx_queues_conf_rate_parameter(ngx_str_t *value,
    ngx_queues_conf_rate_limit_t *limit);
static ngx_int_t ngx_queues_conf_rate_parse(ngx_str_t *text, ngx_int_t *n,
    ngx_int_t *unit);
static ngx_int_t ngx_queues_conf_rate_make(ngx_conf_t *cf, const char *name,
    ngx_int_t n, ngx_int_t unit, ngx_int_t burst,
    ngx_queues_conf_rate_t *rate);


char *
ngx_queues_conf_set_rate_limit(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    ngx_str_t                     *value;
    ngx_uint_t                     i;
    ngx_queues_conf_rate_limit_t   limit;

    if (qlcf->limits != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 2 && ngx_strcmp(value[1].data, "off") == 0) {
        qlcf->limits = NULL;
        return NGX_CONF_OK;
    }

    ngx_memzero(&limit, sizeof(ngx_queues_conf_rate_limit_t));

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_queues_conf_rate_parameter(&value[i], &limit) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid or repeated \"%V\" in "
                               "\"queues_rate_limit\": write "
                               "\"queue=N/s\", \"organization=N/s\" and "
                               "\"burst=N\" with numbers from 1 to %d, or "
                               "\"N/m\" for a minute, or \"off\"",
                               &value[i], NGX_QUEUES_CONF_RATE_MAX);
            return NGX_CONF_ERROR;
        }
    }

    if (limit.queue == 0 && limit.organization == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"queues_rate_limit\" limits nothing: add "
                           "\"queue=N/s\" or \"organization=N/s\"");
        return NGX_CONF_ERROR;
    }

    qlcf->limits = ngx_pcalloc(cf->pool, sizeof(ngx_queues_conf_limits_t));
    if (qlcf->limits == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_queues_conf_rate_make(cf, "queue", limit.queue, limit.queue_unit,
                                  limit.burst, &qlcf->limits->queue)
        != NGX_OK
        || ngx_queues_conf_rate_make(cf, "organization", limit.organization,
                                     limit.organization_unit, limit.burst,
                                     &qlcf->limits->organization)
           != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_queues_conf_rate_parameter(ngx_str_t *value,
    ngx_queues_conf_rate_limit_t *limit)
{
    ngx_str_t  text;

    static ngx_str_t  queue = ngx_string("queue=");
    static ngx_str_t  organization = ngx_string("organization=");
    static ngx_str_t  burst = ngx_string("burst=");

    text = *value;

    if (ngx_strncmp(text.data, queue.data, queue.len) == 0) {
        text.data += queue.len;
        text.len -= queue.len;

        return ngx_queues_conf_rate_parse(&text, &limit->queue,
                                          &limit->queue_unit);
    }

    if (ngx_strncmp(text.data, organization.data, organization.len) == 0) {
        text.data += organization.len;
        text.len -= organization.len;

        return ngx_queues_conf_rate_parse(&text, &limit->organization,
                                          &limit->organization_unit);
    }

    if (ngx_strncmp(text.data, burst.data, burst.len) == 0 && !limit->burst) {
        limit->burst = ngx_atoi(text.data + burst.len, text.len - burst.len);

        return limit->burst >= 1 && limit->burst <= NGX_QUEUES_CONF_RATE_MAX
               ? NGX_OK : NGX_ERROR;
    }

    return NGX_ERROR;
}


/* "N/s" or "N/m", once */

static ngx_int_t
ngx_queues_conf_rate_parse(ngx_str_t *text, ngx_int_t *n, ngx_int_t *unit)
{
    u_char  *end;

    if (*n || text->len < 3) {
        return NGX_ERROR;
    }

    end = text->data + text->len - 2;

    if (end[0] != '/' || (end[1] != 's' && end[1] != 'm')) {
        return NGX_ERROR;
    }

    *unit = (end[1] == 's') ? 1 : 60;
    *n = ngx_atoi(text->data, text->len - 2);

    return *n >= 1 && *n <= NGX_QUEUES_CONF_RATE_MAX ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
ngx_queues_conf_rate_make(ngx_conf_t *cf, const char *name, ngx_int_t n,
    ngx_int_t unit, ngx_int_t burst, ngx_queues_conf_rate_t *rate)
{
    if (n == 0) {
        return NGX_OK;
    }

    if (burst == 0) {
        burst = ngx_max(n / unit, 1);
    }

    rate->interval = unit * NGX_QUEUES_CONF_SECOND / n;
    rate->depth = (burst - 1) * rate->interval;

    /* what one limit has counted means nothing to another one */

    rate->salt = (rate->interval * 0x9e3779b97f4a7c15ULL)
                 ^ (rate->depth * 0xc2b2ae3d27d4eb4fULL);

    if (rate->depth + rate->interval > NGX_QUEUES_CONF_DAY) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "the burst of \"queues_rate_limit\" takes more than "
                           "a day at the rate of \"%s\": write a smaller "
                           "\"burst\" or a higher rate", name);
        return NGX_ERROR;
    }

    return NGX_OK;
}
