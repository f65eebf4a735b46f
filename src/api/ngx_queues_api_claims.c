
/*
 * What was received for a call and is not yet with its client.
 */

#include "ngx_queues_api_wait.h"


ngx_uint_t
ngx_queues_api_claims_found(ngx_queues_store_result_t *result)
{
    return result->nmessages;
}


uint64_t
ngx_queues_api_claims_queue(ngx_queues_store_result_t *result)
{
    return result->place.queue;
}


void
ngx_queues_api_claims_undo(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_queues_store_undo_all(&api->root, result);
}


ngx_int_t
ngx_queues_api_claims_keep(ngx_queues_api_t *api,
    ngx_queues_api_claims_t *claims, ngx_queues_store_result_t *result)
{
    ngx_uint_t  i;

    claims->spots = ngx_palloc(api->op->pool, result->nmessages
                                              * sizeof(ngx_queues_base_spot_t));
    if (claims->spots == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < result->nmessages; i++) {
        claims->spots[i] = result->messages[i].spot;
    }

    claims->n = result->nmessages;
    claims->place = result->place;
    claims->token = result->token;

    return NGX_OK;
}


void
ngx_queues_api_claims_lost(ngx_queues_api_t *api,
    ngx_queues_api_claims_t *claims)
{
    if (claims->n) {
        ngx_queues_store_undo(&api->root, &claims->place, claims->token,
                              claims->spots, claims->n);
    }
}


void
ngx_queues_api_claims_cut(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_uint_t max,
    ngx_queues_store_result_t *part)
{
    ngx_uint_t                   n, same;
    ngx_queues_base_spot_t      *last;
    ngx_queues_store_result_t    rest;
    ngx_queues_store_message_t  *m;

    m = result->messages;
    n = ngx_min(result->nmessages, max);
    last = &m[n - 1].spot;

    for (same = n; same < result->nmessages; same++) {
        if (last->kind != NGX_QUEUES_BASE_SPOT_FIFO
            || last->major != m[same].spot.major)
        {
            break;
        }
    }

    *part = *result;
    part->nmessages = n;

    rest = *result;
    rest.messages = &m[n];
    rest.nmessages = same - n;

    ngx_queues_store_undo_all(&api->root, &rest);

    result->messages = &m[same];
    result->nmessages -= same;
}
