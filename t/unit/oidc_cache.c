
#include "oidc.h"
#include "ngx_queues_base_oidc_cache.h"


/* when the token that is given out was issued */

static int64_t
unit_issued(ngx_queues_base_oidc_cache_t *cache, const char *email,
    const char *audience, int64_t now)
{
    char       text[8192], *p;
    ngx_str_t  token, e, a, e_text, a_text;
    ngx_int_t  rc;

    e_text = unit_text(email);
    a_text = unit_text(audience);
    e = unit_copy(&e_text);
    a = unit_copy(&a_text);

    rc = ngx_queues_base_oidc_cache_token(cache, &e, &a, now, &token);

    free(e.data);
    free(a.data);

    if (rc != NGX_OK || unit_part(&token, 1, text) == 0) {
        return -1;
    }

    p = strstr(text, "\"aud\":\"");

    if (strncmp(p + 7, audience, strlen(audience)) != 0
        || strstr(text, email) == NULL)
    {
        return -1;
    }

    p = strstr(text, "\"iat\":");

    return strtoll(p + 6, NULL, 10);
}


static void
unit_cache(void)
{
    char                           name[32];
    EVP_PKEY                      *rsa;
    ngx_str_t                      issuer;
    ngx_uint_t                     i, ok;
    ngx_queues_base_oidc_keys_t   *keys;
    ngx_queues_base_oidc_cache_t  *c;

    rsa = EVP_RSA_gen(2048);
    keys = unit_keys(rsa, NULL);
    issuer = unit_text(ISSUER);
    c = ngx_queues_base_oidc_cache_create(keys, &issuer);

    unit_ok(unit_issued(c, "e", "a", NOW) == NOW, "a new token", NULL);
    unit_ok(unit_issued(c, "e", "a", NOW + 1) == NOW, "is remembered", NULL);
    unit_ok(unit_issued(c, "e", "b", NOW + 1) == NOW + 1
            && unit_issued(c, "f", "a", NOW + 2) == NOW + 2,
            "another audience, another account", NULL);
    unit_ok(unit_issued(c, "", "ea", NOW + 3) == NOW + 3
            && unit_issued(c, "ea", "", NOW + 4) == NOW + 4
            && unit_issued(c, "a", "e", NOW + 5) == NOW + 5,
            "the two are told apart", NULL);
    unit_ok(unit_issued(c, "e", "a", NOW + 3300) == NOW,
            "good for five minutes: given out", NULL);
    unit_ok(unit_issued(c, "e", "a", NOW + 3301) == NOW + 3301,
            "for less: renewed", NULL);
    unit_ok(unit_issued(c, "e", "a", NOW + 3302) == NOW + 3301,
            "and remembered", NULL);
    unit_ok(unit_issued(c, "e", "a", NOW + 3300) == NOW + 3300,
            "the clock was set back: renewed", NULL);

    /* as many as there is room for, the first one used again */

    for (i = 0, ok = 1; i < NGX_QUEUES_BASE_OIDC_TOKENS; i++) {
        sprintf(name, "n%u.", (unsigned) i);
        ok &= unit_issued(c, name, "a", NOW + i) == NOW + (int64_t) i;
        ok &= unit_issued(c, "n0.", "a", NOW + i) == NOW;
    }

    unit_ok(ok, "a thousand", NULL);

    for (i = 0, ok = 1; i < NGX_QUEUES_BASE_OIDC_TOKENS; i++) {
        sprintf(name, "n%u.", (unsigned) i);
        ok &= unit_issued(c, name, "a", NOW + 2000) == NOW + (int64_t) i;
    }

    unit_ok(ok, "are remembered", NULL);

    unit_ok(unit_issued(c, "e", "a", NOW + 3302) == NOW + 3302,
            "what was used before is not", NULL);
    unit_ok(unit_issued(c, "n1.", "a", NOW + 2001) == NOW + 1
            && unit_issued(c, "n0.", "a", NOW + 2001) == NOW + 2001,
            "and took the place of the one that was used least lately", NULL);

    ngx_queues_base_oidc_cache_destroy(c);
    ngx_queues_base_oidc_cache_destroy(NULL);
    ngx_queues_base_oidc_keys_destroy(keys);
    EVP_PKEY_free(rsa);
}


int
main(void)
{
    unit_cache();

    return unit_done();
}
