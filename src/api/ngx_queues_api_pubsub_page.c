
/* Pages of the Pub/Sub API's lists. */

#include "ngx_queues_api_pubsub_resource.h"
#include "../base/ngx_queues_base_seal.h"


#define NGX_QUEUES_API_PUBSUB_PAGE      100
#define NGX_QUEUES_API_PUBSUB_PAGE_MAX  1000

/* bytes of a token */
#define NGX_QUEUES_API_PUBSUB_TOKEN_MAX                                       \
    ngx_queues_base_seal_length(NGX_QUEUES_BASE_RESOURCE_ID_MAX)

/* and of an answer beside its rows and the list's name */
#define NGX_QUEUES_API_PUBSUB_LIST_MAX                                        \
    (sizeof("{\"\":[],\"nextPageToken\":\"\"}")                               \
     + NGX_QUEUES_API_PUBSUB_TOKEN_MAX)


/* of the query, which has fields in both spellings, too */
typedef enum {
    NGX_QUEUES_API_PUBSUB_SIZE = 0,
    NGX_QUEUES_API_PUBSUB_SIZE_SNAKE,
    NGX_QUEUES_API_PUBSUB_TOKEN,
    NGX_QUEUES_API_PUBSUB_TOKEN_SNAKE,
    NGX_QUEUES_API_PUBSUB_NPARAMS
} ngx_queues_api_pubsub_param_e;


static ngx_int_t ngx_queues_api_pubsub_page_size(ngx_queues_api_t *api,
    ngx_str_t *value, ngx_uint_t *size);
static ngx_int_t ngx_queues_api_pubsub_page_after(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_str_t *value,
    ngx_str_t *after);
static ngx_int_t ngx_queues_api_pubsub_page_context(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_str_t *context);
static size_t ngx_queues_api_pubsub_row_length(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_queues_store_value_t *row);
static u_char *ngx_queues_api_pubsub_row_print(u_char *p,
    ngx_queues_api_t *api, const ngx_queues_api_pubsub_kind_t *kind,
    ngx_queues_store_value_t *row);
static u_char *ngx_queues_api_pubsub_page_token(u_char *p,
    ngx_queues_api_t *api, const ngx_queues_api_pubsub_kind_t *kind,
    ngx_str_t *last);


static const ngx_str_t  ngx_queues_api_pubsub_params[] = {
    ngx_string("pageSize"),
    ngx_string("page_size"),
    ngx_string("pageToken"),
    ngx_string("page_token")
};


ngx_int_t
ngx_queues_api_pubsub_page(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind,
    ngx_queues_api_pubsub_page_t *page)
{
    ngx_str_t  values[NGX_QUEUES_API_PUBSUB_NPARAMS], odd, *size, *token;

    /* all others, and what is no query, are passed over */

    if (ngx_queues_api_query_read(api, ngx_queues_api_pubsub_params,
                                  NGX_QUEUES_API_PUBSUB_NPARAMS, values, &odd)
        == NGX_ERROR)
    {
        return NGX_ERROR;
    }

    size = &values[NGX_QUEUES_API_PUBSUB_SIZE];
    size += (size->len == 0);

    token = &values[NGX_QUEUES_API_PUBSUB_TOKEN];
    token += (token->len == 0);

    if (ngx_queues_api_pubsub_call(api, kind, NGX_QUEUES_STORE_AT_LISTED)
        == NULL
        || ngx_queues_api_pubsub_page_size(api, size, &page->size) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_page_after(api, kind, token, &page->after);
}


static ngx_int_t
ngx_queues_api_pubsub_page_size(ngx_queues_api_t *api, ngx_str_t *value,
    ngx_uint_t *size)
{
    uint64_t  n;

    n = 0;

    if (value->len && ngx_queues_base_decimal_parse(value, &n) != NGX_OK) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "You have passed an invalid argument to the "
                             "service (argument=page_size): it must be a "
                             "number of 0 or more.");
        return NGX_ERROR;
    }

    *size = n ? (ngx_uint_t) ngx_min(n, NGX_QUEUES_API_PUBSUB_PAGE_MAX)
              : NGX_QUEUES_API_PUBSUB_PAGE;

    return NGX_OK;
}


/*
 * A token is the name of the last one of the page before, so that it holds
 * while others come and go.  The principal may not know that one, so it is
 * sealed, for its list.
 */

