
/* What has been popped is acknowledged, so many a call. */

#include "queuectl_logs_ack.h"
#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <stdlib.h>
#include <string.h>


#define QUEUECTL_LOGS_ACKS_CALL  10000


static size_t queuectl_logs_acks_write(queuectl_logs_acks_t *acks, size_t from,
    queuectl_buf_t *body);
static queuectl_exit_e queuectl_logs_acks_results(queuectl_t *q,
    queuectl_logs_acks_t *acks, size_t from, size_t n, queuectl_span_t results,
    queuectl_table_t *table);
static queuectl_exit_e queuectl_logs_acks_result(queuectl_t *q,
    queuectl_logs_acks_t *acks, const char *id, queuectl_span_t result,
    queuectl_table_t *table);


const char *const  queuectl_logs_ack_names[] = {
    "partitionId", "leaseId", "consumerGroup", "transactionId"
};


int
queuectl_logs_acks_message(queuectl_logs_acks_t *acks, queuectl_span_t message)
{
    int              i;
    queuectl_span_t  parts[QUEUECTL_LOGS_ACK_NPARTS];

    for (i = 0; i < QUEUECTL_LOGS_ACK_NPARTS; i++) {
        if (!queuectl_json_member(message, queuectl_logs_ack_names[i],
                                  &parts[i])
            || !queuectl_json_is_string(parts[i]))
        {
            return 0;
        }
    }

    queuectl_logs_acks_add(acks, parts);

    return 1;
}


void
queuectl_logs_acks_add(queuectl_logs_acks_t *acks,
    queuectl_span_t parts[QUEUECTL_LOGS_ACK_NPARTS])
{
    queuectl_buf_t        object;
    queuectl_span_t      *group, *id;
    queuectl_logs_ack_t  *ack;

    if (acks->n == acks->size) {
        acks->size = 2 * acks->size + 16;
        acks->items = queuectl_grow(acks->items, acks->size,
                                    sizeof(queuectl_logs_ack_t));
    }

    ack = &acks->items[acks->n++];
    group = &parts[QUEUECTL_LOGS_ACK_GROUP];
    id = &parts[QUEUECTL_LOGS_ACK_ID];

    memset(&object, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&object, "{\"status\":\"%s\",\"partitionId\":",
                       acks->status ? acks->status : "completed");
    queuectl_buf_add(&object, parts[QUEUECTL_LOGS_ACK_PARTITION].data,
                     parts[QUEUECTL_LOGS_ACK_PARTITION].len);
    queuectl_buf_member(&object, "leaseId");
    queuectl_buf_add(&object, parts[QUEUECTL_LOGS_ACK_LEASE].data,
                     parts[QUEUECTL_LOGS_ACK_LEASE].len);
    queuectl_buf_member(&object, "transactionId");
    queuectl_buf_add(&object, id->data, id->len);

    if (acks->error.len) {
        queuectl_buf_member(&object, "error");
        queuectl_buf_add(&object, acks->error.data, acks->error.len);
    }

    queuectl_buf_text(&object, "}");

    ack->object = object.data;
    ack->group = queuectl_copy(group->data, group->len);
    ack->id = queuectl_copy(id->data, id->len);
}


/* those of one group that follow each other; how many they are */

static size_t
queuectl_logs_acks_write(queuectl_logs_acks_t *acks, size_t from,
    queuectl_buf_t *body)
{
    size_t       i;
    const char  *group;

    group = acks->items[from].group;

    queuectl_buf_clear(body);
    queuectl_buf_print(body, "{\"consumerGroup\":%s,\"acknowledgments\":[",
                       group);

    for (i = from; i < acks->n && i - from < QUEUECTL_LOGS_ACKS_CALL
                   && strcmp(acks->items[i].group, group) == 0; i++)
    {
        queuectl_buf_text(body, i > from ? "," : "");
        queuectl_buf_text(body, acks->items[i].object);
    }

    queuectl_buf_text(body, "]}");

    return i - from;
}


