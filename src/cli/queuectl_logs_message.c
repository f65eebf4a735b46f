
/* A message of a log, on stdout. */

#include "queuectl_logs.h"
#include "queuectl_json.h"
#include "queuectl_logs_ack.h"
#include "queuectl_message.h"

#include <string.h>


static void queuectl_logs_message_fields(queuectl_t *q,
    queuectl_span_t message);
static queuectl_exit_e queuectl_logs_message_raw(queuectl_t *q,
    queuectl_span_t payload);


queuectl_exit_e
queuectl_logs_message_form(queuectl_t *q)
{
    if (q->json && (queuectl_given(q, "raw") || queuectl_given(q, "text"))) {
        return queuectl_usage(q, "--json and --raw or --text are one too many");
    }

    return QUEUECTL_OK;
}


queuectl_exit_e
queuectl_logs_message(queuectl_t *q, queuectl_span_t message)
{
    queuectl_span_t  payload;

    if (q->json) {
        queuectl_out_json(message);
        return QUEUECTL_OK;
    }

    if (!queuectl_json_member(message, "data", &payload)) {
        queuectl_error("the answer has a message without a payload");
        return QUEUECTL_FAILED;
    }

    if (queuectl_given(q, "raw") || queuectl_given(q, "text")) {
        return queuectl_logs_message_raw(q, payload);
    }

    queuectl_logs_message_fields(q, message);
    queuectl_message_lines(q, "Payload", payload);
    putchar('\n');

    return QUEUECTL_OK;
}


static void
queuectl_logs_message_fields(queuectl_t *q, queuectl_span_t message)
{
    queuectl_buf_t   text;
    queuectl_span_t  span;

    static const queuectl_message_label_t  labels[] = {
        { "transactionId", "Message" },
        { "partition", "Partition" },
        { "status", "Status" },
        { "createdAt", "Pushed" },
        { "producerSub", "Producer" },
        { "traceId", "Trace" },
        { "consumerGroup", "Group" },
        { "failedAt", "Failed" },
        { "errorMessage", "Error" },
        { "retryCount", "Retries" },
        { NULL, NULL }
    };

    queuectl_message_fields(q, message, labels);
    memset(&text, 0, sizeof(queuectl_buf_t));

    if (queuectl_logs_handle(message, &text)) {
        queuectl_message_field(q, "Handle", queuectl_buf_span(&text));
    }

    queuectl_buf_clear(&text);

    if (queuectl_json_member(message, "failedAt", &span)
        && queuectl_logs_letter(message, &text))
    {
        queuectl_message_field(q, "Letter", queuectl_buf_span(&text));
    }

    queuectl_buf_free(&text);
}


static queuectl_exit_e
queuectl_logs_message_raw(queuectl_t *q, queuectl_span_t payload)
{
    queuectl_buf_t  text;

    memset(&text, 0, sizeof(queuectl_buf_t));

    if (!queuectl_given(q, "text") || !queuectl_json_text(payload, &text)) {
        queuectl_buf_add(&text, payload.data, payload.len);
    }

    queuectl_buf_text(&text, "\n");
    fwrite(text.data, 1, text.len, stdout);
    queuectl_buf_free(&text);

    return QUEUECTL_OK;
}
