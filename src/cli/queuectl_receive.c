
/* receive, drain and peek: messages are printed, then perhaps acknowledged. */

#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_message.h"
#include "queuectl_out.h"
#include "queuectl_settle.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>


#define QUEUECTL_RECEIVE_CALL  10
#define QUEUECTL_RECEIVE_WAIT  20


typedef struct {
    queuectl_buf_t        path;
    long long             most;
    long long             got;
    long long             wait;         /* -1: the queue's own */
    int                   ack;
    int                   patient;
    queuectl_progress_t   progress;
} queuectl_receive_t;


static queuectl_exit_e queuectl_receive(queuectl_t *q);
static queuectl_exit_e queuectl_receive_drain(queuectl_t *q);
static queuectl_exit_e queuectl_receive_peek(queuectl_t *q);
static queuectl_exit_e queuectl_receive_all(queuectl_t *q,
    queuectl_receive_t *re);
static queuectl_exit_e queuectl_receive_call(queuectl_t *q,
    queuectl_receive_t *re, int *n);
static queuectl_exit_e queuectl_receive_messages(queuectl_t *q,
    queuectl_receive_t *re, queuectl_span_t answer, int *n);
static long long queuectl_receive_visible(queuectl_t *q);
static queuectl_exit_e queuectl_receive_form(queuectl_t *q);


