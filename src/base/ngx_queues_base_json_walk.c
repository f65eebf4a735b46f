
/*
 * Walking text that ngx_queues_base_json_parse() has accepted: nothing is
 * checked again, but no walk leaves its container.
 */

#include "ngx_queues_base_json.h"


static u_char *ngx_queues_base_json_skip_gap(u_char *p, u_char *last);
static u_char *ngx_queues_base_json_skip_value(u_char *p, u_char *last);
static u_char *ngx_queues_base_json_skip_container(u_char *p, u_char *last);
static u_char *ngx_queues_base_json_skip_string(u_char *p, u_char *last);


ngx_queues_base_json_type_e
ngx_queues_base_json_type(u_char first)
{
    switch (first) {

    case '{':
        return NGX_QUEUES_BASE_JSON_OBJECT;

    case '[':
        return NGX_QUEUES_BASE_JSON_ARRAY;

    case '"':
        return NGX_QUEUES_BASE_JSON_STRING;

    case 't':
        return NGX_QUEUES_BASE_JSON_TRUE;

    case 'f':
        return NGX_QUEUES_BASE_JSON_FALSE;

    case 'n':
        return NGX_QUEUES_BASE_JSON_NULL;

    default:
        return NGX_QUEUES_BASE_JSON_NUMBER;
    }
}


void
ngx_queues_base_json_open(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *container)
{
    it->pos = container->raw.data + 1;
    it->last = container->raw.data + container->raw.len - 1;
    it->object = (container->type == NGX_QUEUES_BASE_JSON_OBJECT);
}


ngx_int_t
ngx_queues_base_json_next(ngx_queues_base_json_iter_t *it, ngx_str_t *key,
    ngx_queues_base_json_value_t *value)
{
    u_char     *p, *end;
    ngx_str_t   name;

    p = ngx_queues_base_json_skip_gap(it->pos, it->last);

    /* of one that was entered the end is not known */

    if (p == it->last || *p == '}' || *p == ']') {
        it->pos = p;
        return NGX_DONE;
    }

    name.data = p;
    name.len = 0;

    if (it->object) {
        end = ngx_queues_base_json_skip_string(p, it->last);

        name.data = p + 1;
        name.len = end - p - 2;

        p = ngx_queues_base_json_skip_gap(end, it->last);
    }

    if (key) {
        *key = name;
    }

    end = ngx_queues_base_json_skip_value(p, it->last);

    value->type = ngx_queues_base_json_type(*p);
    value->raw.data = p;
    value->raw.len = end - p;

    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {
        value->raw.data++;
        value->raw.len -= 2;
    }

    it->pos = end;

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_json_enter(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *value)
{
    u_char  *p;

    p = ngx_queues_base_json_skip_gap(it->pos, it->last);

    if (p < it->last && *p == '{') {
        value->type = NGX_QUEUES_BASE_JSON_OBJECT;
        value->raw.data = p;
        value->raw.len = it->last - p;

        return NGX_OK;
    }

    return ngx_queues_base_json_next(it, NULL, value);
}


void
ngx_queues_base_json_leave(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *value)
{
    it->pos = value->raw.data + value->raw.len;
}


void
ngx_queues_base_json_end(ngx_queues_base_json_iter_t *it,
    ngx_queues_base_json_value_t *value)
{
    value->raw.len = it->pos + 1 - value->raw.data;
}


ngx_int_t
ngx_queues_base_json_integer(ngx_queues_base_json_value_t *value, int64_t *n)
{
    u_char   *p, *last;
    int64_t   sum;

    if (value->type != NGX_QUEUES_BASE_JSON_NUMBER) {
        return NGX_ERROR;
    }

    p = value->raw.data;
    last = p + value->raw.len;

    if (*p == '-') {
        p++;
    }

    if (last - p > 15) {
        return NGX_ERROR;
    }

    for (sum = 0; p < last; p++) {
        if (*p < '0' || *p > '9') {
            return NGX_ERROR;
        }

        sum = sum * 10 + (*p - '0');
    }

    *n = (*value->raw.data == '-') ? -sum : sum;

    return NGX_OK;
}


/* blanks, and the comma or colon that checked text has here */

static u_char *
ngx_queues_base_json_skip_gap(u_char *p, u_char *last)
{
    while (p < last && (*p <= ' ' || *p == ',' || *p == ':')) {
        p++;
    }

    return p;
}


static u_char *
ngx_queues_base_json_skip_value(u_char *p, u_char *last)
{
    switch (*p) {

    case '"':
        return ngx_queues_base_json_skip_string(p, last);

    case '{':
    case '[':
        return ngx_queues_base_json_skip_container(p, last);

    default:
        while (p < last
               && *p > ' ' && *p != ',' && *p != ']' && *p != '}')
        {
            p++;
        }

        return p;
    }
}


static u_char *
ngx_queues_base_json_skip_container(u_char *p, u_char *last)
{
    ngx_uint_t  depth;

    depth = 0;

    while (p < last) {

        switch (*p) {

        case '"':
            p = ngx_queues_base_json_skip_string(p, last);
            continue;

        case '{':
        case '[':
            depth++;
            break;

        case '}':
        case ']':
            if (--depth == 0) {
                return p + 1;
            }
        }

        p++;
    }

    return last;
}


/* a quote is escaped where an odd number of backslashes is before it */

static u_char *
ngx_queues_base_json_skip_string(u_char *p, u_char *last)
{
    u_char  *quote, *escape;

    for (p++; p < last; p = quote + 1) {
        quote = memchr(p, '"', last - p);

        if (quote == NULL) {
            break;
        }

        for (escape = quote; escape > p && escape[-1] == '\\'; escape--) {
            /* void */
        }

        if ((quote - escape) % 2 == 0) {
            return quote + 1;
        }
    }

    return last;
}
