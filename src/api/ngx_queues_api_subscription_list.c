
#include "ngx_queues_api_subscriptions.h"


#define NGX_QUEUES_API_SUBSCRIPTION_LIST_KIND  "/subscriptions"


typedef enum {
    NGX_QUEUES_API_SUBSCRIPTION_LIST_QUEUE = 0,
    NGX_QUEUES_API_SUBSCRIPTION_LIST_PAGE,
    NGX_QUEUES_API_SUBSCRIPTION_LIST_NPARAMS =
        NGX_QUEUES_API_SUBSCRIPTION_LIST_PAGE + 2
} ngx_queues_api_subscription_list_param_e;


typedef struct {
    ngx_uint_t    size;
    ngx_str_t     after;
} ngx_queues_api_subscription_list_t;


static ngx_int_t ngx_queues_api_subscription_list_queue(ngx_queues_api_t *api,
    ngx_str_t *value);
static void ngx_queues_api_subscription_list_start(ngx_queues_api_t *api);
static void ngx_queues_api_subscription_list_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_subscription_list_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static u_char *ngx_queues_api_subscription_list_end(ngx_queues_api_t *api,
    u_char *p, ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_subscription_list_names[] = {
    ngx_string("queue"),
    NGX_QUEUES_API_PAGE_NAMES
};


void
ngx_queues_api_subscriptions_list(ngx_queues_api_t *api)
{
    ngx_str_t                            *queue;
    ngx_str_t      values[NGX_QUEUES_API_SUBSCRIPTION_LIST_NPARAMS];
    ngx_queues_api_subscription_list_t   *list;

    list = ngx_palloc(api->op->pool,
                      sizeof(ngx_queues_api_subscription_list_t));
    if (list == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = list;

    if (ngx_queues_api_query(api, ngx_queues_api_subscription_list_names,
                             NGX_QUEUES_API_SUBSCRIPTION_LIST_NPARAMS, values)
        != NGX_OK
        || ngx_queues_api_page(api, NGX_QUEUES_API_SUBSCRIPTION_LIST_KIND,
                            &values[NGX_QUEUES_API_SUBSCRIPTION_LIST_PAGE],
                            &list->size, &list->after)
           != NGX_OK)
    {
        return;
    }

    queue = &values[NGX_QUEUES_API_SUBSCRIPTION_LIST_QUEUE];

    if (queue->data
        && ngx_queues_api_subscription_list_queue(api, queue) != NGX_OK)
    {
        return;
    }

    ngx_queues_api_with_other(api, &api->ref,
                              ngx_queues_api_subscription_list_start);
}


static ngx_int_t
ngx_queues_api_subscription_list_queue(ngx_queues_api_t *api, ngx_str_t *value)
{
    if (value->len == 0) {
        ngx_queues_api_invalid(api, NULL,
                               &ngx_queues_api_subscription_list_names[
                                   NGX_QUEUES_API_SUBSCRIPTION_LIST_QUEUE],
                               "must be the id or name of a queue");
        return NGX_ERROR;
    }

    api->queue = *value;
    api->op->note->names[NGX_QUEUES_HTTP_NAMES - 1] = *value;

    if (ngx_queues_api_ref(api, &api->queue, &api->ref) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_api_subscription_list_start(ngx_queues_api_t *api)
{
    ngx_queues_api_subscription_list_t  *list;

    list = api->data;

    ngx_queues_api_started(api,
        ngx_queues_store_subscription_list(&api->root, &api->ref,
                                     &list->after, list->size,
                                     ngx_queues_api_subscription_list_done,
                                     api));
}


static void
ngx_queues_api_subscription_list_done(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_subscription_list_answer(api, result);

        } else if (result->code == NGX_QUEUES_STORE_NO_QUEUE) {
            ngx_queues_api_no_queue(api,
                                    &ngx_queues_api_subscription_list_names[
                                        NGX_QUEUES_API_SUBSCRIPTION_LIST_QUEUE]);

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


/* as with queues, a page is short where the principal may not see some */

static void
ngx_queues_api_subscription_list_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char                           *p, *start;
    size_t                            size;
    ngx_uint_t                        i, n;
    ngx_queues_store_subscription_t  *subscription;

    size = sizeof("{\"subscriptions\":[") + NGX_QUEUES_API_PAGE_END;

    for (i = 0; i < result->nsubscriptions; i++) {
        size += ngx_queues_api_subscription_length(&result->subscriptions[i])
                + 1;
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = ngx_sprintf(start, "{\"subscriptions\":[");

    for (i = 0, n = 0; i < result->nsubscriptions; i++) {
        subscription = &result->subscriptions[i];

        if (!ngx_queues_api_permits(api, NULL, &subscription->queue_name)) {
            continue;
        }

        if (n++) {
            *p++ = ',';
        }

        p = ngx_queues_api_subscription_print(p, subscription);
    }

    p = ngx_queues_api_subscription_list_end(api, p, result);

    if (p) {
        ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
    }
}


/* the next page goes on after the short id and the UUID of the last one */

static u_char *
ngx_queues_api_subscription_list_end(ngx_queues_api_t *api, u_char *p,
    ngx_queues_store_result_t *result)
{
    u_char                            buf[NGX_QUEUES_BASE_SHORT_LEN
                                          + NGX_QUEUES_BASE_UUID_LEN];
    ngx_str_t                         last;
    ngx_queues_store_subscription_t  *subscription;

    if (!result->more || result->nsubscriptions == 0) {
        return ngx_queues_api_page_end(api,
                                       NGX_QUEUES_API_SUBSCRIPTION_LIST_KIND,
                                       p, NULL);
    }

    subscription = &result->subscriptions[result->nsubscriptions - 1];

    last.data = buf;
    last.len = ngx_snprintf(buf, sizeof(buf), "%V%V", &subscription->id,
                            &subscription->uuid)
               - buf;

    return ngx_queues_api_page_end(api, NGX_QUEUES_API_SUBSCRIPTION_LIST_KIND,
                                   p, &last);
}
