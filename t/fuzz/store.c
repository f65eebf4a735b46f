
/*
 * Replies to the store's operations, of any shape: the first byte chooses the
 * operation, the rest are bytes from Redis.  Whatever comes, done is called
 * once, with a result that holds what its code promises; messages are those
 * that a second reading of the reply finds, by docs/redis.md.
 */

#include "store.h"

#include "../../src/store/ngx_queues_store_queue.c"
#include "../../src/store/ngx_queues_store_send.c"


#define FUZZ_SENT      3
#define FUZZ_RECEIPTS  4


static void
fuzz_sent(ngx_queues_store_result_t *result)
{
    char                     *text, *p;
    uint64_t                  generation;
    ngx_uint_t                i;
    ngx_queues_store_sent_t  *sent;

    text = fuzz_string(&fuzz_call.reply->str);
    p = text;

    fuzz_short_id(&p, result->place.queue);
    fuzz_assert(fuzz_char(&p, ' '));
    generation = fuzz_decimal(&p);
    fuzz_assert(result->place.generation == generation);

    fuzz_assert(result->nsent == FUZZ_SENT);

    for (i = 0; i < FUZZ_SENT; i++) {
        sent = &result->sent[i];

        fuzz_assert(fuzz_char(&p, ' '));
        fuzz_spot(&p, &sent->spot);

        fuzz_assert(sent->place.queue == result->place.queue);

        if (!fuzz_char(&p, ':') || !isdigit(*p)) {
            fuzz_assert(sent->seq == 0 && !sent->duplicate
                        && sent->place.generation == generation);
            continue;
        }

        fuzz_assert(sent->seq == fuzz_decimal(&p));

        if (fuzz_char(&p, ':') && isdigit(*p)) {
            fuzz_assert(sent->duplicate
                        && sent->place.generation == fuzz_decimal(&p));

        } else {
            fuzz_assert(!sent->duplicate
                        && sent->place.generation == generation);
        }
    }

    (void) fuzz_char(&p, ' ');
    fuzz_assert(*p == '\0');

    free(text);
}


/* of queues that start with these elements */

static void
fuzz_queues(ngx_queues_store_result_t *result, ngx_queues_redis_reply_t *elt)
{
    ngx_uint_t                    i, k;
    ngx_queues_store_queue_t     *queue;
    ngx_queues_store_settings_t  *settings;

    for (i = 0; i < result->nqueues; i++) {
        queue = &result->queues[i];
        settings = &queue->settings;

        fuzz_assert(fuzz_same(&queue->id, &elt[0].str)
                    && fuzz_same(&queue->uuid, &elt[1].str)
                    && fuzz_same(&queue->name, &elt[2].str)
                    && fuzz_same(&queue->kind, &elt[3].str));

        for (k = 0; k < 5; k++) {
            fuzz_assert(settings->values[k] == elt[4 + k].integer);
        }

        fuzz_assert(settings->by_content == elt[9].integer
                    && fuzz_same(&settings->dead_letter, &elt[10].str)
                    && settings->max_receives == elt[11].integer
                    && queue->created == elt[12].integer
                    && queue->updated == elt[13].integer);

        elt += 14;
    }

    fuzz_assert(elt <= fuzz_call.reply->elts + fuzz_call.reply->nelts);
}


