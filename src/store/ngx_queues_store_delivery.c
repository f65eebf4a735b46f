
/*
 * Deliveries of push: a batch is claimed, and settled when its endpoint has
 * answered.  One call does both, so a busy subscription costs one a batch.
 */

#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_SETTLE_ARGS   (NGX_QUEUES_STORE_CLAIM_ARGS + 6)
#define NGX_QUEUES_STORE_FAILED_ARGS   3     /* of messages that failed */

/* elements of a reply before what came of it: code now */
#define NGX_QUEUES_STORE_CLAIM_ELTS    2


static u_char *ngx_queues_store_outcome(ngx_str_t *arg,
    ngx_queues_store_settle_t *settle);
static ngx_uint_t ngx_queues_store_failed_args(ngx_str_t *args, u_char *p,
    ngx_queues_store_settle_t *settle);
static ngx_int_t ngx_queues_store_claim_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_settle_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_store_claimed_messages(
    ngx_queues_redis_reply_t *reply, ngx_uint_t from,
    ngx_queues_store_result_t *result);
static void ngx_queues_store_claim_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result);


ngx_int_t
ngx_queues_store_push_claim(ngx_str_t *root, ngx_queues_store_claim_t *claim,
    ngx_queues_store_done_pt done, void *data)
{
    u_char                    buf[3 * NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t                 args[NGX_QUEUES_STORE_CLAIM_ARGS];
    ngx_queues_store_call_t  *call;

    call = ngx_queues_store_delivery_create(root, &claim->id, claim, 1,
                                            ngx_queues_store_claim_parse,
                                            done, data);
    if (call == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_queues_store_claim_args(args, buf, &claim->id, claim,
                                       call->token);

    return ngx_queues_store_call_start(call, "push_claim", args,
                                       NGX_QUEUES_STORE_CLAIM_ARGS);
}


ngx_int_t
ngx_queues_store_push_settle(ngx_str_t *root,
    ngx_queues_store_settle_t *settle, ngx_queues_store_claim_t *claim,
    ngx_queues_store_done_pt done, void *data)
{
    u_char                   *p, *outcome;
    u_char                    buf[6 * NGX_QUEUES_BASE_DECIMAL_MAX
                                  + NGX_QUEUES_BASE_SHORT_LEN
                                  + NGX_QUEUES_STORE_BATCH_MAX
                                    * (NGX_QUEUES_STORE_SPOT_MAX + 1
                                       + 2 * NGX_QUEUES_BASE_DECIMAL_MAX)];
    ngx_int_t                 rc;
    ngx_str_t                 args[NGX_QUEUES_STORE_SETTLE_ARGS
                                   + NGX_QUEUES_STORE_BATCH_MAX
                                     * NGX_QUEUES_STORE_FAILED_ARGS];
    ngx_uint_t                n;
    ngx_queues_store_call_t  *call;

    /* a delivery is of one claim */

    if (settle->nok + settle->nfailed > NGX_QUEUES_STORE_BATCH_MAX) {
        return NGX_ERROR;
    }

    outcome = ngx_queues_store_outcome(&args[8], settle);
    if (outcome == NULL) {
        return NGX_ERROR;
    }

    call = ngx_queues_store_delivery_create(root, &settle->id, claim, 1,
                                            ngx_queues_store_settle_parse,
                                            done, data);
    if (call == NULL) {
        ngx_free(outcome);
        return NGX_ERROR;
    }

    p = ngx_queues_store_claim_args(args, buf, &settle->id, claim,
                                    call->token);
    p = ngx_queues_store_number_arg(&args[5], p, settle->token);
    p = ngx_queues_store_short_arg(&args[6], p, settle->place.queue);
    p = ngx_queues_store_number_arg(&args[7], p, settle->place.generation);
    p = ngx_queues_store_number_arg(&args[9], p,
                                    settle->undo ? -1
                                                 : (int64_t) settle->window);
    p = ngx_queues_store_spots_arg(&args[10], p, settle->ok, settle->nok);

    n = NGX_QUEUES_STORE_SETTLE_ARGS;
    n += ngx_queues_store_failed_args(&args[n], p, settle);

    rc = ngx_queues_store_call_start(call, "push_settle", args, n);

    ngx_free(outcome);

    return rc;
}


ngx_queues_store_call_t *
ngx_queues_store_delivery_create(ngx_str_t *root, ngx_str_t *id,
    ngx_queues_store_claim_t *claim, ngx_uint_t nclaims,
    ngx_queues_store_parse_pt parse, ngx_queues_store_done_pt done,
    void *data)
{
    uint64_t                  token;
    ngx_queues_store_call_t  *call;

    token = 0;

    if (claim && ngx_queues_store_token(&token) != NGX_OK) {
        return NULL;
    }

    call = ngx_queues_store_call_create(root, parse, done, data);
    if (call == NULL) {
        return NULL;
    }

    if (claim) {
        call->claims = nclaims;
        call->token = token;
        call->late = ngx_queues_store_claim_late;

        ngx_memcpy(call->id, id->data,
                   ngx_min(id->len, NGX_QUEUES_BASE_SHORT_LEN));
    }

    return call;
}


u_char *
ngx_queues_store_claim_args(ngx_str_t *args, u_char *p, ngx_str_t *id,
    ngx_queues_store_claim_t *claim, uint64_t token)
{
    ngx_uint_t  i;

    args[0] = *id;

    if (claim == NULL) {
        for (i = 1; i < NGX_QUEUES_STORE_CLAIM_ARGS; i++) {
            ngx_str_set(&args[i], "");
        }

        return p;
    }

    args[1] = claim->worker;
    p = ngx_queues_store_number_arg(&args[2], p, (int64_t) claim->fence);
    p = ngx_queues_store_number_arg(&args[3], p, (int64_t) claim->version);

    return ngx_queues_store_number_arg(&args[4], p, (int64_t) token);
}


/* "u", "+" or "-CLASS STATUS MESSAGE", in memory that the caller frees */

static u_char *
ngx_queues_store_outcome(ngx_str_t *arg, ngx_queues_store_settle_t *settle)
{
    u_char  *p, *start;

    start = ngx_alloc(sizeof("-  ") - 1 + settle->class.len
                      + NGX_QUEUES_BASE_DECIMAL_MAX + settle->message.len,
                      ngx_cycle->log);
    if (start == NULL) {
        return NULL;
    }

    p = start;

    if (settle->undo) {
        *p++ = 'u';

    } else if (settle->success) {
        *p++ = '+';

    } else {
        *p++ = '-';
        p = ngx_cpymem(p, settle->class.data, settle->class.len);
        *p++ = ' ';
        p = ngx_queues_base_decimal_print(p, settle->status);
        *p++ = ' ';
        p = ngx_cpymem(p, settle->message.data, settle->message.len);
    }

    arg->data = start;
    arg->len = p - start;

    return start;
}


u_char *
ngx_queues_store_spots_arg(ngx_str_t *arg, u_char *p,
    ngx_queues_base_spot_t *spots, ngx_uint_t n)
{
    ngx_str_t   id;
    ngx_uint_t  i;

    arg->data = p;

    for (i = 0; i < n; i++) {
        if (i) {
            *p++ = ' ';
        }

        p = ngx_queues_store_spot_arg(&id, p, &spots[i]);
    }

    arg->len = p - arg->data;

    return p;
}


/* ms count ids, of those that follow one another and have the same */

static ngx_uint_t
ngx_queues_store_failed_args(ngx_str_t *args, u_char *p,
    ngx_queues_store_settle_t *settle)
{
    ngx_str_t                   id, *ids;
    ngx_uint_t                  i, n;
    ngx_queues_store_failed_t  *f;

    if (settle->undo) {
        return 0;
    }

    n = 0;
    ids = NULL;

    for (i = 0; i < settle->nfailed; i++) {
        f = &settle->failed[i];

        if (i && f[-1].ms == f->ms && f[-1].count == f->count) {
            *p++ = ' ';

        } else {
            p = ngx_queues_store_number_arg(&args[n++], p, (int64_t) f->ms);
            p = ngx_queues_store_number_arg(&args[n++], p,
                                            (int64_t) f->count);
            ids = &args[n++];
            ids->data = p;
        }

        p = ngx_queues_store_spot_arg(&id, p, &f->spot);
        ids->len = p - ids->data;
    }

    return n;
}


static ngx_int_t
ngx_queues_store_claim_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    if (ngx_queues_store_claimed(call, reply, 0, result) != NGX_OK
        || result->claim == NGX_QUEUES_STORE_CLAIM_NONE)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* settled, and what came of the claim */

static ngx_int_t
ngx_queues_store_settle_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t  settled;

    if (ngx_queues_store_claimed(call, reply, 1, result) != NGX_OK) {
        return NGX_ERROR;
    }

    /* one that was settled before is settled as well */

    return ngx_queues_store_integer(&reply->elts[0], &settled);
}


/* code now, and what goes with the code */

ngx_int_t
ngx_queues_store_claimed(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_uint_t from,
    ngx_queues_store_result_t *result)
{
    uint64_t                   code;
    ngx_uint_t                 n;
    ngx_queues_redis_reply_t  *elt;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts < from + NGX_QUEUES_STORE_CLAIM_ELTS)
    {
        return NGX_ERROR;
    }

    elt = reply->elts + from;

    if (ngx_queues_store_unsigned(&elt[0], &code) != NGX_OK
        || ngx_queues_store_unsigned(&elt[1], &result->now) != NGX_OK
        || (!call->claims && code != NGX_QUEUES_STORE_CLAIM_NONE))
    {
        return NGX_ERROR;
    }

    result->claim = (ngx_uint_t) code;

    from += NGX_QUEUES_STORE_CLAIM_ELTS;
    elt += NGX_QUEUES_STORE_CLAIM_ELTS;
    n = reply->nelts - from;

    switch (code) {

    case NGX_QUEUES_STORE_CLAIMED:
        return ngx_queues_store_claimed_messages(reply, from, result);

    case NGX_QUEUES_STORE_CLAIM_LOST:
    case NGX_QUEUES_STORE_CLAIM_NONE:
        return n == 0 ? NGX_OK : NGX_ERROR;

    case NGX_QUEUES_STORE_CLAIM_CHANGED:

        if (ngx_queues_store_jobs_parse(reply, from, result) != NGX_OK
            || result->njobs != 1)
        {
            return NGX_ERROR;
        }

        return NGX_OK;

    case NGX_QUEUES_STORE_CLAIM_FULL:
        return n == 1 ? ngx_queues_store_integer(elt, &result->next)
                      : NGX_ERROR;

    default:
        return NGX_ERROR;
    }
}


