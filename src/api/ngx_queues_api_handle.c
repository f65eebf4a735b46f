
/*
 * Receipt handles as they come in requests.
 */

#include "ngx_queues_api.h"
#include "../stat/ngx_queues_stat.h"


ngx_int_t
ngx_queues_api_handle_limit(ngx_queues_api_t *api)
{
    struct sockaddr  *sockaddr;

    sockaddr = api->op->request->connection->sockaddr;

    api->retry_after = ngx_queues_stat_invalid_wait(api->qmcf, sockaddr);

    if (api->retry_after == 0) {
        return NGX_OK;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_RATE_LIMITED, NULL,
                         "Too many invalid receipt handles have come from "
                         "this address.");

    return NGX_ERROR;
}


void
ngx_queues_api_handle_count(ngx_queues_api_t *api, ngx_uint_t n)
{
    if (n) {
        ngx_queues_stat_invalid_add(api->qmcf,
                                    api->op->request->connection->sockaddr, n);
    }
}


/* With the secret in use, or one that it replaced. */

ngx_int_t
ngx_queues_api_handle_open(ngx_queues_api_t *api, ngx_str_t *raw,
    ngx_queues_base_handle_t *handle, u_char *buf)
{
    u_char      decoded[NGX_QUEUES_BASE_HANDLE_TEXT_MAX];
    ngx_str_t   text;
    ngx_uint_t  i;

    if (ngx_queues_base_json_decoded_length(raw) > sizeof(decoded)) {
        return NGX_ERROR;
    }

    text.data = decoded;
    text.len = ngx_queues_base_json_decode(decoded, raw) - decoded;

    for (i = 0; i < api->qmcf->nhandle_keys; i++) {
        if (ngx_queues_base_handle_parse(api->qmcf->handle_keys[i], &text,
                                         handle, buf)
            == NGX_OK
            && handle->queue)
        {
            return NGX_OK;
        }
    }

    return NGX_ERROR;
}
