
/*
 * Replies to the store's operations of logs, of any shape, as in store.c: what
 * a reply says is in the items of the call and in the result.
 */

#include "store.h"


#define FUZZ_ITEMS  6
#define FUZZ_ACKS   4
#define FUZZ_BATCH  6
#define FUZZ_NONE   NGX_QUEUES_STORE_LOG_NONE

#define FUZZ_SHORTAGES  24    /* allocations of a call, more or less */

#include "scarce.h"


/* the third one's id is that of the first */

static ngx_queues_store_log_item_t  fuzz_items[FUZZ_ITEMS];
static ngx_queues_store_log_ack_t   fuzz_acks[FUZZ_ACKS];

static ngx_uint_t  fuzz_lanes[3][4] = {
    { 0, 1, 5, FUZZ_NONE }, { 3, FUZZ_NONE }, { 4, FUZZ_NONE }
};

static ngx_uint_t  fuzz_sets[2][4] = {
    { 0, 1, 3, FUZZ_NONE }, { 2, FUZZ_NONE }
};


static void
fuzz_prepare(void)
{
    ngx_uint_t  i;

    memset(fuzz_items, 0xee, sizeof(fuzz_items));
    memset(fuzz_acks, 0xee, sizeof(fuzz_acks));

    for (i = 0; i < FUZZ_ITEMS; i++) {
        fuzz_items[i].queue = (i == 4) ? fuzz_root : fuzz_ref;
        fuzz_items[i].lane = (i == 3) ? fuzz_root : fuzz_ref;
        fuzz_items[i].sealed = (i == 4);
        fuzz_items[i].payload = fuzz_ref;
        fuzz_items[i].trace = fuzz_ref;
        fuzz_items[i].id.data = (u_char *) "012345" + i;
        fuzz_items[i].id.len = 1;
    }

    fuzz_items[2].id = fuzz_items[0].id;

    for (i = 0; i < FUZZ_ACKS; i++) {
        fuzz_acks[i].place.queue = 7;
        fuzz_acks[i].place.lane = (i == 2);
        fuzz_acks[i].status = NGX_QUEUES_STORE_LOG_FAILED;
        fuzz_acks[i].group = fuzz_ref;
        fuzz_acks[i].id = fuzz_ref;
        fuzz_acks[i].lease.len = 0;
        fuzz_acks[i].error.len = 0;
    }

    fuzz_acks[1].error = fuzz_ref;
}


static void
fuzz_lane(char **p, ngx_queues_store_lane_t *place)
{
    fuzz_short_id(p, place->queue);
    fuzz_assert(fuzz_char(p, ':'));
    fuzz_assert(place->lane == fuzz_decimal(p));
    fuzz_assert(place->lane < 1ULL << 40);
    fuzz_assert(fuzz_char(p, ':'));
}


static void
fuzz_pushed(ngx_queues_redis_reply_t *elt, ngx_uint_t *members)
{
    char                         *text, *p, *next;
    uint64_t                      ms, offset;
    ngx_uint_t                    k;
    ngx_queues_store_log_item_t  *item;

    text = fuzz_string(&elt->str);
    p = text;

    fuzz_lane(&p, &fuzz_items[members[0]].place);
    ms = fuzz_decimal(&p);
    fuzz_assert(fuzz_char(&p, ':'));
    offset = fuzz_decimal(&p);

    for (k = 0; members[k] != FUZZ_NONE; k++) {
        item = &fuzz_items[members[k]];

        fuzz_assert(item->place.lane == fuzz_items[members[0]].place.lane
                    && item->place.queue
                       == fuzz_items[members[0]].place.queue);

        if (*p == ' ' && isdigit(p[1]) && strtoull(p + 1, &next, 10) == k) {
            p = next;

            fuzz_assert(item->duplicate);
            fuzz_assert(fuzz_char(&p, ':') && item->offset == fuzz_decimal(&p));
            fuzz_assert(fuzz_char(&p, ':') && item->ms == fuzz_decimal(&p));

        } else {
            fuzz_assert(!item->duplicate && item->ms == ms
                        && item->offset == offset++);
        }
    }

    (void) fuzz_char(&p, ' ');
    fuzz_assert(*p == '\0');

    free(text);
}


static void
fuzz_pushes(ngx_queues_redis_reply_t *elts)
{
    ngx_uint_t  i;

    for (i = 0; i < 3; i++) {
        fuzz_pushed(&elts[i], fuzz_lanes[i]);
    }

    fuzz_assert(fuzz_items[2].duplicate
                && fuzz_items[2].ms == fuzz_items[0].ms
                && fuzz_items[2].offset == fuzz_items[0].offset
                && fuzz_items[2].place.lane == fuzz_items[0].place.lane);
}


