
#include "queuectl_settle.h"
#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <string.h>


typedef struct {
    const queuectl_settling_t  *how;
    void                       *data;
    int                         shown;
    queuectl_table_t            table;
} queuectl_settle_t;


/* those that are not acknowledged for one reason: a lease is over for all of them */

typedef struct {
    size_t                      n;
    queuectl_buf_t              why;
} queuectl_settle_lost_t;


static queuectl_exit_e queuectl_settle_results(queuectl_t *q,
    queuectl_settle_t *s, size_t from, size_t n, queuectl_span_t answer);
static void queuectl_settle_show(queuectl_t *q, queuectl_settle_t *s,
    queuectl_settled_t *settled, queuectl_span_t result);
static void queuectl_settle_lose(queuectl_settle_lost_t *lost, const char *why);
static void queuectl_settle_lost(queuectl_settle_lost_t *lost);


queuectl_exit_e
queuectl_settle(queuectl_t *q, const queuectl_settling_t *how, void *data,
    size_t n, int shown)
{
    size_t              from, count, most;
    const char         *headings[2];
    queuectl_buf_t      body;
    queuectl_exit_e     rc, worst;
    queuectl_answer_t   a;
    queuectl_settle_t   s;
    queuectl_request_t  r;

    headings[0] = "RESULT";
    headings[1] = how->heading;

    s.how = how;
    s.data = data;
    s.shown = shown;
    queuectl_table_init(&s.table, headings, 2);

    memset(&body, 0, sizeof(queuectl_buf_t));
    memset(&r, 0, sizeof(queuectl_request_t));

    r.method = "POST";
    r.path = how->path;
    r.public = how->public;

    /* what has been printed is not to come again because of a Ctrl-C */

    r.finish = !shown;
    r.patient = !shown;

    rc = worst = QUEUECTL_OK;
    most = n;

    for (from = 0; from < n && rc <= QUEUECTL_FAILED; from += count) {
        queuectl_buf_clear(&body);
        count = how->write(data, from, most, &body);
        r.body = queuectl_buf_span(&body);

        rc = queuectl_http_send(q, &r, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_settle_results(q, &s, from, count, a.json);

        } else if (a.status == 413 && count > 1) {
            most = count / 2;
            count = 0;
            rc = QUEUECTL_OK;

        } else {
            rc = queuectl_http_failed(q, &a);
        }

        worst = rc ? rc : worst;
        queuectl_http_free(&a);
    }

    if (s.table.ncells) {
        queuectl_table_end(q, &s.table);
    }

    queuectl_buf_free(&body);

    return worst;
}


static queuectl_exit_e
queuectl_settle_results(queuectl_t *q, queuectl_settle_t *s, size_t from,
    size_t n, queuectl_span_t answer)
{
    size_t                   i;
    queuectl_exit_e          rc;
    queuectl_span_t          results, item;
    queuectl_settled_t       settled;
    queuectl_settle_lost_t   lost;

    results = answer;

    if (s->how->member
        && !queuectl_json_member(answer, s->how->member, &results))
    {
        results.len = 0;
    }

    rc = QUEUECTL_OK;
    item.data = NULL;
    memset(&lost, 0, sizeof(queuectl_settle_lost_t));

    for (i = from; i < from + n; i++) {
        if (!queuectl_json_next(results, &item)) {
            queuectl_error("the answer has too few results");
            rc = QUEUECTL_FAILED;
            break;
        }

        memset(&settled, 0, sizeof(queuectl_settled_t));
        s->how->result(s->data, i, item, &settled);

        if (s->shown) {
            queuectl_settle_show(q, s, &settled, item);

        } else if (settled.failed) {
            queuectl_settle_lose(&lost, settled.why ? settled.why
                                                    : settled.result.data);
        }

        rc = settled.failed ? QUEUECTL_FAILED : rc;

        queuectl_buf_free(&settled.result);
        queuectl_buf_free(&settled.name);
    }

    queuectl_settle_lost(&lost);
    queuectl_buf_free(&lost.why);

    return rc;
}


static void
queuectl_settle_show(queuectl_t *q, queuectl_settle_t *s,
    queuectl_settled_t *settled, queuectl_span_t result)
{
    if (q->json) {
        queuectl_out_json(result);
        return;
    }

    queuectl_table_add(&s->table, settled->result.data);
    queuectl_table_add(&s->table, settled->name.len ? settled->name.data : "");
}


static void
queuectl_settle_lose(queuectl_settle_lost_t *lost, const char *why)
{
    if (lost->n && strcmp(lost->why.data, why) != 0) {
        queuectl_settle_lost(lost);
    }

    queuectl_buf_clear(&lost->why);
    queuectl_buf_text(&lost->why, why);
    lost->n++;
}


/* after a second try they may be acknowledged all the same, by the first one */

static void
queuectl_settle_lost(queuectl_settle_lost_t *lost)
{
    if (lost->n) {
        queuectl_error("%zu %s may come again: %s", lost->n,
                       lost->n == 1 ? "message" : "messages", lost->why.data);
        lost->n = 0;
    }
}


queuectl_exit_e
queuectl_settle_printed(queuectl_exit_e rc, queuectl_exit_e settled)
{
    if (settled > QUEUECTL_FAILED) {
        queuectl_error("of what was written last not all is acknowledged: it "
                       "comes again");
    }

    return settled ? settled : rc;
}
