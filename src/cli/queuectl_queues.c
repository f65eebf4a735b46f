
#include "queuectl_queues.h"
#include "queuectl_fields.h"
#include "queuectl_http.h"
#include "queuectl_out.h"

#include <string.h>


static queuectl_exit_e queuectl_queues_create(queuectl_t *q);
static queuectl_exit_e queuectl_queues_get(queuectl_t *q);
static queuectl_exit_e queuectl_queues_update(queuectl_t *q);
static queuectl_exit_e queuectl_queues_delete(queuectl_t *q);
static queuectl_exit_e queuectl_queues_purge(queuectl_t *q);
static queuectl_exit_e queuectl_queues_settings(queuectl_t *q,
    queuectl_buf_t *body);
static queuectl_exit_e queuectl_queues_policy(queuectl_t *q,
    queuectl_buf_t *body);


#define QUEUECTL_QUEUES_SETTINGS                                              \
    { "visibility-timeout", 't', QUEUECTL_SECONDS, "TIME",                    \
      "in flight for so long after a receive" },                              \
    { "receive-wait", 'w', QUEUECTL_SECONDS, "TIME",                          \
      "how long a receive waits that does not say" },                         \
    { "retention", 0, QUEUECTL_SECONDS, "TIME",                               \
      "messages expire after so long" },                                      \
    { "delay", 'd', QUEUECTL_SECONDS, "TIME",                                 \
      "messages are visible only after so long" },                            \
    { "max-message-bytes", 0, QUEUECTL_BYTES, "SIZE",                         \
      "the size of a body at most" },                                         \
    { "content-based-deduplication", 0, QUEUECTL_TEXT, "on|off",              \
      "FIFO queues: the same body is stored once in 5 minutes" },             \
    { "dead-letter-queue", 0, QUEUECTL_TEXT, "QUEUE",                         \
      "where messages go that fail again and again" },                        \
    { "max-receive-count", 0, QUEUECTL_NUMBER, "N",                           \
      "after so many receives" }