static const queuectl_flag_t  queuectl_receive_flags[] = {
    { "max", 'n', QUEUECTL_NUMBER, "N", "messages at most: 1" },
    { "wait", 'w', QUEUECTL_SECONDS, "TIME",
      "wait so long for the first one; the queue's receive wait" },
    { "visibility-timeout", 't', QUEUECTL_SECONDS, "TIME",
      "in flight for so long; the queue's visibility timeout" },
    { "ack", 'a', QUEUECTL_SWITCH, NULL,
      "acknowledge them, once they are printed" },
    { "raw", 'r', QUEUECTL_SWITCH, NULL,
      "the bodies alone, each with a line feed" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_receive_drain_flags[] = {
    { "max", 'n', QUEUECTL_NUMBER, "N", "messages at most: all" },
    { "raw", 'r', QUEUECTL_SWITCH, NULL,
      "the bodies alone, each with a line feed" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_receive_peek_flags[] = {
    { "max", 'n', QUEUECTL_NUMBER, "N", "messages at most, to 100: 10" },
    { "state", 's', QUEUECTL_TEXT, "STATE",
      "visible, inFlight or delayed: visible" },
    { "raw", 'r', QUEUECTL_SWITCH, NULL,
      "the bodies alone, each with a line feed" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_receive_commands[] = {
    { NULL, "receive", "QUEUE", 1, 1, QUEUECTL_API,
      "Receive messages, and print them with their receipt handles",
      "A message that is not acknowledged is visible again when its visibility "
      "timeout\nends. With --ack it is deleted once it has been written to "
      "stdout.\n\n"
      "  queuectl receive orders --max 10 --wait 20s\n"
      "  queuectl receive orders --ack --raw\n"
      "  queuectl receive orders --json | jq -r .receiptHandle\n",
      queuectl_receive_flags, queuectl_receive },

    { NULL, "drain", "QUEUE", 1, 1, QUEUECTL_API,
      "Receive and acknowledge all messages that are visible",
      "Each batch is acknowledged once it has been written to stdout. To throw "
      "messages\naway there is queuectl queues purge.\n\n"
      "  queuectl drain orders --json > orders.jsonl\n"
      "  queuectl send copy --jsonl --file orders.jsonl\n",
      queuectl_receive_drain_flags, queuectl_receive_drain },

    { NULL, "peek", "QUEUE", 1, 1, QUEUECTL_API,
      "Show messages without receiving them",
      "  queuectl peek orders-dead\n"
      "  queuectl peek orders --state inFlight --max 100\n",
      queuectl_receive_peek_flags, queuectl_receive_peek },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_receive_form(queuectl_t *q)
{
    if (q->json && queuectl_given(q, "raw")) {
        return queuectl_usage(q, "--json and --raw are one too many");
    }

    if (queuectl_number(q, "max", 1) == 0) {
        return queuectl_usage(q, "--max is at least 1");
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_receive(queuectl_t *q)
{
    queuectl_exit_e     rc;
    queuectl_receive_t  re;

    rc = queuectl_receive_form(q);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    memset(&re, 0, sizeof(queuectl_receive_t));
    queuectl_path(q, &re.path, "queues", q->arguments[0], "/messages/receive");

    re.most = queuectl_number(q, "max", 1);
    re.wait = queuectl_number(q, "wait", -1);
    re.ack = queuectl_given(q, "ack");

    rc = queuectl_receive_all(q, &re);

    if (rc == QUEUECTL_OK && re.got == 0) {
        queuectl_note(q, "no messages");
    }

    queuectl_buf_free(&re.path);

    return rc;
}


static queuectl_exit_e
queuectl_receive_drain(queuectl_t *q)
{
    long long           total;
    queuectl_exit_e     rc;
    queuectl_receive_t  re;

    rc = queuectl_receive_form(q);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    memset(&re, 0, sizeof(queuectl_receive_t));
    queuectl_path(q, &re.path, "queues", q->arguments[0], "/messages/receive");

    re.most = queuectl_number(q, "max", LLONG_MAX);
    re.ack = 1;
    re.patient = 1;

    /* where messages go to a terminal, a bar would be in their midst */

    queuectl_progress_init(q, &re.progress, "messages", 0);
    re.progress.shown = re.progress.shown && !isatty(STDOUT_FILENO);

    if (re.progress.shown) {
        total = queuectl_receive_visible(q);
        re.progress.total = total < re.most ? total : re.most;
    }

    rc = queuectl_receive_all(q, &re);

    queuectl_progress_end(&re.progress);
    queuectl_note(q, "%lld %s received and acknowledged", re.got,
                  re.got == 1 ? "message" : "messages");

    queuectl_buf_free(&re.path);

    return rc;
}


/* only for the bar: a key that may not ask does without */

static long long
queuectl_receive_visible(queuectl_t *q)
{
    long long           visible;
    queuectl_buf_t      path;
    queuectl_span_t     counts;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_path(q, &path, "queues", q->arguments[0], "");

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "GET";
    r.path = path.data;

    if (queuectl_http_send(q, &r, &a) != QUEUECTL_OK
        || !queuectl_json_member(a.json, "counts", &counts)
        || !queuectl_json_member_number(counts, "visible", &visible))
    {
        visible = 0;
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&path);

    return visible;
}


static queuectl_exit_e
queuectl_receive_all(queuectl_t *q, queuectl_receive_t *re)
{
    int              n;
    long long        waited;
    queuectl_exit_e  rc;

    do {
        waited = re->wait > QUEUECTL_RECEIVE_WAIT ? QUEUECTL_RECEIVE_WAIT
                 : re->wait;

        rc = queuectl_receive_call(q, re, &n);
        re->got += n;
        queuectl_progress(&re->progress, re->got, re->got);

        if (queuectl_interrupts()) {
            return rc ? rc : QUEUECTL_INTERRUPTED;
        }

        /* only for the first message it waits, a call after the other */

        re->wait = n || waited < 0 ? 0 : re->wait - waited;

    } while (rc == QUEUECTL_OK && re->got < re->most && (n || re->wait > 0));

    return rc;
}


static queuectl_exit_e
queuectl_receive_call(queuectl_t *q, queuectl_receive_t *re, int *n)
{
    long long            left, wait;
    queuectl_buf_t       body;
    queuectl_exit_e      rc;
    queuectl_answer_t    a;
    queuectl_request_t   r;

    *n = 0;
    left = re->most - re->got;
    wait = re->wait > QUEUECTL_RECEIVE_WAIT ? QUEUECTL_RECEIVE_WAIT : re->wait;

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");
    queuectl_buf_member_number(&body, "maxMessages",
                               left < QUEUECTL_RECEIVE_CALL ? left
                               : QUEUECTL_RECEIVE_CALL);

    if (wait >= 0) {
        queuectl_buf_member_number(&body, "waitSeconds", wait);
    }

    if (queuectl_given(q, "visibility-timeout")) {
        queuectl_buf_member_number(&body, "visibilityTimeoutSeconds",
                             queuectl_number(q, "visibility-timeout", 0));
    }

    queuectl_buf_text(&body, "}");

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "POST";
    r.path = re->path.data;
    r.body = queuectl_buf_span(&body);
    r.wait = wait < 0 ? QUEUECTL_RECEIVE_WAIT : wait;
    r.patient = re->patient;

    rc = queuectl_http_call(q, &r, &a);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_receive_messages(q, re, a.json, n);
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_receive_messages(queuectl_t *q, queuectl_receive_t *re,
    queuectl_span_t answer, int *n)
{
    queuectl_exit_e      rc;
    queuectl_span_t      messages, message, handle;
    queuectl_receipts_t  rs;

    memset(&rs, 0, sizeof(queuectl_receipts_t));
    rs.seconds = -1;

    rc = QUEUECTL_OK;
    message.data = NULL;

    if (!queuectl_json_member(answer, "messages", &messages)) {
        queuectl_error("the answer has no messages");
        return QUEUECTL_FAILED;
    }

    while (rc == QUEUECTL_OK && queuectl_json_next(messages, &message)) {

        if (!queuectl_json_member(message, "receiptHandle", &handle)
            || !queuectl_json_is_string(handle))
        {
            queuectl_error("the answer has a message without a handle");
            rc = QUEUECTL_FAILED;
            break;
        }

        rc = queuectl_message_print(q, message);

        if (rc == QUEUECTL_OK) {
            queuectl_receipts_add(&rs, handle);
            (*n)++;
        }
    }

    /* what could not be written is not acknowledged: it comes again */

    if (queuectl_out_flush() != QUEUECTL_OK) {
        rc = QUEUECTL_FAILED;

    } else if (re->ack && rs.n) {
        rc = queuectl_settle_printed(rc, queuectl_receipts_send(q, &rs));
    }

    queuectl_receipts_free(&rs);

    return rc;
}


static queuectl_exit_e
queuectl_receive_peek(queuectl_t *q)
{
    char               limit[24];
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_span_t    messages, message;
    queuectl_answer_t  a;

    rc = queuectl_receive_form(q);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    snprintf(limit, sizeof(limit), "%lld", queuectl_number(q, "max", 10));

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_path(q, &path, "queues", q->arguments[0], "/messages");
    queuectl_path_query(&path, "limit", limit);
    queuectl_path_query(&path, "state", queuectl_text(q, "state"));

    rc = queuectl_call(q, "GET", &path, NULL, &a);
    message.data = NULL;

    if (rc == QUEUECTL_OK
        && !queuectl_json_member(a.json, "messages", &messages))
    {
        queuectl_error("the answer has no messages");
        rc = QUEUECTL_FAILED;
    }

    while (rc == QUEUECTL_OK && queuectl_json_next(messages, &message)) {
        rc = queuectl_message_print(q, message);
    }

    if (rc == QUEUECTL_OK && message.data == NULL) {
        queuectl_note(q, "no messages");
    }

    queuectl_http_free(&a);

    return rc;
}
