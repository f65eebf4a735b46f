
#define UNIT_PARSE  ngx_queues_base_endpoint_parse

#include "endpoint.h"


/* fewer would leave forms out */
#define UNIT_URLS  120


static ngx_str_t  unit_hosts[] = {
    ngx_string("redis"),
    ngx_string(".corp.internal"),
    ngx_string("hooks.svc"),
    ngx_string("dev.localhost"),
    ngx_string(".ezgh.app"),
    ngx_string("10.0.0.1"),
    ngx_string("my_host"),
    ngx_string("")
};

static ngx_queues_base_ports_t  unit_ports[] = {
    { 8443, 8443 },
    { 9000, 9999 }
};

static ngx_queues_base_rules_t  unit_allow = {
    .hosts = unit_hosts,
    .nhosts = UNIT_ROWS(unit_hosts),
    .ports = unit_ports,
    .nports = UNIT_ROWS(unit_ports)
};


#define PORT      "!must have port 443, or none"


static unit_url_t  unit_urls[] = {
    { ngx_string("https://hooks.example.com/queues/orders"),
      "hooks.example.com 443 /queues/orders" },
    { ngx_string("https://hooks.example.com"), "hooks.example.com 443 /" },
    { ngx_string("https://hooks.example.com/"), "hooks.example.com 443 /" },
    { ngx_string("https://hooks.example.com?a=b"),
      "hooks.example.com 443 /?a=b" },
    { ngx_string("https://hooks.example.com?"), "hooks.example.com 443 /?" },
    { ngx_string("https://hooks.example.com/?"), "hooks.example.com 443 /?" },
    { ngx_string("https://a.b/?x=//y?z"), "a.b 443 /?x=//y?z" },
    { ngx_string("https://a.b?x=/y"), "a.b 443 /?x=/y" },
    { ngx_string("https://a.b//c"), "a.b 443 //c" },
    { ngx_string("https://a.b/../c/./d"), "a.b 443 /../c/./d" },
    { ngx_string("https://a.b/%20%zz%"), "a.b 443 /%20%zz%" },
    { ngx_string("https://a.b/c@d:e"), "a.b 443 /c@d:e" },
    { ngx_string("https://a.b?c@d"), "a.b 443 /?c@d" },
    { ngx_string("https://a.b/\"<>^`{|}~"), "a.b 443 /\"<>^`{|}~" },
    { ngx_string("https://a.b/Path?Query"), "a.b 443 /Path?Query" },
    { ngx_string("HTTPS://A.B/"), "a.b 443 /" },
    { ngx_string("hTtPs://Hooks.EXAMPLE.Com"), "hooks.example.com 443 /" },
    { ngx_string("https://hooks.example.com."), "hooks.example.com 443 /" },
    { ngx_string("https://hooks.example.com./x"), "hooks.example.com 443 /x" },
    { ngx_string("https://hooks.example.com.:443/x"),
      "hooks.example.com 443 /x" },
    { ngx_string("https://a.b:443"), "a.b 443 /" },
    { ngx_string("https://a.b:443?x"), "a.b 443 /?x" },
    { ngx_string("https://a.b:00443/"), "a.b 443 /" },
    { ngx_string("https://1.2.3.a/"), "1.2.3.a 443 /" },
    { ngx_string("https://1.a/"), "1.a 443 /" },
    { ngx_string("https://a.1b/"), "a.1b 443 /" },
    { ngx_string("https://a.x0/"), "a.x0 443 /" },
    { ngx_string("https://a.0xg/"), "a.0xg 443 /" },
    { ngx_string("https://a.00xa/"), "a.00xa 443 /" },
    { ngx_string("https://a.b-c/"), "a.b-c 443 /" },
    { ngx_string("https://a--b.example/"), "a--b.example 443 /" },
    { ngx_string("https://xn--bcher-kva.example/"),
      "xn--bcher-kva.example 443 /" },
    { ngx_string("https://127.0.0.1.nip.io/"), "127.0.0.1.nip.io 443 /" },
    { ngx_string("https://localhost.example.com/"),
      "localhost.example.com 443 /" },
    { ngx_string("https://notlocalhost.com/"), "notlocalhost.com 443 /" },
    { ngx_string("https://local.example/"), "local.example 443 /" },
    { ngx_string("https://a.mylocal/"), "a.mylocal 443 /" },
    { ngx_string("https://a.notinternal/"), "a.notinternal 443 /" },
    { ngx_string("https://myezgh.app/"), "myezgh.app 443 /" },
    { ngx_string("https://notezghcloud.com/"), "notezghcloud.com 443 /" },
    { ngx_string("https://ezghcloud.com.example/"),
      "ezghcloud.com.example 443 /" },

    { ngx_string(""), SCHEME },
    { ngx_string("https:"), SCHEME },
    { ngx_string("https:/a.b/"), SCHEME },
    { ngx_string("http://a.b/"), SCHEME },
    { ngx_string("//a.b/"), SCHEME },
    { ngx_string("a.b"), SCHEME },
    { ngx_string("ftp://a.b/"), SCHEME },
    { ngx_string("httpss://a.b/"), SCHEME },
    { ngx_string(" https://a.b/"), SCHEME },
    { ngx_string("https:\\\\a.b/"), SCHEME },
    { ngx_string("javascript:alert(1)//"), SCHEME },

    { ngx_string("https://"), "!must have a host" },
    { ngx_string("https:///"), "!must have a host" },
    { ngx_string("https:///a.b"), "!must have a host" },
    { ngx_string("https://?a.b"), "!must have a host" },
    { ngx_string("https://:443/"), "!must have a host" },
    { ngx_string("https://."), "!must have a host" },

    { ngx_string("https://user@ok.example"), USER },
    { ngx_string("https://user:word@ok.example/"), USER },
    { ngx_string("https://@ok.example/"), USER },
    { ngx_string("https://ok.example@127.0.0.1/"), USER },
    { ngx_string("https://ok.example:443@10.0.0.1/"), USER },
    { ngx_string("https://a%40b@ok.example/"), USER },

    { ngx_string("https://ok.example#f"), FRAGMENT },
    { ngx_string("https://ok.example/#"), FRAGMENT },
    { ngx_string("https://ok.example/a?b#c"), FRAGMENT },
    { ngx_string("https://ok.example#@10.0.0.1/"), FRAGMENT },

    { ngx_string("https://ok.example\\@10.0.0.1/"), ASCII },
    { ngx_string("https://10.0.0.1\\.ok.example/"), ASCII },
    { ngx_string("https://ok.example/a\\b"), ASCII },
    { ngx_string("https://ok.example/a b"), ASCII },
    { ngx_string("https://ok.example /"), ASCII },
    { ngx_string("https://ok.example/ "), ASCII },
    { ngx_string("https://ok.example/\t"), ASCII },
    { ngx_string("https://ok.example/\r\nX: y"), ASCII },
    { ngx_string("https://ok.example\n/"), ASCII },
    { ngx_string("https://ok.example\0.evil.example/"), ASCII },
    { ngx_string("https://ok.example/\0"), ASCII },
    { ngx_string("https://ok.example/\x7f"), ASCII },
    { ngx_string("https://ok.example/\xc3\xa4"), ASCII },
    { ngx_string("https://b\xc3\xbc" "cher.example/"), ASCII },
    { ngx_string("https://127\xe3\x80\x82" "0\xe3\x80\x82" "0.1/"), ASCII },
    { ngx_string("https://\xef\xbc\x91" "27.0.0.1/"), ASCII },
    { ngx_string("https://\xe2\x91\xa0.example/"), ASCII },
    { ngx_string("https://loc\xc2\xad" "alhost/"), ASCII },

    { ngx_string("https://ok%2eexample/"), NAME },
    { ngx_string("https://127.0.0.1%2f.example/"), NAME },
    { ngx_string("https://%6cocalhost/"), NAME },
    { ngx_string("https://a_b.example/"), NAME },
    { ngx_string("https://_a.example/"), NAME },
    { ngx_string("https://a.b_/"), NAME },
    { ngx_string("https://*.example/"), NAME },
    { ngx_string("https://a,b.example/"), NAME },
    { ngx_string("https://a!b.example/"), NAME },
    { ngx_string("https://-a.example/"), NAME },
    { ngx_string("https://a-.example/"), NAME },
    { ngx_string("https://a.-b/"), NAME },
    { ngx_string("https://.example.com/"), NAME },
    { ngx_string("https://a..b/"), NAME },
    { ngx_string("https://a.b../"), NAME },
    { ngx_string("https://../"), NAME },
    { ngx_string("https://a.b[/"), NAME },
    { ngx_string("https://a.b]/"), NAME },
    { ngx_string("https://a.b;c/"), NAME },
    { ngx_string("https://fe80--1/:443"), SINGLE },

    { ngx_string("https://127.0.0.1"), IP },
    { ngx_string("https://127.0.0.1./"), IP },
    { ngx_string("https://8.8.8.8/"), IP },
    { ngx_string("https://2130706433/"), IP },
    { ngx_string("https://0x7f.1"), IP },
    { ngx_string("https://0x7f000001/"), IP },
    { ngx_string("https://0X7F.0x0.0x0.0X1/"), IP },
    { ngx_string("https://017700000001/"), IP },
    { ngx_string("https://0177.0.0.01/"), IP },
    { ngx_string("https://127.1/"), IP },
    { ngx_string("https://0/"), IP },
    { ngx_string("https://0x/"), IP },
    { ngx_string("https://a.0x/"), IP },
    { ngx_string("https://a.0xA/"), IP },
    { ngx_string("https://example.123/"), IP },
    { ngx_string("https://ok.example.09/"), IP },
    { ngx_string("https://1.2.3.4.5/"), IP },
    { ngx_string("https://99999999999999999999/"), IP },
    { ngx_string("https://[::1]"), IP },
    { ngx_string("https://[::1]:443/"), IP },
    { ngx_string("https://[::ffff:10.0.0.1]/"), IP },
    { ngx_string("https://[64:ff9b::a00:1]/"), IP },
    { ngx_string("https://[2002:7f00:1::]/"), IP },
    { ngx_string("https://[2606:4700::1111]/"), IP },
    { ngx_string("https://[fe80::1%25eth0]/"), IP },
    { ngx_string("https://[v1.x]/"), IP },
    { ngx_string("https://["), IP },
    { ngx_string("https://::1/"), "!must have a host" },
    { ngx_string("https://fe80::1/"), SINGLE },

    { ngx_string("https://localhost"), LOCAL },
    { ngx_string("https://localhost."), LOCAL },
    { ngx_string("https://LOCALHOST:443/"), LOCAL },
    { ngx_string("https://a.LOCALHOST/"), LOCAL },
    { ngx_string("https://a.b.localhost./"), LOCAL },
    { ngx_string("https://x.internal."), PUBLIC },
    { ngx_string("https://internal/"), PUBLIC },
    { ngx_string("https://metadata.google.internal/"), PUBLIC },
    { ngx_string("https://a.Local/"), PUBLIC },
    { ngx_string("https://local/"), PUBLIC },
    { ngx_string("https://a.test/"), PUBLIC },
    { ngx_string("https://test/"), PUBLIC },
    { ngx_string("https://a.default.svc/"), PUBLIC },
    { ngx_string("https://svc/"), PUBLIC },
    { ngx_string("https://ezghcloud.com/"), PUBLIC },
    { ngx_string("https://queues-api.ezghcloud.com/"), PUBLIC },
    { ngx_string("https://EZGH.app./"), PUBLIC },
    { ngx_string("https://a.ezgh.app/"), PUBLIC },
    { ngx_string("https://foo"), SINGLE },
    { ngx_string("https://foo./"), SINGLE },
    { ngx_string("https://com/"), SINGLE },
    { ngx_string("https://redis/"), SINGLE },

    { ngx_string("https://ok.example:8443"), PORT },
    { ngx_string("https://ok.example:80/"), PORT },
    { ngx_string("https://ok.example:1/"), PORT },
    { ngx_string("https://ok.example:65535/"), PORT },
    { ngx_string("https://ok.example:0/"), NUMBER },
    { ngx_string("https://ok.example:/"), NUMBER },
    { ngx_string("https://ok.example:"), NUMBER },
    { ngx_string("https://ok.example:65536/"), NUMBER },
    { ngx_string("https://ok.example:65979/"), NUMBER },
    { ngx_string("https://ok.example:000443/"), NUMBER },
    { ngx_string("https://ok.example:4294967739/"), NUMBER },
    { ngx_string("https://ok.example:https/"), NUMBER },
    { ngx_string("https://ok.example:+443/"), NUMBER },
    { ngx_string("https://ok.example:443:443/"), NUMBER },
    { ngx_string("https://ok.example:0x1bb/"), NUMBER }
};


