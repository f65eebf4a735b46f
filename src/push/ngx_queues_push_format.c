
#include "ngx_queues_push_engine.h"
#include "../base/ngx_queues_base_json.h"
#include "../base/ngx_queues_base_retry.h"


/* a body without its messages: 118 bytes */
#define NGX_QUEUES_PUSH_BODY_FIXED     128

/* a message's braces, commas and id: 55 bytes */
#define NGX_QUEUES_PUSH_MESSAGE_FIXED  64

/* the root of a project, "/" and a short id */
#define NGX_QUEUES_PUSH_CONTEXT_MAX    512

/* ms: "at once" is a little later, so that nobody is hammered */
#define NGX_QUEUES_PUSH_AT_ONCE        100

#define NGX_QUEUES_PUSH_FIELDS                                                \
    "User-Agent: ngx_queues" CRLF "Content-Type: application/json" CRLF


static void ngx_queues_push_format_configure(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned, ngx_str_t *url,
    u_char *buf, ngx_str_t *text);
static void ngx_queues_push_format_seals(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned);
static ngx_int_t ngx_queues_push_format_sealed(
    ngx_queues_push_config_t *config, ngx_str_t *context, ngx_str_t *until,
    ngx_str_t *sealed);
static ngx_int_t ngx_queues_push_format_request(ngx_queues_push_delivery_t *d,
    ngx_queues_store_result_t *result);
static size_t ngx_queues_push_format_length(ngx_queues_store_result_t *result);
static u_char *ngx_queues_push_format_print(u_char *p,
    ngx_queues_push_delivery_t *d, ngx_queues_store_result_t *result);
static u_char *ngx_queues_push_format_message(u_char *p, u_char *id,
    ngx_queues_store_message_t *message);
static size_t ngx_queues_push_format_lines_length(
    ngx_queues_push_delivery_t *d);
static u_char *ngx_queues_push_format_lines(void *data, u_char *p);
static void ngx_queues_push_format_secrets(ngx_queues_push_config_t *config,
    uint64_t t, ngx_queues_base_secrets_t *secrets);
static void ngx_queues_push_format_failed(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer);
static ngx_uint_t ngx_queues_push_format_throttled(
    ngx_queues_push_delivery_t *d);
static uint64_t ngx_queues_push_format_delay(ngx_queues_push_delivery_t *d,
    ngx_queues_push_message_t *message, ngx_queues_push_answer_t *answer);
static int64_t ngx_queues_push_format_after(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer);
static uint32_t ngx_queues_push_format_random(void);


/* subscriptions of the Queues API */

const ngx_queues_push_format_t  ngx_queues_push_format_queues = {
    ngx_queues_push_format_configure,
    ngx_queues_push_format_request,
    ngx_queues_push_format_lines_length,
    ngx_queues_push_format_lines,
    ngx_queues_push_format_failed,
    ngx_queues_push_format_throttled,
    ngx_queues_push_format_delay,
    0,
    NGX_QUEUES_STAT_QUEUES
};


static void
ngx_queues_push_format_configure(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned, ngx_str_t *url,
    u_char *buf, ngx_str_t *text)
{
    config->wrong = ngx_queues_base_endpoint_parse(url,
                                   &ngx_queues_push_engine.conf->rules, buf,
                                   &config->endpoint);

    ngx_queues_push_format_seals(config, root, owned);

    /*
     * Without a secret nothing can be signed.  That is nothing an endpoint
     * can be blamed for: the messages wait.
     */

    config->ready = (config->secrets.n > 0);
}


/* UNTIL SEALED, and so on; what no key opens any more is left out */

static void
ngx_queues_push_format_seals(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned)
{
    u_char     *p;
    u_char      buf[NGX_QUEUES_PUSH_CONTEXT_MAX];
    ngx_str_t   text, until, sealed, context;

    if (root->len + 1 + owned->id.len > sizeof(buf)) {
        return;
    }

    p = ngx_cpymem(buf, root->data, root->len);
    *p++ = '/';
    p = ngx_cpymem(p, owned->id.data, owned->id.len);

    context.data = buf;
    context.len = p - buf;

    text = owned->secrets;

    while (ngx_queues_base_word(&text, ' ', &until) == NGX_OK
           && ngx_queues_base_word(&text, ' ', &sealed) == NGX_OK)
    {
        if (config->secrets.n == NGX_QUEUES_BASE_SECRETS_MAX) {
            return;
        }

        if (ngx_queues_push_format_sealed(config, &context, &until, &sealed)
            != NGX_OK)
        {
            ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                          "a signing secret of \"%V\" does not open with "
                          "the keys of \"queues_secret_file\"", &context);
        }
    }
}


