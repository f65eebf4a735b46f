
/*
 * Calls of the store's operations of logs, with any items: what they are cut
 * into is what a server, written for no speed, expects and puts together again,
 * and what it answers is found in the items.
 *
 * An input is the operation, what the server does, and items of five bytes.
 */

#include "store.h"


#define FUZZ_ITEMS  400      /* at most */
#define FUZZ_CHUNK  16384


typedef struct {
    ngx_str_t   *arg;
    ngx_str_t   *last;
} fuzz_args_t;


static ngx_queues_store_log_item_t  fuzz_items[FUZZ_ITEMS];
static ngx_queues_store_log_ack_t   fuzz_acks[FUZZ_ITEMS];
static ngx_uint_t                   fuzz_nitems, fuzz_nacks;
static ngx_uint_t                   fuzz_bundle;
static ngx_uint_t                   fuzz_stored;   /* some were pushed before */

static u_char                       fuzz_ids[FUZZ_ITEMS][8];
static ngx_str_t                    fuzz_producer = ngx_string("she");
static u_char                       fuzz_payload[FUZZ_CHUNK * 2];

/* what the server has made of an item: the first of its id, or itself */

static ngx_uint_t                   fuzz_first[FUZZ_ITEMS];
static uint64_t                     fuzz_offsets[FUZZ_ITEMS];
static ngx_uint_t                   fuzz_lanes[FUZZ_ITEMS];
static ngx_uint_t                   fuzz_known[FUZZ_ITEMS];
static u_char                       fuzz_seen[FUZZ_ITEMS];
static ngx_uint_t                   fuzz_sets[FUZZ_ITEMS];

/* the reply */

static u_char                       fuzz_out[FUZZ_ITEMS * 100];
static u_char                      *fuzz_end;
static ngx_uint_t                   fuzz_elts;


static ngx_str_t *
fuzz_arg(fuzz_args_t *args)
{
    fuzz_assert(args->arg < args->last);

    return args->arg++;
}


static uint64_t
fuzz_number_of(ngx_str_t *word)
{
    char      *text, *p;
    uint64_t   n;

    text = fuzz_string(word);
    p = text;
    n = fuzz_decimal(&p);

    fuzz_assert(*p == '\0');
    free(text);

    return n;
}


static uint64_t
fuzz_arg_number(fuzz_args_t *args)
{
    return fuzz_number_of(fuzz_arg(args));
}


static void
fuzz_string_out(const char *text, size_t len)
{
    fuzz_end += sprintf((char *) fuzz_end, "$%zu\r\n", len);
    fuzz_end = ngx_cpymem(fuzz_end, text, len);
    fuzz_end = ngx_cpymem(fuzz_end, "\r\n", 2);
    fuzz_elts++;
}


static ngx_uint_t
fuzz_together(ngx_uint_t a, ngx_uint_t b)
{
    return fuzz_same(&fuzz_items[a].queue, &fuzz_items[b].queue)
           && fuzz_same(&fuzz_items[a].lane, &fuzz_items[b].lane);
}


static void
fuzz_firsts(void)
{
    ngx_uint_t  i, k;

    for (i = 0; i < fuzz_nitems; i++) {
        fuzz_seen[i] = 0;

        for (k = 0; k < i; k++) {
            if (fuzz_together(i, k)
                && fuzz_same(&fuzz_items[i].id, &fuzz_items[k].id))
            {
                break;
            }
        }

        fuzz_first[i] = k;
    }
}


/* the next item of the partition that nobody has seen yet */

static ngx_uint_t
fuzz_next(ngx_str_t *queue, ngx_str_t *lane, ngx_uint_t from)
{
    for ( /* void */ ; from < fuzz_nitems; from++) {
        if (!fuzz_seen[from] && fuzz_first[from] == from
            && fuzz_same(&fuzz_items[from].queue, queue)
            && fuzz_same(&fuzz_items[from].lane, lane))
        {
            return from;
        }
    }

    return fuzz_nitems;
}


