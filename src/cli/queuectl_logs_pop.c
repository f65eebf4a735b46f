
/* logs pop: messages are printed, then perhaps acknowledged. */

#include "queuectl_logs.h"
#include "queuectl_json.h"
#include "queuectl_logs_ack.h"
#include "queuectl_settle.h"

#include <string.h>


/* of a longer wait: proxies do not let a call wait for ever */

#define QUEUECTL_LOGS_POP_WAIT  20


static queuectl_exit_e queuectl_logs_pop(queuectl_t *q);
static queuectl_exit_e queuectl_logs_pop_path(queuectl_t *q,
    queuectl_buf_t *path);
static queuectl_exit_e queuectl_logs_pop_from(queuectl_t *q,
    queuectl_buf_t *path);
static void queuectl_logs_pop_number(queuectl_t *q, queuectl_buf_t *path,
    const char *flag, const char *name, long long otherwise);
static queuectl_exit_e queuectl_logs_pop_all(queuectl_t *q, const char *path,
    long long *got);
static queuectl_exit_e queuectl_logs_pop_call(queuectl_t *q, const char *path,
    long long wait, long long *n);
static queuectl_exit_e queuectl_logs_pop_messages(queuectl_t *q,
    queuectl_span_t answer, long long *n);


static const queuectl_flag_t  queuectl_logs_pop_flags[] = {
    { "group", 'g', QUEUECTL_TEXT, "GROUP",
      "the consumer group; without one: the queue's own" },
    { "partition", 0, QUEUECTL_TEXT, "PARTITION", "of this partition alone" },
    { "batch", 0, QUEUECTL_NUMBER, "N",
      "messages of a call at most, to 1000: 1, with --all 1000" },
    { "partitions", 0, QUEUECTL_NUMBER, "N",
      "of so many partitions, to 1000: 1, with --all 100" },
    { "wait", 'w', QUEUECTL_SECONDS, "TIME", "wait so long for the first one" },
    { "lease", 0, QUEUECTL_SECONDS, "TIME",
      "for so long; the queue's lease time" },
    { "from", 0, QUEUECTL_TEXT, "MOMENT",
      "where the group begins that is new: now, beginning, a time" },
    { "ack", 'a', QUEUECTL_SWITCH, NULL,
      "acknowledge them, once they are printed" },
    { "all", 0, QUEUECTL_SWITCH, NULL,
      "again and again, until there is none" },
    QUEUECTL_LOGS_FORM,
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_pop_commands[] = {
    { "logs", "pop", "QUEUE", 1, 1, QUEUECTL_LOGS_API,
      "Pop messages for a group, and print them with their handles",
      "They are leased: what is not acknowledged comes again when the lease "
      "ends. With\n--ack they are once they have been written to stdout. A "
      "MOMENT is a time such as\n2026-08-01T12:00:00Z, or how long ago: 2h.\n\n"
      "  queuectl logs pop orders --group billing --batch 10 --wait 20s\n"
      "  queuectl logs pop orders --group audit --from 2h\n"
      "  queuectl logs pop orders --group copy --all --ack --json > "
      "orders.jsonl\n",
      queuectl_logs_pop_flags, queuectl_logs_pop },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_logs_pop(queuectl_t *q)
{
    long long        got;
    queuectl_buf_t   path;
    queuectl_exit_e  rc;

    rc = queuectl_logs_message_form(q);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    if (queuectl_given(q, "all") && !queuectl_given(q, "ack")) {
        return queuectl_usage(q, "--all is for --ack: what is leased and not "
                              "acknowledged would come again");
    }

    memset(&path, 0, sizeof(queuectl_buf_t));
    got = 0;

    rc = queuectl_logs_pop_path(q, &path);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_pop_all(q, path.data, &got);
    }

    if (queuectl_given(q, "all") && (rc == QUEUECTL_OK || got)) {
        queuectl_note(q, "%lld %s popped and acknowledged", got,
                      got == 1 ? "message" : "messages");

    } else if (rc == QUEUECTL_OK && got == 0) {
        queuectl_note(q, "no messages");
    }

    queuectl_buf_free(&path);

    return rc;
}


static queuectl_exit_e
queuectl_logs_pop_path(queuectl_t *q, queuectl_buf_t *path)
{
    int          all;
    const char  *partition;

    partition = queuectl_text(q, "partition");
    all = queuectl_given(q, "all");

    if (partition && partition[0] == '\0') {
        return queuectl_usage(q, "a partition without a name cannot be named");
    }

    if (partition) {
        queuectl_logs_path(path, "pop/queue/", q->arguments[0], "/partition/",
                           partition, NULL);
    } else {
        queuectl_logs_path(path, "pop/queue/", q->arguments[0], NULL);
    }

    queuectl_logs_pop_number(q, path, "batch", "batch", all ? 1000 : 1);
    queuectl_logs_pop_number(q, path, "partitions", "partitions",
                             all ? 100 : 1);
    queuectl_logs_pop_number(q, path, "lease", "leaseSeconds", 0);
    queuectl_path_query(path, "consumerGroup", queuectl_text(q, "group"));

    return queuectl_logs_pop_from(q, path);
}


static void
queuectl_logs_pop_number(queuectl_t *q, queuectl_buf_t *path,
    const char *flag, const char *name, long long otherwise)
{
    char  text[24];

    snprintf(text, sizeof(text), "%lld", queuectl_number(q, flag, otherwise));
    queuectl_path_query(path, name, text);
}


static queuectl_exit_e
queuectl_logs_pop_from(queuectl_t *q, queuectl_buf_t *path)
{
    const char      *from;
    queuectl_buf_t   time;
    queuectl_exit_e  rc;

    from = queuectl_text(q, "from");

    if (from == NULL) {
        return QUEUECTL_OK;
    }

    if (!queuectl_given(q, "group")) {
        return queuectl_usage(q, "--from is for a group: without one it is "
                              "always the oldest message");
    }

    if (strcmp(from, "now") == 0) {
        queuectl_path_query(path, "subscriptionFrom", from);
        return QUEUECTL_OK;
    }

    if (strcmp(from, "beginning") == 0) {
        queuectl_path_query(path, "subscriptionMode", "all");
        return QUEUECTL_OK;
    }

    memset(&time, 0, sizeof(queuectl_buf_t));
    rc = queuectl_logs_time(q, "from", &time);

    if (rc == QUEUECTL_OK) {
        queuectl_path_query(path, "subscriptionFrom", time.data);
    }

    queuectl_buf_free(&time);

    return rc;
}


/* only for the first message it waits, a call after the other */

static queuectl_exit_e
queuectl_logs_pop_all(queuectl_t *q, const char *path, long long *got)
{
    long long        n, left, wait;
    queuectl_exit_e  rc;

    left = queuectl_number(q, "wait", 0);

    do {
        wait = left > QUEUECTL_LOGS_POP_WAIT ? QUEUECTL_LOGS_POP_WAIT : left;

        rc = queuectl_logs_pop_call(q, path, wait, &n);
        *got += rc == QUEUECTL_OK || !queuectl_given(q, "ack") ? n : 0;

        if (queuectl_interrupts()) {
            return rc ? rc : QUEUECTL_INTERRUPTED;
        }

        left = n ? 0 : left - wait;

    } while (rc == QUEUECTL_OK
             && (n ? queuectl_given(q, "all") : left > 0));

    return rc;
}


static queuectl_exit_e
queuectl_logs_pop_call(queuectl_t *q, const char *path, long long wait,
    long long *n)
{
    queuectl_buf_t      whole;
    queuectl_exit_e     rc;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    *n = 0;
    memset(&whole, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&whole, path);

    if (wait > 0) {
        queuectl_buf_print(&whole, "&wait=true&timeout=%lld", wait * 1000);
    }

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "GET";
    r.path = whole.data;
    r.wait = wait;
    r.patient = queuectl_given(q, "all");

    rc = queuectl_http_call(q, &r, &a);

    /* 204: there is none */

    if (rc == QUEUECTL_OK && a.json.len) {
        rc = queuectl_logs_pop_messages(q, a.json, n);
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&whole);

    return rc;
}


static queuectl_exit_e
queuectl_logs_pop_messages(queuectl_t *q, queuectl_span_t answer, long long *n)
{
    queuectl_exit_e       rc;
    queuectl_span_t       messages, message;
    queuectl_logs_acks_t  acks;

    if (!queuectl_json_member(answer, "messages", &messages)) {
        queuectl_error("the answer has no messages");
        return QUEUECTL_FAILED;
    }

    memset(&acks, 0, sizeof(queuectl_logs_acks_t));
    message.data = NULL;
    rc = QUEUECTL_OK;

    while (rc == QUEUECTL_OK && queuectl_json_next(messages, &message)) {
        if (!queuectl_logs_acks_message(&acks, message)) {
            queuectl_error("the answer has a message without a lease");
            rc = QUEUECTL_FAILED;
            break;
        }

        rc = queuectl_logs_message(q, message);
        *n += rc == QUEUECTL_OK;
    }

    /* what could not be written is not acknowledged: it comes again */

    if (queuectl_out_flush() != QUEUECTL_OK) {
        rc = QUEUECTL_FAILED;

    } else if (rc == QUEUECTL_OK && queuectl_given(q, "ack")) {
        rc = queuectl_settle_printed(rc, queuectl_logs_acks_send(q, &acks));
    }

    queuectl_logs_acks_free(&acks);

    return rc;
}
