
/*
 * Receipt handles.  Three readings of the input: as the text of a handle,
 * which prints to itself if it opens; as bytes in an envelope; and as the
 * fields of a handle, which come back out of it, and out of nothing that
 * differs from it in a bit.
 */

#include "fuzz.h"
#include "ngx_queues_base_bytes.h"
#include "ngx_queues_base_handle.h"
#include "ngx_queues_base_text.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>


#define FUZZ_TAG    16
#define FUZZ_FLIPS  4


static u_char  fuzz_secret[] = "0123456789abcdef0123456789abcdef";
static u_char  fuzz_other_secret[] = "fedcba9876543210fedcba9876543210";

static ngx_queues_base_handle_key_t  *fuzz_key;
static ngx_queues_base_handle_key_t  *fuzz_other_key;


static ngx_int_t
fuzz_parse(ngx_queues_base_handle_key_t *key, ngx_str_t *text,
    ngx_queues_base_handle_t *h, u_char *project)
{
    u_char     *buf;
    ngx_int_t   rc;

    buf = fuzz_alloc(NGX_QUEUES_BASE_HANDLE_MAX);
    rc = ngx_queues_base_handle_parse(key, text, h, buf);

    if (rc == NGX_OK) {
        fuzz_assert(h->project.data >= buf && h->project.len > 0
                    && h->project.data + h->project.len
                       <= buf + NGX_QUEUES_BASE_HANDLE_MAX);

        memcpy(project, h->project.data, h->project.len);
        h->project.data = project;

    } else {
        fuzz_assert(rc == NGX_ERROR);
    }

    free(buf);

    return rc;
}


static ngx_str_t
fuzz_print(ngx_queues_base_handle_t *h)
{
    u_char     *p;
    ngx_str_t   text;

    text.len = ngx_queues_base_handle_length(h->spot.kind, h->project.len);
    text.data = fuzz_alloc(text.len);

    p = ngx_queues_base_handle_print(fuzz_key, h, text.data);

    if (p == NULL) {
        free(text.data);
        ngx_str_null(&text);
        return text;
    }

    fuzz_assert(p == text.data + text.len);

    return text;
}


static void
fuzz_text(ngx_str_t *text)
{
    u_char                    project[NGX_QUEUES_BASE_HANDLE_MAX];
    ngx_str_t                 again;
    ngx_queues_base_handle_t  h;

    if (fuzz_parse(fuzz_key, text, &h, project) == NGX_OK) {
        again = fuzz_print(&h);
        fuzz_assert(again.data && fuzz_same(&again, text));
        free(again.data);
    }
}


/* base64url opens it up to the tag, which is wrong */

static void
fuzz_envelope(ngx_str_t *bytes)
{
    u_char                    project[NGX_QUEUES_BASE_HANDLE_MAX];
    ngx_str_t                 text;
    ngx_queues_base_handle_t  h;

    text.len = ngx_queues_base_base64url_length(bytes->len);
    text.data = fuzz_alloc(text.len);
    ngx_queues_base_base64url_print(text.data, bytes->data, bytes->len);

    fuzz_assert(fuzz_parse(fuzz_key, &text, &h, project) == NGX_ERROR);

    free(text.data);
}


static size_t
fuzz_minor(ngx_queues_base_handle_t *h)
{
    return (h->spot.kind == NGX_QUEUES_BASE_SPOT_FIFO) ? 6 : 4;
}


/* the handle as its header describes it, by other functions of OpenSSL */

static ngx_str_t
fuzz_seal(ngx_queues_base_handle_t *h)
{
    int              n;
    u_char           mac_key[32], enc_key[32], mac[32], *p;
    u_char           plain[NGX_QUEUES_BASE_HANDLE_MAX];
    u_char           sealed[NGX_QUEUES_BASE_HANDLE_MAX];
    ngx_str_t        text;
    EVP_CIPHER_CTX  *cipher;

    /* by kind: new, delayed, FIFO */
    static const uint64_t  high[] = { 0, 1ULL << 63, 1ULL << 62 };

    p = plain;
    *p++ = 1;
    p = ngx_queues_base_bytes_write(p, h->queue | high[h->spot.kind], 8);
    p = ngx_queues_base_bytes_write(p, h->generation, 6);
    p = ngx_queues_base_bytes_write(p, h->spot.major, 6);
    p = ngx_queues_base_bytes_write(p, h->spot.minor, fuzz_minor(h));
    p = ngx_queues_base_bytes_write(p, h->token, 5);
    p = ngx_cpymem(p, h->project.data, h->project.len);

    HMAC(EVP_sha256(), fuzz_secret, 32, (u_char *) "ngx_queues receipt mac",
         22, mac_key, NULL);
    HMAC(EVP_sha256(), fuzz_secret, 32, (u_char *) "ngx_queues receipt enc",
         22, enc_key, NULL);
    HMAC(EVP_sha256(), mac_key, 32, plain, p - plain, mac, NULL);

    mac[0] &= 0x0f;
    sealed[0] = 1;
    memcpy(sealed + 1, mac, FUZZ_TAG);

    n = 0;
    cipher = EVP_CIPHER_CTX_new();

    fuzz_assert(EVP_EncryptInit_ex(cipher, EVP_aes_256_ctr(), NULL, enc_key,
                                   mac)
                && EVP_EncryptUpdate(cipher, sealed + 1 + FUZZ_TAG, &n,
                                     plain + 1, p - plain - 1)
                && n == p - plain - 1);

    EVP_CIPHER_CTX_free(cipher);

    text.len = ngx_queues_base_base64url_length(1 + FUZZ_TAG + n);
    text.data = fuzz_alloc(text.len);
    ngx_queues_base_base64url_print(text.data, sealed, 1 + FUZZ_TAG + n);

    return text;
}