/* the queue's visibility, then as receive answers */

static ngx_int_t
ngx_queues_store_claimed_messages(ngx_queues_redis_reply_t *reply,
    ngx_uint_t from, ngx_queues_store_result_t *result)
{
    if (from == reply->nelts
        || ngx_queues_store_integer(&reply->elts[from], &result->visibility)
           != NGX_OK
        || ngx_queues_store_messages_parse(reply, from + 1, result) != NGX_OK
        || result->nmessages > NGX_QUEUES_STORE_BATCH_MAX)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


static void
ngx_queues_store_claim_late(ngx_queues_store_call_t *call,
    ngx_queues_store_result_t *result)
{
    ngx_str_t                   id;
    ngx_uint_t                  i;
    ngx_queues_store_result_t  *r;

    id.data = call->id;
    id.len = NGX_QUEUES_BASE_SHORT_LEN;

    r = result;

    for (i = 0; i == 0 || i < result->nclaims; i++) {

        if (i) {
            r = &result->others[i - 1];
        }

        if (r->nmessages) {
            (void) ngx_queues_store_push_undo(&call->root, &id, r,
                                              ngx_queues_store_undo_done,
                                              NULL);
        }
    }
}


ngx_int_t
ngx_queues_store_push_undo(ngx_str_t *root, ngx_str_t *id,
    ngx_queues_store_result_t *result, ngx_queues_store_done_pt done,
    void *data)
{
    ngx_uint_t                 i;
    ngx_queues_base_spot_t     spots[NGX_QUEUES_STORE_BATCH_MAX];
    ngx_queues_store_settle_t  settle;

    ngx_memzero(&settle, sizeof(ngx_queues_store_settle_t));

    settle.id = *id;
    settle.place = result->place;
    settle.token = result->token;
    settle.undo = 1;
    settle.ok = spots;
    settle.nok = ngx_min(result->nmessages, NGX_QUEUES_STORE_BATCH_MAX);

    for (i = 0; i < settle.nok; i++) {
        spots[i] = result->messages[i].spot;
    }

    return ngx_queues_store_push_settle(root, &settle, NULL, done, data);
}
