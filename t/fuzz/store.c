
/*
 * Replies to the store's operations, of any shape: the first byte chooses the
 * operation, the rest are bytes from Redis.  Whatever comes, done is called
 * once, with a result that holds what its code promises; messages are those
 * that a second reading of the reply finds, by docs/redis.md.
 */

#include "nginx.h"

#include "../../src/redis/ngx_queues_redis_reply.c"
#include "../../src/redis/ngx_queues_redis_error.c"
#include "../../src/store/ngx_queues_store_call.c"
#include "../../src/store/ngx_queues_store_words.c"
#include "../../src/store/ngx_queues_store_queue.c"
#include "../../src/store/ngx_queues_store_send.c"
#include "../../src/store/ngx_queues_store_receive.c"
#include "../../src/store/ngx_queues_store_fifo.c"
#include "../../src/store/ngx_queues_store_receipt.c"


#define FUZZ_SENT      3
#define FUZZ_RECEIPTS  4


typedef struct {
    ngx_queues_redis_done_pt   done;
    void                      *data;
    ngx_queues_redis_reply_t  *reply;
    ngx_uint_t                 results;
    ngx_uint_t                 undone;
    ngx_uint_t                 durable;
    ngx_uint_t                 notes;     /* that something may be due */
    size_t                     sum;       /* of what was read */
} fuzz_call_t;


static fuzz_call_t  fuzz_call;

static ngx_str_t  fuzz_root = ngx_string("ngxq:{acme/shop}");
static ngx_str_t  fuzz_ref = ngx_string("orders");


static void
fuzz_see(ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {
        fuzz_call.sum += text->data[i];
    }
}


/* in the place of src/redis: keeps the call, and has no link for undo */

ngx_int_t
ngx_queues_redis_call(const char *function, ngx_str_t *key, ngx_str_t *args,
    ngx_uint_t nargs, ngx_queues_redis_done_pt done, void *data)
{
    ngx_uint_t  i;

    fuzz_see(key);

    for (i = 0; i < nargs; i++) {
        fuzz_see(&args[i]);
    }

    if (strcmp(function, "undo") == 0) {
        fuzz_assert(nargs > 3 && nargs <= 3 + NGX_QUEUES_STORE_BATCH_MAX);

        fuzz_call.undone++;
        done(data, NGX_QUEUES_REDIS_DOWN, NULL);
        return NGX_OK;
    }

    fuzz_call.done = done;
    fuzz_call.data = data;

    return NGX_OK;
}


ngx_int_t
ngx_queues_redis_call_durable(const char *function, ngx_str_t *key,
    ngx_str_t *args, ngx_uint_t nargs, ngx_queues_redis_done_pt done,
    void *data)
{
    fuzz_call.durable = 1;

    return ngx_queues_redis_call(function, key, args, nargs, done, data);
}


ngx_int_t
ngx_queues_redis_watch(ngx_str_t *key)
{
    fuzz_see(key);

    return NGX_OK;
}


ngx_uint_t
ngx_queues_redis_ready(void)
{
    return 1;
}


void
ngx_queues_store_maintain_note(ngx_str_t *root)
{
    fuzz_assert(fuzz_same(root, &fuzz_root));

    fuzz_call.notes++;
}


/* as nginx' core has it */

u_char *
ngx_hex_dump(u_char *dst, u_char *src, size_t len)
{
    static u_char  hex[] = "0123456789abcdef";

    while (len--) {
        *dst++ = hex[*src >> 4];
        *dst++ = hex[*src++ & 0xf];
    }

    return dst;
}


/* the second reading: of texts that were accepted, so nothing is refused */

static char *
fuzz_string(ngx_str_t *text)
{
    char  *s;

    s = (char *) fuzz_alloc(text->len + 1);

    memcpy(s, text->data, text->len);
    s[text->len] = '\0';

    return s;
}


static uint64_t
fuzz_decimal(char **p)
{
    fuzz_assert(isdigit(**p));

    return strtoull(*p, p, 10);
}


/* the next character, if it is this one */

static ngx_uint_t
fuzz_char(char **p, char c)
{
    if (**p != c) {
        return 0;
    }

    ++*p;

    return 1;
}


static void
fuzz_spot(char **p, ngx_queues_base_spot_t *spot)
{
    fuzz_assert(spot->kind == (fuzz_char(p, 'z')
                               ? NGX_QUEUES_BASE_SPOT_DELAYED
                               : NGX_QUEUES_BASE_SPOT_NEW));
    fuzz_assert(spot->major == fuzz_decimal(p));
    fuzz_assert(fuzz_char(p, '-'));
    fuzz_assert(spot->minor == fuzz_decimal(p));
}


