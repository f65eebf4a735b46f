
/* Logs by themselves: how they are made, changed and deleted. */

#include "queuectl_logs.h"
#include "queuectl_fields.h"
#include "queuectl_json.h"

#include <string.h>


static queuectl_exit_e queuectl_logs_configure(queuectl_t *q);
static queuectl_exit_e queuectl_logs_current(queuectl_t *q,
    queuectl_answer_t *a);
static queuectl_exit_e queuectl_logs_body(queuectl_t *q,
    queuectl_span_t current, queuectl_buf_t *body);
static void queuectl_logs_merge(queuectl_span_t options, queuectl_span_t given,
    queuectl_buf_t *body);
static queuectl_exit_e queuectl_logs_options(queuectl_t *q,
    queuectl_span_t current, queuectl_buf_t *given);
static void queuectl_logs_retention(queuectl_t *q, queuectl_span_t current,
    queuectl_buf_t *given);
static queuectl_exit_e queuectl_logs_delete(queuectl_t *q);


static const queuectl_flag_t  queuectl_logs_configure_flags[] = {
    { "lease-time", 0, QUEUECTL_SECONDS, "TIME",
      "how long a pop leases its messages: 5m" },
    { "retry-limit", 0, QUEUECTL_NUMBER, "N",
      "how often what failed comes again: 3" },
    { "delayed-processing", 0, QUEUECTL_SECONDS, "TIME",
      "messages are delivered only after so long" },
    { "window-buffer", 0, QUEUECTL_SECONDS, "TIME",
      "wait so long for more messages" },
    { "dedup-window", 0, QUEUECTL_SECONDS, "TIME",
      "for how long ids are known: 1h; 0: not at all" },
    { "retention", 0, QUEUECTL_SECONDS, "TIME",
      "messages leave at this age, consumed or not; 0: never" },
    { "completed-retention", 0, QUEUECTL_SECONDS, "TIME",
      "and at this one when all groups have consumed them; 0: never" },
    { "max-wait-time", 0, QUEUECTL_SECONDS, "TIME",
      "messages leave at this age, whatever the retention; 0: never" },
    { "dead-letters", 0, QUEUECTL_TEXT, "on|off",
      "keep what has failed too often: on" },
    { "encryption", 0, QUEUECTL_TEXT, "on|off",
      "store payloads sealed: off" },
    { "namespace", 0, QUEUECTL_TEXT, "LABEL", "a label" },
    { "task", 0, QUEUECTL_TEXT, "LABEL", "another label" },
    { "replace", 0, QUEUECTL_SWITCH, NULL,
      "what is not named has its default again" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_list_flags[] = {
    { "namespace", 0, QUEUECTL_TEXT, "LABEL", "those of this label" },
    { "task", 0, QUEUECTL_TEXT, "LABEL", "and of this one" },
    { "names", 'n', QUEUECTL_SWITCH, NULL, "the names alone, one a line" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_get_flags[] = {
    { "partitions", 0, QUEUECTL_NUMBER, "N",
      "partitions to show, to 1000: 20" },
    { "names", 'n', QUEUECTL_SWITCH, NULL,
      "the names of partitions alone, one a line" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_yes_flags[] = {
    { "yes", 'y', QUEUECTL_SWITCH, NULL, "do not ask" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_commands[] = {
    { "logs", "configure", "QUEUE", 1, 1, QUEUECTL_LOGS_API,
      "Make a queue of the Queen API, or change its options",
      "What is not named stays as it is: the options are read before they are "
      "written.\nWith --replace they are not, and what is not named has its "
      "default. A first push\nor pop makes a queue, too.\n\n"
      "  queuectl logs configure orders --lease-time 1m --retention 7d\n"
      "  queuectl logs configure orders --dead-letters off\n",
      queuectl_logs_configure_flags, queuectl_logs_configure },

    { "logs", "list", "", 0, 0, QUEUECTL_LOGS_API,
      "List the queues of the Queen API",
      "Of all pages. It shows those that the key may read. PENDING is what "
      "pops without a\ngroup have not consumed.\n",
      queuectl_logs_list_flags, queuectl_logs_list },

    { "logs", "get", "QUEUE", 1, 1, QUEUECTL_LOGS_API,
      "Show a queue, its options, partitions and groups",
      NULL, queuectl_logs_get_flags, queuectl_logs_get },

    { "logs", "delete", "QUEUE", 1, 1, QUEUECTL_LOGS_API,
      "Delete a queue with its messages, groups and dead letters",
      "It asks first; scripts say --yes.\n",
      queuectl_logs_yes_flags, queuectl_logs_delete },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_logs_configure(queuectl_t *q)
{
    queuectl_buf_t     path, body;
    queuectl_exit_e    rc;
    queuectl_answer_t  before, a;

    memset(&before, 0, sizeof(queuectl_answer_t));
    memset(&body, 0, sizeof(queuectl_buf_t));

    rc = queuectl_given(q, "replace") ? QUEUECTL_OK
         : queuectl_logs_current(q, &before);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_body(q, before.json, &body);
    }

    if (rc == QUEUECTL_OK) {
        queuectl_logs_path(&path, "configure", NULL);
        rc = queuectl_call(q, "POST", &path, &body, &a);

        if (rc == QUEUECTL_OK) {
            queuectl_logs_show(q, a.json);
        }

        queuectl_http_free(&a);
    }

    queuectl_http_free(&before);
    queuectl_buf_free(&body);

    return rc;
}


/* a configure replaces all options: what is there is written again */

static queuectl_exit_e
queuectl_logs_current(queuectl_t *q, queuectl_answer_t *a)
{
    queuectl_buf_t      path;
    queuectl_exit_e     rc;
    queuectl_request_t  r;

    queuectl_logs_path(&path, "resources/queues/", q->arguments[0],
                       "?limit=1", NULL);

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "GET";
    r.path = path.data;

    rc = queuectl_http_send(q, &r, a);

    /* it is to be made */

    if (a->status == 404 && queuectl_logs_is(a->json, "error",
                                             "Queue not found"))
    {
        queuectl_http_free(a);
        rc = QUEUECTL_OK;
    }

    if (rc != QUEUECTL_OK) {
        rc = queuectl_http_failed(q, a);
    }

    if (a->status == 403) {
        queuectl_error("Options that are not named were to be read: "
                       "--replace does without.");
    }

    queuectl_buf_free(&path);

    return rc;
}


static queuectl_exit_e
queuectl_logs_body(queuectl_t *q, queuectl_span_t current,
    queuectl_buf_t *body)
{
    queuectl_buf_t   given;
    queuectl_exit_e  rc;
    queuectl_span_t  options;

    queuectl_buf_text(body, "{");

    if (queuectl_buf_member_text(body, "queue", q->arguments[0]) == -1) {
        return queuectl_usage(q, "the name is not UTF-8");
    }

    rc = queuectl_logs_member(q, "namespace", current, "namespace", body);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_member(q, "task", current, "task", body);
    }

    if (!queuectl_json_member(current, "options", &options)) {
        options.len = 0;
    }

    memset(&given, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&given, "{");

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_options(q, options, &given);
    }

    queuectl_buf_text(&given, "}");

    queuectl_buf_member(body, "options");
    queuectl_logs_merge(options, queuectl_buf_span(&given), body);
    queuectl_buf_text(body, "}");
    queuectl_buf_free(&given);

    return rc;
}


/* options as they were written, but for those that are given */

static void
queuectl_logs_merge(queuectl_span_t options, queuectl_span_t given,
    queuectl_buf_t *body)
{
    int              any;
    queuectl_buf_t   text;
    queuectl_span_t  name, value, ours;

    any = given.len > 2;
    queuectl_buf_add(body, given.data, given.len - 1);

    name.data = NULL;
    memset(&text, 0, sizeof(queuectl_buf_t));

    while (queuectl_json_next_member(options, &name, &value)) {
        queuectl_buf_clear(&text);
        queuectl_json_text(name, &text);

        if (!queuectl_json_member(given, text.len ? text.data : "", &ours)) {
            queuectl_buf_text(body, any ? "," : "");
            queuectl_buf_add(body, name.data, name.len);
            queuectl_buf_text(body, ":");
            queuectl_buf_add(body, value.data, value.len);
            any = 1;
        }
    }

    queuectl_buf_text(body, "}");
    queuectl_buf_free(&text);
}


static queuectl_exit_e
queuectl_logs_options(queuectl_t *q, queuectl_span_t current,
    queuectl_buf_t *given)
{
    queuectl_exit_e  rc;

    static const queuectl_field_t  options[] = {
        { "lease-time", "leaseTime", QUEUECTL_FIELD_NUMBER },
        { "retry-limit", "retryLimit", QUEUECTL_FIELD_NUMBER },
        { "delayed-processing", "delayedProcessing", QUEUECTL_FIELD_NUMBER },
        { "window-buffer", "windowBuffer", QUEUECTL_FIELD_NUMBER },
        { "dedup-window", "dedupWindowSeconds", QUEUECTL_FIELD_NUMBER },
        { "max-wait-time", "maxWaitTimeSeconds", QUEUECTL_FIELD_NUMBER },
        { "encryption", "encryptionEnabled", QUEUECTL_FIELD_ON_OFF },
        { "dead-letters", "deadLetterQueue", QUEUECTL_FIELD_ON_OFF },
        { "dead-letters", "dlqAfterMaxRetries", QUEUECTL_FIELD_ON_OFF },
        { NULL, NULL, 0 }
    };

    static const queuectl_fields_t  fields = { NULL, NULL, options };

    rc = queuectl_fields(q, &fields, given, NULL);

    if (rc == QUEUECTL_OK) {
        queuectl_logs_retention(q, current, given);
    }

    return rc;
}


/*
 * One switch is for both of these. Where it was off the one that is not named
 * is not to begin to count.
 */

static void
queuectl_logs_retention(queuectl_t *q, queuectl_span_t current,
    queuectl_buf_t *given)
{
    int     off;
    size_t  i;

    static const struct {
        const char  *flag;
        const char  *option;
    } times[] = {
        { "retention", "retentionSeconds" },
        { "completed-retention", "completedRetentionSeconds" },
    };

    if (!queuectl_given(q, times[0].flag) && !queuectl_given(q, times[1].flag))
    {
        return;
    }

    off = !queuectl_json_member_true(current, "retentionEnabled");

    for (i = 0; i < 2; i++) {
        if (off || queuectl_given(q, times[i].flag)) {
            queuectl_buf_member_number(given, times[i].option,
                                       queuectl_number(q, times[i].flag, 0));
        }
    }

    queuectl_buf_member(given, "retentionEnabled");
    queuectl_buf_text(given, "true");
}


static queuectl_exit_e
queuectl_logs_delete(queuectl_t *q)
{
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_span_t    existed;
    queuectl_answer_t  a;

    rc = queuectl_confirm(q, "Delete the queue %s of the Queen API, with all "
                          "that is in it?", q->arguments[0]);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    queuectl_logs_path(&path, "resources/queues/", q->arguments[0], NULL);
    rc = queuectl_call(q, "DELETE", &path, NULL, &a);

    /* to this API that is no error: whoever has misspelt it learns of it */

    if (rc == QUEUECTL_OK
        && queuectl_json_member(a.json, "existed", &existed)
        && existed.data[0] == 'f')
    {
        queuectl_error("Queue not found: %s", q->arguments[0]);
        rc = QUEUECTL_NOT_FOUND;
    }

    if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(a.json);

    } else if (rc == QUEUECTL_OK) {
        queuectl_note(q, "%s is deleted", q->arguments[0]);
    }

    queuectl_http_free(&a);

    return rc;
}
