
/* Ack ids of topics: acknowledge, extend, give back; a thousand a call. */

#include "queuectl_subs.h"
#include "queuectl_json.h"

#include <stdlib.h>
#include <string.h>


/* a body has a MiB at most, and an id some 150 bytes */

#define QUEUECTL_SUBS_ACK_CALL  1000


static queuectl_exit_e queuectl_subs_ack(queuectl_t *q);
static queuectl_exit_e queuectl_subs_ack_extend(queuectl_t *q);
static queuectl_exit_e queuectl_subs_ack_nack(queuectl_t *q);
static queuectl_exit_e queuectl_subs_ack_all(queuectl_t *q, long long seconds,
    const char *done);
static void queuectl_subs_ack_write(queuectl_receipts_t *rs, size_t from,
    size_t n, queuectl_buf_t *body);
static size_t queuectl_subs_ack_late(queuectl_answer_t *a);


static const queuectl_flag_t  queuectl_subs_ack_extend_flags[] = {
    { "deadline", 't', QUEUECTL_SECONDS, "TIME",
      "deliveries last so long from now, to 10m" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_subs_ack_commands[] = {
    { "subs", "ack", "SUBSCRIPTION ACKID...", 2, -1, QUEUECTL_API,
      "Acknowledge messages by their ack ids: they are gone",
      "With \"-\" for an id they are read from stdin, one a line.\n"
      "Where the subscription delivers exactly once, those that come too late "
      "are named; the\nothers are acknowledged all the same, and the exit code "
      "is 1. Elsewhere nobody knows.\n\n"
      "  queuectl subs ack billing AQ...\n"
      "  queuectl subs pull billing --json | jq -r .ackId | "
      "queuectl subs ack billing -\n",
      NULL, queuectl_subs_ack },

    { "subs", "extend", "SUBSCRIPTION ACKID...", 2, -1, QUEUECTL_API,
      "Move the deadlines of deliveries",
      "  queuectl subs extend billing AQ... --deadline 5m\n",
      queuectl_subs_ack_extend_flags, queuectl_subs_ack_extend },

    { "subs", "nack", "SUBSCRIPTION ACKID...", 2, -1, QUEUECTL_API,
      "Give messages back: they come again",
      "  queuectl subs nack billing AQ...\n",
      NULL, queuectl_subs_ack_nack },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_subs_ack(queuectl_t *q)
{
    return queuectl_subs_ack_all(q, -1, "acknowledged");
}


static queuectl_exit_e
queuectl_subs_ack_nack(queuectl_t *q)
{
    return queuectl_subs_ack_all(q, 0, "given back");
}


static queuectl_exit_e
queuectl_subs_ack_extend(queuectl_t *q)
{
    if (queuectl_number(q, "deadline", 0) == 0) {
        return queuectl_usage(q, "for how long? --deadline TIME");
    }

    return queuectl_subs_ack_all(q, queuectl_number(q, "deadline", 0),
                                 "extended");
}


static queuectl_exit_e
queuectl_subs_ack_all(queuectl_t *q, long long seconds, const char *done)
{
    queuectl_exit_e      rc;
    queuectl_receipts_t  rs;

    memset(&rs, 0, sizeof(queuectl_receipts_t));
    rs.seconds = seconds;
    rs.shown = 1;

    rc = queuectl_receipts_read(q, &rs, 1);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_subs_settle(q, &rs);
    }

    if (rc == QUEUECTL_OK) {
        queuectl_note(q, "%zu %s", rs.n, done);
    }

    queuectl_receipts_free(&rs);

    return rc;
}


static void
queuectl_subs_ack_write(queuectl_receipts_t *rs, size_t from, size_t n,
    queuectl_buf_t *body)
{
    size_t  i;

    queuectl_buf_clear(body);
    queuectl_buf_text(body, "{\"ackIds\":[");

    for (i = from; i < from + n; i++) {
        queuectl_buf_print(body, "%s%s", i > from ? "," : "", rs->handles[i]);
    }

    queuectl_buf_text(body, "]");

    if (rs->seconds >= 0) {
        queuectl_buf_member_number(body, "ackDeadlineSeconds", rs->seconds);
    }

    queuectl_buf_text(body, "}");
}


queuectl_exit_e
queuectl_subs_settle(queuectl_t *q, queuectl_receipts_t *rs)
{
    size_t               from, n, late;
    queuectl_buf_t       body, path;
    queuectl_exit_e      rc, worst;
    queuectl_answer_t    a;
    queuectl_request_t   r;

    memset(&body, 0, sizeof(queuectl_buf_t));
    memset(&path, 0, sizeof(queuectl_buf_t));
    memset(&r, 0, sizeof(queuectl_request_t));

    queuectl_topics_path(q, &path, "subscriptions", q->arguments[0],
                         rs->seconds < 0 ? ":acknowledge"
                                         : ":modifyAckDeadline");
    r.method = "POST";
    r.path = path.data;

    /* what has been printed is not to come again because of a Ctrl-C */

    r.finish = !rs->shown;
    r.patient = !rs->shown;

    rc = worst = QUEUECTL_OK;

    for (from = 0; from < rs->n && rc == QUEUECTL_OK; from += n) {
        n = rs->n - from;
        n = n < QUEUECTL_SUBS_ACK_CALL ? n : QUEUECTL_SUBS_ACK_CALL;

        queuectl_subs_ack_write(rs, from, n, &body);
        r.body = queuectl_buf_span(&body);

        if (queuectl_http_send(q, &r, &a) != QUEUECTL_OK) {
            late = a.status == 400 ? queuectl_subs_ack_late(&a) : 0;
            rc = late ? QUEUECTL_OK : queuectl_http_failed(q, &a);
            worst = rc ? rc : QUEUECTL_FAILED;
        }

        queuectl_http_free(&a);
    }

    queuectl_buf_free(&body);
    queuectl_buf_free(&path);

    return worst;
}


/* how many of a call came too late, where it says so: the others are done */

static size_t
queuectl_subs_ack_late(queuectl_answer_t *a)
{
    size_t           n;
    queuectl_buf_t   text;
    queuectl_span_t  error, details, detail, metadata, id, why;

    if (!queuectl_json_member(a->json, "error", &error)
        || !queuectl_json_member(error, "details", &details))
    {
        return 0;
    }

    n = 0;
    detail.data = NULL;
    memset(&text, 0, sizeof(queuectl_buf_t));

    while (queuectl_json_next(details, &detail)) {
        id.data = NULL;

        if (!queuectl_json_member(detail, "metadata", &metadata)) {
            continue;
        }

        while (queuectl_json_next_member(metadata, &id, &why)) {
            queuectl_buf_clear(&text);
            queuectl_json_text(why, &text);
            queuectl_buf_text(&text, ": ");
            queuectl_json_text(id, &text);
            queuectl_error("too late, the message may come again: %s",
                           text.data);
            n++;
        }
    }

    queuectl_buf_free(&text);

    return n;
}
