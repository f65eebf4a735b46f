
#include "ngx_queues_base_lane.h"
#include "ngx_queues_base_bytes.h"


#define NGX_QUEUES_BASE_LANE_CHECK_BITS  22


static uint64_t ngx_queues_base_lane_check(uint64_t queue, uint64_t lane);


u_char *
ngx_queues_base_lane_print(u_char *p, uint64_t queue, uint64_t lane)
{
    u_char    *b, uuid[NGX_QUEUES_BASE_UUID_SIZE];
    uint64_t   tail;

    tail = lane << NGX_QUEUES_BASE_LANE_CHECK_BITS
           | ngx_queues_base_lane_check(queue, lane);

    tail |= 2ULL << 62;                             /* the variant */

    b = ngx_queues_base_bytes_write(uuid, queue >> 12, 6);
    b = ngx_queues_base_bytes_write(b, 0x8000 | (queue & 0x0fff), 2);

    ngx_queues_base_bytes_write(b, tail, 8);

    return ngx_queues_base_uuid_print(p, uuid);
}


ngx_int_t
ngx_queues_base_lane_parse(ngx_str_t *text, uint64_t *queue, uint64_t *lane)
{
    u_char    uuid[NGX_QUEUES_BASE_UUID_SIZE];
    uint64_t  middle, tail;

    if (ngx_queues_base_uuid_parse(text, uuid) != NGX_OK) {
        return NGX_ERROR;
    }

    middle = ngx_queues_base_bytes_read(uuid + 6, 2);
    tail = ngx_queues_base_bytes_read(uuid + 8, 8);

    if (middle >> 12 != 8 || tail >> 62 != 2) {
        return NGX_ERROR;
    }

    *queue = ngx_queues_base_bytes_read(uuid, 6) << 12 | (middle & 0x0fff);
    *lane = tail >> NGX_QUEUES_BASE_LANE_CHECK_BITS & NGX_QUEUES_BASE_LANE_MAX;

    tail &= (1 << NGX_QUEUES_BASE_LANE_CHECK_BITS) - 1;

    return tail == ngx_queues_base_lane_check(*queue, *lane) ? NGX_OK
                                                             : NGX_ERROR;
}


static uint64_t
ngx_queues_base_lane_check(uint64_t queue, uint64_t lane)
{
    return ngx_queues_base_mix(queue ^ ngx_queues_base_mix(lane))
           >> (64 - NGX_QUEUES_BASE_LANE_CHECK_BITS);
}


void
ngx_queues_base_lane_message(u_char *uuid, uint64_t ms, uint64_t queue,
    uint64_t lane, uint64_t offset)
{
    u_char    *p;
    uint64_t   tail;

    tail = ngx_queues_base_mix(lane ^ ngx_queues_base_mix(offset));
    tail = ngx_queues_base_mix(queue ^ tail) >> 14;

    tail |= (offset & 0x0fff) << 50;
    tail |= 2ULL << 62;                             /* the variant */

    p = ngx_queues_base_bytes_write(uuid, ms, 6);
    p = ngx_queues_base_bytes_write(p, 0x7000 | (offset >> 12 & 0x0fff), 2);

    ngx_queues_base_bytes_write(p, tail, 8);
}
