
/* Dead-letter queues: those that another queue names as its own. */

#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"
#include "queuectl_tail.h"

#include <stdlib.h>
#include <string.h>


/* the queues of one look, and the ids of those that take dead letters */

typedef struct {
    char    **ids;
    char    **names;
    size_t    n;
    char    **dead;
    size_t    ndead;
} queuectl_tail_all_t;


static queuectl_exit_e queuectl_tail_collect(queuectl_t *q,
    queuectl_span_t item, void *data);
static queuectl_exit_e queuectl_tail_queue(queuectl_t *q, queuectl_tail_t *t,
    const char *id, const char *name);
static queuectl_tail_queue_t *queuectl_tail_queue_find(queuectl_tail_t *t,
    const char *id, const char *name);
static queuectl_exit_e queuectl_tail_get(queuectl_t *q, const char *id,
    const char *rest, queuectl_answer_t *a);
static void queuectl_tail_depth(queuectl_t *q, queuectl_tail_queue_t *queue,
    long long depth);
static queuectl_exit_e queuectl_tail_messages(queuectl_t *q,
    queuectl_tail_queue_t *queue, int silent);
static void queuectl_tail_message(queuectl_t *q, queuectl_tail_queue_t *queue,
    queuectl_span_t message, int silent);
static int queuectl_tail_is_new(queuectl_tail_queue_t *queue, const char *id,
    const char *at);
static void queuectl_tail_forget(queuectl_tail_letters_t *letters);


queuectl_exit_e
queuectl_tail_queues(queuectl_t *q, queuectl_tail_t *t)
{
    size_t               i, k;
    queuectl_exit_e      rc;
    queuectl_tail_all_t  all;

    memset(&all, 0, sizeof(queuectl_tail_all_t));

    rc = queuectl_list(q, "queues", NULL, NULL, queuectl_tail_collect, &all);

    for (i = 0; i < all.n && rc == QUEUECTL_OK; i++) {
        for (k = 0; k < all.ndead; k++) {
            if (strcmp(all.ids[i], all.dead[k]) == 0) {
                rc = queuectl_tail_queue(q, t, all.ids[i], all.names[i]);
                break;
            }
        }
    }

    for (i = 0; i < all.n; i++) {
        free(all.ids[i]);
        free(all.names[i]);
    }

    for (k = 0; k < all.ndead; k++) {
        free(all.dead[k]);
    }

    free(all.ids);
    free(all.names);
    free(all.dead);

    return rc;
}


static queuectl_exit_e
queuectl_tail_collect(queuectl_t *q, queuectl_span_t item, void *data)
{
    queuectl_tail_all_t  *all = data;

    queuectl_buf_t   id, name, dead;
    queuectl_span_t  policy;

    (void) q;

    memset(&id, 0, sizeof(queuectl_buf_t));
    memset(&name, 0, sizeof(queuectl_buf_t));
    memset(&dead, 0, sizeof(queuectl_buf_t));

    if (queuectl_json_member_text(item, "queueId", &id) && id.len
        && queuectl_json_member_text(item, "name", &name) && name.len)
    {
        all->ids = queuectl_grow(all->ids, all->n + 1, sizeof(char *));
        all->names = queuectl_grow(all->names, all->n + 1, sizeof(char *));
        all->ids[all->n] = queuectl_copy(id.data, id.len);
        all->names[all->n++] = queuectl_copy(name.data, name.len);
    }

    if (queuectl_json_member(item, "redrivePolicy", &policy)
        && queuectl_json_member_text(policy, "deadLetterQueueId", &dead)
        && dead.len)
    {
        all->dead = queuectl_grow(all->dead, all->ndead + 1, sizeof(char *));
        all->dead[all->ndead++] = queuectl_copy(dead.data, dead.len);
    }

    queuectl_buf_free(&id);
    queuectl_buf_free(&name);
    queuectl_buf_free(&dead);

    return QUEUECTL_OK;
}