static void
fuzz_short_id(char **p, uint64_t id)
{
    u_char  text[NGX_QUEUES_BASE_SHORT_LEN];

    ngx_queues_base_short_print(text, id);

    fuzz_assert(strncmp(*p, (char *) text, sizeof(text)) == 0);

    *p += sizeof(text);
}


/* returns the end */

static char *
fuzz_origin(char *p, ngx_queues_store_origin_t *origin)
{
    fuzz_short_id(&p, origin->place.queue);
    fuzz_assert(fuzz_char(&p, ','));
    fuzz_assert(origin->place.generation == fuzz_decimal(&p));
    fuzz_assert(fuzz_char(&p, ','));
    fuzz_spot(&p, &origin->spot);

    /* a comma without anything after it does no harm */

    if (!fuzz_char(&p, ',') || *p == '\0' || *p == ':') {
        fuzz_assert(origin->source == 0 && origin->receives == 0
                    && origin->moved == 0);
        return p;
    }

    fuzz_short_id(&p, origin->source);
    fuzz_assert(fuzz_char(&p, ','));
    fuzz_assert(origin->receives == fuzz_decimal(&p));
    fuzz_assert(fuzz_char(&p, ','));
    fuzz_assert(origin->moved == fuzz_decimal(&p));

    return p;
}


static void
fuzz_here(ngx_queues_store_result_t *result, ngx_queues_store_origin_t *origin)
{
    fuzz_assert(origin->place.queue == result->place.queue
                && origin->place.generation == result->place.generation
                && origin->source == 0 && origin->receives == 0
                && origin->moved == 0);
}


/* ":count:first", or those of a first receive now */

static void
fuzz_receives(char **p, uint64_t now, ngx_queues_store_message_t *m)
{
    uint64_t  count, first;

    count = 1;
    first = now;

    if (fuzz_char(p, ':') && isdigit(**p)) {
        count = fuzz_decimal(p);
        fuzz_assert(fuzz_char(p, ':'));
        first = fuzz_decimal(p);
    }

    fuzz_assert(m->count == count && m->first == first);
}


/* a word of a standard queue; returns how many elements its message has */

static ngx_uint_t
fuzz_standard_word(char **p, uint64_t now, ngx_queues_redis_reply_t *elts,
    ngx_queues_store_result_t *result, ngx_queues_store_message_t *m)
{
    char        *s, *origin;
    ngx_uint_t   n;

    fuzz_spot(p, &m->spot);
    fuzz_receives(p, now, m);

    n = 0;
    fuzz_assert(fuzz_same(&m->body, &elts[n++].str));
    fuzz_assert(m->group.len == 0);

    if (fuzz_char(p, 'a')) {
        fuzz_assert(fuzz_same(&m->attributes, &elts[n++].str));

    } else {
        fuzz_assert(m->attributes.len == 0);
    }

    if (fuzz_char(p, 'o')) {
        origin = fuzz_string(&elts[n++].str);
        s = fuzz_origin(origin, &m->origin);
        fuzz_assert(*s == '\0');
        free(origin);

    } else {
        fuzz_here(result, &m->origin);
        fuzz_assert(memcmp(&m->origin.spot, &m->spot, sizeof(m->spot)) == 0);
    }

    return n;
}


/* what was moved is as its origin says, else as the start of its value */

static void
fuzz_fifo_value(ngx_str_t *value, ngx_queues_store_result_t *result,
    ngx_queues_store_message_t *m)
{
    char        *s, *sent, *p;
    ngx_uint_t   i;

    s = fuzz_string(value);
    sent = s;
    p = s;

    /* anything can be between these, also what ends a string */

    for (i = 0; i < 2; i++) {
        p = memchr(p, ':', s + value->len - p);
        fuzz_assert(p++);
    }

    fuzz_assert(m->body.len == fuzz_decimal(&p));
    fuzz_assert(fuzz_char(&p, ':'));

    if (*p == ':') {
        fuzz_here(result, &m->origin);
        fuzz_spot(&sent, &m->origin.spot);
        fuzz_assert(*sent == ':');

    } else {
        p = fuzz_origin(p, &m->origin);
    }

    fuzz_assert(fuzz_char(&p, ':'));

    fuzz_assert(m->body.data == value->data + (p - s));
    fuzz_assert(m->attributes.data == m->body.data + m->body.len);
    fuzz_assert(m->attributes.data + m->attributes.len
                == value->data + value->len);

    free(s);
}


/* a word of a FIFO queue: a group and messages that follow one another */

