
#include "ngx_queues_store_call.h"


u_char *
ngx_queues_store_number_arg(ngx_str_t *arg, u_char *p, int64_t n)
{
    arg->data = p;

    if (n >= 0) {
        p = ngx_queues_base_decimal_print(p, (uint64_t) n);
    }

    /* negative: an empty argument, "the queue's own" */

    arg->len = p - arg->data;

    return p;
}


u_char *
ngx_queues_store_short_arg(ngx_str_t *arg, u_char *p, uint64_t id)
{
    arg->data = p;
    p = ngx_queues_base_short_print(p, id);
    arg->len = p - arg->data;

    return p;
}


u_char *
ngx_queues_store_spot_arg(ngx_str_t *arg, u_char *p,
    ngx_queues_base_spot_t *spot)
{
    arg->data = p;

    if (spot->kind == NGX_QUEUES_BASE_SPOT_DELAYED) {
        *p++ = 'z';
    }

    p = ngx_queues_base_decimal_print(p, spot->major);
    *p++ = (spot->kind == NGX_QUEUES_BASE_SPOT_FIFO) ? ':' : '-';
    p = ngx_queues_base_decimal_print(p, spot->minor);

    arg->len = p - arg->data;

    return p;
}


u_char *
ngx_queues_store_once_args(ngx_str_t *args, u_char *p,
    ngx_queues_store_once_t *once)
{
    args[0].data = p;
    p = ngx_hex_dump(p, once->key, NGX_QUEUES_STORE_HASH_SIZE);
    args[0].len = p - args[0].data;

    args[1].data = p;
    p = ngx_hex_dump(p, once->body, NGX_QUEUES_STORE_HASH_SIZE);
    args[1].len = p - args[1].data;

    return p;
}


ngx_int_t
ngx_queues_store_integer(ngx_queues_redis_reply_t *elt, int64_t *n)
{
    if (elt->type != NGX_QUEUES_REDIS_INTEGER) {
        return NGX_ERROR;
    }

    *n = elt->integer;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_string(ngx_queues_redis_reply_t *elt, ngx_str_t *str)
{
    if (elt->type != NGX_QUEUES_REDIS_STRING) {
        return NGX_ERROR;
    }

    *str = elt->str;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_unsigned(ngx_queues_redis_reply_t *elt, uint64_t *n)
{
    int64_t  value;

    if (ngx_queues_store_integer(elt, &value) != NGX_OK || value < 0) {
        return NGX_ERROR;
    }

    *n = (uint64_t) value;

    return NGX_OK;
}


ngx_int_t
ngx_queues_store_short(ngx_queues_redis_reply_t *elt, ngx_str_t *str)
{
    uint64_t  id;

    if (ngx_queues_store_string(elt, str) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_base_short_parse(str, &id);
}


ngx_int_t
ngx_queues_store_integer_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    int64_t  n;

    return ngx_queues_store_integer(reply, &n);
}


/* Q G */

ngx_int_t
ngx_queues_store_place(ngx_queues_redis_reply_t *elts,
    ngx_queues_store_place_t *place)
{
    ngx_str_t  id;

    if (ngx_queues_store_string(&elts[0], &id) != NGX_OK
        || ngx_queues_base_short_parse(&id, &place->queue) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_unsigned(&elts[1], &place->generation);
}


ngx_int_t
ngx_queues_store_number(ngx_str_t *text, u_char separator, uint64_t *n)
{
    ngx_str_t  word;

    if (ngx_queues_base_word(text, separator, &word) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_base_decimal_parse(&word, n);
}


ngx_int_t
ngx_queues_store_place_words(ngx_str_t *text, u_char separator,
    ngx_queues_store_place_t *place)
{
    ngx_str_t  word;

    if (ngx_queues_base_word(text, separator, &word) != NGX_OK
        || ngx_queues_base_short_parse(&word, &place->queue) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_store_number(text, separator, &place->generation);
}


ngx_int_t
ngx_queues_store_spot(ngx_str_t *word, ngx_queues_base_spot_t *spot)
{
    ngx_str_t  text;

    text = *word;
    spot->kind = NGX_QUEUES_BASE_SPOT_NEW;

    if (text.len && text.data[0] == 'z') {
        spot->kind = NGX_QUEUES_BASE_SPOT_DELAYED;

        text.data++;
        text.len--;
    }

    if (ngx_queues_store_number(&text, '-', &spot->major) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_base_decimal_parse(&text, &spot->minor);
}


ngx_int_t
ngx_queues_store_origin(ngx_str_t *text, ngx_queues_store_origin_t *origin)
{
    ngx_str_t  rest, word;

    rest = *text;

    if (ngx_queues_store_place_words(&rest, ',', &origin->place) != NGX_OK
        || ngx_queues_base_word(&rest, ',', &word) != NGX_OK
        || ngx_queues_store_spot(&word, &origin->spot) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (rest.len == 0) {
        return NGX_OK;
    }

    if (ngx_queues_base_word(&rest, ',', &word) != NGX_OK
        || ngx_queues_base_short_parse(&word, &origin->source) != NGX_OK
        || ngx_queues_store_number(&rest, ',', &origin->receives) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_base_decimal_parse(&rest, &origin->moved);
}
