
#include "ngx_queues_api.h"


static void ngx_queues_api_other_named(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_other_denied(ngx_queues_api_t *api);


/*
 * A name cannot be told from an id by its form alone, so the store tries the
 * id first and then the text as a name.
 */

ngx_int_t
ngx_queues_api_ref(ngx_queues_api_t *api, ngx_str_t *queue, ngx_str_t *ref)
{
    u_char     *p;
    u_char      uuid[NGX_QUEUES_BASE_UUID_SIZE];
    u_char      text_of_uuid[NGX_QUEUES_BASE_UUID_LEN];
    uint64_t    id;
    ngx_str_t   text;

    text_of_uuid[0] = '\0';

    p = ngx_pnalloc(api->op->pool, 1 + NGX_QUEUES_BASE_SHORT_LEN + queue->len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ref->data = p;

    if (ngx_queues_base_uuid_parse(queue, uuid) == NGX_OK) {
        (void) ngx_queues_base_uuid_print(text_of_uuid, uuid);
    }

    /* in other letters than we write them it can be a name only */

    if (queue->len == NGX_QUEUES_BASE_UUID_LEN
        && ngx_memcmp(queue->data, text_of_uuid, NGX_QUEUES_BASE_UUID_LEN)
           == 0)
    {
        *p++ = 'u';
        p = ngx_queues_base_short_print(p, ngx_queues_base_short_id(uuid));
        p = ngx_cpymem(p, text_of_uuid, NGX_QUEUES_BASE_UUID_LEN);

    } else if (queue->len == sizeof("que_") - 1 + NGX_QUEUES_BASE_SHORT_LEN
               && ngx_memcmp(queue->data, "que_", sizeof("que_") - 1) == 0)
    {
        text.data = queue->data + sizeof("que_") - 1;
        text.len = NGX_QUEUES_BASE_SHORT_LEN;

        *p++ = (ngx_queues_base_short_parse(&text, &id) == NGX_OK) ? 'q' : 'n';

        if (ref->data[0] == 'n') {
            text = *queue;
        }

        p = ngx_cpymem(p, text.data, text.len);

    } else {
        *p++ = 'n';
        p = ngx_cpymem(p, queue->data, queue->len);
    }

    ref->len = p - ref->data;

    return NGX_OK;
}


/* a subscription has no name, so a UUID in any letters is one */

ngx_int_t
ngx_queues_api_sub(ngx_queues_api_t *api, ngx_str_t *subscription,
    ngx_str_t *sub)
{
    u_char     *p;
    u_char      uuid[NGX_QUEUES_BASE_UUID_SIZE];
    uint64_t    id;
    ngx_str_t   text;

    ngx_str_null(sub);

    p = ngx_pnalloc(api->op->pool, 1 + NGX_QUEUES_BASE_SHORT_LEN
                                   + NGX_QUEUES_BASE_UUID_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    sub->data = p;

    if (ngx_queues_base_uuid_parse(subscription, uuid) == NGX_OK) {
        *p++ = 'u';
        p = ngx_queues_base_short_print(p, ngx_queues_base_short_id(uuid));
        p = ngx_queues_base_uuid_print(p, uuid);

    } else if (subscription->len > sizeof("qsb_") - 1
               && ngx_memcmp(subscription->data, "qsb_", sizeof("qsb_") - 1)
                  == 0)
    {
        text.data = subscription->data + sizeof("qsb_") - 1;
        text.len = subscription->len - (sizeof("qsb_") - 1);

        if (ngx_queues_base_short_parse(&text, &id) == NGX_OK) {
            *p++ = 'q';
            p = ngx_queues_base_short_print(p, id);
        }
    }

    sub->len = p - sub->data;

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_other(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    const ngx_str_t *field, ngx_str_t *text, ngx_str_t *ref)
{
    ngx_str_t  name;

    if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
        goto invalid;
    }

    name.data = ngx_queues_api_alloc(api, value->raw.len + 1);
    if (name.data == NULL) {
        return NGX_ERROR;
    }

    name.len = ngx_queues_base_json_decode(name.data, &value->raw)
               - name.data;

    /* all ids have the letters of names */

    if (ngx_queues_base_name_check(&name, NGX_QUEUES_API_QUEUE_NAME_MAX)
        != NGX_OK)
    {
        goto invalid;
    }

    if (ngx_queues_api_ref(api, &name, ref) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    if (text) {
        *text = name;
    }

    return NGX_OK;

invalid:

    ngx_queues_api_invalid(api, prefix, field,
                           "must be the id or name of a queue");

    return NGX_ERROR;
}


ngx_int_t
ngx_queues_api_new_id(ngx_queues_api_t *api, u_char *id, u_char *uuid)
{
    if (ngx_queues_store_new_id(id, uuid) != NGX_OK) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_queues_api_with_other(ngx_queues_api_t *api, ngx_str_t *ref,
    ngx_queues_api_start_pt next)
{
    ngx_str_t  name;

    if (ref->len == 0 || api->scope == NGX_QUEUES_BASE_GLOB_ALL) {
        next(api);
        return;
    }

    if (ref->data[0] == 'n') {
        name.data = ref->data + 1;
        name.len = ref->len - 1;

        if (!ngx_queues_api_permits(api, NULL, &name)) {
            ngx_queues_api_other_denied(api);
            return;
        }

        next(api);
        return;
    }

    /* an id: the queue's name tells */

    api->next = next;

    ngx_queues_api_started(api,
        ngx_queues_store_queue_get(&api->root, ref,
                                   ngx_queues_api_other_named, api));
}


static void
ngx_queues_api_other_named(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {

        switch (ngx_queues_api_named_permits(api, result)) {

        case NGX_OK:
            api->next(api);
            break;

        case NGX_DECLINED:
            ngx_queues_api_other_denied(api);
        }
    }

    ngx_queues_http_op_release(api->op);
}


ngx_int_t
ngx_queues_api_named_permits(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_str_t  *name;

    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        ngx_queues_api_store_error(api, result);
        return NGX_DONE;
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        return NGX_DECLINED;
    }

    name = result->nsubscriptions ? &result->subscriptions[0].queue_name
                                  : &result->queues[0].name;

    return ngx_queues_api_permits(api, NULL, name) ? NGX_OK : NGX_DECLINED;
}


static void
ngx_queues_api_other_denied(ngx_queues_api_t *api)
{
    ngx_str_t  permission;

    permission = api->route->permission;

    ngx_queues_api_error(api, NGX_QUEUES_API_PERMISSION_DENIED, NULL,
                         "The credential lacks the permission %V on a queue "
                         "that the request names.", &permission);
}
