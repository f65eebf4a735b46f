
/*
 * Ids: an id has one text, its parts come back out of it.
 */

#include "fuzz.h"
#include "ngx_queues_base_bytes.h"
#include "ngx_queues_base_id.h"
#include "ngx_queues_base_lane.h"


static void
fuzz_uuid_text(ngx_str_t *text)
{
    int        n;
    size_t     i;
    u_char     uuid[NGX_QUEUES_BASE_UUID_SIZE];
    u_char     again[NGX_QUEUES_BASE_UUID_LEN];
    ngx_int_t  rc;

    rc = ngx_queues_base_uuid_parse(text, uuid);

    n = (text->len == NGX_QUEUES_BASE_UUID_LEN);

    for (i = 0; n && i < text->len; i++) {
        n = (i == 8 || i == 13 || i == 18 || i == 23)
            ? text->data[i] == '-' : isxdigit(text->data[i]) != 0;
    }

    fuzz_assert(rc == (n ? NGX_OK : NGX_ERROR));

    if (rc == NGX_OK) {
        fuzz_assert(ngx_queues_base_uuid_print(again, uuid)
                    == again + sizeof(again));
        fuzz_assert(strncasecmp((char *) again, (char *) text->data,
                                sizeof(again))
                    == 0);
    }
}


static void
fuzz_short_text(ngx_str_t *text)
{
    u_char     again[NGX_QUEUES_BASE_SHORT_LEN];
    size_t     i;
    uint64_t   id;
    ngx_int_t  rc;

    rc = ngx_queues_base_short_parse(text, &id);

    for (i = 0; i < text->len; i++) {
        if ((!islower(text->data[i]) && !isdigit(text->data[i]))
            || memchr("ilou", text->data[i], 4))
        {
            break;
        }
    }

    if (i < text->len || i != NGX_QUEUES_BASE_SHORT_LEN) {
        fuzz_assert(rc == NGX_ERROR);
        return;
    }

    fuzz_assert(rc == NGX_OK && !(id & ~NGX_QUEUES_BASE_SHORT_MASK));
    fuzz_assert(ngx_queues_base_short_print(again, id)
                == again + sizeof(again));
    fuzz_assert(memcmp(again, text->data, sizeof(again)) == 0);
}


static void
fuzz_uuid_bytes(ngx_str_t *bytes)
{
    u_char      uuid[NGX_QUEUES_BASE_UUID_SIZE];
    u_char      again[NGX_QUEUES_BASE_UUID_SIZE];
    u_char      printed[NGX_QUEUES_BASE_UUID_LEN];
    u_char      random[NGX_QUEUES_BASE_UUID_RANDOM];
    uint64_t    ms, id, parsed;
    ngx_str_t   rest, text;
    ngx_uint_t  i;

    rest = *bytes;
    ms = fuzz_number(&rest, 8);

    for (i = 0; i < sizeof(random); i++) {
        random[i] = (u_char) fuzz_number(&rest, 1);
    }

    ngx_queues_base_uuid_make(uuid, ms, random);

    fuzz_assert(ngx_queues_base_bytes_read(uuid, 6)
                == (ms & 0xffffffffffffULL));
    fuzz_assert(uuid[6] >> 4 == 7 && uuid[8] >> 6 == 2);
    fuzz_assert(((uuid[6] ^ random[0]) & 0x0f) == 0 && uuid[7] == random[1]
                && ((uuid[8] ^ random[2]) & 0x3f) == 0
                && memcmp(uuid + 9, random + 3, 7) == 0);

    text.data = printed;
    text.len = ngx_queues_base_uuid_print(printed, uuid) - printed;

    fuzz_assert(ngx_queues_base_uuid_parse(&text, again) == NGX_OK);
    fuzz_assert(memcmp(uuid, again, sizeof(uuid)) == 0);

    id = ngx_queues_base_short_id(uuid);
    fuzz_assert(id == (ngx_queues_base_bytes_read(uuid + 8, 8) << 4 >> 4));

    text.len = ngx_queues_base_short_print(printed, id) - printed;

    fuzz_assert(ngx_queues_base_short_parse(&text, &parsed) == NGX_OK);
    fuzz_assert(parsed == id);
}