/* 1 where the ids of all items of a partition were made for the call */

static ngx_uint_t
fuzz_made(ngx_str_t *queue, ngx_str_t *lane)
{
    ngx_uint_t  i;

    for (i = 0; i < fuzz_nitems; i++) {
        if (fuzz_first[i] == i && !fuzz_items[i].made
            && fuzz_same(&fuzz_items[i].queue, queue)
            && fuzz_same(&fuzz_items[i].lane, lane))
        {
            return 0;
        }
    }

    return 1;
}


/*
 * A segment as it is stored, and the hashes of its ids; returns of how many
 * messages it is, to n.
 */

static ngx_uint_t
fuzz_segment(ngx_str_t *hashes, ngx_str_t *text, ngx_uint_t *members,
    ngx_uint_t n)
{
    u_char                              hash[NGX_QUEUES_BASE_FINGERPRINT];
    ngx_uint_t                          k, count;
    ngx_queues_base_segment_t           segment;
    ngx_queues_store_log_item_t        *item;
    ngx_queues_base_segment_message_t   message;

    fuzz_assert(ngx_queues_base_segment_open(&segment, text) == NGX_OK);

    count = segment.left;

    fuzz_assert(count >= 1 && count <= 64 && count <= n);
    fuzz_assert(hashes->len == count * sizeof(hash));
    fuzz_assert(fuzz_same(&segment.producer, &fuzz_producer));
    fuzz_assert(segment.sealed == (fuzz_items[members[0]].sealed != 0));
    fuzz_assert(count == 1 || segment.payloads.len <= FUZZ_CHUNK);

    for (k = 0; k < count; k++) {
        item = &fuzz_items[members[k]];

        fuzz_assert(ngx_queues_base_segment_next(&segment, &message)
                    == NGX_OK);
        fuzz_assert(fuzz_same(&message.id, &item->id));
        fuzz_assert(fuzz_same(&message.trace, &item->trace));
        fuzz_assert(fuzz_same(&message.payload, &item->payload));
        fuzz_assert(ngx_queues_base_fingerprint(hash, &item->lane, &item->id)
                    == NGX_OK);
        fuzz_assert(memcmp(hashes->data + k * sizeof(hash), hash, sizeof(hash))
                    == 0);
    }

    fuzz_assert(ngx_queues_base_segment_next(&segment, &message) == NGX_DONE);

    return count;
}


/* what is told of ids goes on with these two */

static void
fuzz_range(ngx_str_t *told, ngx_uint_t low, ngx_uint_t high)
{
    ngx_uint_t  i;
    ngx_str_t  *ids[2];

    ids[0] = &fuzz_items[low].id;
    ids[1] = &fuzz_items[high].id;

    for (i = 0; i < 2; i++) {
        fuzz_assert(told->len > ids[i]->len
                    && memcmp(told->data, ids[i]->data, ids[i]->len) == 0
                    && told->data[ids[i]->len] == LF);

        told->data += ids[i]->len + 1;
        told->len -= ids[i]->len + 1;
    }
}


/* -1, 0 or 1, byte by byte */

static int
fuzz_order(ngx_uint_t a, ngx_uint_t b)
{
    int         rc;
    ngx_str_t  *x, *y;

    x = &fuzz_items[a].id;
    y = &fuzz_items[b].id;

    rc = memcmp(x->data, y->data, ngx_min(x->len, y->len));

    return rc ? rc : (x->len > y->len) - (x->len < y->len);
}


/* flags, and of ids that do not rise the lowest and the highest; 1: they rise */

