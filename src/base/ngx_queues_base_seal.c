
#include "ngx_queues_base_seal.h"
#include "ngx_queues_base_text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>


#define NGX_QUEUES_BASE_SEAL_VERSION     0x01
#define NGX_QUEUES_BASE_SEAL_KEY_SIZE    32      /* AES-256 */
#define NGX_QUEUES_BASE_SEAL_SECRET_MIN  32


struct ngx_queues_base_seal_key_s {
    u_char  bytes[NGX_QUEUES_BASE_SEAL_KEY_SIZE];
};


static ngx_int_t ngx_queues_base_seal_crypt(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, u_char *nonce, ngx_str_t *src, u_char *dst,
    u_char *tag, ngx_uint_t encrypt);


ngx_queues_base_seal_key_t *
ngx_queues_base_seal_key_create(u_char *secret, size_t len)
{
    ngx_queues_base_seal_key_t  *key;

    static u_char  label[] = "ngx_queues secrets at rest";

    if (len < NGX_QUEUES_BASE_SEAL_SECRET_MIN || len > INT_MAX) {
        return NULL;
    }

    key = calloc(1, sizeof(ngx_queues_base_seal_key_t));
    if (key == NULL) {
        return NULL;
    }

    if (HMAC(EVP_sha256(), secret, (int) len, label, sizeof(label) - 1,
             key->bytes, NULL)
        == NULL)
    {
        ngx_queues_base_seal_key_destroy(key);
        return NULL;
    }

    return key;
}


void
ngx_queues_base_seal_key_destroy(ngx_queues_base_seal_key_t *key)
{
    if (key == NULL) {
        return;
    }

    OPENSSL_cleanse(key, sizeof(ngx_queues_base_seal_key_t));

    free(key);
}


u_char *
ngx_queues_base_seal(ngx_queues_base_seal_key_t *key, ngx_str_t *context,
    ngx_str_t *plain, u_char *p)
{
    u_char  *nonce, *text;
    u_char   sealed[NGX_QUEUES_BASE_SEAL_MAX + NGX_QUEUES_BASE_SEAL_OVERHEAD];

    if (plain->len > NGX_QUEUES_BASE_SEAL_MAX) {
        return NULL;
    }

    sealed[0] = NGX_QUEUES_BASE_SEAL_VERSION;

    nonce = sealed + 1;
    text = nonce + NGX_QUEUES_BASE_SEAL_NONCE_SIZE;

    if (RAND_bytes(nonce, NGX_QUEUES_BASE_SEAL_NONCE_SIZE) != 1) {
        return NULL;
    }

    if (ngx_queues_base_seal_crypt(key, context, nonce, plain, text,
                                   text + plain->len, 1)
        != NGX_OK)
    {
        return NULL;
    }

    return ngx_queues_base_base64url_print(p, sealed,
                               plain->len + NGX_QUEUES_BASE_SEAL_OVERHEAD);
}


ngx_int_t
ngx_queues_base_seal_open(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, ngx_str_t *text, u_char *plain, size_t len)
{
    u_char     *nonce;
    u_char      sealed[NGX_QUEUES_BASE_SEAL_MAX
                       + NGX_QUEUES_BASE_SEAL_OVERHEAD];
    size_t      n;
    ngx_str_t   src;

    if (len > NGX_QUEUES_BASE_SEAL_MAX
        || text->len != ngx_queues_base_base64url_length(
                                         len + NGX_QUEUES_BASE_SEAL_OVERHEAD)
        || ngx_queues_base_base64url_parse(text, sealed, &n) != NGX_OK
        || sealed[0] != NGX_QUEUES_BASE_SEAL_VERSION)
    {
        goto failed;
    }

    nonce = sealed + 1;
    src.data = nonce + NGX_QUEUES_BASE_SEAL_NONCE_SIZE;
    src.len = len;

    if (ngx_queues_base_seal_crypt(key, context, nonce, &src, plain,
                                   src.data + len, 0)
        == NGX_OK)
    {
        return NGX_OK;
    }

failed:

    OPENSSL_cleanse(plain, len);

    return NGX_ERROR;
}


ngx_int_t
ngx_queues_base_seal_salted(ngx_queues_base_seal_key_t *key, ngx_str_t *salt,
    ngx_str_t *context, u_char *nonce, ngx_str_t *src, u_char *dst,
    u_char *tag, ngx_uint_t encrypt)
{
    ngx_int_t                   rc;
    ngx_queues_base_seal_key_t  salted;

    if (src->len > INT_MAX
        || HMAC(EVP_sha256(), key->bytes, sizeof(key->bytes), salt->data,
                salt->len, salted.bytes, NULL)
           == NULL)
    {
        return NGX_ERROR;
    }

    rc = ngx_queues_base_seal_crypt(&salted, context, nonce, src, dst, tag,
                                    encrypt);

    OPENSSL_cleanse(&salted, sizeof(salted));

    return rc;
}


/* the tag is written, or checked */

static ngx_int_t
ngx_queues_base_seal_crypt(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, u_char *nonce, ngx_str_t *src, u_char *dst,
    u_char *tag, ngx_uint_t encrypt)
{
    int              n;
    ngx_int_t        rc;
    EVP_CIPHER_CTX  *ctx;

    ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL) {
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (context->len > INT_MAX
        || EVP_CipherInit_ex(ctx, EVP_aes_256_gcm(), NULL, key->bytes, nonce,
                             (int) encrypt)
           != 1
        || EVP_CipherUpdate(ctx, NULL, &n, context->data, (int) context->len)
           != 1
        || EVP_CipherUpdate(ctx, dst, &n, src->data, (int) src->len) != 1)
    {
        goto done;
    }

    if (!encrypt
        && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG,
                               NGX_QUEUES_BASE_SEAL_TAG_SIZE, tag)
           != 1)
    {
        goto done;
    }

    /* in this mode the end has no bytes of its own */

    if (EVP_CipherFinal_ex(ctx, dst + src->len, &n) != 1) {
        goto done;
    }

    if (encrypt
        && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG,
                               NGX_QUEUES_BASE_SEAL_TAG_SIZE, tag)
           != 1)
    {
        goto done;
    }

    rc = NGX_OK;

done:

    EVP_CIPHER_CTX_free(ctx);

    return rc;
}
