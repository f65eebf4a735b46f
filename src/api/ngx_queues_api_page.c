
#include "ngx_queues_api.h"
#include "../base/ngx_queues_base_bytes.h"

#include <openssl/evp.h>


#define NGX_QUEUES_API_PAGE          50
#define NGX_QUEUES_API_PAGE_MAX      100


static ngx_int_t ngx_queues_api_page_mark(ngx_queues_api_t *api,
    const char *kind, ngx_queues_base_handle_t *handle);
static u_char *ngx_queues_api_page_print(ngx_queues_api_t *api,
    const char *kind, u_char *p, ngx_str_t *last);
static ngx_int_t ngx_queues_api_page_token(ngx_queues_api_t *api,
    const char *kind, ngx_str_t *value, ngx_str_t *after);


static const ngx_str_t  ngx_queues_api_page_names[] = {
    NGX_QUEUES_API_PAGE_NAMES
};


ngx_int_t
ngx_queues_api_page(ngx_queues_api_t *api, const char *kind,
    ngx_str_t *values, ngx_uint_t *size, ngx_str_t *after)
{
    *size = NGX_QUEUES_API_PAGE;

    if (ngx_queues_api_query_integer(api, &values[0],
                                     &ngx_queues_api_page_names[0], 1,
                                     NGX_QUEUES_API_PAGE_MAX, size)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_page_token(api, kind, &values[1], after);
}


u_char *
ngx_queues_api_page_end(ngx_queues_api_t *api, const char *kind, u_char *p,
    ngx_str_t *last)
{
    if (last == NULL) {
        return ngx_sprintf(p, "],\"nextPageToken\":null}");
    }

    p = ngx_sprintf(p, "],\"nextPageToken\":\"");
    p = ngx_queues_api_page_print(api, kind, p, last);

    if (p == NULL) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INTERNAL, NULL,
                             "No page token could be made.");
        return NULL;
    }

    *p++ = '"';
    *p++ = '}';

    return p;
}


/*
 * A token is what the last one of the page before is ordered by, so that it
 * holds while others come and go.  The principal may not know that one, so it
 * is sealed: as a handle of no queue, with the text in the project's place.  It
 * bears a mark of its project and list: elsewhere, where the principal makes
 * queues as it likes, their order would tell the text.
 */

static u_char *
ngx_queues_api_page_print(ngx_queues_api_t *api, const char *kind, u_char *p,
    ngx_str_t *last)
{
    ngx_queues_base_handle_t  handle;

    ngx_memzero(&handle, sizeof(ngx_queues_base_handle_t));

    if (ngx_queues_api_page_mark(api, kind, &handle) != NGX_OK) {
        return NULL;
    }

    handle.project = *last;

    return ngx_queues_base_handle_print(api->qmcf->handle_keys[0], &handle, p);
}


static ngx_int_t
ngx_queues_api_page_mark(ngx_queues_api_t *api, const char *kind,
    ngx_queues_base_handle_t *handle)
{
    u_char       hash[EVP_MAX_MD_SIZE];
    ngx_int_t    rc;
    EVP_MD_CTX  *ctx;

    ctx = EVP_MD_CTX_new();
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1
        && EVP_DigestUpdate(ctx, api->project.data, api->project.len) == 1
        && EVP_DigestUpdate(ctx, kind, ngx_strlen(kind)) == 1
        && EVP_DigestFinal_ex(ctx, hash, NULL) == 1)
    {
        handle->generation = ngx_queues_base_bytes_read(hash, 6);
        handle->token = ngx_queues_base_bytes_read(hash + 6, 5);
        rc = NGX_OK;
    }

    EVP_MD_CTX_free(ctx);

    return rc;
}


static ngx_int_t
ngx_queues_api_page_token(ngx_queues_api_t *api, const char *kind,
    ngx_str_t *value, ngx_str_t *after)
{
    u_char                    *buf;
    ngx_uint_t                 i;
    ngx_queues_base_handle_t   handle, mark;

    ngx_str_null(after);

    if (value->data == NULL) {
        return NGX_OK;
    }

    buf = ngx_queues_api_alloc(api, NGX_QUEUES_BASE_HANDLE_MAX);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_api_page_mark(api, kind, &mark) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    for (i = 0; i < api->qmcf->nhandle_keys; i++) {
        if (ngx_queues_base_handle_parse(api->qmcf->handle_keys[i], value,
                                         &handle, buf)
            == NGX_OK
            && handle.queue == 0
            && handle.generation == mark.generation
            && handle.token == mark.token)
        {
            *after = handle.project;
            return NGX_OK;
        }
    }

    ngx_queues_api_invalid(api, NULL, &ngx_queues_api_page_names[1],
                           "must be a nextPageToken of an answer");

    return NGX_ERROR;
}
