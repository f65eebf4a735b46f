
#include "unit.h"
#include "ngx_queues_base_id.h"


static const char  *unit_uuids_refused[] = {
    "",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
    "017f22e279b07cc398c4dc0c0c07398f",
    "017f22e279b07cc398c4dc0c0c07398f0000",
    "017f22e2-79b0-7cc3-98c4_dc0c0c07398f",
    "017f22e-279b0-7cc3-98c4-dc0c0c07398f",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
    "g17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    "{17f22e2-79b0-7cc3-98c4-dc0c0c07398}",
    " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    "----------------------------------------",
    "------------------------------------"
};


static const char  *unit_shorts_refused[] = {
    "",
    "00000000000",
    "0000000000000",
    "00000000000A",
    "Z00000000000",
    "00000000000i",
    "00000000000l",
    "00000000000o",
    "00000000000u",
    "0000-0000000",
    "00000000000 ",
    "que_00000000"
};


static ngx_str_t
unit_string(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return unit_copy(&s);
}


static void
unit_uuid(void)
{
    u_char      uuid[16], again[16], text[36], *end;
    ngx_str_t   s;
    ngx_uint_t  i, bad;

    /* RFC 9562, A.6 */
    static u_char      random[] = "\x0c\xc3\x18\xc4\xdc\x0c\x0c\x07\x39\x8f";
    static const char  lower[] = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    static const char  upper[] = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F";

    ngx_queues_base_uuid_make(uuid, 0x017f22e279b0ULL, random);
    end = ngx_queues_base_uuid_print(text, uuid);
    unit_ok(end - text == 36 && memcmp(text, lower, 36) == 0,
            "the example of RFC 9562", NULL);

    s = unit_string(upper);
    unit_ok(ngx_queues_base_uuid_parse(&s, again) == NGX_OK
            && memcmp(uuid, again, 16) == 0, "parsed in upper case", NULL);
    free(s.data);

    ngx_queues_base_uuid_make(uuid, UINT64_MAX, (u_char *) "\xff\xff\xff\xff"
                              "\xff\xff\xff\xff\xff\xff");
    (void) ngx_queues_base_uuid_print(text, uuid);
    unit_ok(memcmp(text, "ffffffff-ffff-7fff-bfff-ffffffffffff", 36) == 0,
            "all ones keep version and variant", NULL);

    for (i = 0; i < UNIT_ROWS(unit_uuids_refused); i++) {
        s = unit_string(unit_uuids_refused[i]);
        unit_ok(ngx_queues_base_uuid_parse(&s, again) == NGX_ERROR,
                "uuid refused", &s);
        free(s.data);
    }

    bad = 0;

    for (i = 0; i < 16 * 10000; i++) {
        uuid[i % 16] = (u_char) unit_random();

        s.data = text;
        s.len = ngx_queues_base_uuid_print(text, uuid) - text;
        bad += (ngx_queues_base_uuid_parse(&s, again) != NGX_OK
                || memcmp(uuid, again, 16) != 0);
    }

    unit_ok(bad == 0, "random uuids round trip", NULL);
}


static void
unit_short(void)
{
    u_char      text[12], uuid[16];
    uint64_t    id, again;
    ngx_str_t   s;
    ngx_uint_t  i, bad;

    static const char  digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

    memset(uuid, 0xff, 16);
    unit_ok(ngx_queues_base_short_id(uuid) == NGX_QUEUES_BASE_SHORT_MASK,
            "60 bits of a uuid", NULL);

    memset(uuid, 0, 16);
    uuid[15] = 1;
    uuid[9] = 2;
    uuid[8] = 0xb3;
    unit_ok(ngx_queues_base_short_id(uuid) == 0x0302000000000001ULL,
            "the last 8 bytes", NULL);

    (void) ngx_queues_base_short_print(text, 0);
    unit_ok(memcmp(text, "000000000000", 12) == 0, "zero", NULL);

    (void) ngx_queues_base_short_print(text, NGX_QUEUES_BASE_SHORT_MASK);
    unit_ok(memcmp(text, "zzzzzzzzzzzz", 12) == 0, "all ones", NULL);

    bad = 0;

    for (i = 0; i < 32; i++) {
        s.len = ngx_queues_base_short_print(text, (uint64_t) i << 55) - text;
        s.data = text;
        bad += (s.len != 12 || text[0] != digits[i]
                || ngx_queues_base_short_parse(&s, &again) != NGX_OK
                || again != (uint64_t) i << 55);
    }

    for (i = 0; i < 10000; i++) {
        id = (uint64_t) unit_random() << 28 ^ unit_random();
        (void) ngx_queues_base_short_print(text, id);
        bad += (ngx_queues_base_short_parse(&s, &again) != NGX_OK
                || again != id);
    }

    unit_ok(bad == 0, "short ids round trip", NULL);
}


