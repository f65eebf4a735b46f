
#include "unit.h"
#include "ngx_queues_base_seal.h"
#include "ngx_queues_base_text.h"


/* sealed by Python's cryptography with the nonce 01..0c */

typedef struct {
    ngx_str_t    context;
    ngx_str_t    plain;
    ngx_str_t    text;
} unit_vector_t;


static u_char  unit_secret[] = "0123456789abcdef0123456789abcdef";

static ngx_queues_base_seal_key_t  *unit_key;

static ngx_str_t  unit_context = ngx_string("ngxq:{acme/shop}/7m2k9x0q4r1s");

static unit_vector_t  unit_vectors[] = {
    { ngx_string("ngxq:{acme/shop}/7m2k9x0q4r1s"),
      ngx_string("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e"
                 "\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d"
                 "\x1e\x1f"),
      ngx_string("AQECAwQFBgcICQoLDAG4IuSQ1gqK9Cm-sp-Pek7yQF1xXFXYf56ZpIg1v5II"
                 "on2RP0jQIwYreEixLeHGiw") },
    { ngx_string(""), ngx_string(""),
      ngx_string("AQECAwQFBgcICQoLDDXuXiLLcMFDu15HRyTwX1c") },
    { ngx_string("c"), ngx_string("x"),
      ngx_string("AQECAwQFBgcICQoLDHnM8XUywr3sZTORlgg4FdwG") }
};


/* in memory of its own; what is refused is wiped */

static ngx_uint_t
unit_opens(ngx_queues_base_seal_key_t *key, ngx_str_t *context,
    ngx_str_t *text, ngx_str_t *plain)
{
    u_char      *p;
    size_t       i;
    ngx_str_t    copy;
    ngx_int_t    rc;
    ngx_uint_t   ok;

    copy = unit_copy(text);
    p = malloc(plain->len ? plain->len : 1);
    memset(p, 0xaa, plain->len);

    rc = ngx_queues_base_seal_open(key, context, &copy, p, plain->len);

    ok = (rc == NGX_OK && memcmp(p, plain->data, plain->len) == 0);

    for (i = 0; rc != NGX_OK && i < plain->len; i++) {
        if (p[i] != 0) {
            printf("# not wiped\n");
            ok = 1;
            break;
        }
    }

    free(p);
    free(copy.data);

    return ok;
}


static ngx_str_t
unit_seal(ngx_queues_base_seal_key_t *key, ngx_str_t *context,
    ngx_str_t *plain)
{
    u_char     *end;
    ngx_str_t   text, copy;

    copy = unit_copy(plain);

    text.len = ngx_queues_base_base64url_length(plain->len
                                              + NGX_QUEUES_BASE_SEAL_OVERHEAD);
    text.data = malloc(text.len);

    end = ngx_queues_base_seal(key, context, &copy, text.data);

    if (end != text.data + text.len
        || text.len > ngx_queues_base_seal_length(plain->len)
        || text.data[0] != 'A'
        || !unit_same(&copy, plain))
    {
        abort();
    }

    free(copy.data);

    return text;
}


static void
unit_lengths(void)
{
    u_char      bytes[NGX_QUEUES_BASE_SEAL_MAX + 1];
    u_char      buf[ngx_queues_base_seal_length(sizeof(bytes))];
    ngx_str_t   plain, text, again, other;
    ngx_uint_t  i, bad, same, wrong;

    for (i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (u_char) unit_random();
    }

    plain.data = bytes;
    other.data = bytes;

    for (bad = 0, same = 0, wrong = 0, i = 0;
         i <= NGX_QUEUES_BASE_SEAL_MAX;
         i++)
    {
        plain.len = i;

        text = unit_seal(unit_key, &unit_context, &plain);
        again = unit_seal(unit_key, &unit_context, &plain);

        bad += !unit_opens(unit_key, &unit_context, &text, &plain);
        bad += !unit_opens(unit_key, &unit_context, &again, &plain);
        same += unit_same(&text, &again);

        for (other.len = 0; other.len < sizeof(bytes); other.len++) {
            if (other.len != i) {
                wrong += unit_opens(unit_key, &unit_context, &text, &other);
            }
        }

        free(text.data);
        free(again.data);
    }

    unit_ok(bad == 0, "all lengths open", NULL);
    unit_ok(same == 0, "each time it is another text", NULL);
    unit_ok(wrong == 0, "only the length that was sealed opens", NULL);

    plain.len = NGX_QUEUES_BASE_SEAL_MAX + 1;

    unit_ok(ngx_queues_base_seal(unit_key, &unit_context, &plain, buf) == NULL,
            "a longer text is not sealed", NULL);
}


