
/* What fails, as it goes on: what was seen before is not said again. */

#ifndef QUEUECTL_TAIL_H_INCLUDED_
#define QUEUECTL_TAIL_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


typedef struct {
    char       *id;
    char       *last;                   /* its last error: when; NULL: none */
} queuectl_tail_subscription_t;


typedef struct {
    char      **ids;
    size_t      n;
    char       *last;                   /* the newest of them: when */
} queuectl_tail_letters_t;


typedef struct {
    char                     *id;
    char                     *name;
    long long                 depth;
    queuectl_tail_letters_t   before;   /* of the last look, and of this one */
    queuectl_tail_letters_t   now;
} queuectl_tail_queue_t;


typedef struct {
    queuectl_tail_subscription_t  *subscriptions;
    size_t                         nsubscriptions;

    queuectl_tail_queue_t         *queues;
    size_t                         nqueues;
} queuectl_tail_t;


/* an event on stdout: members of JSON, or a line */

void queuectl_tail_event(queuectl_t *q, queuectl_buf_t *json,
    queuectl_buf_t *line);

/* queuectl_tail_queues.c */

queuectl_exit_e queuectl_tail_queues(queuectl_t *q, queuectl_tail_t *t);
void queuectl_tail_queues_free(queuectl_tail_t *t);


#endif /* QUEUECTL_TAIL_H_INCLUDED_ */
