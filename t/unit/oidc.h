
/*
 * What the tests of OIDC share: keys in PEM, and the parts of a token.
 */

#ifndef _UNIT_OIDC_H_INCLUDED_
#define _UNIT_OIDC_H_INCLUDED_


#include "unit.h"
#include "ngx_queues_base_oidc.h"
#include "ngx_queues_base_text.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>


#define NOW      1700000000
#define ISSUER   "https://issuer.example"


typedef enum {
    UNIT_PKCS8 = 0,
    UNIT_PKCS1,
    UNIT_ENCRYPTED,
    UNIT_ENCRYPTED_PKCS1,
    UNIT_PUBLIC
} unit_form_e;


static ngx_inline ngx_str_t
unit_text(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return s;
}


/* a key as PEM, cut bytes shorter */

static ngx_inline ngx_str_t
unit_pem(EVP_PKEY *pkey, unit_form_e form, size_t cut)
{
    BIO        *bio;
    char       *data;
    ngx_str_t   text, copy;

    bio = BIO_new(BIO_s_mem());

    switch (form) {

    case UNIT_PKCS8:
        PEM_write_bio_PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL);
        break;

    case UNIT_PKCS1:
        PEM_write_bio_PrivateKey_traditional(bio, pkey, NULL, NULL, 0, NULL,
                                             NULL);
        break;

    case UNIT_ENCRYPTED:
        PEM_write_bio_PKCS8PrivateKey(bio, pkey, EVP_aes_128_cbc(),
                                      (char *) "secret", 6, NULL, NULL);
        break;

    case UNIT_ENCRYPTED_PKCS1:
        PEM_write_bio_PrivateKey_traditional(bio, pkey, EVP_aes_128_cbc(),
                                             (u_char *) "secret", 6, NULL,
                                             NULL);
        break;

    case UNIT_PUBLIC:
        PEM_write_bio_PUBKEY(bio, pkey);
    }

    text.len = BIO_get_mem_data(bio, &data) - cut;
    text.data = (u_char *) data;

    copy = unit_copy(&text);

    BIO_free(bio);

    return copy;
}


/* whether the text is refused in these words, NULL: taken; it is freed */

static ngx_inline void
unit_add(const char *what, ngx_queues_base_oidc_keys_t *keys, ngx_str_t text,
    const char *expected, ngx_uint_t expected_number)
{
    ngx_int_t    rc;
    ngx_uint_t   number, ok;
    const char  *error;

    rc = ngx_queues_base_oidc_keys_add(keys, &text, &error, &number);

    if (expected) {
        ok = rc == NGX_ERROR
             && strncmp(error, expected, strlen(expected)) == 0
             && number == expected_number;

        if (rc == NGX_ERROR && !ok) {
            printf("# key %u %s\n", (unsigned) number, error);
        }

    } else {
        ok = rc == NGX_OK;
    }

    ok &= ERR_peek_error() == 0;

    unit_ok(ok, what, NULL);

    free(text.data);
}


static ngx_inline ngx_queues_base_oidc_keys_t *
unit_keys(EVP_PKEY *first, EVP_PKEY *second)
{
    ngx_queues_base_oidc_keys_t  *keys;

    keys = ngx_queues_base_oidc_keys_create();

    unit_add("the first key", keys, unit_pem(first, UNIT_PKCS8, 0), NULL, 0);

    if (second) {
        unit_add("the second key", keys, unit_pem(second, UNIT_PKCS8, 0),
                 NULL, 0);
    }

    return keys;
}


/* the n-th part of a token, decoded and terminated */

static ngx_inline size_t
unit_part(ngx_str_t *token, ngx_uint_t n, char *text)
{
    size_t     len;
    ngx_str_t  rest, part;

    rest = *token;

    do {
        if (ngx_queues_base_word(&rest, '.', &part) != NGX_OK) {
            return 0;
        }
    } while (n--);

    if (ngx_queues_base_base64url_parse(&part, (u_char *) text, &len)
        != NGX_OK)
    {
        return 0;
    }

    text[len] = '\0';

    return len;
}


#endif /* _UNIT_OIDC_H_INCLUDED_ */
