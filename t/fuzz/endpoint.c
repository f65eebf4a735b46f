
/*
 * A line that is a URL, one that is a network, and the bytes of an address.  A
 * URL is what a regular expression says, and no resolver takes its host for an
 * address, but for one of Pub/Sub that is; what is made of it is read as the
 * same again.  An address is public
 * as a table in text says, and permitted in a network bit by bit.
 */

#include "fuzz.h"
#include "ngx_queues_base_endpoint.h"

#include <regex.h>


#define FUZZ_URL                                                              \
    "^[Hh][Tt][Tt][Pp][Ss]://([A-Za-z0-9.-]+)(:([0-9]{1,5}))?([/?].*)?$"

#define FUZZ_PUBSUB                                                           \
    "^[Hh][Tt][Tt][Pp]([Ss]?)://(\\[[^]@/?]*\\]|[A-Za-z0-9.-]+)"               \
    "(:([0-9]{1,5}))?([/?].*)?$"

#define FUZZ_HOST                                                             \
    "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)*"                               \
    "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"

#define FUZZ_ADDRESS  "(^|\\.)([0-9]+|0x[0-9a-f]*)$"

#define FUZZ_LOCALHOST  "(^|\\.)localhost$"

#define FUZZ_FORBIDDEN                                                        \
    "(^|\\.)(local|internal|test|svc|ezghcloud\\.com|ezgh\\.app)$"


static const char  *fuzz_refused[] = {
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8",
    "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
    "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/3", NULL
};


static ngx_str_t  fuzz_hosts[] = {
    ngx_string("redis"), ngx_string(".internal"), ngx_string("dev.localhost")
};

static ngx_queues_base_ports_t  fuzz_ports[] = { { 1, 79 }, { 8000, 65535 } };

static ngx_queues_base_rules_t  fuzz_none;

static ngx_queues_base_rules_t  fuzz_rules = {
    .hosts = fuzz_hosts, .nhosts = 3, .ports = fuzz_ports, .nports = 2,
    .localhost = 1
};

static regex_t  fuzz_url, fuzz_pubsub, fuzz_host, fuzz_address, fuzz_local, fuzz_forbidden;


static void
fuzz_compile(void)
{
    static ngx_uint_t  done;

    if (done) {
        return;
    }

    done = 1;

    fuzz_assert(regcomp(&fuzz_url, FUZZ_URL, REG_EXTENDED) == 0
                && regcomp(&fuzz_pubsub, FUZZ_PUBSUB, REG_EXTENDED) == 0
                && regcomp(&fuzz_host, FUZZ_HOST, REG_EXTENDED) == 0
                && regcomp(&fuzz_address, FUZZ_ADDRESS, REG_EXTENDED) == 0
                && regcomp(&fuzz_local, FUZZ_LOCALHOST, REG_EXTENDED) == 0
                && regcomp(&fuzz_forbidden, FUZZ_FORBIDDEN, REG_EXTENDED)
                   == 0);
}


static ngx_uint_t
fuzz_matches(regex_t *regex, const char *text)
{
    return regexec(regex, text, 0, NULL, 0) == 0;
}


/* whether the URL is to be refused, by the host and the port in it */

static ngx_uint_t
fuzz_bad_host(const char *host, ngx_uint_t wide)
{
    size_t  len;

    len = strlen(host);

    if (len > 253 || !fuzz_matches(&fuzz_host, host)
        || fuzz_matches(&fuzz_address, host))
    {
        return 1;
    }

    if (wide && (strcmp(host, "redis") == 0
                 || fuzz_matches(&fuzz_local, host)
                 || (len > 9 && strcmp(host + len - 9, ".internal") == 0)))
    {
        return 0;
    }

    return strchr(host, '.') == NULL || fuzz_matches(&fuzz_local, host)
           || fuzz_matches(&fuzz_forbidden, host);
}


/* a copy of a URL without what stands in none, or NULL */

static char *
fuzz_text(ngx_str_t *url)
{
    char    *text;
    size_t   i;

    if (url->len > 2048) {
        return NULL;
    }

    for (i = 0; i < url->len; i++) {
        if (url->data[i] >= 0x80 || !isgraph(url->data[i])
            || strchr("#\\", url->data[i]))
        {
            return NULL;
        }
    }

    text = (char *) fuzz_alloc(url->len + 1);
    memcpy(text, url->data, url->len);
    text[url->len] = '\0';

    return text;
}


