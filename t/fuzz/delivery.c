
/*
 * Replies to the store's operations of push, of any shape, as in store.c:
 * what a reply says is in the result, and nothing that would not fit.
 */

#include "store.h"

#include "../../src/store/ngx_queues_store_subscription.c"
#include "../../src/store/ngx_queues_store_delivery.c"
#include "../../src/store/ngx_queues_store_done.c"
#include "../../src/store/ngx_queues_store_message.c"


#define FUZZ_CLAIMS     3     /* of one call */
#define FUZZ_SHORTAGES  32    /* allocations of a call, more or less */

#include "scarce.h"


static ngx_str_t   fuzz_id = ngx_string("0123456789ab");


static ngx_uint_t
fuzz_is_short(ngx_str_t *id)
{
    uint64_t  n;

    return ngx_queues_base_short_parse(id, &n) == NGX_OK;
}


/* from an element on, to the end */

static void
fuzz_subscriptions(ngx_queues_store_result_t *result, ngx_uint_t from)
{
    ngx_uint_t                        i;
    ngx_queues_redis_reply_t         *elt;
    ngx_queues_store_subscription_t  *s;

    fuzz_assert(fuzz_call.reply->nelts == from + 21 * result->nsubscriptions);

    elt = fuzz_call.reply->elts + from;

    for (i = 0; i < result->nsubscriptions; i++) {
        s = &result->subscriptions[i];

        fuzz_assert(fuzz_is_short(&s->id) && fuzz_is_short(&s->queue));

        fuzz_assert(fuzz_same(&s->id, &elt[0].str)
                    && fuzz_same(&s->uuid, &elt[1].str)
                    && fuzz_same(&s->queue, &elt[2].str)
                    && fuzz_same(&s->queue_uuid, &elt[3].str)
                    && fuzz_same(&s->queue_name, &elt[4].str)
                    && fuzz_same(&s->target.url, &elt[5].str)
                    && s->target.timeout == elt[6].integer
                    && s->target.batch == elt[7].integer
                    && s->target.concurrency == elt[8].integer
                    && s->paused == (elt[9].str.data[0] == 'p')
                    && s->created == elt[10].integer
                    && s->updated == elt[11].integer);

        fuzz_assert(s->failing == (elt[12].integer != 0)
                    && s->last_success == elt[13].integer
                    && s->failed_at == elt[14].integer
                    && fuzz_same(&s->class, &elt[15].str)
                    && s->status == elt[16].integer
                    && fuzz_same(&s->message, &elt[17].str)
                    && s->deliveries == elt[18].integer
                    && s->failures == elt[19].integer
                    && s->messages == elt[20].integer);

        elt += 21;
    }
}


static void
fuzz_jobs(ngx_queues_store_result_t *result, ngx_uint_t from)
{
    ngx_uint_t                 i;
    ngx_queues_redis_reply_t  *elt;
    ngx_queues_store_job_t    *job;

    fuzz_assert(fuzz_call.reply->nelts == from + 10 * result->njobs);

    elt = fuzz_call.reply->elts + from;

    for (i = 0; i < result->njobs; i++) {
        job = &result->jobs[i];

        fuzz_assert(fuzz_is_short(&job->id) && fuzz_is_short(&job->queue)
                    && job->target.timeout > 0 && job->target.batch > 0
                    && job->target.batch <= NGX_QUEUES_STORE_BATCH_MAX
                    && job->target.concurrency > 0);

        fuzz_assert(fuzz_same(&job->id, &elt[0].str)
                    && fuzz_same(&job->queue, &elt[1].str)
                    && job->fence == (uint64_t) elt[2].integer
                    && job->version == (uint64_t) elt[3].integer
                    && fuzz_same(&job->target.url, &elt[4].str)
                    && job->target.timeout == elt[5].integer
                    && job->target.batch == elt[6].integer
                    && job->target.concurrency == elt[7].integer
                    && fuzz_same(&job->secrets, &elt[8].str)
                    && job->window == (ngx_uint_t) elt[9].integer);

        elt += 10;
    }
}


