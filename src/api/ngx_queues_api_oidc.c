
/*
 * What an endpoint reads to verify the tokens of pushes: OpenID Connect
 * Discovery.  Documents are written when the configuration is loaded.
 */

#include "ngx_queues_api.h"
#include "../auth/ngx_queues_auth_oidc.h"


static ngx_int_t ngx_queues_api_oidc_names(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);
static void ngx_queues_api_oidc_configuration(ngx_queues_api_t *api);
static void ngx_queues_api_oidc_jwks(ngx_queues_api_t *api);
static void ngx_queues_api_oidc_answer(ngx_queues_api_t *api,
    ngx_str_t *document);


static const ngx_queues_api_route_t  ngx_queues_api_oidc_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/.well-known/jwks.json"),
      ngx_string("OidcKeys"),
      NGX_QUEUES_CONF_OIDC,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_oidc_jwks },

    { NGX_HTTP_GET,
      ngx_string("/.well-known/openid-configuration"),
      ngx_string("OidcConfiguration"),
      NGX_QUEUES_CONF_OIDC,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_oidc_configuration },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static const ngx_queues_api_route_t *const  ngx_queues_api_oidc_tables[] = {
    ngx_queues_api_oidc_routes,
    NULL
};


/* an issuer may have a path, before which a proxy may have put another */

const ngx_queues_api_surface_t  ngx_queues_api_oidc_surface = {
    NGX_QUEUES_CONF_OIDC,
    ngx_string("/.well-known/"),
    ngx_queues_api_oidc_tables,
    ngx_queues_api_codes,
    ngx_queues_api_oidc_names,
    ngx_queues_api_queues_error,
    NULL,
    0,
    ngx_null_string,
    2,
    0,
    0
};


/* there is no project */

static ngx_int_t
ngx_queues_api_oidc_names(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    return NGX_OK;
}


static void
ngx_queues_api_oidc_configuration(ngx_queues_api_t *api)
{
    ngx_queues_api_oidc_answer(api,
                               ngx_queues_auth_oidc_configuration(api->qmcf));
}


static void
ngx_queues_api_oidc_jwks(ngx_queues_api_t *api)
{
    ngx_queues_api_oidc_answer(api, ngx_queues_auth_oidc_jwks(api->qmcf));
}


/* an hour is how long a new key is published before it signs: operations.md */

static void
ngx_queues_api_oidc_answer(ngx_queues_api_t *api, ngx_str_t *document)
{
    ngx_str_t  value;

    ngx_str_set(&value, "public, max-age=3600");

    if (ngx_queues_http_add_header(api->op->request, "Cache-Control", &value)
        != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
        return;
    }

    ngx_queues_api_answer(api, NGX_HTTP_OK, document->data,
                          document->data + document->len);
}
