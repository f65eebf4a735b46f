
/* Topics by themselves. */

#include "queuectl_topics.h"
#include "queuectl_fields.h"

#include <string.h>


static queuectl_exit_e queuectl_topics_topic_create(queuectl_t *q);
static queuectl_exit_e queuectl_topics_topic_list(queuectl_t *q);
static queuectl_exit_e queuectl_topics_topic_get(queuectl_t *q);
static queuectl_exit_e queuectl_topics_topic_update(queuectl_t *q);
static queuectl_exit_e queuectl_topics_topic_delete(queuectl_t *q);
static queuectl_exit_e queuectl_topics_subscriptions(queuectl_t *q);
static queuectl_exit_e queuectl_topics_settings(queuectl_t *q,
    queuectl_buf_t *body, queuectl_buf_t *mask);


#define QUEUECTL_TOPICS_RETENTION                                             \
    { "retention", 0, QUEUECTL_SECONDS, "TIME",                               \
      "all messages are kept so long, for seeks" }

static const queuectl_flag_t  queuectl_topics_create_flags[] = {
    QUEUECTL_TOPICS_RETENTION,
    QUEUECTL_TOPICS_LABEL,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_topics_update_flags[] = {
    QUEUECTL_TOPICS_RETENTION,
    { "no-retention", 0, QUEUECTL_SWITCH, NULL, "no messages are kept" },
    QUEUECTL_TOPICS_LABELS,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_topics_list_flags[] = {
    QUEUECTL_TOPICS_NAMES,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_topics_delete_flags[] = {
    QUEUECTL_TOPICS_YES,
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_topics_commands[] = {
    { "topics", "create", "TOPIC", 1, 1, QUEUECTL_API, "Create a topic",
      "  queuectl topics create orders\n"
      "  queuectl topics create orders --retention 7d --label team=sales\n",
      queuectl_topics_create_flags, queuectl_topics_topic_create },

    { "topics", "list", "", 0, 0, QUEUECTL_API, "List the topics",
      "Of all pages. It shows those that the key may list.\n",
      queuectl_topics_list_flags, queuectl_topics_topic_list },

    { "topics", "get", "TOPIC", 1, 1, QUEUECTL_API, "Show a topic", NULL,
      NULL, queuectl_topics_topic_get },

    { "topics", "update", "TOPIC", 1, 1, QUEUECTL_API,
      "Change settings of a topic", "What is not named stays as it is.\n",
      queuectl_topics_update_flags, queuectl_topics_topic_update },

    { "topics", "delete", "TOPIC", 1, 1, QUEUECTL_API, "Delete a topic",
      "Its subscriptions keep what they have, and get nothing more. It asks "
      "first; scripts\nsay --yes.\n",
      queuectl_topics_delete_flags, queuectl_topics_topic_delete },

    { "topics", "subscriptions", "TOPIC", 1, 1, QUEUECTL_API,
      "List the subscriptions of a topic", "Their names, one a line.\n",
      NULL, queuectl_topics_subscriptions },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static const queuectl_field_t  queuectl_topics_retention[] = {
    { "retention", "messageRetentionDuration", QUEUECTL_FIELD_DURATION },
    { NULL, NULL, 0 }
};


static queuectl_exit_e
queuectl_topics_settings(queuectl_t *q, queuectl_buf_t *body,
    queuectl_buf_t *mask)
{
    queuectl_exit_e  rc;

    static const queuectl_fields_t  fields = {
        NULL, "no-retention", queuectl_topics_retention
    };

    rc = queuectl_fields(q, &fields, body, mask);

    return rc ? rc : queuectl_topics_labels(q, body, mask);
}


static queuectl_exit_e
queuectl_topics_topic_create(queuectl_t *q)
{
    return queuectl_topics_create(q, &queuectl_topics_topics, q->arguments[0],
                                  queuectl_topics_settings);
}


static queuectl_exit_e
queuectl_topics_topic_update(queuectl_t *q)
{
    return queuectl_topics_update(q, &queuectl_topics_topics,
                                  queuectl_topics_settings);
}


static queuectl_exit_e
queuectl_topics_topic_list(queuectl_t *q)
{
    return queuectl_topics_list(q, &queuectl_topics_topics);
}


static queuectl_exit_e
queuectl_topics_topic_get(queuectl_t *q)
{
    return queuectl_topics_call(q, "GET", &queuectl_topics_topics,
                                q->arguments[0], "", NULL, 1);
}


static queuectl_exit_e
queuectl_topics_topic_delete(queuectl_t *q)
{
    return queuectl_topics_delete(q, &queuectl_topics_topics, "");
}


static queuectl_exit_e
queuectl_topics_subscriptions(queuectl_t *q)
{
    queuectl_buf_t   path;
    queuectl_exit_e  rc;

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_topics_path(q, &path, "topics", q->arguments[0],
                         "/subscriptions");

    rc = queuectl_topics_names(q, &path, "subscriptions");

    queuectl_buf_free(&path);

    return rc;
}
