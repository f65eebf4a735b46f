
#include "ngx_queues_api_queues.h"


/* tokens of this list are marked with their project alone */
#define NGX_QUEUES_API_LIST_KIND  ""


typedef enum {
    NGX_QUEUES_API_LIST_PREFIX = 0,
    NGX_QUEUES_API_LIST_PAGE,
    NGX_QUEUES_API_LIST_NPARAMS = NGX_QUEUES_API_LIST_PAGE + 2
} ngx_queues_api_list_param_e;


static void ngx_queues_api_list_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_list_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_list_names[] = {
    ngx_string("prefix"),
    NGX_QUEUES_API_PAGE_NAMES
};


void
ngx_queues_api_list(ngx_queues_api_t *api)
{
    ngx_str_t         values[NGX_QUEUES_API_LIST_NPARAMS], after;
    ngx_uint_t        size;
    const ngx_str_t  *names;

    names = ngx_queues_api_list_names;

    if (ngx_queues_api_query(api, names, NGX_QUEUES_API_LIST_NPARAMS, values)
        != NGX_OK)
    {
        return;
    }

    if (values[NGX_QUEUES_API_LIST_PREFIX].len
        > NGX_QUEUES_API_QUEUE_NAME_MAX)
    {
        ngx_queues_api_invalid(api, NULL, &names[NGX_QUEUES_API_LIST_PREFIX],
                               "is longer than any name");
        return;
    }

    if (ngx_queues_api_page(api, NGX_QUEUES_API_LIST_KIND,
                            &values[NGX_QUEUES_API_LIST_PAGE], &size, &after)
        != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_queue_list(&api->root,
                                    &values[NGX_QUEUES_API_LIST_PREFIX],
                                    &after, size, ngx_queues_api_list_done,
                                    api));
}


static void
ngx_queues_api_list_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_list_answer(api, result);

        } else {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


/*
 * Only the queues that the principal may list are shown: a page may then be
 * short, its token goes on all the same.
 */

static void
ngx_queues_api_list_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char      *p, *start;
    size_t       size;
    ngx_str_t   *last;
    ngx_uint_t   i, n;

    size = sizeof("{\"queues\":[") + NGX_QUEUES_API_PAGE_END;

    for (i = 0; i < result->nqueues; i++) {
        size += ngx_queues_api_queue_length(&result->queues[i]) + 1;
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = ngx_sprintf(start, "{\"queues\":[");

    for (i = 0, n = 0; i < result->nqueues; i++) {

        if (!ngx_queues_api_permits(api, NULL, &result->queues[i].name)) {
            continue;
        }

        if (n++) {
            *p++ = ',';
        }

        p = ngx_queues_api_queue_print(p, &result->queues[i], NULL);
    }

    last = (result->more && result->nqueues)
           ? &result->queues[result->nqueues - 1].name : NULL;

    p = ngx_queues_api_page_end(api, NGX_QUEUES_API_LIST_KIND, p, last);

    if (p) {
        ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
    }
}