static void
fuzz_join(ngx_queues_store_result_t *result)
{
    ngx_uint_t                 i;
    ngx_queues_redis_reply_t  *elt;

    elt = fuzz_call.reply->elts;

    fuzz_assert(result->since == (uint64_t) elt[0].integer
                && result->more == (elt[1].integer != 0)
                && result->next == elt[2].integer
                && result->nworkers == (ngx_uint_t) elt[3].integer);
    fuzz_assert(fuzz_call.reply->nelts == 4 + result->nworkers
                                          + 2 * result->npushes);
    elt += 4;

    for (i = 0; i < result->nworkers; i++) {
        fuzz_assert(fuzz_same(&result->workers[i], &elt++->str));
    }

    for (i = 0; i < result->npushes; i++) {
        fuzz_assert(fuzz_same(&result->pushes[i].root, &elt++->str));
        fuzz_assert(result->pushes[i].active == elt++->integer);
    }
}


static void
fuzz_sync(ngx_queues_store_result_t *result)
{
    ngx_uint_t                 i;
    ngx_queues_redis_reply_t  *elt;

    elt = fuzz_call.reply->elts;

    fuzz_assert(result->active == elt[0].integer
                && result->owned == elt[1].integer
                && result->free == elt[2].integer
                && result->renewed == (elt[3].integer != 0)
                && result->next == elt[4].integer
                && result->nreleased == (ngx_uint_t) elt[5].integer);

    for (i = 0; i < result->nreleased; i++) {
        fuzz_assert(fuzz_same(&result->released[i], &elt[6 + i].str));
    }

    fuzz_jobs(result, 6 + result->nreleased);
}


/* what messages become in a delivery has the room that it says */

static void
fuzz_json(ngx_queues_store_result_t *result)
{
    size_t       len;
    u_char      *text, *p;
    ngx_uint_t   i;

    for (i = 0; i < result->nmessages; i++) {
        len = ngx_queues_store_message_length(&result->messages[i]);

        text = fuzz_alloc(36 + len);

        p = ngx_queues_store_message_id(text,
                                        &result->messages[i].origin.place,
                                        &result->messages[i].origin.spot);
        fuzz_assert(p == text + 36);

        p = ngx_queues_store_message_print(p, &result->messages[i]);
        fuzz_assert(p > text + 36 && p <= text + 36 + len);

        p = ngx_queues_store_message_print_count(p, &result->messages[i]);
        fuzz_assert(p > text + 36 && p <= text + 36 + len);

        free(text);
    }
}


static void
fuzz_claim(ngx_queues_store_result_t *result, ngx_uint_t from)
{
    ngx_queues_redis_reply_t  *elt;

    elt = fuzz_call.reply->elts + from;

    fuzz_assert(result->claim == (ngx_uint_t) elt[0].integer
                && result->now == (uint64_t) elt[1].integer);
    fuzz_assert(result->nmessages <= NGX_QUEUES_STORE_BATCH_MAX);
    fuzz_assert(result->njobs == (result->claim == 2));

    switch (result->claim) {

    case 0:
        fuzz_assert(result->visibility == elt[2].integer);
        fuzz_messages(result, from + 3);
        fuzz_json(result);
        break;

    case 2:
        fuzz_jobs(result, from + 2);
        break;

    case 3:
        fuzz_assert(result->next == elt[2].integer);
        break;

    default:
        fuzz_assert(result->claim == 1
                    || (result->claim == 4 && (from || result->nclaims)));
        break;
    }
}


/* of push_done: each as that of a claim, in its part of the reply */

static void
fuzz_claims(ngx_queues_store_result_t *result)
{
    ngx_uint_t                 i, from;
    ngx_queues_redis_reply_t  *whole, part;

    whole = fuzz_call.reply;

    fuzz_assert(result->nclaims >= 1 && result->nclaims <= FUZZ_CLAIMS);

    for (i = 0, from = 1; i < result->nclaims; i++) {
        part = *whole;
        part.elts += from + 1;
        part.nelts = (ngx_uint_t) whole->elts[from].integer;

        fuzz_call.reply = &part;
        fuzz_claim(i ? &result->others[i - 1] : result, 0);
        fuzz_call.reply = whole;

        from += 1 + part.nelts;
    }

    fuzz_assert(from == whole->nelts);
}


