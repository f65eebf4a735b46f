
/* Handles: acknowledge, extend, release; ten a call. */

#include "queuectl_json.h"
#include "queuectl_message.h"
#include "queuectl_out.h"
#include "queuectl_send.h"
#include "queuectl_settle.h"

#include <stdlib.h>
#include <string.h>


#define QUEUECTL_RECEIPTS_CALL  10


static queuectl_exit_e queuectl_receipts_ack(queuectl_t *q);
static queuectl_exit_e queuectl_receipts_visibility(queuectl_t *q);
static queuectl_exit_e queuectl_receipts_all(queuectl_t *q,
    queuectl_receipts_t *rs);
static queuectl_exit_e queuectl_receipts_text(queuectl_receipts_t *rs,
    const char *text);
static size_t queuectl_receipts_write(void *data, size_t from, size_t most,
    queuectl_buf_t *body);
static void queuectl_receipts_result(void *data, size_t i,
    queuectl_span_t result, queuectl_settled_t *s);


static const queuectl_flag_t  queuectl_receipts_visibility_flags[] = {
    { "visibility-timeout", 't', QUEUECTL_SECONDS, "TIME",
      "in flight for so long from now; 0 releases it" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_receipts_commands[] = {
    { NULL, "ack", "HANDLE...", 1, -1, QUEUECTL_ENDPOINT,
      "Acknowledge messages by their receipt handles: they are deleted",
      "With \"-\" for a handle they are read from stdin, one a line.\n"
      "The handle is the permission: no key is sent. Where one of them is "
      "stale or\ninvalid the others are acknowledged all the same, and the "
      "exit code is 1.\n\n"
      "  queuectl ack AQAAAH8...\n"
      "  queuectl receive orders --json | jq -r .receiptHandle | "
      "queuectl ack -\n",
      NULL, queuectl_receipts_ack },

    { NULL, "change-visibility", "HANDLE...", 1, -1, QUEUECTL_ENDPOINT,
      "Extend messages that are in flight, or release them",
      "  queuectl change-visibility AQAAAH8... --visibility-timeout 5m\n"
      "  queuectl change-visibility AQAAAH8... --visibility-timeout 0\n",
      queuectl_receipts_visibility_flags, queuectl_receipts_visibility },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_receipts_ack(queuectl_t *q)
{
    queuectl_receipts_t  rs;

    memset(&rs, 0, sizeof(queuectl_receipts_t));
    rs.seconds = -1;

    return queuectl_receipts_all(q, &rs);
}


static queuectl_exit_e
queuectl_receipts_visibility(queuectl_t *q)
{
    queuectl_receipts_t  rs;

    if (!queuectl_given(q, "visibility-timeout")) {
        return queuectl_usage(q, "for how long? --visibility-timeout TIME");
    }

    memset(&rs, 0, sizeof(queuectl_receipts_t));
    rs.seconds = queuectl_number(q, "visibility-timeout", 0);

    return queuectl_receipts_all(q, &rs);
}


static queuectl_exit_e
queuectl_receipts_all(queuectl_t *q, queuectl_receipts_t *rs)
{
    queuectl_exit_e  rc;

    rs->shown = 1;
    rc = queuectl_receipts_read(q, rs, 0);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_receipts_send(q, rs);
    }

    queuectl_receipts_free(rs);

    return rc;
}


queuectl_exit_e
queuectl_receipts_read(queuectl_t *q, queuectl_receipts_t *rs, int argument)
{
    int              i;
    char            *line;
    size_t           size;
    ssize_t          len;
    queuectl_exit_e  rc;

    rc = QUEUECTL_OK;

    for (i = argument; i < q->narguments && rc == QUEUECTL_OK; i++) {

        if (strcmp(q->arguments[i], "-") != 0) {
            rc = queuectl_receipts_text(rs, q->arguments[i]);
            continue;
        }

        line = NULL;
        size = 0;

        while (rc == QUEUECTL_OK && (len = getline(&line, &size, stdin)) > 0) {
            line[strcspn(line, "\r\n")] = '\0';

            if (line[0]) {
                rc = queuectl_receipts_text(rs, line);
            }
        }

        rc = rc ? rc : queuectl_input_end(stdin);
        free(line);
    }

    return rc;
}


static queuectl_exit_e
queuectl_receipts_text(queuectl_receipts_t *rs, const char *text)
{
    size_t           bad;
    queuectl_buf_t   json;
    queuectl_span_t  span;

    memset(&json, 0, sizeof(queuectl_buf_t));
    span.data = text;
    span.len = strlen(text);

    if (queuectl_buf_json(&json, span, &bad) == -1) {
        queuectl_error("that is no handle: %s", text);
        queuectl_buf_free(&json);
        return QUEUECTL_USAGE;
    }

    queuectl_receipts_add(rs, queuectl_buf_span(&json));
    queuectl_buf_free(&json);

    return QUEUECTL_OK;
}


void
queuectl_receipts_add(queuectl_receipts_t *rs, queuectl_span_t json)
{
    if (rs->n == rs->size) {
        rs->size = 2 * rs->size + QUEUECTL_RECEIPTS_CALL;
        rs->handles = queuectl_grow(rs->handles, rs->size, sizeof(char *));
    }

    rs->handles[rs->n++] = queuectl_copy(json.data, json.len);
}


void
queuectl_receipts_free(queuectl_receipts_t *rs)
{
    size_t  i;

    for (i = 0; i < rs->n; i++) {
        free(rs->handles[i]);
    }

    free(rs->handles);
    rs->handles = NULL;
    rs->n = rs->size = 0;
}


queuectl_exit_e
queuectl_receipts_send(queuectl_t *q, queuectl_receipts_t *rs)
{
    queuectl_settling_t  s;

    s.path = rs->seconds < 0 ? "/v1/receipts/ack" : "/v1/receipts/visibility";
    s.member = "results";
    s.heading = "HANDLE";
    s.public = 1;
    s.write = queuectl_receipts_write;
    s.result = queuectl_receipts_result;

    return queuectl_settle(q, &s, rs, rs->n, rs->shown);
}


static size_t
queuectl_receipts_write(void *data, size_t from, size_t most,
    queuectl_buf_t *body)
{
    queuectl_receipts_t  *rs = data;

    size_t  i;

    queuectl_buf_text(body, rs->seconds < 0 ? "{\"receiptHandles\":["
                                            : "{\"entries\":[");

    if (most > QUEUECTL_RECEIPTS_CALL) {
        most = QUEUECTL_RECEIPTS_CALL;
    }

    for (i = from; i < rs->n && i - from < most; i++) {
        if (i > from) {
            queuectl_buf_text(body, ",");
        }

        if (rs->seconds < 0) {
            queuectl_buf_text(body, rs->handles[i]);

        } else {
            queuectl_buf_print(body, "{\"receiptHandle\":%s,"
                               "\"visibilityTimeoutSeconds\":%lld}",
                               rs->handles[i], rs->seconds);
        }
    }

    queuectl_buf_text(body, "]}");

    return i - from;
}


static void
queuectl_receipts_result(void *data, size_t i, queuectl_span_t result,
    queuectl_settled_t *s)
{
    queuectl_receipts_t  *rs = data;

    s->failed = !queuectl_json_member_true(result, "ok");

    if (!queuectl_json_member_text(result, "error", &s->result)) {
        queuectl_buf_text(&s->result, s->failed ? "failed" : "ok");
    }

    s->why = strcmp(s->result.data, "receipt_handle_stale") == 0
             ? "its handle is stale" : "it was refused";

    queuectl_buf_add(&s->name, rs->handles[i] + 1,
                     strlen(rs->handles[i]) - 2);
}
