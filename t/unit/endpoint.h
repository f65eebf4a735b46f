
/*
 * What the tests of the two kinds of URLs of endpoints share.  UNIT_PARSE is
 * the parser; unit_is() is whether the endpoint is what it should be.
 */

#include "unit.h"
#include "ngx_queues_base_endpoint.h"


typedef struct {
    ngx_str_t    url;
    const char  *expected;    /* "host port uri", or "!" and what is said */
} unit_url_t;


static ngx_queues_base_rules_t  unit_none;
static ngx_queues_base_rules_t  unit_localhost = { .localhost = 1 };


#define SCHEME    "!must begin with https://"
#define ASCII     "!must have ASCII characters only"
#define USER      "!must not have a user name"
#define FRAGMENT  "!must not have a fragment"
#define NAME      "!must have a DNS name of letters"
#define IP        "!must have a DNS name, not an IP address"
#define PUBLIC    "!must have a public DNS name, not one under"
#define SINGLE    "!must have a public DNS name, not a single label"
#define LOCAL     "!must not lead to localhost"
#define NUMBER    "!must have a port from 1 to 65535"


static ngx_uint_t unit_is(ngx_queues_base_endpoint_t *e,
    const char *expected);


static ngx_uint_t
unit_parse(ngx_str_t *text, ngx_queues_base_rules_t *rules,
    const char *expected)
{
    u_char                      *buf;
    ngx_str_t                    url;
    ngx_uint_t                   ok;
    const char                  *error;
    ngx_queues_base_endpoint_t   endpoint;

    url = unit_copy(text);
    buf = malloc(url.len + 8);

    error = UNIT_PARSE(&url, rules, buf, &endpoint);

    if (error) {
        ok = expected[0] == '!'
             && strncmp(error, expected + 1, strlen(expected + 1)) == 0;

    } else {
        ok = unit_is(&endpoint, expected);
    }

    /* it is for a JSON string, as it is */

    ok = ok && (error == NULL || strpbrk(error, "\"\\") == NULL);

    /* the URL is the caller's, and is kept as it is */

    ok = ok && unit_same(&url, text);

    free(buf);
    free(url.data);

    return ok;
}


static void
unit_table(unit_url_t *urls, ngx_uint_t n, ngx_queues_base_rules_t *rules,
    const char *what)
{
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        unit_ok(unit_parse(&urls[i].url, rules, urls[i].expected), what,
                &urls[i].url);
    }
}