/* ends a host, in lower case and without a dot at its end */

static void
fuzz_host_end(char *host, size_t len)
{
    size_t  i;

    host[len] = '\0';

    if (len && host[len - 1] == '.') {
        host[len - 1] = '\0';
    }

    for (i = 0; host[i]; i++) {
        host[i] = tolower(host[i]);
    }
}


static ngx_uint_t
fuzz_bad(ngx_str_t *url, ngx_uint_t wide)
{
    char        *text, *host;
    ngx_uint_t   bad, port;
    regmatch_t   m[5];

    text = fuzz_text(url);

    if (text == NULL) {
        return 1;
    }

    if (regexec(&fuzz_url, text, 5, m, 0) != 0) {
        free(text);
        return 1;
    }

    port = (m[3].rm_so < 0) ? 443 : atoi(text + m[3].rm_so);
    bad = (port == 0 || port > 65535
           || (port != 443 && (!wide || (port > 79 && port < 8000))));

    host = text + m[1].rm_so;

    fuzz_host_end(host, m[1].rm_eo - m[1].rm_so);

    bad |= fuzz_bad_host(host, wide);

    free(text);

    return bad;
}


/* "https://" with what was made of the URL is the same */

static void
fuzz_again(ngx_queues_base_endpoint_t *e, ngx_queues_base_rules_t *rules)
{
    u_char                      *p, *buf;
    ngx_str_t                    url;
    ngx_queues_base_endpoint_t   again;

    url.len = 8 + e->authority.len + e->uri.len;
    url.data = fuzz_alloc(url.len);

    p = ngx_cpymem(url.data, "https://", 8);
    p = ngx_cpymem(p, e->authority.data, e->authority.len);
    ngx_memcpy(p, e->uri.data, e->uri.len);

    buf = fuzz_alloc(url.len + 8);

    /* a slash that was added may be one too many */

    if (url.len <= NGX_QUEUES_BASE_URL_MAX) {
        fuzz_assert(ngx_queues_base_endpoint_parse(&url, rules, buf, &again)
                    == NULL);
        fuzz_assert(fuzz_same(&again.host, &e->host)
                    && fuzz_same(&again.authority, &e->authority)
                    && fuzz_same(&again.uri, &e->uri)
                    && again.port == e->port
                    && again.localhost == e->localhost);
    }

    free(buf);
    free(url.data);
}


static void
fuzz_endpoint(ngx_str_t *url, ngx_queues_base_rules_t *rules, ngx_uint_t wide)
{
    char                         host[256];
    u_char                      *buf, v6[16];
    size_t                       i;
    const char                  *error;
    struct in_addr               in;
    ngx_queues_base_endpoint_t   e;

    buf = fuzz_alloc(url->len + 8);
    error = ngx_queues_base_endpoint_parse(url, rules, buf, &e);

    fuzz_assert((error != NULL) == fuzz_bad(url, wide));

    if (error) {
        fuzz_assert(strncmp(error, "must ", 5) == 0);
        free(buf);
        return;
    }

    fuzz_assert(e.host.len && e.host.len < sizeof(host));
    memcpy(host, e.host.data, e.host.len);
    host[e.host.len] = '\0';

    fuzz_assert(inet_aton(host, &in) == 0
                && inet_pton(AF_INET6, host, v6) != 1);
    fuzz_assert(e.localhost == fuzz_matches(&fuzz_local, host));
    fuzz_assert(e.authority.data == e.host.data
                && (e.authority.len > e.host.len) == (e.port != 443));
    fuzz_assert(e.uri.len && e.uri.data[0] == '/');

    for (i = 0; i < e.uri.len; i++) {
        fuzz_assert(e.uri.data[i] < 0x80 && isgraph(e.uri.data[i]));
    }

    fuzz_again(&e, rules);

    free(buf);
}


static uint32_t
fuzz_read4(u_char *address)
{
    uint32_t  n;

    memcpy(&n, address, 4);

    return ntohl(n);
}


