
/* Topics, subscriptions and snapshots, for people. */

#include "queuectl_topics.h"

#include <stdlib.h>
#include <string.h>


static const char *queuectl_topics_text(const cJSON *item, const char *name);
static void queuectl_topics_time(queuectl_buf_t *b, const cJSON *item,
    const char *name);
static void queuectl_topics_duration(queuectl_table_t *t, const cJSON *item,
    const char *name);
static void queuectl_topics_label_cell(queuectl_table_t *t, const cJSON *item);
static void queuectl_topics_topic_row(queuectl_table_t *t, const cJSON *topic);
static void queuectl_topics_topic_show(queuectl_table_t *t,
    const cJSON *topic);
static void queuectl_topics_sub_row(queuectl_table_t *t, const cJSON *sub);
static void queuectl_topics_sub_show(queuectl_table_t *t, const cJSON *sub);
static void queuectl_topics_sub_policies(queuectl_table_t *t,
    const cJSON *sub);
static void queuectl_topics_sub_push(queuectl_table_t *t, const cJSON *sub);
static void queuectl_topics_snapshot_row(queuectl_table_t *t,
    const cJSON *snapshot);
static void queuectl_topics_snapshot_show(queuectl_table_t *t,
    const cJSON *snapshot);


static const char *const  queuectl_topics_headings[] = {
    "TOPIC", ">RETENTION", "LABELS"
};

static const char *const  queuectl_topics_sub_headings[] = {
    "SUBSCRIPTION", "TOPIC", "KIND", ">ACK DEADLINE", ">RETENTION",
    "DEAD LETTERS", "LABELS"
};

static const char *const  queuectl_topics_snapshot_headings[] = {
    "SNAPSHOT", "TOPIC", "EXPIRES", "LABELS"
};


const queuectl_topics_kind_t  queuectl_topics_topics = {
    "topics", "topic", queuectl_topics_headings, 3,
    queuectl_topics_topic_row, queuectl_topics_topic_show
};

const queuectl_topics_kind_t  queuectl_topics_subs = {
    "subscriptions", "subscription", queuectl_topics_sub_headings, 7,
    queuectl_topics_sub_row, queuectl_topics_sub_show
};

const queuectl_topics_kind_t  queuectl_topics_snapshots = {
    "snapshots", "snapshot", queuectl_topics_snapshot_headings, 4,
    queuectl_topics_snapshot_row, queuectl_topics_snapshot_show
};


static const char *
queuectl_topics_text(const cJSON *item, const char *name)
{
    return queuectl_topics_short(queuectl_shown(item, name));
}


/* "600s"; a fraction is shown as it is */

static void
queuectl_topics_time(queuectl_buf_t *b, const cJSON *item, const char *name)
{
    char        *end;
    long long    seconds;
    const char  *text;

    text = queuectl_shown(item, name);
    seconds = strtoll(text, &end, 10);

    if (end != text && strcmp(end, "s") == 0) {
        queuectl_buf_seconds(b, seconds);

    } else {
        queuectl_buf_text(b, text);
    }
}


static void
queuectl_topics_duration(queuectl_table_t *t, const cJSON *item,
    const char *name)
{
    queuectl_buf_t  text;

    memset(&text, 0, sizeof(queuectl_buf_t));
    queuectl_topics_time(&text, item, name);
    queuectl_table_add(t, text.data);
    queuectl_buf_free(&text);
}


static void
queuectl_topics_label_cell(queuectl_table_t *t, const cJSON *item)
{
    const cJSON     *label;
    queuectl_buf_t   text;

    memset(&text, 0, sizeof(queuectl_buf_t));

    cJSON_ArrayForEach(label, cJSON_GetObjectItemCaseSensitive(item, "labels"))
    {
        queuectl_buf_print(&text, "%s%s=%s", text.len ? " " : "",
                           label->string ? label->string : "",
                           cJSON_IsString(label) ? label->valuestring : "");
    }

    queuectl_table_add(t, text.len ? text.data : "-");
    queuectl_buf_free(&text);
}


static void
queuectl_topics_topic_row(queuectl_table_t *t, const cJSON *topic)
{
    queuectl_table_add(t, queuectl_topics_text(topic, "name"));
    queuectl_topics_duration(t, topic, "messageRetentionDuration");
    queuectl_topics_label_cell(t, topic);
}


static void
queuectl_topics_topic_show(queuectl_table_t *t, const cJSON *topic)
{
    queuectl_table_add(t, "Topic");
    queuectl_table_add(t, queuectl_topics_text(topic, "name"));
    queuectl_table_add(t, "Retention");
    queuectl_topics_duration(t, topic, "messageRetentionDuration");
    queuectl_table_add(t, "Labels");
    queuectl_topics_label_cell(t, topic);
}


static void
queuectl_topics_sub_row(queuectl_table_t *t, const cJSON *sub)
{
    const cJSON  *push, *dead;

    push = cJSON_GetObjectItemCaseSensitive(sub, "pushConfig");
    dead = cJSON_GetObjectItemCaseSensitive(sub, "deadLetterPolicy");

    queuectl_table_add(t, queuectl_topics_text(sub, "name"));
    queuectl_table_add(t, queuectl_topics_text(sub, "topic"));
    queuectl_table_add(t,
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(sub, "detached"))
        ? "detached"
        : cJSON_GetObjectItemCaseSensitive(push, "pushEndpoint") ? "push"
        : "pull");
    queuectl_table_seconds(t, queuectl_shown_number(sub, "ackDeadlineSeconds"));
    queuectl_topics_duration(t, sub, "messageRetentionDuration");
    queuectl_table_add(t, queuectl_topics_text(dead, "deadLetterTopic"));
    queuectl_topics_label_cell(t, sub);
}