static const queuectl_flag_t  queuectl_queues_create_flags[] = {
    { "fifo", 0, QUEUECTL_SWITCH, NULL, "a queue that keeps order in groups" },
    QUEUECTL_QUEUES_SETTINGS,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_queues_update_flags[] = {
    QUEUECTL_QUEUES_SETTINGS,
    { "no-dead-letter-queue", 0, QUEUECTL_SWITCH, NULL,
      "failing messages stay where they are" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_queues_list_flags[] = {
    { "prefix", 0, QUEUECTL_TEXT, "PREFIX", "names that begin so" },
    { "names", 'n', QUEUECTL_SWITCH, NULL, "the names alone, one a line" },
    { "counts", 0, QUEUECTL_SWITCH, NULL,
      "with the counts of their messages: one more call for each" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_queues_yes_flags[] = {
    { "yes", 'y', QUEUECTL_SWITCH, NULL, "do not ask" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_queues_redrive_flags[] = {
    { "destination", 0, QUEUECTL_TEXT, "QUEUE",
      "all to this queue, not to where they came from" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_queues_commands[] = {
    { "queues", "create", "NAME", 1, 1, QUEUECTL_API, "Create a queue",
      "  queuectl queues create orders --visibility-timeout 2m\n"
      "  queuectl queues create payments --fifo\n"
      "  queuectl queues create jobs --dead-letter-queue jobs-dead "
      "--max-receive-count 5\n",
      queuectl_queues_create_flags, queuectl_queues_create },

    { "queues", "list", "", 0, 0, QUEUECTL_API, "List the queues",
      "Of all pages. It shows those that the key may list.\n",
      queuectl_queues_list_flags, queuectl_queues_list },

    { "queues", "get", "QUEUE", 1, 1, QUEUECTL_API,
      "Show a queue, with the counts of its messages",
      "QUEUE is its name or one of its ids.\n", NULL, queuectl_queues_get },

    { "queues", "update", "QUEUE", 1, 1, QUEUECTL_API,
      "Change settings of a queue",
      "What is not named stays as it is.\n\n"
      "  queuectl queues update orders --retention 7d --receive-wait 20s\n",
      queuectl_queues_update_flags, queuectl_queues_update },

    { "queues", "delete", "QUEUE", 1, 1, QUEUECTL_API,
      "Delete a queue, its messages and its subscription",
      "It asks first; scripts say --yes.\n",
      queuectl_queues_yes_flags, queuectl_queues_delete },

    { "queues", "purge", "QUEUE", 1, 1, QUEUECTL_API,
      "Delete all messages of a queue",
      "It asks first; scripts say --yes.\n",
      queuectl_queues_yes_flags, queuectl_queues_purge },

    { "queues", "redrive", "QUEUE", 1, 1, QUEUECTL_API,
      "Move the messages of a dead-letter queue back",
      "All that are visible when it begins, to the queues that they came from."
      "\n\n"
      "  queuectl queues redrive jobs-dead\n"
      "  queuectl queues redrive jobs-dead --destination jobs-again\n",
      queuectl_queues_redrive_flags, queuectl_redrive },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


queuectl_exit_e
queuectl_queues_call(queuectl_t *q, const char *method, const char *name,
    const char *rest, queuectl_buf_t *body, queuectl_answer_t *a)
{
    queuectl_buf_t      path;
    queuectl_exit_e     rc;
    queuectl_request_t  r;

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_path(q, &path, "queues", name, rest);

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = method;
    r.path = path.data;
    r.once = (name == NULL);

    if (body) {
        r.body = queuectl_buf_span(body);
    }

    rc = queuectl_http_call(q, &r, a);
    queuectl_buf_free(&path);

    return rc;
}


static queuectl_exit_e
queuectl_queues_settings(queuectl_t *q, queuectl_buf_t *body)
{
    queuectl_exit_e  rc;

    static const queuectl_field_t  settings[] = {
        { "visibility-timeout", "visibilityTimeoutSeconds",
          QUEUECTL_FIELD_NUMBER },
        { "receive-wait", "receiveWaitSeconds", QUEUECTL_FIELD_NUMBER },
        { "retention", "retentionSeconds", QUEUECTL_FIELD_NUMBER },
        { "delay", "delaySeconds", QUEUECTL_FIELD_NUMBER },
        { "max-message-bytes", "maxMessageBytes", QUEUECTL_FIELD_NUMBER },
        { "content-based-deduplication", "contentBasedDeduplication",
          QUEUECTL_FIELD_ON_OFF },
        { NULL, NULL, 0 }
    };

    static const queuectl_fields_t  fields = { NULL, NULL, settings };

    rc = queuectl_fields(q, &fields, body, NULL);

    return rc ? rc : queuectl_queues_policy(q, body);
}


static queuectl_exit_e
queuectl_queues_policy(queuectl_t *q, queuectl_buf_t *body)
{
    const char  *text;

    text = queuectl_text(q, "dead-letter-queue");

    if ((text != NULL) != queuectl_given(q, "max-receive-count")) {
        return queuectl_usage(q, "--dead-letter-queue and --max-receive-count "
                              "come together");
    }

    if (text && queuectl_given(q, "no-dead-letter-queue")) {
        return queuectl_usage(q, "--dead-letter-queue and "
                              "--no-dead-letter-queue are one too many");
    }

    if (queuectl_given(q, "no-dead-letter-queue")) {
        queuectl_buf_member(body, "redrivePolicy");
        queuectl_buf_text(body, "null");
    }

    if (text) {
        queuectl_buf_member(body, "redrivePolicy");
        queuectl_buf_text(body, "{");

        if (queuectl_buf_member_text(body, "deadLetterQueueId", text) == -1) {
            return queuectl_usage(q, "--dead-letter-queue is not UTF-8");
        }

        queuectl_buf_member_number(body, "maxReceiveCount",
                                   queuectl_number(q, "max-receive-count", 0));
        queuectl_buf_text(body, "}");
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_queues_create(queuectl_t *q)
{
    queuectl_buf_t     body;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");

    if (queuectl_buf_member_text(&body, "name", q->arguments[0]) == -1) {
        queuectl_buf_free(&body);
        return queuectl_usage(q, "the name is not UTF-8");
    }

    if (queuectl_given(q, "fifo")) {
        queuectl_buf_member_text(&body, "kind", "fifo");
    }

    rc = queuectl_queues_settings(q, &body);
    queuectl_buf_text(&body, "}");

    if (rc == QUEUECTL_OK) {
        rc = queuectl_queues_call(q, "POST", NULL, "", &body, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_queue_show(q, a.json);
        }

        queuectl_http_free(&a);
    }

    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_queues_update(queuectl_t *q)
{
    queuectl_buf_t     body;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");

    rc = queuectl_queues_settings(q, &body);

    if (rc == QUEUECTL_OK && body.len == 1) {
        rc = queuectl_usage(q, "there is nothing to change");
    }

    queuectl_buf_text(&body, "}");

    if (rc == QUEUECTL_OK) {
        rc = queuectl_queues_call(q, "PATCH", q->arguments[0], "", &body, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_queue_show(q, a.json);
        }

        queuectl_http_free(&a);
    }

    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_queues_get(queuectl_t *q)
{
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    rc = queuectl_queues_call(q, "GET", q->arguments[0], "", NULL, &a);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_queue_show(q, a.json);
    }

    queuectl_http_free(&a);

    return rc;
}


static queuectl_exit_e
queuectl_queues_delete(queuectl_t *q)
{
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    rc = queuectl_confirm(q, "Delete the queue %s of %s, with all that is in "
                          "it?", q->arguments[0], q->project);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    rc = queuectl_queues_call(q, "DELETE", q->arguments[0], "", NULL, &a);
    queuectl_http_free(&a);

    if (rc == QUEUECTL_OK) {
        queuectl_note(q, "%s is deleted", q->arguments[0]);
    }

    return rc;
}


static queuectl_exit_e
queuectl_queues_purge(queuectl_t *q)
{
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    rc = queuectl_confirm(q, "Delete all messages of the queue %s of %s?",
                          q->arguments[0], q->project);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    rc = queuectl_queues_call(q, "POST", q->arguments[0], "/purge", NULL, &a);
    queuectl_http_free(&a);

    if (rc == QUEUECTL_OK) {
        queuectl_note(q, "%s is empty", q->arguments[0]);
    }

    return rc;
}