static void
fuzz_acked(ngx_queues_redis_reply_t *elts)
{
    u_char                      *text;
    ngx_uint_t                   i, k;
    ngx_queues_store_log_ack_t  *ack;

    for (i = 0; i < 2; i++) {
        text = elts[i].str.data;

        for (k = 0; fuzz_sets[i][k] != FUZZ_NONE; k++) {
            ack = &fuzz_acks[fuzz_sets[i][k]];

            fuzz_assert(ack->released == (ngx_uint_t) text[0] - '0'
                        && ack->verdict == text[1 + k]);
            fuzz_assert(ack->released <= 1 && strchr("onaublcdx", text[1 + k]));
        }

        fuzz_assert(elts[i].str.len == 1 + k);
    }
}


/* all messages of the segments, of which some are those of the result */

static ngx_queues_redis_reply_t *
fuzz_popped(ngx_queues_redis_reply_t *elt, ngx_queues_store_log_message_t **m)
{
    char                               *text, *p;
    uint64_t                            first, last, offset, n;
    ngx_str_t                          *name;
    ngx_queues_base_segment_t           segment;
    ngx_queues_store_log_message_t     *begin;
    ngx_queues_base_segment_message_t   message;

    text = fuzz_string(&elt[0].str);
    p = text;
    begin = *m;
    name = &elt[1].str;

    fuzz_lane(&p, &(*m)->place);
    first = fuzz_decimal(&p);
    fuzz_assert(fuzz_char(&p, ':'));
    last = fuzz_decimal(&p);
    fuzz_assert(fuzz_char(&p, ':'));
    offset = fuzz_decimal(&p);
    fuzz_assert(fuzz_char(&p, ':'));
    n = fuzz_decimal(&p);
    fuzz_assert(*p == '\0');

    free(text);

    fuzz_assert(offset <= first && first <= last && last < UINT64_MAX
                && n > 0);

    for (elt += 2; n; n--, elt++) {
        fuzz_assert(ngx_queues_base_segment_open(&segment, &elt->str)
                    == NGX_OK);
        fuzz_assert(offset <= last && offset + segment.left > first);

        while (offset <= last
               && ngx_queues_base_segment_next(&segment, &message) == NGX_OK)
        {
            if (offset++ < first) {
                continue;
            }

            fuzz_assert((*m)->offset == offset - 1
                        && (*m)->ms == segment.ms
                        && (*m)->sealed == segment.sealed
                        && (*m)->place.lane == begin->place.lane
                        && (*m)->place.queue == begin->place.queue
                        && fuzz_same(&(*m)->lane, name)
                        && fuzz_same(&(*m)->producer, &segment.producer)
                        && fuzz_same(&(*m)->id, &message.id)
                        && fuzz_same(&(*m)->trace, &message.trace)
                        && fuzz_same(&(*m)->payload, &message.payload));
            ++*m;
        }
    }

    fuzz_assert(offset == last + 1);

    return elt;
}


static void
fuzz_pops(ngx_queues_store_result_t *result)
{
    ngx_uint_t                       n;
    ngx_queues_redis_reply_t        *elt, *end;
    ngx_queues_store_log_message_t  *m;

    elt = fuzz_call.reply->elts;
    end = elt + fuzz_call.reply->nelts;

    fuzz_assert(result->next == elt[1].integer
                && result->now == (uint64_t) elt[2].integer);
    fuzz_assert(result->log->queue == 0 || elt[0].str.len == 12);

    m = result->log->messages;
    n = 0;

    for (elt += 3; elt < end; n++) {
        elt = fuzz_popped(elt, &m);
    }

    fuzz_assert(elt == end && n == result->log->nlanes);
    fuzz_assert((ngx_uint_t) (m - result->log->messages)
                == result->log->nmessages
                && result->log->nmessages <= FUZZ_BATCH);
}


static void
fuzz_bundle(ngx_queues_store_result_t *result, ngx_queues_redis_reply_t *elts)
{
    char        *text;
    ngx_uint_t   i;

    static const char  *codes[] = { "ok", "LEASE", "DUPLICATE", "ACK" };

    /* the third one is of another partition */

    static ngx_uint_t   numbers[] = { 0, 1, 3, 2 };

    i = result->log->outcome;

    if (i == NGX_QUEUES_STORE_LOG_DONE) {
        fuzz_assert(elts[0].str.len == 2 && elts[0].str.data[0] == 'o');
        fuzz_pushes(elts + 1);
        fuzz_acked(elts + 4);
        return;
    }

    fuzz_assert(elts[1].str.len == strlen(codes[i])
                && memcmp(elts[1].str.data, codes[i], elts[1].str.len) == 0);
    fuzz_assert(fuzz_same(&result->log->detail, &elts[2].str));

    if (i == NGX_QUEUES_STORE_LOG_ACK_REFUSED) {
        text = fuzz_string(&elts[2].str);

        fuzz_assert(strchr("onaublcdx", text[0]) && text[1] == ' ');
        fuzz_assert(atoi(text + 2) >= 0 && atoi(text + 2) < FUZZ_ACKS);
        fuzz_assert(result->index == numbers[atoi(text + 2)]);
        fuzz_assert((char) fuzz_acks[result->index].verdict == text[0]);

        free(text);
    }
}


