
/* Connections that wait: many at rest, or woken one after the other. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <unistd.h>

#include "load.h"


#define LOAD_PARK_LONGEST  18000     /* ms */


static void load_park_answer(load_conn_t *c);
static void load_wake_answer(load_conn_t *c);
static void load_wake_sent(load_conn_t *c);
static load_conn_t **load_wake_wait(void);
static uint64_t load_wake_one(load_conn_t *waiter, load_conn_t *sender);
static void load_late_answer(load_conn_t *c);
static void load_wait_print(uint64_t *took, unsigned n);
static void load_shuffle(unsigned *order, unsigned n);
static int load_compare(const void *one, const void *two);


static unsigned  load_early;
static uint64_t  load_woken;
static uint64_t *load_moments;


void
load_park(void)
{
    char             c;
    unsigned         i;
    load_conn_t     *conn;
    load_options_t  *o;
    struct pollfd    pfd;

    o = &load_options;

    for (i = 0; i < o->connections; i++) {
        conn = load_conn_open(load_park_answer, i);

        load_request_send(conn, &o->request,
                          o->requests ? i % o->requests : i);
    }

    load_cpu_settle();

    printf("ready\n");
    fflush(stdout);

    pfd.fd = STDIN_FILENO;
    pfd.events = POLLIN;

    if (poll(&pfd, 1, LOAD_PARK_LONGEST) == 1) {
        while (read(STDIN_FILENO, &c, 1) == 1) { /* void */ }
    }

    while (load_conn_poll(0)) { /* void */ }

    printf("early %u\n", load_early);
}


static void
load_park_answer(load_conn_t *c)
{
    (void) c;

    load_early++;
}


void
load_wake(void)
{
    unsigned         i, n, *order;
    uint64_t        *took;
    load_conn_t    **waiters, *sender;

    n = load_options.connections;

    order = calloc(n, sizeof(unsigned));
    took = calloc(n, sizeof(uint64_t));

    if (order == NULL || took == NULL) {
        load_fail("calloc()");
    }

    load_shuffle(order, n);

    sender = load_conn_open(load_wake_sent, 0);
    waiters = load_wake_wait();

    if (load_conn_busy() != n) {
        load_fail("a queue was not empty");
    }

    load_cpu_begin();

    for (i = 0; i < n; i++) {
        took[i] = load_wake_one(waiters[order[i]], sender);
    }

    load_cpu_end();

    load_cpu_print("", n);
    load_wait_print(took, n);
}


static void
load_wait_print(uint64_t *took, unsigned n)
{
    qsort(took, n, sizeof(uint64_t), load_compare);

    printf("p50 %.3f\n", took[n / 2] / 1e6);
    printf("p99 %.3f\n", took[n * 99 / 100] / 1e6);
    printf("max %.3f\n", took[n - 1] / 1e6);
}


/*
 * What is visible later, and who waits for it: how late the answer comes, from
 * the moment at which the first request was written, and the delay.  The answer
 * of a message that came early is an error.
 */

void
load_late(void)
{
    unsigned        i, n;
    uint64_t        delay;
    load_conn_t   **waiters, *sender;

    n = load_options.connections;
    delay = (uint64_t) (load_options.delay * 1e9);

    load_moments = calloc(n, sizeof(uint64_t));
    waiters = calloc(n, sizeof(load_conn_t *));

    if (load_moments == NULL || waiters == NULL) {
        load_fail("calloc()");
    }

    sender = load_conn_open(load_wake_sent, 0);

    for (i = 0; i < n; i++) {
        waiters[i] = load_conn_open(load_late_answer, i);
    }

    for (i = 0; i < n; i++) {
        load_moments[i] = load_now() + delay;
        load_request_send(sender, &load_options.second, i);

        while (sender->busy) {
            load_conn_poll(5000);
        }

        load_request_send(waiters[i], &load_options.request, i);
    }

    load_conn_finish();
    load_wait_print(load_moments, n);
}


static void
load_late_answer(load_conn_t *c)
{
    uint64_t  now;

    now = load_now();
    load_wake_answer(c);

    /* Redis counts in whole ms */

    if (now + 1000000 < load_moments[c->index]) {
        load_fail("a message was visible too early");
    }

    load_moments[c->index] = now > load_moments[c->index]
                             ? now - load_moments[c->index] : 0;
}


static load_conn_t **
load_wake_wait(void)
{
    unsigned         i, n;
    load_conn_t    **waiters;

    n = load_options.connections;

    waiters = calloc(n, sizeof(load_conn_t *));
    if (waiters == NULL) {
        load_fail("calloc()");
    }

    for (i = 0; i < n; i++) {
        waiters[i] = load_conn_open(load_wake_answer, i);

        load_request_send(waiters[i], &load_options.request, i);
    }

    load_cpu_settle();

    while (load_conn_poll(0)) { /* void */ }

    return waiters;
}


/* From the moment before the send is written; in ns. */

static uint64_t
load_wake_one(load_conn_t *waiter, load_conn_t *sender)
{
    uint64_t  start;

    load_woken = 0;

    start = load_now();
    load_request_send(sender, &load_options.second, waiter->index);

    while (waiter->busy || sender->busy) {
        if (!load_conn_poll(5000)) {
            load_fail("a waiter was not woken in 5 seconds");
        }
    }

    return load_woken - start;
}


static void
load_wake_answer(load_conn_t *c)
{
    load_woken = load_now();

    if (memmem(c->body, c->body_len, "\"receiptHandle\":\"", 17) == NULL) {
        load_fail("a waiter was answered without a message");
    }
}


static void
load_wake_sent(load_conn_t *c)
{
    (void) c;
}


static void
load_shuffle(unsigned *order, unsigned n)
{
    unsigned  i, j;

    for (i = 0; i < n; i++) {
        j = random() % (i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}


static int
load_compare(const void *one, const void *two)
{
    const uint64_t *a = one, *b = two;

    return (*a > *b) - (*a < *b);
}
