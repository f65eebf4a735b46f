
/*
 * Durations and times of proto3 in JSON.
 */

#include "ngx_queues_base_proto.h"
#include "ngx_queues_base_proto_in.h"
#include "ngx_queues_base_calendar.h"
#include "ngx_queues_base_moment.h"
#include "ngx_queues_base_text.h"


/* ms since 1970: the first one of the year 1, and the first one after 9999 */

#define NGX_QUEUES_BASE_PROTO_FIRST  (-62135596800000LL)
#define NGX_QUEUES_BASE_PROTO_END    253402300800000LL


static ngx_int_t ngx_queues_base_proto_clock(ngx_queues_base_proto_in_t *in,
    int64_t *seconds);
static ngx_int_t ngx_queues_base_proto_fraction(ngx_queues_base_proto_in_t *in,
    ngx_uint_t *ns);
static ngx_int_t ngx_queues_base_proto_offset(ngx_queues_base_proto_in_t *in,
    int64_t *seconds);
static ngx_int_t ngx_queues_base_proto_digits(ngx_queues_base_proto_in_t *in,
    ngx_uint_t n, ngx_uint_t max, ngx_uint_t *number);


ngx_int_t
ngx_queues_base_proto_duration(ngx_queues_base_json_value_t *value,
    ngx_queues_base_proto_duration_t *duration)
{
    u_char                       buf[NGX_QUEUES_BASE_PROTO_SHORT];
    int64_t                      seconds, sign;
    ngx_uint_t                   ns;
    ngx_queues_base_proto_in_t   in;

    if (ngx_queues_base_proto_open(&in, value, buf) != NGX_OK) {
        return NGX_ERROR;
    }

    sign = ngx_queues_base_proto_take(&in, '-') ? -1 : 1;
    seconds = 0;

    if (!ngx_queues_base_proto_at_digit(&in)) {
        return NGX_ERROR;
    }

    while (ngx_queues_base_proto_at_digit(&in)) {
        seconds = seconds * 10 + (*in.pos++ - '0');

        if (seconds > NGX_QUEUES_BASE_PROTO_SECONDS) {
            return NGX_ERROR;
        }
    }

    if (ngx_queues_base_proto_fraction(&in, &ns) != NGX_OK
        || !ngx_queues_base_proto_take(&in, 's')
        || in.pos != in.last
        || (ns && seconds == NGX_QUEUES_BASE_PROTO_SECONDS))
    {
        return NGX_ERROR;
    }

    duration->seconds = sign * seconds;
    duration->ns = (int32_t) (sign * (int64_t) ns);

    return NGX_OK;
}


u_char *
ngx_queues_base_proto_duration_print(u_char *p,
    ngx_queues_base_proto_duration_t *duration)
{
    int64_t     seconds, ns;
    ngx_uint_t  i, n;

    seconds = duration->seconds;
    ns = duration->ns;

    if (seconds < 0 || ns < 0) {
        *p++ = '-';
        seconds = -seconds;
        ns = -ns;
    }

    p = ngx_queues_base_decimal_print(p, (uint64_t) seconds);

    if (ns) {
        *p++ = '.';

        for (n = 9; ns % 1000 == 0; n -= 3) {
            ns /= 1000;
        }

        for (i = n; i > 0; i--) {
            p[i - 1] = (u_char) ('0' + ns % 10);
            ns /= 10;
        }

        p += n;
    }

    *p++ = 's';

    return p;
}