static ngx_uint_t
fuzz_flags(ngx_str_t *told, ngx_uint_t made, ngx_uint_t *members, ngx_uint_t n)
{
    ngx_uint_t  k, low, high, rising;

    low = members[0];
    high = members[0];
    rising = (n >= NGX_QUEUES_STORE_LOG_RUN);

    for (k = 1; k < n; k++) {
        if (fuzz_order(members[k], members[k - 1]) <= 0) {
            rising = 0;
        }

        if (fuzz_order(members[k], low) < 0) {
            low = members[k];
        }

        if (fuzz_order(members[k], high) > 0) {
            high = members[k];
        }
    }

    fuzz_assert(told->len && told->data[0] == (u_char)
                ('0' + (fuzz_items[members[0]].sealed != 0) + 2 * made
                 + 4 * rising));

    told->data++;
    told->len--;

    if (n > 1 && !rising) {
        fuzz_range(told, low, high);
    }

    return rising;
}


/*
 * Segments of n messages, which are the members; a large one is in two pieces.
 * Where their ids rise, those of each are told.
 */

static void
fuzz_segments(fuzz_args_t *args, ngx_str_t *told, ngx_uint_t rising,
    ngx_uint_t *members, ngx_uint_t n)
{
    ngx_str_t   hashes, begin, rest, whole;
    ngx_uint_t  count;

    for ( /* void */ ; n; n -= count, members += count) {
        hashes = *fuzz_arg(args);
        begin = *fuzz_arg(args);
        rest = *fuzz_arg(args);

        if (rest.len == 0) {
            count = fuzz_segment(&hashes, &begin, members, n);

        } else {
            fuzz_assert(rest.len > FUZZ_CHUNK / 2);

            whole.len = begin.len + rest.len;
            whole.data = (u_char *) fuzz_alloc(whole.len);

            (void) ngx_cpymem(ngx_cpymem(whole.data, begin.data, begin.len),
                              rest.data, rest.len);

            count = fuzz_segment(&hashes, &whole, members, 1);

            free(whole.data);
        }

        if (rising) {
            fuzz_range(told, members[0], members[count - 1]);
        }
    }

    fuzz_assert(told->len == 0);
}


/* what is for one partition; the k-th one was pushed before where k % 4 is 1 */

static void
fuzz_lane_args(fuzz_args_t *args, ngx_str_t *names, uint64_t nqueues,
    ngx_uint_t number)
{
    char         *text, *p;
    ngx_str_t    *queue, *lane, told;
    uint64_t      n, offset;
    ngx_uint_t    i, k, *members, rising;

    k = fuzz_arg_number(args);
    fuzz_assert(k >= 1 && k <= nqueues);

    queue = &names[k - 1];
    lane = fuzz_arg(args);
    n = fuzz_arg_number(args);

    fuzz_assert(n >= 1 && n <= fuzz_nitems);

    members = (ngx_uint_t *) fuzz_alloc(n * sizeof(ngx_uint_t));
    text = (char *) fuzz_alloc(100 + n * 60);
    p = text;
    offset = 100 * number;

    p += sprintf(p, "%012lu:%lu:17:%lu", (u_long) number % 10,
                 (u_long) number + 1, (u_long) offset);

    told = *fuzz_arg(args);

    for (i = 0, k = 0; k < n; k++, i++) {
        i = fuzz_next(queue, lane, i);

        fuzz_assert(i < fuzz_nitems);

        fuzz_seen[i] = 1;
        fuzz_lanes[i] = number;
        fuzz_known[i] = (fuzz_stored && k % 4 == 1);
        fuzz_offsets[i] = fuzz_known[i] ? k : offset++;
        members[k] = i;

        if (fuzz_known[i]) {
            p += sprintf(p, " %lu:%lu:%lu", (u_long) k, (u_long) k,
                         (u_long) k + 5);
        }
    }

    /* all of them were here */

    fuzz_assert(fuzz_next(queue, lane, 0) == fuzz_nitems);

    rising = fuzz_flags(&told, fuzz_made(queue, lane), members, n);

    fuzz_segments(args, &told, rising, members, n);
    fuzz_string_out(text, p - text);

    free(members);
    free(text);
}


