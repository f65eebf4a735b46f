
#include "ngx_queues_api_subscriptions.h"
#include "../base/ngx_queues_base_wipe.h"


/*
 * A secret that reads the same in both alphabets of base64 is verified by
 * samples and libraries alike.
 */

ngx_int_t
ngx_queues_api_secret_make(ngx_queues_api_t *api, u_char *id,
    ngx_queues_api_secret_t *secret)
{
    u_char     *p;
    ngx_str_t   context, plain;

    /* what it is bound to: "ngxq:{org/project}/" and the id */

    context.len = api->root.len + 1 + NGX_QUEUES_BASE_SHORT_LEN;

    context.data = ngx_pnalloc(api->op->pool, context.len);
    if (context.data == NULL) {
        goto failed;
    }

    p = ngx_cpymem(context.data, api->root.data, api->root.len);
    *p++ = '/';
    ngx_memcpy(p, id, NGX_QUEUES_BASE_SHORT_LEN);

    do {
        if (ngx_queues_store_random(secret->plain, sizeof(secret->plain))
            != NGX_OK)
        {
            goto failed;
        }

    } while (!ngx_queues_base_secret_portable(secret->plain));

    plain.data = secret->plain;
    plain.len = sizeof(secret->plain);

    p = ngx_queues_base_seal(api->qmcf->push.seal_keys[0], &context, &plain,
                             secret->text);
    if (p == NULL) {
        goto failed;
    }

    secret->sealed.data = secret->text;
    secret->sealed.len = p - secret->text;

    ngx_queues_base_wipe_traces();

    return NGX_OK;

failed:

    ngx_queues_api_secret_wipe(secret);
    ngx_queues_api_no_memory(api);

    return NGX_ERROR;
}


void
ngx_queues_api_secret_wipe(ngx_queues_api_secret_t *secret)
{
    ngx_queues_base_wipe(secret->plain, sizeof(secret->plain));
}


void
ngx_queues_api_secret_answer(ngx_queues_api_t *api, ngx_uint_t status,
    ngx_queues_store_subscription_t *subscription,
    ngx_queues_api_secret_t *secret)
{
    u_char     *p, *start;
    ngx_str_t  *text;

    text = secret ? ngx_queues_http_secret(api->op->request) : NULL;

    if (secret && text == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    start = ngx_queues_api_alloc(api,
                             ngx_queues_api_subscription_length(subscription)
                             + sizeof(",\"signingSecret\":\"\"")
                             + NGX_QUEUES_BASE_SECRET_LEN);
    if (start == NULL) {
        return;
    }

    p = ngx_queues_api_subscription_print(start, subscription);

    /* one more member, over the closing brace */

    p = ngx_sprintf(p - 1, ",\"signingSecret\":");

    if (secret) {
        *p++ = '"';

        text->data = p;
        text->len = NGX_QUEUES_BASE_SECRET_LEN;

        p = ngx_queues_base_secret_print(p, secret->plain);
        *p++ = '"';

    } else {
        p = ngx_sprintf(p, "null");
    }

    *p++ = '}';

    ngx_queues_api_answer(api, status, start, p);
}