static void
fuzz_good(u_char operation, ngx_queues_store_result_t *result)
{
    ngx_queues_redis_reply_t  *elts;

    elts = fuzz_call.reply->elts;

    switch (operation) {

    case 'c':
    case 'o':
    case 'p':
    case 'u':
    case 'r':
        fuzz_assert(result->nsubscriptions == 1);
        fuzz_assert(result->active == elts[0].integer
                    && result->repeated == (elts[1].integer != 0));
        fuzz_subscriptions(result, 2);
        break;

    case 'g':
        fuzz_assert(result->nsubscriptions == 1);
        fuzz_subscriptions(result, 0);
        break;

    case 'l':
        fuzz_assert(result->more == (elts[0].integer != 0));
        fuzz_subscriptions(result, 1);
        break;

    case 'd':
        fuzz_assert(result->active == fuzz_call.reply->integer);
        break;

    case 'j':
        fuzz_join(result);
        break;

    case 's':
        fuzz_sync(result);
        break;

    case 'm':
        fuzz_claim(result, 0);
        break;

    case 'e':
        fuzz_claim(result, 1);
        break;

    case 'h':
        fuzz_claims(result);
        break;

    case 'f':
        fuzz_claim(result, 1);
        fuzz_assert(result->claim == NGX_QUEUES_STORE_CLAIM_NONE);
        break;
    }

    /*
     * these wait for all to know, where there is something to be known, and
     * memory for it
     */

    fuzz_assert(fuzz_call.told == (strchr("copd", operation)
                                   && result->active >= 0)
                || (fuzz_call.told == 0 && fuzz_scarce));
}


static void
fuzz_result(void *data, ngx_queues_store_result_t *result)
{
    fuzz_call.results++;

    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        fuzz_assert(*result->reason);
        return;
    }

    if (result->code == NGX_QUEUES_STORE_OK) {
        fuzz_good(*(u_char *) data, result);
    }
}


/* the longest arguments */

static ngx_int_t
fuzz_settle(u_char *operation, ngx_queues_store_claim_t *claim)
{
    ngx_uint_t                 i;
    ngx_queues_base_spot_t     ok[5];
    ngx_queues_store_settle_t  settle;
    ngx_queues_store_failed_t  failed[5];

    memset(&settle, 0, sizeof(settle));
    memset(failed, 0, sizeof(failed));

    for (i = 0; i < 5; i++) {
        ok[i].kind = NGX_QUEUES_BASE_SPOT_DELAYED;
        ok[i].major = UINT64_MAX;
        ok[i].minor = UINT64_MAX;

        failed[i].spot = ok[i];
        failed[i].count = INT64_MAX;
        failed[i].ms = INT64_MAX - i / 2;
    }

    settle.id = fuzz_id;
    settle.place.queue = NGX_QUEUES_BASE_SHORT_MASK;
    settle.place.generation = INT64_MAX;
    settle.token = INT64_MAX;
    settle.success = (*operation == 'f');
    settle.class = fuzz_ref;
    settle.status = INT64_MAX;
    settle.message = fuzz_ref;
    settle.window = INT64_MAX;
    settle.ok = ok;
    settle.nok = 5;
    settle.failed = failed;
    settle.nfailed = 5;

    return ngx_queues_store_push_settle(&fuzz_root, &settle, claim,
                                        fuzz_result, operation);
}


static ngx_int_t
fuzz_handled(u_char *operation, ngx_queues_store_claim_t *claim)
{
    ngx_uint_t                  i;
    ngx_queues_base_spot_t      ok[NGX_QUEUES_STORE_BATCH_MAX];
    ngx_queues_store_handled_t  handled;

    for (i = 0; i < NGX_QUEUES_STORE_BATCH_MAX; i++) {
        ok[i].kind = NGX_QUEUES_BASE_SPOT_DELAYED;
        ok[i].major = UINT64_MAX;
        ok[i].minor = UINT64_MAX;
    }

    handled.id = fuzz_id;
    handled.place.queue = NGX_QUEUES_BASE_SHORT_MASK;
    handled.place.generation = INT64_MAX;
    handled.window = INT64_MAX;
    handled.n = NGX_QUEUES_STORE_DONE_MAX;

    for (i = 0; i < NGX_QUEUES_STORE_DONE_MAX; i++) {
        handled.deliveries[i].token = INT64_MAX;
        handled.deliveries[i].ok = ok;
        handled.deliveries[i].nok = NGX_QUEUES_STORE_BATCH_MAX;
    }

    return ngx_queues_store_push_done(&fuzz_root, &handled, claim, FUZZ_CLAIMS,
                                      fuzz_result, operation);
}


