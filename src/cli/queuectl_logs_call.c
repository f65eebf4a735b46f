
/* Calls of the Queen API, and what its files share. */

#include "queuectl_logs.h"
#include "queuectl_json.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>


static int queuectl_logs_is_time(const char *text);


void
queuectl_logs_path(queuectl_buf_t *path, ...)
{
    int          name;
    va_list      args;
    const char  *text;

    memset(path, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(path, "/api/v1/");

    va_start(args, path);
    name = 0;

    while ((text = va_arg(args, const char *)) != NULL) {
        if (name) {
            queuectl_buf_url(path, text);

        } else {
            queuectl_buf_text(path, text);
        }

        name = !name;
    }

    va_end(args);
}


queuectl_exit_e
queuectl_logs_do(queuectl_t *q, const char *method, queuectl_buf_t *path,
    queuectl_buf_t *body)
{
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    rc = queuectl_call(q, method, path, body, &a);

    if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(a.json);
    }

    queuectl_http_free(&a);

    return rc;
}


/* as the server reads it: of digits in their places, and of the calendar */

static int
queuectl_logs_is_time(const char *text)
{
    char         iso[32];
    size_t       n, digits;
    time_t       seconds;
    struct tm    tm;
    const char  *end;

    memset(&tm, 0, sizeof(struct tm));
    end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

    if (end == NULL) {
        return 0;
    }

    /* strptime() takes blanks and short numbers, and February 31 */

    seconds = timegm(&tm);
    n = strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S",
                 gmtime_r(&seconds, &tm));

    if (n != (size_t) (end - text) || memcmp(text, iso, n) != 0) {
        return 0;
    }

    if (*end == '.') {
        digits = strspn(end + 1, "0123456789");
        end += digits ? 1 + digits : 0;
    }

    return strcmp(end, "Z") == 0;
}


queuectl_exit_e
queuectl_logs_time(queuectl_t *q, const char *flag, queuectl_buf_t *moment)
{
    long long    seconds;
    const char  *text;

    text = queuectl_text(q, flag);

    /* a pop passes over what is no time: it is to be one */

    if (queuectl_logs_is_time(text)) {
        queuectl_buf_text(moment, text);
        return QUEUECTL_OK;
    }

    if (!queuectl_quantity(QUEUECTL_SECONDS, text, &seconds)
        || seconds > time(NULL))
    {
        return queuectl_usage(q, "--%s %s: a time is such as "
                              "2026-08-01T12:00:00Z, or how long ago: 2h",
                              flag, text);
    }

    queuectl_buf_ago(moment, seconds);

    return QUEUECTL_OK;
}


queuectl_exit_e
queuectl_logs_member(queuectl_t *q, const char *flag,
    queuectl_span_t otherwise, const char *member, queuectl_buf_t *object)
{
    const char       *text;
    queuectl_span_t   value;

    text = queuectl_text(q, flag);

    if (text) {
        if (queuectl_buf_member_text(object, member, text) == -1) {
            return queuectl_usage(q, "--%s is not UTF-8", flag);
        }

    } else if (queuectl_json_member(otherwise, member, &value)) {
        queuectl_buf_member(object, member);
        queuectl_buf_add(object, value.data, value.len);
    }

    return QUEUECTL_OK;
}


void
queuectl_logs_cell(queuectl_table_t *t, queuectl_span_t object,
    const char *name)
{
    queuectl_buf_t   text;
    queuectl_span_t  value;

    memset(&text, 0, sizeof(queuectl_buf_t));

    if (queuectl_json_member(object, name, &value)
        && !queuectl_json_text(value, &text)
        && !(value.len == 4 && memcmp(value.data, "null", 4) == 0))
    {
        queuectl_buf_add(&text, value.data, value.len);
    }

    queuectl_table_add(t, text.len ? text.data : "-");
    queuectl_buf_free(&text);
}


void
queuectl_logs_seconds(queuectl_table_t *t, queuectl_span_t object,
    const char *name)
{
    long long  seconds;

    /* options are as they were written, perhaps as 1e3 */

    if (queuectl_json_member_number(object, name, &seconds)) {
        queuectl_table_seconds(t, seconds);

    } else {
        queuectl_logs_cell(t, object, name);
    }
}


int
queuectl_logs_is(queuectl_span_t object, const char *name, const char *text)
{
    int             is;
    queuectl_buf_t  value;

    memset(&value, 0, sizeof(queuectl_buf_t));

    is = queuectl_json_member_text(object, name, &value)
         && value.len == strlen(text)
         && memcmp(queuectl_buf_span(&value).data, text, value.len) == 0;

    queuectl_buf_free(&value);

    return is;
}
