
#include "ngx_queues_conf.h"


static ngx_int_t ngx_queues_conf_issuer(ngx_conf_t *cf, ngx_str_t *issuer);
static ngx_uint_t ngx_queues_conf_issuer_characters(ngx_str_t *text);
static ngx_uint_t ngx_queues_conf_issuer_local(ngx_str_t *host);


ngx_int_t
ngx_queues_conf_check_oidc(ngx_conf_t *cf, ngx_queues_conf_oidc_t *oidc)
{
    if (oidc->key_files->nelts == 0) {

        if (oidc->discovery || oidc->issuer.data) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"%s\" needs a key that signs: make one with "
                          "\"openssl genpkey -algorithm RSA -pkeyopt "
                          "rsa_keygen_bits:2048 -out FILE\" and add "
                          "\"queues_oidc_key FILE;\" to \"http\"",
                          oidc->discovery ? "queues_oidc_discovery"
                                          : "queues_oidc_issuer");
            return NGX_ERROR;
        }

        return NGX_OK;
    }

    if (oidc->issuer.data == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_oidc_key\" needs the URL that verifiers know "
                      "the signer by: add \"queues_oidc_issuer "
                      "https://HOST;\", where \"queues_oidc_discovery\" "
                      "answers, beside it");
        return NGX_ERROR;
    }

    return ngx_queues_conf_issuer(cf, &oidc->issuer);
}


/*
 * Verifiers compare the whole text, so it stays as it is written.  Plain http
 * is for trying things out: who can change the answers chooses the keys.
 */

static ngx_int_t
ngx_queues_conf_issuer(ngx_conf_t *cf, ngx_str_t *issuer)
{
    u_char     *p;
    ngx_str_t   rest;

    static ngx_str_t  https = ngx_string("https://");
    static ngx_str_t  http = ngx_string("http://");

    rest = *issuer;

    if (rest.len > https.len
        && ngx_strncmp(rest.data, https.data, https.len) == 0)
    {
        rest.data += https.len;
        rest.len -= https.len;

    } else if (rest.len > http.len
               && ngx_strncmp(rest.data, http.data, http.len) == 0)
    {
        rest.data += http.len;
        rest.len -= http.len;

        if (!ngx_queues_conf_issuer_local(&rest)) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "\"queues_oidc_issuer %V\" is fetched without TLS: "
                          "write \"https://\"; \"http://\" is for localhost "
                          "only", issuer);
            return NGX_ERROR;
        }

    } else {
        goto invalid;
    }

    p = ngx_strlchr(rest.data, rest.data + rest.len, '/');

    if (p != rest.data
        && rest.data[0] != ':'
        && ngx_strlchr(rest.data, p ? p : rest.data + rest.len, '@') == NULL
        && ngx_queues_conf_issuer_characters(&rest))
    {
        return NGX_OK;
    }

invalid:

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"queues_oidc_issuer %V\" is not the URL of an issuer: "
                  "write \"https://HOST\", with a port or a path if need be, "
                  "and without a query", issuer);

    return NGX_ERROR;
}


static ngx_uint_t
ngx_queues_conf_issuer_characters(ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] <= ' '
            || text->data[i] >= 0x7f
            || ngx_strchr("\"<>\\^`{|}?#", text->data[i]))
        {
            return 0;
        }
    }

    return 1;
}


/* what no network is asked for: the first part of a URL */

static ngx_uint_t
ngx_queues_conf_issuer_local(ngx_str_t *url)
{
    size_t     len;
    u_char    *p, *last;
    in_addr_t  addr;

    static ngx_str_t  localhost = ngx_string("localhost");
    static ngx_str_t  loopback = ngx_string("[::1]");

    p = url->data;
    last = p + url->len;

    if (url->len >= loopback.len
        && ngx_strncmp(p, loopback.data, loopback.len) == 0)
    {
        p += loopback.len;

        return p == last || *p == ':' || *p == '/';
    }

    while (p < last && *p != ':' && *p != '/') {
        p++;
    }

    len = p - url->data;

    if (len == localhost.len
        && ngx_strncmp(url->data, localhost.data, len) == 0)
    {
        return 1;
    }

    addr = ngx_inet_addr(url->data, len);

    return addr != INADDR_NONE && ntohl(addr) >> 24 == 127;
}