static void
fuzz_message_id(ngx_str_t *bytes)
{
    u_char      uuid[NGX_QUEUES_BASE_UUID_SIZE];
    u_char      other[NGX_QUEUES_BASE_UUID_SIZE];
    uint64_t    ms, seq, queue, generation, tail;
    ngx_str_t   rest;
    ngx_uint_t  delayed;

    rest = *bytes;

    delayed = fuzz_number(&rest, 1) & 3;
    ms = fuzz_number(&rest, 6);
    seq = fuzz_number(&rest, 4);
    queue = fuzz_number(&rest, 8) & NGX_QUEUES_BASE_SHORT_MASK;
    generation = fuzz_number(&rest, 6);

    ngx_queues_base_message_id(uuid, queue, generation, ms, (uint32_t) seq,
                               delayed);

    tail = ngx_queues_base_bytes_read(uuid + 8, 8);

    fuzz_assert(uuid[6] >> 4 == 7 && tail >> 62 == 2);
    fuzz_assert(ngx_queues_base_bytes_read(uuid, 6) == ms);
    fuzz_assert((ngx_queues_base_bytes_read(uuid + 6, 2) & 0x0fff)
                == (seq & 0x0fff));
    fuzz_assert((tail >> 42 & 0xfffff) == seq >> 12);
    fuzz_assert((tail >> 41 & 1) == (delayed != 0));

    /* the same queue mixes to the same bits for all of its messages */

    ngx_queues_base_message_id(other, queue, generation, ~ms, ~(uint32_t) seq,
                               !delayed);

    fuzz_assert(((ngx_queues_base_bytes_read(other + 8, 8) ^ tail)
                 & 0x1ffffffffffULL)
                == 0);
}


static void
fuzz_lane_text(ngx_str_t *text)
{
    u_char    again[NGX_QUEUES_BASE_UUID_LEN];
    uint64_t  queue, lane;

    if (ngx_queues_base_lane_parse(text, &queue, &lane) != NGX_OK) {
        return;
    }

    fuzz_assert(queue <= NGX_QUEUES_BASE_SHORT_MASK
                && lane <= NGX_QUEUES_BASE_LANE_MAX);
    fuzz_assert(ngx_queues_base_lane_print(again, queue, lane)
                == again + sizeof(again));
    fuzz_assert(strncasecmp((char *) again, (char *) text->data, sizeof(again))
                == 0);
}


static void
fuzz_lane_numbers(ngx_str_t *bytes)
{
    u_char     text[NGX_QUEUES_BASE_UUID_LEN], id[NGX_QUEUES_BASE_UUID_SIZE];
    uint64_t   queue, lane, offset, ms, q, l;
    ngx_str_t  rest, s;

    rest = *bytes;

    ms = fuzz_number(&rest, 6);
    offset = fuzz_number(&rest, 6);
    queue = fuzz_number(&rest, 8) & NGX_QUEUES_BASE_SHORT_MASK;
    lane = fuzz_number(&rest, 5);

    s.data = text;
    s.len = ngx_queues_base_lane_print(text, queue, lane) - text;

    fuzz_assert(ngx_queues_base_lane_parse(&s, &q, &l) == NGX_OK
                && q == queue && l == lane);

    ngx_queues_base_lane_message(id, ms, queue, lane, offset);

    fuzz_assert(id[6] >> 4 == 7 && id[8] >> 6 == 2);
    fuzz_assert(ngx_queues_base_bytes_read(id, 6) == ms);
    fuzz_assert(((ngx_queues_base_bytes_read(id + 6, 2) & 0x0fff) << 12
                 | (ngx_queues_base_bytes_read(id + 8, 2) >> 2 & 0x0fff))
                == (offset & 0xffffff));
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  text;

    text.data = (u_char *) data;
    text.len = size;

    fuzz_uuid_text(&text);
    fuzz_short_text(&text);
    fuzz_uuid_bytes(&text);
    fuzz_message_id(&text);
    fuzz_lane_text(&text);
    fuzz_lane_numbers(&text);

    return 0;
}