static ngx_uint_t
fuzz_in_range(ngx_queues_base_handle_t *h)
{
    return h->project.len >= 1
           && h->project.len <= NGX_QUEUES_BASE_HANDLE_PROJECT_MAX
           && h->queue < 1ULL << 60 && h->generation < 1ULL << 48
           && h->spot.major < 1ULL << 48
           && h->spot.minor < 1ULL << 8 * fuzz_minor(h)
           && h->token < 1ULL << 40;
}


static void
fuzz_flips(ngx_str_t *text, ngx_str_t *rest)
{
    u_char                    project[NGX_QUEUES_BASE_HANDLE_MAX];
    u_char                    sealed[NGX_QUEUES_BASE_HANDLE_MAX];
    size_t                    len, bit;
    ngx_str_t                 other;
    ngx_uint_t                i;
    ngx_queues_base_handle_t  h;

    fuzz_assert(fuzz_parse(fuzz_other_key, text, &h, project) == NGX_ERROR);

    fuzz_assert(ngx_queues_base_base64url_parse(text, sealed, &len) == NGX_OK);

    other.len = text->len;
    other.data = fuzz_alloc(other.len);

    for (i = 0; i < FUZZ_FLIPS; i++) {
        bit = fuzz_number(rest, 2) % (8 * len);

        sealed[bit / 8] ^= 1 << bit % 8;
        ngx_queues_base_base64url_print(other.data, sealed, len);
        sealed[bit / 8] ^= 1 << bit % 8;

        fuzz_assert(fuzz_parse(fuzz_key, &other, &h, project) == NGX_ERROR);

        /* the same for a bit of the text, which may be no text then */

        bit = bit % (8 * text->len);

        memcpy(other.data, text->data, text->len);
        other.data[bit / 8] ^= 1 << bit % 8;

        fuzz_assert(fuzz_parse(fuzz_key, &other, &h, project) == NGX_ERROR);
    }

    /* cut off */

    memcpy(other.data, text->data, text->len);
    other.len = fuzz_number(rest, 2) % text->len;

    fuzz_assert(fuzz_parse(fuzz_key, &other, &h, project) == NGX_ERROR);

    free(other.data);
}


static void
fuzz_fields(ngx_str_t *bytes)
{
    u_char                    project[NGX_QUEUES_BASE_HANDLE_MAX];
    ngx_str_t                 rest, text, sealed;
    ngx_uint_t                kind;
    ngx_queues_base_handle_t  h, again;

    rest = *bytes;

    /* the kind, and with 4 a minor number that may be too long for it */

    kind = fuzz_number(&rest, 1) & 7;

    h.spot.kind = (kind & 3) % 3;
    h.queue = fuzz_number(&rest, 8);
    h.generation = fuzz_number(&rest, 7);
    h.spot.major = fuzz_number(&rest, 7);
    h.spot.minor = fuzz_number(&rest, (kind & 4) ? 7 : fuzz_minor(&h));
    h.token = fuzz_number(&rest, 6);
    h.project = rest;

    text = fuzz_print(&h);
    fuzz_assert((text.data != NULL) == fuzz_in_range(&h));

    if (text.data == NULL) {
        return;
    }

    fuzz_assert(text.data[0] == 'A' && text.data[1] == 'Q');

    sealed = fuzz_seal(&h);
    fuzz_assert(fuzz_same(&text, &sealed));
    free(sealed.data);

    fuzz_assert(fuzz_parse(fuzz_key, &text, &again, project) == NGX_OK);
    fuzz_assert(fuzz_same(&h.project, &again.project)
                && h.queue == again.queue && h.generation == again.generation
                && h.spot.kind == again.spot.kind
                && h.spot.major == again.spot.major
                && h.spot.minor == again.spot.minor
                && h.token == again.token);

    fuzz_flips(&text, &rest);

    free(text.data);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  text;

    if (fuzz_key == NULL) {
        fuzz_key = ngx_queues_base_handle_key_create(fuzz_secret, 32);
        fuzz_other_key = ngx_queues_base_handle_key_create(fuzz_other_secret,
                                                           32);
    }

    fuzz_assert(fuzz_key && fuzz_other_key);

    text.data = (u_char *) data;
    text.len = size;

    fuzz_text(&text);
    fuzz_envelope(&text);
    fuzz_fields(&text);

    return 0;
}
