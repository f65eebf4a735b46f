
/* Messages on their way to a queue. */

#ifndef QUEUECTL_SEND_H_INCLUDED_
#define QUEUECTL_SEND_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_http.h"
#include "queuectl_text.h"


/* the object of a message with this body and what the flags say */

queuectl_exit_e queuectl_send_object(queuectl_t *q, queuectl_span_t body,
    queuectl_buf_t *object);

/* queuectl_line.c: the same of a line of JSON, as "receive --json" prints it */

queuectl_exit_e queuectl_send_line(queuectl_span_t line,
    queuectl_buf_t *object);

/* what was stored, on stdout */

void queuectl_send_print(queuectl_t *q, queuectl_answer_t *a);

/* queuectl_load.c: each line of a file is one */

queuectl_exit_e queuectl_load(queuectl_t *q, FILE *f);


#endif /* QUEUECTL_SEND_H_INCLUDED_ */
