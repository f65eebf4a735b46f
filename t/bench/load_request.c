
/*
 * Requests, with numbers in them: a run of four or more of one of these
 * characters is replaced by a number of as many digits.
 *
 *     @@@@    of the connection
 *     ####    running: for each place the next one
 *     %%%%    of a group: the running number of its own, of which k follow one
 *             another with the same one, modulo g
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "load.h"


static void load_request_print(char *p, unsigned len, uint64_t number);


static uint64_t  load_running, load_grouped;


void
load_request_marks(load_request_t *request)
{
    char         *p, *last, *end;
    load_mark_t  *mark;

    last = request->data + request->len;

    for (p = request->data; p < last; p = end) {

        for (end = p + 1; end < last && *end == *p; end++) { /* void */ }

        if (end - p < 4 || (*p != '@' && *p != '#' && *p != '%')) {
            continue;
        }

        if (request->nmarks == LOAD_MARKS) {
            load_fail("too many numbers in a request");
        }

        mark = &request->marks[request->nmarks++];

        mark->kind = *p;
        mark->at = p - request->data;
        mark->len = end - p;
    }
}


void
load_request_send(load_conn_t *c, load_request_t *request, unsigned index)
{
    char             buf[LOAD_BUFFER];
    unsigned         i;
    uint64_t         number;
    load_mark_t     *mark;
    load_options_t  *o;

    if (request->nmarks == 0) {
        load_conn_send(c, request->data, request->len);
        return;
    }

    o = &load_options;

    memcpy(buf, request->data, request->len);

    for (i = 0; i < request->nmarks; i++) {
        mark = &request->marks[i];

        switch (mark->kind) {

        case '#':
            number = o->first + load_running++;
            break;

        case '%':
            number = (o->first + load_grouped++) / o->together % o->groups;
            break;

        default:
            number = index;
        }

        load_request_print(buf + mark->at, mark->len, number);
    }

    load_conn_send(c, buf, request->len);
}


/* a request that has a length and body yet to be written behind its head */

void
load_request_body(load_conn_t *c, load_request_t *head, const char *body,
    size_t len)
{
    char  buf[LOAD_BUFFER], *p;

    p = mempcpy(buf, head->data, head->len);
    p += sprintf(p, "Content-Length: %zu\r\n\r\n", len);

    if (len > (size_t) (buf + LOAD_BUFFER - p)) {
        load_fail("too long a body");
    }

    p = mempcpy(p, body, len);

    load_conn_send(c, buf, p - buf);
}


static void
load_request_print(char *p, unsigned len, uint64_t number)
{
    while (len--) {
        p[len] = '0' + number % 10;
        number /= 10;
    }
}
