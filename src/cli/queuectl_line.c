
/* What a send takes of a message that was received: its bytes, not a copy. */

#include "queuectl_json.h"
#include "queuectl_out.h"
#include "queuectl_send.h"

#include <string.h>


static void queuectl_line_attributes(queuectl_span_t attributes,
    queuectl_buf_t *object);


queuectl_exit_e
queuectl_send_line(queuectl_span_t line, queuectl_buf_t *object)
{
    queuectl_span_t  value, span;

    static const char *const  members[] = { "delaySeconds", "groupId",
                                            "deduplicationId", NULL };

    if (queuectl_json_check(line) == -1) {
        queuectl_error("that is not JSON");
        return QUEUECTL_FAILED;
    }

    value = queuectl_json_value(line);

    if (!queuectl_json_member(value, "body", &span)) {
        queuectl_error("that is no message: it has no body");
        return QUEUECTL_FAILED;
    }

    queuectl_buf_text(object, "{\"body\":");
    queuectl_buf_add(object, span.data, span.len);

    queuectl_line_members(value, members, object);

    if (queuectl_json_member(value, "attributes", &span)) {
        queuectl_buf_member(object, "attributes");
        queuectl_line_attributes(span, object);
    }

    queuectl_buf_text(object, "}");

    return QUEUECTL_OK;
}


void
queuectl_line_members(queuectl_span_t value, const char *const *members,
    queuectl_buf_t *object)
{
    size_t           i;
    queuectl_span_t  span;

    for (i = 0; members[i]; i++) {
        if (queuectl_json_member(value, members[i], &span)) {
            queuectl_buf_member(object, members[i]);
            queuectl_buf_add(object, span.data, span.len);
        }
    }
}


/* those that the server gives to dead letters are not for senders */

static void
queuectl_line_attributes(queuectl_span_t attributes,
    queuectl_buf_t *object)
{
    int              any;
    queuectl_buf_t   text;
    queuectl_span_t  name, value;

    if (!queuectl_json_is_object(attributes)) {
        queuectl_buf_add(object, attributes.data, attributes.len);
        return;
    }

    any = 0;
    name.data = NULL;
    memset(&text, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(object, "{");

    while (queuectl_json_next_member(attributes, &name, &value)) {
        queuectl_buf_clear(&text);
        queuectl_json_text(name, &text);

        if (text.len && strncasecmp(text.data, "ezgh.", 5) == 0) {
            continue;
        }

        queuectl_buf_text(object, any ? "," : "");
        queuectl_buf_add(object, name.data, name.len);
        queuectl_buf_text(object, ":");
        queuectl_buf_add(object, value.data, value.len);
        any = 1;
    }

    queuectl_buf_text(object, "}");
    queuectl_buf_free(&text);
}
