
#include "ngx_queues_api.h"


static ngx_int_t ngx_queues_api_match(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf, ngx_queues_base_path_t *path);


ngx_int_t
ngx_queues_api_find(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    u_char                  *buf;
    ngx_int_t                rc;
    ngx_uint_t               tail;
    ngx_http_request_t      *r;
    ngx_queues_base_path_t   path;

    r = api->op->request;

    buf = ngx_pnalloc(r->pool, r->unparsed_uri.len);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    api->error = NGX_QUEUES_API_NOT_FOUND;

    rc = ngx_queues_base_path_split(&r->unparsed_uri, api->surface->controls,
                                    buf, &path);

    if (rc == NGX_ERROR) {
        api->error = NGX_QUEUES_API_INVALID_ARGUMENT;
    }

    if (rc != NGX_OK) {
        return NGX_DECLINED;
    }

    tail = api->surface->tail;

    if (tail && path.nsegments > tail) {
        ngx_memmove(path.segments, &path.segments[path.nsegments - tail],
                    tail * sizeof(ngx_str_t));
        path.nsegments = tail;
    }

    rc = ngx_queues_api_match(api, qlcf, &path);
    if (rc != NGX_OK) {
        return rc;
    }

    /* what a route is called is constant */

    api->op->note->operation = &api->route->name;

    return api->surface->names(api, qlcf);
}


static ngx_int_t
ngx_queues_api_match(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf,
    ngx_queues_base_path_t *path)
{
    ngx_str_t                             template;
    ngx_uint_t                            method, n;
    const ngx_queues_api_route_t         *route;
    const ngx_queues_api_route_t *const  *t;

    method = api->op->request->method;

    if (method == NGX_HTTP_HEAD) {
        method = NGX_HTTP_GET;
    }

    n = 0;

    for (t = api->surface->tables; *t; t++) {

        for (route = *t; route->method; route++, n++) {

            if (!(route->group & qlcf->api)) {
                continue;
            }

            template = route->path;

            if (api->surface->verbs && path->verb >= 0
                && memchr(template.data, ':', template.len) == NULL)
            {
                continue;
            }

            if (ngx_queues_base_path_match(path, &template, api->captures)
                != NGX_OK)
            {
                continue;
            }

            api->groups |= route->group;

            if (route->method == method) {
                api->route = route;
                api->number = n;
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


ngx_str_t
ngx_queues_api_capture(ngx_queues_api_t *api, const char *name)
{
    u_char            *p, *last;
    size_t             len;
    ngx_str_t          none;
    const ngx_str_t   *template;
    const ngx_str_t   *capture;

    template = &api->route->path;

    p = template->data;
    last = p + template->len;

    len = ngx_strlen(name);
    capture = api->captures;

    while (p < last) {

        if (*p++ != '{') {
            continue;
        }

        if ((size_t) (last - p) > len
            && p[len] == '}' && ngx_memcmp(p, name, len) == 0)
        {
            return *capture;
        }

        capture++;
    }

    ngx_str_null(&none);

    return none;
}


ngx_int_t
ngx_queues_api_set_project(ngx_queues_api_t *api, ngx_str_t *org,
    ngx_str_t *project)
{
    u_char  *p;

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

    return NGX_OK;
}
