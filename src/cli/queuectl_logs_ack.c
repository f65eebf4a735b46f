
/* Acknowledgements and longer leases, by the handles that a pop prints. */

#include "queuectl_logs_ack.h"
#include "queuectl_json.h"
#include "queuectl_logs.h"
#include "queuectl_send.h"

#include <stdlib.h>
#include <string.h>


static queuectl_exit_e queuectl_logs_ack(queuectl_t *q);
static queuectl_exit_e queuectl_logs_ack_status(queuectl_t *q,
    queuectl_logs_acks_t *acks);
static queuectl_exit_e queuectl_logs_ack_stdin(queuectl_logs_acks_t *acks);
static queuectl_exit_e queuectl_logs_ack_text(queuectl_logs_acks_t *acks,
    const char *text);
static queuectl_exit_e queuectl_logs_extend(queuectl_t *q);
static queuectl_exit_e queuectl_logs_extend_one(queuectl_t *q,
    const char *handle, queuectl_table_t *table);


static const queuectl_flag_t  queuectl_logs_ack_flags[] = {
    { "failed", 0, QUEUECTL_SWITCH, NULL,
      "it has failed: it comes again, up to the queue's retry limit" },
    { "retry", 0, QUEUECTL_SWITCH, NULL,
      "it comes again, and there is no limit" },
    { "dlq", 0, QUEUECTL_SWITCH, NULL, "it becomes a dead letter" },
    { "error", 0, QUEUECTL_TEXT, "TEXT",
      "with --failed, --retry and --dlq: what a dead letter says" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_extend_flags[] = {
    { "lease", 0, QUEUECTL_SECONDS, "TIME", "for so long from now: 1m" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_ack_commands[] = {
    { "logs", "ack", "HANDLE...", 1, -1, QUEUECTL_LOGS_API,
      "Acknowledge messages, or say that they have failed",
      "A message that is acknowledged completes all before it in its "
      "partition; one that\nhas failed holds those behind it. With \"-\" for a "
      "handle they are read from stdin, one\na line, or messages as logs pop "
      "--json prints them. A handle is partitionId, leaseId,\nconsumerGroup "
      "and transactionId, percent-encoded, with colons between.\n\n"
      "  queuectl logs ack 66d38ac9-...:01a22dbd-...:billing:order-1\n"
      "  queuectl logs ack \"$HANDLE\" --failed --error 'no such account'\n"
      "  queuectl logs ack - < messages.jsonl\n",
      queuectl_logs_ack_flags, queuectl_logs_ack },

    { "logs", "extend", "HANDLE...", 1, -1, QUEUECTL_LOGS_API,
      "Extend the leases of messages",
      "That of all that was popped with them. No lease becomes shorter, and "
      "one that is over\nstays so: the exit code is 1 then.\n\n"
      "  queuectl logs extend \"$HANDLE\" --lease 10m\n",
      queuectl_logs_extend_flags, queuectl_logs_extend },

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

    rc = queuectl_logs_ack_status(q, &acks);

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
queuectl_logs_ack_status(queuectl_t *q, queuectl_logs_acks_t *acks)
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

    rc = rc ? rc : queuectl_input_end(stdin);
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


static queuectl_exit_e
queuectl_logs_extend(queuectl_t *q)
{
    int               i;
    queuectl_exit_e   rc, worst;
    queuectl_table_t  table;

    static const char *const  headings[] = { "LEASED TO", "HANDLE" };

    queuectl_table_init(&table, headings, 2);
    worst = QUEUECTL_OK;

    for (i = 0; i < q->narguments && worst <= QUEUECTL_FAILED; i++) {
        rc = queuectl_logs_extend_one(q, q->arguments[i], &table);
        worst = rc ? rc : worst;
    }

    if (table.ncells) {
        queuectl_table_end(q, &table);
    }

    return worst;
}


static queuectl_exit_e
queuectl_logs_extend_one(queuectl_t *q, const char *handle,
    queuectl_table_t *table)
{
    int                i;
    long long          renewed;
    queuectl_buf_t     parts[QUEUECTL_LOGS_ACK_NPARTS], path, body;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(parts, 0, sizeof(parts));

    if (!queuectl_logs_handle_read(handle, QUEUECTL_LOGS_ACK_NPARTS, parts)
        || parts[QUEUECTL_LOGS_ACK_LEASE].len == 0)
    {
        queuectl_error("that is no handle of a message: %s", handle);
        rc = QUEUECTL_USAGE;
        goto done;
    }

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&body, "{\"seconds\":%lld}",
                       queuectl_number(q, "lease", 60));
    queuectl_logs_path(&path, "lease/", parts[QUEUECTL_LOGS_ACK_LEASE].data,
                       "/extend", NULL);

    rc = queuectl_call(q, "POST", &path, &body, &a);

    if (rc == QUEUECTL_OK
        && (!queuectl_json_member_number(a.json, "renewed", &renewed)
            || renewed == 0))
    {
        queuectl_error("the lease is over: %s", handle);
        rc = QUEUECTL_FAILED;

    } else if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(a.json);

    } else if (rc == QUEUECTL_OK) {
        queuectl_logs_cell(table, a.json, "expiresAt");
        queuectl_table_add(table, handle);
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&body);

done:

    for (i = 0; i < QUEUECTL_LOGS_ACK_NPARTS; i++) {
        queuectl_buf_free(&parts[i]);
    }

    return rc;
}
