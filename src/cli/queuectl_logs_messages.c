
/* What is in a log, without a pop. */

#include "queuectl_logs.h"
#include "queuectl_json.h"

#include <string.h>


static queuectl_exit_e queuectl_logs_messages(queuectl_t *q);


static const queuectl_flag_t  queuectl_logs_messages_flags[] = {
    { "partition", 0, QUEUECTL_TEXT, "PARTITION", "of this partition alone" },
    { "limit", 0, QUEUECTL_NUMBER, "N", "messages at most, to 200: 10" },
    { "from", 0, QUEUECTL_TEXT, "MOMENT",
      "those that were pushed then or later: all" },
    QUEUECTL_LOGS_FORM,
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_messages_commands[] = {
    { "logs", "messages", "QUEUE", 1, 1, QUEUECTL_LOGS_API,
      "Show messages without popping them, the newest first",
      "Of the partitions that were pushed to last. A MOMENT is a time such as\n"
      "2026-08-01T12:00:00Z, or how long ago: 2h.\n\n"
      "  queuectl logs messages orders --partition acct-42 --from 1h\n",
      queuectl_logs_messages_flags, queuectl_logs_messages },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_logs_messages(queuectl_t *q)
{
    long long          n;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    rc = queuectl_logs_message_form(q);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    n = 0;
    rc = queuectl_logs_messages_page(q, "messages",
                                     queuectl_number(q, "limit", 10), 0, &a);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_messages_print(q, a.json, &n);
    }

    if (rc == QUEUECTL_OK && n == 0) {
        queuectl_note(q, "no messages");
    }

    queuectl_http_free(&a);

    return rc;
}


queuectl_exit_e
queuectl_logs_messages_page(queuectl_t *q, const char *kind, long long limit,
    long long offset, queuectl_answer_t *a)
{
    queuectl_buf_t   path, time;
    queuectl_exit_e  rc;

    memset(a, 0, sizeof(queuectl_answer_t));
    memset(&time, 0, sizeof(queuectl_buf_t));

    rc = queuectl_text(q, "from") ? queuectl_logs_time(q, "from", &time)
         : QUEUECTL_OK;

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    queuectl_logs_path(&path, kind, NULL);
    queuectl_path_query(&path, "queue", q->arguments[0]);
    queuectl_path_query(&path, "partition", queuectl_text(q, "partition"));
    queuectl_path_query(&path, "consumerGroup", queuectl_text(q, "group"));
    queuectl_path_query(&path, "from", time.len ? time.data
                                                : QUEUECTL_LOGS_BEGINNING);
    queuectl_buf_print(&path, "&limit=%lld&offset=%lld", limit, offset);
    queuectl_buf_free(&time);

    return queuectl_call(q, "GET", &path, NULL, a);
}


queuectl_exit_e
queuectl_logs_messages_print(queuectl_t *q, queuectl_span_t page, long long *n)
{
    queuectl_exit_e  rc;
    queuectl_span_t  messages, message;

    if (!queuectl_json_member(page, "messages", &messages)) {
        queuectl_error("the answer has no messages");
        return QUEUECTL_FAILED;
    }

    rc = QUEUECTL_OK;
    message.data = NULL;

    while (rc == QUEUECTL_OK && queuectl_json_next(messages, &message)) {
        rc = queuectl_logs_message(q, message);
        (*n)++;
    }

    return rc;
}
