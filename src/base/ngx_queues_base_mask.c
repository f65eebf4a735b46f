
#include "ngx_queues_base_mask.h"
#include "ngx_queues_base_json.h"
#include "ngx_queues_base_text.h"


/* no field has a name that is longer once it is decoded */
#define NGX_QUEUES_BASE_FIELD_MAX  64


static ngx_str_t ngx_queues_base_field_decode(ngx_str_t *raw, u_char *buf);
static ngx_uint_t ngx_queues_base_field_same(ngx_str_t *text, ngx_str_t *name);
static ngx_queues_base_field_t *ngx_queues_base_mask_find(
    ngx_queues_base_field_t *fields, ngx_str_t *path);
static ngx_int_t ngx_queues_base_mask_below(ngx_str_t *path, size_t i);


ngx_uint_t
ngx_queues_base_field_equal(ngx_str_t *raw, ngx_str_t *name)
{
    u_char     buf[NGX_QUEUES_BASE_FIELD_MAX];
    ngx_str_t  text;

    text = ngx_queues_base_field_decode(raw, buf);

    return ngx_queues_base_field_same(&text, name);
}


ngx_int_t
ngx_queues_base_mask_parse(ngx_str_t *text, ngx_queues_base_field_t *fields,
    uint64_t *bits, ngx_str_t *path)
{
    uint64_t                  found;
    ngx_str_t                 rest;
    ngx_queues_base_field_t  *field;

    rest = *text;
    found = 0;

    do {
        *path = rest;

        if (rest.len) {
            (void) ngx_queues_base_word(&rest, ',', path);
        }

        field = ngx_queues_base_mask_find(fields, path);

        if (field == NULL) {
            return NGX_ERROR;
        }

        found |= field->bit;

        /* a comma at the end has an empty path behind it */

    } while (path->data + path->len < text->data + text->len);

    *bits = found;

    return NGX_OK;
}


/* by the whole path, or else by as much of it as can be, up to a dot */

static ngx_queues_base_field_t *
ngx_queues_base_mask_find(ngx_queues_base_field_t *fields, ngx_str_t *path)
{
    ngx_str_t                 text;
    ngx_queues_base_field_t  *field;

    text = *path;

    for ( ;; ) {

        for (field = fields; field->name.data; field++) {

            if (!ngx_queues_base_field_same(&text, &field->name)) {
                continue;
            }

            if (text.len == path->len) {
                return field;
            }

            return (field->message
                    && ngx_queues_base_mask_below(path, text.len) == NGX_OK)
                   ? field : NULL;
        }

        do {
            if (text.len == 0) {
                return NULL;
            }

        } while (text.data[--text.len] != '.');
    }
}


/* names after the dot at i, whatever they are */

static ngx_int_t
ngx_queues_base_mask_below(ngx_str_t *path, size_t i)
{
    u_char  c;

    for ( /* void */ ; i < path->len; i++) {

        if (path->data[i] == '.') {
            i++;

            if (i == path->len) {
                return NGX_ERROR;
            }
        }

        c = path->data[i] | 0x20;

        if ((c < 'a' || c > 'z') && path->data[i] != '_'
            && (path->data[i] < '0' || path->data[i] > '9'))
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* keys of clients have no escapes: they are compared where they are */

static ngx_str_t
ngx_queues_base_field_decode(ngx_str_t *raw, u_char *buf)
{
    ngx_str_t  text;

    text = *raw;

    if (raw->len == 0 || memchr(raw->data, '\\', raw->len) == NULL) {
        return text;
    }

    text.data = buf;
    text.len = 0;

    if (ngx_queues_base_json_decoded_length(raw) <= NGX_QUEUES_BASE_FIELD_MAX) {
        text.len = ngx_queues_base_json_decode(buf, raw) - buf;
    }

    return text;
}


/* of each part between dots all is of one spelling */

static ngx_uint_t
ngx_queues_base_field_same(ngx_str_t *text, ngx_str_t *name)
{
    u_char      *p, *last, *n, *n_last;
    ngx_uint_t   camel, snake;

    p = text->data;
    last = p + text->len;
    n = name->data;
    n_last = n + name->len;

    camel = 1;
    snake = 1;

    for ( /* void */ ; n < n_last; n++) {

        if (p == last) {
            return 0;
        }

        if (*n >= 'A' && *n <= 'Z') {

            if (*p == '_') {
                camel = 0;
                p++;

                if (p == last || *p != ngx_tolower(*n)) {
                    return 0;
                }

            } else if (*p == *n) {
                snake = 0;

            } else {
                return 0;
            }

        } else if (*p != *n) {
            return 0;
        }

        if (!camel && !snake) {
            return 0;
        }

        if (*n == '.') {
            camel = 1;
            snake = 1;
        }

        p++;
    }

    return p == last;
}
