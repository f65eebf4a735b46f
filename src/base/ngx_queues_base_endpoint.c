
#include "ngx_queues_base_endpoint.h"
#include "ngx_queues_base_text.h"


#define NGX_QUEUES_BASE_ENDPOINT_PORT    443
#define NGX_QUEUES_BASE_ENDPOINT_PLAIN   80
#define NGX_QUEUES_BASE_ENDPOINT_HOST    253    /* bytes of a name, and of a */
#define NGX_QUEUES_BASE_ENDPOINT_LABEL   63     /* label (RFC 1035) */


static const char *ngx_queues_base_endpoint_read(ngx_str_t *url,
    ngx_queues_base_rules_t *rules, u_char *buf,
    ngx_queues_base_endpoint_t *endpoint, ngx_uint_t pubsub);
static u_char *ngx_queues_base_endpoint_find(u_char *p, u_char *last,
    const char *characters);
static void ngx_queues_base_endpoint_rest(ngx_queues_base_endpoint_t *endpoint,
    u_char *p, u_char *last);
static const char *ngx_queues_base_endpoint_scheme(ngx_str_t *url,
    ngx_queues_base_endpoint_t *endpoint, ngx_uint_t pubsub);
static ngx_uint_t ngx_queues_base_endpoint_begins(ngx_str_t *url,
    ngx_str_t *scheme);
static const char *ngx_queues_base_endpoint_characters(ngx_str_t *url);
static ngx_uint_t ngx_queues_base_endpoint_address(
    ngx_queues_base_endpoint_t *endpoint);
static const char *ngx_queues_base_endpoint_host(ngx_str_t *host);
static ngx_uint_t ngx_queues_base_endpoint_label(u_char *p, u_char *last);
static ngx_uint_t ngx_queues_base_endpoint_number(u_char *p, u_char *last);
static const char *ngx_queues_base_endpoint_allowed(
    ngx_queues_base_endpoint_t *endpoint, ngx_queues_base_rules_t *rules);
static const char *ngx_queues_base_endpoint_forbidden(ngx_str_t *host,
    ngx_queues_base_rules_t *rules);
static const char *ngx_queues_base_endpoint_port(ngx_str_t *text,
    ngx_queues_base_rules_t *rules, ngx_uint_t any, ngx_uint_t *port);
static ngx_uint_t ngx_queues_base_endpoint_under(ngx_str_t *host,
    ngx_str_t *domain);


static ngx_str_t  ngx_queues_base_endpoint_https = ngx_string("https://");
static ngx_str_t  ngx_queues_base_endpoint_http = ngx_string("http://");
static ngx_str_t  ngx_queues_base_endpoint_localhost = ngx_string("localhost");


/* neither these nor what is under them */

static ngx_str_t  ngx_queues_base_endpoint_domains[] = {
    ngx_string("local"),
    ngx_string("internal"),
    ngx_string("test"),
    ngx_string("svc"),
    ngx_string("ezghcloud.com"),
    ngx_string("ezgh.app"),
    ngx_null_string
};


const char *
ngx_queues_base_endpoint_parse(ngx_str_t *url, ngx_queues_base_rules_t *rules,
    u_char *buf, ngx_queues_base_endpoint_t *endpoint)
{
    return ngx_queues_base_endpoint_read(url, rules, buf, endpoint, 0);
}


const char *
ngx_queues_base_endpoint_parse_pubsub(ngx_str_t *url,
    ngx_queues_base_rules_t *rules, u_char *buf,
    ngx_queues_base_endpoint_t *endpoint)
{
    return ngx_queues_base_endpoint_read(url, rules, buf, endpoint, 1);
}


