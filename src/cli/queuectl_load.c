
/* A file of lines, in batches; after a failure it is known which line it was. */

#include "queuectl_json.h"
#include "queuectl_out.h"
#include "queuectl_send.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>


/* nginx' own client_max_body_size is 1m: a batch stays below it */

#define QUEUECTL_LOAD_BYTES  (768 * 1024)


typedef struct {
    const queuectl_sending_t  *sending;

    queuectl_buf_t       path;
    queuectl_buf_t      *objects;
    long long           *lines;
    size_t               n;
    size_t               most;          /* of a batch that the server takes */
    size_t               bytes;
    long long            line;          /* the one that was read last */
    long long            next;          /* the first that is not stored */
    long long            sent;
    long long            duplicates;    /* of those that are sent */
    long long            failed;
    long long            read;          /* bytes of the file */
    queuectl_progress_t  progress;
} queuectl_load_t;


static queuectl_exit_e queuectl_load_lines(queuectl_t *q, queuectl_load_t *l,
    FILE *f);
static queuectl_exit_e queuectl_load_line(queuectl_t *q, queuectl_load_t *l,
    queuectl_span_t line);
static queuectl_exit_e queuectl_load_send(queuectl_t *q, queuectl_load_t *l);
static void queuectl_load_write(queuectl_load_t *l, size_t n,
    queuectl_buf_t *body);
static size_t queuectl_load_blamed(size_t n, queuectl_answer_t *a);
static queuectl_exit_e queuectl_load_failed(queuectl_t *q, queuectl_load_t *l,
    size_t n, queuectl_answer_t *a);
static void queuectl_load_sent(queuectl_load_t *l, size_t n,
    queuectl_answer_t *a);
static void queuectl_load_unknown(queuectl_load_t *l, size_t n);
static void queuectl_load_drop(queuectl_load_t *l, size_t i, size_t n);
static void queuectl_load_end(queuectl_t *q, queuectl_load_t *l,
    queuectl_exit_e rc);


queuectl_exit_e
queuectl_load(queuectl_t *q, const queuectl_sending_t *s, FILE *f)
{
    size_t            i;
    struct stat       st;
    queuectl_load_t   l;
    queuectl_exit_e   rc;

    memset(&l, 0, sizeof(queuectl_load_t));
    l.sending = s;
    l.objects = queuectl_alloc(s->batch * sizeof(queuectl_buf_t));
    l.lines = queuectl_alloc(s->batch * sizeof(long long));
    l.next = queuectl_number(q, "start-line", 1);
    l.most = s->batch;
    s->path(q, &l.path);

    queuectl_progress_init(q, &l.progress, "messages",
        fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0);

    rc = queuectl_load_lines(q, &l, f);

    if (rc == QUEUECTL_OK && l.n) {
        rc = queuectl_load_send(q, &l);
    }

    if (rc == QUEUECTL_OK && l.failed) {
        rc = QUEUECTL_FAILED;
    }

    queuectl_load_end(q, &l, rc);

    for (i = 0; i < s->batch; i++) {
        queuectl_buf_free(&l.objects[i]);
    }

    free(l.objects);
    free(l.lines);
    queuectl_buf_free(&l.path);

    return rc;
}


static queuectl_exit_e
queuectl_load_lines(queuectl_t *q, queuectl_load_t *l, FILE *f)
{
    char             *line;
    size_t            size;
    ssize_t           len;
    long long         start;
    queuectl_exit_e   rc;
    queuectl_span_t   span;

    line = NULL;
    size = 0;
    rc = QUEUECTL_OK;
    start = l->next;

    while (rc == QUEUECTL_OK && (len = getline(&line, &size, f)) > 0) {
        l->line++;
        l->read += len;

        span.data = line;
        span.len = line[len - 1] == '\n' ? len - 1 : len;

        if (l->line >= start && span.len) {
            rc = queuectl_load_line(q, l, span);
        }

        if (queuectl_interrupts()) {
            rc = QUEUECTL_INTERRUPTED;
        }
    }

    rc = rc ? rc : queuectl_input_end(f);
    free(line);

    return rc;
}


