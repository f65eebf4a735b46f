
/* A subscription and lists of them, for people. */

#include "queuectl_http.h"
#include "queuectl_out.h"
#include "queuectl_subscriptions.h"


static queuectl_exit_e queuectl_subscription_item(queuectl_t *q,
    queuectl_span_t item, void *data);
static void queuectl_subscription_status(queuectl_table_t *t,
    const cJSON *subscription);


queuectl_exit_e
queuectl_subscriptions_list(queuectl_t *q)
{
    queuectl_exit_e   rc;
    queuectl_table_t  table;

    static const char *const  headings[] = {
        "SUBSCRIPTION", "QUEUE", "STATE", "HEALTH", "LAST ERROR", "URL"
    };

    queuectl_table_init(&table, headings, sizeof(headings) / sizeof(char *));

    rc = queuectl_list(q, "subscriptions", "queue", queuectl_text(q, "queue"),
                       queuectl_subscription_item, &table);

    if (table.ncells) {
        queuectl_table_end(q, &table);

    } else if (rc == QUEUECTL_OK && !q->json) {
        queuectl_note(q, "no subscriptions in %s", q->project);
    }

    return rc;
}


static queuectl_exit_e
queuectl_subscription_item(queuectl_t *q, queuectl_span_t item, void *data)
{
    queuectl_table_t  *table = data;

    cJSON        *subscription;
    const cJSON  *status, *error, *target;

    if (q->json) {
        queuectl_out_json(item);
        return QUEUECTL_OK;
    }

    subscription = cJSON_ParseWithLength(item.data, item.len);
    status = cJSON_GetObjectItemCaseSensitive(subscription, "status");
    error = cJSON_GetObjectItemCaseSensitive(status, "lastError");
    target = cJSON_GetObjectItemCaseSensitive(subscription, "target");

    queuectl_table_add(table, queuectl_shown(subscription, "subscription"));
    queuectl_table_add(table, queuectl_shown(subscription, "queue"));
    queuectl_table_add(table, queuectl_shown(subscription, "state"));
    queuectl_table_add(table, queuectl_shown(status, "health"));
    queuectl_table_add(table, queuectl_shown(error, "class"));
    queuectl_table_add(table, queuectl_shown(target, "url"));

    cJSON_Delete(subscription);

    return QUEUECTL_OK;
}


void
queuectl_subscription_show(queuectl_t *q, queuectl_span_t span, int secret)
{
    size_t             i;
    cJSON             *subscription;
    const cJSON       *target;
    queuectl_table_t   t;

    static const struct {
        const char  *member;
        const char  *label;
    } numbers[] = {
        { "batchSize", "Batch size" },
        { "maxConcurrency", "Deliveries at once" },
    };

    if (q->json) {
        queuectl_out_json(span);
        return;
    }

    subscription = cJSON_ParseWithLength(span.data, span.len);
    target = cJSON_GetObjectItemCaseSensitive(subscription, "target");

    queuectl_table_init(&t, NULL, 2);
    queuectl_table_add(&t, "Ids");
    queuectl_table_print_cell(&t, "%s, %s",
                              queuectl_shown(subscription, "subscription"),
                              queuectl_shown(subscription, "subscriptionId"));
    queuectl_table_add(&t, "Queue");
    queuectl_table_add(&t, queuectl_shown(subscription, "queue"));
    queuectl_table_add(&t, "URL");
    queuectl_table_add(&t, queuectl_shown(target, "url"));
    queuectl_table_add(&t, "Delivery timeout");
    queuectl_table_seconds(&t, queuectl_shown_number(target, "timeoutSeconds"));

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        queuectl_table_add(&t, numbers[i].label);
        queuectl_table_print_cell(&t, "%lld",
            queuectl_shown_number(subscription, numbers[i].member));
    }

    queuectl_table_add(&t, "State");
    queuectl_table_add(&t, queuectl_shown(subscription, "state"));
    queuectl_subscription_status(&t, subscription);
    queuectl_table_add(&t, "Created");
    queuectl_table_add(&t, queuectl_shown(subscription, "createdAt"));
    queuectl_table_add(&t, "Updated");
    queuectl_table_add(&t, queuectl_shown(subscription, "updatedAt"));

    if (secret) {
        queuectl_table_add(&t, "Signing secret");
        queuectl_table_add(&t, queuectl_shown(subscription, "signingSecret"));
    }

    queuectl_table_end(q, &t);
    cJSON_Delete(subscription);
}


static void
queuectl_subscription_status(queuectl_table_t *t, const cJSON *subscription)
{
    const cJSON  *status, *error;

    status = cJSON_GetObjectItemCaseSensitive(subscription, "status");
    error = cJSON_GetObjectItemCaseSensitive(status, "lastError");

    queuectl_table_add(t, "Health");
    queuectl_table_add(t, queuectl_shown(status, "health"));
    queuectl_table_add(t, "Last success");
    queuectl_table_add(t, queuectl_shown(status, "lastSuccessAt"));

    if (cJSON_IsObject(error)) {
        queuectl_table_add(t, "Last error");
        queuectl_table_print_cell(t, "%s, %s: %s", queuectl_shown(error, "at"),
                                  queuectl_shown(error, "class"),
                                  queuectl_shown(error, "message"));
    }
}
