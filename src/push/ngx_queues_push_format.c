
#include "ngx_queues_push_engine.h"
#include "../base/ngx_queues_base_json.h"
#include "../base/ngx_queues_base_retry.h"


/* a body without its messages: 118 bytes */
#define NGX_QUEUES_PUSH_BODY_FIXED     128

/* a message's braces, commas and id: 55 bytes */
#define NGX_QUEUES_PUSH_MESSAGE_FIXED  64

#define ngx_queues_push_copy(p, text)  ngx_cpymem(p, text, sizeof(text) - 1)


static size_t ngx_queues_push_format_length(ngx_queues_store_result_t *result);
static u_char *ngx_queues_push_format_print(u_char *p,
    ngx_queues_push_delivery_t *d, ngx_queues_store_result_t *result);
static u_char *ngx_queues_push_format_message(u_char *p, u_char *id,
    ngx_queues_store_message_t *message);
static size_t ngx_queues_push_format_lines_length(void);
static u_char *ngx_queues_push_format_lines(void *data, u_char *p);
static void ngx_queues_push_format_secrets(ngx_queues_push_config_t *config,
    uint64_t t, ngx_queues_base_secrets_t *secrets);
static void ngx_queues_push_format_failed(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer);


/* subscriptions of the Queues API */

const ngx_queues_push_format_t  ngx_queues_push_format_queues = {
    ngx_queues_push_format_length,
    ngx_queues_push_format_print,
    ngx_queues_push_format_lines_length,
    ngx_queues_push_format_lines,
    ngx_queues_push_format_failed
};


static size_t
ngx_queues_push_format_length(ngx_queues_store_result_t *result)
{
    size_t      len;
    ngx_uint_t  i;

    len = NGX_QUEUES_PUSH_BODY_FIXED;

    for (i = 0; i < result->nmessages; i++) {
        len += NGX_QUEUES_PUSH_MESSAGE_FIXED
               + ngx_queues_store_message_length(&result->messages[i]);
    }

    return len;
}


static u_char *
ngx_queues_push_format_print(u_char *p, ngx_queues_push_delivery_t *d,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t  i;

    p = ngx_queues_push_copy(p, "{\"subscription\":\"qsb_");
    p = ngx_cpymem(p, d->id, NGX_QUEUES_PUSH_ID_LEN);

    p = ngx_queues_push_copy(p, "\",\"queue\":\"que_");
    p = ngx_queues_base_short_print(p, d->place.queue);

    p = ngx_queues_push_copy(p, "\",\"deliveryId\":\"");
    p = ngx_cpymem(p, d->uuid, NGX_QUEUES_BASE_UUID_LEN);

    p = ngx_queues_push_copy(p, "\",\"messages\":[");

    for (i = 0; i < result->nmessages; i++) {

        if (i) {
            *p++ = ',';
        }

        p = ngx_queues_push_format_message(p, d->messages[i].id,
                                           &result->messages[i]);
    }

    *p++ = ']';
    *p++ = '}';

    return p;
}


static u_char *
ngx_queues_push_format_message(u_char *p, u_char *id,
    ngx_queues_store_message_t *message)
{
    p = ngx_queues_push_copy(p, "{\"messageId\":\"");
    p = ngx_cpymem(p, id, NGX_QUEUES_BASE_UUID_LEN);

    *p++ = '"';
    *p++ = ',';
    p = ngx_queues_store_message_print(p, message);
    *p++ = ',';
    p = ngx_queues_store_message_print_count(p, message);

    *p++ = '}';

    return p;
}


static size_t
ngx_queues_push_format_lines_length(void)
{
    return 2 * ngx_queues_push_engine.conf->header_prefix.len
           + sizeof("-Signature: " CRLF) + NGX_QUEUES_BASE_SIGNATURE_MAX
           + sizeof("-Delivery-Id: " CRLF) + NGX_QUEUES_BASE_UUID_LEN
           + sizeof("webhook-id: " CRLF) + NGX_QUEUES_BASE_UUID_LEN
           + sizeof("webhook-timestamp: " CRLF) + NGX_QUEUES_BASE_DECIMAL_MAX
           + sizeof("webhook-signature: " CRLF) + NGX_QUEUES_BASE_WEBHOOK_MAX;
}


/* made where the request is sent: a signature is good for some minutes */

static u_char *
ngx_queues_push_format_lines(void *data, u_char *p)
{
    uint64_t                    t;
    ngx_str_t                   id, *prefix;
    ngx_queues_base_secrets_t   secrets;
    ngx_queues_push_delivery_t *d = data;

    prefix = &ngx_queues_push_engine.conf->header_prefix;

    id.data = d->uuid;
    id.len = NGX_QUEUES_BASE_UUID_LEN;

    t = (d->now + (ngx_current_msec - d->since)) / 1000;

    ngx_queues_push_format_secrets(d->config, t, &secrets);

    p = ngx_cpymem(p, prefix->data, prefix->len);
    p = ngx_queues_push_copy(p, "-Signature: ");
    p = ngx_queues_base_sign(p, &secrets, t, &d->body);

    if (p) {
        *p++ = CR;
        *p++ = LF;

        p = ngx_cpymem(p, prefix->data, prefix->len);
        p = ngx_queues_push_copy(p, "-Delivery-Id: ");
        p = ngx_cpymem(p, id.data, id.len);

        p = ngx_queues_push_copy(p, CRLF "webhook-id: ");
        p = ngx_cpymem(p, id.data, id.len);

        p = ngx_queues_push_copy(p, CRLF "webhook-timestamp: ");
        p = ngx_queues_base_decimal_print(p, t);

        p = ngx_queues_push_copy(p, CRLF "webhook-signature: ");
        p = ngx_queues_base_sign_webhook(p, &secrets, &id, t, &d->body);
    }

    if (p) {
        *p++ = CR;
        *p++ = LF;
    }

    ngx_explicit_memzero(&secrets, sizeof(ngx_queues_base_secrets_t));

    return p;
}


/* those that have not ended; the newest one never does */

static void
ngx_queues_push_format_secrets(ngx_queues_push_config_t *config, uint64_t t,
    ngx_queues_base_secrets_t *secrets)
{
    ngx_uint_t  i;

    secrets->n = 0;

    for (i = 0; i < config->secrets.n; i++) {
        if (config->until[i] == 0 || config->until[i] > t) {
            ngx_memcpy(secrets->keys[secrets->n++], config->secrets.keys[i],
                       NGX_QUEUES_BASE_SECRET_SIZE);
        }
    }
}


/* anything but the list means that there are none */

static void
ngx_queues_push_format_failed(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer)
{
    ngx_str_t                      id;
    ngx_uint_t                     i;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   list, value;

    if (!answer->whole
        || ngx_queues_base_failures(&answer->body, &list) != NGX_OK)
    {
        return;
    }

    ngx_queues_base_json_open(&it, &list);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {

        for (i = 0; i < d->nmessages; i++) {
            id.data = d->messages[i].id;
            id.len = NGX_QUEUES_BASE_UUID_LEN;

            if (ngx_queues_base_json_equal(&value.raw, &id)) {
                d->messages[i].failed = 1;
            }
        }
    }
}
