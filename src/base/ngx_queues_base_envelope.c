
#include "ngx_queues_base_envelope.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>


#define NGX_QUEUES_BASE_ENVELOPE_SALT  16
#define NGX_QUEUES_BASE_ENVELOPE_IV                                           \
    (NGX_QUEUES_BASE_ENVELOPE_SALT + NGX_QUEUES_BASE_SEAL_NONCE_SIZE)

#define NGX_QUEUES_BASE_ENVELOPE_IV_LEN   40
#define NGX_QUEUES_BASE_ENVELOPE_TAG_LEN  24


static u_char *ngx_queues_base_envelope_print(u_char *p, ngx_str_t *name,
    u_char *bytes, size_t len);
static ngx_int_t ngx_queues_base_envelope_take(ngx_str_t *text,
    ngx_str_t *name, size_t len, u_char *bytes, size_t *n);


/* what is before each text, and after the last one */

static ngx_str_t  ngx_queues_base_envelope_names[] = {
    ngx_string("{\"encrypted\":\""),
    ngx_string("\",\"iv\":\""),
    ngx_string("\",\"authTag\":\""),
    ngx_string("\"}")
};


/* the bytes are put where their base64 ends, which is not behind them */

u_char *
ngx_queues_base_envelope_seal(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, ngx_str_t *plain, u_char *p)
{
    u_char     *sealed;
    u_char      iv[NGX_QUEUES_BASE_ENVELOPE_IV];
    u_char      tag[NGX_QUEUES_BASE_SEAL_TAG_SIZE];
    ngx_str_t   salt, *name;

    if (plain->len > NGX_QUEUES_BASE_ENVELOPE_MAX
        || RAND_bytes(iv, sizeof(iv)) != 1)
    {
        return NULL;
    }

    salt.data = iv;
    salt.len = NGX_QUEUES_BASE_ENVELOPE_SALT;

    name = ngx_queues_base_envelope_names;

    sealed = p + ngx_queues_base_envelope_length(plain->len) - plain->len;

    if (ngx_queues_base_seal_salted(key, &salt, context, iv + salt.len, plain,
                                    sealed, tag, 1)
        != NGX_OK)
    {
        return NULL;
    }

    p = ngx_queues_base_envelope_print(p, name++, sealed, plain->len);
    p = ngx_queues_base_envelope_print(p, name++, iv, sizeof(iv));
    p = ngx_queues_base_envelope_print(p, name++, tag, sizeof(tag));

    return ngx_queues_base_envelope_print(p, name, NULL, 0);
}


ngx_int_t
ngx_queues_base_envelope_open(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, ngx_str_t *text, ngx_str_t *plain)
{
    u_char      iv[NGX_QUEUES_BASE_ENVELOPE_IV + 2];
    u_char      tag[NGX_QUEUES_BASE_SEAL_TAG_SIZE + 2];
    size_t      n;
    ngx_str_t   rest, salt, src, *name;

    if (text->len < NGX_QUEUES_BASE_ENVELOPE_OVERHEAD - 1) {
        return NGX_ERROR;
    }

    rest = *text;
    name = ngx_queues_base_envelope_names;

    n = text->len - (NGX_QUEUES_BASE_ENVELOPE_OVERHEAD - 1);

    if (ngx_queues_base_envelope_take(&rest, name++, n, plain->data, &src.len)
        != NGX_OK
        || ngx_queues_base_envelope_take(&rest, name++,
                                         NGX_QUEUES_BASE_ENVELOPE_IV_LEN, iv,
                                         &n)
           != NGX_OK
        || n != NGX_QUEUES_BASE_ENVELOPE_IV
        || ngx_queues_base_envelope_take(&rest, name++,
                                         NGX_QUEUES_BASE_ENVELOPE_TAG_LEN,
                                         tag, &n)
           != NGX_OK
        || n != NGX_QUEUES_BASE_SEAL_TAG_SIZE
        || rest.len != name->len
        || ngx_memcmp(rest.data, name->data, name->len) != 0)
    {
        return NGX_ERROR;
    }

    salt.data = iv;
    salt.len = NGX_QUEUES_BASE_ENVELOPE_SALT;

    src.data = plain->data;
    plain->len = src.len;

    if (ngx_queues_base_seal_salted(key, &salt, context, iv + salt.len, &src,
                                    plain->data, tag, 0)
        == NGX_OK)
    {
        return NGX_OK;
    }

    OPENSSL_cleanse(plain->data, plain->len);

    return NGX_ERROR;
}


static u_char *
ngx_queues_base_envelope_print(u_char *p, ngx_str_t *name, u_char *bytes,
    size_t len)
{
    p = ngx_cpymem(p, name->data, name->len);

    return len ? p + EVP_EncodeBlock(p, bytes, (int) len) : p;
}


/* len characters after a name, 0 to 2 bytes less than 3 for each 4 of them */

static ngx_int_t
ngx_queues_base_envelope_take(ngx_str_t *text, ngx_str_t *name, size_t len,
    u_char *bytes, size_t *n)
{
    u_char  *p;

    if (text->len < name->len + len
        || len % 4 != 0
        || len > INT_MAX
        || ngx_memcmp(text->data, name->data, name->len) != 0)
    {
        return NGX_ERROR;
    }

    p = text->data + name->len;

    text->data = p + len;
    text->len -= name->len + len;

    *n = len / 4 * 3;

    if (len == 0) {
        return NGX_OK;
    }

    /* for OpenSSL what pads is zero, and blanks at the ends are nothing */

    if (EVP_DecodeBlock(bytes, p, (int) len) != (int) *n) {
        return NGX_ERROR;
    }

    *n -= (p[len - 1] == '=') + (p[len - 2] == '=');

    return NGX_OK;
}
