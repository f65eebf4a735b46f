
/* Pops of the Queen API, and acknowledgements of all that they got. */

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "load.h"


typedef struct {
    char   *data;
    size_t  len;
} load_text_t;


static void load_queen_answer(load_conn_t *c);
static void load_queen_pop(load_conn_t *c);
static unsigned load_queen_count(load_conn_t *c, const char *mark);
static void load_queen_ack(load_conn_t *c);
static char *load_queen_member(char *p, char *last, const char *mark,
    load_text_t *value);


static const char  load_queen_id[] = "\"transactionId\":\"";

static uint64_t  load_popped, load_acked, load_empty, load_started;


void
load_queen(void)
{
    unsigned  i;

    load_cpu_begin();

    for (i = 0; i < load_options.connections; i++) {
        load_queen_pop(load_conn_open(load_queen_answer, i));
    }

    load_conn_finish();
    load_cpu_end();

    if (load_options.second.len && load_acked != load_popped) {
        load_fail("not all was acknowledged");
    }

    load_cpu_print("", load_popped);
    printf("empty %llu\n", (unsigned long long) load_empty);
}


static void
load_queen_answer(load_conn_t *c)
{
    if (c->acking) {
        load_acked += load_queen_count(c, "\"success\":true");

    } else if (c->status == 204) {
        load_empty++;

    } else {
        load_popped += load_queen_count(c, load_queen_id);

        if (load_options.second.len) {
            load_queen_ack(c);
            return;
        }
    }

    load_queen_pop(c);
}


static void
load_queen_pop(load_conn_t *c)
{
    if (load_started == load_options.requests) {
        return;
    }

    load_started++;
    c->acking = 0;
    load_request_send(c, &load_options.request, c->index);
}


static unsigned
load_queen_count(load_conn_t *c, const char *mark)
{
    char      *p, *last;
    size_t     len;
    unsigned   n;

    p = c->body;
    last = p + c->body_len;
    len = strlen(mark);

    for (n = 0; /* void */; n++) {

        p = memmem(p, last - p, mark, len);
        if (p == NULL) {
            return n;
        }

        p += len;
    }
}


/* The members of a message come in one order; what has none ends the list. */

static void
load_queen_ack(load_conn_t *c)
{
    char         body[LOAD_BUFFER], *p, *o, *last;
    load_text_t  lease, group, id, lane;

    last = c->body + c->body_len;

    p = load_queen_member(c->body, last, "\"leaseId\":\"", &lease);
    p = p ? load_queen_member(p, last, "\"consumerGroup\":\"", &group) : NULL;

    if (p == NULL) {
        load_fail("a strange answer to a pop");
    }

    o = body + sprintf(body, "{\"consumerGroup\":\"%.*s\","
                       "\"acknowledgments\":[", (int) group.len, group.data);

    for ( ;; ) {
        p = load_queen_member(p, last, load_queen_id, &id);

        if (p == NULL) {
            break;
        }

        p = load_queen_member(p, last, "\"partitionId\":\"", &lane);

        if (p == NULL || o + 512 > body + LOAD_BUFFER) {
            load_fail("a strange answer to a pop");
        }

        o += sprintf(o, "{\"transactionId\":\"%.*s\",\"partitionId\":\"%.*s\","
                     "\"leaseId\":\"%.*s\",\"status\":\"completed\"},",
                     (int) id.len, id.data, (int) lane.len, lane.data,
                     (int) lease.len, lease.data);
    }

    o = stpcpy(o - 1, "]}");

    c->acking = 1;
    load_request_body(c, &load_options.second, body, o - body);
}


/* Returns what is behind the first one. */

static char *
load_queen_member(char *p, char *last, const char *mark, load_text_t *value)
{
    char    *end;
    size_t   len;

    len = strlen(mark);

    p = memmem(p, last - p, mark, len);
    if (p == NULL) {
        return NULL;
    }

    p += len;
    end = memchr(p, '"', last - p);

    if (end == NULL) {
        return NULL;
    }

    value->data = p;
    value->len = end - p;

    return end;
}
