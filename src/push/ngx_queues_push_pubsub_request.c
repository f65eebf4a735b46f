
/*
 * The request of a push of Pub/Sub: the message as JSON, or its data alone, and
 * the rest as headers where that is wanted.
 */

#include "ngx_queues_push_engine.h"
#include "../auth/ngx_queues_auth_oidc.h"
#include "../base/ngx_queues_base_proto.h"
#include "../base/ngx_queues_base_published.h"
#include "../store/ngx_queues_store_pubsub.h"


/* what is written beside the message's own, with the longest numbers: 280 */
#define NGX_QUEUES_PUSH_PUBSUB_FIXED    512

/* header lines but the token, the name and the attributes: 1,450 */
#define NGX_QUEUES_PUSH_PUBSUB_LINES    2048


typedef struct {
    ngx_queues_base_published_t   m;
    u_char                        id[NGX_QUEUES_STORE_PUBSUB_ID_MAX];
    size_t                        nid;
    u_char                        time[NGX_QUEUES_BASE_PROTO_TIME_MAX];
    size_t                        ntime;
} ngx_queues_push_published_t;


static ngx_int_t ngx_queues_push_pubsub_token(ngx_queues_push_delivery_t *d,
    ngx_str_t *token);
static void ngx_queues_push_pubsub_read(ngx_queues_push_published_t *published,
    ngx_queues_store_message_t *message);
static u_char *ngx_queues_push_pubsub_wrapped(u_char *p,
    ngx_queues_push_delivery_t *d, ngx_queues_push_published_t *published);
static u_char *ngx_queues_push_pubsub_data(u_char *p, ngx_str_t *data);
static u_char *ngx_queues_push_pubsub_head(u_char *p,
    ngx_queues_push_delivery_t *d, ngx_queues_push_published_t *published,
    ngx_str_t *token);
static u_char *ngx_queues_push_pubsub_metadata(u_char *p,
    ngx_queues_push_delivery_t *d, ngx_queues_push_published_t *published);


ngx_int_t
ngx_queues_push_pubsub_request(ngx_queues_push_delivery_t *d,
    ngx_queues_store_result_t *result)
{
    u_char                       *p;
    size_t                        size;
    ngx_str_t                     token;
    ngx_queues_push_config_t     *config;
    ngx_queues_push_published_t   published;

    if (result->nmessages != 1) {
        return NGX_ERROR;
    }

    config = d->config;

    if (ngx_queues_push_pubsub_token(d, &token) != NGX_OK) {
        return NGX_OK;
    }

    ngx_queues_push_pubsub_read(&published, &result->messages[0]);

    size = NGX_QUEUES_PUSH_PUBSUB_FIXED + NGX_QUEUES_PUSH_PUBSUB_LINES
           + NGX_QUEUES_BASE_HEADERS_MAX + token.len
           + 2 * config->name.len + result->messages[0].body.len;

    p = ngx_alloc(size, ngx_cycle->log);
    if (p == NULL) {
        return NGX_ERROR;
    }

    d->body.data = p;

    p = config->pubsub.wrapped
        ? ngx_queues_push_pubsub_wrapped(p, d, &published)
        : ngx_queues_push_pubsub_data(p, &published.m.data);

    d->body.len = p - d->body.data;

    d->head.data = p;
    d->head.len = ngx_queues_push_pubsub_head(p, d, &published, &token) - p;

    return NGX_OK;
}


/* NGX_ERROR: there is to be one, and is not */

static ngx_int_t
ngx_queues_push_pubsub_token(ngx_queues_push_delivery_t *d, ngx_str_t *token)
{
    ngx_int_t                  rc;
    ngx_queues_push_pubsub_t  *pubsub;

    pubsub = &d->config->pubsub;

    ngx_str_null(token);

    if (pubsub->email.len == 0) {
        return NGX_OK;
    }

    rc = ngx_queues_auth_oidc_token(ngx_queues_push_engine.qmcf,
                                    &pubsub->email, &pubsub->audience,
                                    ngx_time(), ngx_cycle->log, token);

    if (rc == NGX_OK) {
        return NGX_OK;
    }

    d->denied = "The token could not be signed.";

    if (rc == NGX_DECLINED) {
        d->denied = "There is no key to sign the token with.";

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "nothing is pushed for \"%V\": there is no "
                      "\"queues_oidc_key\" for its token", &d->config->name);
    }

    return NGX_ERROR;
}


static void
ngx_queues_push_pubsub_read(ngx_queues_push_published_t *published,
    ngx_queues_store_message_t *message)
{
    u_char                  *p;
    ngx_queues_base_spot_t  *spot;

    spot = &message->origin.spot;

    p = ngx_queues_store_pubsub_id(published->id, spot, 0);
    published->nid = p - published->id;

    p = ngx_queues_base_proto_time_print(published->time, spot->major);
    published->ntime = p - published->time;

    ngx_queues_base_published_read(&message->body, &published->m);
}


