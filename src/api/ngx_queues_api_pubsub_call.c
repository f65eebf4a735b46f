
/* The ways of calls of resources. */

#include "ngx_queues_api_pubsub_resource.h"


static void ngx_queues_api_pubsub_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_pubsub_read_done(void *data,
    ngx_queues_store_result_t *result);


ngx_queues_api_pubsub_call_t *
ngx_queues_api_pubsub_call(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_uint_t row)
{
    ngx_queues_api_pubsub_call_t  *call;

    call = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_pubsub_call_t));
    if (call == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    call->kind = kind;
    call->row = row;

    api->data = call;

    return call;
}


void
ngx_queues_api_pubsub_get(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind)
{
    if (ngx_queues_api_pubsub_call(api, kind, NGX_QUEUES_STORE_AT_ONE)
        == NULL)
    {
        return;
    }

    ngx_queues_api_started(api,
        kind->get(&api->root, &api->queue,
                  ngx_queues_api_pubsub_resource_done, api));
}


void
ngx_queues_api_pubsub_resource_done(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_pubsub_answer(api, result);

        } else {
            ngx_queues_api_pubsub_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_pubsub_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char                        *p;
    ngx_queues_store_value_t      *row;
    ngx_queues_api_pubsub_call_t  *call;

    call = api->data;

    if (call->empty) {
        ngx_queues_api_pubsub_empty(api);
        return;
    }

    row = &result->values[call->row];

    p = ngx_queues_api_alloc(api, call->kind->length(api, row));

    if (p) {
        ngx_queues_api_answer(api, NGX_HTTP_OK, p,
                              call->kind->print(p, api, row));
    }
}


void
ngx_queues_api_pubsub_list_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_pubsub_call_t  *call;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            call = api->data;
            ngx_queues_api_pubsub_listed(api, call->kind, result);

        } else {
            ngx_queues_api_pubsub_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


void
ngx_queues_api_pubsub_modify(ngx_queues_api_t *api)
{
    ngx_queues_api_pubsub_call_t  *call;

    call = api->data;

    ngx_queues_api_started(api,
        call->kind->get(&api->root, &api->queue,
                        ngx_queues_api_pubsub_read_done, api));
}


static void
ngx_queues_api_pubsub_read_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_pubsub_call_t  *call;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            call = api->data;
            call->overlay(api, &result->values[NGX_QUEUES_STORE_AT_ONE]);

        } else {
            ngx_queues_api_pubsub_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


void
ngx_queues_api_pubsub_modified(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (result->code != NGX_QUEUES_STORE_CHANGED) {
        ngx_queues_api_pubsub_resource_done(data, result);
        return;
    }

    if (api->op->request) {

        if (++api->repeats < NGX_QUEUES_API_PUBSUB_TRIES) {
            ngx_queues_api_pubsub_modify(api);

        } else {
            ngx_queues_api_error(api, NGX_QUEUES_API_ABORTED, NULL,
                                 "Others change the resource all the time, try "
                                 "again (resource=%V).", &api->queue);
        }
    }

    ngx_queues_http_op_release(api->op);
}
