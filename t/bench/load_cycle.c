
/* Receive and acknowledge: by turns on each connection, or all and all. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"


typedef struct {
    unsigned   n;
    char      *body;             /* of its acknowledgement */
    size_t     len;
} load_batch_t;


static void load_cycle_for(load_conn_t **conns);
static void load_cycle_until(load_conn_t **conns);
static void load_cycle_answer(load_conn_t *c);
static void load_cycle_receive(load_conn_t *c);
static void load_drain_receive(load_conn_t *c);
static void load_drain_received(load_conn_t *c);
static void load_drain_ack(load_conn_t *c);
static void load_drain_acked(load_conn_t *c);
static load_conn_t **load_open(load_answer_pt answer);
static unsigned load_handles(load_conn_t *c, char *out, size_t *len);
static unsigned load_ok(load_conn_t *c);


static const char  load_handle_name[] = "\"receiptHandle\":\"";

static uint64_t  load_received, load_acked, load_empty;
static unsigned  load_stop;

static load_batch_t  *load_batches;
static uint64_t       load_nbatches, load_started, load_next;


void
load_cycle(void)
{
    load_conn_t  **conns;

    conns = load_open(load_cycle_answer);

    if (load_options.seconds == 0) {
        load_cycle_until(conns);

    } else {
        load_cycle_for(conns);
    }

    printf("empty %llu\n", (unsigned long long) load_empty);
    printf("total %llu\n", (unsigned long long) load_acked);
}


static void
load_cycle_until(load_conn_t **conns)
{
    unsigned  i;

    load_cpu_begin();

    for (i = 0; i < load_options.connections; i++) {
        load_cycle_receive(conns[i]);
    }

    load_conn_finish();
    load_cpu_end();
    load_cpu_print("", load_acked);
}


static void
load_cycle_for(load_conn_t **conns)
{
    unsigned         i;
    uint64_t         end, received, acked;
    load_options_t  *o;

    o = &load_options;

    for (i = 0; i < o->connections; i++) {
        load_cycle_receive(conns[i]);
    }

    end = load_now() + (uint64_t) (o->warm * 1e9);

    while (load_now() < end) {
        load_conn_poll(10);
    }

    acked = load_acked;
    received = load_received;
    load_cpu_begin();

    end = load_now() + (uint64_t) (o->seconds * 1e9);

    while (load_now() < end) {
        load_conn_poll(10);
    }

    acked = load_acked - acked;
    received = load_received - received;
    load_cpu_end();

    load_stop = 1;
    load_conn_finish();

    load_cpu_print("", acked);
    printf("received %llu\n", (unsigned long long) received);
}


static void
load_cycle_answer(load_conn_t *c)
{
    char      body[LOAD_BATCH * LOAD_HANDLE];
    size_t    len;
    unsigned  n;

    if (c->acking) {
        load_acked += load_ok(c);
        load_cycle_receive(c);
        return;
    }

    n = load_handles(c, body, &len);

    if (n == 0) {
        load_empty++;
        load_cycle_receive(c);
        return;
    }

    load_received += n;
    c->acking = 1;
    load_request_body(c, &load_options.second, body, len);
}


static void
load_cycle_receive(load_conn_t *c)
{
    load_options_t  *o;

    o = &load_options;

    if (load_stop || (o->seconds == 0 && load_started == o->requests)) {
        return;
    }

    load_started++;
    c->acking = 0;
    load_request_send(c, &o->request, c->index);
}


void
load_drain(void)
{
    unsigned          i;
    load_conn_t     **conns;
    load_options_t   *o;

    o = &load_options;

    load_batches = calloc(o->requests, sizeof(load_batch_t));
    if (load_batches == NULL) {
        load_fail("calloc()");
    }

    conns = load_open(load_drain_received);

    load_cpu_begin();

    for (i = 0; i < o->connections; i++) {
        load_drain_receive(conns[i]);
    }

    load_conn_finish();
    load_cpu_end();
    load_cpu_print("receive_", load_received);

    load_cpu_begin();

    for (i = 0; i < o->connections; i++) {
        conns[i]->answer = load_drain_acked;
        load_drain_ack(conns[i]);
    }

    load_conn_finish();
    load_cpu_end();
    load_cpu_print("ack_", load_acked);

    printf("empty %llu\n", (unsigned long long) load_empty);
}


static void
load_drain_receive(load_conn_t *c)
{
    if (load_started == load_options.requests) {
        return;
    }

    load_started++;
    load_request_send(c, &load_options.request, c->index);
}


static void
load_drain_received(load_conn_t *c)
{
    char           body[LOAD_BATCH * LOAD_HANDLE];
    load_batch_t  *b;

    b = &load_batches[load_nbatches];

    b->n = load_handles(c, body, &b->len);

    if (b->n) {
        load_nbatches++;
        load_received += b->n;

        b->body = malloc(b->len);
        if (b->body == NULL) {
            load_fail("malloc()");
        }

        memcpy(b->body, body, b->len);

    } else {
        load_empty++;
    }

    load_drain_receive(c);
}


static void
load_drain_acked(load_conn_t *c)
{
    load_acked += load_ok(c);
    load_drain_ack(c);
}


static void
load_drain_ack(load_conn_t *c)
{
    load_batch_t  *b;

    if (load_next == load_nbatches) {
        return;
    }

    b = &load_batches[load_next++];
    load_request_body(c, &load_options.second, b->body, b->len);
}


static load_conn_t **
load_open(load_answer_pt answer)
{
    unsigned       i, n;
    uint64_t       end;
    load_conn_t  **conns;

    n = load_options.connections;

    conns = calloc(n, sizeof(load_conn_t *));
    if (conns == NULL) {
        load_fail("calloc()");
    }

    for (i = 0; i < n; i++) {
        conns[i] = load_conn_open(answer, i);
    }

    /* until they are accepted; a longer rest would let caches go cold */

    end = load_now() + 5000000;

    while (load_now() < end) {
        load_conn_poll(0);
    }

    return conns;
}


/* The body of an acknowledgement of all messages in an answer. */

static unsigned
load_handles(load_conn_t *c, char *out, size_t *len)
{
    char      *p, *last, *end, *o;
    unsigned   n;

    p = c->body;
    last = p + c->body_len;
    o = stpcpy(out, "{\"receiptHandles\":[");

    for (n = 0; n < LOAD_BATCH; n++) {

        p = memmem(p, last - p, load_handle_name,
                   sizeof(load_handle_name) - 1);
        if (p == NULL) {
            break;
        }

        p += sizeof(load_handle_name) - 1;
        end = memchr(p, '"', last - p);

        if (end == NULL || end - p > LOAD_HANDLE - 16) {
            load_fail("a strange receipt handle");
        }

        if (n) {
            *o++ = ',';
        }

        *o++ = '"';
        o = mempcpy(o, p, end - p);
        *o++ = '"';

        p = end;
    }

    o = stpcpy(o, "]}");
    *len = o - out;

    return n;
}


static unsigned
load_ok(load_conn_t *c)
{
    char      *p, *last;
    unsigned   n;

    p = c->body;
    last = p + c->body_len;

    for (n = 0; /* void */; n++) {

        p = memmem(p, last - p, "\"ok\":true", 9);
        if (p == NULL) {
            return n;
        }

        p += 9;
    }
}
