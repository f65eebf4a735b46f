
#include "ngx_queues_base_id.h"
#include "ngx_queues_base_bytes.h"
#include "ngx_queues_base_text.h"


/* digits of a UUID's text between its dashes, RFC 9562, 4 */

static const u_char  ngx_queues_base_uuid_groups[] = { 8, 4, 4, 4, 12 };

/* characters of a UUIDv7's text that say the moment */

#define NGX_QUEUES_BASE_UUID_MOMENT  13


static const u_char  ngx_queues_base_uuid_digits[] = "0123456789abcdef";

static const u_char  ngx_queues_base_short_digits[] =
    "0123456789abcdefghjkmnpqrstvwxyz";


void
ngx_queues_base_uuid_make(u_char *uuid, uint64_t ms, u_char *random)
{
    u_char  *p;

    p = ngx_queues_base_bytes_write(uuid, ms, 6);
    ngx_memcpy(p, random, NGX_QUEUES_BASE_UUID_RANDOM);

    uuid[6] = 0x70 | (uuid[6] & 0x0f);
    uuid[8] = 0x80 | (uuid[8] & 0x3f);
}


u_char *
ngx_queues_base_uuid_print(u_char *p, u_char *uuid)
{
    ngx_uint_t  i, group;

    for (group = 0; group < 5; group++) {
        if (group) {
            *p++ = '-';
        }

        for (i = 0; i < ngx_queues_base_uuid_groups[group]; i += 2) {
            *p++ = ngx_queues_base_uuid_digits[*uuid >> 4];
            *p++ = ngx_queues_base_uuid_digits[*uuid & 0x0f];
            uuid++;
        }
    }

    return p;
}


void
ngx_queues_base_uuid_rise(u_char *text)
{
    u_char             *p, bytes[2];
    ngx_str_t           digits;
    static u_char       moment[NGX_QUEUES_BASE_UUID_MOMENT];
    static ngx_uint_t   count;

    p = text + NGX_QUEUES_BASE_UUID_MOMENT + 2;        /* behind "-7" */

    if (ngx_memcmp(moment, text, NGX_QUEUES_BASE_UUID_MOMENT) == 0) {
        count++;

    } else {
        ngx_memcpy(moment, text, NGX_QUEUES_BASE_UUID_MOMENT);

        digits.data = p - 1;
        digits.len = 2 * sizeof(bytes);

        (void) ngx_queues_base_hex_parse(&digits, bytes);

        count = (bytes[0] & 0x7) << 8 | bytes[1];
    }

    p[0] = ngx_queues_base_uuid_digits[(count >> 8) & 0xf];
    p[1] = ngx_queues_base_uuid_digits[(count >> 4) & 0xf];
    p[2] = ngx_queues_base_uuid_digits[count & 0xf];
}


ngx_int_t
ngx_queues_base_uuid_parse(ngx_str_t *text, u_char *uuid)
{
    u_char      *p;
    ngx_str_t    digits;
    ngx_uint_t   group;

    if (text->len != NGX_QUEUES_BASE_UUID_LEN) {
        return NGX_ERROR;
    }

    p = text->data;

    for (group = 0; group < 5; group++) {
        if (group && *p++ != '-') {
            return NGX_ERROR;
        }

        digits.data = p;
        digits.len = ngx_queues_base_uuid_groups[group];

        if (ngx_queues_base_hex_parse(&digits, uuid) != NGX_OK) {
            return NGX_ERROR;
        }

        p += digits.len;
        uuid += digits.len / 2;
    }

    return NGX_OK;
}


uint64_t
ngx_queues_base_short_id(u_char *uuid)
{
    return ngx_queues_base_bytes_read(uuid + 8, 8) & NGX_QUEUES_BASE_SHORT_MASK;
}


u_char *
ngx_queues_base_short_print(u_char *p, uint64_t id)
{
    ngx_uint_t  i;

    for (i = NGX_QUEUES_BASE_SHORT_LEN; i > 0; i--) {
        p[i - 1] = ngx_queues_base_short_digits[id & 0x1f];
        id >>= 5;
    }

    return p + NGX_QUEUES_BASE_SHORT_LEN;
}


ngx_int_t
ngx_queues_base_short_parse(ngx_str_t *text, uint64_t *id)
{
    uint64_t       sum;
    ngx_uint_t     i;
    const u_char  *digit;

    if (text->len != NGX_QUEUES_BASE_SHORT_LEN) {
        return NGX_ERROR;
    }

    sum = 0;

    for (i = 0; i < NGX_QUEUES_BASE_SHORT_LEN; i++) {
        digit = memchr(ngx_queues_base_short_digits, text->data[i], 32);

        if (digit == NULL) {
            return NGX_ERROR;
        }

        sum = sum << 5 | (uint64_t) (digit - ngx_queues_base_short_digits);
    }

    *id = sum;

    return NGX_OK;
}


void
ngx_queues_base_message_id(u_char *uuid, uint64_t queue, uint64_t generation,
    uint64_t ms, uint32_t seq, ngx_uint_t delayed)
{
    u_char    *p;
    uint64_t   tail;

    tail = ngx_queues_base_mix(queue ^ ngx_queues_base_mix(generation))
           & 0x1ffffffffffULL;

    tail |= (uint64_t) (delayed != 0) << 41;
    tail |= (uint64_t) (seq >> 12) << 42;
    tail |= 2ULL << 62;                             /* the variant */

    p = ngx_queues_base_bytes_write(uuid, ms, 6);
    p = ngx_queues_base_bytes_write(p, 0x7000 | (seq & 0x0fff), 2);

    ngx_queues_base_bytes_write(p, tail, 8);
}


uint64_t
ngx_queues_base_mix(uint64_t n)
{
    n += 0x9e3779b97f4a7c15ULL;
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
    n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;

    return n ^ (n >> 31);
}