static ngx_int_t
fuzz_subscription(u_char *operation)
{
    ngx_queues_store_once_t          once;
    ngx_queues_store_target_t        target;
    ngx_queues_store_subscription_t  s;

    memset(&once, 0xfe, sizeof(once));
    memset(&s, 0, sizeof(s));

    target.url = fuzz_ref;
    target.timeout = INT64_MAX;
    target.batch = INT64_MAX;
    target.concurrency = INT64_MAX;

    s.id = fuzz_id;
    s.uuid = fuzz_ref;
    s.target = target;

    switch (*operation) {

    case 'c':
    case 'o':
        return ngx_queues_store_subscription_create(&fuzz_root, &fuzz_ref, &s,
                                             &fuzz_ref,
                                             *operation == 'o' ? &once : NULL,
                                             fuzz_result, operation);
    case 'g':
        return ngx_queues_store_subscription_get(&fuzz_root, &fuzz_ref,
                                                 fuzz_result, operation);
    case 'l':
        return ngx_queues_store_subscription_list(&fuzz_root, &fuzz_ref,
                                                  &fuzz_ref, 100, fuzz_result,
                                                  operation);
    case 'u':
        return ngx_queues_store_subscription_update(&fuzz_root, &fuzz_ref,
                                                    &target, fuzz_result,
                                                    operation);
    case 'p':
        return ngx_queues_store_subscription_pause(&fuzz_root, &fuzz_ref, 1,
                                                   fuzz_result, operation);
    case 'r':
        return ngx_queues_store_subscription_rotate(&fuzz_root, &fuzz_ref,
                                                    &fuzz_ref, fuzz_result,
                                                    operation);
    case 'd':
        return ngx_queues_store_subscription_delete(&fuzz_root, &fuzz_ref,
                                                    fuzz_result, operation);
    default:
        return NGX_DECLINED;
    }
}


static ngx_int_t
fuzz_start(u_char *operation)
{
    ngx_queues_store_claim_t  claim;

    claim.id = fuzz_id;
    claim.worker = fuzz_ref;
    claim.fence = INT64_MAX;
    claim.version = INT64_MAX;

    switch (*operation) {

    case 'j':
        return ngx_queues_store_push_join(&fuzz_ref, INT64_MAX, 100,
                                          fuzz_result, operation);
    case 'q':
        return ngx_queues_store_push_leave(&fuzz_ref, fuzz_result, operation);

    case 'n':
        return ngx_queues_store_push_note(&fuzz_root, INT64_MAX, fuzz_result,
                                          operation);
    case 's':
        return ngx_queues_store_push_sync(&fuzz_root, &fuzz_ref, 100,
                                          fuzz_result, operation);
    case 'm':
        return ngx_queues_store_push_claim(&fuzz_root, &claim, fuzz_result,
                                           operation);
    case 'e':
        return fuzz_settle(operation, &claim);

    case 'h':
        return fuzz_handled(operation, &claim);

    case 'f':
        return fuzz_settle(operation, NULL);

    default:
        return fuzz_subscription(operation);
    }
}


static void
fuzz_run(const uint8_t *data, size_t size)
{
    u_char      operation;
    ngx_str_t   bytes;
    ngx_uint_t  late, notes;

    bytes = fuzz_input(data, size, &operation, &late);

    fuzz_shortage = fuzz_scarce;

    if (fuzz_start(&operation) == NGX_OK) {
        notes = fuzz_answer(&bytes, late);

        fuzz_assert(fuzz_call.results == 1);
        fuzz_assert(fuzz_call.durable == 0);

        /* messages of late claims go back, and nothing else does */

        fuzz_assert(fuzz_call.undone <= (late && strchr("me", operation))
                    || (late && operation == 'h'
                        && fuzz_call.undone <= FUZZ_CLAIMS));

        /* reading makes nothing due, nor what is of no project */

        notes = strchr("gljqns", operation) ? 0 : notes;
        fuzz_assert(fuzz_call.notes == notes);
    }

    fuzz_shortage = 0;

    fuzz_assert(fuzz_pools == 0);

    free(bytes.data);
}
