
#include "ngx_queues_api.h"


/* "entries[9]." */
#define NGX_QUEUES_API_PREFIX_MAX  16


typedef enum {
    NGX_QUEUES_API_RECEIPT_WAITING = 0,
    NGX_QUEUES_API_RECEIPT_OK,
    NGX_QUEUES_API_RECEIPT_STALE,
    NGX_QUEUES_API_RECEIPT_INVALID
} ngx_queues_api_receipt_e;


typedef struct ngx_queues_api_receipts_s  ngx_queues_api_receipts_t;

typedef ngx_int_t (*ngx_queues_api_receipts_pt)(ngx_str_t *root,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);


/* the handles of one project: one call of the store */

typedef struct {
    ngx_queues_api_t              *api;
    ngx_str_t                      root;
    ngx_uint_t                     n;
    ngx_uint_t                     index[NGX_QUEUES_STORE_BATCH_MAX];
    ngx_queues_store_receipt_t     receipts[NGX_QUEUES_STORE_BATCH_MAX];
} ngx_queues_api_group_t;


struct ngx_queues_api_receipts_s {
    ngx_queues_api_receipts_pt     call;
    ngx_uint_t                     n;
    ngx_uint_t                     ninvalid;
    ngx_queues_api_receipt_e       results[NGX_QUEUES_STORE_BATCH_MAX];

    ngx_uint_t                     ngroups;
    ngx_queues_api_group_t        *groups[NGX_QUEUES_STORE_BATCH_MAX];
    ngx_uint_t                     waiting;     /* calls */
    const char                    *reason;      /* one of them failed */
};


static void ngx_queues_api_ack(ngx_queues_api_t *api);
static void ngx_queues_api_visibility(ngx_queues_api_t *api);
static ngx_queues_api_receipts_t *ngx_queues_api_receipts_create(
    ngx_queues_api_t *api, ngx_queues_api_receipts_pt call);
static ngx_int_t ngx_queues_api_ack_parse(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx);
static ngx_int_t ngx_queues_api_visibility_parse(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx);
static ngx_int_t ngx_queues_api_entry_parse(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx, ngx_queues_base_json_value_t *entry);
static ngx_int_t ngx_queues_api_receipt_add(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx, ngx_str_t *raw, int64_t visibility);
static ngx_queues_api_group_t *ngx_queues_api_receipt_group(
    ngx_queues_api_t *api, ngx_queues_api_receipts_t *ctx,
    ngx_str_t *project);
static void ngx_queues_api_receipts_start(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx);
static void ngx_queues_api_receipts_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_receipts_answer(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx);


const ngx_queues_api_route_t  ngx_queues_api_receipts_routes[] = {

    { NGX_HTTP_POST,
      ngx_string("/v1/receipts/ack"),
      ngx_string("AcknowledgeMessages"),
      NGX_QUEUES_CONF_RECEIPTS,
      ngx_null_string,
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_ack },

    { NGX_HTTP_POST,
      ngx_string("/v1/receipts/visibility"),
      ngx_string("ChangeMessageVisibility"),
      NGX_QUEUES_CONF_RECEIPTS,
      ngx_null_string,
      NGX_QUEUES_API_ANY_BODY,
      NGX_QUEUES_API_SMALL_BODY,
      ngx_queues_api_visibility },

    { NGX_HTTP_OPTIONS,
      ngx_string("/v1/receipts/ack"),
      ngx_string("Preflight"),
      NGX_QUEUES_CONF_RECEIPTS,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_preflight },

    { NGX_HTTP_OPTIONS,
      ngx_string("/v1/receipts/visibility"),
      ngx_string("Preflight"),
      NGX_QUEUES_CONF_RECEIPTS,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_preflight },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string,
      NGX_QUEUES_API_NO_BODY, 0, NULL }
};


static const ngx_str_t  ngx_queues_api_ack_names[] = {
    ngx_string("receiptHandles")
};

static const ngx_str_t  ngx_queues_api_visibility_names[] = {
    ngx_string("entries")
};

static const ngx_str_t  ngx_queues_api_entry_names[] = {
    ngx_string("receiptHandle"),
    ngx_string("visibilityTimeoutSeconds")
};

static ngx_str_t  ngx_queues_api_receipt_texts[] = {
    ngx_string("{\"error\":\"receipt_handle_stale\"}"),
    ngx_string("{\"ok\":true}"),
    ngx_string("{\"error\":\"receipt_handle_stale\"}"),
    ngx_string("{\"error\":\"receipt_handle_invalid\"}")
};