static ngx_uint_t
fuzz_public4(u_char *address)
{
    char        text[32], *slash;
    u_char      prefix[4];
    ngx_uint_t  i, shift;

    for (i = 0; fuzz_refused[i]; i++) {
        strcpy(text, fuzz_refused[i]);

        slash = strchr(text, '/');
        *slash = '\0';
        shift = 32 - atoi(slash + 1);

        fuzz_assert(inet_pton(AF_INET, text, prefix) == 1);

        if (fuzz_read4(address) >> shift == fuzz_read4(prefix) >> shift) {
            return 0;
        }
    }

    return 1;
}


static ngx_uint_t
fuzz_public6(u_char *a)
{
    char        text[INET6_ADDRSTRLEN];
    u_char      client[4];
    ngx_uint_t  i;

    static u_char  zeros[8];

    if (memcmp(a, zeros, 8) == 0 && memcmp(a + 8, "\0\0\xff\xff", 4) == 0) {
        return fuzz_public4(a + 12);
    }

    if (memcmp(a, "\x00\x64\xff\x9b", 4) == 0 && memcmp(a + 4, zeros, 8) == 0) {
        return fuzz_public4(a + 12);
    }

    if (a[0] == 0x20 && a[1] == 0x02) {
        return fuzz_public4(a + 2);
    }

    if (memcmp(a, "\x20\x01\x00\x00", 4) == 0) {
        for (i = 0; i < 4; i++) {
            client[i] = ~a[12 + i];
        }

        return fuzz_public4(a + 4) && fuzz_public4(client);
    }

    /* by its text: 2000::/3 has four digits first, and they are 2... or 3... */

    fuzz_assert(inet_ntop(AF_INET6, a, text, sizeof(text)));

    return (text[0] == '2' || text[0] == '3') && strcspn(text, ":") == 4
           && !(a[0] == 0x20 && a[1] == 0x01 && a[2] < 2)
           && strncmp(text, "2001:db8:", 9) != 0
           && !(a[0] == 0x3f && a[1] == 0xff && a[2] < 0x10);
}


static ngx_uint_t
fuzz_loopback(u_char *address, size_t len)
{
    static u_char  one[16] = { [15] = 1 };

    if (len == 4) {
        return address[0] == 127;
    }

    return memcmp(address, one, 16) == 0
           || (memcmp(address, one, 10) == 0 && address[10] == 0xff
               && address[11] == 0xff && address[12] == 127);
}


/* the same as fuzz_bad(); *len is of the address that the host is */

static ngx_uint_t
fuzz_bad_pubsub(ngx_str_t *url, ngx_uint_t wide, u_char *address, size_t *len)
{
    char        *text, *host;
    ngx_uint_t   bad, plain;
    regmatch_t   m[6];

    *len = 0;
    text = fuzz_text(url);

    if (text == NULL) {
        return 1;
    }

    if (regexec(&fuzz_pubsub, text, 6, m, 0) != 0) {
        free(text);
        return 1;
    }

    bad = (m[4].rm_so >= 0 && (atoi(text + m[4].rm_so) == 0
                               || atoi(text + m[4].rm_so) > 65535));
    plain = (m[1].rm_so == m[1].rm_eo);
    host = text + m[2].rm_so;

    if (host[0] == '[') {
        host[m[2].rm_eo - m[2].rm_so - 1] = '\0';
        *len = (inet_pton(AF_INET6, ++host, address) == 1) ? 16 : 0;
        bad |= (*len == 0);

    } else {
        fuzz_host_end(host, m[2].rm_eo - m[2].rm_so);

        if (inet_pton(AF_INET, host, address) == 1) {
            *len = 4;
        }
    }

    if (plain) {
        bad |= !wide || (*len ? !fuzz_loopback(address, *len)
                              : strcmp(host, "localhost") != 0);

    } else if (*len) {
        bad |= !(*len == 4 ? fuzz_public4(address) : fuzz_public6(address))
               && !(wide && fuzz_loopback(address, *len));

    } else {
        bad |= fuzz_bad_host(host, wide);
    }

    free(text);

    return bad;
}


