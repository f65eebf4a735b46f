
/* Subscriptions of topics; those of queues have other files. */

#include "queuectl_subs.h"

#include <string.h>


static queuectl_exit_e queuectl_subs_subscribe(queuectl_t *q);
static queuectl_exit_e queuectl_subs_list(queuectl_t *q);
static queuectl_exit_e queuectl_subs_get(queuectl_t *q);
static queuectl_exit_e queuectl_subs_update(queuectl_t *q);
static queuectl_exit_e queuectl_subs_delete(queuectl_t *q);
static queuectl_exit_e queuectl_subs_detach(queuectl_t *q);
static queuectl_exit_e queuectl_subs_push_to(queuectl_t *q);
static queuectl_exit_e queuectl_subs_members(queuectl_t *q,
    queuectl_buf_t *body, queuectl_buf_t *mask);


static const queuectl_flag_t  queuectl_subs_create_flags[] = {
    QUEUECTL_SUBS_SETTINGS,
    { "ordering", 0, QUEUECTL_SWITCH, NULL,
      "messages of one ordering key come in order" },
    { "filter", 0, QUEUECTL_TEXT, "FILTER",
      "only messages whose attributes match" },
    { "push-endpoint", 0, QUEUECTL_TEXT, "URL",
      "messages are POSTed to this https endpoint" },
    QUEUECTL_SUBS_PUSH,
    QUEUECTL_TOPICS_LABEL,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subs_update_flags[] = {
    QUEUECTL_SUBS_SETTINGS,
    { "no-dead-letter-topic", 0, QUEUECTL_SWITCH, NULL,
      "failing messages stay where they are" },
    { "no-backoff", 0, QUEUECTL_SWITCH, NULL, "they come again at once" },
    QUEUECTL_TOPICS_LABELS,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subs_list_flags[] = {
    QUEUECTL_TOPICS_NAMES,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subs_yes_flags[] = {
    QUEUECTL_TOPICS_YES,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subs_push_flags[] = {
    QUEUECTL_SUBS_PUSH,
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_subs_commands[] = {
    { "topics", "subscribe", "TOPIC SUBSCRIPTION", 2, 2, QUEUECTL_API,
      "Create a subscription of a topic",
      "It gets all that is published from then on, and is pulled, or pushed to "
      "an\nendpoint.\n\n"
      "  queuectl topics subscribe orders billing --ack-deadline 1m\n"
      "  queuectl topics subscribe orders audit --ordering --filter "
      "'attributes.source = \"shop\"'\n"
      "  queuectl topics subscribe orders jobs --dead-letter-topic failed "
      "--max-delivery-attempts 5\n"
      "  queuectl topics subscribe orders hook --push-endpoint "
      "https://hooks.example.com/orders\n",
      queuectl_subs_create_flags, queuectl_subs_subscribe },

    { "subs", "list", "", 0, 0, QUEUECTL_API,
      "List the subscriptions of topics",
      "Of all pages. It shows those that the key may list.\n",
      queuectl_subs_list_flags, queuectl_subs_list },

    { "subs", "get", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Show a subscription of a topic", NULL, NULL, queuectl_subs_get },

    { "subs", "update", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Change settings of a subscription of a topic",
      "What is not named stays as it is.\n\n"
      "  queuectl subs update billing --min-backoff 5s --max-backoff 5m\n",
      queuectl_subs_update_flags, queuectl_subs_update },

    { "subs", "delete", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Delete a subscription of a topic, and its messages",
      "It asks first; scripts say --yes.\n",
      queuectl_subs_yes_flags, queuectl_subs_delete },

    { "subs", "detach", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Detach a subscription from its topic, for good",
      "Its messages are dropped, and it gets no more: only deleting it is of "
      "use then. It\nasks first; scripts say --yes.\n",
      queuectl_subs_yes_flags, queuectl_subs_detach },

    { "subs", "push-to", "SUBSCRIPTION URL|none", 2, 2, QUEUECTL_API,
      "Push a subscription to an https endpoint, or to none: it is pulled",
      "What waits stays. The flags replace what was there.\n\n"
      "  queuectl subs push-to billing https://hooks.example.com/orders\n"
      "  queuectl subs push-to billing none\n",
      queuectl_subs_push_flags, queuectl_subs_push_to },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_subs_subscribe(queuectl_t *q)
{
    return queuectl_topics_create(q, &queuectl_topics_subs, q->arguments[1],
                                  queuectl_subs_members);
}


static queuectl_exit_e
queuectl_subs_members(queuectl_t *q, queuectl_buf_t *body,
    queuectl_buf_t *mask)
{
    queuectl_exit_e  rc;

    if (queuectl_topics_member(q, body, "topic", "topics", q->arguments[0])
        == -1)
    {
        return queuectl_usage(q, "the name is not UTF-8");
    }

    rc = queuectl_subs_push(q, queuectl_text(q, "push-endpoint"), body);

    return rc ? rc : queuectl_subs_settings(q, body, mask);
}


static queuectl_exit_e
queuectl_subs_list(queuectl_t *q)
{
    return queuectl_topics_list(q, &queuectl_topics_subs);
}


static queuectl_exit_e
queuectl_subs_get(queuectl_t *q)
{
    return queuectl_topics_call(q, "GET", &queuectl_topics_subs,
                                q->arguments[0], "", NULL, 1);
}


static queuectl_exit_e
queuectl_subs_update(queuectl_t *q)
{
    return queuectl_topics_update(q, &queuectl_topics_subs,
                                  queuectl_subs_settings);
}


static queuectl_exit_e
queuectl_subs_delete(queuectl_t *q)
{
    return queuectl_topics_delete(q, &queuectl_topics_subs,
                                  ", with all that is in it");
}


static queuectl_exit_e
queuectl_subs_detach(queuectl_t *q)
{
    queuectl_buf_t   body;
    queuectl_exit_e  rc;

    rc = queuectl_confirm(q, "Detach the subscription %s of %s for good, and "
                          "drop all that is in it?", q->arguments[0],
                          q->project);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{}");

    rc = queuectl_topics_call(q, "POST", &queuectl_topics_subs,
                              q->arguments[0], ":detach", &body, 0);

    if (rc == QUEUECTL_OK) {
        queuectl_note(q, "%s is detached", q->arguments[0]);
    }

    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_subs_push_to(queuectl_t *q)
{
    const char       *url;
    queuectl_buf_t    body;
    queuectl_exit_e   rc;

    url = strcmp(q->arguments[1], "none") == 0 ? NULL : q->arguments[1];

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");
    rc = queuectl_subs_push(q, url, &body);
    queuectl_buf_text(&body, "}");

    if (rc == QUEUECTL_OK) {
        rc = queuectl_topics_call(q, "POST", &queuectl_topics_subs,
                                  q->arguments[0], ":modifyPushConfig", &body,
                                  0);
    }

    if (rc == QUEUECTL_OK && url) {
        queuectl_note(q, "%s is pushed to %s", q->arguments[0], url);

    } else if (rc == QUEUECTL_OK) {
        queuectl_note(q, "%s is pulled", q->arguments[0]);
    }

    queuectl_buf_free(&body);

    return rc;
}
