
/* Consumer groups: where they are, and where they go on. */

#include "queuectl_logs.h"
#include "queuectl_json.h"

#include <string.h>


static queuectl_exit_e queuectl_logs_groups(queuectl_t *q);
static queuectl_exit_e queuectl_logs_group(queuectl_t *q);
static void queuectl_logs_group_queue(queuectl_span_t name,
    queuectl_span_t partitions, queuectl_table_t *table);
static queuectl_exit_e queuectl_logs_seek(queuectl_t *q);
static queuectl_exit_e queuectl_logs_seek_body(queuectl_t *q,
    queuectl_buf_t *body);
static queuectl_exit_e queuectl_logs_delete_group(queuectl_t *q);


static const queuectl_flag_t  queuectl_logs_groups_flags[] = {
    { "names", 'n', QUEUECTL_SWITCH, NULL, "the names alone, one a line" },
    { "limit", 0, QUEUECTL_NUMBER, "N", "lines to read at most: all" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_seek_flags[] = {
    { "to", 0, QUEUECTL_TEXT, "MOMENT", "beginning, end, or a time" },
    { "partition", 0, QUEUECTL_TEXT, "PARTITION", "in this partition alone" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_group_yes_flags[] = {
    { "yes", 'y', QUEUECTL_SWITCH, NULL, "do not ask" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_groups_commands[] = {
    { "logs", "groups", "[QUEUE]", 0, 1, QUEUECTL_LOGS_API,
      "List the consumer groups, and how far behind they are",
      "A line is a group on a queue. LAG is in messages, LATE how long the "
      "oldest of them\nhas been there. Pops without a group are __QUEUE_MODE__."
      "\n",
      queuectl_logs_groups_flags, queuectl_logs_groups },

    { "logs", "group", "GROUP", 1, 1, QUEUECTL_LOGS_API,
      "Show a group, by queue and partition",
      NULL, NULL, queuectl_logs_group },

    { "logs", "seek", "GROUP QUEUE", 2, 2, QUEUECTL_LOGS_API,
      "Have a group go on elsewhere in a queue",
      "It goes on with the first message of that moment or later; its leases "
      "are over. A\nMOMENT is a time such as 2026-08-01T12:00:00Z, or how long "
      "ago: 2h.\n\n"
      "  queuectl logs seek billing orders --to 2h\n"
      "  queuectl logs seek billing orders --to end --partition acct-42\n",
      queuectl_logs_seek_flags, queuectl_logs_seek },

    { "logs", "delete-group", "GROUP [QUEUE]", 1, 2, QUEUECTL_LOGS_API,
      "Forget a group, on all queues or on one",
      "Its next pop is its first one. It asks first; scripts say --yes.\n",
      queuectl_logs_group_yes_flags, queuectl_logs_delete_group },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_logs_groups(queuectl_t *q)
{
    return queuectl_logs_groups_of(q, q->narguments ? q->arguments[0] : NULL,
                                   0);
}


static queuectl_exit_e
queuectl_logs_group(queuectl_t *q)
{
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_span_t    name, queue, partitions;
    queuectl_table_t   table;
    queuectl_answer_t  a;

    static const char *const  headings[] = {
        "QUEUE", "PARTITION", ">CONSUMED", ">LAG", ">LATE", "LEASED",
        "LAST CONSUMED"
    };

    queuectl_logs_path(&path, "consumer-groups/", q->arguments[0], NULL);
    rc = queuectl_call(q, "GET", &path, NULL, &a);

    queuectl_table_init(&table, headings, 7);
    name.data = NULL;

    while (rc == QUEUECTL_OK
           && queuectl_json_next_member(a.json, &name, &queue))
    {
        if (!q->json && queuectl_json_member(queue, "partitions", &partitions))
        {
            queuectl_logs_group_queue(name, partitions, &table);
        }
    }

    /* "lagging" is the name of another call */

    if (rc == QUEUECTL_OK && !queuectl_json_is_object(a.json)) {
        queuectl_error("the answer is none of a group: queuectl logs groups "
                       "shows those with any name");
        rc = QUEUECTL_FAILED;
    }

    /* to this API one that there is not is an empty object */

    if (rc == QUEUECTL_OK && name.data == NULL) {
        queuectl_error("Group not found: %s\nTo see them: queuectl logs groups",
                       q->arguments[0]);
        rc = QUEUECTL_NOT_FOUND;
    }

    if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(a.json);
    }

    if (table.ncells) {
        queuectl_table_end(q, &table);
    }

    queuectl_http_free(&a);

    return rc;
}


static void
queuectl_logs_group_queue(queuectl_span_t name, queuectl_span_t partitions,
    queuectl_table_t *table)
{
    queuectl_buf_t   queue;
    queuectl_span_t  item;

    memset(&queue, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&queue, "");
    queuectl_json_text(name, &queue);
    item.data = NULL;

    while (queuectl_json_next(partitions, &item)) {
        queuectl_table_add(table, queue.data);
        queuectl_logs_cell(table, item, "partition");
        queuectl_logs_cell(table, item, "totalConsumed");
        queuectl_logs_cell(table, item, "offsetLag");
        queuectl_logs_seconds(table, item, "timeLagSeconds");
        queuectl_table_add(table,
                           queuectl_json_member_true(item, "leaseActive")
                           ? "yes" : "-");
        queuectl_logs_cell(table, item, "lastConsumedAt");
    }

    queuectl_buf_free(&queue);
}


static queuectl_exit_e
queuectl_logs_seek(queuectl_t *q)
{
    const char      *partition;
    queuectl_buf_t   path, body;
    queuectl_exit_e  rc;

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");

    rc = queuectl_logs_seek_body(q, &body);
    partition = queuectl_text(q, "partition");

    if (rc == QUEUECTL_OK && partition && partition[0] == '\0') {
        rc = queuectl_usage(q, "a partition without a name cannot be named");
    }

    if (rc == QUEUECTL_OK) {
        queuectl_buf_text(&body, "}");
        queuectl_logs_path(&path, "consumer-groups/", q->arguments[0],
                           "/queues/", q->arguments[1],
                           partition ? "/partitions/" : "/seek", partition,
                           "/seek", NULL);
        rc = queuectl_logs_do(q, "POST", &path, &body);
    }

    if (rc == QUEUECTL_OK && !q->json) {
        queuectl_note(q, "%s goes on there", q->arguments[0]);
    }

    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_logs_seek_body(queuectl_t *q, queuectl_buf_t *body)
{
    const char      *to;
    queuectl_buf_t   time;
    queuectl_exit_e  rc;

    to = queuectl_text(q, "to");

    if (to == NULL) {
        return queuectl_usage(q, "where to? --to beginning, end or a time");
    }

    if (strcmp(to, "end") == 0) {
        queuectl_buf_member(body, "toEnd");
        queuectl_buf_text(body, "true");
        return QUEUECTL_OK;
    }

    rc = QUEUECTL_OK;
    memset(&time, 0, sizeof(queuectl_buf_t));

    if (strcmp(to, "beginning") == 0) {
        queuectl_buf_text(&time, QUEUECTL_LOGS_BEGINNING);

    } else {
        rc = queuectl_logs_time(q, "to", &time);
    }

    if (rc == QUEUECTL_OK) {
        queuectl_buf_member_text(body, "timestamp", time.data);
    }

    queuectl_buf_free(&time);

    return rc;
}


static queuectl_exit_e
queuectl_logs_delete_group(queuectl_t *q)
{
    const char         *queue;
    queuectl_buf_t      path;
    queuectl_exit_e     rc;

    queue = q->narguments == 2 ? q->arguments[1] : NULL;

    rc = queuectl_confirm(q, "Forget where the group %s is %s%s?",
                          q->arguments[0], queue ? "in " : "in all queues",
                          queue ? queue : "");

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    queuectl_logs_path(&path, "consumer-groups/", q->arguments[0],
                       queue ? "/queues/" : "", queue, NULL);
    rc = queuectl_logs_do(q, "DELETE", &path, NULL);

    if (rc == QUEUECTL_OK && !q->json) {
        queuectl_note(q, "%s is forgotten", q->arguments[0]);
    }

    return rc;
}
