
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


static queuectl_exit_e queuectl_settle_results(queuectl_t *q,
    queuectl_settle_t *s, size_t from, size_t n, queuectl_span_t answer);
static queuectl_exit_e queuectl_settle_result(queuectl_t *q,
    queuectl_settle_t *s, size_t i, queuectl_span_t result);


queuectl_exit_e
queuectl_settle(queuectl_t *q, const queuectl_settling_t *how, void *data,
    size_t n, int shown)
{
    size_t              from, count;
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

    for (from = 0; from < n && rc <= QUEUECTL_FAILED; from += count) {
        queuectl_buf_clear(&body);
        count = how->write(data, from, &body);
        r.body = queuectl_buf_span(&body);

        rc = queuectl_http_call(q, &r, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_settle_results(q, &s, from, count, a.json);
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
    size_t           i;
    queuectl_exit_e  rc;
    queuectl_span_t  results, item;

    results = answer;

    if (s->how->member
        && !queuectl_json_member(answer, s->how->member, &results))
    {
        results.len = 0;
    }

    rc = QUEUECTL_OK;
    item.data = NULL;

    for (i = from; i < from + n; i++) {
        if (!queuectl_json_next(results, &item)) {
            queuectl_error("the answer has too few results");
            return QUEUECTL_FAILED;
        }

        if (queuectl_settle_result(q, s, i, item) != QUEUECTL_OK) {
            rc = QUEUECTL_FAILED;
        }
    }

    return rc;
}


static queuectl_exit_e
queuectl_settle_result(queuectl_t *q, queuectl_settle_t *s, size_t i,
    queuectl_span_t result)
{
    queuectl_settled_t  settled;

    memset(&settled, 0, sizeof(queuectl_settled_t));
    s->how->result(s->data, i, result, &settled);

    if (s->shown && q->json) {
        queuectl_out_json(result);

    } else if (s->shown) {
        queuectl_table_add(&s->table, settled.result.data);
        queuectl_table_add(&s->table, settled.name.len ? settled.name.data
                                                       : "");

    } else if (settled.failed) {
        queuectl_error("not acknowledged, the message may come again: %s",
                       settled.why ? settled.why : settled.result.data);
    }

    queuectl_buf_free(&settled.result);
    queuectl_buf_free(&settled.name);

    return settled.failed ? QUEUECTL_FAILED : QUEUECTL_OK;
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