static void
fuzz_push_args(fuzz_args_t *args)
{
    u_char       uuid[NGX_QUEUES_BASE_UUID_SIZE];
    uint64_t     n, id, nlanes;
    ngx_str_t   *names;
    ngx_uint_t   i, k;

    n = fuzz_arg_number(args);
    fuzz_assert(n <= fuzz_nitems);

    names = (ngx_str_t *) fuzz_alloc((n + 1) * sizeof(ngx_str_t));

    for (i = 0; i < n; i++) {
        names[i] = *fuzz_arg(args);

        for (k = 0; k < i; k++) {
            fuzz_assert(!fuzz_same(&names[i], &names[k]));
        }

        fuzz_assert(ngx_queues_base_short_parse(fuzz_arg(args), &id) == NGX_OK
                    && ngx_queues_base_uuid_parse(fuzz_arg(args), uuid)
                       == NGX_OK
                    && id == ngx_queues_base_short_id(uuid));
    }

    nlanes = fuzz_arg_number(args);

    for (i = 0; i < nlanes; i++) {
        fuzz_lane_args(args, names, n, i);
    }

    for (i = 0; i < fuzz_nitems; i++) {
        fuzz_assert(fuzz_seen[i] == (fuzz_first[i] == i));
    }

    free(names);
}


static ngx_uint_t
fuzz_acks_together(ngx_uint_t a, ngx_uint_t b)
{
    return fuzz_acks[a].place.lane == fuzz_acks[b].place.lane
           && fuzz_acks[a].place.queue == fuzz_acks[b].place.queue
           && fuzz_same(&fuzz_acks[a].lease, &fuzz_acks[b].lease)
           && fuzz_same(&fuzz_acks[a].group, &fuzz_acks[b].group);
}


static void
fuzz_set_args(fuzz_args_t *args, ngx_uint_t number)
{
    char         *text;
    u_char        id[NGX_QUEUES_BASE_SHORT_LEN];
    uint64_t      n, nerrors;
    ngx_str_t     statuses, *errors;
    ngx_uint_t    i, k, first;

    for (first = 0; first < fuzz_nacks && fuzz_seen[first]; first++) {
        /* void */
    }

    fuzz_assert(first < fuzz_nacks);

    if (fuzz_bundle) {
        fuzz_assert(fuzz_same(fuzz_arg(args), &fuzz_acks[first].group));
    }

    (void) ngx_queues_base_short_print(id, fuzz_acks[first].place.queue);
    fuzz_assert(memcmp(fuzz_arg(args)->data, id, sizeof(id)) == 0);
    fuzz_assert(fuzz_arg_number(args) == fuzz_acks[first].place.lane);
    fuzz_assert(fuzz_same(fuzz_arg(args), &fuzz_acks[first].lease));

    n = fuzz_arg_number(args);
    statuses = *fuzz_arg(args);
    nerrors = fuzz_arg_number(args);
    errors = args->arg;
    args->arg += 2 * nerrors;

    fuzz_assert(statuses.len == n && nerrors <= n);

    text = (char *) fuzz_alloc(1 + n);
    text[0] = '0' + number % 2;

    for (i = first, k = 0; i < fuzz_nacks; i++) {
        if (!fuzz_acks_together(first, i)) {
            continue;
        }

        fuzz_assert(!fuzz_seen[i] && k < n);
        fuzz_assert(fuzz_same(fuzz_arg(args), &fuzz_acks[i].id));
        fuzz_assert(statuses.data[k] == fuzz_acks[i].status);

        if (fuzz_acks[i].error.len) {
            fuzz_assert(nerrors--);
            fuzz_assert(fuzz_number_of(&errors[0]) == k);
            fuzz_assert(fuzz_same(&errors[1], &fuzz_acks[i].error));
            errors += 2;
        }

        fuzz_seen[i] = 1;
        fuzz_sets[i] = number;
        text[++k] = "onaublcdx"[i % 9];
    }

    fuzz_assert(k == n && nerrors == 0);

    fuzz_string_out(text, 1 + n);
    free(text);
}


