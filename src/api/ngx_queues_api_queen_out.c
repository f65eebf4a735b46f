
#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_OUT  4096


static void ngx_queues_api_queen_write_value(ngx_queues_api_queen_out_t *out,
    u_char code, va_list *args);
static void ngx_queues_api_queen_write_text(ngx_queues_api_queen_out_t *out,
    ngx_str_t *text);
static void ngx_queues_api_queen_write_number(
    ngx_queues_api_queen_out_t *out, uint64_t n);
static void ngx_queues_api_queen_write_quoted(
    ngx_queues_api_queen_out_t *out, ngx_str_t *text);


void
ngx_queues_api_queen_open(ngx_queues_api_t *api,
    ngx_queues_api_queen_out_t *out)
{
    ngx_memzero(out, sizeof(ngx_queues_api_queen_out_t));

    out->api = api;
}


/* what was grown out of is given back: answers may have some MB */

u_char *
ngx_queues_api_queen_room(ngx_queues_api_queen_out_t *out, size_t n)
{
    u_char      *start;
    size_t       size, len;
    ngx_pool_t  *pool;

    if ((size_t) (out->end - out->p) >= n) {
        return out->p;
    }

    if (out->failed) {
        return NULL;
    }

    pool = out->api->op->request->pool;
    len = out->p - out->start;
    size = ngx_max(2 * len, NGX_QUEUES_API_QUEEN_OUT) + n;

    start = ngx_pnalloc(pool, size);
    if (start == NULL) {
        out->failed = 1;
        return NULL;
    }

    if (out->start) {
        ngx_memcpy(start, out->start, len);
        ngx_pfree(pool, out->start);
    }

    out->start = start;
    out->p = start + len;
    out->end = start + size;

    return out->p;
}


void
ngx_queues_api_queen_write(ngx_queues_api_queen_out_t *out, const char *fmt,
    ...)
{
    va_list  args;

    va_start(args, fmt);

    for ( /* void */ ; *fmt; fmt++) {

        if (*fmt == '%') {
            ngx_queues_api_queen_write_value(out, *++fmt, &args);
            continue;
        }

        if (ngx_queues_api_queen_room(out, 1)) {
            *out->p++ = (*fmt == '\'') ? '"' : (u_char) *fmt;
        }
    }

    va_end(args);
}


static void
ngx_queues_api_queen_write_value(ngx_queues_api_queen_out_t *out, u_char code,
    va_list *args)
{
    ngx_str_t                  text;
    uint64_t                   n;
    u_char                     buf[NGX_QUEUES_BASE_UUID_LEN];
    ngx_queues_store_lane_t   *lane;
    ngx_queues_store_value_t  *value;

    ngx_str_set(&text, "null");

    switch (code) {

    case 's':
        ngx_queues_api_queen_write_quoted(out, va_arg(*args, ngx_str_t *));
        return;

    case 'n':
        text = *va_arg(*args, ngx_str_t *);

        if (text.len) {
            ngx_queues_api_queen_write_quoted(out, &text);
            return;
        }

        ngx_str_set(&text, "null");
        break;

    case 'r':
        text = *va_arg(*args, ngx_str_t *);
        break;

    case 'c':
        text.data = (u_char *) va_arg(*args, const char *);
        text.len = ngx_strlen(text.data);
        break;

    case 'd':
        ngx_queues_api_queen_write_number(out, va_arg(*args, uint64_t));
        return;

    case 'v':
        value = va_arg(*args, ngx_queues_store_value_t *);

        if (!value->none) {
            ngx_queues_api_queen_write_number(out, value->number);
            return;
        }

        break;

    case 't':
        n = va_arg(*args, uint64_t);

        if (n) {
            text.data = buf;
            text.len = ngx_queues_base_moment_print(buf, n) - buf;

            ngx_queues_api_queen_write_quoted(out, &text);
            return;
        }

        break;

    case 'b':
        if (va_arg(*args, ngx_uint_t)) {
            ngx_str_set(&text, "true");

        } else {
            ngx_str_set(&text, "false");
        }

        break;

    case 'l':
        lane = va_arg(*args, ngx_queues_store_lane_t *);

        text.data = buf;
        text.len = ngx_queues_base_lane_print(buf, lane->queue, lane->lane)
                   - buf;

        ngx_queues_api_queen_write_quoted(out, &text);
        return;

    case 'm':
        lane = va_arg(*args, ngx_queues_store_lane_t *);
        n = va_arg(*args, uint64_t);

        text.data = buf;
        text.len = ngx_queues_api_queen_message_id(buf, lane, n,
                                                   va_arg(*args, uint64_t))
                   - buf;

        ngx_queues_api_queen_write_quoted(out, &text);
        return;
    }

    ngx_queues_api_queen_write_text(out, &text);
}


static void
ngx_queues_api_queen_write_text(ngx_queues_api_queen_out_t *out,
    ngx_str_t *text)
{
    if (ngx_queues_api_queen_room(out, text->len)) {
        out->p = ngx_cpymem(out->p, text->data, text->len);
    }
}


static void
ngx_queues_api_queen_write_quoted(ngx_queues_api_queen_out_t *out,
    ngx_str_t *text)
{
    if (ngx_queues_api_queen_room(out, text->len + 2)) {
        *out->p++ = '"';
        out->p = ngx_cpymem(out->p, text->data, text->len);
        *out->p++ = '"';
    }
}


static void
ngx_queues_api_queen_write_number(ngx_queues_api_queen_out_t *out, uint64_t n)
{
    if (ngx_queues_api_queen_room(out, NGX_QUEUES_BASE_DECIMAL_MAX)) {
        out->p = ngx_queues_base_decimal_print(out->p, n);
    }
}


void
ngx_queues_api_queen_trim(ngx_queues_api_queen_out_t *out)
{
    if (!out->failed && out->p > out->start && out->p[-1] == ',') {
        out->p--;
    }
}


void
ngx_queues_api_queen_close(ngx_queues_api_queen_out_t *out, ngx_uint_t status)
{
    if (out->failed) {
        ngx_queues_api_no_memory(out->api);
        return;
    }

    ngx_queues_api_answer(out->api, status, out->start, out->p);
}
