
#include "unit.h"
#include "ngx_queues_base_envelope.h"


static u_char  unit_secret[] = "0123456789abcdef0123456789abcdef";

static ngx_queues_base_seal_key_t  *unit_key;

static ngx_str_t  unit_context = ngx_string("ngxq:{acme/shop}");


static ngx_str_t
unit_envelope(ngx_str_t *plain)
{
    u_char     *end;
    size_t      len;
    ngx_str_t   text, copy;

    copy = unit_copy(plain);
    len = ngx_queues_base_envelope_length(plain->len);

    text.data = malloc(len);
    end = ngx_queues_base_envelope_seal(unit_key, &unit_context, &copy,
                                        text.data);

    if (end == NULL || end + 1 != text.data + len || !unit_same(&copy, plain)) {
        abort();
    }

    text.len = end - text.data;

    free(copy.data);

    return text;
}


static ngx_uint_t
unit_opens(ngx_queues_base_seal_key_t *key, ngx_str_t *context,
    ngx_str_t *text, ngx_str_t *plain)
{
    ngx_str_t   copy, opened;
    ngx_uint_t  ok;

    copy = unit_copy(text);
    opened = unit_copy(text);

    ok = ngx_queues_base_envelope_open(key, context, &copy, &opened) == NGX_OK
         && unit_same(&opened, plain);

    free(copy.data);
    free(opened.data);

    return ok;
}


static void
unit_lengths(void)
{
    size_t      i;
    u_char      bytes[300];
    ngx_str_t   plain, text, again, other;
    ngx_uint_t  bad, same;

    for (i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (u_char) unit_random();
    }

    bad = 0;
    same = 0;

    for (i = 0; i <= sizeof(bytes); i++) {
        plain.data = bytes;
        plain.len = i;

        text = unit_envelope(&plain);
        again = unit_envelope(&plain);

        bad += !unit_opens(unit_key, &unit_context, &text, &plain);
        bad += !unit_opens(unit_key, &unit_context, &again, &plain);
        same += unit_same(&text, &again);

        other = text;

        for (other.len = 0; other.len < text.len; other.len++) {
            bad += unit_opens(unit_key, &unit_context, &other, &plain);
        }

        free(text.data);
        free(again.data);
    }

    unit_ok(bad == 0, "each length opens, and no part of it", NULL);
    unit_ok(same == 0, "no envelope comes twice", NULL);
}


static void
unit_tampering(void)
{
    size_t                       i;
    ngx_str_t                    plain, text, other;
    ngx_uint_t                   bad;
    ngx_queues_base_seal_key_t  *key;

    ngx_str_set(&plain, "{\"a\":[1,2,3]}");

    text = unit_envelope(&plain);
    bad = 0;

    for (i = 0; i < text.len; i++) {
        text.data[i] ^= 1;
        bad += unit_opens(unit_key, &unit_context, &text, &plain);
        text.data[i] ^= 1;
    }

    unit_ok(bad == 0, "no other character opens", NULL);

    ngx_str_set(&other, "ngxq:{acme/shoq}");
    unit_ok(!unit_opens(unit_key, &other, &text, &plain),
            "another context does not open it", NULL);

    key = ngx_queues_base_seal_key_create(unit_secret, 32);
    unit_ok(unit_opens(key, &unit_context, &text, &plain),
            "the same secret opens it", NULL);
    ngx_queues_base_seal_key_destroy(key);

    unit_secret[0]++;
    key = ngx_queues_base_seal_key_create(unit_secret, 32);
    unit_ok(!unit_opens(key, &unit_context, &text, &plain),
            "another one does not", NULL);
    ngx_queues_base_seal_key_destroy(key);

    free(text.data);
}


int
main(void)
{
    ngx_str_t  text, plain;

    /* sealed by Python's cryptography: a salt of 00..0f, a nonce of 10..1b */

    ngx_str_set(&plain, "{\"n\":1}");
    ngx_str_set(&text, "{\"encrypted\":\"P4i/GgaYaA==\",\"iv\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw==\""
                ",\"authTag\":\"rlvoA1EroN9DBqMW3fJs4Q==\"}");

    unit_key = ngx_queues_base_seal_key_create(unit_secret, 32);
    unit_ok(unit_opens(unit_key, &unit_context, &text, &plain),
            "is as documented", NULL);

    unit_lengths();
    unit_tampering();

    ngx_queues_base_seal_key_destroy(unit_key);

    return unit_done();
}
