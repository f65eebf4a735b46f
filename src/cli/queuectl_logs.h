
/* What the files about logs, the queues of the Queen API, share. */

#ifndef QUEUECTL_LOGS_H_INCLUDED_
#define QUEUECTL_LOGS_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_http.h"
#include "queuectl_out.h"
#include "queuectl_text.h"


/* a location of this API has its project */

#define QUEUECTL_LOGS_API  (QUEUECTL_ENDPOINT|QUEUECTL_KEY)

/* flags of what prints messages */

#define QUEUECTL_LOGS_FORM                                                    \
    { "raw", 'r', QUEUECTL_SWITCH, NULL,                                      \
      "the payloads alone, each with a line feed" },                          \
    { "text", 0, QUEUECTL_SWITCH, NULL,                                       \
      "the same, and of JSON strings their text" }

/* a moment before all messages */

#define QUEUECTL_LOGS_BEGINNING  "1970-01-01T00:00:00Z"


/* queuectl_logs_call.c */

/* "/api/v1/" and these, to NULL: every second one is a name, to be encoded */

void queuectl_logs_path(queuectl_buf_t *path, ...)
    __attribute__((sentinel));

/* queuectl_call for an answer that is shown as JSON, or not at all */

queuectl_exit_e queuectl_logs_do(queuectl_t *q, const char *method,
    queuectl_buf_t *path, queuectl_buf_t *body);

/* what a flag says, a moment in ISO 8601 or how long ago that is */

queuectl_exit_e queuectl_logs_time(queuectl_t *q, const char *flag,
    queuectl_buf_t *moment);

/* a member as a flag has it, or else as another object does; or none */

queuectl_exit_e queuectl_logs_member(queuectl_t *q, const char *flag,
    queuectl_span_t otherwise, const char *member, queuectl_buf_t *object);

/* a cell of whatever a member is, "-" where there is none; of a time */

void queuectl_logs_cell(queuectl_table_t *t, queuectl_span_t object,
    const char *name);
void queuectl_logs_seconds(queuectl_table_t *t, queuectl_span_t object,
    const char *name);

/* whether a member is this text */

int queuectl_logs_is(queuectl_span_t object, const char *name,
    const char *text);


/* queuectl_logs_show.c */

void queuectl_logs_show(queuectl_t *q, queuectl_span_t queue);
queuectl_exit_e queuectl_logs_list(queuectl_t *q);
queuectl_exit_e queuectl_logs_get(queuectl_t *q);


/*
 * queuectl_logs_groups.c: those of a queue, or with NULL of all, on stdout; or
 * beside something else, which a key may read that may not read groups.
 */

queuectl_exit_e queuectl_logs_groups_of(queuectl_t *q, const char *queue,
    int beside);


/*
 * queuectl_logs_message.c: on stdout, as JSON, its payload alone (--raw,
 * --text), or for people. As JSON the payload is what the server sent. Before
 * that, whether the flags of QUEUECTL_LOGS_FORM go together.
 */

queuectl_exit_e queuectl_logs_message_form(queuectl_t *q);
queuectl_exit_e queuectl_logs_message(queuectl_t *q, queuectl_span_t message);


/*
 * queuectl_logs_messages.c: a page of "messages" or of "dlq", of what the flags
 * choose; all of a page on stdout, counted.
 */

queuectl_exit_e queuectl_logs_messages_page(queuectl_t *q, const char *kind,
    long long limit, long long offset, queuectl_answer_t *a);
queuectl_exit_e queuectl_logs_messages_print(queuectl_t *q,
    queuectl_span_t page, long long *n);


#endif /* QUEUECTL_LOGS_H_INCLUDED_ */
