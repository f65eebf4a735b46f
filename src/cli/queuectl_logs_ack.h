
/* Handles of messages that a pop has leased, and what becomes of them. */

#ifndef QUEUECTL_LOGS_ACK_H_INCLUDED_
#define QUEUECTL_LOGS_ACK_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


/* what a handle has, in its order */

typedef enum {
    QUEUECTL_LOGS_ACK_PARTITION = 0,
    QUEUECTL_LOGS_ACK_LEASE,
    QUEUECTL_LOGS_ACK_GROUP,
    QUEUECTL_LOGS_ACK_ID,
    QUEUECTL_LOGS_ACK_NPARTS
} queuectl_logs_ack_part_e;

extern const char *const  queuectl_logs_ack_names[];


typedef struct {
    char                 *group;        /* JSON strings, but for the object */
    char                 *id;
    char                 *object;
} queuectl_logs_ack_t;


typedef struct {
    queuectl_logs_ack_t  *items;
    size_t                n;
    size_t                size;
    const char           *status;       /* NULL: completed */
    queuectl_buf_t        error;        /* as a JSON string, or empty */
    int                   shown;        /* results go to stdout */
} queuectl_logs_acks_t;


/* of JSON strings */

void queuectl_logs_acks_add(queuectl_logs_acks_t *acks,
    queuectl_span_t parts[QUEUECTL_LOGS_ACK_NPARTS]);

/* one that a pop has answered: 1, or 0 where it has no lease or no ids */

int queuectl_logs_acks_message(queuectl_logs_acks_t *acks,
    queuectl_span_t message);
queuectl_exit_e queuectl_logs_acks_send(queuectl_t *q,
    queuectl_logs_acks_t *acks);
void queuectl_logs_acks_free(queuectl_logs_acks_t *acks);

/* queuectl_logs_handle.c: its handle, one word of printable characters; or 0 */

int queuectl_logs_handle(queuectl_span_t message, queuectl_buf_t *handle);

/* so many parts of such a word; 0 where it has not those, or is none */

int queuectl_logs_handle_read(const char *text, int n, queuectl_buf_t *parts);

/* of a dead letter, likewise; and the path of it and of what is named so */

int queuectl_logs_letter(queuectl_span_t message, queuectl_buf_t *letter);
int queuectl_logs_letter_path(queuectl_span_t message, const char *rest,
    queuectl_buf_t *path);
int queuectl_logs_letter_named(const char *letter, const char *rest,
    queuectl_buf_t *path);


#endif /* QUEUECTL_LOGS_ACK_H_INCLUDED_ */
