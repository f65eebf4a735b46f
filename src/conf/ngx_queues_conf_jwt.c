
#include "ngx_queues_conf.h"
#include "../base/ngx_queues_base_json.h"


#define NGX_QUEUES_CONF_LEEWAY      30
#define NGX_QUEUES_CONF_LEEWAY_MAX  3600


static ngx_int_t ngx_queues_conf_needs_key(ngx_conf_t *cf,
    ngx_queues_conf_jwt_t *jwt);
static ngx_int_t ngx_queues_conf_jwt_text(ngx_conf_t *cf,
    const char *directive, ngx_str_t *text);


ngx_int_t
ngx_queues_conf_check_jwt(ngx_conf_t *cf, ngx_queues_conf_jwt_t *jwt)
{
    if (jwt->key_files->nelts == 0) {
        return ngx_queues_conf_needs_key(cf, jwt);
    }

    if (jwt->leeway == NGX_CONF_UNSET) {
        jwt->leeway = NGX_QUEUES_CONF_LEEWAY;
    }

    if (jwt->leeway > NGX_QUEUES_CONF_LEEWAY_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"queues_jwt_leeway\" is too long: it is for clocks "
                      "that differ a little, write at most \"1h\"");
        return NGX_ERROR;
    }

    if (jwt->roles_claim.data == NULL) {
        ngx_str_set(&jwt->roles_claim, "roles");
    }

    if (ngx_queues_conf_jwt_text(cf, "queues_jwt_issuer", &jwt->issuer)
        != NGX_OK
        || ngx_queues_conf_jwt_text(cf, "queues_jwt_audience", &jwt->audience)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_conf_jwt_text(cf, "queues_jwt_roles_claim",
                                    &jwt->roles_claim);
}


/* what is said of tokens where none can be verified was meant for something */

static ngx_int_t
ngx_queues_conf_needs_key(ngx_conf_t *cf, ngx_queues_conf_jwt_t *jwt)
{
    const char  *directive;

    if (jwt->issuer.data) {
        directive = "queues_jwt_issuer";

    } else if (jwt->audience.data) {
        directive = "queues_jwt_audience";

    } else if (jwt->leeway != NGX_CONF_UNSET) {
        directive = "queues_jwt_leeway";

    } else if (jwt->roles_claim.data) {
        directive = "queues_jwt_roles_claim";

    } else {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"%s\" needs a key that tokens are signed with: add "
                  "\"queues_jwt_key FILE;\" beside it", directive);

    return NGX_ERROR;
}


/* an empty text would mean that nothing is checked */

static ngx_int_t
ngx_queues_conf_jwt_text(ngx_conf_t *cf, const char *directive,
    ngx_str_t *text)
{
    u_char     *p;
    ngx_str_t   raw;

    if (text->data == NULL) {
        return NGX_OK;
    }

    if (text->len == 0) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\" is empty: leave it out, or write a text",
                      directive);
        return NGX_ERROR;
    }

    p = ngx_pnalloc(cf->pool, ngx_queues_base_json_escape_length(text));
    if (p == NULL) {
        return NGX_ERROR;
    }

    raw.data = p;
    raw.len = ngx_queues_base_json_escape(p, text) - p;

    *text = raw;

    return NGX_OK;
}
