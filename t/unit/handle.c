
#include "unit.h"
#include "ngx_queues_base_handle.h"
#include "ngx_queues_base_text.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>


static u_char  unit_secret[] = "0123456789abcdef0123456789abcdef";
static u_char  unit_project[] =
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

static ngx_queues_base_handle_key_t  *unit_key;


static ngx_queues_base_spot_kind_e  unit_kinds[] = {
    NGX_QUEUES_BASE_SPOT_NEW, NGX_QUEUES_BASE_SPOT_DELAYED,
    NGX_QUEUES_BASE_SPOT_FIFO
};


static void
unit_fill(ngx_queues_base_handle_t *h, ngx_queues_base_spot_kind_e kind,
    size_t project_len)
{
    h->project.data = unit_project;
    h->project.len = project_len;
    h->queue = 0x0123456789abcdefULL;
    h->generation = 0xfedcba987654ULL;
    h->spot.kind = kind;
    h->spot.major = 0x0199e0c0ffeeULL;
    h->spot.minor = 0xdeadbeef;
    h->token = 0xa1b2c3d4e5ULL;

    if (kind == NGX_QUEUES_BASE_SPOT_FIFO) {
        h->spot.minor = 0xc0dedeadbeefULL;
    }
}


static ngx_uint_t
unit_equal(ngx_queues_base_handle_t *a, ngx_queues_base_handle_t *b)
{
    return unit_same(&a->project, &b->project) && a->queue == b->queue
           && a->generation == b->generation && a->token == b->token
           && a->spot.kind == b->spot.kind && a->spot.major == b->spot.major
           && a->spot.minor == b->spot.minor;
}


static ngx_str_t
unit_print(ngx_queues_base_handle_t *h)
{
    u_char     *end;
    ngx_str_t   text;

    text.len = ngx_queues_base_handle_length(h->spot.kind, h->project.len);
    text.data = malloc(text.len);
    end = ngx_queues_base_handle_print(unit_key, h, text.data);

    if (end == NULL || (size_t) (end - text.data) != text.len) {
        abort();
    }

    return text;
}


/* opens in a buffer of its own, so that a byte too far is seen */

static ngx_uint_t
unit_opens(ngx_queues_base_handle_key_t *key, ngx_str_t *text,
    ngx_queues_base_handle_t *expected)
{
    u_char                    *buf;
    ngx_uint_t                 ok;
    ngx_queues_base_handle_t   h;

    buf = malloc(NGX_QUEUES_BASE_HANDLE_MAX);

    ok = ngx_queues_base_handle_parse(key, text, &h, buf) == NGX_OK
         && unit_equal(&h, expected);

    free(buf);

    return ok;
}


static ngx_uint_t
unit_lengths(ngx_queues_base_spot_kind_e kind)
{
    size_t                    len;
    ngx_str_t                 text, again;
    ngx_uint_t                bad;
    ngx_queues_base_handle_t  h;

    bad = 0;

    for (len = 1; len <= NGX_QUEUES_BASE_HANDLE_PROJECT_MAX; len++) {
        unit_fill(&h, kind, len);
        text = unit_print(&h);
        again = unit_print(&h);

        bad += (!unit_opens(unit_key, &text, &h)
                || !unit_same(&text, &again)
                || memcmp(text.data, "AQ", 2) != 0);

        free(text.data);
        free(again.data);
    }

    return bad;
}


static void
unit_round_trips(void)
{
    ngx_str_t                    text;
    ngx_uint_t                   i, bad;
    ngx_queues_base_handle_t     h;
    ngx_queues_base_spot_kind_e  kind;

    for (bad = 0, i = 0; i < 3; i++) {
        bad += unit_lengths(unit_kinds[i]);
    }

    unit_ok(bad == 0, "all lengths of the project, all kinds of spots", NULL);

    for (bad = 0, i = 0; i < 3000; i++) {
        kind = unit_kinds[i % 3];

        unit_fill(&h, kind, 10);
        h.queue = ((uint64_t) unit_random() << 28) ^ unit_random();
        h.generation = ((uint64_t) unit_random() << 16) ^ unit_random();
        h.spot.major = ((uint64_t) unit_random() << 16) ^ unit_random();
        h.spot.minor = unit_random();
        h.token = ((uint64_t) unit_random() << 8) ^ unit_random();

        if (kind == NGX_QUEUES_BASE_SPOT_FIFO) {
            h.spot.minor ^= (uint64_t) unit_random() << 16;
        }

        text = unit_print(&h);
        bad += (!unit_opens(unit_key, &text, &h)
                || memcmp(text.data, "AQ", 2) != 0);
        free(text.data);
    }

    unit_ok(bad == 0, "random fields", NULL);

    ngx_memzero(&h, sizeof(h));
    h.project.data = unit_project;
    h.project.len = 1;
    text = unit_print(&h);
    unit_ok(unit_opens(unit_key, &text, &h), "all zeros", NULL);
    free(text.data);

    for (bad = 0, i = 0; i < 3; i++) {
        unit_fill(&h, unit_kinds[i], NGX_QUEUES_BASE_HANDLE_PROJECT_MAX);
        h.queue = (1ULL << 60) - 1;
        h.generation = h.spot.major = (1ULL << 48) - 1;
        h.spot.minor = UINT32_MAX;
        h.token = (1ULL << 40) - 1;

        if (h.spot.kind == NGX_QUEUES_BASE_SPOT_FIFO) {
            h.spot.minor = (1ULL << 48) - 1;
        }

        text = unit_print(&h);
        bad += !unit_opens(unit_key, &text, &h);

        if (h.spot.kind == NGX_QUEUES_BASE_SPOT_FIFO) {
            unit_ok(text.len == NGX_QUEUES_BASE_HANDLE_TEXT_MAX,
                    "the longest text", NULL);
        }

        free(text.data);
    }

    unit_ok(bad == 0, "all ones", NULL);

    unit_ok(ngx_queues_base_handle_length(NGX_QUEUES_BASE_SPOT_NEW, 10) == 75
            && ngx_queues_base_handle_length(NGX_QUEUES_BASE_SPOT_DELAYED, 10)
               == 75
            && ngx_queues_base_handle_length(NGX_QUEUES_BASE_SPOT_FIFO, 10)
               == 78,
            "only handles of FIFO queues are longer", NULL);
}


