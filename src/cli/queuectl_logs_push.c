
/* Messages on their way to a log: payloads are sent as given, byte for byte. */

#include "queuectl_logs.h"
#include "queuectl_json.h"
#include "queuectl_send.h"

#include <string.h>
#include <time.h>


/* the server takes 10,000; a batch has some 750 KiB at most */

#define QUEUECTL_LOGS_PUSH_BATCH  1000


static queuectl_exit_e queuectl_logs_push(queuectl_t *q);
static void queuectl_logs_push_path(queuectl_t *q, queuectl_buf_t *path);
static queuectl_exit_e queuectl_logs_push_object(queuectl_t *q,
    queuectl_span_t payload, long long line, queuectl_buf_t *object);
static queuectl_exit_e queuectl_logs_push_payload(queuectl_t *q,
    queuectl_span_t payload, queuectl_buf_t *object);
static queuectl_exit_e queuectl_logs_push_line(queuectl_span_t *line,
    queuectl_span_t *payload);
static queuectl_exit_e queuectl_logs_push_id(queuectl_t *q,
    queuectl_span_t message, long long line, queuectl_buf_t *object);
static void queuectl_logs_push_uuid(char text[37]);
static int queuectl_logs_push_duplicate(queuectl_span_t item);
static void queuectl_logs_push_print(queuectl_t *q, queuectl_answer_t *a);


