
/*
 * Payloads at rest.  The store knows which queues want theirs sealed, and says
 * so where a push has them otherwise; then it comes again.  A worker remembers
 * some of these queues, so that it seldom does.
 */

#include "ngx_queues_api_queen.h"
#include "../base/ngx_queues_base_envelope.h"


#define NGX_QUEUES_API_QUEEN_SEAL_SLOTS   256

/* queues of one push that are not as they were thought to be */
#define NGX_QUEUES_API_QUEEN_SEAL_REPEATS  16


static uint32_t ngx_queues_api_queen_seal_hash(ngx_queues_api_t *api,
    ngx_str_t *queue);
static ngx_int_t ngx_queues_api_queen_seal_item(ngx_queues_api_t *api,
    ngx_queues_store_log_item_t *item);


/* hashes of those that want them sealed; a wrong one costs a repeated call */

static uint32_t    ngx_queues_api_queen_sealed[NGX_QUEUES_API_QUEEN_SEAL_SLOTS];
static ngx_uint_t  ngx_queues_api_queen_nsealed;


ngx_int_t
ngx_queues_api_queen_seal(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push)
{
    uint32_t                      hash;
    ngx_uint_t                    i;
    ngx_queues_store_log_item_t  *item;

    if (ngx_queues_api_queen_nsealed == 0) {
        return NGX_OK;
    }

    for (i = 0; i < push->nitems; i++) {
        item = &push->items[i];

        hash = ngx_queues_api_queen_seal_hash(api, &item->queue);

        if (ngx_queues_api_queen_sealed[hash % NGX_QUEUES_API_QUEEN_SEAL_SLOTS]
            == hash
            && ngx_queues_api_queen_seal_item(api, item) != NGX_OK)
        {
            ngx_queues_api_no_memory(api);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_reseal(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push, ngx_queues_store_result_t *result)
{
    ngx_str_t                    *queue;
    uint32_t                      hash, *slot;
    ngx_uint_t                    i;
    ngx_queues_store_log_item_t  *item;

    queue = &push->items[result->index].queue;

    hash = ngx_queues_api_queen_seal_hash(api, queue);
    slot = &ngx_queues_api_queen_sealed[hash % NGX_QUEUES_API_QUEEN_SEAL_SLOTS];

    ngx_queues_api_queen_nsealed -= (*slot != 0);
    *slot = result->limit ? hash : 0;
    ngx_queues_api_queen_nsealed += (*slot != 0);

    if (api->repeats++ == NGX_QUEUES_API_QUEEN_SEAL_REPEATS) {
        ngx_queues_api_error(api, NGX_QUEUES_API_UNAVAILABLE, NULL,
                             "Too many queues had their encryption switched, "
                             "try again.");
        return NGX_ERROR;
    }

    for (i = 0; i < push->nitems; i++) {
        item = &push->items[i];

        if (item->queue.len != queue->len
            || ngx_memcmp(item->queue.data, queue->data, queue->len) != 0
            || item->sealed == (ngx_uint_t) result->limit)
        {
            continue;
        }

        if (result->limit) {
            if (ngx_queues_api_queen_seal_item(api, item) != NGX_OK) {
                ngx_queues_api_no_memory(api);
                return NGX_ERROR;
            }

            continue;
        }

        if (ngx_queues_api_queen_unseal(api, &item->payload) != NGX_OK) {
            return NGX_ERROR;
        }

        item->sealed = 0;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_queen_unseal(ngx_queues_api_t *api, ngx_str_t *payload)
{
    ngx_str_t               plain;
    ngx_uint_t              i;
    ngx_queues_conf_push_t  *conf;

    plain.data = ngx_pnalloc(api->op->request->pool, payload->len + 1);
    if (plain.data == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    conf = &api->qmcf->push;

    for (i = 0; i < conf->nseal_keys; i++) {

        if (ngx_queues_base_envelope_open(conf->seal_keys[i], &api->root,
                                          payload, &plain)
            == NGX_OK)
        {
            *payload = plain;
            return NGX_OK;
        }
    }

    /* its key is gone: who gets the envelope sees that it is one */

    ngx_log_error(NGX_LOG_ERR, api->op->request->connection->log, 0,
                  "a payload of \"%V\" was sealed under none of the secrets "
                  "of \"queues_secret_file\"", &api->project);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_queen_seal_item(ngx_queues_api_t *api,
    ngx_queues_store_log_item_t *item)
{
    u_char  *p, *last;

    p = ngx_pnalloc(api->op->pool,
                    ngx_queues_base_envelope_length(item->payload.len));
    if (p == NULL) {
        return NGX_ERROR;
    }

    last = ngx_queues_base_envelope_seal(api->qmcf->push.seal_keys[0],
                                         &api->root, &item->payload, p);
    if (last == NULL) {
        return NGX_ERROR;
    }

    item->payload.data = p;
    item->payload.len = last - p;
    item->sealed = 1;

    return NGX_OK;
}


/* never 0 */

static uint32_t
ngx_queues_api_queen_seal_hash(ngx_queues_api_t *api, ngx_str_t *queue)
{
    return (ngx_murmur_hash2(queue->data, queue->len)
            ^ ngx_murmur_hash2(api->root.data, api->root.len) * 31) | 1;
}
