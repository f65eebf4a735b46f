
#include "ngx_queues_auth.h"
#include "ngx_queues_auth_jwt.h"
#include "ngx_queues_auth_keys.h"
#include "../base/ngx_queues_base_jwt.h"

#include <openssl/evp.h>


typedef struct {
    ngx_queues_auth_keys_t        *keys;     /* or NULL, as the next */
    ngx_queues_auth_jwt_t         *jwt;

    /* SHA-256 at its start: to look the algorithm up each time costs more
       than to hash */
    EVP_MD_CTX                    *start;
    EVP_MD_CTX                    *md;
} ngx_queues_auth_known_t;


typedef struct {
    ngx_uint_t                     word;
    ngx_str_t                      permissions;
} ngx_queues_auth_word_t;


static void ngx_queues_auth_cleanup(void *data);
static ngx_int_t ngx_queues_auth_token(ngx_http_request_t *r,
    ngx_uint_t loose, ngx_str_t *token);
static ngx_uint_t ngx_queues_auth_is_jwt(ngx_str_t *token);


static const ngx_queues_auth_word_t  ngx_queues_auth_words[] = {
    { NGX_QUEUES_BASE_JWT_ADMIN, ngx_string("queen.*") },
    { NGX_QUEUES_BASE_JWT_READ_WRITE,
      ngx_string("queen.push,queen.read.*,queen.use.*") },
    { NGX_QUEUES_BASE_JWT_READ_ONLY, ngx_string("queen.read.*") },
    { NGX_QUEUES_BASE_JWT_WRITE_ONLY, ngx_string("queen.push") },
    { 0, ngx_null_string }
};


ngx_int_t
ngx_queues_auth_load(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_pool_cleanup_t       *cln;
    ngx_queues_auth_known_t  *known;

    if (qmcf->api_keys_file.len == 0 && qmcf->jwt.key_files->nelts == 0) {
        return NGX_OK;
    }

    known = ngx_pcalloc(cf->pool, sizeof(ngx_queues_auth_known_t));
    if (known == NULL) {
        return NGX_ERROR;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_queues_auth_cleanup;
    cln->data = known;

    known->start = EVP_MD_CTX_new();
    known->md = EVP_MD_CTX_new();

    if (known->start == NULL
        || known->md == NULL
        || EVP_DigestInit_ex(known->start, EVP_sha256(), NULL) != 1)
    {
        return NGX_ERROR;
    }

    if (qmcf->api_keys_file.len) {
        known->keys = ngx_queues_auth_keys_load(cf, qmcf);

        if (known->keys == NULL) {
            return NGX_ERROR;
        }
    }

    if (qmcf->jwt.key_files->nelts) {
        known->jwt = ngx_queues_auth_jwt_load(cf, qmcf);

        if (known->jwt == NULL) {
            return NGX_ERROR;
        }
    }

    qmcf->credentials = known;

    return NGX_OK;
}


static void
ngx_queues_auth_cleanup(void *data)
{
    ngx_queues_auth_known_t *known = data;

    EVP_MD_CTX_free(known->start);
    EVP_MD_CTX_free(known->md);
}


ngx_int_t
ngx_queues_auth_bearer(ngx_queues_conf_main_t *qmcf, ngx_http_request_t *r,
    ngx_pool_t *pool, ngx_uint_t loose,
    ngx_queues_auth_principal_t **principal, const char **refused)
{
    u_char                    hash[EVP_MAX_MD_SIZE];
    ngx_str_t                 token;
    ngx_queues_auth_known_t  *known;

    known = qmcf->credentials;

    if (known == NULL || ngx_queues_auth_token(r, loose, &token) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (EVP_MD_CTX_copy_ex(known->md, known->start) != 1
        || EVP_DigestUpdate(known->md, token.data, token.len) != 1
        || EVP_DigestFinal_ex(known->md, hash, NULL) != 1)
    {
        return NGX_ERROR;
    }

    if (known->keys) {
        *principal = ngx_queues_auth_keys_find(known->keys, hash);

        if (*principal) {
            return NGX_OK;
        }
    }

    if (known->jwt == NULL || !ngx_queues_auth_is_jwt(&token)) {
        return NGX_DECLINED;
    }

    return ngx_queues_auth_jwt_check(known->jwt, &token, hash, loose, pool,
                                     r->connection->log, principal, refused);
}


static ngx_int_t
ngx_queues_auth_token(ngx_http_request_t *r, ngx_uint_t loose,
    ngx_str_t *token)
{
    ngx_table_elt_t  *h;

    static ngx_str_t  scheme = ngx_string("Bearer ");

    h = r->headers_in.authorization;

    if (h == NULL) {
        return NGX_DECLINED;
    }

    *token = h->value;

    if (token->len > scheme.len
        && ngx_strncasecmp(token->data, scheme.data, scheme.len) == 0)
    {
        token->data += scheme.len;
        token->len -= scheme.len;

    } else if (!loose) {
        return NGX_DECLINED;
    }

    while (token->len && *token->data == ' ') {
        token->data++;
        token->len--;
    }

    if (token->len == 0 || token->len > NGX_QUEUES_BASE_JWT_MAX) {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_auth_is_jwt(ngx_str_t *token)
{
    size_t      i;
    ngx_uint_t  dots;

    dots = 0;

    for (i = 0; i < token->len; i++) {
        dots += (token->data[i] == '.');
    }

    return dots == 2;
}


ngx_queues_base_glob_scope_e
ngx_queues_auth_scope(ngx_queues_auth_principal_t *principal,
    ngx_str_t *permission, ngx_str_t *prefix)
{
    ngx_uint_t                     i;
    ngx_queues_base_glob_scope_e   scope, best;
    ngx_queues_base_keys_grant_t  *grant;

    best = NGX_QUEUES_BASE_GLOB_NONE;

    for (i = 0; i < principal->ngrants; i++) {
        grant = &principal->grants[i];

        if (ngx_queues_base_glob_list(&grant->permissions, permission)) {
            scope = ngx_queues_base_glob_scope(&grant->resources, prefix);
            best = ngx_max(best, scope);
        }
    }

    return best;
}


ngx_uint_t
ngx_queues_auth_permits(ngx_queues_auth_principal_t *principal,
    ngx_str_t *permission, ngx_str_t *resource)
{
    ngx_uint_t                     i;
    ngx_queues_base_keys_grant_t  *grant;

    for (i = 0; i < principal->ngrants; i++) {
        grant = &principal->grants[i];

        if (ngx_queues_base_glob_list(&grant->permissions, permission)
            && ngx_queues_base_glob_list(&grant->resources, resource))
        {
            return 1;
        }
    }

    return 0;
}


ngx_uint_t
ngx_queues_auth_word(ngx_queues_auth_principal_t *principal,
    ngx_str_t *permission)
{
    ngx_str_t                      list;
    const ngx_queues_auth_word_t  *w;

    for (w = ngx_queues_auth_words; w->word; w++) {
        list = w->permissions;

        if ((principal->words & w->word)
            && ngx_queues_base_glob_list(&list, permission))
        {
            return 1;
        }
    }

    return 0;
}