static void
ngx_queues_api_ack(ngx_queues_api_t *api)
{
    ngx_queues_api_receipts_t  *ctx;

    ctx = ngx_queues_api_receipts_create(api, ngx_queues_store_ack);

    if (ctx && ngx_queues_api_ack_parse(api, ctx) == NGX_OK) {
        ngx_queues_api_receipts_start(api, ctx);
    }
}


static void
ngx_queues_api_visibility(ngx_queues_api_t *api)
{
    ngx_queues_api_receipts_t  *ctx;

    ctx = ngx_queues_api_receipts_create(api, ngx_queues_store_visibility);

    if (ctx && ngx_queues_api_visibility_parse(api, ctx) == NGX_OK) {
        ngx_queues_api_receipts_start(api, ctx);
    }
}


static ngx_queues_api_receipts_t *
ngx_queues_api_receipts_create(ngx_queues_api_t *api,
    ngx_queues_api_receipts_pt call)
{
    ngx_queues_api_receipts_t  *ctx;

    if (ngx_queues_api_handle_limit(api) != NGX_OK) {
        return NULL;
    }

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_receipts_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return NULL;
    }

    ctx->call = call;
    api->data = ctx;

    return ctx;
}


static ngx_int_t
ngx_queues_api_ack_parse(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx)
{
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   body, handles, v;

    if (ngx_queues_api_body(api, 0, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL, ngx_queues_api_ack_names,
                                  1, &handles)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (handles.type != NGX_QUEUES_BASE_JSON_ARRAY) {
        goto invalid;
    }

    ngx_queues_base_json_open(&it, &handles);

    while (ngx_queues_base_json_next(&it, NULL, &v) == NGX_OK) {

        if (ctx->n == NGX_QUEUES_STORE_BATCH_MAX
            || v.type != NGX_QUEUES_BASE_JSON_STRING)
        {
            goto invalid;
        }

        if (ngx_queues_api_receipt_add(api, ctx, &v.raw, 0) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (ctx->n) {
        return NGX_OK;
    }

invalid:

    ngx_queues_api_invalid(api, NULL, &ngx_queues_api_ack_names[0],
                           "must be an array of 1 to 10 strings");

    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_api_visibility_parse(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx)
{
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   body, entries, v;

    if (ngx_queues_api_body(api, 0, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL,
                                  ngx_queues_api_visibility_names, 1,
                                  &entries)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (entries.type != NGX_QUEUES_BASE_JSON_ARRAY) {
        goto invalid;
    }

    ngx_queues_base_json_open(&it, &entries);

    while (ngx_queues_base_json_next(&it, NULL, &v) == NGX_OK) {

        if (ctx->n == NGX_QUEUES_STORE_BATCH_MAX
            || v.type != NGX_QUEUES_BASE_JSON_OBJECT)
        {
            goto invalid;
        }

        if (ngx_queues_api_entry_parse(api, ctx, &v) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (ctx->n) {
        return NGX_OK;
    }

invalid:

    ngx_queues_api_invalid(api, NULL, &ngx_queues_api_visibility_names[0],
                           "must be an array of 1 to 10 objects");

    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_api_entry_parse(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx, ngx_queues_base_json_value_t *entry)
{
    u_char                         buf[NGX_QUEUES_API_PREFIX_MAX];
    int64_t                        visibility;
    ngx_str_t                      prefix;
    const ngx_str_t               *names;
    ngx_queues_base_json_value_t   values[2];

    names = ngx_queues_api_entry_names;

    prefix.data = buf;
    prefix.len = ngx_snprintf(buf, sizeof(buf), "entries[%ui].", ctx->n)
                 - buf;

    if (ngx_queues_api_members(api, entry, &prefix, names, 2, values)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (values[0].type != NGX_QUEUES_BASE_JSON_STRING) {
        ngx_queues_api_invalid(api, &prefix, &names[0], "must be a string");
        return NGX_ERROR;
    }

    if (values[1].type == NGX_QUEUES_BASE_JSON_NULL) {
        ngx_queues_api_invalid(api, &prefix, &names[1], "is missing");
        return NGX_ERROR;
    }

    visibility = 0;

    if (ngx_queues_api_integer(api, &values[1], &prefix, &names[1], 0,
                               NGX_QUEUES_API_VISIBILITY_MAX,
                               &visibility)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_receipt_add(api, ctx, &values[0].raw, visibility);
}


static ngx_int_t
ngx_queues_api_receipt_add(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx, ngx_str_t *raw, int64_t visibility)
{
    u_char                       buf[NGX_QUEUES_BASE_HANDLE_MAX];
    ngx_uint_t                   index;
    ngx_queues_api_group_t      *group;
    ngx_queues_base_handle_t     handle;
    ngx_queues_store_receipt_t  *receipt;

    index = ctx->n++;

    if (ngx_queues_api_handle_open(api, raw, &handle, buf) != NGX_OK) {
        ctx->results[index] = NGX_QUEUES_API_RECEIPT_INVALID;
        ctx->ninvalid++;
        return NGX_OK;
    }

    group = ngx_queues_api_receipt_group(api, ctx, &handle.project);
    if (group == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    receipt = &group->receipts[group->n];

    receipt->place.queue = handle.queue;
    receipt->place.generation = handle.generation;
    receipt->spot = handle.spot;
    receipt->token = handle.token;
    receipt->visibility = visibility;

    group->index[group->n++] = index;

    return NGX_OK;
}


static ngx_queues_api_group_t *
ngx_queues_api_receipt_group(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx, ngx_str_t *project)
{
    u_char                  *p;
    size_t                   len;
    ngx_uint_t               i;
    ngx_queues_api_group_t  *group;

    len = sizeof(NGX_QUEUES_STORE_ROOT_PREFIX) - 1;

    for (i = 0; i < ctx->ngroups; i++) {
        group = ctx->groups[i];

        if (group->root.len == len + project->len + 1
            && ngx_memcmp(group->root.data + len, project->data, project->len)
               == 0)
        {
            return group;
        }
    }

    group = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_group_t));
    if (group == NULL) {
        return NULL;
    }

    group->api = api;
    group->root.len = len + project->len + 1;

    p = ngx_pnalloc(api->op->pool, group->root.len);
    if (p == NULL) {
        return NULL;
    }

    group->root.data = p;

    p = ngx_cpymem(p, NGX_QUEUES_STORE_ROOT_PREFIX, len);
    p = ngx_cpymem(p, project->data, project->len);
    *p = '}';

    ctx->groups[ctx->ngroups++] = group;

    return group;
}


static void
ngx_queues_api_receipts_start(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx)
{
    ngx_uint_t               i;
    ngx_queues_api_group_t  *group;

    ngx_queues_api_handle_count(api, ctx->ninvalid);

    for (i = 0; i < ctx->ngroups; i++) {
        group = ctx->groups[i];

        if (ctx->call(&group->root, group->receipts, group->n,
                      ngx_queues_api_receipts_done, group)
            != NGX_OK)
        {
            ctx->reason = "out of memory";
            continue;
        }

        ngx_queues_http_op_hold(api->op);
        ctx->waiting++;
    }

    if (ctx->waiting == 0) {
        ngx_queues_api_receipts_answer(api, ctx);
    }
}


static void
ngx_queues_api_receipts_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_group_t *group = data;

    ngx_uint_t                  i;
    ngx_queues_api_t           *api;
    ngx_queues_api_receipts_t  *ctx;

    api = group->api;
    ctx = api->data;

    if (result->code != NGX_QUEUES_STORE_OK || result->nok != group->n) {
        ctx->reason = result->reason ? result->reason : "unexpected reply";

    } else {
        for (i = 0; i < group->n; i++) {
            ctx->results[group->index[i]] = result->ok[i]
                                            ? NGX_QUEUES_API_RECEIPT_OK
                                            : NGX_QUEUES_API_RECEIPT_STALE;
        }
    }

    if (--ctx->waiting == 0 && api->op->request) {
        ngx_queues_api_receipts_answer(api, ctx);
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_receipts_answer(ngx_queues_api_t *api,
    ngx_queues_api_receipts_t *ctx)
{
    u_char                     *p, *start;
    size_t                      size;
    ngx_str_t                  *text;
    ngx_uint_t                  i, nok;
    ngx_queues_store_result_t   failed;

    if (ctx->reason) {
        ngx_memzero(&failed, sizeof(ngx_queues_store_result_t));

        failed.code = NGX_QUEUES_STORE_UNAVAILABLE;
        failed.reason = ctx->reason;

        ngx_queues_api_store_error(api, &failed);
        return;
    }

    text = ngx_queues_api_receipt_texts;

    size = sizeof("{\"results\":[]}");
    nok = 0;

    for (i = 0; i < ctx->n; i++) {
        size += text[ctx->results[i]].len + 1;
        nok += (ctx->results[i] == NGX_QUEUES_API_RECEIPT_OK);
    }

    api->op->note->messages = nok;

    start = ngx_queues_api_alloc(api, size);
    if (start == NULL) {
        return;
    }

    p = ngx_cpymem(start, "{\"results\":[", sizeof("{\"results\":[") - 1);

    for (i = 0; i < ctx->n; i++) {

        if (i) {
            *p++ = ',';
        }

        p = ngx_cpymem(p, text[ctx->results[i]].data,
                       text[ctx->results[i]].len);
    }

    *p++ = ']';
    *p++ = '}';

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);
}