static void
unit_ranges(void)
{
    u_char                    buf[NGX_QUEUES_BASE_HANDLE_TEXT_MAX + 8];
    ngx_uint_t                i, bad;
    ngx_queues_base_handle_t  h;

    for (bad = 0, i = 0; i < 9; i++) {
        unit_fill(&h, unit_kinds[i / 3], 10);

        switch (i) {
        case 0: h.queue = 1ULL << 60; break;
        case 1: h.generation = 1ULL << 48; break;
        case 2: h.spot.minor = 1ULL << 32; break;
        case 3: h.spot.major = 1ULL << 48; break;
        case 4: h.spot.minor = 1ULL << 32; break;
        case 5: h.token = 1ULL << 40; break;
        case 6: h.spot.minor = 1ULL << 48; break;
        case 7: h.project.len = 0; break;
        case 8: h.project.len = NGX_QUEUES_BASE_HANDLE_PROJECT_MAX + 1; break;
        }

        bad += (ngx_queues_base_handle_print(unit_key, &h, buf) != NULL);
    }

    unit_ok(bad == 0, "fields out of range are not printed", NULL);
}


static ngx_uint_t
unit_refused(ngx_str_t *text)
{
    u_char                    buf[NGX_QUEUES_BASE_HANDLE_MAX];
    ngx_queues_base_handle_t  h;

    return ngx_queues_base_handle_parse(unit_key, text, &h, buf) == NGX_ERROR;
}


static ngx_uint_t
unit_sealed_refused(u_char *sealed, size_t len)
{
    u_char     buf[NGX_QUEUES_BASE_HANDLE_TEXT_MAX + 8];
    ngx_str_t  text;

    text.data = buf;
    text.len = ngx_queues_base_base64url_print(buf, sealed, len) - buf;

    return unit_refused(&text);
}


static void
unit_flipped_bits(ngx_str_t *text)
{
    size_t      len;
    u_char      sealed[NGX_QUEUES_BASE_HANDLE_MAX + 4];
    ngx_uint_t  i, bad;

    for (bad = 0, i = 0; i < text->len * 8; i++) {
        text->data[i / 8] ^= 1 << i % 8;
        bad += !unit_refused(text);
        text->data[i / 8] ^= 1 << i % 8;
    }

    unit_ok(bad == 0, "every flipped bit of the text is refused", NULL);

    (void) ngx_queues_base_base64url_parse(text, sealed, &len);

    for (bad = 0, i = 0; i < len * 8; i++) {
        sealed[i / 8] ^= 1 << i % 8;
        bad += !unit_sealed_refused(sealed, len);
        sealed[i / 8] ^= 1 << i % 8;
    }

    unit_ok(bad == 0, "every flipped bit of the sealed bytes is refused", NULL);

    for (bad = 0, i = 0; i < len; i++) {
        bad += !unit_sealed_refused(sealed, i);
    }

    sealed[len] = 0;
    bad += !unit_sealed_refused(sealed, len + 1);

    unit_ok(bad == 0, "other lengths are refused", NULL);
}


static void
unit_other_lengths(ngx_str_t *text)
{
    ngx_str_t   copy;
    ngx_uint_t  i, bad;

    for (bad = 0, i = 0; i < text->len; i++) {
        copy.data = text->data;
        copy.len = i;
        copy = unit_copy(&copy);
        bad += !unit_refused(&copy);
        free(copy.data);
    }

    unit_ok(bad == 0, "shorter texts are refused", NULL);

    for (bad = 0, i = 1; i < 400; i++) {
        copy.len = text->len + i;
        copy.data = malloc(copy.len);
        ngx_memset(copy.data, 'A', copy.len);
        ngx_memcpy(copy.data, text->data, text->len);
        bad += !unit_refused(&copy);
        free(copy.data);
    }

    unit_ok(bad == 0, "longer texts are refused", NULL);
}