static const char *
ngx_queues_base_endpoint_read(ngx_str_t *url, ngx_queues_base_rules_t *rules,
    u_char *buf, ngx_queues_base_endpoint_t *endpoint, ngx_uint_t pubsub)
{
    u_char      *p, *colon, *end, *last;
    ngx_str_t    port;
    const char  *error;

    ngx_memzero(endpoint, sizeof(ngx_queues_base_endpoint_t));

    error = ngx_queues_base_endpoint_scheme(url, endpoint, pubsub);
    if (error) {
        return error;
    }

    p = url->data + (endpoint->tls ? ngx_queues_base_endpoint_https.len
                                   : ngx_queues_base_endpoint_http.len);
    last = url->data + url->len;

    end = ngx_queues_base_endpoint_find(p, last, "/?");

    if (ngx_queues_base_endpoint_find(p, end, "@") < end) {
        return "must not have a user name or a password";
    }

    colon = p;

    if (p < end && *p == '[') {

        if (!pubsub) {
            return "must have a DNS name, not an IP address";
        }

        colon = ngx_queues_base_endpoint_find(p, end, "]");
    }

    colon = ngx_queues_base_endpoint_find(colon, end, ":");

    endpoint->host.data = buf;

    for ( /* void */ ; p < colon; p++) {
        *buf++ = ngx_tolower(*p);
    }

    endpoint->host.len = buf - endpoint->host.data;

    if (endpoint->host.len && buf[-1] == '.'
        && endpoint->host.data[0] != '[')
    {
        endpoint->host.len--;
    }

    endpoint->authority = endpoint->host;

    if (!pubsub || !ngx_queues_base_endpoint_address(endpoint)) {

        error = ngx_queues_base_endpoint_host(&endpoint->host);
        if (error) {
            return error;
        }
    }

    error = ngx_queues_base_endpoint_allowed(endpoint, rules);
    if (error) {
        return error;
    }

    endpoint->port = endpoint->tls ? NGX_QUEUES_BASE_ENDPOINT_PORT
                                   : NGX_QUEUES_BASE_ENDPOINT_PLAIN;

    if (colon < end) {
        port.data = colon + 1;
        port.len = end - port.data;

        error = ngx_queues_base_endpoint_port(&port, rules, pubsub,
                                              &endpoint->port);
        if (error) {
            return error;
        }
    }

    ngx_queues_base_endpoint_rest(endpoint, end, last);

    return NULL;
}


/* the first of these characters from p on, or last */

static u_char *
ngx_queues_base_endpoint_find(u_char *p, u_char *last, const char *characters)
{
    while (p < last && ngx_strchr(characters, *p) == NULL) {
        p++;
    }

    return p;
}


/* the authority has the host, and is in the buffer already */

static void
ngx_queues_base_endpoint_rest(ngx_queues_base_endpoint_t *endpoint,
    u_char *p, u_char *last)
{
    u_char  *buf;

    buf = endpoint->authority.data + endpoint->authority.len;

    if (endpoint->port != (endpoint->tls ? NGX_QUEUES_BASE_ENDPOINT_PORT
                                         : NGX_QUEUES_BASE_ENDPOINT_PLAIN))
    {
        *buf++ = ':';
        buf = ngx_queues_base_decimal_print(buf, endpoint->port);
    }

    endpoint->authority.len = buf - endpoint->authority.data;

    if (p < last && *p == '/') {
        endpoint->uri.data = p;
        endpoint->uri.len = last - p;

        return;
    }

    endpoint->uri.data = buf;
    *buf++ = '/';
    endpoint->uri.len = ngx_cpymem(buf, p, last - p) - endpoint->uri.data;
}


static const char *
ngx_queues_base_endpoint_scheme(ngx_str_t *url,
    ngx_queues_base_endpoint_t *endpoint, ngx_uint_t pubsub)
{
    if (url->len > NGX_QUEUES_BASE_URL_MAX) {
        return "must have at most 2,048 characters";
    }

    endpoint->tls = ngx_queues_base_endpoint_begins(url,
                                             &ngx_queues_base_endpoint_https);

    if (!endpoint->tls
        && (!pubsub
            || !ngx_queues_base_endpoint_begins(url,
                                             &ngx_queues_base_endpoint_http)))
    {
        return "must begin with https://";
    }

    return ngx_queues_base_endpoint_characters(url);
}


