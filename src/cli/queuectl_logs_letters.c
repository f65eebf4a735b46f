
/* Dead letters of a log: shown, pushed again, deleted. */

#include "queuectl_logs.h"
#include "queuectl_json.h"
#include "queuectl_logs_ack.h"

#include <string.h>


/* of a call; the server has 1,000, and some 4 MiB of payloads */

#define QUEUECTL_LOGS_DEAD_PAGE  100


static queuectl_exit_e queuectl_logs_dead(queuectl_t *q);
static queuectl_exit_e queuectl_logs_retry(queuectl_t *q);
static queuectl_exit_e queuectl_logs_retry_all(queuectl_t *q,
    queuectl_progress_t *progress);
static queuectl_exit_e queuectl_logs_retry_page(queuectl_t *q,
    queuectl_span_t page, queuectl_progress_t *progress,
    queuectl_buf_t *first, int *moved);
static queuectl_exit_e queuectl_logs_purge_dead(queuectl_t *q);
static queuectl_exit_e queuectl_logs_letters(queuectl_t *q,
    const char *method, const char *rest);


static const queuectl_flag_t  queuectl_logs_dead_flags[] = {
    { "group", 'g', QUEUECTL_TEXT, "GROUP", "those of this consumer group" },
    { "limit", 0, QUEUECTL_NUMBER, "N", "dead letters at most: 10" },
    QUEUECTL_LOGS_FORM,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_retry_flags[] = {
    { "all", 0, QUEUECTL_SWITCH, NULL, "all that are there when it begins" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_logs_purge_flags[] = {
    { "group", 'g', QUEUECTL_TEXT, "GROUP", "those of this consumer group" },
    { "yes", 'y', QUEUECTL_SWITCH, NULL, "do not ask" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_logs_letters_commands[] = {
    { "logs", "dead", "QUEUE", 1, 1, QUEUECTL_LOGS_API,
      "Show the dead letters of a queue, the newest first",
      "With the LETTER that retry and purge-dead take.\n",
      queuectl_logs_dead_flags, queuectl_logs_dead },

    { "logs", "retry", "QUEUE [LETTER...]", 1, -1, QUEUECTL_LOGS_API,
      "Push dead letters again, at the ends of their partitions",
      "They have new transaction ids then, and all groups get them.\n\n"
      "  queuectl logs retry orders --all\n"
      "  queuectl logs retry orders 66d38ac9-...:order-1\n",
      queuectl_logs_retry_flags, queuectl_logs_retry },

    { "logs", "purge-dead", "QUEUE [LETTER...]", 1, -1, QUEUECTL_LOGS_API,
      "Delete dead letters: all of a queue, or those that are named",
      "The messages stay in their log. It asks first; scripts say --yes.\n",
      queuectl_logs_purge_flags, queuectl_logs_purge_dead },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


/* a page may be shorter than it might be */

static queuectl_exit_e
queuectl_logs_dead(queuectl_t *q)
{
    long long          n, got, left, total;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    rc = queuectl_logs_message_form(q);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    left = queuectl_number(q, "limit", 10);
    got = total = 0;

    do {
        n = 0;
        rc = queuectl_logs_messages_page(q, "dlq",
                                         left < QUEUECTL_LOGS_DEAD_PAGE
                                         ? left : QUEUECTL_LOGS_DEAD_PAGE,
                                         got, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_logs_messages_print(q, a.json, &n);
            queuectl_json_member_number(a.json, "total", &total);
        }

        queuectl_http_free(&a);
        got += n;
        left -= n;

    } while (rc == QUEUECTL_OK && n && left > 0 && !queuectl_interrupts());

    if (rc == QUEUECTL_OK && got == 0) {
        queuectl_note(q, "no dead letters");

    } else if (rc == QUEUECTL_OK && total > got) {
        queuectl_note(q, "%lld of %lld are shown: --limit N", got, total);
    }

    return rc;
}


static queuectl_exit_e
queuectl_logs_retry(queuectl_t *q)
{
    int                  all;
    queuectl_exit_e      rc;
    queuectl_progress_t  progress;

    all = queuectl_given(q, "all");

    if (all == (q->narguments > 1)) {
        return queuectl_usage(q, all ? "a letter and --all are one too many"
                              : "which ones? LETTER, or --all");
    }

    if (!all) {
        return queuectl_logs_letters(q, "POST", "/retry");
    }

    queuectl_progress_init(q, &progress, "messages", 0);
    rc = queuectl_logs_retry_all(q, &progress);
    queuectl_progress_end(&progress);

    if (rc == QUEUECTL_OK || progress.count) {
        queuectl_note(q, "%lld %s pushed again", progress.count,
                      progress.count == 1 ? "message" : "messages");
    }

    return rc == QUEUECTL_OK && queuectl_interrupts() ? QUEUECTL_INTERRUPTED
           : rc;
}


/*
 * Always from the first one: those that were pushed again are in the list no
 * more, nor those that somebody else took out of it.  What fails meanwhile may
 * come as fast as it goes: it is not waited for.
 */

static queuectl_exit_e
queuectl_logs_retry_all(queuectl_t *q, queuectl_progress_t *progress)
{
    int                moved;
    queuectl_buf_t     first;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(&first, 0, sizeof(queuectl_buf_t));

    do {
        moved = 0;
        rc = queuectl_logs_messages_page(q, "dlq", QUEUECTL_LOGS_DEAD_PAGE, 0,
                                         &a);

        if (rc == QUEUECTL_OK && progress->total == 0) {
            queuectl_json_member_number(a.json, "total", &progress->total);
        }

        if (rc == QUEUECTL_OK) {
            rc = queuectl_logs_retry_page(q, a.json, progress, &first, &moved);
        }

        queuectl_http_free(&a);

    } while (rc == QUEUECTL_OK && moved && progress->count < progress->total
             && !queuectl_interrupts());

    queuectl_buf_free(&first);

    return rc;
}


/*
 * moved: one was pushed again, or the first one is not that of the page before,
 * which is to say that those that were gone are not listed for ever.
 */

static queuectl_exit_e
queuectl_logs_retry_page(queuectl_t *q, queuectl_span_t page,
    queuectl_progress_t *progress, queuectl_buf_t *first, int *moved)
{
    int                 n;
    queuectl_buf_t      path;
    queuectl_exit_e     rc;
    queuectl_span_t     messages, message;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    if (!queuectl_json_member(page, "messages", &messages)) {
        queuectl_error("the answer has no messages");
        return QUEUECTL_FAILED;
    }

    rc = QUEUECTL_OK;
    message.data = NULL;

    for (n = 0;
         rc == QUEUECTL_OK && progress->count < progress->total
         && !queuectl_interrupts() && queuectl_json_next(messages, &message);
         n++)
    {
        if (!queuectl_logs_letter_path(message, "/retry", &path)) {
            queuectl_error("the answer has a message without its ids");
            return QUEUECTL_FAILED;
        }

        memset(&r, 0, sizeof(queuectl_request_t));
        r.method = "POST";
        r.path = path.data;
        r.patient = 1;

        rc = queuectl_http_send(q, &r, &a);

        if (n == 0) {
            *moved = (first->data == NULL
                      || strcmp(first->data, path.data) != 0);
            queuectl_buf_free(first);
            *first = path;

        } else {
            queuectl_buf_free(&path);
        }

        if (rc == QUEUECTL_OK) {
            *moved = 1;

            if (q->json) {
                queuectl_out_json(a.json);
            }

            queuectl_progress(progress, progress->count + 1,
                              progress->count + 1);

        } else if (a.status == 404) {

            /* somebody else has, or its queue is gone */

            rc = QUEUECTL_OK;

        } else {
            rc = queuectl_http_failed(q, &a);
        }

        queuectl_http_free(&a);
    }

    return rc;
}


static queuectl_exit_e
queuectl_logs_purge_dead(queuectl_t *q)
{
    long long          deleted;
    const char        *group;
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    group = queuectl_text(q, "group");

    if (group && q->narguments > 1) {
        return queuectl_usage(q, "a letter and --group are one too many");
    }

    rc = queuectl_confirm(q, "Delete %s dead letters of %s%s%s?",
                          q->narguments > 1 ? "these" : "all",
                          q->arguments[0], group ? ", group " : "",
                          group ? group : "");

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    if (q->narguments > 1) {
        return queuectl_logs_letters(q, "DELETE", "");
    }

    queuectl_logs_path(&path, "dlq", NULL);
    queuectl_path_query(&path, "queue", q->arguments[0]);
    queuectl_path_query(&path, "consumerGroup", group);

    rc = queuectl_call(q, "DELETE", &path, NULL, &a);

    if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(a.json);

    } else if (rc == QUEUECTL_OK
               && queuectl_json_member_number(a.json, "deleted", &deleted))
    {
        queuectl_note(q, "%lld dead %s deleted", deleted,
                      deleted == 1 ? "letter" : "letters");
    }

    queuectl_http_free(&a);

    return rc;
}


/* those that are named; one that is not there ends it not */

static queuectl_exit_e
queuectl_logs_letters(queuectl_t *q, const char *method, const char *rest)
{
    int              i;
    queuectl_buf_t   path;
    queuectl_exit_e  rc, worst;

    worst = QUEUECTL_OK;

    for (i = 1; i < q->narguments; i++) {
        if (!queuectl_logs_letter_named(q->arguments[i], rest, &path)) {
            queuectl_error("that is no dead letter: %s", q->arguments[i]);
            return QUEUECTL_USAGE;
        }

        rc = queuectl_logs_do(q, method, &path, NULL);

        if (rc == QUEUECTL_OK && !q->json) {
            printf("%s %s\n", rest[0] ? "pushed again" : "deleted",
                   q->arguments[i]);
        }

        if (rc != QUEUECTL_OK && rc != QUEUECTL_NOT_FOUND) {
            return rc;
        }

        worst = rc ? rc : worst;
    }

    return worst;
}
