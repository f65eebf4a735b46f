
/* A message of a queue, on stdout; and what is shown of any message. */

#include "queuectl_message.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <string.h>


#define QUEUECTL_MESSAGE_INDENT  "             "


static queuectl_exit_e queuectl_message_raw(queuectl_span_t message);


queuectl_exit_e
queuectl_message_print(queuectl_t *q, queuectl_span_t message)
{
    queuectl_buf_t  text;

    static const queuectl_message_label_t  labels[] = {
        { "messageId", "Message" },
        { "sentAt", "Sent" },
        { "groupId", "Group" },
        { "seq", "Sequence" },
        { "receiptHandle", "Handle" },
        { "receiveCount", "Received" },
        { NULL, NULL }
    };

    if (q->json) {
        queuectl_out_json(message);
        return QUEUECTL_OK;
    }

    if (queuectl_given(q, "raw")) {
        return queuectl_message_raw(message);
    }

    queuectl_message_fields(q, message, labels);
    queuectl_message_attributes(q, message);

    memset(&text, 0, sizeof(queuectl_buf_t));
    queuectl_json_member_text(message, "body", &text);
    queuectl_message_lines(q, "Body", queuectl_buf_span(&text));
    queuectl_buf_free(&text);
    putchar('\n');

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_message_raw(queuectl_span_t message)
{
    queuectl_buf_t  body;

    memset(&body, 0, sizeof(queuectl_buf_t));

    if (!queuectl_json_member_text(message, "body", &body)) {
        queuectl_error("the answer has a message without a body");
        return QUEUECTL_FAILED;
    }

    queuectl_buf_text(&body, "\n");
    fwrite(body.data, 1, body.len, stdout);
    queuectl_buf_free(&body);

    return QUEUECTL_OK;
}


void
queuectl_message_fields(queuectl_t *q, queuectl_span_t object,
    const queuectl_message_label_t *labels)
{
    long long       number;
    queuectl_buf_t  text;

    memset(&text, 0, sizeof(queuectl_buf_t));

    for ( /* void */ ; labels->name; labels++) {
        queuectl_buf_clear(&text);

        if (queuectl_json_member_number(object, labels->name, &number)) {
            queuectl_buf_print(&text, "%lld", number);

        } else if (!queuectl_json_member_text(object, labels->name, &text)) {
            continue;
        }

        queuectl_message_field(q, labels->label, queuectl_buf_span(&text));
    }

    queuectl_buf_free(&text);
}


void
queuectl_message_field(queuectl_t *q, const char *label, queuectl_span_t text)
{
    queuectl_buf_t  safe;

    memset(&safe, 0, sizeof(queuectl_buf_t));
    queuectl_buf_safe(&safe, text, 0);

    printf("%s%-11s%s  %s\n", q->colour ? "\033[1m" : "", label,
           q->colour ? "\033[0m" : "", safe.len ? safe.data : "");

    queuectl_buf_free(&safe);
}


void
queuectl_message_attributes(queuectl_t *q, queuectl_span_t message)
{
    queuectl_buf_t   text;
    queuectl_span_t  attributes, name, value;

    if (!queuectl_json_member(message, "attributes", &attributes)) {
        return;
    }

    memset(&text, 0, sizeof(queuectl_buf_t));
    name.data = NULL;

    while (queuectl_json_next_member(attributes, &name, &value)) {
        queuectl_buf_clear(&text);
        queuectl_json_text(name, &text);
        queuectl_buf_text(&text, "=");
        queuectl_json_text(value, &text);
        queuectl_message_field(q, "Attribute", queuectl_buf_span(&text));
    }

    queuectl_buf_free(&text);
}


void
queuectl_message_lines(queuectl_t *q, const char *label, queuectl_span_t text)
{
    char            *line, *end;
    queuectl_buf_t   safe;

    memset(&safe, 0, sizeof(queuectl_buf_t));

    queuectl_buf_text(&safe, "");
    queuectl_buf_safe(&safe, text, 1);

    printf("%s%-11s%s  ", q->colour ? "\033[1m" : "", label,
           q->colour ? "\033[0m" : "");

    line = safe.data;

    while ((end = strchr(line, '\n')) != NULL) {
        printf("%.*s\n%s", (int) (end - line), line, QUEUECTL_MESSAGE_INDENT);
        line = end + 1;
    }

    printf("%s\n", line);

    queuectl_buf_free(&safe);
}
