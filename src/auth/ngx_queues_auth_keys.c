
#include "ngx_queues_auth_keys.h"


#define NGX_QUEUES_AUTH_FILE_MAX    (16 * 1024 * 1024)


typedef struct {
    u_char                         hash[NGX_QUEUES_BASE_KEYS_HASH_SIZE];
    ngx_queues_auth_principal_t    principal;
    ngx_queues_base_keys_grant_t   grant;
} ngx_queues_auth_key_t;


struct ngx_queues_auth_keys_s {
    ngx_array_t                    keys;     /* ngx_queues_auth_key_t, sorted
                                                by hash */
};


static ngx_int_t ngx_queues_auth_add(ngx_conf_t *cf, ngx_array_t *keys,
    ngx_str_t *file, ngx_uint_t lineno, ngx_str_t *line);
static ngx_int_t ngx_queues_auth_unique(ngx_conf_t *cf,
    ngx_queues_auth_keys_t *keys, ngx_str_t *file);
static int ngx_libc_cdecl ngx_queues_auth_compare(const void *one,
    const void *two);


ngx_queues_auth_keys_t *
ngx_queues_auth_keys_load(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_str_t                text, line;
    ngx_uint_t               i, lineno;
    ngx_queues_auth_key_t   *key;
    ngx_queues_auth_keys_t  *keys;

    if (ngx_queues_conf_read_file(cf, "queues_api_keys", &qmcf->api_keys_file,
                                  NGX_QUEUES_AUTH_FILE_MAX, &text)
        != NGX_OK)
    {
        return NULL;
    }

    keys = ngx_pcalloc(cf->pool, sizeof(ngx_queues_auth_keys_t));
    if (keys == NULL) {
        return NULL;
    }

    if (ngx_array_init(&keys->keys, cf->pool, 16,
                       sizeof(ngx_queues_auth_key_t))
        != NGX_OK)
    {
        return NULL;
    }

    for (lineno = 1;
         ngx_queues_conf_next_line(&text, &line) == NGX_OK;
         lineno++)
    {
        if (ngx_queues_auth_add(cf, &keys->keys, &qmcf->api_keys_file, lineno,
                                &line)
            != NGX_OK)
        {
            return NULL;
        }
    }

    ngx_qsort(keys->keys.elts, keys->keys.nelts,
              sizeof(ngx_queues_auth_key_t), ngx_queues_auth_compare);

    if (ngx_queues_auth_unique(cf, keys, &qmcf->api_keys_file) != NGX_OK) {
        return NULL;
    }

    /* where the keys are now they stay */

    key = keys->keys.elts;

    for (i = 0; i < keys->keys.nelts; i++) {
        key[i].principal.words = 0;
        key[i].principal.ngrants = 1;
        key[i].principal.grants = &key[i].grant;
    }

    return keys;
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
    key->grant = parsed.grant;

    return NGX_OK;
}


static int ngx_libc_cdecl
ngx_queues_auth_compare(const void *one, const void *two)
{
    const ngx_queues_auth_key_t *a = one;
    const ngx_queues_auth_key_t *b = two;

    return ngx_memcmp(a->hash, b->hash, NGX_QUEUES_BASE_KEYS_HASH_SIZE);
}


/*
 * What is compared is the hash of what the client sent, of which it cannot
 * choose the first bytes: how long the search takes tells nothing of a key.
 */

ngx_queues_auth_principal_t *
ngx_queues_auth_keys_find(ngx_queues_auth_keys_t *keys, u_char *hash)
{
    int                     rc;
    ngx_uint_t              low, high, middle;
    ngx_queues_auth_key_t  *key;

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
