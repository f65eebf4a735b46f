
#include "ngx_queues_api.h"

#include <openssl/evp.h>


#define NGX_QUEUES_API_KEY_MAX  255


static ngx_int_t ngx_queues_api_idempotency_find(ngx_queues_api_t *api,
    ngx_str_t *value);
static ngx_int_t ngx_queues_api_idempotency_hash(ngx_queues_api_t *api,
    const char *call, ngx_str_t *value, u_char *hash);


static ngx_str_t  ngx_queues_api_idempotency_key =
    ngx_string("Idempotency-Key");


ngx_int_t
ngx_queues_api_idempotency(ngx_queues_api_t *api, const char *call,
    ngx_queues_store_once_t **once)
{
    ngx_int_t   rc;
    ngx_str_t   value, *body;

    *once = NULL;

    rc = ngx_queues_api_idempotency_find(api, &value);

    if (rc == NGX_DECLINED) {
        return NGX_OK;
    }

    if (rc != NGX_OK) {
        ngx_queues_api_invalid(api, NULL, &ngx_queues_api_idempotency_key,
                               "must be 1 to 255 printable ASCII characters, "
                               "once");
        return NGX_ERROR;
    }

    *once = ngx_palloc(api->op->pool, sizeof(ngx_queues_store_once_t));
    if (*once == NULL) {
        goto failed;
    }

    body = &api->op->body;

    if (ngx_queues_api_idempotency_hash(api, call, &value, (*once)->key)
        != NGX_OK
        || EVP_Digest(body->data, body->len, (*once)->body, NULL, EVP_sha256(),
                      NULL)
           != 1)
    {
        goto failed;
    }

    return NGX_OK;

failed:

    ngx_queues_api_no_memory(api);

    return NGX_ERROR;
}


/* NGX_DECLINED: there is none; NGX_ERROR: it is not as it must be */

static ngx_int_t
ngx_queues_api_idempotency_find(ngx_queues_api_t *api, ngx_str_t *value)
{
    ngx_int_t         rc;
    ngx_str_t        *name;
    ngx_uint_t        i;
    ngx_list_part_t  *part;
    ngx_table_elt_t  *header;

    rc = NGX_DECLINED;
    ngx_str_null(value);

    name = &ngx_queues_api_idempotency_key;

    for (part = &api->op->request->headers_in.headers.part;
         part;
         part = part->next)
    {
        header = part->elts;

        for (i = 0; i < part->nelts; i++) {

            if (header[i].key.len != name->len
                || ngx_strncasecmp(header[i].key.data, name->data, name->len)
                   != 0)
            {
                continue;
            }

            if (rc == NGX_OK) {
                return NGX_ERROR;
            }

            *value = header[i].value;
            rc = NGX_OK;
        }
    }

    if (rc != NGX_OK) {
        return rc;
    }

    if (value->len == 0 || value->len > NGX_QUEUES_API_KEY_MAX) {
        return NGX_ERROR;
    }

    for (i = 0; i < value->len; i++) {
        if (value->data[i] < 0x20 || value->data[i] > 0x7e) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* A key is of one principal and one call.  No name has a zero in it. */

static ngx_int_t
ngx_queues_api_idempotency_hash(ngx_queues_api_t *api, const char *call,
    ngx_str_t *value, u_char *hash)
{
    ngx_int_t    rc;
    ngx_str_t    name;
    EVP_MD_CTX  *ctx;

    ngx_str_null(&name);

    if (api->principal) {
        name = api->principal->name;
    }

    ctx = EVP_MD_CTX_new();
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1
        && EVP_DigestUpdate(ctx, name.data, name.len) == 1
        && EVP_DigestUpdate(ctx, "", 1) == 1
        && EVP_DigestUpdate(ctx, call, ngx_strlen(call)) == 1
        && EVP_DigestUpdate(ctx, "", 1) == 1
        && EVP_DigestUpdate(ctx, value->data, value->len) == 1
        && EVP_DigestFinal_ex(ctx, hash, NULL) == 1)
    {
        rc = NGX_OK;
    }

    EVP_MD_CTX_free(ctx);

    return rc;
}
