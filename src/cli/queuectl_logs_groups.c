
/* Consumer groups: where they are, and where they go on. */

#include "queuectl_logs.h"
#include "queuectl_json.h"

#include <string.h>


#define QUEUECTL_LOGS_GROUPS_PAGE  100


typedef struct {
    const char         *queue;          /* NULL: of all */
    int                 beside;         /* something else is shown as well */
    int                 denied;
    queuectl_buf_t      after;          /* the last one of a page, on a queue */
    queuectl_buf_t      after_queue;
    queuectl_table_t    table;
} queuectl_logs_groups_t;


static queuectl_exit_e queuectl_logs_groups(queuectl_t *q);
static queuectl_exit_e queuectl_logs_groups_call(queuectl_t *q,
    queuectl_logs_groups_t *g, long long *n);
static queuectl_exit_e queuectl_logs_groups_page(queuectl_t *q,
    queuectl_logs_groups_t *g, queuectl_span_t page, long long *n);
static void queuectl_logs_groups_row(queuectl_t *q, queuectl_span_t group,
    queuectl_table_t *table);
static queuectl_exit_e queuectl_logs_group(queuectl_t *q);
static void queuectl_logs_group_queue(queuectl_span_t name,
    queuectl_span_t partitions, queuectl_table_t *table);
static queuectl_exit_e queuectl_logs_seek(queuectl_t *q);
static queuectl_exit_e queuectl_logs_seek_body(queuectl_t *q,
    queuectl_buf_t *body);
static queuectl_exit_e queuectl_logs_delete_group(queuectl_t *q);


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
      NULL, queuectl_logs_groups },

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


queuectl_exit_e
queuectl_logs_groups_of(queuectl_t *q, const char *queue, int beside)
{
    long long               n;
    queuectl_exit_e         rc;
    queuectl_logs_groups_t  g;

    static const char *const  headings[] = {
        "GROUP", "QUEUE", ">PARTITIONS", ">BEHIND", ">LAG", ">LATE", "STATE"
    };

    memset(&g, 0, sizeof(queuectl_logs_groups_t));
    g.queue = queue;
    g.beside = beside;
    queuectl_table_init(&g.table, headings, 7);

    do {
        rc = queuectl_logs_groups_call(q, &g, &n);

    } while (rc == QUEUECTL_OK && n == QUEUECTL_LOGS_GROUPS_PAGE);

    if (g.table.ncells) {
        fputs(beside ? "\n" : "", stdout);
        queuectl_table_end(q, &g.table);

    } else if (rc == QUEUECTL_OK && !q->json && !g.denied) {
        queuectl_note(q, "no groups");
    }

    queuectl_buf_free(&g.after);
    queuectl_buf_free(&g.after_queue);

    return rc;
}


static queuectl_exit_e
queuectl_logs_groups_call(queuectl_t *q, queuectl_logs_groups_t *g,
    long long *n)
{
    queuectl_buf_t      path;
    queuectl_exit_e     rc;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    queuectl_logs_path(&path, "consumer-groups", NULL);
    queuectl_buf_print(&path, "?limit=%d", QUEUECTL_LOGS_GROUPS_PAGE);
    queuectl_path_query(&path, "queue", g->queue);
    queuectl_path_query(&path, "after", g->after.data);
    queuectl_path_query(&path, "afterQueue", g->after_queue.data);

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "GET";
    r.path = path.data;

    *n = 0;
    rc = queuectl_http_send(q, &r, &a);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_logs_groups_page(q, g, a.json, n);

    } else if (a.status == 403 && g->beside) {
        queuectl_note(q, "the key may not read groups");
        g->denied = 1;
        rc = QUEUECTL_OK;

    } else {
        rc = queuectl_http_failed(q, &a);
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&path);

    return rc;
}


static queuectl_exit_e
queuectl_logs_groups_page(queuectl_t *q, queuectl_logs_groups_t *g,
    queuectl_span_t page, long long *n)
{
    queuectl_buf_t   name, queue;
    queuectl_span_t  group;

    memset(&name, 0, sizeof(queuectl_buf_t));
    memset(&queue, 0, sizeof(queuectl_buf_t));
    group.data = NULL;

    while (queuectl_json_next(page, &group)) {

        /* other servers of this API list those of all queues */

        if (g->queue == NULL || queuectl_logs_is(group, "queueName", g->queue))
        {
            queuectl_logs_groups_row(q, group, &g->table);
        }

        (*n)++;

        queuectl_buf_clear(&name);
        queuectl_buf_clear(&queue);
        queuectl_buf_text(&name, "");
        queuectl_buf_text(&queue, "");
        queuectl_json_member_text(group, "name", &name);
        queuectl_json_member_text(group, "queueName", &queue);
    }

    /* the same page again would have no end */

    if (*n == QUEUECTL_LOGS_GROUPS_PAGE && g->after.data
        && strcmp(name.data, g->after.data) == 0
        && strcmp(queue.data, g->after_queue.data) == 0)
    {
        queuectl_error("the server names the same page twice");
        queuectl_buf_free(&name);
        queuectl_buf_free(&queue);
        return QUEUECTL_FAILED;
    }

    queuectl_buf_free(&g->after);
    queuectl_buf_free(&g->after_queue);
    g->after = name;
    g->after_queue = queue;

    return QUEUECTL_OK;
}


static void
queuectl_logs_groups_row(queuectl_t *q, queuectl_span_t group,
    queuectl_table_t *table)
{
    if (q->json) {
        queuectl_out_json(group);
        return;
    }

    queuectl_logs_cell(table, group, "name");
    queuectl_logs_cell(table, group, "queueName");
    queuectl_logs_cell(table, group, "members");
    queuectl_logs_cell(table, group, "partitionsWithLag");
    queuectl_logs_cell(table, group, "totalLag");
    queuectl_logs_seconds(table, group, "maxTimeLag");
    queuectl_logs_cell(table, group, "state");
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