static unit_url_t  unit_allowed[] = {
    { ngx_string("https://ok.example/"), "ok.example 443 /" },
    { ngx_string("https://redis"), "redis 443 /" },
    { ngx_string("https://Redis.:9000?x"), "redis 9000 /?x" },
    { ngx_string("https://redis.internal/"), PUBLIC },
    { ngx_string("https://a.redis/"), "a.redis 443 /" },
    { ngx_string("https://red/"), SINGLE },
    { ngx_string("https://rediss/"), SINGLE },
    { ngx_string("https://a.corp.internal:9999/"), "a.corp.internal 9999 /" },
    { ngx_string("https://a.b.CORP.internal./"), "a.b.corp.internal 443 /" },
    { ngx_string("https://corp.internal/"), PUBLIC },
    { ngx_string("https://acorp.internal/"), PUBLIC },
    { ngx_string("https://internal/"), PUBLIC },
    { ngx_string("https://hooks.svc/"), "hooks.svc 443 /" },
    { ngx_string("https://a.hooks.svc/"), PUBLIC },
    { ngx_string("https://other.svc/"), PUBLIC },
    { ngx_string("https://dev.localhost/"), "dev.localhost 443 / localhost" },
    { ngx_string("https://a.dev.localhost/"), LOCAL },
    { ngx_string("https://localhost/"), LOCAL },
    { ngx_string("https://x.ezgh.app:8443/"), "x.ezgh.app 8443 /" },
    { ngx_string("https://ezgh.app/"), PUBLIC },
    { ngx_string("https://10.0.0.1/"), IP },
    { ngx_string("https://my_host/"), NAME },
    { ngx_string("https:///"), "!must have a host" },
    { ngx_string("https://ok.example:8442/"), "!must have a port that is" },
    { ngx_string("https://ok.example:8444/"), "!must have a port that is" },
    { ngx_string("https://ok.example:8999/"), "!must have a port that is" },
    { ngx_string("https://ok.example:10000/"), "!must have a port that is" },
    { ngx_string("https://ok.example:443/"), "ok.example 443 /" }
};


