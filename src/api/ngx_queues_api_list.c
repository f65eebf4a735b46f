
#include "ngx_queues_api_queues.h"
#include "../base/ngx_queues_base_bytes.h"

#include <openssl/evp.h>


#define NGX_QUEUES_API_PAGE          50
#define NGX_QUEUES_API_PAGE_MAX      100


typedef enum {
    NGX_QUEUES_API_LIST_PREFIX = 0,
    NGX_QUEUES_API_LIST_SIZE,
    NGX_QUEUES_API_LIST_TOKEN,
    NGX_QUEUES_API_LIST_NPARAMS
} ngx_queues_api_list_param_e;


static ngx_int_t ngx_queues_api_list_mark(ngx_queues_api_t *api,
    ngx_queues_base_handle_t *handle);
static u_char *ngx_queues_api_list_print_token(ngx_queues_api_t *api,
    u_char *p, ngx_str_t *name);
static ngx_int_t ngx_queues_api_list_token(ngx_queues_api_t *api,
    ngx_str_t *value, ngx_str_t *after);
static void ngx_queues_api_list_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_list_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_list_names[] = {
    ngx_string("prefix"),
    ngx_string("pageSize"),
    ngx_string("pageToken")
};


void
ngx_queues_api_list(ngx_queues_api_t *api)
{
    ngx_str_t         values[NGX_QUEUES_API_LIST_NPARAMS], after;
    ngx_uint_t        size;
    const ngx_str_t  *names;

    names = ngx_queues_api_list_names;
    size = NGX_QUEUES_API_PAGE;

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

    if (ngx_queues_api_query_integer(api, &values[NGX_QUEUES_API_LIST_SIZE],
                                     &names[NGX_QUEUES_API_LIST_SIZE], 1,
                                     NGX_QUEUES_API_PAGE_MAX, &size)
        != NGX_OK
        || ngx_queues_api_list_token(api, &values[NGX_QUEUES_API_LIST_TOKEN],
                                     &after)
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


/*
 * A token is the last name of the page before, so that it holds while queues
 * come and go.  It may be a name that the principal may not know, so it is
 * sealed: as a handle of no queue, with the name in the project's place.  It
 * bears a mark of its project: in another one, where the principal makes
 * queues as it likes, their order would tell the name.
 */

static u_char *
ngx_queues_api_list_print_token(ngx_queues_api_t *api, u_char *p,
    ngx_str_t *name)
{
    ngx_queues_base_handle_t  handle;

    ngx_memzero(&handle, sizeof(ngx_queues_base_handle_t));

    if (ngx_queues_api_list_mark(api, &handle) != NGX_OK) {
        return NULL;
    }

    handle.project = *name;

    return ngx_queues_base_handle_print(api->qmcf->handle_keys[0], &handle, p);
}


static ngx_int_t
ngx_queues_api_list_mark(ngx_queues_api_t *api,
    ngx_queues_base_handle_t *handle)
{
    u_char  hash[EVP_MAX_MD_SIZE];

    if (EVP_Digest(api->project.data, api->project.len, hash, NULL,
                   EVP_sha256(), NULL)
        != 1)
    {
        return NGX_ERROR;
    }

    handle->generation = ngx_queues_base_bytes_read(hash, 6);
    handle->token = ngx_queues_base_bytes_read(hash + 6, 5);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_list_token(ngx_queues_api_t *api, ngx_str_t *value,
    ngx_str_t *after)
{
    u_char                    *buf;
    ngx_uint_t                 i;
    ngx_queues_base_handle_t   handle, mark;

    ngx_str_null(after);

    if (value->data == NULL) {
        return NGX_OK;
    }

    buf = ngx_queues_api_alloc(api, NGX_QUEUES_BASE_HANDLE_MAX);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_api_list_mark(api, &mark) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    for (i = 0; i < api->qmcf->nhandle_keys; i++) {
        if (ngx_queues_base_handle_parse(api->qmcf->handle_keys[i], value,
                                         &handle, buf)
            == NGX_OK
            && handle.queue == 0
            && handle.generation == mark.generation
            && handle.token == mark.token)
        {
            *after = handle.project;
            return NGX_OK;
        }
    }

    ngx_queues_api_invalid(api, NULL,
                          &ngx_queues_api_list_names[NGX_QUEUES_API_LIST_TOKEN],
                          "must be a nextPageToken of an answer");

    return NGX_ERROR;
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
    u_char                    *p, *start;
    size_t                     size;
    ngx_uint_t                 i, n;
    ngx_queues_store_queue_t  *queue;

    size = sizeof("{\"queues\":[],\"nextPageToken\":\"\"}")
           + NGX_QUEUES_BASE_HANDLE_TEXT_MAX;

    for (i = 0; i < result->nqueues; i++) {
        size += ngx_queues_api_queue_length(&result->queues[i]) + 1;
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = ngx_sprintf(start, "{\"queues\":[");

    for (i = 0, n = 0; i < result->nqueues; i++) {

        if (!ngx_queues_api_permits(api, &result->queues[i].name)) {
            continue;
        }

        if (n++) {
            *p++ = ',';
        }

        p = ngx_queues_api_queue_print(p, &result->queues[i], NULL);
    }

    p = ngx_sprintf(p, "],\"nextPageToken\":");

    if (result->more && result->nqueues) {
        queue = &result->queues[result->nqueues - 1];

        *p++ = '"';
        p = ngx_queues_api_list_print_token(api, p, &queue->name);

        if (p == NULL) {
            ngx_queues_api_error(api, NGX_QUEUES_API_INTERNAL, NULL,
                                 "No page token could be made.");
            return;
        }

        *p++ = '"';

    } else {
        p = ngx_sprintf(p, "null");
    }

    *p++ = '}';

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}