static const queuectl_flag_t  queuectl_logs_push_flags[] = {
    { "partition", 0, QUEUECTL_TEXT, "PARTITION",
      "to this partition: Default" },
    { "id", 0, QUEUECTL_TEXT, "ID",
      "the transaction id; of lines: ID-1, ID-2 and so on" },
    { "trace", 0, QUEUECTL_TEXT, "ID", "a trace id, that comes back with it" },
    { "text", 0, QUEUECTL_SWITCH, NULL,
      "it is no JSON, but text: a JSON string is made of it" },
    { "file", 'f', QUEUECTL_TEXT, "FILE",
      "take the payload, or with --lines all of them, from a file; "
      "\"-\": stdin" },
    { "lines", 'l', QUEUECTL_SWITCH, NULL,
      "each line is a payload; empty ones are passed over" },
    { "jsonl", 0, QUEUECTL_SWITCH, NULL,
      "each line is a message as logs pop --json prints it" },
    { "start-line", 0, QUEUECTL_NUMBER, "N",
      "go on with that line of the file" },
    { "keep-going", 0, QUEUECTL_SWITCH, NULL,
      "pass over lines that are refused" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_push_commands[] = {
    { "logs", "push", "QUEUE [PAYLOAD]", 1, 2, QUEUECTL_LOGS_API,
      "Push a message, or one for each line of a file",
      "Without PAYLOAD and --file, or with \"-\", the payload is stdin. It is "
      "JSON, and stays\nas it is, byte for byte. A line of --jsonl has payload "
      "or data, and perhaps partition,\ntransactionId and traceId; --partition "
      "and --id come before those.\n"
      "Each message has a transaction id, which is made where there is none: "
      "what is sent\nagain after a 503 is stored once, within the queue's "
      "deduplication window. With --id\nthat is so for a whole file of lines "
      "that is pushed again.\n\n"
      "  queuectl logs push orders '{\"orderId\": 1}' --partition acct-42\n"
      "  date | queuectl logs push orders --text\n"
      "  queuectl logs push orders --jsonl --file orders.jsonl --id import-7\n",
      queuectl_logs_push_flags, queuectl_logs_push },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_logs_push(queuectl_t *q)
{
    static const char *const  single[] = { NULL };
    static const char *const  jsonl[] = { "lines", "text", "trace", NULL };

    static const queuectl_sending_t  sending = {
        .single = single,
        .jsonl = jsonl,
        .before = "{\"items\":[",
        .batch = QUEUECTL_LOGS_PUSH_BATCH,
        .blind = 1,
        .path = queuectl_logs_push_path,
        .object = queuectl_logs_push_object,
        .duplicate = queuectl_logs_push_duplicate,
        .print = queuectl_logs_push_print
    };

    /* of lines it would make ids that other files have as well */

    if (queuectl_text(q, "id") && queuectl_text(q, "id")[0] == '\0') {
        return queuectl_usage(q, "--id is empty");
    }

    return queuectl_input(q, &sending);
}


static void
queuectl_logs_push_path(queuectl_t *q, queuectl_buf_t *path)
{
    (void) q;

    queuectl_logs_path(path, "push", NULL);
}


static queuectl_exit_e
queuectl_logs_push_object(queuectl_t *q, queuectl_span_t payload,
    long long line, queuectl_buf_t *object)
{
    int              jsonl;
    queuectl_exit_e  rc;
    queuectl_span_t  message;

    jsonl = line && queuectl_given(q, "jsonl");
    message.data = NULL;
    message.len = 0;

    if (jsonl) {
        message = payload;
        rc = queuectl_logs_push_line(&message, &payload);

        if (rc != QUEUECTL_OK) {
            return rc;
        }
    }

    queuectl_buf_text(object, "{");

    if (queuectl_buf_member_text(object, "queue", q->arguments[0]) == -1) {
        return queuectl_usage(q, "the name is not UTF-8");
    }

    rc = queuectl_logs_member(q, "partition", message, "partition", object);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_member(q, "trace", message, "traceId", object);
    }

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_push_id(q, message, line, object);
    }

    if (rc == QUEUECTL_OK) {
        queuectl_buf_member(object, "payload");

        if (jsonl) {
            queuectl_buf_add(object, payload.data, payload.len);

        } else {
            rc = queuectl_logs_push_payload(q, payload, object);
        }
    }

    queuectl_buf_text(object, "}");

    return rc;
}


static queuectl_exit_e
queuectl_logs_push_payload(queuectl_t *q, queuectl_span_t payload,
    queuectl_buf_t *object)
{
    size_t  bad;

    if (queuectl_given(q, "text")) {
        if (queuectl_buf_json(object, payload, &bad) == -1) {
            queuectl_error("byte %zu of the payload is not UTF-8: base64 makes "
                           "text of anything", bad + 1);
            return QUEUECTL_FAILED;
        }

        return QUEUECTL_OK;
    }

    if (queuectl_json_check(payload) == -1) {
        queuectl_error("the payload is not JSON: --text makes a JSON string of "
                       "text");
        return QUEUECTL_FAILED;
    }

    payload = queuectl_json_value(payload);
    queuectl_buf_add(object, payload.data, payload.len);

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_logs_push_line(queuectl_span_t *line, queuectl_span_t *payload)
{
    if (queuectl_json_check(*line) == -1) {
        queuectl_error("that is not JSON");
        return QUEUECTL_FAILED;
    }

    *line = queuectl_json_value(*line);

    if (!queuectl_json_member(*line, "payload", payload)
        && !queuectl_json_member(*line, "data", payload))
    {
        queuectl_error("that is no message: it has no payload");
        return QUEUECTL_FAILED;
    }

    return QUEUECTL_OK;
}


/* an id of our own: a call that is made again stores nothing twice */

static queuectl_exit_e
queuectl_logs_push_id(queuectl_t *q, queuectl_span_t message, long long line,
    queuectl_buf_t *object)
{
    int              bad;
    char             uuid[37];
    const char      *text;
    queuectl_buf_t   id;
    queuectl_span_t  value;

    text = queuectl_text(q, "id");

    if (text == NULL
        && queuectl_json_member(message, "transactionId", &value)
        && queuectl_json_is_string(value) && value.len > 2)
    {
        queuectl_buf_member(object, "transactionId");
        queuectl_buf_add(object, value.data, value.len);

        return QUEUECTL_OK;
    }

    memset(&id, 0, sizeof(queuectl_buf_t));

    if (text && line) {
        queuectl_buf_print(&id, "%s-%lld", text, line);

    } else if (text) {
        queuectl_buf_text(&id, text);

    } else {
        queuectl_logs_push_uuid(uuid);
        queuectl_buf_text(&id, uuid);
    }

    bad = queuectl_buf_member_text(object, "transactionId", id.data);
    queuectl_buf_free(&id);

    return bad ? queuectl_usage(q, "--id is not UTF-8") : QUEUECTL_OK;
}


/* version 7, as the server makes them */

static void
queuectl_logs_push_uuid(char text[37])
{
    int              i;
    char            *p;
    long long        ms;
    unsigned char    bytes[16];
    struct timespec  now;

    clock_gettime(CLOCK_REALTIME, &now);
    ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000;

    queuectl_random(bytes, sizeof(bytes));

    for (i = 0; i < 6; i++) {
        bytes[i] = ms >> (40 - 8 * i);
    }

    bytes[6] = 0x70 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);

    p = text;

    for (i = 0; i < 16; i++) {
        p += sprintf(p, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-"
                                  : "", bytes[i]);
    }
}


static int
queuectl_logs_push_duplicate(queuectl_span_t item)
{
    return queuectl_logs_is(item, "status", "duplicate");
}


static void
queuectl_logs_push_print(queuectl_t *q, queuectl_answer_t *a)
{
    queuectl_buf_t   text;
    queuectl_span_t  item;

    memset(&text, 0, sizeof(queuectl_buf_t));
    item.data = NULL;

    while (queuectl_json_next(a->json, &item)) {

        if (q->json) {
            queuectl_out_json(item);
            continue;
        }

        queuectl_buf_clear(&text);
        queuectl_buf_text(&text, "pushed ");
        queuectl_json_member_text(item, "transaction_id", &text);

        if (queuectl_logs_push_duplicate(item)) {
            queuectl_buf_text(&text, ", a duplicate: it was there before");
        }

        queuectl_out_safe(text.data);
    }

    queuectl_buf_free(&text);
}
