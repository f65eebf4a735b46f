
/* Messages as they are printed, and what is done with their handles. */

#ifndef QUEUECTL_MESSAGE_H_INCLUDED_
#define QUEUECTL_MESSAGE_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


/*
 * Of a queue, on stdout: as JSON, its body alone (--raw), or for people. The
 * body is never printed anew by a library: as JSON it is what the server sent,
 * byte for byte.
 */

queuectl_exit_e queuectl_message_print(queuectl_t *q, queuectl_span_t message);

/* for people: lines of members that are there, texts or integers, in the order
   of these, to the one without a name */

typedef struct {
    const char  *name;
    const char  *label;
} queuectl_message_label_t;

void queuectl_message_fields(queuectl_t *q, queuectl_span_t object,
    const queuectl_message_label_t *labels);

/* a line with a label; or lines, below each other */

void queuectl_message_field(queuectl_t *q, const char *label,
    queuectl_span_t text);
void queuectl_message_lines(queuectl_t *q, const char *label,
    queuectl_span_t text);

/* the attributes of a message, a line each */

void queuectl_message_attributes(queuectl_t *q, queuectl_span_t message);


/* receipt handles of queues, or ack ids of topics, as JSON strings */

typedef struct {
    char       **handles;
    size_t       n;
    size_t       size;
    long long    seconds;               /* from now; -1: acknowledge */
    int          shown;                 /* results go to stdout */
} queuectl_receipts_t;

/* from that argument on; "-": those of stdin */

queuectl_exit_e queuectl_receipts_read(queuectl_t *q, queuectl_receipts_t *rs,
    int argument);

void queuectl_receipts_add(queuectl_receipts_t *rs, queuectl_span_t json);
void queuectl_receipts_free(queuectl_receipts_t *rs);

/* those of queues are settled */

queuectl_exit_e queuectl_receipts_send(queuectl_t *q, queuectl_receipts_t *rs);


#endif /* QUEUECTL_MESSAGE_H_INCLUDED_ */
