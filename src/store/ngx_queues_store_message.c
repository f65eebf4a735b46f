
#include "ngx_queues_store_push.h"
#include "../base/ngx_queues_base_json.h"
#include "../base/ngx_queues_base_text.h"


/*
 * What is written of a message beside its group, body and attributes, with the
 * longest numbers: 132 bytes.
 */
#define NGX_QUEUES_STORE_MESSAGE_FIXED  144

/* what a dead letter's attributes have more, with the longest numbers: 152 */
#define NGX_QUEUES_STORE_MOVED_FIXED  192


static u_char *ngx_queues_store_attributes_print(u_char *p,
    ngx_queues_store_message_t *message);
static ngx_uint_t ngx_queues_store_no_attributes(ngx_str_t *attributes);


/* an entry's number of more than 32 bits is cut to them */

u_char *
ngx_queues_store_message_id(u_char *p, ngx_queues_store_place_t *place,
    ngx_queues_base_spot_t *spot)
{
    u_char  uuid[NGX_QUEUES_BASE_UUID_SIZE];

    ngx_queues_base_message_id(uuid, place->queue, place->generation,
                               spot->major, (uint32_t) spot->minor,
                               spot->kind == NGX_QUEUES_BASE_SPOT_DELAYED);

    return ngx_queues_base_uuid_print(p, uuid);
}


size_t
ngx_queues_store_message_length(ngx_queues_store_message_t *message)
{
    size_t  len;

    len = NGX_QUEUES_STORE_MESSAGE_FIXED + message->body.len
          + ngx_max(message->attributes.len, sizeof("{}") - 1);

    if (message->group.len) {
        len += ngx_queues_base_json_escape_length(&message->group);
    }

    if (message->origin.source) {
        len += NGX_QUEUES_STORE_MOVED_FIXED;
    }

    return len;
}


u_char *
ngx_queues_store_message_print(u_char *p, ngx_queues_store_message_t *message)
{
    p = ngx_queues_base_copy(p, "\"body\":\"");
    p = ngx_cpymem(p, message->body.data, message->body.len);

    p = ngx_queues_base_copy(p, "\",\"attributes\":");
    p = ngx_queues_store_attributes_print(p, message);

    p = ngx_queues_base_copy(p, ",\"sentAt\":\"");
    p = ngx_queues_base_time_print(p,
                             (int64_t) (message->origin.spot.major / 1000));
    *p++ = '"';

    return p;
}


u_char *
ngx_queues_store_message_print_count(u_char *p,
    ngx_queues_store_message_t *message)
{
    p = ngx_queues_base_copy(p, "\"receiveCount\":");
    p = ngx_queues_base_decimal_print(p, message->count);

    if (message->group.len) {
        p = ngx_queues_base_copy(p, ",\"groupId\":\"");
        p = ngx_queues_base_json_escape(p, &message->group);

        p = ngx_queues_base_copy(p, "\",\"seq\":\"");
        p = ngx_queues_base_decimal_print(p, message->spot.minor);
        *p++ = '"';
    }

    return p;
}


/* as they were sent, byte for byte, and what a dead letter has more */

static u_char *
ngx_queues_store_attributes_print(u_char *p,
    ngx_queues_store_message_t *message)
{
    ngx_str_t                  *attributes;
    ngx_queues_store_origin_t  *origin;

    attributes = &message->attributes;
    origin = &message->origin;

    if (origin->source == 0) {
        return attributes->len
               ? ngx_cpymem(p, attributes->data, attributes->len)
               : ngx_queues_base_copy(p, "{}");
    }

    if (ngx_queues_store_no_attributes(attributes)) {
        *p++ = '{';

    } else {
        p = ngx_cpymem(p, attributes->data, attributes->len - 1);
        *p++ = ',';
    }

    p = ngx_queues_base_copy(p, "\"ezgh.deadLetterSourceQueue\":\"que_");
    p = ngx_queues_base_short_print(p, origin->source);

    p = ngx_queues_base_copy(p, "\",\"ezgh.deadLetterReceiveCount\":\"");
    p = ngx_queues_base_decimal_print(p, origin->receives);

    p = ngx_queues_base_copy(p, "\",\"ezgh.deadLetteredAt\":\"");
    p = ngx_queues_base_time_print(p, (int64_t) (origin->moved / 1000));

    *p++ = '"';
    *p++ = '}';

    return p;
}


static ngx_uint_t
ngx_queues_store_no_attributes(ngx_str_t *attributes)
{
    size_t  i;

    for (i = 1; i < attributes->len; i++) {
        if (attributes->data[i] == '"') {
            return 0;
        }
    }

    return 1;
}
