
/*
 * JSON Web Key Sets (RFC 7517).  Keys that are for something else, of another
 * kind or algorithm, are passed over, as RFC 7517, 5 wants it; one that is
 * ours and wrong is an error, which somebody should know of.
 */

#include "ngx_queues_base_jwt_parts.h"
#include "ngx_queues_base_text.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/param_build.h>


#define NGX_QUEUES_BASE_JWT_POINT  32       /* bytes of a coordinate */


/* a member of a key, from base64url */

typedef struct {
    u_char                        *data;
    size_t                         len;
} ngx_queues_base_jwt_bytes_t;


static ngx_int_t ngx_queues_base_jwt_jwk(ngx_queues_base_jwt_keys_t *keys,
    ngx_queues_base_json_value_t *value, const char **error);
static ngx_uint_t ngx_queues_base_jwt_jwk_kind(
    ngx_queues_base_jwt_object_t *jwk, ngx_queues_base_jwt_kind_e *kind);
static ngx_uint_t ngx_queues_base_jwt_jwk_alg(
    ngx_queues_base_jwt_object_t *jwk, ngx_queues_base_jwt_kind_e kind,
    const ngx_queues_base_jwt_alg_t **alg);
static ngx_uint_t ngx_queues_base_jwt_jwk_verifies(
    ngx_queues_base_jwt_object_t *jwk);
static ngx_int_t ngx_queues_base_jwt_jwk_name(ngx_queues_base_jwt_key_t *key,
    ngx_queues_base_jwt_object_t *jwk, const char **error);
static ngx_int_t ngx_queues_base_jwt_jwk_oct(ngx_queues_base_jwt_key_t *key,
    ngx_queues_base_jwt_object_t *jwk, const char **error);
static EVP_PKEY *ngx_queues_base_jwt_jwk_rsa(
    ngx_queues_base_jwt_object_t *jwk);
static EVP_PKEY *ngx_queues_base_jwt_jwk_ec(ngx_queues_base_jwt_object_t *jwk);
static EVP_PKEY *ngx_queues_base_jwt_jwk_ed(ngx_queues_base_jwt_object_t *jwk);
static EVP_PKEY *ngx_queues_base_jwt_jwk_build(const char *type,
    OSSL_PARAM_BLD *build);
static ngx_queues_base_json_value_t *ngx_queues_base_jwt_jwk_string(
    ngx_queues_base_jwt_object_t *jwk, const char *name);
static ngx_uint_t ngx_queues_base_jwt_jwk_is(
    ngx_queues_base_json_value_t *value, const char *text);
static ngx_int_t ngx_queues_base_jwt_jwk_bytes(
    ngx_queues_base_jwt_object_t *jwk, const char *name,
    ngx_queues_base_jwt_bytes_t *bytes);
static void ngx_queues_base_jwt_jwk_wipe(ngx_queues_base_jwt_bytes_t *bytes);


