
#define UNIT_PARSE  ngx_queues_base_endpoint_parse_pubsub

#include "endpoint.h"


static ngx_str_t  unit_hosts[] = {
    ngx_string("redis"), ngx_string("dev.localhost"), ngx_string("10.0.0.1")
};

static ngx_queues_base_ports_t  unit_ports[] = { { 8443, 8443 } };

static ngx_queues_base_rules_t  unit_allow = {
    .hosts = unit_hosts,
    .nhosts = UNIT_ROWS(unit_hosts),
    .ports = unit_ports,
    .nports = UNIT_ROWS(unit_ports)
};

static ngx_queues_base_network_t  unit_networks[] = {
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10 }, 104 }
};

static ngx_queues_base_rules_t  unit_private = {
    .networks = unit_networks,
    .nnetworks = UNIT_ROWS(unit_networks)
};


#define HTTPS      "!must begin with https://, as it does not lead"
#define ADDRESS    "!must not have an address that is not public"


/* "host port uri", then what else it is, and its authority where that is not
 * the host and a port */

static unit_url_t  unit_pubsub[] = {
    { ngx_string("https://ok.example/"), "ok.example 443 / tls" },
    { ngx_string("https://ok.example:8443/x"), "ok.example 8443 /x tls" },
    { ngx_string("https://ok.example:80"), "ok.example 80 / tls" },
    { ngx_string("https://ok.example:443?x"), "ok.example 443 /?x tls" },
    { ngx_string("https://8.8.8.8/"), "8.8.8.8 443 / tls 4" },
    { ngx_string("https://8.8.8.8.:444/"), "8.8.8.8 444 / tls 4" },
    { ngx_string("https://[2606:4700::ABCD]/x"),
      "2606:4700::abcd 443 /x tls 16 [2606:4700::abcd]" },
    { ngx_string("HTTPS://[2606:4700::1]:8443"),
      "2606:4700::1 8443 / tls 16 [2606:4700::1]:8443" },
    { ngx_string("https://[2606:4700::1]:443?y"),
      "2606:4700::1 443 /?y tls 16 [2606:4700::1]" },

    { ngx_string("https://ok.example:0/"), NUMBER },
    { ngx_string("https://ok.example:65536/"), NUMBER },
    { ngx_string("https://[2606:4700::1]:"), NUMBER },
    { ngx_string("https://redis/"), SINGLE },
    { ngx_string("https://a.internal/"), PUBLIC },
    { ngx_string("https://u@ok.example/"), USER },
    { ngx_string("https://[::1]@8.8.8.8/"), USER },
    { ngx_string("https://ok.example/#"), FRAGMENT },
    { ngx_string("https://ok.example/ "), ASCII },
    { ngx_string("https:///"), "!must have a host" },
    { ngx_string("https://[]/"), NAME },
    { ngx_string("https://[/"), NAME },
    { ngx_string("https://[::1/"), NAME },
    { ngx_string("https://[2606:4700::1].:443/"), NAME },
    { ngx_string("https://[2606:4700::1]x/"), NAME },
    { ngx_string("https://[8.8.8.8]/"), NAME },
    { ngx_string("https://[2606:4700::1%25lo]/"), NAME },
    { ngx_string("https://[v1.x]/"), NAME },
    { ngx_string("https://[::ffff:8.8.8.8]/"),
      "::ffff:8.8.8.8 443 / tls 16 [::ffff:8.8.8.8]" },
    { ngx_string("https://2606:4700::1/"), IP },
    { ngx_string("https://0x8.8.8.8/"), IP },
    { ngx_string("https://010.8.8.8/"), IP },
    { ngx_string("https://8.8.8/"), IP },
    { ngx_string("https://134744072/"), IP },
    { ngx_string("https://8.8.8.8.8/"), IP },

    { ngx_string("https://10.0.0.1/"), ADDRESS },
    { ngx_string("https://169.254.169.254/latest"), ADDRESS },
    { ngx_string("https://0.0.0.0/"), ADDRESS },
    { ngx_string("https://[::]/"), ADDRESS },
    { ngx_string("https://[fe80::1]/"), ADDRESS },
    { ngx_string("https://[fd00::1]/"), ADDRESS },
    { ngx_string("https://[::ffff:10.0.0.1]/"), ADDRESS },
    { ngx_string("https://[64:ff9b::a00:1]/"), ADDRESS },
    { ngx_string("https://127.0.0.1/"), LOCAL },
    { ngx_string("https://127.255.0.9/"), LOCAL },
    { ngx_string("https://[::1]/"), LOCAL },
    { ngx_string("https://[::ffff:127.0.0.1]/"), LOCAL },
    { ngx_string("https://localhost/"), LOCAL },
    { ngx_string("https://a.localhost/"), LOCAL },

    { ngx_string("http://ok.example/"), HTTPS },
    { ngx_string("http://8.8.8.8/"), HTTPS },
    { ngx_string("http://10.0.0.1/"), HTTPS },
    { ngx_string("http://128.0.0.1/"), HTTPS },
    { ngx_string("http://[::2]/"), HTTPS },
    { ngx_string("http://0.0.0.0/"), HTTPS },
    { ngx_string("http://a.localhost/"), HTTPS },
    { ngx_string("http://localhost.example/"), HTTPS },
    { ngx_string("http://ok.example:443/"), HTTPS },
    { ngx_string("http://localhost/"), LOCAL },
    { ngx_string("http://127.0.0.1:8080/"), LOCAL },
    { ngx_string("http://[::1]:8080/"), LOCAL },
    { ngx_string("http://localhost@8.8.8.8/"), USER },
    { ngx_string("http:///x"), "!must have a host" },
    { ngx_string("http://127.1/"), IP },
    { ngx_string("http:/localhost/"), SCHEME },
    { ngx_string("ftp://localhost/"), SCHEME },
    { ngx_string("projects/p/topics/t"), SCHEME },
    { ngx_string(""), SCHEME }
};


