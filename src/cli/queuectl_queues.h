
/* What the files about queues share. */

#ifndef QUEUECTL_QUEUES_H_INCLUDED_
#define QUEUECTL_QUEUES_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_http.h"
#include "queuectl_text.h"


/* a call of one queue, or with a name of NULL of all; body of NULL: none */

queuectl_exit_e queuectl_queues_call(queuectl_t *q, const char *method,
    const char *name, const char *rest, queuectl_buf_t *body,
    queuectl_answer_t *a);

/* on stdout, as JSON or for people; with its counts where they are there */

queuectl_exit_e queuectl_queue_show(queuectl_t *q, queuectl_span_t queue);

queuectl_exit_e queuectl_queues_list(queuectl_t *q);
queuectl_exit_e queuectl_redrive(queuectl_t *q);


#endif /* QUEUECTL_QUEUES_H_INCLUDED_ */
