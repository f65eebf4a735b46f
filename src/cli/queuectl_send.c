
/* Messages on their way to a queue. */

#include "queuectl_send.h"
#include "queuectl_fields.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <string.h>


static queuectl_exit_e queuectl_send(queuectl_t *q);
static void queuectl_send_path(queuectl_t *q, queuectl_buf_t *path);
static queuectl_exit_e queuectl_send_object(queuectl_t *q,
    queuectl_span_t body, long long line, queuectl_buf_t *object);
static int queuectl_send_duplicate(queuectl_span_t message);
static void queuectl_send_print(queuectl_t *q, queuectl_answer_t *a);


static const queuectl_flag_t  queuectl_send_flags[] = {
    { "file", 'f', QUEUECTL_TEXT, "FILE",
      "take the body, or with --lines all of them, from a file; \"-\": stdin" },
    { "lines", 'l', QUEUECTL_SWITCH, NULL,
      "each line is a body; empty ones are passed over" },
    { "jsonl", 0, QUEUECTL_SWITCH, NULL,
      "each line is a message as receive --json prints it" },
    { "attribute", 'a', QUEUECTL_TEXT, "NAME=VALUE",
      "an attribute; may be given several times" },
    { "delay", 'd', QUEUECTL_SECONDS, "TIME", "visible only then" },
    { "group", 'g', QUEUECTL_TEXT, "GROUP", "FIFO queues: the group" },
    { "deduplication-id", 0, QUEUECTL_TEXT, "ID",
      "FIFO queues: the same one within 5 minutes is stored once" },
    { "start-line", 0, QUEUECTL_NUMBER, "N",
      "go on with that line of the file" },
    { "keep-going", 0, QUEUECTL_SWITCH, NULL,
      "pass over lines that are refused" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_send_commands[] = {
    { NULL, "send", "QUEUE [BODY]", 1, 2, QUEUECTL_API,
      "Send a message, or one for each line of a file",
      "Without BODY and --file, or with \"-\", the body is stdin, all of it, byte "
      "for\nbyte; it is text in UTF-8. Files of lines go in batches of ten, and "
      "wait where the\nserver asks for it (429, 503). After a 503 a batch may "
      "have been stored: on queues\nwithout deduplication some lines may be "
      "there twice.\n\n"
      "  queuectl send orders '{\"orderId\": 1}' --attribute source=shop\n"
      "  queuectl send orders --file order.json\n"
      "  queuectl send orders --file orders.txt --lines\n"
      "  queuectl send payments '10 EUR' --group account-7 "
      "--deduplication-id p-1\n",
      queuectl_send_flags, queuectl_send },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_send(queuectl_t *q)
{
    static const char *const  single[] = { "deduplication-id", NULL };
    static const char *const  jsonl[] = { "attribute", "delay", "group",
                                          "lines", "deduplication-id", NULL };

    static const queuectl_sending_t  sending = {
        .single = single,
        .jsonl = jsonl,
        .before = "{\"messages\":[",
        .bare = 1,
        .batch = 10,
        .stored = "messages",
        .path = queuectl_send_path,
        .object = queuectl_send_object,
        .duplicate = queuectl_send_duplicate,
        .print = queuectl_send_print
    };

    return queuectl_input(q, &sending);
}


static void
queuectl_send_path(queuectl_t *q, queuectl_buf_t *path)
{
    queuectl_path(q, path, "queues", q->arguments[0], "/messages");
}


static queuectl_exit_e
queuectl_send_object(queuectl_t *q, queuectl_span_t body, long long line,
    queuectl_buf_t *object)
{
    size_t            i, bad;
    const char       *text;
    queuectl_exit_e   rc;

    static const struct {
        const char  *flag;
        const char  *member;
    } texts[] = {
        { "group", "groupId" },
        { "deduplication-id", "deduplicationId" },
    };

    if (line && queuectl_given(q, "jsonl")) {
        return queuectl_send_line(body, object);
    }

    if (body.len == 0) {
        queuectl_error("there is no body: a message has one character at "
                       "least");
        return QUEUECTL_USAGE;
    }

    queuectl_buf_text(object, "{\"body\":");

    if (queuectl_buf_json(object, body, &bad) == -1) {
        queuectl_error("byte %zu of the body is not UTF-8: bodies are text. "
                       "base64 makes text of anything", bad + 1);
        return QUEUECTL_FAILED;
    }

    if (queuectl_given(q, "delay")) {
        queuectl_buf_member_number(object, "delaySeconds",
                                   queuectl_number(q, "delay", 0));
    }

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        text = queuectl_text(q, texts[i].flag);

        if (text && queuectl_buf_member_text(object, texts[i].member, text)
                    == -1)
        {
            return queuectl_usage(q, "--%s is not UTF-8", texts[i].flag);
        }
    }

    rc = queuectl_fields_pairs(q, "attribute", "attributes", object);
    queuectl_buf_text(object, "}");

    return rc;
}


static int
queuectl_send_duplicate(queuectl_span_t message)
{
    return queuectl_json_member_true(message, "duplicate");
}


static void
queuectl_send_print(queuectl_t *q, queuectl_answer_t *a)
{
    queuectl_buf_t   text;
    queuectl_span_t  messages, message, seq;

    if (!queuectl_json_member(a->json, "messages", &messages)) {
        return;
    }

    memset(&text, 0, sizeof(queuectl_buf_t));
    message.data = NULL;

    while (queuectl_json_next(messages, &message)) {

        if (q->json) {
            queuectl_out_json(message);
            continue;
        }

        queuectl_buf_clear(&text);
        queuectl_buf_text(&text, "sent ");
        queuectl_json_member_text(message, "messageId", &text);

        if (queuectl_json_member(message, "seq", &seq)) {
            queuectl_buf_text(&text, ", sequence ");
            queuectl_json_text(seq, &text);
        }

        if (queuectl_send_duplicate(message)) {
            queuectl_buf_text(&text, ", a duplicate: it was there before");
        }

        queuectl_out_safe(text.data);
    }

    queuectl_buf_free(&text);
}
