
#include "ngx_queues_base_handle.h"
#include "ngx_queues_base_bytes.h"
#include "ngx_queues_base_text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>


#define NGX_QUEUES_BASE_HANDLE_VERSION     0x01
#define NGX_QUEUES_BASE_HANDLE_TAG_SIZE    16
#define NGX_QUEUES_BASE_HANDLE_SECRET_MIN  32
#define NGX_QUEUES_BASE_HANDLE_MAC_SIZE    32   /* SHA-256 */
#define NGX_QUEUES_BASE_HANDLE_BLOCK_SIZE  64

/* these stand above the 60 bits of the queue */
#define NGX_QUEUES_BASE_HANDLE_DELAYED     (1ULL << 63)
#define NGX_QUEUES_BASE_HANDLE_FIFO        (1ULL << 62)

/* the numbers but for the spot's minor one, and that */
#define NGX_QUEUES_BASE_HANDLE_NUMBERS     (8 + 6 + 6 + 5)
#define ngx_queues_base_handle_minor(kind)                                    \
    ((kind) == NGX_QUEUES_BASE_SPOT_FIFO ? 6 : 4)

/* of AES; and the longest plaintext in whole blocks */
#define NGX_QUEUES_BASE_HANDLE_AES_BLOCK   16
#define NGX_QUEUES_BASE_HANDLE_STREAM                                         \
    ((NGX_QUEUES_BASE_HANDLE_MAX / NGX_QUEUES_BASE_HANDLE_AES_BLOCK + 1)      \
     * NGX_QUEUES_BASE_HANDLE_AES_BLOCK)


/*
 * inner and outer have taken the first block of HMAC (RFC 2104) already;
 * digest is a copy of one of them at work.
 */

struct ngx_queues_base_handle_key_s {
    EVP_MD_CTX                   *inner;
    EVP_MD_CTX                   *outer;
    EVP_MD_CTX                   *digest;
    EVP_CIPHER_CTX               *cipher;
};


static ngx_int_t ngx_queues_base_handle_key_init(
    ngx_queues_base_handle_key_t *key, u_char *secret, size_t len);
static ngx_int_t ngx_queues_base_handle_derive(u_char *secret, size_t len,
    const char *label, u_char *derived);
static EVP_MD_CTX *ngx_queues_base_handle_pad(u_char *mac_key, u_char pad);
static ngx_int_t ngx_queues_base_handle_tag(ngx_queues_base_handle_key_t *key,
    u_char *plain, size_t len, u_char *tag);
static ngx_int_t ngx_queues_base_handle_crypt(
    ngx_queues_base_handle_key_t *key, u_char *tag, u_char *src, size_t len,
    u_char *dst);
static ngx_int_t ngx_queues_base_handle_check(
    ngx_queues_base_handle_t *handle);
static u_char *ngx_queues_base_handle_write(ngx_queues_base_handle_t *handle,
    u_char *p);
static void ngx_queues_base_handle_read(ngx_queues_base_handle_t *handle,
    u_char *p, u_char *last);


ngx_queues_base_handle_key_t *
ngx_queues_base_handle_key_create(u_char *secret, size_t len)
{
    ngx_queues_base_handle_key_t  *key;

    if (len < NGX_QUEUES_BASE_HANDLE_SECRET_MIN || len > INT_MAX) {
        return NULL;
    }

    key = calloc(1, sizeof(ngx_queues_base_handle_key_t));
    if (key == NULL) {
        return NULL;
    }

    if (ngx_queues_base_handle_key_init(key, secret, len) != NGX_OK) {
        ngx_queues_base_handle_key_destroy(key);
        return NULL;
    }

    return key;
}


static ngx_int_t
ngx_queues_base_handle_key_init(ngx_queues_base_handle_key_t *key,
    u_char *secret, size_t len)
{
    u_char     derived[NGX_QUEUES_BASE_HANDLE_MAC_SIZE];
    ngx_int_t  rc;

    rc = NGX_ERROR;

    if (ngx_queues_base_handle_derive(secret, len, "ngx_queues receipt mac",
                                      derived)
        != NGX_OK)
    {
        goto done;
    }

    key->inner = ngx_queues_base_handle_pad(derived, 0x36);
    key->outer = ngx_queues_base_handle_pad(derived, 0x5c);
    key->digest = EVP_MD_CTX_new();
    key->cipher = EVP_CIPHER_CTX_new();

    if (key->inner == NULL || key->outer == NULL || key->digest == NULL
        || key->cipher == NULL)
    {
        goto done;
    }

    if (ngx_queues_base_handle_derive(secret, len, "ngx_queues receipt enc",
                                      derived)
        != NGX_OK)
    {
        goto done;
    }

    if (EVP_EncryptInit_ex(key->cipher, EVP_aes_256_ecb(), NULL, derived, NULL)
        != 1
        || EVP_CIPHER_CTX_set_padding(key->cipher, 0) != 1)
    {
        goto done;
    }

    rc = NGX_OK;

done:

    OPENSSL_cleanse(derived, sizeof(derived));

    return rc;
}


