
/* Where messages to be sent come from; one that is no line is sent here. */

#include "queuectl_json.h"
#include "queuectl_out.h"
#include "queuectl_send.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>


static queuectl_exit_e queuectl_input_flags(queuectl_t *q,
    const queuectl_sending_t *s);
static queuectl_exit_e queuectl_input_whole(queuectl_t *q,
    const queuectl_sending_t *s, FILE *f);
static queuectl_exit_e queuectl_input_read(FILE *f, queuectl_buf_t *body);
static queuectl_exit_e queuectl_input_one(queuectl_t *q,
    const queuectl_sending_t *s, queuectl_span_t message);


queuectl_exit_e
queuectl_input(queuectl_t *q, const queuectl_sending_t *s)
{
    FILE             *f;
    const char       *file;
    queuectl_span_t   span;
    queuectl_exit_e   rc;

    if (q->narguments == 2 && strcmp(q->arguments[1], "-") == 0) {
        q->narguments = 1;
    }

    rc = queuectl_input_flags(q, s);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    if (q->narguments == 2) {
        span.data = q->arguments[1];
        span.len = strlen(span.data);

        return queuectl_input_one(q, s, span);
    }

    file = queuectl_text(q, "file");

    if (file && strcmp(file, "-") != 0) {
        f = fopen(file, "re");

        if (f == NULL) {
            queuectl_error("%s: %s", file, strerror(errno));
            return QUEUECTL_FAILED;
        }

    } else {
        f = stdin;

        if (isatty(STDIN_FILENO)) {
            queuectl_note(q, "reading from the terminal, to Ctrl-D");
        }
    }

    if (queuectl_given(q, "lines") || queuectl_given(q, "jsonl")) {
        rc = queuectl_load(q, s, f);

    } else {
        rc = queuectl_input_whole(q, s, f);
    }

    if (f != stdin) {
        fclose(f);
    }

    return rc;
}


static queuectl_exit_e
queuectl_input_flags(queuectl_t *q, const queuectl_sending_t *s)
{
    int     lines;
    size_t  i;

    static const char *const  many[] = { "start-line", "keep-going", NULL };

    lines = queuectl_given(q, "lines") || queuectl_given(q, "jsonl");

    if (q->narguments == 2 && (lines || queuectl_given(q, "file"))) {
        return queuectl_usage(q, "a body and %s are one too many",
                              lines ? "lines" : "a file");
    }

    for (i = 0; lines && s->single[i]; i++) {
        if (queuectl_given(q, s->single[i])) {
            return queuectl_usage(q, "--%s is of one message, not of lines",
                                  s->single[i]);
        }
    }

    for (i = 0; queuectl_given(q, "jsonl") && s->jsonl[i]; i++) {
        if (queuectl_given(q, s->jsonl[i])) {
            return queuectl_usage(q, "--jsonl and --%s are one too many",
                                  s->jsonl[i]);
        }
    }

    for (i = 0; !lines && many[i]; i++) {
        if (queuectl_given(q, many[i])) {
            return queuectl_usage(q, "--%s is for --lines and --jsonl",
                                  many[i]);
        }
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_input_whole(queuectl_t *q, const queuectl_sending_t *s, FILE *f)
{
    queuectl_buf_t   message;
    queuectl_exit_e  rc;

    memset(&message, 0, sizeof(queuectl_buf_t));
    rc = queuectl_input_read(f, &message);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_input_one(q, s, queuectl_buf_span(&message));
    }

    queuectl_buf_free(&message);

    return rc;
}


static queuectl_exit_e
queuectl_input_read(FILE *f, queuectl_buf_t *body)
{
    char    part[65536];
    size_t  n;

    do {
        n = fread(part, 1, sizeof(part), f);
        queuectl_buf_add(body, part, n);
    } while (n == sizeof(part));

    return queuectl_input_end(f);
}


/* Ctrl-C ends a read as well */

queuectl_exit_e
queuectl_input_end(FILE *f)
{
    if (queuectl_interrupts()) {
        return QUEUECTL_INTERRUPTED;
    }

    if (ferror(f)) {
        queuectl_error("cannot read: %s", strerror(errno));
        return QUEUECTL_FAILED;
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_input_one(queuectl_t *q, const queuectl_sending_t *s,
    queuectl_span_t message)
{
    queuectl_buf_t     body, path;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(&body, 0, sizeof(queuectl_buf_t));
    memset(&path, 0, sizeof(queuectl_buf_t));

    queuectl_buf_text(&body, s->bare ? "" : s->before);
    rc = s->object(q, message, 0, &body);
    queuectl_buf_text(&body, s->bare ? "" : "]}");

    if (rc == QUEUECTL_OK) {
        s->path(q, &path);
        rc = queuectl_call(q, "POST", &path, &body, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_input_stored(s, &a, 1);
        }

        if (rc == QUEUECTL_OK) {
            s->print(q, &a);
        }

        queuectl_http_free(&a);
    }

    queuectl_buf_free(&body);

    return rc;
}


/* others than the API may answer 200, to whatever is sent */

queuectl_exit_e
queuectl_input_stored(const queuectl_sending_t *s, queuectl_answer_t *a,
    size_t n)
{
    size_t           i;
    queuectl_span_t  items, item;

    items = queuectl_input_items(s, a);
    item.data = NULL;
    i = 0;

    while (queuectl_json_next(items, &item)) {
        i++;
    }

    if (i == n) {
        return QUEUECTL_OK;
    }

    queuectl_error("the answer tells of %zu messages, and not of %zu: whether "
                   "they are stored is not known", i, n);

    return QUEUECTL_FAILED;
}


queuectl_span_t
queuectl_input_items(const queuectl_sending_t *s, queuectl_answer_t *a)
{
    queuectl_span_t  items;

    items = a->json;

    if (s->stored && !queuectl_json_member(a->json, s->stored, &items)) {
        items.len = 0;
    }

    return items;
}