ngx_int_t
ngx_queues_base_jwt_jwks(ngx_queues_base_jwt_keys_t *keys, ngx_str_t *text,
    const char **error, ngx_uint_t *number)
{
    ngx_str_t                      name;
    ngx_uint_t                     before;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   set, one, *list;
    ngx_queues_base_jwt_object_t   object;

    ngx_str_set(&name, "keys");
    before = keys->nkeys;

    if (ngx_queues_base_json_parse(text, &set, error) != NGX_OK
        || set.type != NGX_QUEUES_BASE_JSON_OBJECT)
    {
        *error = "is not JSON, though it starts with \"{\" as a JWKS does";
        return NGX_ERROR;
    }

    if (ngx_queues_base_jwt_members(&set, &object, error) != NGX_OK) {
        return NGX_ERROR;
    }

    list = ngx_queues_base_jwt_member(&object, &name);

    if (list == NULL || list->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        *error = "is not a JWKS: write {\"keys\": [...]}";
        return NGX_ERROR;
    }

    ngx_queues_base_json_open(&it, list);

    while (ngx_queues_base_json_next(&it, NULL, &one) == NGX_OK) {
        ++*number;

        if (ngx_queues_base_jwt_jwk(keys, &one, error) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    *number = 0;

    if (keys->nkeys == before) {
        *error = "has no key that verifies HS256, HS384, HS512, RS256, RS384, "
                 "RS512, ES256 or EdDSA";
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_jwt_jwk(ngx_queues_base_jwt_keys_t *keys,
    ngx_queues_base_json_value_t *value, const char **error)
{
    EVP_PKEY                         *pkey;
    ngx_queues_base_jwt_key_t        *key;
    ngx_queues_base_jwt_kind_e        kind;
    ngx_queues_base_jwt_object_t      jwk;
    const ngx_queues_base_jwt_alg_t  *alg;

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        *error = "is not an object";
        return NGX_ERROR;
    }

    if (ngx_queues_base_jwt_members(value, &jwk, error) != NGX_OK) {
        return NGX_ERROR;
    }

    if (!ngx_queues_base_jwt_jwk_kind(&jwk, &kind)
        || !ngx_queues_base_jwt_jwk_verifies(&jwk)
        || !ngx_queues_base_jwt_jwk_alg(&jwk, kind, &alg))
    {
        return NGX_OK;
    }

    key = ngx_queues_base_jwt_key_push(keys, error);

    if (key == NULL
        || ngx_queues_base_jwt_jwk_name(key, &jwk, error) != NGX_OK)
    {
        return NGX_ERROR;
    }

    key->alg = alg;

    if (kind == NGX_QUEUES_BASE_JWT_HMAC) {
        return ngx_queues_base_jwt_jwk_oct(key, &jwk, error);
    }

    if (ngx_queues_base_jwt_jwk_string(&jwk, "d")) {
        *error = "has its private part, \"d\": leave it out";
        return NGX_ERROR;
    }

    if (kind == NGX_QUEUES_BASE_JWT_RSA) {
        pkey = ngx_queues_base_jwt_jwk_rsa(&jwk);

    } else if (kind == NGX_QUEUES_BASE_JWT_EC) {
        pkey = ngx_queues_base_jwt_jwk_ec(&jwk);

    } else {
        pkey = ngx_queues_base_jwt_jwk_ed(&jwk);
    }

    if (pkey == NULL) {
        *error = "is not a public key of its \"kty\"";
        return NGX_ERROR;
    }

    return ngx_queues_base_jwt_key_set_public(key, pkey, error);
}


/* 0 for a kind or a curve that is not supported */

static ngx_uint_t
ngx_queues_base_jwt_jwk_kind(ngx_queues_base_jwt_object_t *jwk,
    ngx_queues_base_jwt_kind_e *kind)
{
    ngx_queues_base_json_value_t  *kty, *crv;

    kty = ngx_queues_base_jwt_jwk_string(jwk, "kty");
    crv = ngx_queues_base_jwt_jwk_string(jwk, "crv");

    if (ngx_queues_base_jwt_jwk_is(kty, "oct")) {
        *kind = NGX_QUEUES_BASE_JWT_HMAC;
        return 1;
    }

    if (ngx_queues_base_jwt_jwk_is(kty, "RSA")) {
        *kind = NGX_QUEUES_BASE_JWT_RSA;
        return 1;
    }

    if (ngx_queues_base_jwt_jwk_is(kty, "EC")) {
        *kind = NGX_QUEUES_BASE_JWT_EC;
        return ngx_queues_base_jwt_jwk_is(crv, "P-256");
    }

    if (ngx_queues_base_jwt_jwk_is(kty, "OKP")) {
        *kind = NGX_QUEUES_BASE_JWT_ED;
        return ngx_queues_base_jwt_jwk_is(crv, "Ed25519");
    }

    return 0;
}


/* *alg is the only one that the key is for, or NULL; 0 for one that is not
   supported or of another kind */

static ngx_uint_t
ngx_queues_base_jwt_jwk_alg(ngx_queues_base_jwt_object_t *jwk,
    ngx_queues_base_jwt_kind_e kind, const ngx_queues_base_jwt_alg_t **alg)
{
    ngx_str_t                      name;
    ngx_queues_base_json_value_t  *value;

    ngx_str_set(&name, "alg");
    value = ngx_queues_base_jwt_member(jwk, &name);

    *alg = NULL;

    if (value == NULL) {
        return 1;
    }

    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {
        *alg = ngx_queues_base_jwt_alg(&value->raw);
    }

    return *alg && (*alg)->kind == kind;
}


/* "use" and "key_ops" say what a key is for; without them it is for all */

static ngx_uint_t
ngx_queues_base_jwt_jwk_verifies(ngx_queues_base_jwt_object_t *jwk)
{
    ngx_str_t                      name;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t  *value, one;

    ngx_str_set(&name, "use");
    value = ngx_queues_base_jwt_member(jwk, &name);

    if (value && !ngx_queues_base_jwt_jwk_is(value, "sig")) {
        return 0;
    }

    ngx_str_set(&name, "key_ops");
    value = ngx_queues_base_jwt_member(jwk, &name);

    if (value == NULL) {
        return 1;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        return 0;
    }

    ngx_queues_base_json_open(&it, value);

    while (ngx_queues_base_json_next(&it, NULL, &one) == NGX_OK) {
        if (ngx_queues_base_jwt_jwk_is(&one, "verify")) {
            return 1;
        }
    }

    return 0;
}


static ngx_int_t
ngx_queues_base_jwt_jwk_name(ngx_queues_base_jwt_key_t *key,
    ngx_queues_base_jwt_object_t *jwk, const char **error)
{
    ngx_str_t                      name;
    ngx_queues_base_json_value_t  *value;

    ngx_str_set(&name, "kid");
    value = ngx_queues_base_jwt_member(jwk, &name);

    if (value == NULL) {
        return NGX_OK;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
        *error = "has a \"kid\" that is not a string";
        return NGX_ERROR;
    }

    /* a name, even an empty one, has data */

    key->kid.data = malloc(value->raw.len + 1);
    if (key->kid.data == NULL) {
        *error = "is not read: there is no memory";
        return NGX_ERROR;
    }

    ngx_memcpy(key->kid.data, value->raw.data, value->raw.len);
    key->kid.len = value->raw.len;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_jwt_jwk_oct(ngx_queues_base_jwt_key_t *key,
    ngx_queues_base_jwt_object_t *jwk, const char **error)
{
    ngx_int_t                    rc;
    ngx_str_t                    secret;
    ngx_queues_base_jwt_bytes_t  k;

    if (ngx_queues_base_jwt_jwk_bytes(jwk, "k", &k) != NGX_OK) {
        *error = "has no \"k\" in base64url";
        return NGX_ERROR;
    }

    secret.data = k.data;
    secret.len = k.len;

    rc = ngx_queues_base_jwt_key_set_secret(key, &secret, error);

    ngx_queues_base_jwt_jwk_wipe(&k);

    return rc;
}


static EVP_PKEY *
ngx_queues_base_jwt_jwk_rsa(ngx_queues_base_jwt_object_t *jwk)
{
    BIGNUM                       *bn_n, *bn_e;
    EVP_PKEY                     *pkey;
    OSSL_PARAM_BLD               *build;
    ngx_queues_base_jwt_bytes_t   n, e;

    pkey = NULL;
    build = OSSL_PARAM_BLD_new();
    bn_n = NULL;
    bn_e = NULL;

    n.data = NULL;
    e.data = NULL;

    if (ngx_queues_base_jwt_jwk_bytes(jwk, "n", &n) != NGX_OK
        || ngx_queues_base_jwt_jwk_bytes(jwk, "e", &e) != NGX_OK)
    {
        goto done;
    }

    bn_n = BN_bin2bn(n.data, (int) n.len, NULL);
    bn_e = BN_bin2bn(e.data, (int) e.len, NULL);

    if (build && bn_n && bn_e
        && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, bn_n) == 1
        && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, bn_e) == 1)
    {
        pkey = ngx_queues_base_jwt_jwk_build("RSA", build);
    }

done:

    OSSL_PARAM_BLD_free(build);
    BN_free(bn_n);
    BN_free(bn_e);

    ngx_queues_base_jwt_jwk_wipe(&n);
    ngx_queues_base_jwt_jwk_wipe(&e);

    return pkey;
}


static EVP_PKEY *
ngx_queues_base_jwt_jwk_ec(ngx_queues_base_jwt_object_t *jwk)
{
    u_char                       point[1 + 2 * NGX_QUEUES_BASE_JWT_POINT];
    EVP_PKEY                     *pkey;
    OSSL_PARAM_BLD               *build;
    ngx_queues_base_jwt_bytes_t   x, y;

    pkey = NULL;
    build = OSSL_PARAM_BLD_new();

    x.data = NULL;
    y.data = NULL;

    if (ngx_queues_base_jwt_jwk_bytes(jwk, "x", &x) != NGX_OK
        || ngx_queues_base_jwt_jwk_bytes(jwk, "y", &y) != NGX_OK
        || x.len != NGX_QUEUES_BASE_JWT_POINT
        || y.len != NGX_QUEUES_BASE_JWT_POINT)
    {
        goto done;
    }

    point[0] = 0x04;
    ngx_memcpy(point + 1, x.data, x.len);
    ngx_memcpy(point + 1 + x.len, y.data, y.len);

    if (build
        && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME,
                                           SN_X9_62_prime256v1, 0)
           == 1
        && OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY,
                                            point, sizeof(point))
           == 1)
    {
        pkey = ngx_queues_base_jwt_jwk_build("EC", build);
    }

done:

    OSSL_PARAM_BLD_free(build);

    ngx_queues_base_jwt_jwk_wipe(&x);
    ngx_queues_base_jwt_jwk_wipe(&y);

    return pkey;
}