static void
unit_tampering(void)
{
    u_char      sealed[128], buf[256];
    size_t      len;
    ngx_str_t   text, *plain, other;
    ngx_uint_t  i, bad;

    plain = &unit_vectors[0].plain;
    text = unit_seal(unit_key, &unit_context, plain);

    for (bad = 0, i = 0; i < text.len * 8; i++) {
        text.data[i / 8] ^= 1 << i % 8;
        bad += unit_opens(unit_key, &unit_context, &text, plain);
        text.data[i / 8] ^= 1 << i % 8;
    }

    unit_ok(bad == 0, "no flipped bit of the text opens", NULL);

    (void) ngx_queues_base_base64url_parse(&text, sealed, &len);

    other.data = buf;

    for (bad = 0, i = 0; i < len * 8; i++) {
        sealed[i / 8] ^= 1 << i % 8;
        other.len = ngx_queues_base_base64url_print(buf, sealed, len) - buf;
        bad += unit_opens(unit_key, &unit_context, &other, plain);
        sealed[i / 8] ^= 1 << i % 8;
    }

    unit_ok(bad == 0, "no flipped bit of the sealed bytes opens", NULL);

    for (bad = 0, i = 0; i < text.len; i++) {
        other.data = text.data;
        other.len = i;
        bad += unit_opens(unit_key, &unit_context, &other, plain);
    }

    memset(buf, 'A', sizeof(buf));
    memcpy(buf, text.data, text.len);
    other.data = buf;

    for (i = text.len + 1; i < sizeof(buf); i++) {
        other.len = i;
        bad += unit_opens(unit_key, &unit_context, &other, plain);
    }

    buf[text.len] = '=';
    other.len = text.len + 1;
    bad += unit_opens(unit_key, &unit_context, &other, plain);

    unit_ok(bad == 0, "no other length of the text opens", NULL);

    unit_ok(unit_opens(unit_key, &unit_context, &text, plain),
            "and untouched it opens", NULL);

    free(text.data);
}


static void
unit_contexts(void)
{
    ngx_str_t   text, *plain, context;
    ngx_uint_t  i, bad;

    plain = &unit_vectors[0].plain;
    text = unit_seal(unit_key, &unit_context, plain);
    context = unit_copy(&unit_context);

    for (bad = 0, i = 0; i < context.len * 8; i++) {
        context.data[i / 8] ^= 1 << i % 8;
        bad += unit_opens(unit_key, &context, &text, plain);
        context.data[i / 8] ^= 1 << i % 8;
    }

    unit_ok(bad == 0, "no other context opens", NULL);

    while (context.len) {
        context.len--;
        bad += unit_opens(unit_key, &context, &text, plain);
    }

    unit_ok(bad == 0, "nor does a part of it", NULL);

    free(context.data);
    free(text.data);
}


/* the keys of a file with several lines: each opens what it has sealed */

static void
unit_rotation(void)
{
    u_char                       secret[48];
    ngx_str_t                    text, *plain;
    ngx_uint_t                   i, k, bad;
    ngx_queues_base_seal_key_t  *keys[4];

    plain = &unit_vectors[0].plain;
    memset(secret, 's', sizeof(secret));

    for (i = 0; i < 4; i++) {
        secret[i] ^= 1;
        keys[i] = ngx_queues_base_seal_key_create(secret, 32 + 4 * i);
    }

    for (bad = 0, i = 0; i < 4; i++) {
        text = unit_seal(keys[i], &unit_context, plain);

        for (k = 0; k < 4; k++) {
            bad += (unit_opens(keys[k], &unit_context, &text, plain)
                    != (i == k));
        }

        free(text.data);
    }

    unit_ok(bad == 0, "a key opens what it has sealed, and nothing else", NULL);

    for (i = 0; i < 4; i++) {
        ngx_queues_base_seal_key_destroy(keys[i]);
    }
}


int
main(void)
{
    ngx_uint_t                   i;
    ngx_queues_base_seal_key_t  *key;

    unit_ok(ngx_queues_base_seal_key_create(unit_secret, 31) == NULL,
            "a secret of 31 bytes is refused", NULL);

    ngx_queues_base_seal_key_destroy(NULL);

    unit_key = ngx_queues_base_seal_key_create(unit_secret, 32);
    unit_ok(unit_key != NULL, "a secret of 32 bytes is fine", NULL);

    for (i = 0; i < UNIT_ROWS(unit_vectors); i++) {
        unit_ok(unit_opens(unit_key, &unit_vectors[i].context,
                           &unit_vectors[i].text, &unit_vectors[i].plain),
                "is as documented", &unit_vectors[i].text);
    }

    unit_lengths();
    unit_tampering();
    unit_contexts();
    unit_rotation();

    /* the same secret makes the same key, in another process as well */

    key = ngx_queues_base_seal_key_create(unit_secret, 32);
    unit_ok(unit_opens(key, &unit_vectors[0].context, &unit_vectors[0].text,
                       &unit_vectors[0].plain),
            "the same secret opens it", NULL);
    ngx_queues_base_seal_key_destroy(key);

    ngx_queues_base_seal_key_destroy(unit_key);

    return unit_done();
}
