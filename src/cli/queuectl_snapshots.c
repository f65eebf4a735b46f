
/* Snapshots of subscriptions of topics, and seeks to these or to a time. */

#include "queuectl_topics.h"

#include <string.h>


static queuectl_exit_e queuectl_snapshots_create(queuectl_t *q);
static queuectl_exit_e queuectl_snapshots_members(queuectl_t *q,
    queuectl_buf_t *body, queuectl_buf_t *mask);
static queuectl_exit_e queuectl_snapshots_list(queuectl_t *q);
static queuectl_exit_e queuectl_snapshots_get(queuectl_t *q);
static queuectl_exit_e queuectl_snapshots_delete(queuectl_t *q);
static queuectl_exit_e queuectl_snapshots_seek(queuectl_t *q);
static queuectl_exit_e queuectl_snapshots_target(queuectl_t *q,
    queuectl_buf_t *body);


static const queuectl_flag_t  queuectl_snapshots_create_flags[] = {
    QUEUECTL_TOPICS_LABEL,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_snapshots_list_flags[] = {
    QUEUECTL_TOPICS_NAMES,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_snapshots_delete_flags[] = {
    QUEUECTL_TOPICS_YES,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_snapshots_seek_flags[] = {
    { "to", 0, QUEUECTL_TEXT, "MOMENT", "such as 2026-11-30T12:00:00Z" },
    { "ago", 0, QUEUECTL_SECONDS, "TIME", "so long ago, by the clock here" },
    { "snapshot", 0, QUEUECTL_TEXT, "SNAPSHOT",
      "what that has, and all that was published after it" },
    QUEUECTL_TOPICS_YES,
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_snapshots_commands[] = {
    { "subs", "seek", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Go back or on to a time or a snapshot",
      "What was published before that time counts as acknowledged, and what "
      "came later\ncomes again, as far as it is kept: what was acknowledged is "
      "with --retain-acked of\nthe subscription or --retention of the topic. "
      "It asks first; scripts say --yes.\n\n"
      "  queuectl subs seek billing --ago 1h\n"
      "  queuectl subs seek billing --to 2026-11-30T12:00:00Z\n"
      "  queuectl subs seek billing --snapshot before-the-update\n",
      queuectl_snapshots_seek_flags, queuectl_snapshots_seek },

    { "snapshots", "create", "SUBSCRIPTION SNAPSHOT", 2, 2, QUEUECTL_API,
      "Remember what of a subscription is not acknowledged",
      "A seek comes back to it. It expires seven days after its oldest message "
      "was\npublished.\n\n"
      "  queuectl snapshots create billing before-the-update\n",
      queuectl_snapshots_create_flags, queuectl_snapshots_create },

    { "snapshots", "list", "", 0, 0, QUEUECTL_API, "List the snapshots",
      "Of all pages. It shows those that the key may list.\n",
      queuectl_snapshots_list_flags, queuectl_snapshots_list },

    { "snapshots", "get", "SNAPSHOT", 1, 1, QUEUECTL_API, "Show a snapshot",
      NULL, NULL, queuectl_snapshots_get },

    { "snapshots", "delete", "SNAPSHOT", 1, 1, QUEUECTL_API,
      "Delete a snapshot", "It asks first; scripts say --yes.\n",
      queuectl_snapshots_delete_flags, queuectl_snapshots_delete },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_snapshots_create(queuectl_t *q)
{
    return queuectl_topics_create(q, &queuectl_topics_snapshots,
                                  q->arguments[1],
                                  queuectl_snapshots_members);
}


static queuectl_exit_e
queuectl_snapshots_members(queuectl_t *q, queuectl_buf_t *body,
    queuectl_buf_t *mask)
{
    if (queuectl_topics_member(q, body, "subscription", "subscriptions",
                               q->arguments[0])
        == -1)
    {
        return queuectl_usage(q, "the name is not UTF-8");
    }

    return queuectl_topics_labels(q, body, mask);
}


static queuectl_exit_e
queuectl_snapshots_list(queuectl_t *q)
{
    return queuectl_topics_list(q, &queuectl_topics_snapshots);
}


static queuectl_exit_e
queuectl_snapshots_get(queuectl_t *q)
{
    return queuectl_topics_call(q, "GET", &queuectl_topics_snapshots,
                                q->arguments[0], "", NULL, 1);
}


static queuectl_exit_e
queuectl_snapshots_delete(queuectl_t *q)
{
    return queuectl_topics_delete(q, &queuectl_topics_snapshots, "");
}


static queuectl_exit_e
queuectl_snapshots_seek(queuectl_t *q)
{
    queuectl_buf_t   body;
    queuectl_exit_e  rc;

    memset(&body, 0, sizeof(queuectl_buf_t));
    rc = queuectl_snapshots_target(q, &body);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_confirm(q, "Seek the subscription %s of %s? What it has "
                              "from before counts as acknowledged",
                              q->arguments[0], q->project);
    }

    if (rc == QUEUECTL_OK) {
        rc = queuectl_topics_call(q, "POST", &queuectl_topics_subs,
                                  q->arguments[0], ":seek", &body, 0);

        if (rc == QUEUECTL_OK) {
            queuectl_note(q, "%s is there", q->arguments[0]);
        }
    }

    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_snapshots_target(queuectl_t *q, queuectl_buf_t *body)
{
    int          bad;
    const char  *to, *snapshot;

    to = queuectl_text(q, "to");
    snapshot = queuectl_text(q, "snapshot");

    if ((to != NULL) + (snapshot != NULL) + queuectl_given(q, "ago") != 1) {
        return queuectl_usage(q, "where to? One of --to MOMENT, --ago TIME, "
                              "--snapshot SNAPSHOT");
    }

    bad = 0;
    queuectl_buf_text(body, "{");

    if (to) {
        bad = queuectl_buf_member_text(body, "time", to) == -1;

    } else if (snapshot) {
        bad = queuectl_topics_member(q, body, "snapshot", "snapshots", snapshot)
              == -1;

    } else {
        queuectl_buf_member(body, "time");
        queuectl_buf_text(body, "\"");
        queuectl_buf_ago(body, queuectl_number(q, "ago", 0));
        queuectl_buf_text(body, "\"");
    }

    queuectl_buf_text(body, "}");

    return bad ? queuectl_usage(q, "--%s is not UTF-8", to ? "to" : "snapshot")
               : QUEUECTL_OK;
}
