
#include "ngx_queues_api.h"
#include "../stat/ngx_queues_stat.h"


static uint64_t ngx_queues_api_limit_spelling(ngx_queues_api_t *api);


/*
 * A call is counted where all that it is counted for has a token, so that what
 * is refused because of its queue takes nothing from its organization.
 */

ngx_int_t
ngx_queues_api_limit(ngx_queues_api_t *api)
{
    ngx_str_t                  organization, none;
    ngx_uint_t                 n, which;
    ngx_queues_stat_bucket_t   buckets[2];

    if (api->limits == NULL || api->project.len == 0) {
        return NGX_OK;
    }

    n = 0;
    which = 0;

    if (api->limits->queue.interval && api->ref.len) {
        api->spelling = ngx_queues_api_limit_spelling(api);

        if (api->spelling) {
            buckets[n].rate = &api->limits->queue;
            buckets[n].key = api->spelling;
            n++;
        }
    }

    if (api->limits->organization.interval) {
        organization.data = api->project.data;
        organization.len = ngx_strlchr(api->project.data,
                                       api->project.data + api->project.len,
                                       '/')
                           - api->project.data;
        ngx_str_null(&none);

        buckets[n].rate = &api->limits->organization;
        buckets[n].key = ngx_queues_stat_rate_key(api->qmcf, buckets[n].rate,
                                          NGX_QUEUES_STAT_RATE_ORGANIZATION,
                                          &organization, &none);
        n++;
    }

    if (n == 0) {
        return NGX_OK;
    }

    api->retry_after = ngx_queues_stat_rate_take(api->qmcf, buckets, n,
                                                 &which);

    if (api->spelling) {
        api->counted = buckets[0].key;
    }

    if (api->retry_after == 0) {
        return NGX_OK;
    }

    api->error = NGX_QUEUES_API_RATE_LIMITED;
    api->over = (buckets[which].rate == &api->limits->queue)
                ? "queue" : "organization";

    return NGX_DECLINED;
}


/* 0 where no queue can be named so */

static uint64_t
ngx_queues_api_limit_spelling(ngx_queues_api_t *api)
{
    ngx_str_t               name;
    ngx_queues_stat_rate_e  kind;

    kind = NGX_QUEUES_STAT_RATE_NAME;

    name.data = api->ref.data + 1;
    name.len = api->ref.len - 1;

    if (api->ref.data[0] != 'n') {
        kind = NGX_QUEUES_STAT_RATE_ID;
        name.len = NGX_QUEUES_BASE_SHORT_LEN;
    }

    return ngx_queues_stat_rate_key(api->qmcf, &api->limits->queue, kind,
                                    &api->project, &name);
}


void
ngx_queues_api_limit_learn(ngx_queues_api_t *api, uint64_t queue)
{
    u_char     id[NGX_QUEUES_BASE_SHORT_LEN];
    uint64_t   key;
    ngx_str_t  name;

    if (api->spelling == 0 || queue == 0) {
        return;
    }

    name.data = id;
    name.len = ngx_queues_base_short_print(id, queue) - id;

    key = ngx_queues_stat_rate_key(api->qmcf, &api->limits->queue,
                                   NGX_QUEUES_STAT_RATE_ID, &api->project,
                                   &name);

    if (key != api->counted) {
        ngx_queues_stat_rate_learn(api->qmcf, &api->limits->queue,
                                   api->spelling, key);
    }

    /* a call counts once, however often it looks for messages */

    api->spelling = 0;
}
