
/*
 * The APIs, and what of the Queues API is not a route.
 */

#include "ngx_queues_api.h"


static ngx_int_t ngx_queues_api_queues_names(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);
static ngx_int_t ngx_queues_api_queues_headers(ngx_http_request_t *r);


static const ngx_queues_api_route_t *const  ngx_queues_api_queues_tables[] = {
    ngx_queues_api_messages_routes,
    ngx_queues_api_receipts_routes,
    ngx_queues_api_queues_routes,
    ngx_queues_api_subscriptions_routes,
    NULL
};


const ngx_queues_api_surface_t  ngx_queues_api_queues_surface = {
    NGX_QUEUES_CONF_ALL,
    ngx_string("/v1/"),
    ngx_queues_api_queues_tables,
    ngx_queues_api_codes,
    ngx_queues_api_queues_names,
    ngx_queues_api_queues_error,
    ngx_queues_api_queues_headers,
    0,
    ngx_null_string,
    0,
    0,
    0
};


/* where the prefix of one is that of another the longer one comes first */

const ngx_queues_api_surface_t *const  ngx_queues_api_surfaces[] = {
    &ngx_queues_api_pubsub_surface,
    &ngx_queues_api_queues_surface,
    &ngx_queues_api_queen_surface,
    &ngx_queues_api_oidc_surface,
    &ngx_queues_api_health_surface,
    &ngx_queues_api_metrics_surface,
    NULL
};


const ngx_queues_api_surface_t *
ngx_queues_api_surface(ngx_uint_t parts)
{
    const ngx_queues_api_surface_t *const  *s;

    for (s = ngx_queues_api_surfaces; *s; s++) {
        if ((*s)->parts & parts) {
            break;
        }
    }

    return *s;
}


const ngx_queues_api_surface_t *
ngx_queues_api_surface_of(ngx_http_request_t *r)
{
    ngx_str_t                               path;
    ngx_queues_conf_loc_t                  *qlcf;
    const ngx_queues_api_surface_t *const  *s;

    qlcf = ngx_http_get_module_loc_conf(r, ngx_queues_module);

    if (qlcf->api) {
        return ngx_queues_api_surface(qlcf->api);
    }

    /*
     * What nginx refuses before it looks for a location (valid_location is set
     * then): a path that cannot be decoded, headers that are too large or
     * wrong.
     */

    if (!qlcf->serves || r->valid_location) {
        return NULL;
    }

    if (r->unparsed_uri.len) {
        path = r->unparsed_uri;

    } else if (r->uri_start && r->uri_end) {
        path.data = r->uri_start;
        path.len = r->uri_end - r->uri_start;

    } else {
        return NULL;
    }

    for (s = ngx_queues_api_surfaces; *s; s++) {
        if (((*s)->parts & qlcf->serves)
            && (*s)->prefix.len
            && path.len > (*s)->prefix.len
            && ngx_memcmp(path.data, (*s)->prefix.data, (*s)->prefix.len) == 0)
        {
            break;
        }
    }

    return *s;
}


static ngx_int_t
ngx_queues_api_queues_names(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    ngx_str_t               *names;
    ngx_queues_http_note_t  *note;

    note = api->op->note;
    names = note->names;

    names[0] = ngx_queues_api_capture(api, "org");
    names[1] = ngx_queues_api_capture(api, "project");
    names[2] = ngx_queues_api_capture(api, "queue");

    if (names[0].len == 0) {
        return NGX_OK;
    }

    if (ngx_queues_base_name_check(&names[0], NGX_QUEUES_CONF_NAME_MAX)
        != NGX_OK
        || ngx_queues_base_name_check(&names[1], NGX_QUEUES_CONF_NAME_MAX)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (ngx_queues_api_set_project(api, &names[0], &names[1]) != NGX_OK) {
        return NGX_ERROR;
    }

    api->queue = names[2];
    api->subscription = ngx_queues_api_capture(api, "subscription");

    if (api->subscription.len) {
        return ngx_queues_api_sub(api, &api->subscription, &api->sub);
    }

    if (api->queue.len == 0) {
        return NGX_OK;
    }

    return ngx_queues_api_ref(api, &api->queue, &api->ref);
}


u_char *
ngx_queues_api_queues_error(u_char *p, ngx_queues_api_t *api,
    ngx_queues_api_told_t *told)
{
    p = ngx_sprintf(p, "{\"error\":\"%V\",\"message\":\"", &told->code);
    p = ngx_queues_base_json_escape(p, &told->message);
    *p++ = '"';

    if (told->field) {
        p = ngx_sprintf(p, ",\"field\":\"%V\"", told->field);
    }

    *p++ = '}';

    return p;
}


/* pages of any origin may read the errors of receipt calls, too */

static ngx_int_t
ngx_queues_api_queues_headers(ngx_http_request_t *r)
{
    static ngx_str_t  prefix = ngx_string("/v1/receipts/");

    if (r->unparsed_uri.len > prefix.len
        && ngx_memcmp(r->unparsed_uri.data, prefix.data, prefix.len) == 0)
    {
        return ngx_queues_api_cors(r);
    }

    return NGX_OK;
}
