
/*
 * The load generator of "make bench".
 *
 *     load MODE name=value...
 *
 * Modes:
 *
 *     blast    c connections, each with the request in file r, again and again
 *     cycle    the same with two requests: r receives, a acknowledges; until n
 *              receives, or for s seconds
 *     drain    n receives, and when all are in, the acknowledgements
 *     queen    n pops of the Queen API, r, and an acknowledgement of what each
 *              got, with the head a, unless there is none
 *     pubsub   n pulls of the Pub/Sub API, r, and an acknowledgement of what
 *              each got, with the head a
 *     park     c connections that have written r; "ready", then until EOF
 *     wake     c connections wait on queues 0000 to c - 1, one after the other
 *              is sent a message: "@@@@" in r (the receive) and a (the send)
 *              is the number of the queue
 *     late     the same queues, one after the other: a makes that a message
 *              is visible d seconds later, r waits for it
 *
 * Values: port, c (connections), s (seconds) or n (requests), w (seconds of
 * warming up), d, r and a (files), cpu=NAME:PID (may be repeated: a server whose
 * CPU time is measured); g, k and i (the first number) for numbers in requests:
 * load_request.c.
 *
 * Prints lines "name value".
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <signal.h>

#include "load.h"


typedef struct {
    const char  *name;
    void       (*run)(void);
} load_mode_t;


static void load_option(char *arg);
static void load_read(load_request_t *request, const char *name);


load_options_t  load_options = {
    .connections = 32, .groups = 1, .together = 1
};


static load_mode_t  load_modes[] = {
    { "blast", load_blast },
    { "cycle", load_cycle },
    { "drain", load_drain },
    { "queen", load_queen },
    { "pubsub", load_pubsub },
    { "park", load_park },
    { "wake", load_wake },
    { "late", load_late },
    { NULL, NULL }
};


int
main(int argc, char **argv)
{
    int           i;
    load_mode_t  *mode;

    if (argc < 2) {
        load_fail("no mode");
    }

    for (i = 2; i < argc; i++) {
        load_option(argv[i]);
    }

    for (mode = load_modes; mode->name; mode++) {
        if (strcmp(mode->name, argv[1]) == 0) {
            break;
        }
    }

    if (mode->name == NULL) {
        load_fail("unknown mode");
    }

    /* whatever happens, neither for long nor alone */

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(120);

    load_conn_init();
    mode->run();

    return 0;
}


static void
load_option(char *arg)
{
    char            *value;
    load_options_t  *o;

    o = &load_options;

    value = strchr(arg, '=');
    if (value == NULL) {
        load_fail(arg);
    }

    *value++ = '\0';

    if (strcmp(arg, "port") == 0) {
        o->port = strtoul(value, NULL, 10);

    } else if (strcmp(arg, "c") == 0) {
        o->connections = strtoul(value, NULL, 10);

    } else if (strcmp(arg, "s") == 0) {
        o->seconds = strtod(value, NULL);

    } else if (strcmp(arg, "n") == 0) {
        o->requests = strtoull(value, NULL, 10);

    } else if (strcmp(arg, "w") == 0) {
        o->warm = strtod(value, NULL);

    } else if (strcmp(arg, "d") == 0) {
        o->delay = strtod(value, NULL);

    } else if (strcmp(arg, "i") == 0) {
        o->first = strtoull(value, NULL, 10);

    } else if (strcmp(arg, "g") == 0) {
        o->groups = strtoull(value, NULL, 10);

    } else if (strcmp(arg, "k") == 0) {
        o->together = strtoull(value, NULL, 10);

    } else if (strcmp(arg, "r") == 0) {
        load_read(&o->request, value);

    } else if (strcmp(arg, "a") == 0) {
        load_read(&o->second, value);

    } else if (strcmp(arg, "cpu") == 0) {
        load_cpu_server(value);

    } else {
        load_fail(arg);
    }
}


static void
load_read(load_request_t *request, const char *name)
{
    FILE  *f;

    f = fopen(name, "rb");
    request->data = malloc(LOAD_BUFFER);

    if (f == NULL || request->data == NULL) {
        load_fail(name);
    }

    request->len = fread(request->data, 1, LOAD_BUFFER, f);

    fclose(f);

    load_request_marks(request);
}


void
load_fail(const char *text)
{
    fprintf(stderr, "load: %s\n", text);
    exit(1);
}


uint64_t
load_now(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}