static void
fuzz_good(u_char operation, ngx_queues_store_result_t *result)
{
    ngx_uint_t                  i;
    ngx_queues_redis_reply_t   *elts;
    ngx_queues_store_counts_t  *counts;
    ngx_queues_store_totals_t  *totals;

    elts = fuzz_call.reply->elts;
    counts = &result->counts;

    fuzz_assert(result->place.queue <= NGX_QUEUES_BASE_SHORT_MASK);

    switch (operation) {

    case 's':
    case 'e':
    case 'f':
        fuzz_sent(result);
        break;

    case 'r':
    case 'k':
        fuzz_messages(result, 0);
        break;

    case 'a':
    case 'v':
        fuzz_assert(result->nok == FUZZ_RECEIPTS);

        for (i = 0; i < result->nok; i++) {
            fuzz_assert(result->ok[i]
                        == (fuzz_call.reply->str.data[i] == '1'));
        }

        break;

    case 'c':
    case 'o':
    case 'g':
    case 'u':
    case 'n':
        fuzz_assert(result->nqueues == 1);
        fuzz_queues(result, elts);

        if (operation == 'n') {
            elts += 14;

            fuzz_assert(result->more == (elts[0].integer != 0)
                        && counts->visible == elts[1].integer
                        && counts->in_flight == elts[2].integer
                        && counts->delayed == elts[3].integer
                        && counts->oldest == elts[4].integer
                        && counts->sources == elts[5].integer);

            totals = &result->totals;

            fuzz_assert(totals->sent == (uint64_t) elts[6].integer
                        && totals->acknowledged == (uint64_t) elts[7].integer
                        && totals->expired == (uint64_t) elts[8].integer
                        && totals->dead_lettered
                           == (uint64_t) elts[9].integer
                        && elts[6].integer >= 0 && elts[7].integer >= 0
                        && elts[8].integer >= 0 && elts[9].integer >= 0);
        }

        break;

    case 'l':
        fuzz_assert(fuzz_call.reply->nelts == 1 + 14 * result->nqueues);
        fuzz_assert(result->more == (elts[0].integer != 0));
        fuzz_queues(result, elts + 1);
        break;

    case 'd':
        fuzz_assert(result->active == (fuzz_call.reply->nelts
                                       ? elts[1].integer : -1));
        fuzz_assert(fuzz_call.told == (result->active >= 0));
        break;

    case 'w':
        fuzz_assert(result->moved == elts[0].integer
                    && result->remaining == elts[1].integer
                    && result->more == (elts[2].integer != 0));
        break;
    }
}


static void
fuzz_result(void *data, ngx_queues_store_result_t *result)
{
    fuzz_call.results++;

    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        fuzz_assert(*result->reason);
        return;
    }

    if (result->code == NGX_QUEUES_STORE_TOO_BIG) {
        fuzz_assert(result->index < FUZZ_SENT);
    }

    if (result->code == NGX_QUEUES_STORE_OK) {
        fuzz_good(*(u_char *) data, result);
    }
}


static ngx_int_t
fuzz_receipts(u_char *operation)
{
    ngx_uint_t                  i;
    ngx_queues_store_receipt_t  receipts[FUZZ_RECEIPTS];

    memset(receipts, 0, sizeof(receipts));

    for (i = 0; i < FUZZ_RECEIPTS; i++) {
        receipts[i].place.generation = i / 2;
        receipts[i].spot.kind = i % 3;
        receipts[i].spot.major = UINT64_MAX;
        receipts[i].spot.minor = UINT64_MAX;
        receipts[i].token = UINT64_MAX;
        receipts[i].visibility = INT64_MAX;
    }

    return *operation == 'a'
           ? ngx_queues_store_ack(&fuzz_root, receipts, FUZZ_RECEIPTS,
                                  fuzz_result, operation)
           : ngx_queues_store_visibility(&fuzz_root, receipts, FUZZ_RECEIPTS,
                                         fuzz_result, operation);
}


static ngx_int_t
fuzz_send(u_char *operation)
{
    ngx_uint_t               i;
    ngx_queues_store_send_t  messages[FUZZ_SENT];

    memset(messages, 0, sizeof(messages));

    for (i = 0; i < FUZZ_SENT; i++) {
        messages[i].delay = (*operation == 'e') ? (int64_t) i : -1;
        messages[i].length = 100 * (i + 1);
        messages[i].body = fuzz_ref;
        messages[i].group = fuzz_ref;

        if (i) {
            messages[i].id = fuzz_ref;
        }
    }

    return *operation == 'f'
           ? ngx_queues_store_send_fifo(&fuzz_root, &fuzz_ref, messages,
                                        FUZZ_SENT, fuzz_result, operation)
           : ngx_queues_store_send(&fuzz_root, &fuzz_ref, messages, FUZZ_SENT,
                                   fuzz_result, operation);
}


