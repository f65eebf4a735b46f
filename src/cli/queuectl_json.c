
#include "queuectl_json.h"

#include <string.h>


#define QUEUECTL_JSON_DEPTH  64


static const char *queuectl_json_blank(const char *p, const char *last);
static const char *queuectl_json_string(const char *p, const char *last);
static const char *queuectl_json_digits(const char *p, const char *last);
static const char *queuectl_json_numeral(const char *p, const char *last);
static const char *queuectl_json_scalar(const char *p, const char *last);
static const char *queuectl_json_skip(const char *p, const char *last);


static const char *
queuectl_json_blank(const char *p, const char *last)
{
    while (p < last && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
        p++;
    }

    return p;
}


/* each of these returns what follows, or NULL */

static const char *
queuectl_json_string(const char *p, const char *last)
{
    int  i;

    if (p == last || *p++ != '"') {
        return NULL;
    }

    while (p < last) {
        if (*p == '"') {
            return p + 1;
        }

        if ((unsigned char) *p < 0x20) {
            return NULL;
        }

        if (*p++ != '\\') {
            continue;
        }

        if (p == last) {
            return NULL;
        }

        if (*p == 'u') {
            for (i = 1; i <= 4; i++) {
                if (p + i >= last || p[i] == '\0'
                    || !strchr("0123456789abcdefABCDEF", p[i]))
                {
                    return NULL;
                }
            }

            p += 5;
            continue;
        }

        if (*p == '\0' || !strchr("\"\\/bfnrt", *p)) {
            return NULL;
        }

        p++;
    }

    return NULL;
}


static const char *
queuectl_json_digits(const char *p, const char *last)
{
    const char  *from;

    from = p;

    while (p < last && *p >= '0' && *p <= '9') {
        p++;
    }

    return p == from ? NULL : p;
}


static const char *
queuectl_json_numeral(const char *p, const char *last)
{
    if (p < last && *p == '-') {
        p++;
    }

    if (p < last && *p == '0') {
        p++;

    } else {
        p = queuectl_json_digits(p, last);
    }

    if (p && p < last && *p == '.') {
        p = queuectl_json_digits(p + 1, last);
    }

    if (p && p < last && (*p == 'e' || *p == 'E')) {
        p++;

        if (p < last && (*p == '+' || *p == '-')) {
            p++;
        }

        p = queuectl_json_digits(p, last);
    }

    return p;
}


static const char *
queuectl_json_scalar(const char *p, const char *last)
{
    size_t  i, len;

    static const char *const words[] = { "true", "false", "null" };

    if (p == last) {
        return NULL;
    }

    if (*p == '"') {
        return queuectl_json_string(p, last);
    }

    for (i = 0; i < 3; i++) {
        len = strlen(words[i]);

        if ((size_t) (last - p) >= len && memcmp(p, words[i], len) == 0) {
            return p + len;
        }
    }

    return queuectl_json_numeral(p, last);
}


/* one value, checked, with a stack of its own: its sender is not to be trusted */

static const char *
queuectl_json_skip(const char *p, const char *last)
{
    char    ends[QUEUECTL_JSON_DEPTH];
    size_t  depth;

    enum { sw_value, sw_name, sw_after } state;

    depth = 0;
    state = sw_value;

    while (depth || state != sw_after) {
        p = queuectl_json_blank(p, last);

        switch (state) {

        case sw_value:
            if (p == last || (*p != '{' && *p != '[')) {
                p = queuectl_json_scalar(p, last);
                state = sw_after;
                break;
            }

            if (depth == QUEUECTL_JSON_DEPTH) {
                return NULL;
            }

            ends[depth++] = (*p == '{') ? '}' : ']';
            p = queuectl_json_blank(p + 1, last);

            state = (p < last && *p == ends[depth - 1]) ? sw_after
                    : (ends[depth - 1] == '}') ? sw_name : sw_value;
            break;

        case sw_name:
            p = queuectl_json_string(p, last);
            p = p ? queuectl_json_blank(p, last) : NULL;

            if (p == NULL || p == last || *p++ != ':') {
                return NULL;
            }

            state = sw_value;
            break;

        case sw_after:
            if (p == last) {
                return NULL;
            }

            if (*p == ends[depth - 1]) {
                depth--;

            } else if (*p == ',') {
                state = (ends[depth - 1] == '}') ? sw_name : sw_value;

            } else {
                return NULL;
            }

            p++;
            break;
        }

        if (p == NULL) {
            return NULL;
        }
    }

    return p;
}


int
queuectl_json_check(queuectl_span_t text)
{
    const char  *p, *last;

    if (queuectl_utf8_check(text) == -1) {
        return -1;
    }

    last = text.data + text.len;
    p = queuectl_json_skip(text.data, last);

    return (p && queuectl_json_blank(p, last) == last) ? 0 : -1;
}


queuectl_span_t
queuectl_json_value(queuectl_span_t text)
{
    const char       *last;
    queuectl_span_t   value;

    last = text.data + text.len;

    value.data = queuectl_json_blank(text.data, last);
    value.len = queuectl_json_skip(value.data, last) - value.data;

    return value;
}


int
queuectl_json_is_object(queuectl_span_t value)
{
    return value.len && value.data[0] == '{';
}


int
queuectl_json_is_string(queuectl_span_t value)
{
    return value.len && value.data[0] == '"';
}


int
queuectl_json_member(queuectl_span_t object, const char *name,
    queuectl_span_t *value)
{
    int              found;
    queuectl_buf_t   text;
    queuectl_span_t  at, is;

    found = 0;
    at.data = NULL;
    memset(&text, 0, sizeof(queuectl_buf_t));

    while (!found && queuectl_json_next_member(object, &at, &is)) {
        queuectl_buf_clear(&text);
        queuectl_json_text(at, &text);

        if (text.len == strlen(name)
            && memcmp(queuectl_buf_span(&text).data, name, text.len) == 0)
        {
            *value = is;
            found = 1;
        }
    }

    queuectl_buf_free(&text);

    return found;
}


int
queuectl_json_next(queuectl_span_t array, queuectl_span_t *item)
{
    const char  *p, *last;

    if (array.len == 0 || array.data[0] != '[') {
        return 0;
    }

    last = array.data + array.len;
    p = item->data ? item->data + item->len : array.data + 1;

    p = queuectl_json_blank(p, last);

    if (*p == ']') {
        return 0;
    }

    if (*p == ',') {
        p = queuectl_json_blank(p + 1, last);
    }

    item->data = p;
    item->len = queuectl_json_skip(p, last) - p;

    return 1;
}


int
queuectl_json_next_member(queuectl_span_t object, queuectl_span_t *name,
    queuectl_span_t *value)
{
    const char  *p, *last;

    if (!queuectl_json_is_object(object)) {
        return 0;
    }

    last = object.data + object.len;
    p = name->data ? value->data + value->len : object.data + 1;

    p = queuectl_json_blank(p, last);

    if (*p == '}') {
        return 0;
    }

    if (*p == ',') {
        p = queuectl_json_blank(p + 1, last);
    }

    name->data = p;
    name->len = queuectl_json_string(p, last) - p;

    p = queuectl_json_blank(p + name->len, last);
    p = queuectl_json_blank(p + 1, last);

    value->data = p;
    value->len = queuectl_json_skip(p, last) - p;

    return 1;
}