static queuectl_exit_e
queuectl_load_line(queuectl_t *q, queuectl_load_t *l, queuectl_span_t line)
{
    queuectl_buf_t   object;
    queuectl_exit_e  rc;

    memset(&object, 0, sizeof(queuectl_buf_t));

    rc = l->sending->object(q, line, l->line, &object);

    if (rc != QUEUECTL_OK) {
        queuectl_buf_free(&object);

        if (rc == QUEUECTL_USAGE) {
            return rc;
        }

        queuectl_error("line %lld was not sent", l->line);
        l->failed++;

        if (queuectl_given(q, "keep-going")) {
            return QUEUECTL_OK;
        }

        /* those before it are, so that one may go on with it */

        rc = l->n ? queuectl_load_send(q, l) : QUEUECTL_OK;
        l->next = l->line;

        return rc ? rc : QUEUECTL_FAILED;
    }

    if (l->n && l->bytes + object.len > QUEUECTL_LOAD_BYTES) {
        rc = queuectl_load_send(q, l);

        if (rc != QUEUECTL_OK) {
            queuectl_buf_free(&object);
            return rc;
        }
    }

    queuectl_buf_free(&l->objects[l->n]);

    l->objects[l->n] = object;
    l->lines[l->n++] = l->line;
    l->bytes += object.len;

    return l->n == l->sending->batch ? queuectl_load_send(q, l) : QUEUECTL_OK;
}


static void
queuectl_load_write(queuectl_load_t *l, size_t n, queuectl_buf_t *body)
{
    size_t  i;

    queuectl_buf_clear(body);
    queuectl_buf_text(body, l->sending->before);

    for (i = 0; i < n; i++) {
        queuectl_buf_text(body, i ? "," : "");
        queuectl_buf_add(body, l->objects[i].data, l->objects[i].len);
    }

    queuectl_buf_text(body, "]}");
}


/* sends the batch, or what is left of it without a line, in parts if need be */

static queuectl_exit_e
queuectl_load_send(queuectl_t *q, queuectl_load_t *l)
{
    size_t              n, most;
    queuectl_buf_t      body;
    queuectl_exit_e     rc;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    memset(&body, 0, sizeof(queuectl_buf_t));
    memset(&r, 0, sizeof(queuectl_request_t));

    r.method = "POST";
    r.path = l->path.data;
    r.patient = 1;

    rc = QUEUECTL_OK;
    most = l->most;

    while (rc == QUEUECTL_OK && l->n) {
        n = l->n < most ? l->n : most;

        queuectl_load_write(l, n, &body);
        r.body = queuectl_buf_span(&body);

        rc = queuectl_http_send(q, &r, &a);

        if (rc == QUEUECTL_OK
            && queuectl_input_stored(l->sending, &a, n) != QUEUECTL_OK)
        {
            queuectl_load_unknown(l, n);
            rc = QUEUECTL_FAILED;

        } else if (rc == QUEUECTL_OK) {
            if (q->json) {
                l->sending->print(q, &a);
            }

            queuectl_load_sent(l, n, &a);
            l->next = l->lines[n - 1] + 1;
            queuectl_load_drop(l, 0, n);

        } else if (a.status == 413 && n > 1) {
            l->most = most = n / 2;
            rc = QUEUECTL_OK;

        } else if (a.status == 400 && n > 1 && l->sending->blind
                   && queuectl_load_blamed(n, &a) == n)
        {
            most = n / 2;
            rc = QUEUECTL_OK;

        } else {
            rc = queuectl_load_failed(q, l, n, &a);
            most = l->most;
        }

        queuectl_http_free(&a);
    }

    l->bytes = 0;
    queuectl_buf_free(&body);
    queuectl_progress(&l->progress, l->read, l->sent);

    return rc;
}