static unit_url_t  unit_local[] = {
    { ngx_string("https://localhost/"), "localhost 443 / localhost" },
    { ngx_string("https://LocalHost.?x"), "localhost 443 /?x localhost" },
    { ngx_string("https://a.localhost/"), "a.localhost 443 / localhost" },
    { ngx_string("https://localhost.example.com/"),
      "localhost.example.com 443 /" },
    { ngx_string("https://xlocalhost/"), SINGLE },
    { ngx_string("https://localhost.local/"), PUBLIC },
    { ngx_string("https://127.0.0.1/"), IP },
    { ngx_string("https://[::1]/"), IP },
    { ngx_string("https://localhost:8443/"), PORT }
};


/* whether the endpoint is what it should be, authority and all */

static ngx_uint_t
unit_is(ngx_queues_base_endpoint_t *e, const char *expected)
{
    int   n;
    char  text[2 * NGX_QUEUES_BASE_URL_MAX], authority[512];

    snprintf(text, sizeof(text), "%.*s %u %.*s%s",
             (int) e->host.len, (char *) e->host.data, (unsigned) e->port,
             (int) e->uri.len, (char *) e->uri.data,
             e->localhost ? " localhost" : "");

    n = snprintf(authority, sizeof(authority), "%.*s:%u", (int) e->host.len,
                 (char *) e->host.data, (unsigned) e->port);

    if (e->port == 443) {
        n -= 4;
    }

    return strcmp(text, expected) == 0
           && e->authority.len == (size_t) n
           && memcmp(e->authority.data, authority, n) == 0;
}


