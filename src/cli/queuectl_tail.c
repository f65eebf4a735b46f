
#include "queuectl_tail.h"
#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>


#define QUEUECTL_TAIL_INTERVAL  5


static queuectl_exit_e queuectl_tail(queuectl_t *q);
static queuectl_exit_e queuectl_tail_look(queuectl_t *q, queuectl_tail_t *t);
static queuectl_exit_e queuectl_tail_subscription(queuectl_t *q,
    queuectl_span_t item, void *data);
static queuectl_tail_subscription_t *queuectl_tail_find(queuectl_tail_t *t,
    const char *id);
static void queuectl_tail_failing(queuectl_t *q, queuectl_span_t item,
    queuectl_span_t error, const char *id);
static void queuectl_tail_recovered(queuectl_t *q, const char *id);
static void queuectl_tail_free(queuectl_tail_t *t);


static const queuectl_flag_t  queuectl_tail_flags[] = {
    { "interval", 'i', QUEUECTL_SECONDS, "TIME", "between two looks: 5s" },
    { "once", '1', QUEUECTL_SWITCH, NULL, "one look: what fails now" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_tail_commands[] = {
    { NULL, "tail", "", 0, 0, QUEUECTL_API,
      "Follow what fails: deliveries, and messages that are dead-lettered",
      "It says what is failing, and then what changes: each new error of a "
      "subscription,\nits recovery, and what comes to dead-letter queues, until "
      "Ctrl-C. It asks the\nserver once an interval, and goes on where that is "
      "not available.\n\n"
      "  queuectl tail --interval 10s\n"
      "  queuectl tail --once --json\n",
      queuectl_tail_flags, queuectl_tail },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_tail(queuectl_t *q)
{
    int              once;
    long long        interval;
    queuectl_exit_e  rc;
    queuectl_tail_t  t;

    once = queuectl_given(q, "once");
    interval = queuectl_number(q, "interval", QUEUECTL_TAIL_INTERVAL);

    if (interval < 1 || interval > 86400) {
        return queuectl_usage(q, "--interval is 1 second to 1 day");
    }

    /* the next look is another try */

    if (q->retries < 0 && !once) {
        q->retries = 0;
    }

    memset(&t, 0, sizeof(queuectl_tail_t));

    do {
        rc = queuectl_tail_look(q, &t);

        if (queuectl_out_flush() != QUEUECTL_OK) {
            rc = QUEUECTL_FAILED;
            break;
        }

        if (once || (rc != QUEUECTL_OK && rc != QUEUECTL_UNAVAILABLE)) {
            break;
        }

        rc = queuectl_sleep(interval * 1000);

    } while (rc == QUEUECTL_OK);

    queuectl_tail_free(&t);

    return rc;
}


static queuectl_exit_e
queuectl_tail_look(queuectl_t *q, queuectl_tail_t *t)
{
    queuectl_exit_e  rc;

    rc = queuectl_list(q, "subscriptions", NULL, NULL,
                       queuectl_tail_subscription, t);

    return rc ? rc : queuectl_tail_queues(q, t);
}


static queuectl_tail_subscription_t *
queuectl_tail_find(queuectl_tail_t *t, const char *id)
{
    size_t                         i;
    queuectl_tail_subscription_t  *s;

    for (i = 0; i < t->nsubscriptions; i++) {
        if (strcmp(t->subscriptions[i].id, id) == 0) {
            return &t->subscriptions[i];
        }
    }

    t->subscriptions = queuectl_grow(t->subscriptions, t->nsubscriptions + 1,
                                     sizeof(queuectl_tail_subscription_t));
    s = &t->subscriptions[t->nsubscriptions++];

    s->id = queuectl_copy(id, strlen(id));
    s->last = NULL;

    return s;
}


static queuectl_exit_e
queuectl_tail_subscription(queuectl_t *q, queuectl_span_t item, void *data)
{
    queuectl_tail_t  *t = data;

    int                            failing;
    queuectl_buf_t                 id, health, at;
    queuectl_span_t                status, error;
    queuectl_tail_subscription_t  *s;

    memset(&id, 0, sizeof(queuectl_buf_t));
    memset(&health, 0, sizeof(queuectl_buf_t));
    memset(&at, 0, sizeof(queuectl_buf_t));

    if (queuectl_json_member_text(item, "subscription", &id) && id.len
        && queuectl_json_member(item, "status", &status))
    {
        s = queuectl_tail_find(t, id.data);

        failing = queuectl_json_member_text(status, "health", &health)
                  && health.len && strcmp(health.data, "failing") == 0
                  && queuectl_json_member(status, "lastError", &error)
                  && queuectl_json_member_text(error, "at", &at) && at.len;

        if (failing && (s->last == NULL || strcmp(s->last, at.data) != 0)) {
            queuectl_tail_failing(q, item, error, id.data);

        } else if (!failing && s->last) {
            queuectl_tail_recovered(q, id.data);
        }

        free(s->last);
        s->last = failing ? queuectl_copy(at.data, at.len) : NULL;
    }

    queuectl_buf_free(&id);
    queuectl_buf_free(&health);
    queuectl_buf_free(&at);

    return QUEUECTL_OK;
}


static void
queuectl_tail_failing(queuectl_t *q, queuectl_span_t item,
    queuectl_span_t error, const char *id)
{
    queuectl_buf_t   json, line;
    queuectl_span_t  queue;

    memset(&json, 0, sizeof(queuectl_buf_t));
    memset(&line, 0, sizeof(queuectl_buf_t));

    queuectl_buf_text(&json, "{");
    queuectl_buf_member_text(&json, "event", "failing");
    queuectl_buf_member_text(&json, "subscription", id);

    queuectl_buf_print(&line, "subscription %s", id);

    if (queuectl_json_member(item, "queue", &queue)) {
        queuectl_buf_member(&json, "queue");
        queuectl_buf_add(&json, queue.data, queue.len);

        queuectl_buf_text(&line, " of ");
        queuectl_json_text(queue, &line);
    }

    queuectl_buf_member(&json, "lastError");
    queuectl_buf_add(&json, error.data, error.len);

    queuectl_buf_text(&line, " is failing: ");
    queuectl_json_member_text(error, "class", &line);
    queuectl_buf_text(&line, ", ");
    queuectl_json_member_text(error, "message", &line);

    queuectl_tail_event(q, &json, &line);
}


static void
queuectl_tail_recovered(queuectl_t *q, const char *id)
{
    queuectl_buf_t  json, line;

    memset(&json, 0, sizeof(queuectl_buf_t));
    memset(&line, 0, sizeof(queuectl_buf_t));

    queuectl_buf_text(&json, "{");
    queuectl_buf_member_text(&json, "event", "recovered");
    queuectl_buf_member_text(&json, "subscription", id);

    queuectl_buf_print(&line, "subscription %s has recovered", id);

    queuectl_tail_event(q, &json, &line);
}


void
queuectl_tail_event(queuectl_t *q, queuectl_buf_t *json, queuectl_buf_t *line)
{
    char        at[32];
    time_t      now;
    struct tm   tm;

    now = time(NULL);
    gmtime_r(&now, &tm);
    strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &tm);

    if (q->json) {
        queuectl_buf_member_text(json, "seenAt", at);
        queuectl_buf_text(json, "}");
        queuectl_out_json(queuectl_buf_span(json));

    } else {
        printf("%s  ", at);
        queuectl_out_safe(line->data);
    }

    queuectl_buf_free(json);
    queuectl_buf_free(line);
}


static void
queuectl_tail_free(queuectl_tail_t *t)
{
    size_t  i;

    for (i = 0; i < t->nsubscriptions; i++) {
        free(t->subscriptions[i].id);
        free(t->subscriptions[i].last);
    }

    free(t->subscriptions);
    queuectl_tail_queues_free(t);
}
