
#include "ngx_queues_base_published.h"
#include "ngx_queues_base_json.h"


/* lines of attributes */

typedef struct {
    u_char      *pos;
    size_t       left;
    ngx_uint_t   found;
} ngx_queues_base_published_lines_t;


static void ngx_queues_base_published_line(
    ngx_queues_base_published_lines_t *lines, ngx_str_t *key,
    ngx_str_t *value);
static ngx_uint_t ngx_queues_base_published_is(ngx_str_t *name,
    const char *text);


void
ngx_queues_base_published_read(ngx_str_t *text,
    ngx_queues_base_published_t *m)
{
    ngx_str_t                      key;
    const char                    *error;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   document, value;

    ngx_memzero(m, sizeof(ngx_queues_base_published_t));

    if (ngx_queues_base_json_parse(text, &document, &error) != NGX_OK
        || document.type != NGX_QUEUES_BASE_JSON_OBJECT)
    {
        return;
    }

    ngx_queues_base_json_open(&it, &document);

    while (ngx_queues_base_json_next(&it, &key, &value) == NGX_OK) {

        if (value.type == NGX_QUEUES_BASE_JSON_OBJECT) {

            if (ngx_queues_base_published_is(&key, "attributes")) {
                m->attributes = value.raw;
            }

        } else if (value.type == NGX_QUEUES_BASE_JSON_STRING) {

            if (ngx_queues_base_published_is(&key, "data")) {
                m->data = value.raw;

            } else if (ngx_queues_base_published_is(&key, "orderingKey")) {
                m->key = value.raw;
            }
        }
    }
}


u_char *
ngx_queues_base_published_headers(u_char *p, ngx_queues_base_published_t *m,
    ngx_uint_t *found)
{
    u_char                              name[NGX_QUEUES_BASE_ATTRIBUTE_KEY_MAX];
    u_char                              text[NGX_QUEUES_BASE_ATTRIBUTE_VALUE_MAX];
    ngx_str_t                           raw, key, value;
    ngx_queues_base_json_iter_t         it;
    ngx_queues_base_json_value_t        attributes, v;
    ngx_queues_base_published_lines_t   lines;

    lines.pos = p;
    lines.left = NGX_QUEUES_BASE_HEADERS_MAX;
    lines.found = 0;

    *found = 0;

    if (m->attributes.len == 0) {
        return p;
    }

    attributes.type = NGX_QUEUES_BASE_JSON_OBJECT;
    attributes.raw = m->attributes;

    ngx_queues_base_json_open(&it, &attributes);

    while (ngx_queues_base_json_next(&it, &raw, &v) == NGX_OK) {

        if (v.type != NGX_QUEUES_BASE_JSON_STRING
            || ngx_queues_base_json_decoded_length(&raw) > sizeof(name)
            || ngx_queues_base_json_decoded_length(&v.raw) > sizeof(text))
        {
            continue;
        }

        key.data = name;
        key.len = ngx_queues_base_json_decode(name, &raw) - name;

        value.data = text;
        value.len = ngx_queues_base_json_decode(text, &v.raw) - text;

        if (ngx_queues_base_attribute_header(&key, &value)) {
            ngx_queues_base_published_line(&lines, &key, &value);
        }
    }

    *found = lines.found;

    return lines.pos;
}


static void
ngx_queues_base_published_line(ngx_queues_base_published_lines_t *lines,
    ngx_str_t *key, ngx_str_t *value)
{
    u_char      *p;
    size_t       len;
    ngx_uint_t   kind;

    kind = 0;

    if (ngx_queues_base_published_is(key, "content-type")) {
        kind = NGX_QUEUES_BASE_HEADER_TYPE;

    } else if (ngx_queues_base_published_is(key, "user-agent")) {
        kind = NGX_QUEUES_BASE_HEADER_AGENT;
    }

    len = key->len + value->len + sizeof(": " CRLF) - 1;

    if (len > lines->left
        || (lines->found & kind)
        || ngx_queues_base_published_is(key, "accept-encoding"))
    {
        return;
    }

    p = ngx_cpymem(lines->pos, key->data, key->len);

    *p++ = ':';
    *p++ = ' ';

    p = ngx_cpymem(p, value->data, value->len);

    *p++ = CR;
    *p++ = LF;

    lines->pos = p;
    lines->left -= len;
    lines->found |= kind;
}


/* it may be any text, as a value of an attribute may */

u_char *
ngx_queues_base_published_key(u_char *p, ngx_queues_base_published_t *m)
{
    u_char     text[NGX_QUEUES_BASE_ORDERING_KEY_MAX];
    ngx_str_t  key;

    static ngx_str_t  name = ngx_string("ordering-key");

    if (m->key.len == 0
        || ngx_queues_base_json_decoded_length(&m->key) > sizeof(text))
    {
        return p;
    }

    key.data = text;
    key.len = ngx_queues_base_json_decode(text, &m->key) - text;

    return ngx_queues_base_attribute_header(&name, &key)
           ? ngx_cpymem(p, key.data, key.len) : p;
}


/* in any case, as names of headers are */

static ngx_uint_t
ngx_queues_base_published_is(ngx_str_t *name, const char *text)
{
    return name->len == ngx_strlen(text)
           && strncasecmp((char *) name->data, text, name->len) == 0;
}
