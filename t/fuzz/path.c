
/*
 * Paths: the first line is a path, the second a template.  Both are compared
 * with a reading segment by segment; a path made of the segments, every byte
 * of them escaped, splits into the same ones.
 */

#include "fuzz.h"
#include "ngx_queues_base_path.h"


/* templates of the API; the input brings others */

static ngx_str_t  fuzz_templates[] = {
    ngx_string("/v1/receipts/ack"),
    ngx_string("/v1/organizations/{org}/projects/{project}/queues"),
    ngx_string("/v1/organizations/{org}/projects/{project}/queues/{queue}"),
    ngx_string("/v1/organizations/{org}/projects/{project}/queues/{queue}"
               "/messages/receive"),
    ngx_string("/v1/projects/{project}/topics/{topic}:publish")
};


/* the byte at the start of the text, decoded, and its length: 0 if bad */

static size_t
fuzz_byte(ngx_str_t *text, u_char *c)
{
    char  digits[3];

    *c = text->data[0];

    if (*c != '%') {
        return 1;
    }

    if (text->len < 3 || !isxdigit(text->data[1]) || !isxdigit(text->data[2]))
    {
        return 0;
    }

    memcpy(digits, text->data + 1, 2);
    digits[2] = '\0';
    *c = (u_char) strtol(digits, NULL, 16);

    return 3;
}


static ngx_int_t
fuzz_segment(ngx_str_t *raw, ngx_str_t *segment)
{
    size_t     n;
    ngx_str_t  rest;

    rest = *raw;

    for (segment->len = 0; rest.len; segment->len++) {
        n = fuzz_byte(&rest, &segment->data[segment->len]);

        if (n == 0 || iscntrl(segment->data[segment->len])) {
            return NGX_ERROR;
        }

        rest.data += n;
        rest.len -= n;
    }

    return fuzz_utf8_all(segment) ? NGX_OK : NGX_ERROR;
}


static ngx_int_t
fuzz_split(ngx_str_t *raw, ngx_queues_base_path_t *path)
{
    size_t     len;
    ngx_str_t  rest, piece, *segment;
    ngx_int_t  rc;

    path->nsegments = 0;

    rest = *raw;

    for (len = 0; len < rest.len; len++) {
        if (rest.data[len] == '?' || rest.data[len] == '#') {
            break;
        }
    }

    rest.len = len;

    if (rest.len == 0 || rest.data[0] != '/') {
        return NGX_DECLINED;
    }

    rest.data++;
    rest.len--;

    for ( ;; ) {
        if (path->nsegments == NGX_QUEUES_BASE_PATH_SEGMENTS) {
            return NGX_DECLINED;
        }

        len = rest.len;
        piece = fuzz_take(&rest, '/');

        segment = &path->segments[path->nsegments];
        segment->data = fuzz_alloc(piece.len);
        rc = fuzz_segment(&piece, segment);

        path->nsegments++;

        len -= piece.len;       /* 0: no slash was taken */
        free(piece.data);

        if (rc != NGX_OK || len == 0) {
            return rc;
        }
    }
}


static void
fuzz_free(ngx_queues_base_path_t *path)
{
    ngx_uint_t  i;

    for (i = 0; i < path->nsegments; i++) {
        free(path->segments[i].data);
    }
}


static void
fuzz_escaped(ngx_queues_base_path_t *path, size_t size)
{
    u_char                  *p, *buf;
    size_t                   k;
    ngx_str_t                raw;
    ngx_uint_t               i;
    ngx_queues_base_path_t   again;

    raw.data = fuzz_alloc(path->nsegments + 3 * size + 1);
    p = raw.data;

    for (i = 0; i < path->nsegments; i++) {
        *p++ = '/';

        for (k = 0; k < path->segments[i].len; k++) {
            p += sprintf((char *) p, "%%%02X", path->segments[i].data[k]);
        }
    }

    raw.len = p - raw.data;
    buf = fuzz_alloc(raw.len);

    fuzz_assert(ngx_queues_base_path_split(&raw, 0, buf, &again) == NGX_OK);
    fuzz_assert(again.nsegments == path->nsegments);

    for (i = 0; i < path->nsegments; i++) {
        fuzz_assert(fuzz_same(&again.segments[i], &path->segments[i]));
    }

    free(buf);
    free(raw.data);
}


