
#include "ngx_queues_api.h"


#define NGX_QUEUES_API_CAPTURES      3     /* org, project, and a queue or a
                                              subscription */
#define NGX_QUEUES_API_NAME_MAX      64    /* of organizations and projects */


typedef struct {
    const ngx_queues_api_route_t  *routes;
    ngx_uint_t                     subscriptions;  /* the third capture is
                                                      one's id */
} ngx_queues_api_table_t;


static void ngx_queues_api_note(ngx_queues_api_t *api, ngx_str_t *captures);
static ngx_int_t ngx_queues_api_match(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf, ngx_queues_base_path_t *path,
    ngx_str_t *captures, ngx_queues_api_table_t **table);
static ngx_int_t ngx_queues_api_names(ngx_queues_api_t *api,
    ngx_str_t *captures);


/* the most frequent first */

static ngx_queues_api_table_t  ngx_queues_api_tables[] = {
    { ngx_queues_api_messages_routes, 0 },
    { ngx_queues_api_receipts_routes, 0 },
    { ngx_queues_api_queues_routes, 0 },
    { ngx_queues_api_subscriptions_routes, 1 },
    { NULL, 0 }
};


ngx_int_t
ngx_queues_api_find(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    u_char                  *buf;
    ngx_int_t                rc;
    ngx_str_t                captures[NGX_QUEUES_API_CAPTURES];
    ngx_http_request_t      *r;
    ngx_queues_api_table_t  *table;
    ngx_queues_base_path_t   path;

    r = api->op->request;

    buf = ngx_pnalloc(r->pool, r->unparsed_uri.len);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    api->error = NGX_QUEUES_API_NOT_FOUND;

    rc = ngx_queues_base_path_split(&r->unparsed_uri, buf, &path);

    if (rc == NGX_ERROR) {
        api->error = NGX_QUEUES_API_INVALID_ARGUMENT;
    }

    if (rc != NGX_OK) {
        return NGX_DECLINED;
    }

    ngx_memzero(captures, sizeof(captures));

    rc = ngx_queues_api_match(api, qlcf, &path, captures, &table);

    if (rc == NGX_OK) {

        if (table->subscriptions) {
            api->subscription = captures[2];
            ngx_str_null(&captures[2]);
        }

        ngx_queues_api_note(api, captures);
    }

    if (rc != NGX_OK || captures[0].len == 0) {
        return rc;
    }

    return ngx_queues_api_names(api, captures);
}


/* Captures are in the request's pool, what a route is called is constant. */

static void
ngx_queues_api_note(ngx_queues_api_t *api, ngx_str_t *captures)
{
    ngx_uint_t               i;
    ngx_queues_http_note_t  *note;

    note = api->op->note;

    note->operation = &api->route->name;

    for (i = 0; i < NGX_QUEUES_HTTP_NAMES; i++) {
        note->names[i] = captures[i];
    }
}


static ngx_int_t
ngx_queues_api_match(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf,
    ngx_queues_base_path_t *path, ngx_str_t *captures,
    ngx_queues_api_table_t **table)
{
    ngx_str_t                      template;
    ngx_uint_t                     method;
    ngx_queues_api_table_t        *t;
    const ngx_queues_api_route_t  *route;

    method = api->op->request->method;

    if (method == NGX_HTTP_HEAD) {
        method = NGX_HTTP_GET;
    }

    for (t = ngx_queues_api_tables; t->routes; t++) {

        for (route = t->routes; route->method; route++) {

            if (!(route->group & qlcf->api)) {
                continue;
            }

            template = route->path;

            if (ngx_queues_base_path_match(path, &template, captures)
                != NGX_OK)
            {
                continue;
            }

            api->groups |= route->group;

            if (route->method == method) {
                api->route = route;
                *table = t;
                return NGX_OK;
            }

            api->allow |= route->method;
        }
    }

    if (api->allow) {
        api->error = NGX_QUEUES_API_METHOD_NOT_ALLOWED;
    }

    return NGX_DECLINED;
}


static ngx_int_t
ngx_queues_api_names(ngx_queues_api_t *api, ngx_str_t *captures)
{
    u_char     *p;
    ngx_str_t  *org, *project;

    org = &captures[0];
    project = &captures[1];

    if (ngx_queues_base_name_check(org, NGX_QUEUES_API_NAME_MAX) != NGX_OK
        || ngx_queues_base_name_check(project, NGX_QUEUES_API_NAME_MAX)
           != NGX_OK)
    {
        return NGX_DECLINED;
    }

    api->root.len = sizeof(NGX_QUEUES_STORE_ROOT_PREFIX) - 1
                    + org->len + 1 + project->len + 1;

    p = ngx_pnalloc(api->op->pool, api->root.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    api->root.data = p;

    p = ngx_cpymem(p, NGX_QUEUES_STORE_ROOT_PREFIX,
                   sizeof(NGX_QUEUES_STORE_ROOT_PREFIX) - 1);

    api->project.data = p;

    p = ngx_cpymem(p, org->data, org->len);
    *p++ = '/';
    p = ngx_cpymem(p, project->data, project->len);

    api->project.len = p - api->project.data;

    *p = '}';

    if (api->subscription.len) {
        return ngx_queues_api_sub(api, &api->subscription, &api->sub);
    }

    if (captures[2].len == 0) {
        return NGX_OK;
    }

    api->queue = captures[2];

    return ngx_queues_api_ref(api, &api->queue, &api->ref);
}
