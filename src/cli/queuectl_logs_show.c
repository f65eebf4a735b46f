
/* Logs as they are shown: one, or the list of them. */

#include "queuectl_logs.h"
#include "queuectl_json.h"

#include <string.h>


static void queuectl_logs_show_options(queuectl_table_t *t,
    queuectl_span_t options);
static void queuectl_logs_show_totals(queuectl_table_t *t,
    queuectl_span_t totals);
static void queuectl_logs_show_partitions(queuectl_t *q,
    queuectl_span_t queue);
static void queuectl_logs_show_names(queuectl_span_t queue);
static queuectl_exit_e queuectl_logs_row(queuectl_t *q, queuectl_span_t queue,
    void *data);
static void queuectl_logs_name(queuectl_span_t item);
static int queuectl_logs_chosen(queuectl_t *q, queuectl_span_t queue);


void
queuectl_logs_show(queuectl_t *q, queuectl_span_t queue)
{
    int               configured;
    queuectl_span_t   span;
    queuectl_table_t  t;

    if (q->json) {
        queuectl_out_json(queue);
        return;
    }

    configured = queuectl_json_member(queue, "queueId", &span);
    queuectl_table_init(&t, NULL, 2);

    queuectl_table_add(&t, "Name");
    queuectl_logs_cell(&t, queue, configured ? "queue" : "name");
    queuectl_table_add(&t, "Id");
    queuectl_logs_cell(&t, queue, configured ? "queueId" : "id");
    queuectl_table_add(&t, "Namespace");
    queuectl_logs_cell(&t, queue, "namespace");
    queuectl_table_add(&t, "Task");
    queuectl_logs_cell(&t, queue, "task");

    if (queuectl_json_member(queue, "options", &span)) {
        queuectl_logs_show_options(&t, span);
    }

    if (queuectl_json_member(queue, "createdAt", &span)) {
        queuectl_table_add(&t, "Created");
        queuectl_logs_cell(&t, queue, "createdAt");
    }

    if (queuectl_json_member(queue, "totals", &span)) {
        queuectl_logs_show_totals(&t, span);
    }

    queuectl_table_end(q, &t);
    queuectl_logs_show_partitions(q, queue);
}


static void
queuectl_logs_show_options(queuectl_table_t *t, queuectl_span_t options)
{
    int     retention, dead, sealed;
    size_t  i;

    static const struct {
        const char  *option;
        const char  *label;
    } times[] = {
        { "leaseTime", "Lease time" },
        { "delayedProcessing", "Delayed processing" },
        { "windowBuffer", "Window buffer" },
        { "dedupWindowSeconds", "Deduplication window" },
        { "maxWaitTimeSeconds", "Max. wait time" },
        { "retentionSeconds", "Retention" },
        { "completedRetentionSeconds", "Completed retention" },
    };

    retention = queuectl_json_member_true(options, "retentionEnabled");

    queuectl_table_add(t, "Retry limit");
    queuectl_logs_cell(t, options, "retryLimit");

    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        queuectl_table_add(t, times[i].label);

        if (i >= 5 && !retention) {
            queuectl_table_add(t, "off");

        } else {
            queuectl_logs_seconds(t, options, times[i].option);
        }
    }

    dead = queuectl_json_member_true(options, "deadLetterQueue")
           || queuectl_json_member_true(options, "dlqAfterMaxRetries");
    sealed = queuectl_json_member_true(options, "encryptionEnabled");

    queuectl_table_add(t, "Dead letters");
    queuectl_table_add(t, dead ? "on" : "off");
    queuectl_table_add(t, "Encryption");
    queuectl_table_add(t, sealed ? "on" : "off");
}


static void
queuectl_logs_show_totals(queuectl_table_t *t, queuectl_span_t totals)
{
    size_t  i;

    static const struct {
        const char  *member;
        const char  *label;
    } numbers[] = {
        { "partitions", "Partitions" },
        { "total", "Messages" },
        { "pending", "Pending" },
        { "deadLetter", "Dead" },
        { "pushed", "Ever pushed" },
    };

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        queuectl_table_add(t, numbers[i].label);
        queuectl_logs_cell(t, totals, numbers[i].member);
    }
}