queuectl_exit_e
queuectl_logs_acks_send(queuectl_t *q, queuectl_logs_acks_t *acks)
{
    size_t               from, n;
    queuectl_buf_t       body;
    queuectl_exit_e      rc, worst;
    queuectl_table_t     table;
    queuectl_answer_t    a;
    queuectl_request_t   r;

    static const char *const  headings[] = { "RESULT", "MESSAGE" };

    memset(&body, 0, sizeof(queuectl_buf_t));
    memset(&r, 0, sizeof(queuectl_request_t));
    queuectl_table_init(&table, headings, 2);

    r.method = "POST";
    r.path = "/api/v1/ack/batch";

    /* what has been printed is not to come again because of a Ctrl-C */

    r.finish = !acks->shown;
    r.patient = !acks->shown;

    rc = worst = QUEUECTL_OK;

    for (from = 0; from < acks->n && rc <= QUEUECTL_FAILED; from += n) {
        n = queuectl_logs_acks_write(acks, from, &body);
        r.body = queuectl_buf_span(&body);

        rc = queuectl_http_call(q, &r, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_logs_acks_results(q, acks, from, n, a.json, &table);
        }

        worst = rc ? rc : worst;
        queuectl_http_free(&a);
    }

    if (table.ncells) {
        queuectl_table_end(q, &table);
    }

    queuectl_buf_free(&body);

    return worst;
}


static queuectl_exit_e
queuectl_logs_acks_results(queuectl_t *q, queuectl_logs_acks_t *acks,
    size_t from, size_t n, queuectl_span_t results, queuectl_table_t *table)
{
    size_t           i;
    queuectl_exit_e  rc;
    queuectl_span_t  item;

    rc = QUEUECTL_OK;
    item.data = NULL;

    for (i = from; i < from + n; i++) {
        if (!queuectl_json_next(results, &item)) {
            queuectl_error("the answer has too few results");
            return QUEUECTL_FAILED;
        }

        if (queuectl_logs_acks_result(q, acks, acks->items[i].id, item, table)
            != QUEUECTL_OK)
        {
            rc = QUEUECTL_FAILED;
        }
    }

    return rc;
}


static queuectl_exit_e
queuectl_logs_acks_result(queuectl_t *q, queuectl_logs_acks_t *acks,
    const char *id, queuectl_span_t result, queuectl_table_t *table)
{
    int              failed;
    queuectl_buf_t   error, text;
    queuectl_span_t  value;

    memset(&error, 0, sizeof(queuectl_buf_t));
    memset(&text, 0, sizeof(queuectl_buf_t));

    failed = !queuectl_json_member(result, "success", &value)
             || value.data[0] != 't';

    if (!queuectl_json_member_text(result, "error", &error)) {
        queuectl_buf_text(&error, failed ? "failed"
                          : queuectl_json_member(result, "dlq", &value)
                            && value.data[0] == 't' ? "ok, a dead letter"
                          : queuectl_json_member(result, "noop", &value)
                            && value.data[0] == 't' ? "ok, it was before"
                          : "ok");
    }

    value.data = id;
    value.len = strlen(id);
    queuectl_json_text(value, &text);

    if (acks->shown && q->json) {
        queuectl_out_json(result);

    } else if (acks->shown) {
        queuectl_table_add(table, error.data);
        queuectl_table_add(table, text.len ? text.data : "");

    } else if (failed) {
        queuectl_error("not acknowledged, the message may come again: %s",
                       error.data);
    }

    queuectl_buf_free(&error);
    queuectl_buf_free(&text);

    return failed ? QUEUECTL_FAILED : QUEUECTL_OK;
}


void
queuectl_logs_acks_free(queuectl_logs_acks_t *acks)
{
    size_t  i;

    for (i = 0; i < acks->n; i++) {
        free(acks->items[i].group);
        free(acks->items[i].object);
        free(acks->items[i].id);
    }

    free(acks->items);
    queuectl_buf_free(&acks->error);
    memset(acks, 0, sizeof(queuectl_logs_acks_t));
}