static ngx_uint_t
fuzz_fifo_word(char **p, uint64_t now, ngx_queues_redis_reply_t *elts,
    ngx_queues_store_result_t *result, ngx_queues_store_message_t *m)
{
    uint64_t     group, seq, from, to;
    char        *after;
    ngx_str_t   *name;
    ngx_uint_t   n;

    group = fuzz_decimal(p);
    fuzz_assert(fuzz_char(p, ':'));
    from = fuzz_decimal(p);
    fuzz_assert(fuzz_char(p, ':'));
    to = fuzz_decimal(p);

    /* what fits into a handle */

    fuzz_assert(group < 1ULL << 48 && from <= to && to < 1ULL << 48);

    after = *p;
    name = &elts[0].str;
    n = 1;

    for (seq = from; seq <= to; seq++, m++) {
        fuzz_assert(m->spot.kind == NGX_QUEUES_BASE_SPOT_FIFO
                    && m->spot.major == group && m->spot.minor == seq);
        fuzz_assert(fuzz_same(&m->group, name));

        *p = after;
        fuzz_receives(p, now, m);

        fuzz_fifo_value(&elts[n++].str, result, m);
    }

    return n;
}


static void
fuzz_messages(ngx_queues_store_result_t *result)
{
    char                        *text, *p;
    uint64_t                     now;
    ngx_uint_t                   fifo, n;
    ngx_queues_redis_reply_t    *elt, *last;
    ngx_queues_store_message_t  *m;

    elt = fuzz_call.reply->elts;
    last = elt + fuzz_call.reply->nelts;

    fuzz_assert(result->place.generation == (uint64_t) elt[1].integer
                && result->wait == elt[2].integer
                && result->next == elt[3].integer);

    text = fuzz_string(&elt[4].str);
    p = text;

    fifo = fuzz_char(&p, 'f');
    now = fuzz_decimal(&p);
    (void) fuzz_char(&p, ' ');

    m = result->messages;

    for (elt += 5; elt < last; elt += n) {
        if (fifo) {
            n = fuzz_fifo_word(&p, now, elt, result, m);
            m += n - 1;

        } else {
            n = fuzz_standard_word(&p, now, elt, result, m);
            m++;
        }

        fuzz_assert(n <= (ngx_uint_t) (last - elt));
        fuzz_assert(fuzz_char(&p, ' ') || elt + n == last);
    }

    /* all of the reply was used */

    fuzz_assert(*p == '\0');
    fuzz_assert((ngx_uint_t) (m - result->messages) == result->nmessages);

    free(text);
}


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
        fuzz_messages(result);
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
        }

        break;

    case 'l':
        fuzz_assert(fuzz_call.reply->nelts == 1 + 14 * result->nqueues);
        fuzz_assert(result->more == (elts[0].integer != 0));
        fuzz_queues(result, elts + 1);
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


/*
 * As src/redis does, the late reply of a call that timed out, too.  Returns
 * how many notes there should be.
 */

static ngx_uint_t
fuzz_answer(ngx_str_t *bytes, ngx_uint_t late)
{
    ngx_queues_redis_reply_t   *reply;
    ngx_queues_redis_reader_t  *reader;
    ngx_queues_redis_result_e   rc;

    if (late) {
        fuzz_call.done(fuzz_call.data, NGX_QUEUES_REDIS_TIMEOUT, NULL);
        fuzz_assert(fuzz_call.results == 1);
    }

    reader = ngx_queues_redis_reader_create(&fuzz_log);

    if (ngx_queues_redis_reader_feed(reader, bytes->data, bytes->len) != NGX_OK
        || ngx_queues_redis_reader_next(reader, &reply) != NGX_OK)
    {
        rc = NGX_QUEUES_REDIS_LOST;
        reply = NULL;

    } else if (reply->type == NGX_QUEUES_REDIS_ERROR) {
        rc = ngx_queues_redis_error_parse(&reply->str);

        if (rc != NGX_QUEUES_REDIS_APP) {
            ngx_queues_redis_reply_free(reply);
            reply = NULL;
        }

    } else {
        rc = NGX_QUEUES_REDIS_OK;
    }

    fuzz_call.reply = reply;
    fuzz_call.done(fuzz_call.data, rc, reply);

    ngx_queues_redis_reader_free(reader);

    return rc == NGX_QUEUES_REDIS_OK || rc == NGX_QUEUES_REDIS_LOST;
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

    /* a capital letter: its reply comes late */

    operation = tolower(data[0]);
    late = (operation != data[0]);

    bytes = fuzz_copy(data + 1, size - 1);

    memset(&fuzz_call, 0, sizeof(fuzz_call));

    if (fuzz_start(&operation) == NGX_OK) {
        notes = fuzz_answer(&bytes, late);

        fuzz_assert(fuzz_call.results == 1);
        fuzz_assert(fuzz_call.undone <= (late && operation == 'r'));
        fuzz_assert(fuzz_call.durable == (strchr("sef", operation) != NULL));

        /* reading makes nothing due, and undo was not executed */

        notes = strchr("gnlk", operation) ? 0 : notes;
        fuzz_assert(fuzz_call.notes == notes);
    }

    fuzz_assert(fuzz_pools == 0);

    free(bytes.data);

    return 0;
}