static unit_url_t  unit_pubsub_local[] = {
    { ngx_string("http://localhost/"), "localhost 80 / localhost" },
    { ngx_string("HTTP://LocalHost.:8080?x"),
      "localhost 8080 /?x localhost" },
    { ngx_string("http://localhost:80/"), "localhost 80 / localhost" },
    { ngx_string("http://localhost:443/"), "localhost 443 / localhost" },
    { ngx_string("http://127.0.0.1:8080/p"), "127.0.0.1 8080 /p 4" },
    { ngx_string("http://127.9.8.7/"), "127.9.8.7 80 / 4" },
    { ngx_string("http://[::1]:9/"), "::1 9 / 16 [::1]:9" },
    { ngx_string("http://[0:0::1]"), "0:0::1 80 / 16 [0:0::1]" },
    { ngx_string("https://localhost:8443/"),
      "localhost 8443 / localhost tls" },
    { ngx_string("https://a.localhost/"), "a.localhost 443 / localhost tls" },
    { ngx_string("https://127.0.0.1/"), "127.0.0.1 443 / tls 4" },
    { ngx_string("https://[::1]/"), "::1 443 / tls 16 [::1]" },
    { ngx_string("http://a.localhost/"), HTTPS },
    { ngx_string("http://0.0.0.0/"), HTTPS },
    { ngx_string("http://127.0.0.1:0/"), NUMBER },
    { ngx_string("https://10.0.0.1/"), ADDRESS },
    { ngx_string("https://[::]/"), ADDRESS }
};


static unit_url_t  unit_pubsub_private[] = {
    { ngx_string("https://10.1.2.3/"), "10.1.2.3 443 / tls 4" },
    { ngx_string("https://[::ffff:10.1.2.3]/"),
      "::ffff:10.1.2.3 443 / tls 16 [::ffff:10.1.2.3]" },
    { ngx_string("https://11.1.2.3/"), "11.1.2.3 443 / tls 4" },
    { ngx_string("https://192.168.0.1/"), ADDRESS },
    { ngx_string("http://10.1.2.3/"), HTTPS },
    { ngx_string("http://localhost/"), LOCAL }
};


/* of hosts and ports that others are allowed, the hosts count */

static unit_url_t  unit_pubsub_allowed[] = {
    { ngx_string("https://redis:1/"), "redis 1 / tls" },
    { ngx_string("https://dev.localhost/"), "dev.localhost 443 / localhost tls" },
    { ngx_string("https://10.0.0.1/"), ADDRESS },
    { ngx_string("http://redis/"), HTTPS },
    { ngx_string("http://dev.localhost/"), HTTPS }
};


static ngx_uint_t
unit_is(ngx_queues_base_endpoint_t *e, const char *expected)
{
    char  text[2 * NGX_QUEUES_BASE_URL_MAX], authority[512], *p;

    p = text + sprintf(text, "%.*s %u %.*s%s%s",
                       (int) e->host.len, (char *) e->host.data,
                       (unsigned) e->port,
                       (int) e->uri.len, (char *) e->uri.data,
                       e->localhost ? " localhost" : "", e->tls ? " tls" : "");

    if (e->naddress) {
        p += sprintf(p, " %u", (unsigned) e->naddress);
    }

    snprintf(authority, sizeof(authority),
             (e->port == (e->tls ? 443 : 80)) ? "%.*s" : "%.*s:%u",
             (int) e->host.len, (char *) e->host.data, (unsigned) e->port);

    if (e->authority.len != strlen(authority)
        || memcmp(e->authority.data, authority, e->authority.len) != 0)
    {
        sprintf(p, " %.*s", (int) e->authority.len,
                (char *) e->authority.data);
    }

    return strcmp(text, expected) == 0;
}


/* whatever a URL is cut to, nothing beside it is read or written */

static void
unit_cut(unit_url_t *urls, ngx_uint_t n)
{
    ngx_str_t   url;
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        url = urls[i].url;

        while (url.len) {
            url.len--;
            (void) unit_parse(&url, &unit_localhost, "!");
        }
    }
}


int
main(void)
{
    unit_table(unit_pubsub, UNIT_ROWS(unit_pubsub), &unit_none, "URL");
    unit_table(unit_pubsub_local, UNIT_ROWS(unit_pubsub_local),
               &unit_localhost, "URL with localhost allowed");
    unit_table(unit_pubsub_private, UNIT_ROWS(unit_pubsub_private),
               &unit_private, "URL with a network allowed");
    unit_table(unit_pubsub_allowed, UNIT_ROWS(unit_pubsub_allowed),
               &unit_allow, "URL with hosts and ports allowed");

    unit_cut(unit_pubsub, UNIT_ROWS(unit_pubsub));
    unit_cut(unit_pubsub_local, UNIT_ROWS(unit_pubsub_local));

    return unit_done();
}
