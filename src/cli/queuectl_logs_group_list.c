
/* The list of consumer groups. */

#include "queuectl_logs.h"
#include "queuectl_json.h"

#include <limits.h>
#include <string.h>


#define QUEUECTL_LOGS_GROUPS_PAGE  100


typedef struct {
    const char         *queue;          /* NULL: of all */
    int                 beside;         /* something else is shown as well */
    int                 denied;
    long long           left;           /* of --limit */
    queuectl_buf_t      told;           /* the last name of --names */
    queuectl_buf_t      after;          /* the last one of a page, on a queue */
    queuectl_buf_t      after_queue;
    queuectl_table_t    table;
} queuectl_logs_groups_t;


static queuectl_exit_e queuectl_logs_groups_call(queuectl_t *q,
    queuectl_logs_groups_t *g, long long asked, long long *n);
static queuectl_exit_e queuectl_logs_groups_page(queuectl_t *q,
    queuectl_logs_groups_t *g, queuectl_span_t page, long long *n);
static void queuectl_logs_groups_row(queuectl_t *q, queuectl_span_t group,
    queuectl_logs_groups_t *g);
static void queuectl_logs_groups_name(queuectl_span_t group,
    queuectl_buf_t *told);


queuectl_exit_e
queuectl_logs_groups_of(queuectl_t *q, const char *queue, int beside)
{
    long long               n, asked;
    queuectl_exit_e         rc;
    queuectl_logs_groups_t  g;

    static const char *const  headings[] = {
        "GROUP", "QUEUE", ">PARTITIONS", ">BEHIND", ">LAG", ">LATE", "STATE"
    };

    memset(&g, 0, sizeof(queuectl_logs_groups_t));
    g.queue = queue;
    g.beside = beside;
    g.left = queuectl_number(q, "limit", LLONG_MAX);
    queuectl_table_init(&g.table, headings, 7);

    do {
        asked = g.left < QUEUECTL_LOGS_GROUPS_PAGE ? g.left
                                                   : QUEUECTL_LOGS_GROUPS_PAGE;
        rc = queuectl_logs_groups_call(q, &g, asked, &n);
        g.left -= n;

    } while (rc == QUEUECTL_OK && n == asked && g.left > 0);

    if (g.table.ncells) {
        fputs(beside ? "\n" : "", stdout);
        queuectl_table_end(q, &g.table);

    } else if (rc == QUEUECTL_OK && !q->json && !g.denied
               && g.told.data == NULL)
    {
        queuectl_note(q, "no groups");
    }

    queuectl_buf_free(&g.told);
    queuectl_buf_free(&g.after);
    queuectl_buf_free(&g.after_queue);

    return rc;
}


static queuectl_exit_e
queuectl_logs_groups_call(queuectl_t *q, queuectl_logs_groups_t *g,
    long long asked, long long *n)
{
    queuectl_buf_t      path;
    queuectl_exit_e     rc;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    queuectl_logs_path(&path, "consumer-groups", NULL);
    queuectl_buf_print(&path, "?limit=%lld", asked);
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
            queuectl_logs_groups_row(q, group, g);
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

    if (*n && g->after.data
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
    queuectl_logs_groups_t *g)
{
    queuectl_table_t  *table;

    table = &g->table;

    if (q->json) {
        queuectl_out_json(group);
        return;
    }

    if (queuectl_given(q, "names")) {
        queuectl_logs_groups_name(group, &g->told);
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


/* a group comes once for each of its queues */

static void
queuectl_logs_groups_name(queuectl_span_t group, queuectl_buf_t *told)
{
    queuectl_buf_t  name;

    memset(&name, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&name, "");
    queuectl_json_member_text(group, "name", &name);

    if (told->data == NULL || strcmp(told->data, name.data) != 0) {
        queuectl_out_safe(name.data);
    }

    queuectl_buf_free(told);
    *told = name;
}