static void
unit_short_refused(void)
{
    u_char      text[12];
    uint64_t    again;
    ngx_str_t   s;
    ngx_uint_t  i, bad;

    for (i = 0; i < UNIT_ROWS(unit_shorts_refused); i++) {
        s = unit_string(unit_shorts_refused[i]);
        unit_ok(ngx_queues_base_short_parse(&s, &again) == NGX_ERROR,
                "short id refused", &s);
        free(s.data);
    }

    bad = 0;

    for (i = 0; i < 256; i++) {
        s.data = memcpy(text, "00000000000", 12);
        s.len = 12;
        text[11] = (u_char) i;
        bad += (ngx_queues_base_short_parse(&s, &again) == NGX_OK);
    }

    unit_ok(bad == 32, "32 of 256 bytes are digits", NULL);
}


static int
unit_compare(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}


static void
unit_message_id(void)
{
    u_char  a[16], b[16], text[36];

    ngx_queues_base_message_id(a, 1, 2, 0x123456789abcULL, 0xdeadbeef, 1);
    ngx_queues_base_message_id(b, 1, 2, 0x123456789abcULL, 0xdeadbeef, 1);
    (void) ngx_queues_base_uuid_print(text, a);

    unit_ok(memcmp(a, b, 16) == 0, "deterministic", NULL);
    unit_ok(memcmp(text, "12345678-9abc-7eef-", 19) == 0,
            "time, version and low bits of seq", NULL);
    unit_ok((a[8] >> 6) == 2, "variant", NULL);
    unit_ok((((uint32_t) a[8] << 16 | a[9] << 8 | a[10]) >> 2 & 0xfffff)
            == 0xdeadb, "high bits of seq", NULL);
    unit_ok((a[10] & 2) == 2, "delayed", NULL);

    ngx_queues_base_message_id(b, 1, 2, 0x123456789abcULL, 0xdeadbeef, 0);
    a[10] ^= 2;
    unit_ok(memcmp(a, b, 16) == 0, "not delayed differs in one bit", NULL);

    ngx_queues_base_message_id(a, 0, 0, 0, 0, 0);
    (void) ngx_queues_base_uuid_print(text, a);
    unit_ok(memcmp(text, "00000000-0000-7000-8000-0", 25) == 0
            && (a[11] | a[12] | a[13] | a[14] | a[15]) != 0,
            "zeros are mixed, too", NULL);
}


static void
unit_message_id_spread(void)
{
    u_char      (*all)[16], a[16], b[16];
    ngx_uint_t   i, j, bad, n;

    /* queues and generations in a row, seqs over both of its parts */

    n = 64 * 64 * 8;
    all = malloc(n * 16);
    bad = 0;

    for (i = 0; i < n; i++) {
        ngx_queues_base_message_id(all[i], i % 64, i / 64 % 64, 1000,
                                   (uint32_t) (i / 4096 / 2 * 4095),
                                   i / 4096 % 2);
    }

    qsort(all, n, 16, unit_compare);

    for (i = 1; i < n; i++) {
        bad += (memcmp(all[i - 1], all[i], 16) == 0);
    }

    unit_ok(bad == 0, "32768 neighbours, all different", NULL);

    /* a bit of queue or generation moves about half of the 41 */

    for (bad = 0, i = 0; i < 108; i++) {
        ngx_queues_base_message_id(a, 77, 5, 0, 0, 0);
        ngx_queues_base_message_id(b, 77 ^ (i < 60 ? 1ULL << i : 0),
                                   5 ^ (i < 60 ? 0 : 1ULL << (i - 60)),
                                   0, 0, 0);

        for (n = 0, j = 0; j < 128; j++) {
            n += ((a[j / 8] ^ b[j / 8]) >> j % 8) & 1;
        }

        bad += (n < 8 || n > 33);
    }

    unit_ok(bad == 0, "every bit of queue and generation matters", NULL);

    free(all);
}


int
main(void)
{
    unit_uuid();
    unit_short();
    unit_short_refused();
    unit_message_id();
    unit_message_id_spread();

    return unit_done();
}