static ngx_int_t
ngx_queues_api_pubsub_page_after(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_str_t *value,
    ngx_str_t *after)
{
    size_t                   len;
    ngx_str_t                context;
    ngx_uint_t               i;
    ngx_queues_conf_push_t  *keys;

    ngx_str_null(after);

    if (value->len == 0) {
        return NGX_OK;
    }

    len = ngx_queues_base_base64url_parsed_length(value->len);

    if (len <= NGX_QUEUES_BASE_SEAL_OVERHEAD
        || len > NGX_QUEUES_BASE_SEAL_OVERHEAD
                 + NGX_QUEUES_BASE_RESOURCE_ID_MAX)
    {
        goto invalid;
    }

    after->len = len - NGX_QUEUES_BASE_SEAL_OVERHEAD;

    after->data = ngx_queues_api_alloc(api, after->len);
    if (after->data == NULL) {
        return NGX_ERROR;
    }

    if (ngx_queues_api_pubsub_page_context(api, kind, &context) != NGX_OK) {
        return NGX_ERROR;
    }

    keys = &api->qmcf->push;

    for (i = 0; i < keys->nseal_keys; i++) {
        if (ngx_queues_base_seal_open(keys->seal_keys[i], &context, value,
                                      after->data, after->len)
            == NGX_OK)
        {
            return NGX_OK;
        }
    }

invalid:

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                         "You have passed an invalid argument to the service "
                         "(argument=page_token): it is not the nextPageToken "
                         "of an answer.");

    return NGX_ERROR;
}


/* the list, of what, in which project */

static ngx_int_t
ngx_queues_api_pubsub_page_context(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_str_t *context)
{
    u_char     *p;
    ngx_str_t   name;

    name = kind->name;

    context->len = sizeof("pubsub   ") - 1 + name.len + api->project.len
                   + api->queue.len;

    p = ngx_queues_api_alloc(api, context->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    context->data = p;

    ngx_sprintf(p, "pubsub %V %V %V", &name, &api->project, &api->queue);

    return NGX_OK;
}


void
ngx_queues_api_pubsub_listed(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind,
    ngx_queues_store_result_t *result)
{
    u_char                    *p, *start;
    size_t                     size;
    ngx_uint_t                 n;
    ngx_queues_store_value_t  *row, *first, *last;

    first = &result->values[NGX_QUEUES_STORE_AT_LISTED];
    last = &result->values[result->nvalues];

    size = NGX_QUEUES_API_PUBSUB_LIST_MAX + kind->name.len;

    for (row = first; row < last; row += kind->ncolumns) {
        size += ngx_queues_api_pubsub_row_length(api, kind, row) + 1;
    }

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = start;
    *p++ = '{';

    for (row = first, n = 0; row < last; row += kind->ncolumns) {

        if (api->ref.len == 0
            && !ngx_queues_api_permits(api, NULL, &row[kind->column].text))
        {
            continue;
        }

        if (n++ == 0) {
            *p++ = '"';
            p = ngx_cpymem(p, kind->name.data, kind->name.len);
            p = ngx_queues_base_copy(p, "\":[");

        } else {
            *p++ = ',';
        }

        p = ngx_queues_api_pubsub_row_print(p, api, kind, row);
    }

    if (n) {
        *p++ = ']';
    }

    if (result->values[0].number && first < last) {

        if (n) {
            *p++ = ',';
        }

        row = last - kind->ncolumns;

        p = ngx_queues_api_pubsub_page_token(p, api, kind,
                                             &row[kind->column].text);
        if (p == NULL) {
            return;
        }
    }

    *p++ = '}';

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}


static size_t
ngx_queues_api_pubsub_row_length(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_queues_store_value_t *row)
{
    if (kind->length) {
        return kind->length(api, row);
    }

    return sizeof("\"\"") + ngx_queues_api_pubsub_name_length(api, kind->kind,
                                                    &row[kind->column].text);
}


static u_char *
ngx_queues_api_pubsub_row_print(u_char *p, ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_queues_store_value_t *row)
{
    if (kind->print) {
        return kind->print(p, api, row);
    }

    *p++ = '"';
    p = ngx_queues_api_pubsub_name(p, api, kind->kind,
                                   &row[kind->column].text);
    *p++ = '"';

    return p;
}


/* NULL after it has answered */

static u_char *
ngx_queues_api_pubsub_page_token(u_char *p, ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind, ngx_str_t *last)
{
    ngx_str_t  context;

    if (ngx_queues_api_pubsub_page_context(api, kind, &context) != NGX_OK) {
        return NULL;
    }

    p = ngx_queues_base_copy(p, "\"nextPageToken\":\"");
    p = ngx_queues_base_seal(api->qmcf->push.seal_keys[0], &context, last, p);

    if (p == NULL) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INTERNAL, NULL,
                             "No page token could be made.");
        return NULL;
    }

    *p++ = '"';

    return p;
}