static void
queuectl_topics_sub_show(queuectl_table_t *t, const cJSON *sub)
{
    size_t        i;
    const cJSON  *expiration;

    static const struct {
        const char  *member;
        const char  *label;
        const char  *text;
    } flags[] = {
        { "detached", "Detached", "from its topic, for good" },
        { "retainAckedMessages", "Acknowledged", "kept, for seeks" },
        { "enableMessageOrdering", "Order", "kept, of each ordering key" },
        { "enableExactlyOnceDelivery", "Delivery", "exactly once" },
    };

    expiration = cJSON_GetObjectItemCaseSensitive(sub, "expirationPolicy");

    queuectl_table_add(t, "Subscription");
    queuectl_table_add(t, queuectl_topics_text(sub, "name"));
    queuectl_table_add(t, "Topic");
    queuectl_table_add(t, queuectl_topics_text(sub, "topic"));
    queuectl_topics_sub_push(t, sub);
    queuectl_table_add(t, "Ack deadline");
    queuectl_table_seconds(t, queuectl_shown_number(sub, "ackDeadlineSeconds"));
    queuectl_table_add(t, "Retention");
    queuectl_topics_duration(t, sub, "messageRetentionDuration");
    queuectl_table_add(t, "Expires unused");

    if (cJSON_GetObjectItemCaseSensitive(expiration, "ttl")) {
        queuectl_topics_duration(t, expiration, "ttl");

    } else {
        queuectl_table_add(t, "never");
    }

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(sub,
                                                          flags[i].member)))
        {
            queuectl_table_add(t, flags[i].label);
            queuectl_table_add(t, flags[i].text);
        }
    }

    queuectl_topics_sub_policies(t, sub);
    queuectl_table_add(t, "Labels");
    queuectl_topics_label_cell(t, sub);
}


static void
queuectl_topics_sub_policies(queuectl_table_t *t, const cJSON *sub)
{
    const cJSON     *item;
    queuectl_buf_t   text;

    if (cJSON_GetObjectItemCaseSensitive(sub, "filter")) {
        queuectl_table_add(t, "Filter");
        queuectl_table_add(t, queuectl_shown(sub, "filter"));
    }

    item = cJSON_GetObjectItemCaseSensitive(sub, "deadLetterPolicy");

    if (cJSON_IsObject(item)) {
        queuectl_table_add(t, "Dead letters");
        queuectl_table_print_cell(t, "to %s after %lld deliveries",
            queuectl_topics_text(item, "deadLetterTopic"),
            queuectl_shown_number(item, "maxDeliveryAttempts"));
    }

    item = cJSON_GetObjectItemCaseSensitive(sub, "retryPolicy");

    if (cJSON_IsObject(item)) {
        queuectl_table_add(t, "Backoff");

        memset(&text, 0, sizeof(queuectl_buf_t));
        queuectl_topics_time(&text, item, "minimumBackoff");
        queuectl_buf_text(&text, " to ");
        queuectl_topics_time(&text, item, "maximumBackoff");
        queuectl_table_add(t, text.data);
        queuectl_buf_free(&text);
    }
}


static void
queuectl_topics_sub_push(queuectl_table_t *t, const cJSON *sub)
{
    const cJSON  *push, *oidc, *bare;

    push = cJSON_GetObjectItemCaseSensitive(sub, "pushConfig");

    queuectl_table_add(t, "Pushed to");

    if (!cJSON_GetObjectItemCaseSensitive(push, "pushEndpoint")) {
        queuectl_table_add(t, "nothing: it is pulled");
        return;
    }

    queuectl_table_add(t, queuectl_shown(push, "pushEndpoint"));

    oidc = cJSON_GetObjectItemCaseSensitive(push, "oidcToken");

    if (cJSON_IsObject(oidc)) {
        queuectl_table_add(t, "Token");
        queuectl_table_print_cell(t, "of %s for %s",
                                  queuectl_shown(oidc, "serviceAccountEmail"),
                                  cJSON_GetObjectItemCaseSensitive(oidc,
                                                                   "audience")
                                  ? queuectl_shown(oidc, "audience")
                                  : "the endpoint");
    }

    bare = cJSON_GetObjectItemCaseSensitive(push, "noWrapper");

    if (cJSON_IsObject(bare)) {
        queuectl_table_add(t, "Bodies");
        queuectl_table_add(t,
            cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(bare,
                                                          "writeMetadata"))
            ? "the data alone, the rest in headers" : "the data alone");
    }
}


static void
queuectl_topics_snapshot_row(queuectl_table_t *t, const cJSON *snapshot)
{
    queuectl_table_add(t, queuectl_topics_text(snapshot, "name"));
    queuectl_table_add(t, queuectl_topics_text(snapshot, "topic"));
    queuectl_table_add(t, queuectl_shown(snapshot, "expireTime"));
    queuectl_topics_label_cell(t, snapshot);
}


static void
queuectl_topics_snapshot_show(queuectl_table_t *t, const cJSON *snapshot)
{
    queuectl_table_add(t, "Snapshot");
    queuectl_table_add(t, queuectl_topics_text(snapshot, "name"));
    queuectl_table_add(t, "Topic");
    queuectl_table_add(t, queuectl_topics_text(snapshot, "topic"));
    queuectl_table_add(t, "Expires");
    queuectl_table_add(t, queuectl_shown(snapshot, "expireTime"));
    queuectl_table_add(t, "Labels");
    queuectl_topics_label_cell(t, snapshot);
}
