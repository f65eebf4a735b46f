
/*
 * The web page: its parts, embedded by "config", become one text for each
 * location, with the policy that allows this script and this style alone.
 */

#include "ngx_queues_conf.h"

#include <openssl/evp.h>
#include <openssl/sha.h>


/* in base64 with its padding */
#define NGX_QUEUES_CONF_SHA256_TEXT  44


static ngx_int_t ngx_queues_conf_dashboard_prefix(ngx_str_t *prefix);
static ngx_int_t ngx_queues_conf_dashboard_page(ngx_conf_t *cf,
    ngx_str_t *prefix, ngx_str_t *page);
static ngx_int_t ngx_queues_conf_dashboard_policy(ngx_conf_t *cf,
    ngx_str_t *policy);
static void ngx_queues_conf_dashboard_hash(const u_char *start,
    const u_char *end, u_char *text);


#pragma GCC visibility push(hidden)

extern const u_char  ngx_queues_conf_dashboard_html[];
extern const u_char  ngx_queues_conf_dashboard_css[];
extern const u_char  ngx_queues_conf_dashboard_js[];
extern const u_char  ngx_queues_conf_dashboard_end[];

#pragma GCC visibility pop


/* the included lines have the four labels, and an .incbin for each file */

__asm__(
    ".pushsection .rodata\n"
#include "ngx_queues_dashboard.inc"
    ".byte 0\n"
    ".popsection\n"
);


char *
ngx_queues_conf_set_dashboard(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_loc_t *qlcf = conf;

    char                         *error;
    u_char                        hash[NGX_QUEUES_CONF_SHA256_TEXT + 1];
    ngx_str_t                    *value, prefix;
    ngx_queues_conf_dashboard_t  *d;

    error = ngx_queues_conf_first_api(cf, cmd, qlcf);
    if (error != NGX_CONF_OK) {
        return error;
    }

    value = cf->args->elts;
    ngx_str_null(&prefix);

    if (cf->args->nelts == 2) {
        prefix = value[1];
    }

    if (ngx_queues_conf_dashboard_prefix(&prefix) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_dashboard %V\": write what stands "
                           "before \"/v1/\" in the paths of \"queues_api\" on "
                           "this server, such as \"/queues\", or nothing",
                           &prefix);
        return NGX_CONF_ERROR;
    }

    d = ngx_pcalloc(cf->pool, sizeof(ngx_queues_conf_dashboard_t));
    if (d == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_queues_conf_dashboard_page(cf, &prefix, &d->page) != NGX_OK
        || ngx_queues_conf_dashboard_policy(cf, &d->policy) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ngx_queues_conf_dashboard_hash(d->page.data, d->page.data + d->page.len,
                                   hash);

    /* half of it tells one page from another */

    d->etag.data = ngx_pnalloc(cf->pool, NGX_QUEUES_CONF_SHA256_TEXT);
    if (d->etag.data == NULL) {
        return NGX_CONF_ERROR;
    }

    d->etag.len = ngx_sprintf(d->etag.data, "\"%*s\"",
                              (size_t) NGX_QUEUES_CONF_SHA256_TEXT / 2, hash)
                  - d->etag.data;

    qlcf->api = NGX_QUEUES_CONF_DASHBOARD;
    qlcf->dashboard = d;

    return NGX_CONF_OK;
}


/* it becomes part of the page and of paths: no more than both take as it is */

static ngx_int_t
ngx_queues_conf_dashboard_prefix(ngx_str_t *prefix)
{
    u_char      c;
    ngx_uint_t  slash;
    ngx_uint_t  i;

    slash = 0;

    for (i = 0; i < prefix->len; i++) {
        c = prefix->data[i];

        if (c == '/') {

            if (slash) {
                return NGX_ERROR;
            }

            slash = 1;
            continue;
        }

        if (i == 0
            || !((c >= '0' && c <= '9') || ((c | 0x20) >= 'a'
                                            && (c | 0x20) <= 'z')
                 || c == '-' || c == '_' || c == '.' || c == '~'))
        {
            return NGX_ERROR;
        }

        slash = 0;
    }

    return slash ? NGX_ERROR : NGX_OK;
}


static ngx_int_t
ngx_queues_conf_dashboard_page(ngx_conf_t *cf, ngx_str_t *prefix,
    ngx_str_t *page)
{
    u_char      *p;
    size_t       len;
    ngx_str_t    rest;
    ngx_uint_t   i;

    /* in the order in which the page has them */

    struct {
        const char    *mark;
        const u_char  *start;
        const u_char  *end;
    } parts[] = {
        { "%%API%%", prefix->data, prefix->data + prefix->len },
        { "%%STYLE%%", ngx_queues_conf_dashboard_css,
          ngx_queues_conf_dashboard_js },
        { "%%SCRIPT%%", ngx_queues_conf_dashboard_js,
          ngx_queues_conf_dashboard_end },
    };

    len = ngx_queues_conf_dashboard_end - ngx_queues_conf_dashboard_html
          + prefix->len;

    page->len = 0;
    page->data = ngx_pnalloc(cf->pool, len);
    if (page->data == NULL) {
        return NGX_ERROR;
    }

    rest.data = (u_char *) ngx_queues_conf_dashboard_html;
    rest.len = ngx_queues_conf_dashboard_css - ngx_queues_conf_dashboard_html;

    for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {

        p = ngx_strnstr(rest.data, (char *) parts[i].mark, rest.len);

        if (p == NULL) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "the embedded page has no %s", parts[i].mark);
            return NGX_ERROR;
        }

        ngx_memcpy(page->data + page->len, rest.data, p - rest.data);
        page->len += p - rest.data;

        len = parts[i].end - parts[i].start;
        ngx_memcpy(page->data + page->len, parts[i].start, len);
        page->len += len;

        p += ngx_strlen(parts[i].mark);
        rest.len -= p - rest.data;
        rest.data = p;
    }

    ngx_memcpy(page->data + page->len, rest.data, rest.len);
    page->len += rest.len;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_conf_dashboard_policy(ngx_conf_t *cf, ngx_str_t *policy)
{
    u_char  script[NGX_QUEUES_CONF_SHA256_TEXT + 1];
    u_char  style[NGX_QUEUES_CONF_SHA256_TEXT + 1];

    static char  format[] =
        "default-src 'none'; connect-src 'self'; img-src data:; "
        "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'";

    ngx_queues_conf_dashboard_hash(ngx_queues_conf_dashboard_css,
                                   ngx_queues_conf_dashboard_js, style);
    ngx_queues_conf_dashboard_hash(ngx_queues_conf_dashboard_js,
                                   ngx_queues_conf_dashboard_end, script);

    policy->data = ngx_pnalloc(cf->pool, sizeof(format)
                                         + 2 * NGX_QUEUES_CONF_SHA256_TEXT);
    if (policy->data == NULL) {
        return NGX_ERROR;
    }

    policy->len = ngx_sprintf(policy->data, format, style, script)
                  - policy->data;

    return NGX_OK;
}


static void
ngx_queues_conf_dashboard_hash(const u_char *start, const u_char *end,
    u_char *text)
{
    u_char  digest[SHA256_DIGEST_LENGTH];

    SHA256(start, end - start, digest);

    EVP_EncodeBlock(text, digest, sizeof(digest));
}