static ngx_int_t
ngx_queues_push_format_sealed(ngx_queues_push_config_t *config,
    ngx_str_t *context, ngx_str_t *until, ngx_str_t *sealed)
{
    uint64_t                 ends;
    ngx_uint_t               i, n;
    ngx_queues_conf_push_t  *conf;

    conf = ngx_queues_push_engine.conf;
    n = config->secrets.n;

    if (ngx_queues_base_decimal_parse(until, &ends) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < conf->nseal_keys; i++) {

        if (ngx_queues_base_seal_open(conf->seal_keys[i], context, sealed,
                                      config->secrets.keys[n],
                                      NGX_QUEUES_BASE_SECRET_SIZE)
            == NGX_OK)
        {
            config->until[n] = ends;
            config->secrets.n++;

            return NGX_OK;
        }
    }

    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_push_format_request(ngx_queues_push_delivery_t *d,
    ngx_queues_store_result_t *result)
{
    d->body.data = ngx_alloc(ngx_queues_push_format_length(result),
                             ngx_cycle->log);
    if (d->body.data == NULL) {
        return NGX_ERROR;
    }

    d->body.len = ngx_queues_push_format_print(d->body.data, d, result)
                  - d->body.data;

    return NGX_OK;
}


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

    p = ngx_queues_base_copy(p, "{\"subscription\":\"qsb_");
    p = ngx_cpymem(p, d->id, NGX_QUEUES_PUSH_ID_LEN);

    p = ngx_queues_base_copy(p, "\",\"queue\":\"que_");
    p = ngx_queues_base_short_print(p, d->place.queue);

    p = ngx_queues_base_copy(p, "\",\"deliveryId\":\"");
    p = ngx_cpymem(p, d->uuid, NGX_QUEUES_BASE_UUID_LEN);

    p = ngx_queues_base_copy(p, "\",\"messages\":[");

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
    p = ngx_queues_base_copy(p, "{\"messageId\":\"");
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
ngx_queues_push_format_lines_length(ngx_queues_push_delivery_t *d)
{
    return sizeof(NGX_QUEUES_PUSH_FIELDS) - 1
           + 2 * ngx_queues_push_engine.conf->header_prefix.len
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

    p = ngx_queues_base_copy(p, NGX_QUEUES_PUSH_FIELDS);

    p = ngx_cpymem(p, prefix->data, prefix->len);
    p = ngx_queues_base_copy(p, "-Signature: ");
    p = ngx_queues_base_sign(p, &secrets, t, &d->body);

    if (p) {
        *p++ = CR;
        *p++ = LF;

        p = ngx_cpymem(p, prefix->data, prefix->len);
        p = ngx_queues_base_copy(p, "-Delivery-Id: ");
        p = ngx_cpymem(p, id.data, id.len);

        p = ngx_queues_base_copy(p, CRLF "webhook-id: ");
        p = ngx_cpymem(p, id.data, id.len);

        p = ngx_queues_base_copy(p, CRLF "webhook-timestamp: ");
        p = ngx_queues_base_decimal_print(p, t);

        p = ngx_queues_base_copy(p, CRLF "webhook-signature: ");
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


static ngx_uint_t
ngx_queues_push_format_throttled(ngx_queues_push_delivery_t *d)
{
    return d->status == 429 || d->status == 503
           || d->class == NGX_QUEUES_STAT_TIMEOUT;
}


static uint64_t
ngx_queues_push_format_delay(ngx_queues_push_delivery_t *d,
    ngx_queues_push_message_t *message, ngx_queues_push_answer_t *answer)
{
    int64_t  after;

    after = ngx_queues_push_format_after(d, answer);

    return (after >= 0) ? (uint64_t) after
                        : ngx_queues_base_backoff(message->count, d->longest,
                                             ngx_queues_push_format_random());
}


/* ms, -1: the endpoint does not say */

static int64_t
ngx_queues_push_format_after(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer)
{
    int64_t  now, seconds;

    if (answer->class != NGX_QUEUES_STAT_HTTP
        || !d->throttled
        || answer->retry_after.len == 0)
    {
        return -1;
    }

    now = (int64_t) ((d->now + (ngx_current_msec - d->since)) / 1000);

    if (ngx_queues_base_retry_after(&answer->retry_after, now, &seconds)
        != NGX_OK)
    {
        return -1;
    }

    return ngx_max(seconds * 1000, NGX_QUEUES_PUSH_AT_ONCE);
}


static uint32_t
ngx_queues_push_format_random(void)
{
    uint32_t  bits;

    if (ngx_queues_store_random((u_char *) &bits, sizeof(bits)) != NGX_OK) {
        return (uint32_t) ngx_random();
    }

    return bits;
}
