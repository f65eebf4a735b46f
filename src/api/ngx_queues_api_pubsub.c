
/*
 * What of the Pub/Sub API is not a route: its names and its errors.
 */

#include "ngx_queues_api_pubsub_resource.h"


static ngx_int_t ngx_queues_api_pubsub_names(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);
static u_char *ngx_queues_api_pubsub_error(u_char *p, ngx_queues_api_t *api,
    ngx_queues_api_told_t *told);


static const ngx_queues_api_route_t *const  ngx_queues_api_pubsub_tables[] = {
    ngx_queues_api_pubsub_publish_routes,
    ngx_queues_api_pubsub_pull_routes,
    ngx_queues_api_pubsub_ack_routes,
    ngx_queues_api_pubsub_topics_routes,
    ngx_queues_api_pubsub_subs_routes,
    ngx_queues_api_pubsub_config_routes,
    ngx_queues_api_pubsub_seek_routes,
    ngx_queues_api_pubsub_snaps_routes,
    ngx_queues_api_pubsub_none_routes,
    NULL
};


/*
 * The codes of google.rpc.  There is none for a method that a path does not
 * have, so that it is told by the status.
 */

static const ngx_queues_api_code_t
    ngx_queues_api_pubsub_codes[NGX_QUEUES_API_NERRORS] =
{
    [NGX_QUEUES_API_INVALID_JSON] = { 400, ngx_string("INVALID_ARGUMENT") },
    [NGX_QUEUES_API_INVALID_ARGUMENT] =
        { 400, ngx_string("INVALID_ARGUMENT") },
    [NGX_QUEUES_API_UNAUTHENTICATED] = { 401, ngx_string("UNAUTHENTICATED") },
    [NGX_QUEUES_API_PERMISSION_DENIED] =
        { 403, ngx_string("PERMISSION_DENIED") },
    [NGX_QUEUES_API_QUEUE_NOT_FOUND] = { 404, ngx_string("NOT_FOUND") },
    [NGX_QUEUES_API_SUBSCRIPTION_NOT_FOUND] = { 404, ngx_string("NOT_FOUND") },
    [NGX_QUEUES_API_PARTITION_NOT_FOUND] = { 404, ngx_string("NOT_FOUND") },
    [NGX_QUEUES_API_MESSAGE_NOT_FOUND] = { 404, ngx_string("NOT_FOUND") },
    [NGX_QUEUES_API_NOT_FOUND] = { 404, ngx_string("NOT_FOUND") },
    [NGX_QUEUES_API_METHOD_NOT_ALLOWED] = { 405, ngx_string("UNIMPLEMENTED") },
    [NGX_QUEUES_API_QUEUE_EXISTS] = { 409, ngx_string("ALREADY_EXISTS") },
    [NGX_QUEUES_API_SUBSCRIPTION_EXISTS] =
        { 409, ngx_string("ALREADY_EXISTS") },
    [NGX_QUEUES_API_IDEMPOTENCY_CONFLICT] = { 409, ngx_string("ABORTED") },
    [NGX_QUEUES_API_QUEUE_IN_USE] = { 409, ngx_string("ABORTED") },
    [NGX_QUEUES_API_REQUEST_TOO_LARGE] =
        { 400, ngx_string("INVALID_ARGUMENT") },
    [NGX_QUEUES_API_UNSUPPORTED_MEDIA_TYPE] =
        { 400, ngx_string("INVALID_ARGUMENT") },
    [NGX_QUEUES_API_RATE_LIMITED] = { 429, ngx_string("RESOURCE_EXHAUSTED") },
    [NGX_QUEUES_API_INTERNAL] = { 500, ngx_string("INTERNAL") },
    [NGX_QUEUES_API_UNAVAILABLE] = { 503, ngx_string("UNAVAILABLE") },
    [NGX_QUEUES_API_FAILED_PRECONDITION] =
        { 400, ngx_string("FAILED_PRECONDITION") },
    [NGX_QUEUES_API_RESOURCE_EXISTS] = { 409, ngx_string("ALREADY_EXISTS") },
    [NGX_QUEUES_API_ABORTED] = { 409, ngx_string("ABORTED") },
    [NGX_QUEUES_API_UNIMPLEMENTED] = { 501, ngx_string("UNIMPLEMENTED") }
};


const ngx_queues_api_surface_t  ngx_queues_api_pubsub_surface = {
    NGX_QUEUES_CONF_PUBSUB,
    ngx_string("/v1/projects/"),
    ngx_queues_api_pubsub_tables,
    ngx_queues_api_pubsub_codes,
    ngx_queues_api_pubsub_names,
    ngx_queues_api_pubsub_error,
    NULL,
    0,
    ngx_string("UTF-8"),
    0,
    1,
    0
};


/* in the order of ngx_queues_base_resource_e; captures have their singular */

static const ngx_str_t  ngx_queues_api_pubsub_kinds[] = {
    ngx_string("topics"),
    ngx_string("subscriptions"),
    ngx_string("snapshots")
};


/* the organization is the location's; one resource at most is in a path */

