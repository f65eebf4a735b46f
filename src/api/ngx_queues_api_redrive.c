
#include "ngx_queues_api_queues.h"


#define NGX_QUEUES_API_REDRIVE_MAX   1000   /* messages of a request */
#define NGX_QUEUES_API_REDRIVE_STEP  100    /* and of a call */


typedef struct {
    ngx_str_t    destination;    /* a ref; empty: where each came from */
    int64_t      moved;
} ngx_queues_api_redrive_t;


static void ngx_queues_api_redrive_step(ngx_queues_api_t *api);
static void ngx_queues_api_redrive_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_redrive_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_redrive_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_redrive_names[] = {
    ngx_string("destinationQueueId")
};


void
ngx_queues_api_redrive(ngx_queues_api_t *api)
{
    ngx_queues_api_redrive_t      *redrive;
    ngx_queues_base_json_value_t   body, value;

    redrive = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_redrive_t));
    if (redrive == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = redrive;

    if (ngx_queues_api_body(api, 1, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL,
                                  ngx_queues_api_redrive_names, 1, &value)
           != NGX_OK)
    {
        return;
    }

    if (value.type != NGX_QUEUES_BASE_JSON_NULL
        && ngx_queues_api_other(api, &value, NULL,
                                &ngx_queues_api_redrive_names[0], NULL,
                                &redrive->destination)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_api_with_other(api, &redrive->destination,
                              ngx_queues_api_redrive_step);
}


/* a bounded step at a time: others have their turns in between */

static void
ngx_queues_api_redrive_step(ngx_queues_api_t *api)
{
    int64_t                    limit;
    ngx_queues_api_redrive_t  *redrive;

    redrive = api->data;

    limit = ngx_min(NGX_QUEUES_API_REDRIVE_MAX - redrive->moved,
                    NGX_QUEUES_API_REDRIVE_STEP);

    ngx_queues_api_started(api,
        ngx_queues_store_queue_redrive(&api->root, &api->ref,
                                       &redrive->destination,
                                       (ngx_uint_t) limit,
                                       ngx_queues_api_redrive_done, api));
}


static void
ngx_queues_api_redrive_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_redrive_t  *redrive;

    redrive = api->data;

    if (api->op->request) {

        if (result->code != NGX_QUEUES_STORE_OK) {
            ngx_queues_api_redrive_error(api, result);

        } else {
            redrive->moved += result->moved;

            if (result->more && redrive->moved < NGX_QUEUES_API_REDRIVE_MAX) {
                ngx_queues_api_redrive_step(api);

            } else {
                ngx_queues_api_redrive_answer(api, result);
            }
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_redrive_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char                    *p, *start;
    ngx_queues_api_redrive_t  *redrive;

    redrive = api->data;

    start = ngx_queues_api_alloc(api, sizeof("{\"moved\":,\"remaining\":}")
                                      + 2 * NGX_INT64_LEN);
    if (start == NULL) {
        return;
    }

    p = ngx_sprintf(start, "{\"moved\":%L,\"remaining\":%L}", redrive->moved,
                    result->remaining);

    api->op->note->messages = redrive->moved;

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}


static void
ngx_queues_api_redrive_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    const ngx_str_t  *name;

    name = &ngx_queues_api_redrive_names[0];

    switch (result->code) {

    case NGX_QUEUES_STORE_NO_DESTINATION:
        ngx_queues_api_invalid(api, NULL, name, "is no queue of the project");
        return;

    case NGX_QUEUES_STORE_DESTINATION_KIND:
        ngx_queues_api_invalid(api, NULL, name,
                               "is a queue of the other kind");
        return;

    case NGX_QUEUES_STORE_DESTINATION_SELF:
        ngx_queues_api_invalid(api, NULL, name, "is the queue itself");
        return;

    default:
        ngx_queues_api_store_error(api, result);
    }
}