static EVP_PKEY *
ngx_queues_base_jwt_jwk_ed(ngx_queues_base_jwt_object_t *jwk)
{
    EVP_PKEY                     *pkey;
    ngx_queues_base_jwt_bytes_t   x;

    if (ngx_queues_base_jwt_jwk_bytes(jwk, "x", &x) != NGX_OK) {
        return NULL;
    }

    pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, x.data, x.len);

    ngx_queues_base_jwt_jwk_wipe(&x);

    return pkey;
}


static EVP_PKEY *
ngx_queues_base_jwt_jwk_build(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY      *pkey;
    OSSL_PARAM    *params;
    EVP_PKEY_CTX  *ctx;

    pkey = NULL;
    params = OSSL_PARAM_BLD_to_param(build);
    ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);

    if (params == NULL
        || ctx == NULL
        || EVP_PKEY_fromdata_init(ctx) != 1
        || EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1)
    {
        pkey = NULL;
    }

    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);

    return pkey;
}


static ngx_queues_base_json_value_t *
ngx_queues_base_jwt_jwk_string(ngx_queues_base_jwt_object_t *jwk,
    const char *name)
{
    ngx_str_t                      raw;
    ngx_queues_base_json_value_t  *value;

    raw.data = (u_char *) name;
    raw.len = ngx_strlen(name);

    value = ngx_queues_base_jwt_member(jwk, &raw);

    return (value && value->type == NGX_QUEUES_BASE_JSON_STRING) ? value
                                                                 : NULL;
}


