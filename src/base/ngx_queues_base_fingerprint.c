
#include "ngx_queues_base_fingerprint.h"

#include <openssl/evp.h>


static ngx_int_t ngx_queues_base_fingerprint_init(void);


/* for as long as the process: to look the algorithm up costs more than to hash */

static EVP_MD_CTX  *ngx_queues_base_fingerprint_md;


ngx_int_t
ngx_queues_base_fingerprint(u_char *p, ngx_str_t *lane, ngx_str_t *id)
{
    u_char       hash[EVP_MAX_MD_SIZE];
    EVP_MD_CTX  *md;

    if (ngx_queues_base_fingerprint_init() != NGX_OK) {
        return NGX_ERROR;
    }

    md = ngx_queues_base_fingerprint_md;

    if (EVP_DigestUpdate(md, lane->data, lane->len) != 1
        || EVP_DigestUpdate(md, "\n", 1) != 1
        || EVP_DigestUpdate(md, id->data, id->len) != 1
        || EVP_DigestFinal_ex(md, hash, NULL) != 1)
    {
        return NGX_ERROR;
    }

    ngx_memcpy(p, hash, NGX_QUEUES_BASE_FINGERPRINT);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_fingerprint_init(void)
{
    EVP_MD_CTX  *md;

    md = ngx_queues_base_fingerprint_md;

    if (md) {
        return EVP_DigestInit_ex(md, NULL, NULL) == 1 ? NGX_OK : NGX_ERROR;
    }

    md = EVP_MD_CTX_new();
    if (md == NULL) {
        return NGX_ERROR;
    }

    if (EVP_DigestInit_ex(md, EVP_sha1(), NULL) != 1) {
        EVP_MD_CTX_free(md);
        return NGX_ERROR;
    }

    ngx_queues_base_fingerprint_md = md;

    return NGX_OK;
}