static void
fuzz_ack_args(fuzz_args_t *args)
{
    uint64_t    n;
    ngx_uint_t  i;

    memset(fuzz_seen, 0, sizeof(fuzz_seen));

    n = fuzz_arg_number(args);

    for (i = 0; i < n; i++) {
        fuzz_set_args(args, i);
    }

    for (i = 0; i < fuzz_nacks; i++) {
        fuzz_assert(fuzz_seen[i]);
    }
}


static void
fuzz_server(const char *function, ngx_str_t *elts, ngx_uint_t nelts)
{
    fuzz_args_t  args;

    args.arg = elts;
    args.last = elts + nelts;

    if (strcmp(function, "log_ack") != 0) {
        fuzz_firsts();
    }

    if (fuzz_bundle) {
        fuzz_assert(fuzz_arg_number(&args) == 1
                    && fuzz_same(fuzz_arg(&args), &fuzz_ref));
        fuzz_string_out("ok", 2);
    }

    if (strcmp(function, "log_ack") != 0) {
        fuzz_push_args(&args);

    } else {
        fuzz_assert(fuzz_same(fuzz_arg(&args), &fuzz_acks[0].group));
    }

    if (strcmp(function, "log_push") != 0) {
        fuzz_ack_args(&args);
    }

    fuzz_assert(args.arg == args.last);
}


static void
fuzz_result(void *data, ngx_queues_store_result_t *result)
{
    ngx_uint_t                    i, first;
    ngx_queues_store_log_ack_t   *ack;
    ngx_queues_store_log_item_t  *item;

    (void) data;

    fuzz_call.results++;
    fuzz_assert(result->code == NGX_QUEUES_STORE_OK);

    for (i = 0; i < fuzz_nitems; i++) {
        item = &fuzz_items[i];
        first = fuzz_first[i];

        fuzz_assert(item->place.lane == fuzz_lanes[first] + 1);
        fuzz_assert(item->offset == fuzz_offsets[first]);
        fuzz_assert(item->ms == (fuzz_known[first] ? item->offset + 5 : 17));
        fuzz_assert(item->duplicate == (first != i || fuzz_known[i]));
    }

    for (i = 0; i < fuzz_nacks; i++) {
        ack = &fuzz_acks[i];

        fuzz_assert((u_char) ack->verdict == (u_char) "onaublcdx"[i % 9]
                    && ack->released == fuzz_sets[i] % 2);
    }
}


static void
fuzz_text(ngx_str_t *text, const char *from, size_t len)
{
    text->data = (u_char *) from;
    text->len = len;
}


/* queue and lane, id, trace and payload, and how many of them follow */

static void
fuzz_items_make(ngx_str_t *rest)
{
    u_char                        b[5];
    ngx_uint_t                    i, n;
    ngx_queues_store_log_item_t  *item;

    static size_t  sizes[] = { 1, 2, 200, 1000, 8000, FUZZ_CHUNK - 10,
                               FUZZ_CHUNK, FUZZ_CHUNK + 1 };

    while (rest->len >= sizeof(b)) {
        for (i = 0; i < sizeof(b); i++) {
            b[i] = (u_char) fuzz_number(rest, 1);
        }

        for (n = b[4]; n < 256 && fuzz_nitems < FUZZ_ITEMS; n += 2) {
            item = &fuzz_items[fuzz_nitems];

            memset(item, 0xee, sizeof(ngx_queues_store_log_item_t));

            fuzz_text(&item->queue, "aaaaaa", b[0] & 3);
            fuzz_text(&item->lane, "aaaaaa", b[0] >> 2 & 3);
            item->sealed = b[0] & 1;
            item->made = b[1] == 255;

            item->id.data = fuzz_ids[fuzz_nitems];
            item->id.len = sprintf((char *) item->id.data, "%lu",
                                   (u_long) (b[1] + (b[2] & 1) * (n / 2)));

            fuzz_text(&item->trace, "trace", b[3] & 1 ? n % 5 : 0);

            item->payload.data = fuzz_payload + n;
            item->payload.len = sizes[b[3] >> 1 & 7];

            fuzz_nitems++;
        }
    }
}


