
/* Pulls of the Pub/Sub API, and acknowledgements of all that they got. */

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "load.h"


static void load_pubsub_answer(load_conn_t *c);
static void load_pubsub_pull(load_conn_t *c);
static unsigned load_pubsub_ack(load_conn_t *c);


static const char  load_pubsub_id[] = "{\"ackId\":\"";

static uint64_t  load_pulled, load_empty, load_started;


void
load_pubsub(void)
{
    unsigned  i;

    load_cpu_begin();

    for (i = 0; i < load_options.connections; i++) {
        load_pubsub_pull(load_conn_open(load_pubsub_answer, i));
    }

    load_conn_finish();
    load_cpu_end();

    load_cpu_print("", load_pulled);
    printf("empty %llu\n", (unsigned long long) load_empty);
}


static void
load_pubsub_answer(load_conn_t *c)
{
    unsigned  n;

    if (c->status != 200) {
        load_fail("a pull or an acknowledgement failed");
    }

    if (!c->acking) {
        n = load_pubsub_ack(c);

        if (n) {
            load_pulled += n;
            return;
        }

        load_empty++;
    }

    load_pubsub_pull(c);
}


static void
load_pubsub_pull(load_conn_t *c)
{
    if (load_started == load_options.requests) {
        return;
    }

    load_started++;
    c->acking = 0;
    load_request_send(c, &load_options.request, c->index);
}


/* Returns how many there are. */

static unsigned
load_pubsub_ack(load_conn_t *c)
{
    char      body[LOAD_BUFFER], *p, *o, *last, *end;
    unsigned  n;

    p = c->body;
    last = p + c->body_len;
    o = stpcpy(body, "{\"ackIds\":[");

    for (n = 0; /* void */; n++) {

        p = memmem(p, last - p, load_pubsub_id, sizeof(load_pubsub_id) - 1);
        if (p == NULL) {
            break;
        }

        p += sizeof(load_pubsub_id) - 1;
        end = memchr(p, '"', last - p);

        if (end == NULL || end - p + 16 > body + LOAD_BUFFER - o) {
            load_fail("a strange answer to a pull");
        }

        if (n) {
            *o++ = ',';
        }

        *o++ = '"';
        o = mempcpy(o, p, end - p);
        *o++ = '"';

        p = end;
    }

    if (n) {
        o = stpcpy(o, "]}");

        c->acking = 1;
        load_request_body(c, &load_options.second, body, o - body);
    }

    return n;
}
