
/* Handles: acknowledge, extend, release; ten a call. */

#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_message.h"
#include "queuectl_out.h"

#include <stdlib.h>
#include <string.h>


#define QUEUECTL_RECEIPTS_CALL  10


static queuectl_exit_e queuectl_receipts_ack(queuectl_t *q);
static queuectl_exit_e queuectl_receipts_visibility(queuectl_t *q);
static queuectl_exit_e queuectl_receipts_all(queuectl_t *q,
    queuectl_receipts_t *rs);
static queuectl_exit_e queuectl_receipts_text(queuectl_receipts_t *rs,
    const char *text);
static void queuectl_receipts_write(queuectl_receipts_t *rs, size_t from,
    size_t n, queuectl_buf_t *body);
static queuectl_exit_e queuectl_receipts_results(queuectl_t *q,
    queuectl_receipts_t *rs, size_t from, size_t n, queuectl_span_t answer,
    queuectl_table_t *table);
static queuectl_exit_e queuectl_receipts_result(queuectl_t *q,
    queuectl_receipts_t *rs, const char *handle, queuectl_span_t result,
    queuectl_table_t *table);


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


static void
queuectl_receipts_write(queuectl_receipts_t *rs, size_t from, size_t n,
    queuectl_buf_t *body)
{
    size_t  i;

    queuectl_buf_clear(body);
    queuectl_buf_text(body, rs->seconds < 0 ? "{\"receiptHandles\":["
                                            : "{\"entries\":[");

    for (i = from; i < from + n; i++) {
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
}


queuectl_exit_e
queuectl_receipts_send(queuectl_t *q, queuectl_receipts_t *rs)
{
    size_t               from, n;
    queuectl_buf_t       body;
    queuectl_exit_e      rc, worst;
    queuectl_table_t     table;
    queuectl_answer_t    a;
    queuectl_request_t   r;

    static const char *const  headings[] = { "RESULT", "HANDLE" };

    memset(&body, 0, sizeof(queuectl_buf_t));
    memset(&r, 0, sizeof(queuectl_request_t));
    queuectl_table_init(&table, headings, 2);

    r.method = "POST";
    r.path = rs->seconds < 0 ? "/v1/receipts/ack" : "/v1/receipts/visibility";
    r.public = 1;

    /* what has been printed is not to come again because of a Ctrl-C */

    r.finish = !rs->shown;
    r.patient = !rs->shown;

    rc = worst = QUEUECTL_OK;

    for (from = 0; from < rs->n && rc <= QUEUECTL_FAILED; from += n) {
        n = rs->n - from;
        n = n < QUEUECTL_RECEIPTS_CALL ? n : QUEUECTL_RECEIPTS_CALL;

        queuectl_receipts_write(rs, from, n, &body);
        r.body = queuectl_buf_span(&body);

        rc = queuectl_http_call(q, &r, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_receipts_results(q, rs, from, n, a.json, &table);
        }

        worst = rc ? rc : worst;
        queuectl_http_free(&a);
    }

    if (rs->shown && !q->json && table.ncells) {
        queuectl_table_end(q, &table);
    }

    queuectl_buf_free(&body);

    return worst;
}


static queuectl_exit_e
queuectl_receipts_results(queuectl_t *q, queuectl_receipts_t *rs, size_t from,
    size_t n, queuectl_span_t answer, queuectl_table_t *table)
{
    size_t           i;
    queuectl_exit_e  rc;
    queuectl_span_t  results, item;

    if (!queuectl_json_member(answer, "results", &results)) {
        results.len = 0;
    }

    rc = QUEUECTL_OK;
    item.data = NULL;

    for (i = from; i < from + n; i++) {
        if (!queuectl_json_next(results, &item)) {
            queuectl_error("the answer has too few results");
            return QUEUECTL_FAILED;
        }

        if (queuectl_receipts_result(q, rs, rs->handles[i], item, table)
            != QUEUECTL_OK)
        {
            rc = QUEUECTL_FAILED;
        }
    }

    return rc;
}


static queuectl_exit_e
queuectl_receipts_result(queuectl_t *q, queuectl_receipts_t *rs,
    const char *handle, queuectl_span_t result, queuectl_table_t *table)
{
    int              failed, stale;
    queuectl_buf_t   error, plain;
    queuectl_span_t  ok;

    memset(&error, 0, sizeof(queuectl_buf_t));
    memset(&plain, 0, sizeof(queuectl_buf_t));

    failed = !queuectl_json_member(result, "ok", &ok) || ok.len != 4;

    if (!queuectl_json_member_text(result, "error", &error)) {
        queuectl_buf_text(&error, failed ? "failed" : "ok");
    }

    stale = strcmp(error.data, "receipt_handle_stale") == 0;
    queuectl_buf_add(&plain, handle + 1, strlen(handle) - 2);

    if (rs->shown && q->json) {
        queuectl_out_json(result);

    } else if (rs->shown) {
        queuectl_table_add(table, error.data);
        queuectl_table_add(table, plain.data);

    } else if (failed) {
        queuectl_error("not acknowledged, the message may come again: %s",
                       stale ? "its handle is stale" : "it was refused");
    }

    queuectl_buf_free(&error);
    queuectl_buf_free(&plain);

    return failed ? QUEUECTL_FAILED : QUEUECTL_OK;
}
