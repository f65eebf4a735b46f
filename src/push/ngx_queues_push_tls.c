
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_push_client.h"


static void ngx_queues_push_tls_info(const ngx_ssl_conn_t *ssl_conn, int where,
    int ret);
static void ngx_queues_push_tls_handler(ngx_event_t *ev);
static ngx_uint_t ngx_queues_push_tls_turn(ngx_event_t *ev);
static void ngx_queues_push_tls_next(ngx_event_t *ev);
static ngx_int_t ngx_queues_push_tls_create(ngx_queues_push_attempt_t *a);
static void ngx_queues_push_tls_handshake(ngx_queues_push_attempt_t *a);
static const char *ngx_queues_push_tls_verify(ngx_queues_push_attempt_t *a);
static ngx_int_t ngx_queues_push_tls_check_address(ngx_connection_t *c,
    ngx_queues_base_endpoint_t *endpoint);
static void ngx_queues_push_tls_strict(ngx_connection_t *c);


/* posted while this turn of the event loop has had its step */

static ngx_event_t  ngx_queues_push_tls_next_event = {
    .handler = ngx_queues_push_tls_next
};


void
ngx_queues_push_tls_start(ngx_queues_push_attempt_t *a)
{
    ngx_connection_t  *c;

    c = a->connection;

    a->state = NGX_QUEUES_PUSH_HANDSHAKE;
    a->alert = 0;

    c->read->handler = ngx_queues_push_tls_handler;
    c->write->handler = ngx_queues_push_tls_handler;

    ngx_queues_push_tls_handler(c->write);
}


/*
 * Why an endpoint ends TLS.  With TLS 1.3 its word on a missing certificate of
 * ours comes when the handshake is over here.
 */

static void
ngx_queues_push_tls_info(const ngx_ssl_conn_t *ssl_conn, int where, int ret)
{
    ngx_connection_t           *c;
    ngx_queues_push_attempt_t  *a;

    if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT
        || (ret >> 8) != SSL3_AL_FATAL)
    {
        return;
    }

    c = ngx_ssl_get_connection((ngx_ssl_conn_t *) ssl_conn);

    /* one that is only kept is of no attempt */

    if (!c->idle) {
        a = c->data;
        a->alert = ret & 0xff;
    }
}


const char *
ngx_queues_push_tls_alert(ngx_queues_push_attempt_t *a)
{
    const char  *text;

    if (a->alert == 0) {
        return NULL;
    }

    text = (a->alert == TLS13_AD_CERTIFICATE_REQUIRED)
           ? "certificate required" : SSL_alert_desc_string_long(a->alert);

    return ngx_queues_push_attempt_text(a, "The endpoint ended TLS", text);
}


/* nginx's own one would pass over c->close */

static void
ngx_queues_push_tls_handler(ngx_event_t *ev)
{
    ngx_connection_t           *c;
    ngx_queues_push_attempt_t  *a;

    c = ev->data;
    a = c->data;

    if (c->close) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_CONNECTION,
                                     "The delivery was ended by a shutdown.");
        return;
    }

    if (!ngx_queues_push_tls_turn(ev)) {
        return;
    }

    if (c->read->posted) {
        ngx_delete_posted_event(c->read);
    }

    if (c->write->posted) {
        ngx_delete_posted_event(c->write);
    }

    if (c->ssl == NULL && ngx_queues_push_tls_create(a) != NGX_OK) {
        ngx_queues_push_attempt_fail(a, NGX_QUEUES_STAT_TLS,
                                     "TLS could not be prepared.");
        return;
    }

    ngx_queues_push_tls_handshake(a);
}


/*
 * A step of a handshake takes some hundred microseconds.  Where an endpoint is
 * given a hundred deliveries at once, all others would wait until it is through
 * with them, so each turn of the event loop has one step.  0: the event is
 * posted for a later one.
 */

static ngx_uint_t
ngx_queues_push_tls_turn(ngx_event_t *ev)
{
    ngx_event_t  *next;

    next = &ngx_queues_push_tls_next_event;

    if (next->posted) {
        ngx_post_event(ev, &ngx_posted_next_events);
        return 0;
    }

    next->log = ngx_cycle->log;

    ngx_post_event(next, &ngx_posted_next_events);

    return 1;
}


