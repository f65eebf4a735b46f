
/*
 * What the targets of the store's operations share: a call that is answered
 * with any bytes, and a second reading of messages.  For one file of a
 * program.
 */

#ifndef _FUZZ_STORE_H_INCLUDED_
#define _FUZZ_STORE_H_INCLUDED_


#include "nginx.h"

#include "../../src/redis/ngx_queues_redis_reply.c"
#include "../../src/redis/ngx_queues_redis_error.c"
#include "../../src/store/ngx_queues_store_call.c"
#include "../../src/store/ngx_queues_store_words.c"
#include "../../src/store/ngx_queues_store_tell.c"
#include "../../src/store/ngx_queues_store_push.c"
#include "../../src/store/ngx_queues_store_receive.c"
#include "../../src/store/ngx_queues_store_fifo.c"
#include "../../src/store/ngx_queues_store_receipt.c"
#include "../../src/store/ngx_queues_store_log.c"
#include "../../src/store/ngx_queues_store_log_plan.c"
#include "../../src/store/ngx_queues_store_log_range.c"
#include "../../src/store/ngx_queues_store_log_push.c"
#include "../../src/store/ngx_queues_store_log_pop.c"
#include "../../src/store/ngx_queues_store_log_ack.c"
#include "../../src/store/ngx_queues_store_log_tx.c"


typedef struct {
    ngx_queues_redis_done_pt   done;
    void                      *data;
    ngx_queues_redis_reply_t  *reply;
    ngx_uint_t                 results;
    ngx_uint_t                 undone;
    ngx_uint_t                 told;      /* calls of push_note */
    ngx_queues_redis_done_pt   tell;      /* of the one that is open */
    void                      *tell_data;
    ngx_uint_t                 durable;
    ngx_uint_t                 notes;     /* that something may be due */
    size_t                     sum;       /* of what was read */
} fuzz_call_t;


static fuzz_call_t   fuzz_call;

/* who looks at the arguments of a call, if any */
static void        (*fuzz_look)(const char *function, ngx_str_t *args,
                                ngx_uint_t nargs);

static ngx_event_t  *fuzz_timer;             /* the one that runs */

static ngx_str_t  fuzz_root = ngx_string("ngxq:{acme/shop}");
static ngx_str_t  fuzz_ref = ngx_string("orders");

ngx_rbtree_t           ngx_event_timer_rbtree;
volatile ngx_msec_t    ngx_current_msec;


void
ngx_rbtree_insert(ngx_rbtree_t *tree, ngx_rbtree_node_t *node)
{
    fuzz_assert(tree == &ngx_event_timer_rbtree && fuzz_timer == NULL);

    fuzz_timer = ngx_rbtree_data(node, ngx_event_t, timer);
}


void
ngx_rbtree_delete(ngx_rbtree_t *tree, ngx_rbtree_node_t *node)
{
    fuzz_assert(tree == &ngx_event_timer_rbtree
                && fuzz_timer == ngx_rbtree_data(node, ngx_event_t, timer));

    fuzz_timer = NULL;
}


ngx_msec_t
ngx_queues_store_maintain_pause(ngx_uint_t failures, ngx_msec_t max)
{
    fuzz_assert(failures);

    return ngx_min(failures * 1000, max);
}


static void
fuzz_see(ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {
        fuzz_call.sum += text->data[i];
    }
}