static ngx_int_t
ngx_queues_api_pubsub_names(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    u_char     *p;
    ngx_str_t  *names;

    names = api->op->note->names;

    names[0] = qlcf->organization;
    names[1] = ngx_queues_api_capture(api, "project");
    names[2] = ngx_queues_api_capture(api, "topic");

    if (names[2].len == 0) {
        names[2] = ngx_queues_api_capture(api, "subscription");
    }

    if (names[2].len == 0) {
        names[2] = ngx_queues_api_capture(api, "snapshot");
    }

    if (ngx_queues_base_resource_project(&names[1]) != NGX_OK) {
        api->wrong = names[1];

    } else if (names[2].len
               && ngx_queues_base_resource_id(&names[2]) != NGX_OK)
    {
        api->wrong = names[2];
    }

    if (api->wrong.len) {
        api->error = NGX_QUEUES_API_INVALID_ARGUMENT;
        return NGX_DECLINED;
    }

    if (ngx_queues_api_set_project(api, &names[0], &names[1]) != NGX_OK) {
        return NGX_ERROR;
    }

    if (names[2].len == 0) {
        return NGX_OK;
    }

    /* as a name's ref, which credentials and rate limits know */

    p = ngx_pnalloc(api->op->pool, 1 + names[2].len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    api->ref.data = p;
    api->ref.len = 1 + names[2].len;

    *p++ = 'n';
    ngx_memcpy(p, names[2].data, names[2].len);

    api->queue.data = p;
    api->queue.len = names[2].len;

    return NGX_OK;
}


static u_char *
ngx_queues_api_pubsub_error(u_char *p, ngx_queues_api_t *api,
    ngx_queues_api_told_t *told)
{
    ngx_str_t  message;

    message = told->message;

    if (told->error == NGX_QUEUES_API_REQUEST_TOO_LARGE) {
        ngx_str_set(&message, "Request payload size exceeds the limit.");
    }

    p = ngx_sprintf(p, "{\"error\":{\"code\":%ui,\"message\":\"",
                    told->status);
    p = ngx_queues_base_json_escape(p, &message);
    p = ngx_sprintf(p, "\",\"status\":\"%V\"", &told->code);

    if (told->field) {
        p = ngx_sprintf(p, ",\"details\":[%V]", told->field);
    }

    *p++ = '}';
    *p++ = '}';

    return p;
}


void
ngx_queues_api_pubsub_not_found(ngx_queues_api_t *api, ngx_str_t *id)
{
    ngx_queues_api_error(api, NGX_QUEUES_API_NOT_FOUND, NULL,
                         "Resource not found (resource=%V).",
                         id ? id : &api->queue);
}


void
ngx_queues_api_pubsub_store_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    switch (result->code) {

    case NGX_QUEUES_STORE_NO_TOPIC:
    case NGX_QUEUES_STORE_NO_SUBSCRIPTION:
    case NGX_QUEUES_STORE_NO_SNAPSHOT:
        ngx_queues_api_pubsub_not_found(api, NULL);
        return;

    case NGX_QUEUES_STORE_EXISTS:
        ngx_queues_api_error(api, NGX_QUEUES_API_RESOURCE_EXISTS, NULL,
                             "Resource already exists in the project "
                             "(resource=%V).", &api->queue);
        return;

    case NGX_QUEUES_STORE_TOO_MANY:
        ngx_queues_api_error(api, NGX_QUEUES_API_RATE_LIMITED, NULL,
                             "There are as many of them as there may be: "
                             "snapshots of a topic, or seeks that are not "
                             "through (resource=%V).", &api->queue);
        return;

    case NGX_QUEUES_STORE_IS_PUSH:
        ngx_queues_api_error(api, NGX_QUEUES_API_FAILED_PRECONDITION, NULL,
                             "This method is not supported for this "
                             "subscription type.");
        return;

    case NGX_QUEUES_STORE_DETACHED:
        ngx_queues_api_error(api, NGX_QUEUES_API_FAILED_PRECONDITION, NULL,
                             "The subscription is detached from its topic.");
        return;

    default:
        ngx_queues_api_store_error(api, result);
    }
}


size_t
ngx_queues_api_pubsub_name_length(ngx_queues_api_t *api,
    ngx_queues_base_resource_e kind, ngx_str_t *id)
{
    if (id->len == 0) {
        return sizeof("_deleted-topic_") - 1;
    }

    return sizeof("projects/") - 1 + api->op->note->names[1].len + 1
           + ngx_queues_api_pubsub_kinds[kind].len + 1 + id->len;
}


/* there is nothing in these names that JSON would escape */

u_char *
ngx_queues_api_pubsub_name(u_char *p, ngx_queues_api_t *api,
    ngx_queues_base_resource_e kind, ngx_str_t *id)
{
    ngx_str_t        *project;
    const ngx_str_t  *name;

    if (id->len == 0) {
        return ngx_queues_base_copy(p, "_deleted-topic_");
    }

    name = &ngx_queues_api_pubsub_kinds[kind];
    project = &api->op->note->names[1];

    p = ngx_queues_base_copy(p, "projects/");
    p = ngx_cpymem(p, project->data, project->len);
    *p++ = '/';
    p = ngx_cpymem(p, name->data, name->len);
    *p++ = '/';

    return ngx_cpymem(p, id->data, id->len);
}


void
ngx_queues_api_pubsub_empty(ngx_queues_api_t *api)
{
    static u_char  empty[] = "{}";

    ngx_queues_api_answer(api, NGX_HTTP_OK, empty, empty + sizeof(empty) - 1);
}


void
ngx_queues_api_pubsub_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_pubsub_empty(api);

        } else {
            ngx_queues_api_pubsub_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}
