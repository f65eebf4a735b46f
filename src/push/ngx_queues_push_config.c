
#include "ngx_queues_push_engine.h"


/* the root of a project, "/" and a short id */
#define NGX_QUEUES_PUSH_CONTEXT_MAX  512


static void ngx_queues_push_config_secrets(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned);
static ngx_int_t ngx_queues_push_config_secret(
    ngx_queues_push_config_t *config, ngx_str_t *context, ngx_str_t *until,
    ngx_str_t *sealed);


ngx_queues_push_config_t *
ngx_queues_push_config_create(ngx_str_t *root, ngx_queues_store_job_t *owned)
{
    u_char                    *buf;
    ngx_str_t                  url;
    ngx_queues_push_config_t  *config;

    url = owned->target.url;

    config = ngx_alloc(sizeof(ngx_queues_push_config_t) + 2 * url.len + 8,
                       ngx_cycle->log);
    if (config == NULL) {
        return NULL;
    }

    ngx_memzero(config, sizeof(ngx_queues_push_config_t));

    config->refs = 1;

    config->batch = (ngx_uint_t) owned->target.batch;
    config->concurrency = (ngx_uint_t) ngx_max(owned->target.concurrency, 1);
    config->timeout = (ngx_msec_t) owned->target.timeout * 1000;

    /* the endpoint's texts are in these */

    url.data = (u_char *) config + sizeof(ngx_queues_push_config_t);
    buf = ngx_cpymem(url.data, owned->target.url.data, url.len);

    config->wrong = ngx_queues_base_endpoint_parse(&url,
                                   &ngx_queues_push_engine.conf->rules, buf,
                                   &config->endpoint);

    ngx_queues_push_config_secrets(config, root, owned);

    return config;
}


void
ngx_queues_push_config_release(ngx_queues_push_config_t *config)
{
    if (--config->refs) {
        return;
    }

    ngx_explicit_memzero(&config->secrets, sizeof(ngx_queues_base_secrets_t));

    ngx_free(config);
}


/* UNTIL SEALED, and so on; what no key opens any more is left out */

static void
ngx_queues_push_config_secrets(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned)
{
    u_char     *p;
    u_char      buf[NGX_QUEUES_PUSH_CONTEXT_MAX];
    ngx_str_t   text, until, sealed, context;

    if (root->len + 1 + owned->id.len > sizeof(buf)) {
        return;
    }

    p = ngx_cpymem(buf, root->data, root->len);
    *p++ = '/';
    p = ngx_cpymem(p, owned->id.data, owned->id.len);

    context.data = buf;
    context.len = p - buf;

    text = owned->secrets;

    while (ngx_queues_base_word(&text, ' ', &until) == NGX_OK
           && ngx_queues_base_word(&text, ' ', &sealed) == NGX_OK)
    {
        if (config->secrets.n == NGX_QUEUES_BASE_SECRETS_MAX) {
            return;
        }

        if (ngx_queues_push_config_secret(config, &context, &until, &sealed)
            != NGX_OK)
        {
            ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                          "a signing secret of \"%V\" does not open with "
                          "the keys of \"queues_secret_file\"", &context);
        }
    }
}


static ngx_int_t
ngx_queues_push_config_secret(ngx_queues_push_config_t *config,
    ngx_str_t *context, ngx_str_t *until, ngx_str_t *sealed)
{
    uint64_t                 ends;
    ngx_uint_t               i, n;
    ngx_queues_conf_push_t  *conf;

    conf = ngx_queues_push_engine.conf;
    n = config->secrets.n;

    if (ngx_queues_base_decimal_parse(until, &ends) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < conf->nseal_keys; i++) {

        if (ngx_queues_base_seal_open(conf->seal_keys[i], context, sealed,
                                      config->secrets.keys[n],
                                      NGX_QUEUES_BASE_SECRET_SIZE)
            == NGX_OK)
        {
            config->until[n] = ends;
            config->secrets.n++;

            return NGX_OK;
        }
    }

    return NGX_ERROR;
}