static void
queuectl_load_sent(queuectl_load_t *l, size_t n, queuectl_answer_t *a)
{
    queuectl_span_t  items, item;

    l->sent += n;

    if (l->sending->duplicate == NULL) {
        return;
    }

    items = queuectl_input_items(l->sending, a);
    item.data = NULL;

    while (queuectl_json_next(items, &item)) {
        l->duplicates += l->sending->duplicate(item) != 0;
    }
}


/* which one of so many it is, by "messages[3].body", or their number */

static size_t
queuectl_load_blamed(size_t n, queuectl_answer_t *a)
{
    size_t          i;
    unsigned long   at;
    char           *end;
    queuectl_buf_t  field;

    static const char  before[] = "messages[";

    i = n;
    memset(&field, 0, sizeof(queuectl_buf_t));

    if (a->status == 400 && queuectl_http_blamed(a, &field)
        && field.len > sizeof(before)
        && memcmp(field.data, before, sizeof(before) - 1) == 0)
    {
        at = strtoul(field.data + sizeof(before) - 1, &end, 10);

        if (*end == ']' && at < n) {
            i = at;
        }
    }

    queuectl_buf_free(&field);

    return i;
}


static queuectl_exit_e
queuectl_load_failed(queuectl_t *q, queuectl_load_t *l, size_t n,
    queuectl_answer_t *a)
{
    size_t           i;
    queuectl_exit_e  rc;

    rc = queuectl_http_failed(q, a);
    i = queuectl_load_blamed(n, a);

    /* the line itself, where the batch is one line and is refused as such */

    if (i == n && n == 1 && (a->status == 400 || a->status == 413)) {
        i = 0;
    }

    if (i < n) {
        queuectl_error("line %lld was refused", l->lines[i]);
        l->failed++;

        if (queuectl_given(q, "keep-going")) {
            queuectl_load_drop(l, i, 1);
            return QUEUECTL_OK;
        }

        return rc;
    }

    /* no answer, or none that says whether they were stored */

    if ((rc == QUEUECTL_UNAVAILABLE || rc == QUEUECTL_INTERRUPTED)
        && a->sent && a->status != 429)
    {
        queuectl_load_unknown(l, n);
    }

    return rc;
}


static void
queuectl_load_unknown(queuectl_load_t *l, size_t n)
{
    queuectl_error("lines %lld to %lld may have been stored, or not",
                   l->lines[0], l->lines[n - 1]);
}


static void
queuectl_load_drop(queuectl_load_t *l, size_t i, size_t n)
{
    size_t  j;

    for (j = i; j < i + n; j++) {
        queuectl_buf_free(&l->objects[j]);
    }

    l->n -= n;

    memmove(&l->objects[i], &l->objects[i + n],
            (l->n - i) * sizeof(queuectl_buf_t));
    memmove(&l->lines[i], &l->lines[i + n], (l->n - i) * sizeof(long long));
    memset(&l->objects[l->n], 0, n * sizeof(queuectl_buf_t));
}


static void
queuectl_load_end(queuectl_t *q, queuectl_load_t *l, queuectl_exit_e rc)
{
    queuectl_progress_end(&l->progress);

    if (rc == QUEUECTL_OK || queuectl_given(q, "keep-going")) {
        queuectl_note(q, "%lld %s sent, %lld %s refused", l->sent,
                      l->sent == 1 ? "message" : "messages", l->failed,
                      l->failed == 1 ? "line" : "lines");
    }

    if (l->duplicates) {
        queuectl_note(q, l->duplicates == 1
                      ? "%lld message was there before: it is not stored twice"
                      : "%lld messages were there before: they are not stored "
                      "twice", l->duplicates);
    }

    if (rc == QUEUECTL_OK || rc == QUEUECTL_USAGE
        || (rc == QUEUECTL_FAILED && queuectl_given(q, "keep-going")))
    {
        return;
    }

    if (l->sent == 0) {
        queuectl_error("nothing was sent");

    } else {
        queuectl_error("%lld %s sent; go on with --start-line %lld", l->sent,
                       l->sent == 1 ? "message" : "messages",
                       l->n ? l->lines[0] : l->next);
    }
}