static void
unit_tampering(ngx_queues_base_spot_kind_e kind)
{
    ngx_str_t                      text;
    ngx_queues_base_handle_t       h;
    ngx_queues_base_handle_key_t  *key, *other;

    unit_fill(&h, kind, 11);
    text = unit_print(&h);
    unit_ok(unit_opens(unit_key, &text, &h), "opens untouched", NULL);

    unit_flipped_bits(&text);
    unit_other_lengths(&text);

    unit_secret[31] ^= 1;
    other = ngx_queues_base_handle_key_create(unit_secret, 32);
    unit_secret[31] ^= 1;

    key = unit_key;
    unit_key = other;
    unit_ok(unit_refused(&text), "another key's handle is refused", NULL);
    unit_key = key;
    unit_ok(unit_opens(unit_key, &text, &h), "and this key still opens it",
            NULL);

    ngx_queues_base_handle_key_destroy(other);
    free(text.data);
}


/* the construction, computed once more by OpenSSL's one-shot functions */

static void
unit_construction(ngx_queues_base_spot_kind_e kind, const char *numbers,
    size_t size)
{
    int                        n;
    size_t                     len;
    u_char                     sealed[NGX_QUEUES_BASE_HANDLE_MAX];
    u_char                     plain[NGX_QUEUES_BASE_HANDLE_MAX];
    u_char                     mac_key[32], enc_key[32], mac[32];
    ngx_str_t                  text;
    EVP_CIPHER_CTX            *cipher;
    ngx_queues_base_handle_t   h;

    unit_fill(&h, kind, 100);
    text = unit_print(&h);
    (void) ngx_queues_base_base64url_parse(&text, sealed, &len);

    (void) HMAC(EVP_sha256(), unit_secret, 32,
                (u_char *) "ngx_queues receipt mac", 22, mac_key, NULL);
    (void) HMAC(EVP_sha256(), unit_secret, 32,
                (u_char *) "ngx_queues receipt enc", 22, enc_key, NULL);

    cipher = EVP_CIPHER_CTX_new();
    (void) EVP_DecryptInit_ex(cipher, EVP_aes_256_ctr(), NULL, enc_key,
                              sealed + 1);
    (void) EVP_DecryptUpdate(cipher, plain + 1, &n, sealed + 17,
                             (int) len - 17);
    EVP_CIPHER_CTX_free(cipher);

    plain[0] = 0x01;

    unit_ok((size_t) n == size + 100 && memcmp(plain + 1, numbers, size) == 0
            && memcmp(plain + 1 + size, unit_project, 100) == 0,
            "the plaintext is as documented", NULL);

    (void) HMAC(EVP_sha256(), mac_key, 32, plain, 1 + n, mac, NULL);
    mac[0] &= 0x0f;
    unit_ok(sealed[0] == 0x01 && memcmp(mac, sealed + 1, 16) == 0,
            "the tag is as documented", NULL);

    free(text.data);
}


int
main(void)
{
    unit_ok(ngx_queues_base_handle_key_create(unit_secret, 31) == NULL,
            "a secret of 31 bytes is refused", NULL);

    ngx_queues_base_handle_key_destroy(NULL);

    unit_key = ngx_queues_base_handle_key_create(unit_secret, 32);
    unit_ok(unit_key != NULL, "a secret of 32 bytes is fine", NULL);

    unit_round_trips();
    unit_ranges();
    unit_tampering(NGX_QUEUES_BASE_SPOT_DELAYED);
    unit_tampering(NGX_QUEUES_BASE_SPOT_FIFO);

    unit_construction(NGX_QUEUES_BASE_SPOT_NEW,
                      "\x01\x23\x45\x67\x89\xab\xcd\xef"
                      "\xfe\xdc\xba\x98\x76\x54\x01\x99\xe0\xc0\xff\xee"
                      "\xde\xad\xbe\xef\xa1\xb2\xc3\xd4\xe5", 29);
    unit_construction(NGX_QUEUES_BASE_SPOT_DELAYED,
                      "\x81\x23\x45\x67\x89\xab\xcd\xef"
                      "\xfe\xdc\xba\x98\x76\x54\x01\x99\xe0\xc0\xff\xee"
                      "\xde\xad\xbe\xef\xa1\xb2\xc3\xd4\xe5", 29);
    unit_construction(NGX_QUEUES_BASE_SPOT_FIFO,
                      "\x41\x23\x45\x67\x89\xab\xcd\xef"
                      "\xfe\xdc\xba\x98\x76\x54\x01\x99\xe0\xc0\xff\xee"
                      "\xc0\xde\xde\xad\xbe\xef\xa1\xb2\xc3\xd4\xe5", 31);

    ngx_queues_base_handle_key_destroy(unit_key);

    return unit_done();
}