static ngx_uint_t
ngx_queues_base_endpoint_begins(ngx_str_t *url, ngx_str_t *scheme)
{
    return url->len >= scheme->len
           && strncasecmp((char *) url->data, (char *) scheme->data,
                          scheme->len)
              == 0;
}


/* what other parsers may read in another way is refused wherever it stands */

static const char *
ngx_queues_base_endpoint_characters(ngx_str_t *url)
{
    u_char  *p, *last;

    last = url->data + url->len;

    for (p = url->data; p < last; p++) {

        if (*p <= 0x20 || *p >= 0x7f || *p == '\\') {
            return "must have ASCII characters only, and no blanks, control "
                   "characters or backslashes";
        }

        if (*p == '#') {
            return "must not have a fragment";
        }
    }

    return NULL;
}


/*
 * 1 if the host is an address: of IPv4 in four decimal numbers, as all parsers
 * have it, or of IPv6 in brackets, which the host is then without
 */

static ngx_uint_t
ngx_queues_base_endpoint_address(ngx_queues_base_endpoint_t *endpoint)
{
    int         family;
    u_char      text[INET6_ADDRSTRLEN];
    ngx_str_t   host;

    host = endpoint->host;
    family = AF_INET;

    if (host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
    {
        host.data++;
        host.len -= 2;
        family = AF_INET6;
    }

    if (host.len == 0 || host.len >= sizeof(text)) {
        return 0;
    }

    *ngx_cpymem(text, host.data, host.len) = '\0';

    if (inet_pton(family, (char *) text, endpoint->address) != 1) {
        return 0;
    }

    endpoint->host = host;
    endpoint->naddress = (family == AF_INET) ? 4
                                             : NGX_QUEUES_BASE_ADDRESS_LEN;

    return 1;
}


/* whether it is a DNS name at all */

static const char *
ngx_queues_base_endpoint_host(ngx_str_t *host)
{
    u_char  *p, *last, *label;

    if (host->len == 0) {
        return "must have a host";
    }

    if (host->len > NGX_QUEUES_BASE_ENDPOINT_HOST) {
        return "must have a host of at most 253 characters";
    }

    p = host->data;
    last = p + host->len;

    for ( ;; ) {
        label = p;

        while (p < last && *p != '.') {
            p++;
        }

        if (!ngx_queues_base_endpoint_label(label, p)) {
            return "must have a DNS name of letters, digits and hyphens";
        }

        if (p == last) {
            break;
        }

        p++;
    }

    /* inet_aton() reads such a name as an IPv4 address, and so do resolvers */

    if (ngx_queues_base_endpoint_number(label, last)) {
        return "must have a DNS name, not an IP address";
    }

    return NULL;
}


static ngx_uint_t
ngx_queues_base_endpoint_label(u_char *p, u_char *last)
{
    if (p == last
        || last - p > NGX_QUEUES_BASE_ENDPOINT_LABEL
        || *p == '-'
        || last[-1] == '-')
    {
        return 0;
    }

    for ( /* void */ ; p < last; p++) {
        if ((*p < 'a' || *p > 'z') && (*p < '0' || *p > '9') && *p != '-') {
            return 0;
        }
    }

    return 1;
}


/* in decimal, octal or hexadecimal; "0x" is 0 */

static ngx_uint_t
ngx_queues_base_endpoint_number(u_char *p, u_char *last)
{
    ngx_uint_t  hex;

    hex = (last - p >= 2 && p[0] == '0' && p[1] == 'x');

    for (p += hex ? 2 : 0; p < last; p++) {
        if ((*p < '0' || *p > '9') && (!hex || *p < 'a' || *p > 'f')) {
            return 0;
        }
    }

    return 1;
}


static const char *
ngx_queues_base_endpoint_allowed(ngx_queues_base_endpoint_t *endpoint,
    ngx_queues_base_rules_t *rules)
{
    ngx_str_t   *host;
    ngx_uint_t   localhost;

    host = &endpoint->host;

    if (endpoint->naddress) {
        localhost = ngx_queues_base_address_loopback(endpoint->address,
                                                     endpoint->naddress);

    } else {
        endpoint->localhost = ngx_queues_base_endpoint_under(host,
                                         &ngx_queues_base_endpoint_localhost);

        localhost = (endpoint->localhost
                     && host->len == ngx_queues_base_endpoint_localhost.len);
    }

    if (!endpoint->tls) {

        if (!localhost) {
            return "must begin with https://, as it does not lead to "
                   "localhost, 127.0.0.0/8 or [::1]";
        }

        return rules->localhost ? NULL : "must not lead to localhost";
    }

    if (endpoint->naddress == 0) {
        return ngx_queues_base_endpoint_forbidden(host, rules);
    }

    if (!ngx_queues_base_address_permitted(endpoint->address,
                                           endpoint->naddress, rules))
    {
        return localhost ? "must not lead to localhost"
                         : "must not have an address that is not public";
    }

    return NULL;
}


static const char *
ngx_queues_base_endpoint_forbidden(ngx_str_t *host,
    ngx_queues_base_rules_t *rules)
{
    ngx_str_t   *entry, domain;
    ngx_uint_t   i;

    for (i = 0; i < rules->nhosts; i++) {
        entry = &rules->hosts[i];

        if (entry->len && entry->data[0] == '.') {
            domain.data = entry->data + 1;
            domain.len = entry->len - 1;

            if (host->len > domain.len
                && ngx_queues_base_endpoint_under(host, &domain))
            {
                return NULL;
            }

        } else if (host->len == entry->len
                   && ngx_memcmp(host->data, entry->data, host->len) == 0)
        {
            return NULL;
        }
    }

    if (ngx_queues_base_endpoint_under(host,
                                       &ngx_queues_base_endpoint_localhost))
    {
        return rules->localhost ? NULL : "must not lead to localhost";
    }

    for (entry = ngx_queues_base_endpoint_domains; entry->len; entry++) {
        if (ngx_queues_base_endpoint_under(host, entry)) {
            return "must have a public DNS name, not one under .local, "
                   ".internal, .test, .svc, .localhost, ezghcloud.com or "
                   "ezgh.app";
        }
    }

    if (memchr(host->data, '.', host->len) == NULL) {
        return "must have a public DNS name, not a single label";
    }

    return NULL;
}


static const char *
ngx_queues_base_endpoint_port(ngx_str_t *text, ngx_queues_base_rules_t *rules,
    ngx_uint_t any, ngx_uint_t *port)
{
    uint64_t    n;
    ngx_uint_t  i;

    if (text->len > 5
        || ngx_queues_base_decimal_parse(text, &n) != NGX_OK
        || n == 0
        || n > 65535)
    {
        return "must have a port from 1 to 65535, or none";
    }

    *port = (ngx_uint_t) n;

    if (any || n == NGX_QUEUES_BASE_ENDPOINT_PORT) {
        return NULL;
    }

    for (i = 0; i < rules->nports; i++) {
        if (*port >= rules->ports[i].first && *port <= rules->ports[i].last) {
            return NULL;
        }
    }

    return rules->nports ? "must have a port that is allowed here"
                         : "must have port 443, or none";
}


/* the domain itself, or a name under it */

static ngx_uint_t
ngx_queues_base_endpoint_under(ngx_str_t *host, ngx_str_t *domain)
{
    size_t  n;

    if (host->len < domain->len) {
        return 0;
    }

    n = host->len - domain->len;

    return ngx_memcmp(host->data + n, domain->data, domain->len) == 0
           && (n == 0 || host->data[n - 1] == '.');
}