/* templates are ours: '/' first, braces in pairs and first in their segment */

static ngx_uint_t
fuzz_template(ngx_str_t *template, ngx_uint_t *ncaptures)
{
    u_char     *p, *last, *end;
    ngx_str_t   rest, piece;

    *ncaptures = 0;

    if (template->len < 2 || template->data[0] != '/') {
        return 0;
    }

    rest = *template;
    last = rest.data + rest.len;

    for (p = rest.data + 1; p <= last; p = end + 1) {
        end = memchr(p, '/', last - p);
        end = end ? end : last;

        piece.data = p;
        piece.len = end - p;

        if (piece.len == 0) {
            return 0;
        }

        if (*p == '{') {
            if (memchr(p, '}', piece.len) == NULL) {
                return 0;
            }

            (*ncaptures)++;
        }
    }

    return 1;
}


static ngx_int_t
fuzz_expected(ngx_queues_base_path_t *path, ngx_str_t *template,
    ngx_str_t *captures)
{
    size_t       len;
    char        *literal, *piece, *next, *copy;
    ngx_int_t    rc;
    ngx_str_t   *s;
    ngx_uint_t   i;

    copy = calloc(1, template->len + 1);
    memcpy(copy, template->data, template->len);

    rc = NGX_DECLINED;
    i = 0;

    for (piece = strtok_r(copy, "/", &next);
         piece;
         piece = strtok_r(NULL, "/", &next))
    {
        if (i == path->nsegments) {
            goto done;
        }

        s = &path->segments[i++];
        literal = (*piece == '{') ? strchr(piece, '}') + 1 : piece;
        len = strlen(literal);

        if (s->len < len || memcmp(s->data + s->len - len, literal, len)
            || (literal == piece) != (s->len == len))
        {
            goto done;
        }

        if (literal != piece) {
            captures->data = s->data;
            captures->len = s->len - len;
            captures++;
        }
    }

    rc = (i == path->nsegments) ? NGX_OK : NGX_DECLINED;

done:

    free(copy);

    return rc;
}


static void
fuzz_match(ngx_queues_base_path_t *path, ngx_str_t *template)
{
    ngx_int_t    rc;
    ngx_str_t   *captures, *expected;
    ngx_uint_t   i, n;

    if (!fuzz_template(template, &n)
        || memchr(template->data, '\0', template->len))
    {
        return;
    }

    captures = (ngx_str_t *) fuzz_alloc(n * sizeof(ngx_str_t));
    expected = (ngx_str_t *) fuzz_alloc(n * sizeof(ngx_str_t));

    rc = ngx_queues_base_path_match(path, template, captures);

    fuzz_assert(rc == fuzz_expected(path, template, expected));

    for (i = 0; rc == NGX_OK && i < n; i++) {
        fuzz_assert(captures[i].len && captures[i].data == expected[i].data
                    && captures[i].len == expected[i].len);
    }

    free(captures);
    free(expected);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                  *buf, *p;
    ngx_int_t                rc;
    ngx_str_t                rest, raw, template;
    ngx_uint_t               i;
    ngx_queues_base_path_t   path, expected;

    rest.data = (u_char *) data;
    rest.len = size;

    raw = fuzz_take(&rest, '\n');
    template = fuzz_take(&rest, '\n');
    buf = fuzz_alloc(raw.len);

    rc = ngx_queues_base_path_split(&raw, 0, buf, &path);

    fuzz_assert(rc == fuzz_split(&raw, &expected));

    if (rc == NGX_OK) {
        fuzz_assert(path.nsegments == expected.nsegments);
        p = buf;

        for (i = 0; i < path.nsegments; i++) {
            fuzz_assert(path.segments[i].data == p);
            fuzz_assert(fuzz_same(&path.segments[i], &expected.segments[i]));
            p += path.segments[i].len;
        }

        fuzz_assert(p <= buf + raw.len);

        fuzz_escaped(&path, p - buf);

        fuzz_match(&path, &template);

        for (i = 0; i < sizeof(fuzz_templates) / sizeof(ngx_str_t); i++) {
            fuzz_match(&path, &fuzz_templates[i]);
        }
    }

    fuzz_free(&expected);

    free(buf);
    free(template.data);
    free(raw.data);

    return 0;
}