static void
fuzz_acks_make(ngx_str_t *rest)
{
    u_char                       b[5];
    ngx_uint_t                   i, n;
    ngx_queues_store_log_ack_t  *ack;

    while (rest->len >= sizeof(b)) {
        for (i = 0; i < sizeof(b); i++) {
            b[i] = (u_char) fuzz_number(rest, 1);
        }

        for (n = b[4]; n < 256 && fuzz_nacks < FUZZ_ITEMS; n += 2) {
            ack = &fuzz_acks[fuzz_nacks];

            memset(ack, 0xee, sizeof(ngx_queues_store_log_ack_t));

            ack->place.queue = b[0] & 1;
            ack->place.lane = b[0] >> 1 & 3;

            fuzz_text(&ack->lease, "aaaa", b[1] & 1);
            fuzz_text(&ack->group, "aaaa", fuzz_bundle ? b[1] >> 1 & 1 : 1);
            fuzz_text(&ack->error, "errors", b[2] & 1 ? n % 5 : 0);
            fuzz_text(&ack->id, "identity", b[3] & 7);
            ack->status = "cfrd"[b[3] >> 3 & 3];

            fuzz_nacks++;
        }
    }
}


static ngx_int_t
fuzz_start(u_char operation, ngx_str_t *rest)
{
    ngx_str_t                    half;
    ngx_queues_store_log_tx_t    tx;
    ngx_queues_store_log_push_t  push;

    fuzz_nitems = 0;
    fuzz_nacks = 0;
    fuzz_bundle = 0;

    push.producer = fuzz_producer;
    push.items = fuzz_items;

    switch (operation) {

    case 'p':
        fuzz_items_make(rest);

        push.nitems = fuzz_nitems;

        return ngx_queues_store_log_push(&fuzz_root, &push, fuzz_result, NULL);

    case 'a':
        fuzz_acks_make(rest);

        return fuzz_nacks ? ngx_queues_store_log_ack(&fuzz_root, fuzz_acks,
                                                     fuzz_nacks, fuzz_result,
                                                     NULL)
                          : NGX_DECLINED;
    case 't':
        half.data = rest->data;
        half.len = rest->len / 2;

        rest->data += half.len;
        rest->len -= half.len;

        fuzz_bundle = 1;

        fuzz_items_make(&half);
        fuzz_acks_make(rest);

        push.nitems = fuzz_nitems;

        tx.push = push;
        tx.acks = fuzz_acks;
        tx.nacks = fuzz_nacks;
        tx.leases = &fuzz_ref;
        tx.nleases = 1;

        return ngx_queues_store_log_tx(&fuzz_root, &tx, fuzz_result, NULL);

    default:
        return NGX_DECLINED;
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t      n;
    u_char      operation, head[32];
    ngx_str_t   rest, bytes;
    ngx_uint_t  late;

    if (size < 2 || data[0] == '\0') {
        return 0;
    }

    for (n = 0; n < sizeof(fuzz_payload); n++) {
        fuzz_payload[n] = (u_char) n;
    }

    bytes = fuzz_input(data, size, &operation, &late);
    rest = bytes;

    fuzz_look = fuzz_server;
    fuzz_end = fuzz_out;
    fuzz_elts = 0;
    fuzz_stored = fuzz_number(&rest, 1) & 1;

    if (fuzz_start(operation, &rest) == NGX_OK) {
        free(bytes.data);

        n = sprintf((char *) head, "*%lu\r\n", (u_long) fuzz_elts);

        bytes.len = n + (fuzz_end - fuzz_out);
        bytes.data = fuzz_alloc(bytes.len);

        memcpy(bytes.data, head, n);
        memcpy(bytes.data + n, fuzz_out, fuzz_end - fuzz_out);

        (void) fuzz_answer(&bytes, 0);

        fuzz_assert(fuzz_call.results == 1);
    }

    fuzz_assert(fuzz_pools == 0);

    free(bytes.data);

    return 0;
}