static void
queuectl_logs_show_partitions(queuectl_t *q, queuectl_span_t queue)
{
    long long         shown, all;
    queuectl_span_t   partitions, item, stats;
    queuectl_table_t  t;

    static const char *const  headings[] = {
        "PARTITION", ">MESSAGES", ">PENDING", "OLDEST", "NEWEST", "LEASED TO"
    };

    if (!queuectl_json_member(queue, "partitions", &partitions)) {
        return;
    }

    queuectl_table_init(&t, headings, 6);
    item.data = NULL;

    for (shown = 0; queuectl_json_next(partitions, &item); shown++) {
        if (!queuectl_json_member(item, "stats", &stats)) {
            stats.len = 0;
        }

        queuectl_logs_cell(&t, item, "name");
        queuectl_logs_cell(&t, stats, "total");
        queuectl_logs_cell(&t, stats, "pending");
        queuectl_logs_cell(&t, item, "oldestMessage");
        queuectl_logs_cell(&t, item, "newestMessage");
        queuectl_logs_cell(&t, item, "leasedUntil");
    }

    if (shown) {
        putchar('\n');
        queuectl_table_end(q, &t);
    }

    if (queuectl_json_member(queue, "totals", &stats)
        && queuectl_json_member_number(stats, "partitions", &all)
        && all > shown)
    {
        queuectl_note(q, "%lld of %lld partitions are shown: --partitions N",
                      shown, all);
    }
}


queuectl_exit_e
queuectl_logs_get(queuectl_t *q)
{
    char               limit[24];
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    snprintf(limit, sizeof(limit), "%lld",
             queuectl_number(q, "partitions", 20));

    queuectl_logs_path(&path, "resources/queues/", q->arguments[0], NULL);
    queuectl_path_query(&path, "limit", limit);

    rc = queuectl_call(q, "GET", &path, NULL, &a);

    if (rc == QUEUECTL_OK && !q->json && queuectl_given(q, "names")) {
        queuectl_logs_show_names(a.json);

    } else if (rc == QUEUECTL_OK) {
        queuectl_logs_show(q, a.json);

        if (!q->json) {
            rc = queuectl_logs_groups_of(q, q->arguments[0], 1);
        }
    }

    queuectl_http_free(&a);

    return rc;
}


static void
queuectl_logs_show_names(queuectl_span_t queue)
{
    queuectl_span_t  partitions, item;

    if (!queuectl_json_member(queue, "partitions", &partitions)) {
        return;
    }

    item.data = NULL;

    while (queuectl_json_next(partitions, &item)) {
        queuectl_logs_name(item);
    }
}


queuectl_exit_e
queuectl_logs_list(queuectl_t *q)
{
    queuectl_buf_t    path;
    queuectl_exit_e   rc;
    queuectl_table_t  table;

    static const queuectl_pages_t  pages = { "limit", "after", "next", 0 };

    static const char *const  headings[] = {
        "NAME", "NAMESPACE", "TASK", ">PARTITIONS", ">MESSAGES", ">PENDING",
        ">DEAD", "CREATED"
    };

    queuectl_table_init(&table, headings, 8);
    queuectl_logs_path(&path, "resources/queues", NULL);

    rc = queuectl_list_pages(q, &pages, &path, "queues", queuectl_logs_row,
                             &table);

    if (table.ncells) {
        queuectl_table_end(q, &table);

    } else if (rc == QUEUECTL_OK && !q->json && !queuectl_given(q, "names")) {
        queuectl_note(q, "no queues");
    }

    queuectl_buf_free(&path);

    return rc;
}


static int
queuectl_logs_chosen(queuectl_t *q, queuectl_span_t queue)
{
    size_t       i;
    const char  *text;

    static const char *const  labels[] = { "namespace", "task" };

    for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        text = queuectl_text(q, labels[i]);

        if (text && !queuectl_logs_is(queue, labels[i], text)) {
            return 0;
        }
    }

    return 1;
}


static queuectl_exit_e
queuectl_logs_row(queuectl_t *q, queuectl_span_t queue, void *data)
{
    queuectl_table_t  *table = data;

    queuectl_span_t  messages;

    if (!queuectl_logs_chosen(q, queue)) {
        return QUEUECTL_OK;
    }

    if (q->json) {
        queuectl_out_json(queue);
        return QUEUECTL_OK;
    }

    if (queuectl_given(q, "names")) {
        queuectl_logs_name(queue);
        return QUEUECTL_OK;
    }

    if (!queuectl_json_member(queue, "messages", &messages)) {
        messages.len = 0;
    }

    queuectl_logs_cell(table, queue, "name");
    queuectl_logs_cell(table, queue, "namespace");
    queuectl_logs_cell(table, queue, "task");
    queuectl_logs_cell(table, queue, "partitions");
    queuectl_logs_cell(table, messages, "total");
    queuectl_logs_cell(table, messages, "pending");
    queuectl_logs_cell(table, messages, "deadLetter");
    queuectl_logs_cell(table, queue, "createdAt");

    return QUEUECTL_OK;
}


static void
queuectl_logs_name(queuectl_span_t item)
{
    queuectl_buf_t  name;

    memset(&name, 0, sizeof(queuectl_buf_t));
    queuectl_json_member_text(item, "name", &name);
    queuectl_out_safe(name.len ? name.data : "");
    queuectl_buf_free(&name);
}
