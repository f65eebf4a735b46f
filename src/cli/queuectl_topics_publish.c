
/* Messages on their way to a topic. */

#include "queuectl_topics.h"
#include "queuectl_bytes.h"
#include "queuectl_fields.h"
#include "queuectl_json.h"
#include "queuectl_send.h"

#include <string.h>


/* the server takes ten times as many, and of a topic with many subscriptions
   fewer */

#define QUEUECTL_TOPICS_PUBLISH_BATCH  100


static queuectl_exit_e queuectl_topics_publish(queuectl_t *q);
static void queuectl_topics_publish_path(queuectl_t *q, queuectl_buf_t *path);
static queuectl_exit_e queuectl_topics_publish_object(queuectl_t *q,
    queuectl_span_t data, long long line, queuectl_buf_t *object);
static queuectl_exit_e queuectl_topics_publish_line(queuectl_span_t line,
    queuectl_buf_t *object);
static void queuectl_topics_publish_print(queuectl_t *q, queuectl_answer_t *a);


static const queuectl_flag_t  queuectl_topics_publish_flags[] = {
    { "file", 'f', QUEUECTL_TEXT, "FILE",
      "take the data, or with --lines all of them, from a file; \"-\": stdin" },
    { "lines", 'l', QUEUECTL_SWITCH, NULL,
      "each line is a message; empty ones are passed over" },
    { "jsonl", 0, QUEUECTL_SWITCH, NULL,
      "each line is a message as subs pull --json prints it" },
    { "attribute", 'a', QUEUECTL_TEXT, "NAME=VALUE",
      "an attribute; may be given several times" },
    { "ordering-key", 0, QUEUECTL_TEXT, "KEY",
      "messages of one key keep their order" },
    { "start-line", 0, QUEUECTL_NUMBER, "N",
      "go on with that line of the file" },
    { "keep-going", 0, QUEUECTL_SWITCH, NULL,
      "pass over lines that are refused" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_topics_publish_commands[] = {
    { "topics", "publish", "TOPIC [DATA]", 1, 2, QUEUECTL_API,
      "Publish a message, or one for each line of a file",
      "Without DATA and --file, or with \"-\", the data is stdin, all of it, "
      "byte for byte:\nany bytes will do. Files of lines go in batches of a "
      "hundred, and wait where the\nserver asks for it (429, 503). After a 503 "
      "a batch may have been published: some\nmessages may be there twice.\n\n"
      "  queuectl topics publish orders '{\"orderId\": 1}' "
      "--attribute source=shop\n"
      "  queuectl topics publish photos --file photo.jpeg\n"
      "  queuectl topics publish orders --file orders.txt --lines "
      "--ordering-key shop-1\n",
      queuectl_topics_publish_flags, queuectl_topics_publish },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_topics_publish(queuectl_t *q)
{
    static const char *const  single[] = { NULL };
    static const char *const  jsonl[] = { "attribute", "ordering-key", "lines",
                                          NULL };

    /* a batch that is too large is refused as such, and blames no message */

    static const queuectl_sending_t  sending = {
        .single = single,
        .jsonl = jsonl,
        .before = "{\"messages\":[",
        .batch = QUEUECTL_TOPICS_PUBLISH_BATCH,
        .blind = 1,
        .stored = "messageIds",
        .path = queuectl_topics_publish_path,
        .object = queuectl_topics_publish_object,
        .print = queuectl_topics_publish_print
    };

    return queuectl_input(q, &sending);
}


static void
queuectl_topics_publish_path(queuectl_t *q, queuectl_buf_t *path)
{
    queuectl_topics_path(q, path, "topics", q->arguments[0], ":publish");
}


static queuectl_exit_e
queuectl_topics_publish_object(queuectl_t *q, queuectl_span_t data,
    long long line, queuectl_buf_t *object)
{
    const char       *key;
    queuectl_exit_e   rc;

    if (line && queuectl_given(q, "jsonl")) {
        return queuectl_topics_publish_line(data, object);
    }

    if (data.len == 0 && !queuectl_given(q, "attribute")) {
        queuectl_error("there is nothing to publish: a message has data or an "
                       "attribute");
        return QUEUECTL_USAGE;
    }

    queuectl_buf_text(object, "{\"data\":\"");
    queuectl_bytes_write(object, data);
    queuectl_buf_text(object, "\"");

    key = queuectl_text(q, "ordering-key");

    if (key && queuectl_buf_member_text(object, "orderingKey", key) == -1) {
        return queuectl_usage(q, "--ordering-key is not UTF-8");
    }

    rc = queuectl_fields_pairs(q, "attribute", "attributes", object);
    queuectl_buf_text(object, "}");

    return rc;
}


/* as it was pulled: the message alone, or with what a pull has around it */

static queuectl_exit_e
queuectl_topics_publish_line(queuectl_span_t line, queuectl_buf_t *object)
{
    queuectl_span_t  value, message;

    static const char *const  members[] = { "data", "attributes",
                                            "orderingKey", NULL };

    if (queuectl_json_check(line) == -1) {
        queuectl_error("that is not JSON");
        return QUEUECTL_FAILED;
    }

    value = queuectl_json_value(line);

    if (queuectl_json_member(value, "message", &message)) {
        value = message;
    }

    if (!queuectl_json_member(value, "data", &message)
        && !queuectl_json_member(value, "attributes", &message))
    {
        queuectl_error("that is no message: it has no data and no attributes");
        return QUEUECTL_FAILED;
    }

    queuectl_buf_text(object, "{");
    queuectl_line_members(value, members, object);
    queuectl_buf_text(object, "}");

    return QUEUECTL_OK;
}


static void
queuectl_topics_publish_print(queuectl_t *q, queuectl_answer_t *a)
{
    queuectl_buf_t   text;
    queuectl_span_t  ids, id;

    if (q->json) {
        queuectl_out_json(a->json);
        return;
    }

    if (!queuectl_json_member(a->json, "messageIds", &ids)) {
        return;
    }

    memset(&text, 0, sizeof(queuectl_buf_t));
    id.data = NULL;

    while (queuectl_json_next(ids, &id)) {
        queuectl_buf_clear(&text);
        queuectl_buf_text(&text, "published ");
        queuectl_json_text(id, &text);
        queuectl_out_safe(text.data);
    }

    queuectl_buf_free(&text);
}
