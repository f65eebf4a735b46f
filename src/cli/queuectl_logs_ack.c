
/* Acknowledgements, by the handles that a pop prints. */

#include "queuectl_logs_ack.h"
#include "queuectl_json.h"
#include "queuectl_logs.h"

#include <stdlib.h>
#include <string.h>


static queuectl_exit_e queuectl_logs_ack(queuectl_t *q);
static queuectl_exit_e queuectl_logs_ack_flags(queuectl_t *q,
    queuectl_logs_acks_t *acks);
static queuectl_exit_e queuectl_logs_ack_stdin(queuectl_logs_acks_t *acks);
static queuectl_exit_e queuectl_logs_ack_text(queuectl_logs_acks_t *acks,
    const char *text);


static const queuectl_flag_t  queuectl_logs_ack_table[] = {
    { "failed", 0, QUEUECTL_SWITCH, NULL,
      "it has failed: it comes again, so often as the queue has it" },
    { "retry", 0, QUEUECTL_SWITCH, NULL, "it comes again, as often as it may" },
    { "dlq", 0, QUEUECTL_SWITCH, NULL, "it becomes a dead letter" },
    { "error", 0, QUEUECTL_TEXT, "TEXT",
      "with --failed, --retry and --dlq: what a dead letter says" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_ack_commands[] = {
    { "logs", "ack", "HANDLE...", 1, -1, QUEUECTL_LOGS_API,
      "Acknowledge messages, or say that they have failed",
      "A message that is acknowledged completes all before it in its "
      "partition; one that\nhas failed holds those behind it. With \"-\" for a "
      "handle they are read from stdin, one\na line, or messages as logs pop "
      "--json prints them. A handle is partitionId, leaseId,\nconsumerGroup and "
      "transactionId, percent-encoded, with colons between.\n\n"
      "  queuectl logs ack 66d38ac9-...:01a22dbd-...:billing:order-1\n"
      "  queuectl logs ack \"$HANDLE\" --failed --error 'no such account'\n"
      "  queuectl logs ack - < messages.jsonl\n",
      queuectl_logs_ack_table, queuectl_logs_ack },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_logs_ack(queuectl_t *q)
{
    int                   i;
    queuectl_exit_e       rc;
    queuectl_logs_acks_t  acks;

    memset(&acks, 0, sizeof(queuectl_logs_acks_t));
    acks.shown = 1;

    rc = queuectl_logs_ack_flags(q, &acks);

    for (i = 0; i < q->narguments && rc == QUEUECTL_OK; i++) {
        rc = strcmp(q->arguments[i], "-") == 0
             ? queuectl_logs_ack_stdin(&acks)
             : queuectl_logs_ack_text(&acks, q->arguments[i]);
    }

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_acks_send(q, &acks);
    }

    queuectl_logs_acks_free(&acks);

    return rc;
}


static queuectl_exit_e
queuectl_logs_ack_flags(queuectl_t *q, queuectl_logs_acks_t *acks)
{
    size_t           i, bad;
    const char      *error;
    queuectl_span_t  span;

    static const char *const  words[] = { "failed", "retry", "dlq" };

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!queuectl_given(q, words[i])) {
            continue;
        }

        if (acks->status) {
            return queuectl_usage(q, "--%s and --%s are one too many",
                                  acks->status, words[i]);
        }

        acks->status = words[i];
    }

    error = queuectl_text(q, "error");

    if (error && acks->status == NULL) {
        return queuectl_usage(q, "--error is for what has failed: --failed, "
                              "--retry or --dlq");
    }

    if (error) {
        span.data = error;
        span.len = strlen(error);

        if (queuectl_buf_json(&acks->error, span, &bad) == -1) {
            return queuectl_usage(q, "--error is not UTF-8");
        }
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_logs_ack_stdin(queuectl_logs_acks_t *acks)
{
    char             *line;
    size_t            size;
    queuectl_exit_e   rc;
    queuectl_span_t   span;

    line = NULL;
    size = 0;
    rc = QUEUECTL_OK;

    while (rc == QUEUECTL_OK && getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        span.data = line;
        span.len = strlen(line);

        if (line[0] == '{') {
            if (queuectl_json_check(span) == -1
                || !queuectl_logs_acks_message(acks,
                                               queuectl_json_value(span)))
            {
                queuectl_error("that is no message that was popped: %.60s",
                               line);
                rc = QUEUECTL_USAGE;
            }

        } else if (line[0]) {
            rc = queuectl_logs_ack_text(acks, line);
        }
    }

    free(line);

    return rc;
}


static queuectl_exit_e
queuectl_logs_ack_text(queuectl_logs_acks_t *acks, const char *text)
{
    int              i, ok;
    size_t           bad;
    queuectl_buf_t   parts[QUEUECTL_LOGS_ACK_NPARTS];
    queuectl_buf_t   json[QUEUECTL_LOGS_ACK_NPARTS];
    queuectl_span_t  spans[QUEUECTL_LOGS_ACK_NPARTS];

    memset(parts, 0, sizeof(parts));
    memset(json, 0, sizeof(json));

    ok = queuectl_logs_handle_read(text, QUEUECTL_LOGS_ACK_NPARTS, parts);

    for (i = 0; i < QUEUECTL_LOGS_ACK_NPARTS; i++) {
        ok = ok && queuectl_buf_json(&json[i], queuectl_buf_span(&parts[i]),
                                     &bad) == 0;
        spans[i] = queuectl_buf_span(&json[i]);
    }

    if (ok) {
        queuectl_logs_acks_add(acks, spans);

    } else {
        queuectl_error("that is no handle of a message: %s", text);
    }

    for (i = 0; i < QUEUECTL_LOGS_ACK_NPARTS; i++) {
        queuectl_buf_free(&parts[i]);
        queuectl_buf_free(&json[i]);
    }

    return ok ? QUEUECTL_OK : QUEUECTL_USAGE;
}