static ngx_int_t
ngx_queues_base_handle_derive(u_char *secret, size_t len, const char *label,
    u_char *derived)
{
    if (HMAC(EVP_sha256(), secret, (int) len, (u_char *) label,
             ngx_strlen(label), derived, NULL)
        == NULL)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static EVP_MD_CTX *
ngx_queues_base_handle_pad(u_char *mac_key, u_char pad)
{
    u_char       block[NGX_QUEUES_BASE_HANDLE_BLOCK_SIZE];
    ngx_uint_t   i;
    EVP_MD_CTX  *ctx;

    ctx = EVP_MD_CTX_new();
    if (ctx == NULL) {
        return NULL;
    }

    ngx_memset(block, pad, sizeof(block));

    for (i = 0; i < NGX_QUEUES_BASE_HANDLE_MAC_SIZE; i++) {
        block[i] ^= mac_key[i];
    }

    if (EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1
        || EVP_DigestUpdate(ctx, block, sizeof(block)) != 1)
    {
        EVP_MD_CTX_free(ctx);
        ctx = NULL;
    }

    OPENSSL_cleanse(block, sizeof(block));

    return ctx;
}


void
ngx_queues_base_handle_key_destroy(ngx_queues_base_handle_key_t *key)
{
    if (key == NULL) {
        return;
    }

    /* OpenSSL wipes the states with the keys in them */

    EVP_MD_CTX_free(key->inner);
    EVP_MD_CTX_free(key->outer);
    EVP_MD_CTX_free(key->digest);
    EVP_CIPHER_CTX_free(key->cipher);

    OPENSSL_cleanse(key, sizeof(ngx_queues_base_handle_key_t));

    free(key);
}


size_t
ngx_queues_base_handle_length(ngx_queues_base_spot_kind_e kind,
    size_t project_len)
{
    size_t  len;

    len = 1 + NGX_QUEUES_BASE_HANDLE_TAG_SIZE + NGX_QUEUES_BASE_HANDLE_NUMBERS
          + ngx_queues_base_handle_minor(kind) + project_len;

    return ngx_queues_base_base64url_length(len);
}


u_char *
ngx_queues_base_handle_print(ngx_queues_base_handle_key_t *key,
    ngx_queues_base_handle_t *handle, u_char *p)
{
    u_char    *end, *tag;
    u_char     plain[NGX_QUEUES_BASE_HANDLE_MAX];
    u_char     sealed[NGX_QUEUES_BASE_HANDLE_MAX];
    size_t     len;

    if (ngx_queues_base_handle_check(handle) != NGX_OK) {
        return NULL;
    }

    end = plain;
    *end++ = NGX_QUEUES_BASE_HANDLE_VERSION;

    end = ngx_queues_base_handle_write(handle, end);

    len = end - plain;

    sealed[0] = NGX_QUEUES_BASE_HANDLE_VERSION;
    tag = sealed + 1;

    if (ngx_queues_base_handle_tag(key, plain, len, tag) != NGX_OK) {
        return NULL;
    }

    if (ngx_queues_base_handle_crypt(key, tag, plain + 1, len - 1,
                                     tag + NGX_QUEUES_BASE_HANDLE_TAG_SIZE)
        != NGX_OK)
    {
        return NULL;
    }

    return ngx_queues_base_base64url_print(p, sealed,
                                       len + NGX_QUEUES_BASE_HANDLE_TAG_SIZE);
}


ngx_int_t
ngx_queues_base_handle_parse(ngx_queues_base_handle_key_t *key,
    ngx_str_t *text, ngx_queues_base_handle_t *handle, u_char *buf)
{
    u_char     sealed[NGX_QUEUES_BASE_HANDLE_MAX];
    u_char     tag[NGX_QUEUES_BASE_HANDLE_TAG_SIZE];
    size_t     len;

    if (text->len < ngx_queues_base_handle_length(NGX_QUEUES_BASE_SPOT_NEW, 1)
        || text->len > NGX_QUEUES_BASE_HANDLE_TEXT_MAX)
    {
        return NGX_ERROR;
    }

    if (ngx_queues_base_base64url_parse(text, sealed, &len) != NGX_OK
        || sealed[0] != NGX_QUEUES_BASE_HANDLE_VERSION)
    {
        return NGX_ERROR;
    }

    len -= 1 + NGX_QUEUES_BASE_HANDLE_TAG_SIZE;

    if (ngx_queues_base_handle_crypt(key, sealed + 1,
                                 sealed + 1 + NGX_QUEUES_BASE_HANDLE_TAG_SIZE,
                                 len, buf + 1)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    buf[0] = NGX_QUEUES_BASE_HANDLE_VERSION;

    if (ngx_queues_base_handle_tag(key, buf, 1 + len, tag) != NGX_OK
        || CRYPTO_memcmp(tag, sealed + 1, NGX_QUEUES_BASE_HANDLE_TAG_SIZE)
           != 0)
    {
        return NGX_ERROR;
    }

    ngx_queues_base_handle_read(handle, buf + 1, buf + 1 + len);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_handle_check(ngx_queues_base_handle_t *handle)
{
    if (handle->project.len == 0
        || handle->project.len > NGX_QUEUES_BASE_HANDLE_PROJECT_MAX
        || handle->queue >> 60
        || handle->generation >> 48
        || handle->spot.major >> 48
        || handle->spot.minor
           >> 8 * ngx_queues_base_handle_minor(handle->spot.kind)
        || handle->token >> 40)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static u_char *
ngx_queues_base_handle_write(ngx_queues_base_handle_t *handle, u_char *p)
{
    uint64_t                 queue;
    ngx_queues_base_spot_t  *spot;

    queue = handle->queue;
    spot = &handle->spot;

    if (spot->kind == NGX_QUEUES_BASE_SPOT_DELAYED) {
        queue |= NGX_QUEUES_BASE_HANDLE_DELAYED;
    }

    if (spot->kind == NGX_QUEUES_BASE_SPOT_FIFO) {
        queue |= NGX_QUEUES_BASE_HANDLE_FIFO;
    }

    p = ngx_queues_base_bytes_write(p, queue, 8);
    p = ngx_queues_base_bytes_write(p, handle->generation, 6);
    p = ngx_queues_base_bytes_write(p, spot->major, 6);
    p = ngx_queues_base_bytes_write(p, spot->minor,
                                    ngx_queues_base_handle_minor(spot->kind));
    p = ngx_queues_base_bytes_write(p, handle->token, 5);

    return ngx_cpymem(p, handle->project.data, handle->project.len);
}


/* what has the right tag was written by the function above */

static void
ngx_queues_base_handle_read(ngx_queues_base_handle_t *handle, u_char *p,
    u_char *last)
{
    size_t                   size;
    uint64_t                 queue;
    ngx_queues_base_spot_t  *spot;

    spot = &handle->spot;
    spot->kind = NGX_QUEUES_BASE_SPOT_NEW;

    queue = ngx_queues_base_bytes_read(p, 8);

    if (queue & NGX_QUEUES_BASE_HANDLE_DELAYED) {
        spot->kind = NGX_QUEUES_BASE_SPOT_DELAYED;
    }

    if (queue & NGX_QUEUES_BASE_HANDLE_FIFO) {
        spot->kind = NGX_QUEUES_BASE_SPOT_FIFO;
    }

    handle->queue = queue & NGX_QUEUES_BASE_SHORT_MASK;
    handle->generation = ngx_queues_base_bytes_read(p + 8, 6);

    size = ngx_queues_base_handle_minor(spot->kind);

    spot->major = ngx_queues_base_bytes_read(p + 14, 6);
    spot->minor = ngx_queues_base_bytes_read(p + 20, size);

    p += 20 + size;

    handle->token = ngx_queues_base_bytes_read(p, 5);
    handle->project.data = p + 5;
    handle->project.len = last - handle->project.data;
}


/* plain has the version before the numbers: both are under the tag */

static ngx_int_t
ngx_queues_base_handle_tag(ngx_queues_base_handle_key_t *key, u_char *plain,
    size_t len, u_char *tag)
{
    u_char  mac[NGX_QUEUES_BASE_HANDLE_MAC_SIZE];

    if (EVP_MD_CTX_copy_ex(key->digest, key->inner) != 1
        || EVP_DigestUpdate(key->digest, plain, len) != 1
        || EVP_DigestFinal_ex(key->digest, mac, NULL) != 1
        || EVP_MD_CTX_copy_ex(key->digest, key->outer) != 1
        || EVP_DigestUpdate(key->digest, mac, sizeof(mac)) != 1
        || EVP_DigestFinal_ex(key->digest, mac, NULL) != 1)
    {
        return NGX_ERROR;
    }

    mac[0] &= 0x0f;
    ngx_memcpy(tag, mac, NGX_QUEUES_BASE_HANDLE_TAG_SIZE);

    return NGX_OK;
}


/*
 * Seals and opens alike: CTR adds a key stream, which is the cipher of the
 * counter blocks.  OpenSSL's own CTR mode wants a new IV for each handle, and
 * to set that costs more than all of this.
 */

static ngx_int_t
ngx_queues_base_handle_crypt(ngx_queues_base_handle_key_t *key, u_char *tag,
    u_char *src, size_t len, u_char *dst)
{
    int        n;
    u_char     stream[NGX_QUEUES_BASE_HANDLE_STREAM];
    size_t     i;
    uint64_t   high, low;

    high = ngx_queues_base_bytes_read(tag, 8);
    low = ngx_queues_base_bytes_read(tag + 8, 8);

    i = 0;

    do {
        (void) ngx_queues_base_bytes_write(stream + i, high, 8);
        (void) ngx_queues_base_bytes_write(stream + i + 8, low, 8);

        if (++low == 0) {
            high++;
        }

        i += NGX_QUEUES_BASE_HANDLE_AES_BLOCK;

    } while (i < len);

    if (EVP_EncryptUpdate(key->cipher, stream, &n, stream, (int) i) != 1) {
        return NGX_ERROR;
    }

    for (i = 0; i < len; i++) {
        dst[i] = src[i] ^ stream[i];
    }

    return NGX_OK;
}
