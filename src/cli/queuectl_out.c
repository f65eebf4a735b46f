
#include "queuectl_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static void queuectl_line(const char *format, va_list args);


void
queuectl_out_json(queuectl_span_t value)
{
    const char  *p, *last;

    /* some answers have no body */

    if (value.len == 0) {
        return;
    }

    p = value.data;
    last = p + value.len;

    if (memchr(p, '\n', value.len) == NULL && memchr(p, '\r', value.len) == NULL)
    {
        fwrite(p, 1, value.len, stdout);
        putchar('\n');
        return;
    }

    /* strings have no raw line ends: these are between values */

    for ( /* void */ ; p < last; p++) {
        putchar((*p == '\n' || *p == '\r') ? ' ' : *p);
    }

    putchar('\n');
}


void
queuectl_out_safe(const char *text)
{
    queuectl_buf_t   line;
    queuectl_span_t  span;

    span.data = text;
    span.len = strlen(text);

    memset(&line, 0, sizeof(queuectl_buf_t));
    queuectl_buf_safe(&line, span, 0);
    queuectl_buf_text(&line, "\n");

    fwrite(line.data, 1, line.len, stdout);
    queuectl_buf_free(&line);
}


queuectl_exit_e
queuectl_out_flush(void)
{
    int  failed;

    static int  told;

    failed = fflush(stdout);

    if (!failed && !ferror(stdout)) {
        return QUEUECTL_OK;
    }

    /* of what failed before there is no errno any more */

    if (!told) {
        queuectl_error("cannot write: %s", failed ? strerror(errno)
                                                  : "some of it is lost");
        told = 1;
    }

    return QUEUECTL_FAILED;
}


static void
queuectl_line(const char *format, va_list args)
{
    int              n;
    char            *text;
    queuectl_buf_t   line;
    queuectl_span_t  span;

    n = vasprintf(&text, format, args);
    if (n < 0) {
        return;
    }

    memset(&line, 0, sizeof(queuectl_buf_t));

    /* over what a bar has drawn */

    if (isatty(STDERR_FILENO)) {
        queuectl_buf_text(&line, "\r\033[K");
    }

    span.data = text;
    span.len = n;

    queuectl_buf_text(&line, "queuectl: ");
    queuectl_buf_safe(&line, span, 1);
    queuectl_buf_text(&line, "\n");

    fflush(stdout);
    fwrite(line.data, 1, line.len, stderr);

    queuectl_buf_free(&line);
    free(text);
}


void
queuectl_error(const char *format, ...)
{
    va_list  args;

    va_start(args, format);
    queuectl_line(format, args);
    va_end(args);
}


void
queuectl_note(queuectl_t *q, const char *format, ...)
{
    va_list  args;

    if (q->quiet) {
        return;
    }

    va_start(args, format);
    queuectl_line(format, args);
    va_end(args);
}


queuectl_exit_e
queuectl_confirm(queuectl_t *q, const char *format, ...)
{
    char             answer[16], *question;
    va_list          args;
    queuectl_buf_t   text;
    queuectl_span_t  span;

    if (queuectl_given(q, "yes")) {
        return QUEUECTL_OK;
    }

    if (!isatty(STDIN_FILENO)) {
        return queuectl_usage(q, "nobody is there to be asked: "
                              "say --yes if you mean it");
    }

    va_start(args, format);
    if (vasprintf(&question, format, args) < 0) {
        question = NULL;
    }
    va_end(args);

    if (question == NULL) {
        return QUEUECTL_FAILED;
    }

    span.data = question;
    span.len = strlen(question);

    memset(&text, 0, sizeof(queuectl_buf_t));
    queuectl_buf_safe(&text, span, 0);
    queuectl_buf_text(&text, " [y/N] ");

    fwrite(text.data, 1, text.len, stderr);
    fflush(stderr);

    queuectl_buf_free(&text);
    free(question);

    if (fgets(answer, sizeof(answer), stdin) == NULL
        || (strcasecmp(answer, "y\n") != 0 && strcasecmp(answer, "yes\n") != 0))
    {
        queuectl_error("nothing was done");
        return queuectl_interrupts() ? QUEUECTL_INTERRUPTED : QUEUECTL_FAILED;
    }

    return QUEUECTL_OK;
}


const char *
queuectl_shown(const cJSON *object, const char *name)
{
    const cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsString(item) ? item->valuestring : "-";
}


long long
queuectl_shown_number(const cJSON *object, const char *name)
{
    const cJSON  *item;

    item = cJSON_GetObjectItemCaseSensitive(object, name);

    /* beyond that no conversion is defined */

    if (!cJSON_IsNumber(item) || item->valuedouble < -9e15
        || item->valuedouble > 9e15)
    {
        return 0;
    }

    return (long long) item->valuedouble;
}