/* a URL whose host has labels of so many bytes, and whose path fills it up */

static ngx_str_t
unit_long(const char *labels, size_t len)
{
    u_char     *p;
    size_t      n;
    ngx_str_t   url;

    url.data = malloc(4096);
    p = ngx_cpymem(url.data, "https://", 8);

    while (*labels) {
        n = strtoul(labels, (char **) &labels, 10);

        memset(p, 'a', n);
        p += n;

        if (*labels) {
            labels++;
            *p++ = '.';
        }
    }

    *p++ = '/';
    url.len = p - url.data;

    if (len) {
        memset(p, 'x', len - url.len);
        url.len = len;
    }

    return url;
}


static void
unit_lengths(void)
{
    ngx_str_t   url;
    ngx_uint_t  i;
    char        expected[2 * NGX_QUEUES_BASE_URL_MAX];

    static struct {
        const char  *labels;
        size_t       len;
        const char  *error;
    } rows[] = {
        { "63.1", 0, NULL },
        { "64.1", 0, NAME },
        { "1.63", 0, NULL },
        { "1.64", 0, NAME },
        { "63.63.63.61", 0, NULL },                         /* 253 */
        { "63.63.63.62", 0, "!must have a host of at most 253" },
        { "63.63.63.63.63.63", 0, "!must have a host of at most 253" },
        { "1.1", 2047, NULL },
        { "1.1", 2048, NULL },
        { "1.1", 2049, "!must have at most 2,048 characters" },
        { "63.63.63.61", 2048, NULL }
    };

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        url = unit_long(rows[i].labels, rows[i].len);

        if (rows[i].error) {
            snprintf(expected, sizeof(expected), "%s", rows[i].error);

        } else {
            u_char  *slash = memchr(url.data + 8, '/', url.len - 8);

            snprintf(expected, sizeof(expected), "%.*s 443 %.*s",
                     (int) (slash - url.data) - 8, (char *) url.data + 8,
                     (int) (url.data + url.len - slash), (char *) slash);
        }

        unit_ok(unit_parse(&url, &unit_none, expected), rows[i].labels, &url);

        free(url.data);
    }

    /* no length of a URL may lead out of the buffer */

    for (i = 0; i < UNIT_ROWS(unit_urls); i++) {
        url = unit_urls[i].url;

        while (url.len) {
            url.len--;
            (void) unit_parse(&url, &unit_allow, "!");
        }
    }
}


int
main(void)
{
    unit_table(unit_urls, UNIT_ROWS(unit_urls), &unit_none, "URL");
    unit_table(unit_allowed, UNIT_ROWS(unit_allowed), &unit_allow,
               "URL with hosts and ports allowed");
    unit_table(unit_local, UNIT_ROWS(unit_local), &unit_localhost,
               "URL with localhost allowed");

    unit_lengths();

    unit_ok(UNIT_ROWS(unit_urls) >= UNIT_URLS, "there are enough URLs", NULL);

    return unit_done();
}
