
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
static void load_number(load_str_t *str, char *out, unsigned number);
static void load_shuffle(unsigned *order, unsigned n);
static int load_compare(const void *one, const void *two);


static unsigned  load_early;
static uint64_t  load_woken;


void
load_park(void)
{
    char             c;
    unsigned         i;
    load_conn_t     *conn;
    load_options_t  *o;
    struct pollfd    pfd;
    char             buf[LOAD_BUFFER];

    o = &load_options;

    for (i = 0; i < o->connections; i++) {
        conn = load_conn_open(load_park_answer, i);

        load_number(&o->request, buf, o->requests ? i % o->requests : i);
        load_conn_send(conn, buf, o->request.len);
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

    qsort(took, n, sizeof(uint64_t), load_compare);

    load_cpu_print("", n);
    printf("p50 %.3f\n", took[n / 2] / 1e6);
    printf("p99 %.3f\n", took[n * 99 / 100] / 1e6);
    printf("max %.3f\n", took[n - 1] / 1e6);
}


static load_conn_t **
load_wake_wait(void)
{
    char             buf[LOAD_BUFFER];
    unsigned         i, n;
    load_conn_t    **waiters;

    n = load_options.connections;

    waiters = calloc(n, sizeof(load_conn_t *));
    if (waiters == NULL) {
        load_fail("calloc()");
    }

    for (i = 0; i < n; i++) {
        waiters[i] = load_conn_open(load_wake_answer, i);

        load_number(&load_options.request, buf, i);
        load_conn_send(waiters[i], buf, load_options.request.len);
    }

    load_cpu_settle();

    while (load_conn_poll(0)) { /* void */ }

    return waiters;
}


/* From the moment before the send is written; in ns. */

static uint64_t
load_wake_one(load_conn_t *waiter, load_conn_t *sender)
{
    char         buf[LOAD_BUFFER];
    uint64_t     start;
    load_str_t  *send;

    send = &load_options.second;

    load_number(send, buf, waiter->index);
    load_woken = 0;

    start = load_now();
    load_conn_send(sender, buf, send->len);

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


/* A copy with the number of a queue in place of "@@@@", if that is there. */

static void
load_number(load_str_t *str, char *out, unsigned number)
{
    char  *p, digits[16];

    memcpy(out, str->data, str->len);

    p = memmem(out, str->len, "@@@@", 4);

    if (p) {
        snprintf(digits, sizeof(digits), "%04u", number);
        memcpy(p, digits, 4);
    }
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