static void
fuzz_endpoint_pubsub(ngx_str_t *url, ngx_queues_base_rules_t *rules,
    ngx_uint_t wide)
{
    u_char                      *buf, address[16];
    size_t                       len;
    const char                  *error;
    ngx_uint_t                   bad;
    ngx_queues_base_endpoint_t   e;

    buf = fuzz_alloc(url->len + 8);
    error = ngx_queues_base_endpoint_parse_pubsub(url, rules, buf, &e);
    bad = fuzz_bad_pubsub(url, wide, address, &len);

    fuzz_assert((error != NULL) == bad);

    if (error) {
        fuzz_assert(strncmp(error, "must ", 5) == 0);
        free(buf);
        return;
    }

    fuzz_assert(e.naddress == len
                && (len == 0 || memcmp(e.address, address, len) == 0));
    fuzz_assert(e.tls == (tolower(url->data[4]) == 's'));
    fuzz_assert(e.uri.len && e.uri.data[0] == '/');
    fuzz_assert(e.authority.len >= e.host.len + (len == 16 ? 2 : 0));
    fuzz_assert(e.authority.data[0] == '[' ? len == 16 : len != 16);

    free(buf);
}


static void
fuzz_reachable(ngx_str_t *bytes)
{
    size_t  n;
    u_char  v6[16], *a;

    for (n = 0; n <= bytes->len && n < 20; n++) {
        a = fuzz_copy(bytes->data, n).data;

        if (n == 4) {
            memcpy(v6, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
            memcpy(v6 + 12, a, 4);

            fuzz_assert(ngx_queues_base_address_public(a, 4)
                        == fuzz_public4(a));
            fuzz_assert(ngx_queues_base_address_public(v6, 16)
                        == fuzz_public4(a));

        } else if (n == 16) {
            fuzz_assert(ngx_queues_base_address_public(a, 16)
                        == fuzz_public6(a));

        } else {
            fuzz_assert(!ngx_queues_base_address_public(a, n));
            fuzz_assert(!ngx_queues_base_address_permitted(a, n,
                                                           &fuzz_rules));
        }

        free(a);
    }
}


/* whether the first bits are the same, one by one */

static ngx_uint_t
fuzz_within(u_char *address, ngx_queues_base_network_t *network)
{
    ngx_uint_t  i;

    for (i = 0; i < network->bits; i++) {
        if ((address[i / 8] ^ network->address[i / 8]) >> (7 - i % 8) & 1) {
            return 0;
        }
    }

    return 1;
}


static void
fuzz_network(ngx_str_t *text, ngx_str_t *bytes)
{
    char                        copy[INET6_ADDRSTRLEN + 8];
    u_char                      address[16];
    ngx_str_t                   again;
    ngx_uint_t                  i;
    ngx_queues_base_rules_t     rules;
    ngx_queues_base_network_t   network, same;

    if (ngx_queues_base_network_parse(text, &network) != NGX_OK) {
        return;
    }

    fuzz_assert(network.bits <= 128);

    for (i = network.bits; i < 128; i++) {
        fuzz_assert((network.address[i / 8] >> (7 - i % 8) & 1) == 0);
    }

    fuzz_assert(inet_ntop(AF_INET6, network.address, copy, sizeof(copy)));
    sprintf(copy + strlen(copy), "/%u", (unsigned) network.bits);

    again = fuzz_copy((u_char *) copy, strlen(copy));

    fuzz_assert(ngx_queues_base_network_parse(&again, &same) == NGX_OK
                && same.bits == network.bits
                && memcmp(same.address, network.address, 16) == 0);

    free(again.data);

    memset(&rules, 0, sizeof(rules));
    rules.networks = &network;
    rules.nnetworks = 1;

    fuzz_assert(ngx_queues_base_address_permitted(network.address, 16,
                                                  &rules));

    /* the network's own bits, but for those that the input flips */

    memcpy(address, network.address, 16);

    for (i = 0; i < 16 && i < bytes->len; i++) {
        address[i] ^= bytes->data[i];
    }

    fuzz_assert(ngx_queues_base_address_permitted(address, 16, &rules)
                == (fuzz_public6(address) || fuzz_within(address, &network)));
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  rest, url, network;

    fuzz_compile();

    rest.data = (u_char *) data;
    rest.len = size;

    url = fuzz_take(&rest, '\n');
    network = fuzz_take(&rest, '\n');

    fuzz_endpoint(&url, &fuzz_none, 0);
    fuzz_endpoint(&url, &fuzz_rules, 1);
    fuzz_endpoint_pubsub(&url, &fuzz_none, 0);
    fuzz_endpoint_pubsub(&url, &fuzz_rules, 1);
    fuzz_reachable(&rest);
    fuzz_network(&network, &rest);

    free(network.data);
    free(url.data);

    return 0;
}
