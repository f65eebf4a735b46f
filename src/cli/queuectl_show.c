
/* A queue, for people. */

#include "queuectl_out.h"
#include "queuectl_queues.h"


static void queuectl_show_optional(queuectl_table_t *t, const cJSON *queue);
static void queuectl_show_counts(queuectl_table_t *t, const cJSON *counts);
static void queuectl_show_totals(queuectl_table_t *t, const cJSON *totals);


queuectl_exit_e
queuectl_queue_show(queuectl_t *q, queuectl_span_t span)
{
    size_t             i;
    cJSON             *queue;
    const cJSON       *item;
    queuectl_table_t   t;

    static const struct {
        const char  *member;
        const char  *label;
    } times[] = {
        { "visibilityTimeoutSeconds", "Visibility timeout" },
        { "receiveWaitSeconds", "Receive wait" },
        { "retentionSeconds", "Retention" },
        { "delaySeconds", "Delay" },
    };

    if (q->json) {
        queuectl_out_json(span);
        return QUEUECTL_OK;
    }

    queue = cJSON_ParseWithLength(span.data, span.len);
    queuectl_table_init(&t, NULL, 2);

    queuectl_table_add(&t, "Name");
    queuectl_table_add(&t, queuectl_shown(queue, "name"));
    queuectl_table_add(&t, "Ids");
    queuectl_table_print_cell(&t, "%s, %s", queuectl_shown(queue, "queue"),
                              queuectl_shown(queue, "queueId"));
    queuectl_table_add(&t, "Kind");
    queuectl_table_add(&t, queuectl_shown(queue, "kind"));

    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        queuectl_table_add(&t, times[i].label);
        queuectl_table_seconds(&t,
                               queuectl_shown_number(queue, times[i].member));
    }

    queuectl_table_add(&t, "Largest message");
    queuectl_table_print_cell(&t, "%lld bytes",
        queuectl_shown_number(queue, "maxMessageBytes"));

    queuectl_show_optional(&t, queue);

    queuectl_table_add(&t, "Created");
    queuectl_table_add(&t, queuectl_shown(queue, "createdAt"));
    queuectl_table_add(&t, "Updated");
    queuectl_table_add(&t, queuectl_shown(queue, "updatedAt"));

    item = cJSON_GetObjectItemCaseSensitive(queue, "counts");

    if (cJSON_IsObject(item)) {
        queuectl_show_counts(&t, item);
    }

    item = cJSON_GetObjectItemCaseSensitive(queue, "totals");

    if (cJSON_IsObject(item)) {
        queuectl_show_totals(&t, item);
    }

    queuectl_table_end(q, &t);
    cJSON_Delete(queue);

    return QUEUECTL_OK;
}


/* what few queues have */

static void
queuectl_show_optional(queuectl_table_t *t, const cJSON *queue)
{
    const cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(queue, "contentBasedDeduplication");

    if (cJSON_IsTrue(item)) {
        queuectl_table_add(t, "Deduplication");
        queuectl_table_add(t, "by content");
    }

    item = cJSON_GetObjectItemCaseSensitive(queue, "redrivePolicy");

    if (cJSON_IsObject(item)) {
        queuectl_table_add(t, "Dead letters");
        queuectl_table_print_cell(t, "to %s after %lld receives",
            queuectl_shown(item, "deadLetterQueueId"),
            queuectl_shown_number(item, "maxReceiveCount"));
    }
}


static void
queuectl_show_counts(queuectl_table_t *t, const cJSON *counts)
{
    size_t  i;

    static const struct {
        const char  *member;
        const char  *label;
    } numbers[] = {
        { "visible", "Visible" },
        { "inFlight", "In flight" },
        { "delayed", "Delayed" },
        { "deadLetterSource", "Dead letters of" },
    };

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        queuectl_table_add(t, numbers[i].label);
        queuectl_table_print_cell(t, i < 3 ? "%lld" : "%lld queues",
                              queuectl_shown_number(counts, numbers[i].member));
    }

    queuectl_table_add(t, "Oldest message");
    queuectl_table_seconds(t,
                     queuectl_shown_number(counts, "oldestMessageAgeSeconds"));
}


static void
queuectl_show_totals(queuectl_table_t *t, const cJSON *totals)
{
    size_t  i;

    static const struct {
        const char  *member;
        const char  *label;
    } numbers[] = {
        { "sent", "Sent" },
        { "acknowledged", "Acknowledged" },
        { "expired", "Expired" },
        { "deadLettered", "Dead-lettered" },
    };

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        queuectl_table_add(t, numbers[i].label);
        queuectl_table_print_cell(t, "%lld",
                              queuectl_shown_number(totals, numbers[i].member));
    }
}