static ngx_int_t
fuzz_start(u_char *operation)
{
    ngx_uint_t                  i;
    ngx_queues_store_once_t     once;
    ngx_queues_store_queue_t    queue;
    ngx_queues_store_receive_t  receive = { -1, 20, 10 };

    memset(&once, 0xfe, sizeof(once));
    memset(&queue, 0, sizeof(queue));
    queue.id = queue.uuid = queue.name = queue.kind = fuzz_ref;
    queue.settings.dead_letter = fuzz_ref;

    /* the longest arguments */

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        queue.settings.values[i] = INT64_MAX;
    }

    queue.settings.by_content = INT64_MAX;
    queue.settings.max_receives = INT64_MAX;

    switch (*operation) {

    case 'c':
    case 'o':
        return ngx_queues_store_queue_create(&fuzz_root, &queue,
                                             *operation == 'o' ? &once : NULL,
                                             fuzz_result, operation);
    case 'g':
        return ngx_queues_store_queue_get(&fuzz_root, &fuzz_ref, fuzz_result,
                                          operation);
    case 'n':
        return ngx_queues_store_queue_count(&fuzz_root, &fuzz_ref,
                                            fuzz_result, operation);
    case 'l':
        return ngx_queues_store_queue_list(&fuzz_root, &fuzz_ref, &fuzz_ref,
                                           10, fuzz_result, operation);
    case 'u':
        return ngx_queues_store_queue_update(&fuzz_root, &fuzz_ref,
                                             &queue.settings, fuzz_result,
                                             operation);
    case 'p':
        return ngx_queues_store_queue_purge(&fuzz_root, &fuzz_ref,
                                            fuzz_result, operation);
    case 'd':
        return ngx_queues_store_queue_delete(&fuzz_root, &fuzz_ref,
                                             fuzz_result, operation);
    case 'w':
        return ngx_queues_store_queue_redrive(&fuzz_root, &fuzz_ref, &fuzz_ref,
                                              100, fuzz_result, operation);
    case 's':
    case 'e':
    case 'f':
        return fuzz_send(operation);

    case 'r':
        return ngx_queues_store_receive(&fuzz_root, &fuzz_ref, &receive,
                                        fuzz_result, operation);
    case 'k':
        return ngx_queues_store_peek(&fuzz_root, &fuzz_ref,
                                     NGX_QUEUES_STORE_PEEK_IN_FLIGHT, 100,
                                     fuzz_result, operation);
    case 'a':
    case 'v':
        return fuzz_receipts(operation);

    default:
        return NGX_DECLINED;
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char      operation;
    ngx_str_t   bytes;
    ngx_uint_t  late, notes;

    if (size == 0 || data[0] == '\0') {
        return 0;
    }

    bytes = fuzz_input(data, size, &operation, &late);

    if (fuzz_start(&operation) == NGX_OK) {
        notes = fuzz_answer(&bytes, late);

        fuzz_assert(fuzz_call.results == 1);
        fuzz_assert(fuzz_call.undone <= (late && operation == 'r'));
        fuzz_assert(fuzz_call.told == 0 || operation == 'd');
        fuzz_assert(fuzz_call.durable == (strchr("sef", operation) != NULL));

        /* reading makes nothing due, and undo was not executed */

        notes = strchr("gnlk", operation) ? 0 : notes;
        fuzz_assert(fuzz_call.notes == notes);
    }

    fuzz_assert(fuzz_pools == 0);

    free(bytes.data);

    return 0;
}