static void
fuzz_result(void *data, ngx_queues_store_result_t *result)
{
    u_char                     operation;
    ngx_queues_redis_reply_t  *elts;

    operation = *(u_char *) data;
    fuzz_call.results++;

    if (result->code == NGX_QUEUES_STORE_UNAVAILABLE) {
        fuzz_assert(*result->reason);
        return;
    }

    if (result->code == NGX_QUEUES_STORE_LOG_SEAL) {
        fuzz_assert(operation == 'p' || operation == 't');
        fuzz_assert((result->index == 0 && result->limit == 1)
                    || (result->index == 4 && result->limit == 0));
    }

    if (result->code != NGX_QUEUES_STORE_OK) {
        return;
    }

    elts = fuzz_call.reply->elts;

    switch (operation) {

    case 'p':
        fuzz_assert(fuzz_call.reply->nelts == 3);
        fuzz_pushes(elts);
        break;

    case 'a':
        fuzz_assert(fuzz_call.reply->nelts == 2);
        fuzz_acked(elts);
        break;

    case 'o':
    case 'f':
        fuzz_pops(result);
        break;

    case 't':
        fuzz_bundle(result, elts);
        break;

    case 'x':
        fuzz_assert(result->log->renewed == (uint64_t) elts[0].integer
                    && result->log->expires == (uint64_t) elts[1].integer);
        break;
    }
}


static ngx_int_t
fuzz_start(u_char *operation)
{
    ngx_queues_store_log_tx_t    tx;
    ngx_queues_store_log_pop_t   pop;
    ngx_queues_store_log_push_t  push;

    memset(&pop, 0, sizeof(pop));

    push.producer = fuzz_ref;
    push.items = fuzz_items;
    push.nitems = FUZZ_ITEMS;

    switch (*operation) {

    case 'p':
        return ngx_queues_store_log_push(&fuzz_root, &push, fuzz_result,
                                         operation);
    case 'a':
        return ngx_queues_store_log_ack(&fuzz_root, fuzz_acks, FUZZ_ACKS,
                                        fuzz_result, operation);
    case 't':
        tx.push = push;
        tx.acks = fuzz_acks;
        tx.nacks = FUZZ_ACKS;
        tx.leases = &fuzz_ref;
        tx.nleases = 1;

        return ngx_queues_store_log_tx(&fuzz_root, &tx, fuzz_result,
                                       operation);
    case 'o':
        pop.queue = fuzz_ref;

        /* fall through */

    case 'f':
        pop.group = fuzz_ref;
        pop.batch = FUZZ_BATCH;
        pop.lanes = INT64_MAX;
        pop.seconds = INT64_MAX;
        pop.from = NGX_QUEUES_STORE_LOG_FROM_TIME;
        pop.moment = INT64_MAX;

        return ngx_queues_store_log_pop(&fuzz_root, &pop, fuzz_result,
                                        operation);
    case 'x':
        return ngx_queues_store_log_extend(&fuzz_root, &fuzz_ref, INT64_MAX,
                                           fuzz_result, operation);
    default:
        return NGX_DECLINED;
    }
}


static void
fuzz_run(const uint8_t *data, size_t size)
{
    u_char      operation;
    ngx_str_t   bytes;
    ngx_uint_t  late, notes;

    bytes = fuzz_input(data, size, &operation, &late);

    fuzz_prepare();

    fuzz_shortage = fuzz_scarce;

    if (fuzz_start(&operation) == NGX_OK) {
        notes = fuzz_answer(&bytes, late);

        fuzz_assert(fuzz_call.results == 1);
        fuzz_assert(fuzz_call.undone <= (late && strchr("of", operation)));
        fuzz_assert(fuzz_call.durable == (strchr("pt", operation) != NULL));
        fuzz_assert(fuzz_call.notes == notes);
    }

    fuzz_shortage = 0;

    fuzz_assert(fuzz_pools == 0);

    free(bytes.data);
}
