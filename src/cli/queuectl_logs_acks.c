
/* A list of what has been popped, and what is said of it: so many a call. */

#include "queuectl_logs_ack.h"
#include "queuectl_json.h"
#include "queuectl_settle.h"

#include <stdlib.h>
#include <string.h>


/* what the server takes; a body stays below nginx' own client_max_body_size */

#define QUEUECTL_LOGS_ACKS_CALL   10000
#define QUEUECTL_LOGS_ACKS_BYTES  (768 * 1024)


static size_t queuectl_logs_acks_write(void *data, size_t from, size_t most,
    queuectl_buf_t *body);
static void queuectl_logs_acks_result(void *data, size_t i,
    queuectl_span_t result, queuectl_settled_t *s);


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


queuectl_exit_e
queuectl_logs_acks_send(queuectl_t *q, queuectl_logs_acks_t *acks)
{
    static const queuectl_settling_t  settling = {
        .path = "/api/v1/ack/batch",
        .heading = "MESSAGE",
        .write = queuectl_logs_acks_write,
        .result = queuectl_logs_acks_result
    };

    return queuectl_settle(q, &settling, acks, acks->n, acks->shown);
}


/* those of one group that follow each other */

static size_t
queuectl_logs_acks_write(void *data, size_t from, size_t most,
    queuectl_buf_t *body)
{
    queuectl_logs_acks_t  *acks = data;

    size_t       i;
    const char  *group;

    group = acks->items[from].group;

    queuectl_buf_print(body, "{\"consumerGroup\":%s,\"acknowledgments\":[",
                       group);

    if (most > QUEUECTL_LOGS_ACKS_CALL) {
        most = QUEUECTL_LOGS_ACKS_CALL;
    }

    for (i = from; i < acks->n && i - from < most; i++) {

        if (i > from
            && (strcmp(acks->items[i].group, group) != 0
                || body->len + strlen(acks->items[i].object)
                   > QUEUECTL_LOGS_ACKS_BYTES))
        {
            break;
        }

        queuectl_buf_text(body, i > from ? "," : "");
        queuectl_buf_text(body, acks->items[i].object);
    }

    queuectl_buf_text(body, "]}");

    return i - from;
}


static void
queuectl_logs_acks_result(void *data, size_t i, queuectl_span_t result,
    queuectl_settled_t *s)
{
    queuectl_logs_acks_t  *acks = data;

    queuectl_span_t  id;

    s->failed = !queuectl_json_member_true(result, "success");

    if (!queuectl_json_member_text(result, "error", &s->result)) {
        queuectl_buf_text(&s->result, s->failed ? "failed"
                          : queuectl_json_member_true(result, "dlq")
                          ? "ok, a dead letter"
                          : queuectl_json_member_true(result, "noop")
                          ? "ok, it was before" : "ok");
    }

    id.data = acks->items[i].id;
    id.len = strlen(id.data);
    queuectl_json_text(id, &s->name);
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
