
#include "ngx_queues_base_proto.h"
#include "ngx_queues_base_proto_in.h"
#include "ngx_queues_base_utf8.h"


/* an exponent that is further from 0 than any body is long */
#define NGX_QUEUES_BASE_PROTO_EXPONENT  (1LL << 50)

/* digits of which each number is a uint64_t */
#define NGX_QUEUES_BASE_PROTO_DIGITS    19


/* sum * 10^exponent; sum ends in no zero */

typedef struct {
    uint64_t                      sum;
    int64_t                       ndigits;      /* of sum */
    int64_t                       exponent;
} ngx_queues_base_proto_number_t;


static ngx_int_t ngx_queues_base_proto_number(ngx_queues_base_proto_in_t *in,
    ngx_queues_base_proto_number_t *number);
static void ngx_queues_base_proto_digit(ngx_queues_base_proto_number_t *number,
    u_char c);
static ngx_int_t ngx_queues_base_proto_exponent(ngx_queues_base_proto_in_t *in,
    int64_t *exponent);


ngx_int_t
ngx_queues_base_proto_text(ngx_queues_base_json_value_t *value, u_char *buf,
    ngx_str_t *text)
{
    if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
        return NGX_ERROR;
    }

    *text = value->raw;

    if (text->len == 0 || memchr(text->data, '\\', text->len) == NULL) {
        return NGX_OK;
    }

    text->data = buf;
    text->len = ngx_queues_base_json_decode(buf, &value->raw) - buf;

    /* only an escape can have been a lone surrogate */

    return ngx_queues_base_utf8_check(text);
}


ngx_int_t
ngx_queues_base_proto_integer(ngx_queues_base_json_value_t *value, int64_t min,
    int64_t max, int64_t *n)
{
    u_char                           buf[NGX_QUEUES_BASE_PROTO_SHORT];
    int64_t                          result;
    ngx_uint_t                       negative;
    ngx_queues_base_proto_in_t       in;
    ngx_queues_base_proto_number_t   number;

    if (value->type == NGX_QUEUES_BASE_JSON_NUMBER) {
        in.pos = value->raw.data;
        in.last = in.pos + value->raw.len;

    } else if (ngx_queues_base_proto_open(&in, value, buf) != NGX_OK) {
        return NGX_ERROR;
    }

    negative = ngx_queues_base_proto_take(&in, '-');

    if (ngx_queues_base_proto_number(&in, &number) != NGX_OK
        || in.pos != in.last
        || number.exponent < 0
        || number.ndigits + number.exponent > NGX_QUEUES_BASE_PROTO_DIGITS)
    {
        return NGX_ERROR;
    }

    for ( /* void */ ; number.exponent; number.exponent--) {
        number.sum *= 10;
    }

    if (number.sum > (uint64_t) INT64_MAX + negative) {
        return NGX_ERROR;
    }

    result = (int64_t) (negative ? -number.sum : number.sum);

    if (result < min || result > max) {
        return NGX_ERROR;
    }

    *n = result;

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_proto_bool(ngx_queues_base_json_value_t *value,
    ngx_uint_t *flag)
{
    if (value->type != NGX_QUEUES_BASE_JSON_TRUE
        && value->type != NGX_QUEUES_BASE_JSON_FALSE)
    {
        return NGX_ERROR;
    }

    *flag = (value->type == NGX_QUEUES_BASE_JSON_TRUE);

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_proto_open(ngx_queues_base_proto_in_t *in,
    ngx_queues_base_json_value_t *value, u_char *buf)
{
    ngx_str_t  text;

    if (value->type != NGX_QUEUES_BASE_JSON_STRING
        || ngx_queues_base_json_decoded_length(&value->raw)
           > NGX_QUEUES_BASE_PROTO_SHORT
        || ngx_queues_base_proto_text(value, buf, &text) != NGX_OK)
    {
        return NGX_ERROR;
    }

    in->pos = text.data;
    in->last = text.data + text.len;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_proto_number(ngx_queues_base_proto_in_t *in,
    ngx_queues_base_proto_number_t *number)
{
    u_char  *start;

    ngx_memzero(number, sizeof(ngx_queues_base_proto_number_t));

    start = in->pos;

    while (ngx_queues_base_proto_at_digit(in)) {
        ngx_queues_base_proto_digit(number, *in->pos++);
    }

    if (in->pos == start || (*start == '0' && in->pos - start > 1)) {
        return NGX_ERROR;
    }

    if (ngx_queues_base_proto_take(in, '.')) {
        start = in->pos;

        while (ngx_queues_base_proto_at_digit(in)) {
            ngx_queues_base_proto_digit(number, *in->pos++);
        }

        if (in->pos == start) {
            return NGX_ERROR;
        }

        number->exponent -= in->pos - start;
    }

    if ((ngx_queues_base_proto_take(in, 'e')
         || ngx_queues_base_proto_take(in, 'E'))
        && ngx_queues_base_proto_exponent(in, &number->exponent) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (number->sum == 0) {
        number->exponent = 0;
    }

    return NGX_OK;
}


/* appends one to what was read so far, of which zeros are in the exponent */

static void
ngx_queues_base_proto_digit(ngx_queues_base_proto_number_t *number, u_char c)
{
    if (number->sum == 0 && c == '0') {
        return;
    }

    if (c == '0') {
        number->exponent++;
        return;
    }

    number->ndigits += number->exponent + 1;

    /* of more digits it is no matter which they are */

    for ( /* void */ ;
         number->exponent
         && number->ndigits <= NGX_QUEUES_BASE_PROTO_DIGITS;
         number->exponent--)
    {
        number->sum *= 10;
    }

    number->exponent = 0;

    if (number->ndigits <= NGX_QUEUES_BASE_PROTO_DIGITS) {
        number->sum = number->sum * 10 + (c - '0');
    }
}


static ngx_int_t
ngx_queues_base_proto_exponent(ngx_queues_base_proto_in_t *in,
    int64_t *exponent)
{
    int64_t     n;
    ngx_uint_t  negative;

    negative = ngx_queues_base_proto_take(in, '-');

    if (!negative) {
        (void) ngx_queues_base_proto_take(in, '+');
    }

    if (!ngx_queues_base_proto_at_digit(in)) {
        return NGX_ERROR;
    }

    for (n = 0; ngx_queues_base_proto_at_digit(in); in->pos++) {
        n = ngx_min(n * 10 + (*in->pos - '0'), NGX_QUEUES_BASE_PROTO_EXPONENT);
    }

    *exponent += negative ? -n : n;

    return NGX_OK;
}
