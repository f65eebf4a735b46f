
/*
 * Deliveries of push all messages of which were handled, several in one call:
 * while an endpoint does well, that is all of them.
 */

#include "ngx_queues_store_call.h"


/* window Q G; then two of each delivery */
#define NGX_QUEUES_STORE_DONE_ARGS  (NGX_QUEUES_STORE_CLAIM_ARGS + 3)


static u_char *ngx_queues_store_tokens_arg(ngx_str_t *arg, u_char *p,
    uint64_t token, ngx_uint_t n);
static uint64_t ngx_queues_store_token_of(uint64_t token, ngx_uint_t n);
static ngx_int_t ngx_queues_store_done_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_done_claims(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);


ngx_int_t
ngx_queues_store_push_done(ngx_str_t *root,
    ngx_queues_store_handled_t *handled, ngx_queues_store_claim_t *claim,
    ngx_uint_t nclaims, ngx_queues_store_done_pt done, void *data)
{
    u_char                   *p;
    u_char                    buf[(5 + 2 * NGX_QUEUES_STORE_DONE_MAX)
                                  * (NGX_QUEUES_BASE_DECIMAL_MAX + 1)
                                  + NGX_QUEUES_BASE_SHORT_LEN
                                  + NGX_QUEUES_STORE_DONE_MESSAGES
                                    * (NGX_QUEUES_STORE_SPOT_MAX + 1)];
    ngx_str_t                 args[NGX_QUEUES_STORE_DONE_ARGS
                                   + 2 * NGX_QUEUES_STORE_DONE_MAX];
    ngx_uint_t                i, n;
    ngx_queues_store_call_t  *call;

    for (n = 0, i = 0; i < handled->n; i++) {
        n += handled->deliveries[i].nok;
    }

    if (n > NGX_QUEUES_STORE_DONE_MESSAGES
        || nclaims > NGX_QUEUES_STORE_DONE_MAX)
    {
        return NGX_ERROR;
    }

    call = ngx_queues_store_delivery_create(root, &handled->id, claim, nclaims,
                                            ngx_queues_store_done_parse, done,
                                            data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    p = ngx_queues_store_claim_args(args, buf, &handled->id, claim,
                                    call->token);
    if (claim) {
        p = ngx_queues_store_tokens_arg(&args[4], p, call->token, nclaims);
    }

    p = ngx_queues_store_number_arg(&args[5], p, (int64_t) handled->window);
    p = ngx_queues_store_short_arg(&args[6], p, handled->place.queue);
    p = ngx_queues_store_number_arg(&args[7], p, handled->place.generation);

    n = NGX_QUEUES_STORE_DONE_ARGS;

    for (i = 0; i < handled->n; i++) {
        p = ngx_queues_store_number_arg(&args[n++], p,
                                        handled->deliveries[i].token);
        p = ngx_queues_store_spots_arg(&args[n++], p,
                                       handled->deliveries[i].ok,
                                       handled->deliveries[i].nok);
    }

    return ngx_queues_store_call_start(call, "push_done", args, n);
}


static u_char *
ngx_queues_store_tokens_arg(ngx_str_t *arg, u_char *p, uint64_t token,
    ngx_uint_t n)
{
    ngx_uint_t  i;

    arg->data = p;

    for (i = 0; i < n; i++) {
        if (i) {
            *p++ = ' ';
        }

        p = ngx_queues_base_decimal_print(p,
                                        ngx_queues_store_token_of(token, i));
    }

    arg->len = p - arg->data;

    return p;
}


/* as hard to meet as the first one, which is random */

static uint64_t
ngx_queues_store_token_of(uint64_t token, ngx_uint_t n)
{
    return (token + n) & NGX_QUEUES_STORE_TOKEN_MASK;
}


/* how many were open, and the claims */

static ngx_int_t
ngx_queues_store_done_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    uint64_t  open;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts == 0
        || ngx_queues_store_unsigned(&reply->elts[0], &open) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (call->claims == 0) {
        return reply->nelts == 1 ? NGX_OK : NGX_ERROR;
    }

    result->others = ngx_pcalloc(reply->pool, call->claims
                                         * sizeof(ngx_queues_store_result_t));
    if (result->others == NULL) {
        return NGX_ERROR;
    }

    return ngx_queues_store_done_claims(call, reply, result);
}


/* how many elements, and these, of each */

static ngx_int_t
ngx_queues_store_done_claims(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    uint64_t                    n;
    ngx_uint_t                  i, from;
    ngx_queues_redis_reply_t    part;
    ngx_queues_store_result_t  *r;

    part = *reply;

    for (i = 0, from = 1; from < reply->nelts; i++) {

        if (i == call->claims
            || ngx_queues_store_unsigned(&reply->elts[from], &n) != NGX_OK
            || n > reply->nelts - from - 1)
        {
            return NGX_ERROR;
        }

        r = i ? &result->others[i - 1] : result;
        r->token = ngx_queues_store_token_of(call->token, i);

        part.elts = reply->elts + from + 1;
        part.nelts = (ngx_uint_t) n;

        if (ngx_queues_store_claimed(call, &part, 0, r) != NGX_OK) {
            return NGX_ERROR;
        }

        from += 1 + (ngx_uint_t) n;
    }

    result->nclaims = i;

    return i ? NGX_OK : NGX_ERROR;
}
