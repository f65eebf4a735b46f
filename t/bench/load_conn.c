
/*
 * HTTP/1.1 connections, kept alive: one request at a time on each, one write
 * and one read for it in the usual case.
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "load.h"


#define LOAD_EVENTS  256


static void load_conn_read(load_conn_t *c);
static int load_conn_parse(load_conn_t *c);


static int       load_epoll;
static unsigned  load_nbusy;


void
load_conn_init(void)
{
    struct rlimit  rl;

    if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
        rl.rlim_cur = rl.rlim_max;
        setrlimit(RLIMIT_NOFILE, &rl);
    }

    load_epoll = epoll_create1(EPOLL_CLOEXEC);

    if (load_epoll == -1) {
        load_fail("epoll_create1()");
    }
}


load_conn_t *
load_conn_open(load_answer_pt answer, unsigned index)
{
    int                  one;
    load_conn_t         *c;
    struct linger        linger;
    struct epoll_event   ee;
    struct sockaddr_in   sin;

    c = calloc(1, sizeof(load_conn_t));
    if (c == NULL) {
        load_fail("calloc()");
    }

    c->buf = malloc(LOAD_BUFFER);
    c->fd = socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, 0);
    c->answer = answer;
    c->index = index;

    memset(&sin, 0, sizeof(sin));

    sin.sin_family = AF_INET;
    sin.sin_port = htons(load_options.port);
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    if (c->buf == NULL || c->fd == -1
        || connect(c->fd, (struct sockaddr *) &sin, sizeof(sin)) == -1)
    {
        load_fail(strerror(errno));
    }

    one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));

    /* at the end no port stays in TIME_WAIT, there are not so many */

    linger.l_onoff = 1;
    linger.l_linger = 0;
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));

    ee.events = EPOLLIN;
    ee.data.ptr = c;

    if (epoll_ctl(load_epoll, EPOLL_CTL_ADD, c->fd, &ee) == -1) {
        load_fail(strerror(errno));
    }

    return c;
}


void
load_conn_send(load_conn_t *c, const char *data, size_t len)
{
    /* a request is far smaller than the buffer of a socket */

    if (write(c->fd, data, len) != (ssize_t) len) {
        load_fail("a request was not written");
    }

    c->busy = 1;
    load_nbusy++;
}


unsigned
load_conn_busy(void)
{
    return load_nbusy;
}


/* One wait for answers; 0 where none came within so many ms. */

unsigned
load_conn_poll(int ms)
{
    int                 i, n;
    struct epoll_event  events[LOAD_EVENTS];

    n = epoll_wait(load_epoll, events, LOAD_EVENTS, ms);

    if (n == -1 && errno != EINTR) {
        load_fail(strerror(errno));
    }

    for (i = 0; i < n; i++) {
        load_conn_read(events[i].data.ptr);
    }

    return n > 0;
}


void
load_conn_finish(void)
{
    while (load_nbusy) {
        if (!load_conn_poll(10000)) {
            load_fail("no answer in 10 seconds");
        }
    }
}


static void
load_conn_read(load_conn_t *c)
{
    ssize_t  n;

    n = read(c->fd, c->buf + c->have, LOAD_BUFFER - 1 - c->have);

    if (n <= 0) {
        load_fail(n ? strerror(errno) : "the server closed a connection");
    }

    c->have += n;
    c->buf[c->have] = '\0';

    if (!load_conn_parse(c)) {
        return;
    }

    c->have = 0;
    c->busy = 0;
    load_nbusy--;

    c->answer(c);
}


/* 1 where the answer is whole.  nginx writes "Content-Length" so. */

static int
load_conn_parse(load_conn_t *c)
{
    char    *end, *length;
    size_t   size;

    end = memmem(c->buf, c->have, "\r\n\r\n", 4);
    if (end == NULL) {
        return 0;
    }

    end += 4;

    c->status = strtoul(c->buf + 9, NULL, 10);

    length = memmem(c->buf, end - c->buf, "\r\nContent-Length: ", 18);
    if (length == NULL && c->status != 204) {
        load_fail("an answer without a length");
    }

    size = length ? strtoul(length + 18, NULL, 10) : 0;

    if ((size_t) (end - c->buf) + size >= LOAD_BUFFER) {
        load_fail("too long an answer");
    }

    if ((size_t) (c->buf + c->have - end) < size) {
        return 0;
    }

    c->body = end;
    c->body_len = size;

    if (c->status < 200 || c->status > 299) {
        fprintf(stderr, "%.*s\n", (int) c->have, c->buf);
        load_fail("an answer is not 2xx");
    }

    return 1;
}