static queuectl_tail_queue_t *
queuectl_tail_queue_find(queuectl_tail_t *t, const char *id, const char *name)
{
    size_t                  i;
    queuectl_tail_queue_t  *queue;

    for (i = 0; i < t->nqueues; i++) {
        if (strcmp(t->queues[i].id, id) == 0) {
            return &t->queues[i];
        }
    }

    t->queues = queuectl_grow(t->queues, t->nqueues + 1,
                              sizeof(queuectl_tail_queue_t));
    queue = &t->queues[t->nqueues++];

    memset(queue, 0, sizeof(queuectl_tail_queue_t));
    queue->id = queuectl_copy(id, strlen(id));
    queue->name = queuectl_copy(name, strlen(name));
    queue->depth = -1;

    return queue;
}


static queuectl_exit_e
queuectl_tail_get(queuectl_t *q, const char *id, const char *rest,
    queuectl_answer_t *a)
{
    queuectl_buf_t      path;
    queuectl_exit_e     rc;
    queuectl_request_t  r;

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_path(q, &path, "queues", id, rest);

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "GET";
    r.path = path.data;

    rc = queuectl_http_send(q, &r, a);

    /* one that was deleted meanwhile is nothing that fails */

    if (rc != QUEUECTL_OK && a->status != 404) {
        rc = queuectl_http_failed(q, a);
    }

    queuectl_buf_free(&path);

    return rc;
}


static queuectl_exit_e
queuectl_tail_queue(queuectl_t *q, queuectl_tail_t *t, const char *id,
    const char *name)
{
    size_t                  i;
    long long               depth, n;
    queuectl_exit_e         rc;
    queuectl_span_t         counts;
    queuectl_answer_t       a;
    queuectl_tail_queue_t  *queue;

    static const char *const  states[] = { "visible", "inFlight", "delayed" };

    queue = queuectl_tail_queue_find(t, id, name);
    rc = queuectl_tail_get(q, id, "", &a);

    if (rc != QUEUECTL_OK) {
        rc = a.status == 404 ? QUEUECTL_OK : rc;
        queuectl_http_free(&a);
        return rc;
    }

    depth = 0;

    if (queuectl_json_member(a.json, "counts", &counts)) {
        for (i = 0; i < 3; i++) {
            if (queuectl_json_member_number(counts, states[i], &n)) {
                depth += n;
            }
        }
    }

    queuectl_http_free(&a);

    if (depth) {
        rc = queuectl_tail_messages(q, queue, queue->depth < 0);
    }

    if (depth != queue->depth && (depth || queue->depth > 0)) {
        queuectl_tail_depth(q, queue, depth);
    }

    queue->depth = depth;

    return rc;
}


static void
queuectl_tail_depth(queuectl_t *q, queuectl_tail_queue_t *queue,
    long long depth)
{
    queuectl_buf_t  json, line;

    memset(&json, 0, sizeof(queuectl_buf_t));
    memset(&line, 0, sizeof(queuectl_buf_t));

    queuectl_buf_text(&json, "{");
    queuectl_buf_member_text(&json, "event", "deadLetters");
    queuectl_buf_member_text(&json, "queue", queue->name);
    queuectl_buf_member_number(&json, "count", depth);

    queuectl_buf_print(&line, "queue %s has %lld dead %s", queue->name, depth,
                       depth == 1 ? "letter" : "letters");

    if (queue->depth >= 0) {
        queuectl_buf_member_number(&json, "change", depth - queue->depth);
        queuectl_buf_print(&line, ", %+lld", depth - queue->depth);
    }

    queuectl_tail_event(q, &json, &line);
}


