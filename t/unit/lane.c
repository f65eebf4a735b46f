
#include "unit.h"
#include "ngx_queues_base_lane.h"


static ngx_str_t
unit_lane(u_char *buf, uint64_t queue, uint64_t lane)
{
    ngx_str_t  text;

    text.data = buf;
    text.len = ngx_queues_base_lane_print(buf, queue, lane) - buf;

    return text;
}


static void
unit_lane_text(void)
{
    u_char     buf[36];
    uint64_t   queue, lane;
    ngx_str_t  text;

    text = unit_lane(buf, 0x0123456789abcdeULL, 0x123456789aULL);

    unit_ok(text.len == 36
            && memcmp(buf, "01234567-89ab-8cde-", 19) == 0,
            "short id and version", &text);
    unit_ok(buf[19] >= '8' && buf[19] <= 'b', "variant", &text);

    unit_ok(ngx_queues_base_lane_parse(&text, &queue, &lane) == NGX_OK
            && queue == 0x0123456789abcdeULL && lane == 0x123456789aULL,
            "parsed", &text);

    text = unit_lane(buf, NGX_QUEUES_BASE_SHORT_MASK,
                     NGX_QUEUES_BASE_LANE_MAX);

    unit_ok(memcmp(buf, "ffffffff-ffff-8fff-bfff-ffffff", 30) == 0,
            "the largest", &text);
    unit_ok(ngx_queues_base_lane_parse(&text, &queue, &lane) == NGX_OK
            && queue == NGX_QUEUES_BASE_SHORT_MASK
            && lane == NGX_QUEUES_BASE_LANE_MAX, "parsed", &text);
}


static void
unit_lane_refused(void)
{
    u_char      buf[36], uuid[16], c;
    uint64_t    queue, lane, q, l;
    ngx_str_t   text, copy;
    ngx_uint_t  i, k, bad, passed;

    static const char  hex[] = "0123456789abcdef";

    bad = 0;
    passed = 0;

    for (k = 0; k < 1000; k++) {
        queue = (uint64_t) unit_random() << 28 ^ unit_random();
        lane = (uint64_t) unit_random() << 8 ^ unit_random();

        text = unit_lane(buf, queue, lane);
        bad += (ngx_queues_base_lane_parse(&text, &q, &l) != NGX_OK
                || q != queue || l != lane);

        /* no other digit in any place */

        for (i = 0; i < 36; i++) {
            c = buf[i];

            if (c == '-') {
                continue;
            }

            buf[i] = hex[unit_random() % 16];
            passed += (buf[i] != c
                       && ngx_queues_base_lane_parse(&text, &q, &l) == NGX_OK);
            buf[i] = c;
        }
    }

    unit_ok(bad == 0, "1000 round trips", NULL);
    unit_ok(passed <= 1, "with one digit changed they are not ours", NULL);

    text = unit_lane(buf, 1, 1);
    text.len = 35;
    copy = unit_copy(&text);
    unit_ok(ngx_queues_base_lane_parse(&copy, &q, &l) == NGX_ERROR,
            "cut short", &copy);
    free(copy.data);

    for (i = 0, passed = 0; i < 100000; i++) {
        for (k = 0; k < 16; k++) {
            uuid[k] = (u_char) unit_random();
        }

        uuid[6] = 0x80 | (uuid[6] & 0x0f);
        uuid[8] = 0x80 | (uuid[8] & 0x3f);

        text.data = buf;
        text.len = ngx_queues_base_uuid_print(buf, uuid) - buf;
        passed += (ngx_queues_base_lane_parse(&text, &q, &l) == NGX_OK);
    }

    unit_ok(passed <= 2, "of 100000 random ones hardly any", NULL);
}


static int
unit_compare(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}


static void
unit_message(void)
{
    u_char      (*all)[16], before[16], id[16], text[36];
    ngx_uint_t   i, n, bad;

    ngx_queues_base_lane_message(id, 0x123456789abcULL, 5, 6, 0xabcdef);
    (void) ngx_queues_base_uuid_print(text, id);

    unit_ok(memcmp(text, "12345678-9abc-7abc-", 19) == 0,
            "time, version and high bits of the offset", NULL);
    unit_ok(id[8] >> 6 == 2 && (((id[8] << 8 | id[9]) >> 2) & 0xfff) == 0xdef,
            "variant and low bits", NULL);

    memset(before, 0, 16);
    bad = 0;

    for (i = 1; i < 100000; i++) {
        ngx_queues_base_lane_message(id, 1000, 77, 5, i);
        bad += (memcmp(before, id, 16) >= 0);
        memcpy(before, id, 16);
    }

    unit_ok(bad == 0, "100000 of one ms and partition sort", NULL);

    /* neighbours in all three, offsets on both sides of 2^24 */

    n = 32 * 1024 * 8;
    all = malloc(n * 16);

    for (i = 0; i < n; i++) {
        ngx_queues_base_lane_message(all[i], 1000, i % 32, i / 32 % 1024,
                                     (uint64_t) (i / 32 / 1024) << 22);
    }

    qsort(all, n, 16, unit_compare);

    for (i = 1, bad = 0; i < n; i++) {
        bad += (memcmp(all[i - 1], all[i], 16) == 0);
    }

    unit_ok(bad == 0, "262144 of one ms, all different", NULL);

    free(all);
}


int
main(void)
{
    unit_lane_text();
    unit_lane_refused();
    unit_message();

    return unit_done();
}
