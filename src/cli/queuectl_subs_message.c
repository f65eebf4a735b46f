
/* Messages of subscriptions of topics: their data is bytes. */

#include "queuectl_subs.h"
#include "queuectl_bytes.h"
#include "queuectl_json.h"

#include <string.h>


static void queuectl_subs_bytes(queuectl_buf_t *data);
static void queuectl_subs_people(queuectl_t *q, queuectl_span_t received,
    queuectl_span_t message, queuectl_buf_t *data);


queuectl_exit_e
queuectl_subs_print(queuectl_t *q, queuectl_span_t received)
{
    int              bad;
    queuectl_buf_t   data, text;
    queuectl_span_t  message;

    if (q->json) {
        queuectl_out_json(received);
        return QUEUECTL_OK;
    }

    memset(&data, 0, sizeof(queuectl_buf_t));
    memset(&text, 0, sizeof(queuectl_buf_t));

    if (!queuectl_json_member(received, "message", &message)) {
        message.len = 0;
    }

    queuectl_json_member_text(message, "data", &text);

    bad = !queuectl_json_is_object(message)
          || queuectl_bytes_read(&data, queuectl_buf_span(&text)) == -1;

    if (bad) {
        queuectl_error("the answer has a message that is none");

    } else if (queuectl_given(q, "raw")) {
        queuectl_subs_bytes(&data);

    } else if (queuectl_given(q, "lines")) {
        queuectl_buf_text(&data, "\n");
        queuectl_subs_bytes(&data);

    } else {
        queuectl_subs_people(q, received, message, &data);
    }

    queuectl_buf_free(&data);
    queuectl_buf_free(&text);

    return bad ? QUEUECTL_FAILED : QUEUECTL_OK;
}


static void
queuectl_subs_bytes(queuectl_buf_t *data)
{
    queuectl_span_t  span;

    span = queuectl_buf_span(data);
    fwrite(span.data, 1, span.len, stdout);
}


static void
queuectl_subs_people(queuectl_t *q, queuectl_span_t received,
    queuectl_span_t message, queuectl_buf_t *data)
{
    static const queuectl_message_label_t  published[] = {
        { "messageId", "Message" },
        { "publishTime", "Published" },
        { "orderingKey", "Key" },
        { NULL, NULL }
    }, delivered[] = {
        { "deliveryAttempt", "Attempt" },
        { "ackId", "Ack id" },
        { NULL, NULL }
    };

    queuectl_message_fields(q, message, published);
    queuectl_message_fields(q, received, delivered);
    queuectl_message_attributes(q, message);
    queuectl_message_lines(q, "Data", queuectl_buf_span(data));
    putchar('\n');
}