/*
 * In the place of src/redis: keeps the call and the one that tells what has
 * come of it, and has no link for what gives messages back.
 */

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
        /* all that the reply has, in one call */

        fuzz_assert(nargs > 3);

        fuzz_call.undone++;
        done(data, NGX_QUEUES_REDIS_DOWN, NULL);
        return NGX_OK;
    }

    if (strcmp(function, "log_undo") == 0 && fuzz_call.done) {
        fuzz_assert(nargs == 1 && args[0].len == NGX_QUEUES_BASE_UUID_LEN);

        fuzz_call.undone++;
        done(data, NGX_QUEUES_REDIS_DOWN, NULL);
        return NGX_OK;
    }

    if (strcmp(function, "push_settle") == 0 && fuzz_call.done) {
        fuzz_assert(nargs == 11 && args[4].len == 0 && args[8].data[0] == 'u');

        fuzz_call.undone++;
        done(data, NGX_QUEUES_REDIS_DOWN, NULL);
        return NGX_OK;
    }

    if (strcmp(function, "known_forget") == 0 && fuzz_call.done) {
        fuzz_assert(nargs == 1 && fuzz_same(&args[0], &fuzz_root));

        fuzz_call.told++;
        done(data, NGX_QUEUES_REDIS_DOWN, NULL);
        return NGX_OK;
    }

    if (strcmp(function, "push_note") == 0 && fuzz_call.done) {
        fuzz_assert(nargs == 2 && fuzz_same(&args[0], &fuzz_root));
        fuzz_assert(fuzz_call.tell == NULL);

        fuzz_call.told++;
        fuzz_call.tell = done;
        fuzz_call.tell_data = data;
        return NGX_OK;
    }

    if (fuzz_look) {
        fuzz_look(function, args, nargs);
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


/* of a reply, from an element on */

static ngx_inline void
fuzz_messages(ngx_queues_store_result_t *result, ngx_uint_t from)
{
    char                        *text, *p;
    uint64_t                     now;
    ngx_uint_t                   fifo, n;
    ngx_queues_redis_reply_t    *elt, *last;
    ngx_queues_store_message_t  *m;

    elt = fuzz_call.reply->elts + from;
    last = fuzz_call.reply->elts + fuzz_call.reply->nelts;

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


/* a reply of ours */

static void
fuzz_reply(const char *text, ngx_queues_redis_done_pt done, void *data)
{
    ngx_queues_redis_reply_t   *reply;
    ngx_queues_redis_reader_t  *reader;

    reader = ngx_queues_redis_reader_create(&fuzz_log);

    fuzz_assert(ngx_queues_redis_reader_feed(reader, (u_char *) text,
                                             strlen(text))
                == NGX_OK
                && ngx_queues_redis_reader_next(reader, &reply) == NGX_OK);

    done(data, NGX_QUEUES_REDIS_OK, reply);

    ngx_queues_redis_reader_free(reader);
}


/* what is told is refused so many times */

static void
fuzz_tell(ngx_uint_t down)
{
    ngx_event_t               *ev;
    ngx_queues_redis_done_pt   done;

    while (fuzz_call.tell || fuzz_timer) {

        if (fuzz_timer) {
            fuzz_assert(fuzz_call.tell == NULL && fuzz_call.results == 1);

            ev = fuzz_timer;
            fuzz_timer = NULL;
            ev->timer_set = 0;
            ev->handler(ev);
            continue;
        }

        done = fuzz_call.tell;
        fuzz_call.tell = NULL;

        if (down) {
            down--;
            done(fuzz_call.tell_data, NGX_QUEUES_REDIS_DOWN, NULL);

        } else {
            fuzz_reply(":1" CRLF, done, fuzz_call.tell_data);
        }
    }
}


/*
 * A first byte of an input is the operation, a capital letter where its reply
 * comes late; the rest is the reply.
 */

static ngx_str_t
fuzz_input(const uint8_t *data, size_t size, u_char *operation,
    ngx_uint_t *late)
{
    memset(&fuzz_call, 0, sizeof(fuzz_call));

    ngx_queues_store_tell_init();

    *operation = tolower(data[0]);
    *late = (*operation != data[0]);

    return fuzz_copy(data + 1, size - 1);
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

    /* up to more failures than there are tries; of other kinds no more */

    fuzz_shortage = 0;
    fuzz_tell(bytes->len % 8);

    fuzz_assert(ngx_queue_empty(&ngx_queues_store_tells));

    ngx_queues_redis_reader_free(reader);

    return rc == NGX_QUEUES_REDIS_OK || rc == NGX_QUEUES_REDIS_LOST;
}


#endif /* _FUZZ_STORE_H_INCLUDED_ */
