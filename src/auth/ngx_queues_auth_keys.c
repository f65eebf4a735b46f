
#include "ngx_queues_auth.h"
#include "../base/ngx_queues_base_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>


#define NGX_QUEUES_AUTH_FILE_MAX    (16 * 1024 * 1024)
#define NGX_QUEUES_AUTH_TOKEN_MAX   8192


typedef struct {
    u_char                         hash[NGX_QUEUES_BASE_KEYS_HASH_SIZE];
    ngx_queues_auth_principal_t    principal;
} ngx_queues_auth_key_t;


/* sorted by hash */

typedef struct {
    ngx_array_t                    keys;     /* ngx_queues_auth_key_t */

    /* SHA-256 at its start: to look the algorithm up each time costs more
       than to hash */
    EVP_MD_CTX                    *start;
    EVP_MD_CTX                    *md;
} ngx_queues_auth_keys_t;


static ngx_int_t ngx_queues_auth_add(ngx_conf_t *cf, ngx_array_t *keys,
    ngx_str_t *file, ngx_uint_t lineno, ngx_str_t *line);
static ngx_int_t ngx_queues_auth_unique(ngx_conf_t *cf,
    ngx_queues_auth_keys_t *keys, ngx_str_t *file);
static void ngx_queues_auth_cleanup(void *data);
static int ngx_libc_cdecl ngx_queues_auth_compare(const void *one,
    const void *two);
static ngx_queues_auth_principal_t *ngx_queues_auth_find(
    ngx_queues_auth_keys_t *keys, ngx_str_t *token);


ngx_int_t
ngx_queues_auth_load(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_str_t                text, line;
    ngx_uint_t               lineno;
    ngx_pool_cleanup_t      *cln;
    ngx_queues_auth_keys_t  *keys;

    if (qmcf->api_keys_file.len == 0) {
        return NGX_OK;
    }

    if (ngx_queues_conf_read_file(cf, "queues_api_keys", &qmcf->api_keys_file,
                                  NGX_QUEUES_AUTH_FILE_MAX, &text)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    keys = ngx_pcalloc(cf->pool, sizeof(ngx_queues_auth_keys_t));
    if (keys == NULL) {
        return NGX_ERROR;
    }

    if (ngx_array_init(&keys->keys, cf->pool, 16,
                       sizeof(ngx_queues_auth_key_t))
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_queues_auth_cleanup;
    cln->data = keys;

    keys->start = EVP_MD_CTX_new();
    keys->md = EVP_MD_CTX_new();

    if (keys->start == NULL
        || keys->md == NULL
        || EVP_DigestInit_ex(keys->start, EVP_sha256(), NULL) != 1)
    {
        return NGX_ERROR;
    }

    for (lineno = 1;
         ngx_queues_conf_next_line(&text, &line) == NGX_OK;
         lineno++)
    {
        if (ngx_queues_auth_add(cf, &keys->keys, &qmcf->api_keys_file, lineno,
                                &line)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    ngx_qsort(keys->keys.elts, keys->keys.nelts,
              sizeof(ngx_queues_auth_key_t), ngx_queues_auth_compare);

    qmcf->api_keys = keys;

    return ngx_queues_auth_unique(cf, keys, &qmcf->api_keys_file);
}


/* Of two lines for one key only one would count, and nobody knew which. */

static ngx_int_t
ngx_queues_auth_unique(ngx_conf_t *cf, ngx_queues_auth_keys_t *keys,
    ngx_str_t *file)
{
    ngx_uint_t              i;
    ngx_queues_auth_key_t  *key;

    key = keys->keys.elts;

    for (i = 1; i < keys->keys.nelts; i++) {
        if (ngx_queues_auth_compare(&key[i - 1], &key[i]) == 0) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"queues_api_keys\": \"%V\" and \"%V\" have the "
                          "same key in %V: make one line of them, with all "
                          "permissions and resources",
                          &key[i - 1].principal.name, &key[i].principal.name,
                          file);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_auth_add(ngx_conf_t *cf, ngx_array_t *keys, ngx_str_t *file,
    ngx_uint_t lineno, ngx_str_t *line)
{
    ngx_int_t                     rc;
    const char                   *error;
    ngx_queues_auth_key_t        *key;
    ngx_queues_base_keys_line_t   parsed;

    rc = ngx_queues_base_keys_parse(line, &parsed, &error);

    if (rc == NGX_DECLINED) {
        return NGX_OK;
    }

    if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_api_keys\": %s in %V:%ui; a line is "
                      "\"SHA256-HEX PRINCIPAL PERMISSIONS RESOURCES\"",
                      error, file, lineno);
        return NGX_ERROR;
    }

    key = ngx_array_push(keys);
    if (key == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(key->hash, parsed.hash, NGX_QUEUES_BASE_KEYS_HASH_SIZE);

    key->principal.name = parsed.principal;
    key->principal.permissions = parsed.permissions;
    key->principal.resources = parsed.resources;

    return NGX_OK;
}


static void
ngx_queues_auth_cleanup(void *data)
{
    ngx_queues_auth_keys_t *keys = data;

    EVP_MD_CTX_free(keys->start);
    EVP_MD_CTX_free(keys->md);
}


static int ngx_libc_cdecl
ngx_queues_auth_compare(const void *one, const void *two)
{
    const ngx_queues_auth_key_t *a = one;
    const ngx_queues_auth_key_t *b = two;

    return ngx_memcmp(a->hash, b->hash, NGX_QUEUES_BASE_KEYS_HASH_SIZE);
}


ngx_queues_auth_principal_t *
ngx_queues_auth_bearer(ngx_queues_conf_main_t *qmcf, ngx_http_request_t *r)
{
    ngx_str_t         token;
    ngx_table_elt_t  *h;

    static ngx_str_t  scheme = ngx_string("Bearer ");

    h = r->headers_in.authorization;

    if (h == NULL
        || qmcf->api_keys == NULL
        || h->value.len <= scheme.len
        || h->value.len > NGX_QUEUES_AUTH_TOKEN_MAX
        || ngx_strncasecmp(h->value.data, scheme.data, scheme.len) != 0)
    {
        return NULL;
    }

    token.data = h->value.data + scheme.len;
    token.len = h->value.len - scheme.len;

    while (token.len && *token.data == ' ') {
        token.data++;
        token.len--;
    }

    return ngx_queues_auth_find(qmcf->api_keys, &token);
}


/*
 * What is compared is the hash of what the client sent, of which it cannot
 * choose the first bytes: how long the search takes tells nothing of a key.
 */

static ngx_queues_auth_principal_t *
ngx_queues_auth_find(ngx_queues_auth_keys_t *keys, ngx_str_t *token)
{
    int                     rc;
    u_char                  hash[EVP_MAX_MD_SIZE];
    ngx_uint_t              low, high, middle;
    ngx_queues_auth_key_t  *key;

    if (token->len == 0
        || EVP_MD_CTX_copy_ex(keys->md, keys->start) != 1
        || EVP_DigestUpdate(keys->md, token->data, token->len) != 1
        || EVP_DigestFinal_ex(keys->md, hash, NULL) != 1)
    {
        return NULL;
    }

    key = keys->keys.elts;
    low = 0;
    high = keys->keys.nelts;

    while (low < high) {
        middle = (low + high) / 2;

        rc = ngx_memcmp(hash, key[middle].hash,
                        NGX_QUEUES_BASE_KEYS_HASH_SIZE);

        if (rc == 0) {
            return &key[middle].principal;
        }

        if (rc < 0) {
            high = middle;

        } else {
            low = middle + 1;
        }
    }

    return NULL;
}
