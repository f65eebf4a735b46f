
/* subs pull: messages are printed, then perhaps acknowledged. */

#include "queuectl_subs.h"
#include "queuectl_json.h"
#include "queuectl_settle.h"

#include <string.h>


/* what one call gives, and how long it waits */

#define QUEUECTL_SUBS_PULL_CALL  1000
#define QUEUECTL_SUBS_PULL_WAIT  20


typedef struct {
    queuectl_buf_t        path;
    long long             most;
    long long             got;
    long long             wait;         /* seconds that are left */
} queuectl_subs_pull_t;


static queuectl_exit_e queuectl_subs_pull(queuectl_t *q);
static queuectl_exit_e queuectl_subs_pull_all(queuectl_t *q,
    queuectl_subs_pull_t *p);
static queuectl_exit_e queuectl_subs_pull_call(queuectl_t *q,
    queuectl_subs_pull_t *p, int *n);
static queuectl_exit_e queuectl_subs_pull_messages(queuectl_t *q,
    queuectl_span_t answer, int *n);
static queuectl_exit_e queuectl_subs_pull_one(queuectl_t *q,
    queuectl_span_t received, queuectl_receipts_t *rs);


static const queuectl_flag_t  queuectl_subs_pull_flags[] = {
    { "max", 'n', QUEUECTL_NUMBER, "N", "messages at most: 1" },
    { "wait", 'w', QUEUECTL_SECONDS, "TIME",
      "wait so long for the first one; not at all" },
    { "ack", 'a', QUEUECTL_SWITCH, NULL,
      "acknowledge them, once they are printed" },
    { "raw", 'r', QUEUECTL_SWITCH, NULL,
      "the data alone, byte for byte" },
    { "lines", 'l', QUEUECTL_SWITCH, NULL,
      "the data alone, each with a line feed" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_subs_pull_commands[] = {
    { "subs", "pull", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Pull messages, and print them with their ack ids",
      "A message that is not acknowledged comes again when its deadline ends. "
      "With --ack it\nis gone once it has been written to stdout.\n\n"
      "  queuectl subs pull billing --max 10 --wait 20s\n"
      "  queuectl subs pull photos --ack --raw > photo.jpeg\n"
      "  queuectl subs pull billing --max 100000 --ack --json > "
      "messages.jsonl\n"
      "  queuectl topics publish copy --jsonl --file messages.jsonl\n",
      queuectl_subs_pull_flags, queuectl_subs_pull },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_subs_pull(queuectl_t *q)
{
    queuectl_exit_e       rc;
    queuectl_subs_pull_t  p;

    if ((q->json != 0) + queuectl_given(q, "raw") + queuectl_given(q, "lines")
        > 1)
    {
        return queuectl_usage(q, "of --json, --raw and --lines there can be "
                              "one");
    }

    if (queuectl_number(q, "max", 1) == 0) {
        return queuectl_usage(q, "--max is at least 1");
    }

    memset(&p, 0, sizeof(queuectl_subs_pull_t));
    queuectl_topics_path(q, &p.path, "subscriptions", q->arguments[0],
                         ":pull");

    p.most = queuectl_number(q, "max", 1);
    p.wait = queuectl_number(q, "wait", 0);

    rc = queuectl_subs_pull_all(q, &p);

    if (rc == QUEUECTL_OK && p.got == 0) {
        queuectl_note(q, "no messages");
    }

    queuectl_buf_free(&p.path);

    return rc;
}


static queuectl_exit_e
queuectl_subs_pull_all(queuectl_t *q, queuectl_subs_pull_t *p)
{
    int              n;
    long long        waited;
    queuectl_exit_e  rc;

    do {
        waited = p->wait;
        rc = queuectl_subs_pull_call(q, p, &n);
        p->got += n;

        if (queuectl_interrupts()) {
            return rc ? rc : QUEUECTL_INTERRUPTED;
        }

        /* only for the first message it waits, a call after the other; the
           last of them does not wait */

        p->wait = n || waited < QUEUECTL_SUBS_PULL_WAIT ? 0
                  : waited - QUEUECTL_SUBS_PULL_WAIT;

    } while (rc == QUEUECTL_OK && p->got < p->most && (n || waited));

    return rc;
}


static queuectl_exit_e
queuectl_subs_pull_call(queuectl_t *q, queuectl_subs_pull_t *p, int *n)
{
    long long            left;
    queuectl_buf_t       body;
    queuectl_exit_e      rc;
    queuectl_answer_t    a;
    queuectl_request_t   r;

    *n = 0;
    left = p->most - p->got;

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&body, "{\"maxMessages\":%lld%s}",
                       left < QUEUECTL_SUBS_PULL_CALL
                       ? left : QUEUECTL_SUBS_PULL_CALL,
                       p->wait ? "" : ",\"returnImmediately\":true");

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "POST";
    r.path = p->path.data;
    r.body = queuectl_buf_span(&body);

    /* how long the server waits is its own affair: for less we go away, which
       takes no messages, and the last call says whether it is there at all */

    if (p->wait < QUEUECTL_SUBS_PULL_WAIT) {
        r.limit = p->wait;

    } else {
        r.wait = QUEUECTL_SUBS_PULL_WAIT;
    }

    rc = queuectl_http_send(q, &r, &a);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_subs_pull_messages(q, a.json, n);

    } else if (r.limit && a.code == CURLE_OPERATION_TIMEDOUT) {
        rc = QUEUECTL_OK;

    } else {
        rc = queuectl_http_failed(q, &a);
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_subs_pull_messages(queuectl_t *q, queuectl_span_t answer, int *n)
{
    queuectl_exit_e      rc;
    queuectl_span_t      messages, received;
    queuectl_receipts_t  rs;

    if (!queuectl_json_is_object(answer)) {
        queuectl_error("the answer is none of a pull");
        return QUEUECTL_FAILED;
    }

    /* where there are none there is no such member */

    if (!queuectl_json_member(answer, "receivedMessages", &messages)) {
        return QUEUECTL_OK;
    }

    memset(&rs, 0, sizeof(queuectl_receipts_t));
    rs.seconds = -1;

    rc = QUEUECTL_OK;
    received.data = NULL;

    while (rc == QUEUECTL_OK && queuectl_json_next(messages, &received)) {
        rc = queuectl_subs_pull_one(q, received, &rs);
    }

    *n = rs.n;

    /* what could not be written is not acknowledged: it comes again */

    if (queuectl_out_flush() != QUEUECTL_OK) {
        rc = QUEUECTL_FAILED;

    } else if (queuectl_given(q, "ack") && rs.n) {
        rc = queuectl_settle_printed(rc, queuectl_subs_settle(q, &rs));
    }

    queuectl_receipts_free(&rs);

    return rc;
}


static queuectl_exit_e
queuectl_subs_pull_one(queuectl_t *q, queuectl_span_t received,
    queuectl_receipts_t *rs)
{
    queuectl_exit_e  rc;
    queuectl_span_t  id;

    if (!queuectl_json_member(received, "ackId", &id)
        || !queuectl_json_is_string(id))
    {
        queuectl_error("the answer has a message without an ack id");
        return QUEUECTL_FAILED;
    }

    rc = queuectl_subs_print(q, received);

    if (rc == QUEUECTL_OK) {
        queuectl_receipts_add(rs, id);
    }

    return rc;
}