ngx_int_t
ngx_queues_base_proto_time(ngx_queues_base_json_value_t *value, int64_t *ms)
{
    u_char                       buf[NGX_QUEUES_BASE_PROTO_SHORT];
    int64_t                      days, seconds, offset, n;
    ngx_uint_t                   year, month, day, ns;
    ngx_queues_base_proto_in_t   in;

    if (ngx_queues_base_proto_open(&in, value, buf) != NGX_OK
        || ngx_queues_base_proto_digits(&in, 4, 9999, &year) != NGX_OK
        || !ngx_queues_base_proto_take(&in, '-')
        || ngx_queues_base_proto_digits(&in, 2, 12, &month) != NGX_OK
        || !ngx_queues_base_proto_take(&in, '-')
        || ngx_queues_base_proto_digits(&in, 2, 31, &day) != NGX_OK
        || ngx_queues_base_calendar_days(year, month, day, &days) != NGX_OK
        || (!ngx_queues_base_proto_take(&in, 'T')
            && !ngx_queues_base_proto_take(&in, 't'))
        || ngx_queues_base_proto_clock(&in, &seconds) != NGX_OK
        || ngx_queues_base_proto_fraction(&in, &ns) != NGX_OK
        || ngx_queues_base_proto_offset(&in, &offset) != NGX_OK
        || in.pos != in.last)
    {
        return NGX_ERROR;
    }

    n = (days * 86400 + seconds - offset) * 1000 + (int64_t) (ns / 1000000);

    if (n < NGX_QUEUES_BASE_PROTO_FIRST || n >= NGX_QUEUES_BASE_PROTO_END) {
        return NGX_ERROR;
    }

    *ms = n;

    return NGX_OK;
}


u_char *
ngx_queues_base_proto_time_print(u_char *p, uint64_t ms)
{
    if (ms % 1000 == 0) {
        return ngx_queues_base_time_print(p, (int64_t) (ms / 1000));
    }

    return ngx_queues_base_moment_print(p, ms);
}


static ngx_int_t
ngx_queues_base_proto_clock(ngx_queues_base_proto_in_t *in, int64_t *seconds)
{
    ngx_uint_t  hour, minute, second;

    if (ngx_queues_base_proto_digits(in, 2, 23, &hour) != NGX_OK
        || !ngx_queues_base_proto_take(in, ':')
        || ngx_queues_base_proto_digits(in, 2, 59, &minute) != NGX_OK
        || !ngx_queues_base_proto_take(in, ':')
        || ngx_queues_base_proto_digits(in, 2, 59, &second) != NGX_OK)
    {
        return NGX_ERROR;
    }

    *seconds = hour * 3600 + minute * 60 + second;

    return NGX_OK;
}


/* ".5", or nothing, which is 0 */

static ngx_int_t
ngx_queues_base_proto_fraction(ngx_queues_base_proto_in_t *in, ngx_uint_t *ns)
{
    ngx_uint_t  i;

    *ns = 0;

    if (!ngx_queues_base_proto_take(in, '.')) {
        return NGX_OK;
    }

    for (i = 0; i < 9 && ngx_queues_base_proto_at_digit(in); i++) {
        *ns = *ns * 10 + (*in->pos++ - '0');
    }

    if (i == 0) {
        return NGX_ERROR;
    }

    for ( /* void */ ; i < 9; i++) {
        *ns *= 10;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_proto_offset(ngx_queues_base_proto_in_t *in, int64_t *seconds)
{
    int64_t     sign;
    ngx_uint_t  hours, minutes;

    *seconds = 0;

    if (ngx_queues_base_proto_take(in, 'Z')
        || ngx_queues_base_proto_take(in, 'z'))
    {
        return NGX_OK;
    }

    sign = ngx_queues_base_proto_take(in, '-') ? -1 : 1;

    if ((sign > 0 && !ngx_queues_base_proto_take(in, '+'))
        || ngx_queues_base_proto_digits(in, 2, 23, &hours) != NGX_OK
        || !ngx_queues_base_proto_take(in, ':')
        || ngx_queues_base_proto_digits(in, 2, 59, &minutes) != NGX_OK)
    {
        return NGX_ERROR;
    }

    *seconds = sign * (int64_t) (hours * 3600 + minutes * 60);

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_proto_digits(ngx_queues_base_proto_in_t *in, ngx_uint_t n,
    ngx_uint_t max, ngx_uint_t *number)
{
    for (*number = 0; n; n--) {

        if (!ngx_queues_base_proto_at_digit(in)) {
            return NGX_ERROR;
        }

        *number = *number * 10 + (*in->pos++ - '0');
    }

    return *number > max ? NGX_ERROR : NGX_OK;
}
