
#include "ngx_queues_push_engine.h"
#include "../base/ngx_queues_base_wipe.h"


ngx_queues_push_config_t *
ngx_queues_push_config_create(ngx_str_t *root, ngx_queues_store_job_t *owned)
{
    u_char                    *buf;
    ngx_str_t                  url, text;
    ngx_queues_push_config_t  *config;

    url = owned->target.url;
    text = owned->format;

    config = ngx_alloc(sizeof(ngx_queues_push_config_t)
                       + 2 * url.len + 8 + text.len
                       + NGX_QUEUES_PUSH_NAME_LEN, ngx_cycle->log);
    if (config == NULL) {
        return NULL;
    }

    ngx_memzero(config, sizeof(ngx_queues_push_config_t));

    config->refs = 1;

    config->batch = (ngx_uint_t) owned->target.batch;
    config->concurrency = (ngx_uint_t) ngx_max(owned->target.concurrency, 1);
    config->timeout = (ngx_msec_t) owned->target.timeout * 1000;

    /* "qsb_" and its id, until there is another one */

    config->name.data = (u_char *) config + sizeof(ngx_queues_push_config_t);
    buf = ngx_cpymem(config->name.data, "qsb_", 4);
    buf = ngx_cpymem(buf, owned->id.data, NGX_QUEUES_PUSH_ID_LEN);
    config->name.len = NGX_QUEUES_PUSH_NAME_LEN;

    text.data = buf;
    buf = ngx_cpymem(buf, owned->format.data, text.len);

    url.data = buf;
    buf = ngx_cpymem(buf, owned->target.url.data, url.len);

    config->format = text.len ? &ngx_queues_push_format_pubsub
                              : &ngx_queues_push_format_queues;

    config->format->configure(config, root, owned, &url, buf, &text);

    return config;
}


void
ngx_queues_push_config_release(ngx_queues_push_config_t *config)
{
    if (--config->refs) {
        return;
    }

    ngx_queues_base_wipe(&config->secrets, sizeof(ngx_queues_base_secrets_t));

    ngx_free(config);
}
