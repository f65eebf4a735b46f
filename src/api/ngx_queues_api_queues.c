
#include "ngx_queues_api_queues.h"


#define NGX_QUEUES_API_QUEUE  "/v1/organizations/{org}/projects/{project}"    \
                              "/queues"

#define NGX_QUEUES_API_CREATE_TRIES  4


static void ngx_queues_api_create(ngx_queues_api_t *api);
static void ngx_queues_api_create_try(ngx_queues_api_t *api);
static void ngx_queues_api_create_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_get(ngx_queues_api_t *api);
static void ngx_queues_api_get_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_update(ngx_queues_api_t *api);
static void ngx_queues_api_update_start(ngx_queues_api_t *api);
static void ngx_queues_api_update_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_delete(ngx_queues_api_t *api);
static void ngx_queues_api_purge(ngx_queues_api_t *api);
static void ngx_queues_api_purge_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_answer_queue(ngx_queues_api_t *api,
    ngx_uint_t status, ngx_queues_store_queue_t *queue,
    ngx_queues_store_result_t *counted);


const ngx_queues_api_route_t  ngx_queues_api_queues_routes[] = {

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_QUEUE),
      ngx_string("CreateQueue"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.create"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_create },

    { NGX_HTTP_GET,
      ngx_string(NGX_QUEUES_API_QUEUE),
      ngx_string("ListQueues"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.list"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_list },

    { NGX_HTTP_GET,
      ngx_string(NGX_QUEUES_API_QUEUE "/{queue}"),
      ngx_string("GetQueue"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.get"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_get },

    { NGX_HTTP_PATCH,
      ngx_string(NGX_QUEUES_API_QUEUE "/{queue}"),
      ngx_string("UpdateQueue"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.update"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_update },

    { NGX_HTTP_DELETE,
      ngx_string(NGX_QUEUES_API_QUEUE "/{queue}"),
      ngx_string("DeleteQueue"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.delete"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_delete },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_QUEUE "/{queue}/purge"),
      ngx_string("PurgeQueue"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.purge"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_purge },

    { NGX_HTTP_POST,
      ngx_string(NGX_QUEUES_API_QUEUE "/{queue}/redrive"),
      ngx_string("RedriveMessages"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.redrive"),
      NGX_QUEUES_API_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_redrive },

    { NGX_HTTP_GET,
      ngx_string(NGX_QUEUES_API_QUEUE "/{queue}/messages"),
      ngx_string("PeekMessages"),
      NGX_QUEUES_CONF_CONTROL,
      ngx_string("queues.messages.peek"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_peek },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string,
      NGX_QUEUES_API_NO_BODY, 0, NULL }
};


typedef struct {
    ngx_queues_store_queue_t   queue;
    ngx_queues_store_once_t   *once;
    ngx_uint_t                 tries;
    u_char                     id[NGX_QUEUES_BASE_SHORT_LEN];
    u_char                     uuid[NGX_QUEUES_BASE_UUID_LEN];
} ngx_queues_api_create_t;


static void
ngx_queues_api_create(ngx_queues_api_t *api)
{
    ngx_queues_api_create_t  *create;

    create = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_create_t));
    if (create == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = create;

    if (ngx_queues_api_idempotency(api, "CreateQueue", &create->once) != NGX_OK
        || ngx_queues_api_settings_new(api, &create->queue) != NGX_OK)
    {
        return;
    }

    if (!ngx_queues_api_permits(api, NULL, &create->queue.name)) {
        ngx_queues_api_error(api, NGX_QUEUES_API_PERMISSION_DENIED, NULL,
                             "The credential lacks the permission "
                             "queues.create for a queue of this name.");
        return;
    }

    ngx_queues_api_with_other(api, &create->queue.settings.dead_letter,
                              ngx_queues_api_create_try);
}


static void
ngx_queues_api_create_try(ngx_queues_api_t *api)
{
    ngx_queues_api_create_t  *create;

    create = api->data;

    if (ngx_queues_api_new_id(api, create->id, create->uuid) != NGX_OK) {
        return;
    }

    create->queue.id.len = NGX_QUEUES_BASE_SHORT_LEN;
    create->queue.id.data = create->id;
    create->queue.uuid.len = NGX_QUEUES_BASE_UUID_LEN;
    create->queue.uuid.data = create->uuid;

    create->tries++;

    ngx_queues_api_started(api,
        ngx_queues_store_queue_create(&api->root, &create->queue,
                                      create->once,
                                      ngx_queues_api_create_done, api));
}


static void
ngx_queues_api_create_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_create_t  *create;

    create = api->data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_answer_queue(api, NGX_HTTP_CREATED, result->queues,
                                        NULL);

        } else if (result->code == NGX_QUEUES_STORE_ID_TAKEN
                   && create->tries < NGX_QUEUES_API_CREATE_TRIES)
        {
            ngx_queues_api_create_try(api);

        } else {
            ngx_queues_api_settings_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_get(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_queue_count(&api->root, &api->ref,
                                     ngx_queues_api_get_done, api));
}


/*
 * Counts are final once nothing expired is left: each call sweeps a bounded
 * part of it.
 */

static void
ngx_queues_api_get_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_limit_learn(api, result->place.queue);

    if (api->op->request) {

        if (result->code != NGX_QUEUES_STORE_OK) {
            ngx_queues_api_store_error(api, result);

        } else if (result->more) {
            ngx_queues_api_get(api);

        } else {
            ngx_queues_api_answer_queue(api, NGX_HTTP_OK, result->queues,
                                        result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_update(ngx_queues_api_t *api)
{
    ngx_queues_store_settings_t  *settings;

    settings = ngx_palloc(api->op->pool, sizeof(ngx_queues_store_settings_t));
    if (settings == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = settings;

    if (ngx_queues_api_settings_change(api, settings) != NGX_OK) {
        return;
    }

    ngx_queues_api_with_other(api, &settings->dead_letter,
                              ngx_queues_api_update_start);
}


static void
ngx_queues_api_update_start(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_queue_update(&api->root, &api->ref, api->data,
                                      ngx_queues_api_update_done, api));
}


static void
ngx_queues_api_update_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_limit_learn(api, result->place.queue);

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_answer_queue(api, NGX_HTTP_OK, result->queues,
                                        NULL);

        } else {
            ngx_queues_api_settings_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_delete(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_queue_delete(&api->root, &api->ref,
                                      ngx_queues_api_no_content, api));
}


static void
ngx_queues_api_purge(ngx_queues_api_t *api)
{
    ngx_queues_api_started(api,
        ngx_queues_store_queue_purge(&api->root, &api->ref,
                                     ngx_queues_api_purge_done, api));
}


static void
ngx_queues_api_purge_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    static u_char  empty[] = "{}";

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_answer(api, NGX_HTTP_ACCEPTED, empty,
                                  empty + sizeof(empty) - 1);

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_answer_queue(ngx_queues_api_t *api, ngx_uint_t status,
    ngx_queues_store_queue_t *queue, ngx_queues_store_result_t *counted)
{
    u_char  *p, *start;

    start = ngx_queues_api_alloc(api, ngx_queues_api_queue_length(queue));
    if (start == NULL) {
        return;
    }

    p = ngx_queues_api_queue_print(start, queue, counted);

    ngx_queues_api_answer(api, status, start, p);
}
