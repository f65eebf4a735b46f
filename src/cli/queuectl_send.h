
/* Messages on their way to a queue, a topic or a log. */

#ifndef QUEUECTL_SEND_H_INCLUDED_
#define QUEUECTL_SEND_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_http.h"
#include "queuectl_text.h"


/* how an API takes them: the command has the flags file, lines, jsonl,
   start-line and keep-going */

typedef struct {
    const char *const  *single;         /* flags that are not of lines */
    const char *const  *jsonl;          /* flags that --jsonl has no use for */

    const char         *before;         /* the objects of a body */
    size_t              batch;          /* so many at most */
    unsigned            bare:1;         /* one alone is a body, as it is */
    unsigned            blind:1;        /* a refusal may not say of which */

    void              (*path)(queuectl_t *q, queuectl_buf_t *path);

    /* the object of a body (0), or of the line of that number */

    queuectl_exit_e   (*object)(queuectl_t *q, queuectl_span_t body,
                                long long line, queuectl_buf_t *object);

    const char         *stored;         /* the member of an answer that has
                                           them; NULL: it is the answer */

    /* whether one of these was there before; or NULL */

    int               (*duplicate)(queuectl_span_t item);

    /* what was stored, on stdout */

    void              (*print)(queuectl_t *q, queuectl_answer_t *a);
} queuectl_sending_t;


/* queuectl_input.c: the second argument, a file or stdin; whole or in lines */

queuectl_exit_e queuectl_input(queuectl_t *q, const queuectl_sending_t *s);

/* where a read gives no more: whether that is all there is */

queuectl_exit_e queuectl_input_end(FILE *f);

/* whether an answer is one of so many messages that were stored; and the items
   that it has of them */

queuectl_exit_e queuectl_input_stored(const queuectl_sending_t *s,
    queuectl_answer_t *a, size_t n);
queuectl_span_t queuectl_input_items(const queuectl_sending_t *s,
    queuectl_answer_t *a);

/* queuectl_load.c: each line of a file is one */

queuectl_exit_e queuectl_load(queuectl_t *q, const queuectl_sending_t *s,
    FILE *f);

/* queuectl_line.c: a line of JSON, as "receive --json" prints it */

queuectl_exit_e queuectl_send_line(queuectl_span_t line,
    queuectl_buf_t *object);

/* members of an object, as they are there; names to a NULL */

void queuectl_line_members(queuectl_span_t value, const char *const *members,
    queuectl_buf_t *object);


#endif /* QUEUECTL_SEND_H_INCLUDED_ */