static u_char *
ngx_queues_push_pubsub_wrapped(u_char *p, ngx_queues_push_delivery_t *d,
    ngx_queues_push_published_t *published)
{
    ngx_queues_base_published_t  *m;

    m = &published->m;

    *p++ = '{';

    if (d->config->pubsub.attempts) {
        p = ngx_queues_base_copy(p, "\"deliveryAttempt\":");
        p = ngx_queues_base_decimal_print(p, d->messages[0].count);
        *p++ = ',';
    }

    p = ngx_queues_base_copy(p, "\"message\":{");

    if (m->attributes.len) {
        p = ngx_queues_base_copy(p, "\"attributes\":");
        p = ngx_cpymem(p, m->attributes.data, m->attributes.len);
        *p++ = ',';
    }

    if (m->data.len) {
        p = ngx_queues_base_copy(p, "\"data\":\"");
        p = ngx_cpymem(p, m->data.data, m->data.len);
        p = ngx_queues_base_copy(p, "\",");
    }

    p = ngx_queues_base_copy(p, "\"messageId\":\"");
    p = ngx_cpymem(p, published->id, published->nid);
    p = ngx_queues_base_copy(p, "\",\"message_id\":\"");
    p = ngx_cpymem(p, published->id, published->nid);

    if (m->key.len) {
        p = ngx_queues_base_copy(p, "\",\"orderingKey\":\"");
        p = ngx_cpymem(p, m->key.data, m->key.len);
    }

    p = ngx_queues_base_copy(p, "\",\"publishTime\":\"");
    p = ngx_cpymem(p, published->time, published->ntime);
    p = ngx_queues_base_copy(p, "\",\"publish_time\":\"");
    p = ngx_cpymem(p, published->time, published->ntime);

    p = ngx_queues_base_copy(p, "\"},\"subscription\":\"");
    p = ngx_cpymem(p, d->config->name.data, d->config->name.len);

    return ngx_queues_base_copy(p, "\"}");
}


/* the text is canonical, and what it stands for is not longer */

static u_char *
ngx_queues_push_pubsub_data(u_char *p, ngx_str_t *data)
{
    ngx_str_t  text, bytes;

    text = *data;
    bytes.data = p;

    if (ngx_decode_base64(&bytes, &text) != NGX_OK) {
        return p;
    }

    return p + bytes.len;
}


/* of metadata the attributes are first: nothing that is meant stands before */

static u_char *
ngx_queues_push_pubsub_head(u_char *p, ngx_queues_push_delivery_t *d,
    ngx_queues_push_published_t *published, ngx_str_t *token)
{
    ngx_uint_t                 found;
    ngx_queues_push_pubsub_t  *pubsub;

    pubsub = &d->config->pubsub;
    found = 0;

    if (pubsub->metadata) {
        p = ngx_queues_base_published_headers(p, &published->m, &found);
    }

    if (!(found & NGX_QUEUES_BASE_HEADER_AGENT)) {
        p = ngx_queues_base_copy(p, "User-Agent: ngx_queues" CRLF);
    }

    if (pubsub->wrapped) {
        p = ngx_queues_base_copy(p, "Content-Type: application/json" CRLF);

    } else if (!(found & NGX_QUEUES_BASE_HEADER_TYPE)) {
        p = ngx_queues_base_copy(p, "Content-Type: application/octet-stream"
                                    CRLF);
    }

    if (token->len) {
        p = ngx_queues_base_copy(p, "Authorization: Bearer ");
        p = ngx_cpymem(p, token->data, token->len);
        p = ngx_queues_base_copy(p, CRLF);
    }

    if (pubsub->metadata) {
        p = ngx_queues_push_pubsub_metadata(p, d, published);
    }

    return p;
}


static u_char *
ngx_queues_push_pubsub_metadata(u_char *p, ngx_queues_push_delivery_t *d,
    ngx_queues_push_published_t *published)
{
    u_char  *key, *last;

    static const char  name[] = "x-goog-pubsub-ordering-key: ";

    p = ngx_queues_base_copy(p, "x-goog-pubsub-subscription-name: ");
    p = ngx_cpymem(p, d->config->name.data, d->config->name.len);
    p = ngx_queues_base_copy(p, CRLF "x-goog-pubsub-message-id: ");
    p = ngx_cpymem(p, published->id, published->nid);
    p = ngx_queues_base_copy(p, CRLF "x-goog-pubsub-publish-time: ");
    p = ngx_cpymem(p, published->time, published->ntime);
    p = ngx_queues_base_copy(p, CRLF);

    key = ngx_queues_base_copy(p, name);
    last = ngx_queues_base_published_key(key, &published->m);

    if (last == key) {

        /* there is none, or none that may stand here */

        return p;
    }

    return ngx_queues_base_copy(last, CRLF);
}