static queuectl_exit_e
queuectl_tail_messages(queuectl_t *q, queuectl_tail_queue_t *queue, int silent)
{
    queuectl_exit_e    rc;
    queuectl_span_t    messages, message;
    queuectl_answer_t  a;

    rc = queuectl_tail_get(q, queue->id, "/messages?limit=100", &a);

    if (rc == QUEUECTL_OK
        && queuectl_json_member(a.json, "messages", &messages))
    {
        message.data = NULL;

        while (queuectl_json_next(messages, &message)) {
            queuectl_tail_message(q, queue, message, silent);
        }

        /* where all are in flight now, those of before are still known */

        if (queue->now.n) {
            queuectl_tail_forget(&queue->before);
            queue->before = queue->now;
            memset(&queue->now, 0, sizeof(queuectl_tail_letters_t));
        }
    }

    rc = a.status == 404 ? QUEUECTL_OK : rc;
    queuectl_http_free(&a);

    return rc;
}


static void
queuectl_tail_message(queuectl_t *q, queuectl_tail_queue_t *queue,
    queuectl_span_t message, int silent)
{
    queuectl_buf_t   id, at, json, line;
    queuectl_span_t  attributes;

    memset(&id, 0, sizeof(queuectl_buf_t));
    memset(&at, 0, sizeof(queuectl_buf_t));
    memset(&json, 0, sizeof(queuectl_buf_t));
    memset(&line, 0, sizeof(queuectl_buf_t));

    if (queuectl_json_member_text(message, "messageId", &id) && id.len
        && queuectl_json_member(message, "attributes", &attributes)
        && queuectl_json_member_text(attributes, "ezgh.deadLetteredAt", &at)
        && at.len && queuectl_tail_is_new(queue, id.data, at.data) && !silent)
    {
        queuectl_buf_text(&json, "{");
        queuectl_buf_member_text(&json, "event", "deadLetter");
        queuectl_buf_member_text(&json, "queue", queue->name);
        queuectl_buf_member(&json, "message");
        queuectl_buf_add(&json, message.data, message.len);

        queuectl_buf_print(&line, "message %s is dead, after ", id.data);
        queuectl_json_member_text(attributes, "ezgh.deadLetterReceiveCount",
                                  &line);
        queuectl_buf_text(&line, " receives from ");
        queuectl_json_member_text(attributes, "ezgh.deadLetterSourceQueue",
                                  &line);
        queuectl_buf_print(&line, ", in %s", queue->name);

        queuectl_tail_event(q, &json, &line);
    }

    queuectl_buf_free(&id);
    queuectl_buf_free(&at);
}


/*
 * A look shows the hundred oldest ones: those that come into sight as others
 * go are not new. What is, was not there, and is no older than all that were.
 */

static int
queuectl_tail_is_new(queuectl_tail_queue_t *queue, const char *id,
    const char *at)
{
    size_t                    i;
    queuectl_tail_letters_t  *now, *before;

    now = &queue->now;
    before = &queue->before;

    now->ids = queuectl_grow(now->ids, now->n + 1, sizeof(char *));
    now->ids[now->n++] = queuectl_copy(id, strlen(id));

    if (now->last == NULL || strcmp(at, now->last) > 0) {
        free(now->last);
        now->last = queuectl_copy(at, strlen(at));
    }

    if (before->last && strcmp(at, before->last) < 0) {
        return 0;
    }

    for (i = 0; i < before->n; i++) {
        if (strcmp(before->ids[i], id) == 0) {
            return 0;
        }
    }

    return 1;
}


static void
queuectl_tail_forget(queuectl_tail_letters_t *letters)
{
    size_t  i;

    for (i = 0; i < letters->n; i++) {
        free(letters->ids[i]);
    }

    free(letters->ids);
    free(letters->last);
    memset(letters, 0, sizeof(queuectl_tail_letters_t));
}


void
queuectl_tail_queues_free(queuectl_tail_t *t)
{
    size_t  i;

    for (i = 0; i < t->nqueues; i++) {
        queuectl_tail_forget(&t->queues[i].before);
        queuectl_tail_forget(&t->queues[i].now);
        free(t->queues[i].id);
        free(t->queues[i].name);
    }

    free(t->queues);
}
