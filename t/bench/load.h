
#ifndef _LOAD_H_INCLUDED_
#define _LOAD_H_INCLUDED_


#include <stdint.h>
#include <stddef.h>


#define LOAD_BUFFER    98304
#define LOAD_BATCH     10
#define LOAD_HANDLE    512
#define LOAD_SERVERS   8
#define LOAD_MARKS     256


typedef struct load_conn_s  load_conn_t;

/* called with a whole answer: c->status, c->body, c->body_len */
typedef void (*load_answer_pt)(load_conn_t *c);


struct load_conn_s {
    int              fd;
    unsigned         index;
    unsigned         busy;       /* a request is under way */
    unsigned         acking;

    load_answer_pt   answer;

    unsigned         status;
    char            *body;
    size_t           body_len;

    char            *buf;
    size_t           have;
};


/* a place for a number: load_request.c */

typedef struct {
    char         kind;
    unsigned     at;
    unsigned     len;
} load_mark_t;


typedef struct {
    char         *data;
    size_t        len;
    unsigned      nmarks;
    load_mark_t   marks[LOAD_MARKS];
} load_request_t;


typedef struct {
    const char   *name;
    unsigned      pid;
    uint64_t      begin;
    uint64_t      used;          /* ns */
} load_server_t;


typedef struct {
    unsigned       port;
    unsigned       connections;
    double         seconds;      /* 0: until so many requests */
    double         warm;
    double         delay;
    uint64_t       requests;

    uint64_t       first;        /* of running numbers */
    uint64_t       groups;
    uint64_t       together;     /* of a group, one after another */

    load_request_t   request;
    load_request_t   second;     /* head of an acknowledgement, or a send */
} load_options_t;


extern load_options_t  load_options;


/* load.c */

void load_fail(const char *text);
uint64_t load_now(void);         /* ns */

/* load_cpu.c */

void load_cpu_server(char *arg);
void load_cpu_begin(void);
void load_cpu_end(void);
void load_cpu_print(const char *prefix, uint64_t answers);
void load_cpu_settle(void);

/* load_conn.c */

void load_conn_init(void);
load_conn_t *load_conn_open(load_answer_pt answer, unsigned index);
void load_conn_send(load_conn_t *c, const char *data, size_t len);
unsigned load_conn_poll(int ms);
unsigned load_conn_busy(void);
void load_conn_finish(void);

/* load_request.c */

void load_request_marks(load_request_t *request);
void load_request_send(load_conn_t *c, load_request_t *request,
    unsigned index);
void load_request_body(load_conn_t *c, load_request_t *head, const char *body,
    size_t len);

/* load_blast.c */

void load_blast(void);

/* load_cycle.c */

void load_cycle(void);
void load_drain(void);

/* load_queen.c */

void load_queen(void);

/* load_pubsub.c */

void load_pubsub(void);

/* load_wait.c */

void load_park(void);
void load_wake(void);
void load_late(void);


#endif /* _LOAD_H_INCLUDED_ */