/* that it is not posted any more is all */

static void
ngx_queues_push_tls_next(ngx_event_t *ev)
{
}


static ngx_int_t
ngx_queues_push_tls_create(ngx_queues_push_attempt_t *a)
{
    ngx_connection_t  *c;

    c = a->connection;

    if (ngx_ssl_create_connection(a->request.conf->ssl, c,
                                  NGX_SSL_BUFFER|NGX_SSL_CLIENT)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* an address is no name (RFC 6066, 3) */

    if (a->request.endpoint->naddress == 0
        && SSL_set_tlsext_host_name(c->ssl->connection, (char *) a->host.data)
           == 0)
    {
        ngx_ssl_error(NGX_LOG_INFO, c->log, 0,
                      "SSL_set_tlsext_host_name(\"%s\") failed", a->host.data);
        return NGX_ERROR;
    }

    /* nginx's own one is for servers */

    SSL_set_info_callback(c->ssl->connection, ngx_queues_push_tls_info);

    return NGX_OK;
}


static void
ngx_queues_push_tls_handshake(ngx_queues_push_attempt_t *a)
{
    ngx_int_t          rc;
    const char        *reason;
    ngx_connection_t  *c;

    c = a->connection;

    rc = ngx_ssl_handshake(c);

    if (rc == NGX_AGAIN) {
        c->read->handler = ngx_queues_push_tls_handler;
        c->write->handler = ngx_queues_push_tls_handler;
        return;
    }

    if (rc != NGX_OK) {
        reason = ngx_queues_push_tls_alert(a);

        if (reason == NULL) {
            reason = c->read->error
                     ? "The TLS handshake with the endpoint failed."
                     : "The endpoint broke off the TLS handshake.";
        }

        ngx_queues_push_connect_next(a, NGX_QUEUES_STAT_TLS, reason);
        return;
    }

    reason = ngx_queues_push_tls_verify(a);

    if (reason) {
        ngx_queues_push_connect_next(a, NGX_QUEUES_STAT_TLS, reason);
        return;
    }

    if (a->limit.timer_set) {
        ngx_del_timer(&a->limit);
    }

    ngx_queues_push_tls_strict(c);

    ngx_queues_push_send_start(a);
}


static const char *
ngx_queues_push_tls_verify(ngx_queues_push_attempt_t *a)
{
    long               rc;
    ngx_connection_t  *c;

    c = a->connection;

    rc = SSL_get_verify_result(c->ssl->connection);

    if (rc != X509_V_OK) {
        return ngx_queues_push_attempt_text(a,
                                    "The endpoint's certificate is not trusted",
                                    X509_verify_cert_error_string(rc));
    }

    if (a->request.endpoint->naddress) {

        if (ngx_queues_push_tls_check_address(c, a->request.endpoint)
            != NGX_OK)
        {
            return "The endpoint's certificate is for another address.";
        }

        return NULL;
    }

    if (ngx_ssl_check_host(c, &a->host) != NGX_OK) {
        return "The endpoint's certificate is for another name.";
    }

    return NULL;
}


static ngx_int_t
ngx_queues_push_tls_check_address(ngx_connection_t *c,
    ngx_queues_base_endpoint_t *endpoint)
{
    int    rc;
    X509  *cert;

    cert = SSL_get_peer_certificate(c->ssl->connection);
    if (cert == NULL) {
        return NGX_ERROR;
    }

    rc = X509_check_ip(cert, endpoint->address, endpoint->naddress, 0);

    X509_free(cert);

    return (rc == 1) ? NGX_OK : NGX_ERROR;
}


/*
 * nginx has OpenSSL take a connection that just ends for one that was closed:
 * anybody on the way could end an answer that is as long as its connection.
 */

static void
ngx_queues_push_tls_strict(ngx_connection_t *c)
{
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
    (void) SSL_clear_options(c->ssl->connection, SSL_OP_IGNORE_UNEXPECTED_EOF);
#endif
}


ngx_uint_t
ngx_queues_push_tls_closed(ngx_connection_t *c)
{
    if (c->ssl == NULL) {

        /* nobody says so but the connection's end */

        return 1;
    }

    return (SSL_get_shutdown(c->ssl->connection) & SSL_RECEIVED_SHUTDOWN) != 0;
}
