
#include "ngx_queues_base_endpoint.h"
#include "ngx_queues_base_text.h"


#define NGX_QUEUES_BASE_ENDPOINT_PORT    443
#define NGX_QUEUES_BASE_ENDPOINT_HOST    253    /* bytes of a name, and of a */
#define NGX_QUEUES_BASE_ENDPOINT_LABEL   63     /* label (RFC 1035) */


static u_char *ngx_queues_base_endpoint_find(u_char *p, u_char *last,
    const char *characters);
static void ngx_queues_base_endpoint_rest(ngx_queues_base_endpoint_t *endpoint,
    u_char *p, u_char *last);
static const char *ngx_queues_base_endpoint_characters(ngx_str_t *url);
static const char *ngx_queues_base_endpoint_host(ngx_str_t *host);
static ngx_uint_t ngx_queues_base_endpoint_label(u_char *p, u_char *last);
static ngx_uint_t ngx_queues_base_endpoint_number(u_char *p, u_char *last);
static const char *ngx_queues_base_endpoint_forbidden(ngx_str_t *host,
    ngx_queues_base_rules_t *rules);
static const char *ngx_queues_base_endpoint_port(ngx_str_t *text,
    ngx_queues_base_rules_t *rules, ngx_uint_t *port);
static ngx_uint_t ngx_queues_base_endpoint_under(ngx_str_t *host,
    ngx_str_t *domain);


static ngx_str_t  ngx_queues_base_endpoint_scheme = ngx_string("https://");
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
    u_char      *p, *colon, *end, *last;
    ngx_str_t    port;
    const char  *error;

    error = ngx_queues_base_endpoint_characters(url);
    if (error) {
        return error;
    }

    p = url->data + ngx_queues_base_endpoint_scheme.len;
    last = url->data + url->len;

    end = ngx_queues_base_endpoint_find(p, last, "/?");
    colon = ngx_queues_base_endpoint_find(p, end, ":");

    if (ngx_queues_base_endpoint_find(p, end, "@") < end) {
        return "must not have a user name or a password";
    }

    if (p < end && *p == '[') {
        return "must have a DNS name, not an IP address";
    }

    endpoint->host.data = buf;

    for ( /* void */ ; p < colon; p++) {
        *buf++ = ngx_tolower(*p);
    }

    endpoint->host.len = buf - endpoint->host.data;

    if (endpoint->host.len && buf[-1] == '.') {
        endpoint->host.len--;
    }

    error = ngx_queues_base_endpoint_host(&endpoint->host);
    if (error) {
        return error;
    }

    error = ngx_queues_base_endpoint_forbidden(&endpoint->host, rules);
    if (error) {
        return error;
    }

    endpoint->localhost = ngx_queues_base_endpoint_under(&endpoint->host,
                                         &ngx_queues_base_endpoint_localhost);

    endpoint->port = NGX_QUEUES_BASE_ENDPOINT_PORT;

    if (colon < end) {
        port.data = colon + 1;
        port.len = end - port.data;

        error = ngx_queues_base_endpoint_port(&port, rules, &endpoint->port);
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


/* the authority begins with the host, which is in the buffer already */

static void
ngx_queues_base_endpoint_rest(ngx_queues_base_endpoint_t *endpoint,
    u_char *p, u_char *last)
{
    u_char  *buf;

    buf = endpoint->host.data + endpoint->host.len;

    if (endpoint->port != NGX_QUEUES_BASE_ENDPOINT_PORT) {
        *buf++ = ':';
        buf = ngx_queues_base_decimal_print(buf, endpoint->port);
    }

    endpoint->authority.data = endpoint->host.data;
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


/* what other parsers may read in another way is refused wherever it stands */

static const char *
ngx_queues_base_endpoint_characters(ngx_str_t *url)
{
    u_char  *p, *last;

    if (url->len > NGX_QUEUES_BASE_URL_MAX) {
        return "must have at most 2,048 characters";
    }

    if (url->len < ngx_queues_base_endpoint_scheme.len
        || strncasecmp((char *) url->data,
                       (char *) ngx_queues_base_endpoint_scheme.data,
                       ngx_queues_base_endpoint_scheme.len)
           != 0)
    {
        return "must begin with https://";
    }

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
    ngx_uint_t *port)
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

    if (n == NGX_QUEUES_BASE_ENDPOINT_PORT) {
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
