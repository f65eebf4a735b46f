
#include "ngx_queues_base_moment.h"
#include "ngx_queues_base_calendar.h"
#include "ngx_queues_base_text.h"


typedef struct {
    u_char       *pos;
    u_char       *last;
    ngx_uint_t    failed;       /* unsigned  failed:1; */
} ngx_queues_base_moment_text_t;


static int64_t ngx_queues_base_moment_date(ngx_queues_base_moment_text_t *t);
static int64_t ngx_queues_base_moment_clock(ngx_queues_base_moment_text_t *t);
static int64_t ngx_queues_base_moment_fraction(
    ngx_queues_base_moment_text_t *t);
static int64_t ngx_queues_base_moment_offset(
    ngx_queues_base_moment_text_t *t);
static int64_t ngx_queues_base_moment_digits(
    ngx_queues_base_moment_text_t *t, ngx_uint_t n, int64_t max);
static ngx_uint_t ngx_queues_base_moment_take(
    ngx_queues_base_moment_text_t *t, u_char c);


u_char *
ngx_queues_base_moment_print(u_char *p, uint64_t ms)
{
    p = ngx_queues_base_time_print(p, (int64_t) (ms / 1000));

    p[-1] = '.';

    *p++ = (u_char) ('0' + ms / 100 % 10);
    *p++ = (u_char) ('0' + ms / 10 % 10);
    *p++ = (u_char) ('0' + ms % 10);
    *p++ = 'Z';

    return p;
}


ngx_int_t
ngx_queues_base_moment_parse(ngx_str_t *text, uint64_t *ms)
{
    int64_t                        days, n;
    ngx_queues_base_moment_text_t  t;

    t.pos = text->data;
    t.last = text->data + text->len;
    t.failed = 0;

    days = ngx_queues_base_moment_date(&t);
    n = days * 86400000;

    if (t.pos < t.last) {

        if (!ngx_queues_base_moment_take(&t, 'T')
            && !ngx_queues_base_moment_take(&t, 't')
            && !ngx_queues_base_moment_take(&t, ' '))
        {
            return NGX_ERROR;
        }

        n += ngx_queues_base_moment_clock(&t);
        n -= ngx_queues_base_moment_offset(&t) * 60000;
    }

    if (t.failed || t.pos != t.last) {
        return NGX_ERROR;
    }

    *ms = (uint64_t) ngx_max(n, 0);

    return NGX_OK;
}


/* days since 1970 */

static int64_t
ngx_queues_base_moment_date(ngx_queues_base_moment_text_t *t)
{
    int64_t     days;
    ngx_uint_t  year, month, day;

    year = ngx_queues_base_moment_digits(t, 4, 9999);
    t->failed |= !ngx_queues_base_moment_take(t, '-');
    month = ngx_queues_base_moment_digits(t, 2, 12);
    t->failed |= !ngx_queues_base_moment_take(t, '-');
    day = ngx_queues_base_moment_digits(t, 2, 31);

    if (t->failed
        || ngx_queues_base_calendar_days(year, month, day, &days) != NGX_OK)
    {
        t->failed = 1;
        return 0;
    }

    return days;
}


/* ms */

static int64_t
ngx_queues_base_moment_clock(ngx_queues_base_moment_text_t *t)
{
    int64_t  n, seconds;

    n = ngx_queues_base_moment_digits(t, 2, 23) * 60;
    t->failed |= !ngx_queues_base_moment_take(t, ':');
    n += ngx_queues_base_moment_digits(t, 2, 59);
    n *= 60;

    if (!ngx_queues_base_moment_take(t, ':')) {
        return n * 1000;
    }

    seconds = ngx_queues_base_moment_digits(t, 2, 60);
    n += ngx_min(seconds, 59);

    return n * 1000 + ngx_queues_base_moment_fraction(t);
}


static int64_t
ngx_queues_base_moment_fraction(ngx_queues_base_moment_text_t *t)
{
    int64_t     n;
    ngx_uint_t  i;

    if (!ngx_queues_base_moment_take(t, '.')) {
        return 0;
    }

    n = 0;

    for (i = 0; t->pos < t->last && *t->pos >= '0' && *t->pos <= '9'; i++) {

        if (i < 3) {
            n = n * 10 + (*t->pos - '0');
        }

        t->pos++;
    }

    t->failed |= (i == 0);

    for ( /* void */ ; i < 3; i++) {
        n *= 10;
    }

    return n;
}


/* minutes */

static int64_t
ngx_queues_base_moment_offset(ngx_queues_base_moment_text_t *t)
{
    int64_t  n, sign;

    if (t->pos == t->last
        || ngx_queues_base_moment_take(t, 'Z')
        || ngx_queues_base_moment_take(t, 'z'))
    {
        return 0;
    }

    sign = ngx_queues_base_moment_take(t, '-') ? -1 : 1;

    if (sign > 0 && !ngx_queues_base_moment_take(t, '+')) {
        t->failed = 1;
        return 0;
    }

    n = ngx_queues_base_moment_digits(t, 2, 23) * 60;

    if (t->pos < t->last) {
        (void) ngx_queues_base_moment_take(t, ':');
        n += ngx_queues_base_moment_digits(t, 2, 59);
    }

    return sign * n;
}


static int64_t
ngx_queues_base_moment_digits(ngx_queues_base_moment_text_t *t, ngx_uint_t n,
    int64_t max)
{
    int64_t  number;

    number = 0;

    while (n--) {

        if (t->pos == t->last || *t->pos < '0' || *t->pos > '9') {
            t->failed = 1;
            return 0;
        }

        number = number * 10 + (*t->pos++ - '0');
    }

    t->failed |= (number > max);

    return number;
}


static ngx_uint_t
ngx_queues_base_moment_take(ngx_queues_base_moment_text_t *t, u_char c)
{
    if (t->pos == t->last || *t->pos != c) {
        return 0;
    }

    t->pos++;

    return 1;
}