static ngx_uint_t
ngx_queues_base_jwt_jwk_is(ngx_queues_base_json_value_t *value,
    const char *text)
{
    ngx_str_t  raw;

    raw.data = (u_char *) text;
    raw.len = ngx_strlen(text);

    return value && value->type == NGX_QUEUES_BASE_JSON_STRING
           && ngx_queues_base_json_equal(&value->raw, &raw);
}


static ngx_int_t
ngx_queues_base_jwt_jwk_bytes(ngx_queues_base_jwt_object_t *jwk,
    const char *name, ngx_queues_base_jwt_bytes_t *bytes)
{
    ngx_str_t                      text;
    ngx_queues_base_json_value_t  *value;

    bytes->data = NULL;
    bytes->len = 0;

    value = ngx_queues_base_jwt_jwk_string(jwk, name);

    if (value == NULL || value->raw.len == 0) {
        return NGX_ERROR;
    }

    text = value->raw;

    bytes->data = OPENSSL_malloc(text.len);
    if (bytes->data == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_base_base64url_parse(&text, bytes->data, &bytes->len)
        != NGX_OK)
    {
        bytes->len = text.len;
        ngx_queues_base_jwt_jwk_wipe(bytes);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_base_jwt_jwk_wipe(ngx_queues_base_jwt_bytes_t *bytes)
{
    OPENSSL_clear_free(bytes->data, bytes->len);
    bytes->data = NULL;
}
