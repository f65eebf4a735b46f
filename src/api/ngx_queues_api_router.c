
#include "ngx_queues_api.h"
#include "../stat/ngx_queues_stat_metrics.h"


static ngx_int_t ngx_queues_api_authorize(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);
static ngx_int_t ngx_queues_api_check(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_check_body(ngx_queues_api_t *api);
static void ngx_queues_api_refuse(ngx_queues_http_op_t *op);
static ngx_uint_t ngx_queues_api_unnamed(ngx_queues_api_t *api);
static void ngx_queues_api_run(ngx_queues_http_op_t *op);
static void ngx_queues_api_named(void *data,
    ngx_queues_store_result_t *result);


ngx_int_t
ngx_queues_api_handler(ngx_http_request_t *r)
{
    ngx_int_t               rc;
    ngx_queues_api_t       *api;
    ngx_queues_http_op_t   *op;
    ngx_queues_conf_loc_t  *qlcf;

    qlcf = ngx_http_get_module_loc_conf(r, ngx_queues_module);

    if (qlcf->dashboard) {
        return ngx_queues_api_dashboard_handler(r);
    }

    if (r != r->main) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    op = ngx_queues_http_op_create(r);
    if (op == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    api = ngx_pcalloc(op->pool, sizeof(ngx_queues_api_t));
    if (api == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    op->data = api;
    api->op = op;
    api->qmcf = ngx_http_get_module_main_conf(r, ngx_queues_module);
    api->limits = qlcf->limits;
    api->surface = ngx_queues_api_surface(qlcf->api);
    api->since = ngx_queues_stat_now();

    op->over = ngx_queues_api_over;

    rc = ngx_queues_api_find(api, qlcf);

    if (rc == NGX_OK) {
        rc = ngx_queues_api_authorize(api, qlcf);
    }

    if (rc == NGX_OK) {
        rc = ngx_queues_api_check(api);
    }

    if (rc == NGX_DECLINED) {
        return ngx_queues_http_no_body(op, ngx_queues_api_refuse);
    }

    if (rc != NGX_OK) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    if (api->route->body == NGX_QUEUES_API_NO_BODY) {
        return ngx_queues_http_no_body(op, ngx_queues_api_run);
    }

    return ngx_queues_http_read_body(op, ngx_queues_api_run);
}


/* like the checks after it, NGX_DECLINED with api->error set, or NGX_ERROR */

static ngx_int_t
ngx_queues_api_authorize(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    ngx_int_t  rc;
    ngx_str_t  prefix, permission;

    api->scope = NGX_QUEUES_BASE_GLOB_ALL;

    if (!qlcf->auth || api->route->permission.len == 0) {
        return NGX_OK;
    }

    rc = ngx_queues_auth_bearer(api->qmcf, api->op->request, api->op->pool,
                                api->surface->loose, &api->principal,
                                &api->refused);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    if (rc != NGX_OK) {
        api->error = NGX_QUEUES_API_UNAUTHENTICATED;
        return NGX_DECLINED;
    }

    if (ngx_queues_http_note_principal(api->op, &api->principal->name)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    prefix.data = ngx_pnalloc(api->op->pool, api->project.len + 1);
    if (prefix.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(prefix.data, api->project.data, api->project.len);
    prefix.data[api->project.len] = '/';
    prefix.len = api->project.len + 1;

    permission = api->route->permission;

    api->scope = ngx_queues_auth_scope(api->principal, &permission, &prefix);

    if (ngx_queues_auth_word(api->principal, &permission)) {
        api->scope = NGX_QUEUES_BASE_GLOB_ALL;
    }

    api->error = NGX_QUEUES_API_PERMISSION_DENIED;

    if (api->scope == NGX_QUEUES_BASE_GLOB_NONE) {
        return NGX_DECLINED;
    }

    if (api->scope == NGX_QUEUES_BASE_GLOB_SOME
        && api->ref.len && api->ref.data[0] == 'n'
        && !ngx_queues_api_permits(api, NULL, &api->queue))
    {
        return NGX_DECLINED;
    }

    if (api->scope == NGX_QUEUES_BASE_GLOB_SOME
        && api->subscription.len && api->sub.len == 0)
    {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


ngx_uint_t
ngx_queues_api_permits(ngx_queues_api_t *api, ngx_str_t *permission,
    ngx_str_t *name)
{
    u_char     *p;
    ngx_str_t   resource, own;

    if (permission == NULL) {
        own = api->route->permission;
        permission = &own;

        if (api->scope == NGX_QUEUES_BASE_GLOB_ALL) {
            return 1;
        }
    }

    if (api->principal == NULL
        || ngx_queues_auth_word(api->principal, permission))
    {
        return 1;
    }

    resource.len = api->project.len + 1 + name->len;

    p = ngx_pnalloc(api->op->pool, resource.len);
    if (p == NULL) {
        return 0;
    }

    resource.data = p;

    p = ngx_cpymem(p, api->project.data, api->project.len);
    *p++ = '/';
    ngx_memcpy(p, name->data, name->len);

    return ngx_queues_auth_permits(api->principal, permission, &resource);
}


static ngx_int_t
ngx_queues_api_check(ngx_queues_api_t *api)
{
    if (!ngx_queues_api_unnamed(api)
        && ngx_queues_api_limit(api) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    if (api->subscription.len && api->sub.len == 0) {
        api->error = NGX_QUEUES_API_SUBSCRIPTION_NOT_FOUND;
        return NGX_DECLINED;
    }

    return ngx_queues_api_check_body(api);
}


static ngx_int_t
ngx_queues_api_check_body(ngx_queues_api_t *api)
{
    ngx_http_request_t  *r;

    if (api->route->body == NGX_QUEUES_API_NO_BODY) {
        return NGX_OK;
    }

    r = api->op->request;

    if (api->route->max
        && r->headers_in.content_length_n > (off_t) api->route->max)
    {
        api->error = NGX_QUEUES_API_REQUEST_TOO_LARGE;
        return NGX_DECLINED;
    }

    api->error = NGX_QUEUES_API_UNSUPPORTED_MEDIA_TYPE;

    if (api->route->body == NGX_QUEUES_API_BODY
        && r->headers_in.content_type
        && !ngx_queues_api_json_type(&r->headers_in.content_type->value))
    {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


static void
ngx_queues_api_refuse(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_str_t  permission;

    switch (api->error) {

    case NGX_QUEUES_API_PERMISSION_DENIED:
        permission = api->route->permission;
        ngx_queues_api_error(api, api->error, NULL,
                             "The credential lacks the permission %V here.",
                             &permission);
        return;

    case NGX_QUEUES_API_UNAUTHENTICATED:
        ngx_queues_api_error(api, api->error, NULL,
                             "Send a known API key or a valid token as "
                             "\"Authorization: Bearer ...\".");
        return;

    case NGX_QUEUES_API_SUBSCRIPTION_NOT_FOUND:
        ngx_queues_api_error(api, api->error, NULL,
                             NGX_QUEUES_API_NO_SUBSCRIPTION,
                             &api->subscription);
        return;

    case NGX_QUEUES_API_METHOD_NOT_ALLOWED:
        ngx_queues_api_error(api, api->error, NULL,
                             "This path does not have the method %V.",
                             &op->request->method_name);
        return;

    case NGX_QUEUES_API_UNSUPPORTED_MEDIA_TYPE:
        ngx_queues_api_error(api, api->error, NULL,
                             "The body must be application/json in UTF-8.");
        return;

    case NGX_QUEUES_API_INVALID_ARGUMENT:

        if (api->wrong.len) {
            ngx_queues_api_error(api, api->error, NULL,
                                 "Invalid resource name given (name=%V).",
                                 &api->wrong);
            return;
        }

        ngx_queues_api_error(api, api->error, NULL,
                             "The path has a bad escape, a control character "
                             "or is not UTF-8.");
        return;

    case NGX_QUEUES_API_REQUEST_TOO_LARGE:
        ngx_queues_api_error(api, api->error, NULL,
                             "The body is over %uz bytes.",
                             api->route->max);
        return;

    case NGX_QUEUES_API_RATE_LIMITED:
        ngx_queues_api_error(api, api->error, NULL,
                             "The %s is over its rate of calls.", api->over);
        return;

    default:
        ngx_queues_api_error(api, api->error, NULL,
                             "There is nothing at this path.");
    }
}


/*
 * An id, of a queue or of a subscription, does not tell whether the principal
 * may use the queue where it may not use all of them: the queue's name does.
 */

static ngx_uint_t
ngx_queues_api_unnamed(ngx_queues_api_t *api)
{
    return api->scope != NGX_QUEUES_BASE_GLOB_ALL
           && (api->sub.len || (api->ref.len && api->ref.data[0] != 'n'));
}


static void
ngx_queues_api_run(ngx_queues_http_op_t *op)
{
    ngx_queues_api_t *api = op->data;

    ngx_int_t  rc;

    if (api->route->max && op->body.len > api->route->max) {
        api->error = NGX_QUEUES_API_REQUEST_TOO_LARGE;
        ngx_queues_api_refuse(op);
        return;
    }

    if (!ngx_queues_api_unnamed(api)) {
        api->route->start(api);
        return;
    }

    rc = api->sub.len
         ? ngx_queues_store_subscription_get(&api->root, &api->sub,
                                             ngx_queues_api_named, api)
         : ngx_queues_store_queue_get(&api->root, &api->ref,
                                      ngx_queues_api_named, api);

    ngx_queues_api_started(api, rc);
}


static void
ngx_queues_api_named(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        switch (ngx_queues_api_named_permits(api, result)) {

        case NGX_OK:

            if (ngx_queues_api_limit(api) == NGX_OK) {
                api->route->start(api);

            } else {
                ngx_queues_api_refuse(api->op);
            }

            break;

        case NGX_DECLINED:
            api->error = NGX_QUEUES_API_PERMISSION_DENIED;
            ngx_queues_api_refuse(api->op);
        }
    }

    ngx_queues_http_op_release(api->op);
}
