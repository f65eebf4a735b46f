
/* The list of queues. */

#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"
#include "queuectl_queues.h"

#include <string.h>


static queuectl_exit_e queuectl_queue_item(queuectl_t *q,
    queuectl_span_t item, void *data);
static queuectl_exit_e queuectl_queue_counted(queuectl_t *q,
    queuectl_span_t item, void *data);
static void queuectl_queue_row(queuectl_t *q, queuectl_span_t item,
    queuectl_table_t *table);


queuectl_exit_e
queuectl_queues_list(queuectl_t *q)
{
    int               counts;
    queuectl_exit_e   rc;
    queuectl_table_t  table;

    static const char *const  headings[] = {
        "NAME", "KIND", ">VISIBILITY", ">RETENTION", ">DELAY", "DEAD LETTERS",
        "CREATED", ">VISIBLE", ">IN FLIGHT", ">DELAYED"
    };

    counts = queuectl_given(q, "counts");

    if (counts && queuectl_given(q, "names")) {
        return queuectl_usage(q, "--counts and --names are one too many");
    }

    queuectl_table_init(&table, headings, counts ? 10 : 7);

    rc = queuectl_list(q, "queues", "prefix", queuectl_text(q, "prefix"),
                       counts ? queuectl_queue_counted : queuectl_queue_item,
                       &table);

    if (table.ncells) {
        queuectl_table_end(q, &table);

    } else if (rc == QUEUECTL_OK && !q->json && !queuectl_given(q, "names")) {
        queuectl_note(q, "no queues in %s", q->project);
    }

    return rc;
}


static queuectl_exit_e
queuectl_queue_item(queuectl_t *q, queuectl_span_t item, void *data)
{
    queuectl_buf_t  name;

    if (q->json) {
        queuectl_out_json(item);

    } else if (queuectl_given(q, "names")) {
        memset(&name, 0, sizeof(queuectl_buf_t));
        queuectl_json_member_text(item, "name", &name);
        queuectl_out_safe(name.len ? name.data : "-");
        queuectl_buf_free(&name);

    } else {
        queuectl_queue_row(q, item, data);
    }

    return QUEUECTL_OK;
}


/* a list has no counts: each queue is asked for */

static queuectl_exit_e
queuectl_queue_counted(queuectl_t *q, queuectl_span_t item, void *data)
{
    queuectl_buf_t     id;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(&id, 0, sizeof(queuectl_buf_t));

    if (!queuectl_json_member_text(item, "queueId", &id) || id.len == 0) {
        queuectl_error("the answer has a queue without an id");
        queuectl_buf_free(&id);
        return QUEUECTL_FAILED;
    }

    rc = queuectl_queues_call(q, "GET", id.data, "", NULL, &a);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_queue_item(q, a.json, data);
    }

    /* one that was deleted meanwhile is not one of the list */

    if (a.status == 404) {
        rc = QUEUECTL_OK;
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&id);

    return rc;
}


static void
queuectl_queue_row(queuectl_t *q, queuectl_span_t item,
    queuectl_table_t *table)
{
    size_t        i;
    cJSON        *queue;
    const cJSON  *policy, *counts;

    static const char *const  states[] = { "visible", "inFlight", "delayed" };

    queue = cJSON_ParseWithLength(item.data, item.len);
    policy = cJSON_GetObjectItemCaseSensitive(queue, "redrivePolicy");
    counts = cJSON_GetObjectItemCaseSensitive(queue, "counts");

    queuectl_table_add(table, queuectl_shown(queue, "name"));
    queuectl_table_add(table, queuectl_shown(queue, "kind"));
    queuectl_table_seconds(table,
        queuectl_shown_number(queue, "visibilityTimeoutSeconds"));
    queuectl_table_seconds(table,
        queuectl_shown_number(queue, "retentionSeconds"));
    queuectl_table_seconds(table, queuectl_shown_number(queue, "delaySeconds"));
    queuectl_table_add(table, cJSON_IsObject(policy) ? "yes" : "-");
    queuectl_table_add(table, queuectl_shown(queue, "createdAt"));

    for (i = 0; i < 3 && queuectl_given(q, "counts"); i++) {
        queuectl_table_print_cell(table, "%lld",
                                  queuectl_shown_number(counts, states[i]));
    }

    cJSON_Delete(queue);
}
