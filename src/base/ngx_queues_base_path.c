
#include "ngx_queues_base_path.h"
#include "ngx_queues_base_text.h"
#include "ngx_queues_base_utf8.h"


static ssize_t ngx_queues_base_path_verb(u_char *p, u_char *last);
static ngx_int_t ngx_queues_base_path_match_segment(
    ngx_queues_base_path_t *path, ngx_uint_t i, u_char *p, u_char *last,
    ngx_str_t *capture);
static ngx_int_t ngx_queues_base_path_decode(u_char *p, u_char *last,
    ngx_uint_t query, ngx_uint_t controls, u_char **buf, ngx_str_t *text);
static u_char *ngx_queues_base_path_find(u_char *p, u_char *last, u_char c);


ngx_int_t
ngx_queues_base_path_split(ngx_str_t *raw, ngx_uint_t controls, u_char *buf,
    ngx_queues_base_path_t *path)
{
    u_char  *p, *end, *last;

    path->nsegments = 0;
    path->verb = -1;

    p = raw->data;
    last = p + raw->len;
    last = ngx_queues_base_path_find(p, last, '?');
    last = ngx_queues_base_path_find(p, last, '#');

    if (p == last || *p != '/') {
        return NGX_DECLINED;
    }

    while (p < last) {
        p++;
        end = ngx_queues_base_path_find(p, last, '/');

        if (path->nsegments == NGX_QUEUES_BASE_PATH_SEGMENTS) {
            return NGX_DECLINED;
        }

        if (ngx_queues_base_path_decode(p, end, 0, controls, &buf,
                                        &path->segments[path->nsegments])
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        path->nsegments++;

        if (end == last) {
            path->verb = ngx_queues_base_path_verb(p, end);
        }

        p = end;
    }

    return NGX_OK;
}


/* of a segment whose escapes have been checked */

static ssize_t
ngx_queues_base_path_verb(u_char *p, u_char *last)
{
    size_t   decoded;
    ssize_t  verb;

    decoded = 0;
    verb = -1;

    for ( /* void */ ; p < last; p++) {

        if (*p == ':') {
            verb = decoded;

        } else if (*p == '%') {
            p += 2;
        }

        decoded++;
    }

    return verb;
}


ngx_int_t
ngx_queues_base_path_match(ngx_queues_base_path_t *path, ngx_str_t *template,
    ngx_str_t *captures)
{
    u_char      *p, *end, *last;
    ngx_int_t    rc;
    ngx_uint_t   i;

    p = template->data;
    last = p + template->len;

    for (i = 0; p < last; i++) {
        p++;
        end = ngx_queues_base_path_find(p, last, '/');

        if (i == path->nsegments) {
            return NGX_DECLINED;
        }

        rc = ngx_queues_base_path_match_segment(path, i, p, end, captures);
        if (rc == NGX_DECLINED) {
            return NGX_DECLINED;
        }

        if (rc == NGX_DONE) {
            captures++;
        }

        p = end;
    }

    return (i == path->nsegments) ? NGX_OK : NGX_DECLINED;
}


/* NGX_OK if a literal matches, NGX_DONE if a capture was made */

static ngx_int_t
ngx_queues_base_path_match_segment(ngx_queues_base_path_t *path, ngx_uint_t i,
    u_char *p, u_char *last, ngx_str_t *capture)
{
    size_t      len;
    ngx_str_t  *segment;
    ngx_uint_t  literal;

    segment = &path->segments[i];

    literal = (p == last || *p != '{');

    if (!literal) {
        p = ngx_queues_base_path_find(p, last, '}') + 1;
    }

    len = last - p;

    if (segment->len < len
        || ngx_memcmp(segment->data + segment->len - len, p, len) != 0)
    {
        return NGX_DECLINED;
    }

    if (p < last && *p == ':'
        && (i != path->nsegments - 1
            || path->verb != (ssize_t) (segment->len - len)))
    {
        return NGX_DECLINED;
    }

    if (literal) {
        return (segment->len == len && len) ? NGX_OK : NGX_DECLINED;
    }

    capture->data = segment->data;
    capture->len = segment->len - len;

    return capture->len ? NGX_DONE : NGX_DECLINED;
}


void
ngx_queues_base_query_open(ngx_queues_base_query_t *query, ngx_str_t *args,
    ngx_uint_t controls, u_char *buf)
{
    query->pos = args->data;
    query->last = args->data + args->len;
    query->buf = buf;
    query->controls = controls;
}


ngx_int_t
ngx_queues_base_query_next(ngx_queues_base_query_t *query, ngx_str_t *name,
    ngx_str_t *value)
{
    u_char  *p, *end, *equal;

    p = query->pos;

    while (p < query->last && *p == '&') {
        p++;
    }

    if (p == query->last) {
        query->pos = p;
        return NGX_DONE;
    }

    end = ngx_queues_base_path_find(p, query->last, '&');
    equal = ngx_queues_base_path_find(p, end, '=');

    query->pos = end;

    if (ngx_queues_base_path_decode(p, equal, 1, query->controls, &query->buf,
                                    name)
        != NGX_OK)
    {
        goto failed;
    }

    if (equal < end) {
        equal++;
    }

    if (ngx_queues_base_path_decode(equal, end, 1, query->controls, &query->buf,
                                    value)
        != NGX_OK)
    {
        goto failed;
    }

    return NGX_OK;

failed:

    query->pos = query->last;

    return NGX_ERROR;
}


ngx_int_t
ngx_queues_base_name_check(ngx_str_t *name, size_t max)
{
    u_char  *p, *last, c;

    if (name->len == 0 || name->len > max) {
        return NGX_ERROR;
    }

    p = name->data;
    last = p + name->len;

    for ( /* void */ ; p < last; p++) {
        c = *p | 0x20;

        if ((c < 'a' || c > 'z') && (*p < '0' || *p > '9')
            && *p != '_' && *p != '-')
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* decodes into *buf and moves that behind the text */

static ngx_int_t
ngx_queues_base_path_decode(u_char *p, u_char *last, ngx_uint_t query,
    ngx_uint_t controls, u_char **buf, ngx_str_t *text)
{
    u_char     *dst;
    ngx_str_t   digits;

    dst = *buf;

    for ( /* void */ ; p < last; p++) {
        *dst = *p;

        if (*p == '+' && query) {
            *dst = ' ';
        }

        if (*p == '%') {
            if (last - p < 3) {
                return NGX_ERROR;
            }

            digits.data = p + 1;
            digits.len = 2;

            if (ngx_queues_base_hex_parse(&digits, dst) != NGX_OK) {
                return NGX_ERROR;
            }

            p += 2;
        }

        if (!controls && (*dst < 0x20 || *dst == 0x7f)) {
            return NGX_ERROR;
        }

        dst++;
    }

    text->data = *buf;
    text->len = dst - *buf;

    *buf = dst;

    return ngx_queues_base_utf8_check(text);
}


/* the first c from p on, or last */

static u_char *
ngx_queues_base_path_find(u_char *p, u_char *last, u_char c)
{
    while (p < last && *p != c) {
        p++;
    }

    return p;
}
