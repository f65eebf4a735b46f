
#include <stdio.h>

#include "load.h"


static void load_blast_answer(load_conn_t *c);
static void load_blast_send(load_conn_t *c);


static uint64_t  load_sent, load_answers;
static unsigned  load_stop;


void
load_blast(void)
{
    unsigned         i;
    uint64_t         end, answers;
    load_options_t  *o;

    o = &load_options;

    if (o->seconds == 0) {
        load_cpu_begin();
    }

    for (i = 0; i < o->connections; i++) {
        load_blast_send(load_conn_open(load_blast_answer, i));
    }

    if (o->seconds == 0) {
        load_conn_finish();
        load_cpu_end();
        load_cpu_print("", load_answers);
        return;
    }

    end = load_now() + (uint64_t) (o->warm * 1e9);

    while (load_now() < end) {
        load_conn_poll(10);
    }

    answers = load_answers;
    load_cpu_begin();

    end = load_now() + (uint64_t) (o->seconds * 1e9);

    while (load_now() < end) {
        load_conn_poll(10);
    }

    answers = load_answers - answers;
    load_cpu_end();

    load_stop = 1;
    load_conn_finish();

    load_cpu_print("", answers);
    printf("total %llu\n", (unsigned long long) load_answers);
}


static void
load_blast_answer(load_conn_t *c)
{
    load_answers++;
    load_blast_send(c);
}


static void
load_blast_send(load_conn_t *c)
{
    load_options_t  *o;

    o = &load_options;

    if (load_stop || (o->seconds == 0 && load_sent == o->requests)) {
        return;
    }

    load_sent++;
    load_request_send(c, &o->request, c->index);
}
