
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_SUBSCRIPTION_ELTS  21

/* before the subscription, where it has changed: active repeated */
#define NGX_QUEUES_STORE_CHANGED_ELTS       2


static ngx_int_t ngx_queues_store_subscription_parse(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_subscription_parse_changed(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_subscription_parse_list(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_subscription_parse_deleted(
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_subscriptions(
    ngx_queues_redis_reply_t *reply, ngx_uint_t from,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_subscription_elts(
    ngx_queues_redis_reply_t *elts,
    ngx_queues_store_subscription_t *subscription);
static ngx_int_t ngx_queues_store_subscription_status(
    ngx_queues_redis_reply_t *elts,
    ngx_queues_store_subscription_t *subscription);


ngx_int_t
ngx_queues_store_subscription_create(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_subscription_t *subscription, ngx_str_t *sealed,
    ngx_queues_store_once_t *once, ngx_queues_store_done_pt done, void *data)
{
    u_char                     *p;
    u_char                      buf[3 * NGX_QUEUES_BASE_DECIMAL_MAX];
    u_char                      hex[NGX_QUEUES_STORE_ONCE_MAX];
    ngx_str_t                   args[9 + 2];
    ngx_uint_t                  n;
    ngx_queues_store_target_t  *target;

    target = &subscription->target;

    args[0] = *ref;
    args[1] = subscription->id;
    args[2] = subscription->uuid;
    args[3] = target->url;
    p = ngx_queues_store_number_arg(&args[4], buf, target->timeout);
    p = ngx_queues_store_number_arg(&args[5], p, target->batch);
    (void) ngx_queues_store_number_arg(&args[6], p, target->concurrency);

    if (subscription->paused) {
        ngx_str_set(&args[7], "p");

    } else {
        ngx_str_set(&args[7], "a");
    }

    args[8] = *sealed;
    n = 9;

    if (once) {
        (void) ngx_queues_store_once_args(&args[n], hex, once);
        n += 2;
    }

    return ngx_queues_store_call("subscription_create", root, args, n,
                                 NGX_QUEUES_STORE_TELLS,
                                 ngx_queues_store_subscription_parse_changed,
                                 done, data);
}


ngx_int_t
ngx_queues_store_subscription_get(ngx_str_t *root, ngx_str_t *sub,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_call("subscription_get", root, sub, 1,
                                 NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_subscription_parse,
                                 done, data);
}


ngx_int_t
ngx_queues_store_subscription_list(ngx_str_t *root, ngx_str_t *ref,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[3];

    args[0] = *ref;
    args[1] = *after;
    (void) ngx_queues_store_number_arg(&args[2], buf, limit);

    return ngx_queues_store_call("subscription_list", root, args, 3,
                                 NGX_QUEUES_STORE_READS,
                                 ngx_queues_store_subscription_parse_list,
                                 done, data);
}


ngx_int_t
ngx_queues_store_subscription_update(ngx_str_t *root, ngx_str_t *sub,
    ngx_queues_store_target_t *target, ngx_queues_store_done_pt done,
    void *data)
{
    u_char      *p;
    u_char       buf[3 * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t    args[1 + 2 * 4];
    ngx_uint_t   n;

    n = 0;
    p = buf;

    args[n++] = *sub;

    if (target->url.len) {
        ngx_str_set(&args[n], "url");
        n++;

        args[n++] = target->url;
    }

    if (target->timeout >= 0) {
        ngx_str_set(&args[n], "to");
        n++;

        p = ngx_queues_store_number_arg(&args[n++], p, target->timeout);
    }

    if (target->batch >= 0) {
        ngx_str_set(&args[n], "bs");
        n++;

        p = ngx_queues_store_number_arg(&args[n++], p, target->batch);
    }

    if (target->concurrency >= 0) {
        ngx_str_set(&args[n], "mc");
        n++;

        (void) ngx_queues_store_number_arg(&args[n++], p,
                                           target->concurrency);
    }

    return ngx_queues_store_call("subscription_update", root, args, n,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_subscription_parse_changed,
                                 done, data);
}


ngx_int_t
ngx_queues_store_subscription_pause(ngx_str_t *root, ngx_str_t *sub,
    ngx_uint_t pause, ngx_queues_store_done_pt done, void *data)
{
    ngx_str_t  args[2];

    args[0] = *sub;

    if (pause) {
        ngx_str_set(&args[1], "p");

    } else {
        ngx_str_set(&args[1], "a");
    }

    return ngx_queues_store_call("subscription_state", root, args, 2,
                                 NGX_QUEUES_STORE_TELLS,
                                 ngx_queues_store_subscription_parse_changed,
                                 done, data);
}


ngx_int_t
ngx_queues_store_subscription_rotate(ngx_str_t *root, ngx_str_t *sub,
    ngx_str_t *sealed, ngx_queues_store_done_pt done, void *data)
{
    ngx_str_t  args[2];

    args[0] = *sub;
    args[1] = *sealed;

    return ngx_queues_store_call("subscription_rotate", root, args, 2,
                                 NGX_QUEUES_STORE_WRITES,
                                 ngx_queues_store_subscription_parse_changed,
                                 done, data);
}


ngx_int_t
ngx_queues_store_subscription_delete(ngx_str_t *root, ngx_str_t *sub,
    ngx_queues_store_done_pt done, void *data)
{
    return ngx_queues_store_call("subscription_delete", root, sub, 1,
                                 NGX_QUEUES_STORE_TELLS,
                                 ngx_queues_store_subscription_parse_deleted,
                                 done, data);
}


static ngx_int_t
ngx_queues_store_subscription_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (ngx_queues_store_subscriptions(reply, 0, result) != NGX_OK
        || result->nsubscriptions != 1)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* active repeated, and the subscription */

static ngx_int_t
ngx_queues_store_subscription_parse_changed(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t  repeated;

    if (ngx_queues_store_subscriptions(reply, NGX_QUEUES_STORE_CHANGED_ELTS,
                                       result)
        != NGX_OK
        || result->nsubscriptions != 1
        || ngx_queues_store_integer(&reply->elts[0], &result->active) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[1], &repeated) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->repeated = (repeated != 0);

    return NGX_OK;
}


/* more, and the subscriptions */

static ngx_int_t
ngx_queues_store_subscription_parse_list(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t  more;

    if (ngx_queues_store_subscriptions(reply, 1, result) != NGX_OK
        || ngx_queues_store_integer(&reply->elts[0], &more) != NGX_OK)
    {
        return NGX_ERROR;
    }

    result->more = (more != 0);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_store_subscription_parse_deleted(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    return ngx_queues_store_integer(reply, &result->active);
}


/* all from an element to the end */

static ngx_int_t
ngx_queues_store_subscriptions(ngx_queues_redis_reply_t *reply,
    ngx_uint_t from, ngx_queues_store_result_t *result)
{
    ngx_uint_t                        i, n;
    ngx_queues_redis_reply_t         *elt;
    ngx_queues_store_subscription_t  *subscriptions;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < from
        || (reply->nelts - from) % NGX_QUEUES_STORE_SUBSCRIPTION_ELTS)
    {
        return NGX_ERROR;
    }

    n = (reply->nelts - from) / NGX_QUEUES_STORE_SUBSCRIPTION_ELTS;

    if (n == 0) {
        return NGX_OK;
    }

    subscriptions = ngx_pcalloc(reply->pool,
                                n * sizeof(ngx_queues_store_subscription_t));
    if (subscriptions == NULL) {
        return NGX_ERROR;
    }

    elt = reply->elts + from;

    for (i = 0; i < n; i++) {
        if (ngx_queues_store_subscription_elts(elt, &subscriptions[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        elt += NGX_QUEUES_STORE_SUBSCRIPTION_ELTS;
    }

    result->subscriptions = subscriptions;
    result->nsubscriptions = n;

    return NGX_OK;
}


/* K id Q queue-uuid queue-name url to bs mc st ct ut, then its status */

static ngx_int_t
ngx_queues_store_subscription_elts(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_subscription_t *subscription)
{
    ngx_str_t                   state;
    ngx_queues_store_target_t  *target;

    target = &subscription->target;

    if (ngx_queues_store_short(&elts[0], &subscription->id) != NGX_OK
        || ngx_queues_store_string(&elts[1], &subscription->uuid) != NGX_OK
        || ngx_queues_store_short(&elts[2], &subscription->queue) != NGX_OK
        || ngx_queues_store_string(&elts[3], &subscription->queue_uuid)
           != NGX_OK
        || ngx_queues_store_string(&elts[4], &subscription->queue_name)
           != NGX_OK
        || ngx_queues_store_string(&elts[5], &target->url) != NGX_OK
        || ngx_queues_store_integer(&elts[6], &target->timeout) != NGX_OK
        || ngx_queues_store_integer(&elts[7], &target->batch) != NGX_OK
        || ngx_queues_store_integer(&elts[8], &target->concurrency) != NGX_OK
        || ngx_queues_store_string(&elts[9], &state) != NGX_OK
        || state.len != 1
        || ngx_queues_store_integer(&elts[10], &subscription->created)
           != NGX_OK
        || ngx_queues_store_integer(&elts[11], &subscription->updated)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    subscription->paused = (state.data[0] == 'p');

    return ngx_queues_store_subscription_status(&elts[12], subscription);
}


/* fl ls le-at le-class le-status le-message nd ne nm */

static ngx_int_t
ngx_queues_store_subscription_status(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_subscription_t *subscription)
{
    int64_t  failing;

    if (ngx_queues_store_integer(&elts[0], &failing) != NGX_OK
        || ngx_queues_store_integer(&elts[1], &subscription->last_success)
           != NGX_OK
        || ngx_queues_store_integer(&elts[2], &subscription->failed_at)
           != NGX_OK
        || ngx_queues_store_string(&elts[3], &subscription->class) != NGX_OK
        || ngx_queues_store_integer(&elts[4], &subscription->status) != NGX_OK
        || ngx_queues_store_string(&elts[5], &subscription->message) != NGX_OK
        || ngx_queues_store_integer(&elts[6], &subscription->deliveries)
           != NGX_OK
        || ngx_queues_store_integer(&elts[7], &subscription->failures)
           != NGX_OK
        || ngx_queues_store_integer(&elts[8], &subscription->messages)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    subscription->failing = (failing != 0);

    return NGX_OK;
}
