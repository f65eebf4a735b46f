
#include "ngx_queues_base_retry.h"
#include "ngx_queues_base_calendar.h"
#include "ngx_queues_base_text.h"


#define NGX_QUEUES_BASE_RETRY_DOUBLINGS  16       /* the next one is over the
                                                     maximum */
#define NGX_QUEUES_BASE_RETRY_SECONDS    (NGX_QUEUES_BASE_BACKOFF_MAX / 1000)
/* no answer that is read whole is deeper: 64 KiB of brackets */
#define NGX_QUEUES_BASE_RETRY_DEPTH      65536

#define NGX_QUEUES_BASE_RETRY_DAY        86400
#define NGX_QUEUES_BASE_RETRY_LAST       253402300799     /* of 9999 */


/* what is read of an HTTP date */

typedef struct {
    u_char       *pos;
    u_char       *last;
    ngx_uint_t    failed;       /* unsigned  failed:1; */
} ngx_queues_base_retry_text_t;


static ngx_int_t ngx_queues_base_retry_date(ngx_str_t *text, int64_t now,
    int64_t *time);
static ngx_uint_t ngx_queues_base_retry_name(ngx_queues_base_retry_text_t *t,
    const char **names, ngx_uint_t n);
static ngx_uint_t ngx_queues_base_retry_digits(
    ngx_queues_base_retry_text_t *t, ngx_uint_t n);
static void ngx_queues_base_retry_literal(ngx_queues_base_retry_text_t *t,
    const char *literal);
static int64_t ngx_queues_base_retry_clock(ngx_queues_base_retry_text_t *t);
static ngx_uint_t ngx_queues_base_retry_century(ngx_uint_t year,
    int64_t now);


static const char  *ngx_queues_base_retry_weekdays[] = {
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
    "Saturday", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"
};


static const char  *ngx_queues_base_retry_months[] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
    "Nov", "Dec"
};


uint64_t
ngx_queues_base_backoff(uint64_t count, uint64_t max, uint32_t random)
{
    uint64_t  ms, least, most;

    max = ngx_min(max, NGX_QUEUES_BASE_BACKOFF_MAX);
    ms = max;

    if (count <= NGX_QUEUES_BASE_RETRY_DOUBLINGS) {
        ms = ngx_min(max, 1000ULL << (count ? count - 1 : 0));
    }

    least = ms - ms / 5;
    most = ngx_min(ms + ms / 5, max);

    return least + (most - least) * random / UINT32_MAX;
}


ngx_int_t
ngx_queues_base_retry_after(ngx_str_t *value, int64_t now, int64_t *seconds)
{
    size_t     i;
    int64_t    time;
    uint64_t   n;
    ngx_str_t  text;

    text = *value;

    while (text.len && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.len--;
    }

    while (text.len && (text.data[text.len - 1] == ' '
                        || text.data[text.len - 1] == '\t'))
    {
        text.len--;
    }

    for (i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            break;
        }
    }

    if (i && i == text.len) {

        /* digits that are no number are too many */

        if (ngx_queues_base_decimal_parse(&text, &n) != NGX_OK) {
            n = UINT64_MAX;
        }

        *seconds = ngx_min(n, NGX_QUEUES_BASE_RETRY_SECONDS);

        return NGX_OK;
    }

    if (ngx_queues_base_retry_date(&text, now, &time) != NGX_OK) {
        return NGX_DECLINED;
    }

    if (time <= now) {
        *seconds = 0;

    } else if (time - NGX_QUEUES_BASE_RETRY_SECONDS > now) {
        *seconds = NGX_QUEUES_BASE_RETRY_SECONDS;

    } else {
        *seconds = time - now;
    }

    return NGX_OK;
}


/*
 *     Sun, 06 Nov 1994 08:49:37 GMT
 *     Sunday, 06-Nov-94 08:49:37 GMT
 *     Sun Nov  6 08:49:37 1994
 *
 * The day of the week is not compared with the date.
 */

static ngx_int_t
ngx_queues_base_retry_date(ngx_str_t *text, int64_t now, int64_t *time)
{
    int64_t                       clock, days;
    ngx_uint_t                    full, year, month, day;
    ngx_queues_base_retry_text_t  t;

    t.pos = text->data;
    t.last = text->data + text->len;
    t.failed = 0;

    full = (ngx_queues_base_retry_name(&t, ngx_queues_base_retry_weekdays, 14)
            < 7);

    if (!full && t.pos < t.last && *t.pos == ' ') {

        ngx_queues_base_retry_literal(&t, " ");
        month = ngx_queues_base_retry_name(&t, ngx_queues_base_retry_months,
                                           12);
        ngx_queues_base_retry_literal(&t, " ");

        if (t.pos < t.last && *t.pos == ' ') {
            t.pos++;
            day = ngx_queues_base_retry_digits(&t, 1);

        } else {
            day = ngx_queues_base_retry_digits(&t, 2);
        }

        ngx_queues_base_retry_literal(&t, " ");
        clock = ngx_queues_base_retry_clock(&t);
        ngx_queues_base_retry_literal(&t, " ");
        year = ngx_queues_base_retry_digits(&t, 4);

    } else {
        ngx_queues_base_retry_literal(&t, ", ");
        day = ngx_queues_base_retry_digits(&t, 2);
        ngx_queues_base_retry_literal(&t, full ? "-" : " ");
        month = ngx_queues_base_retry_name(&t, ngx_queues_base_retry_months,
                                           12);
        ngx_queues_base_retry_literal(&t, full ? "-" : " ");
        year = ngx_queues_base_retry_digits(&t, full ? 2 : 4);
        ngx_queues_base_retry_literal(&t, " ");
        clock = ngx_queues_base_retry_clock(&t);
        ngx_queues_base_retry_literal(&t, " GMT");

        if (full) {
            year = ngx_queues_base_retry_century(year, now);
        }
    }

    if (t.failed || t.pos != t.last || year == 0
        || ngx_queues_base_calendar_days(year, month + 1, day, &days) != NGX_OK)
    {
        return NGX_ERROR;
    }

    *time = days * NGX_QUEUES_BASE_RETRY_DAY + clock;

    return NGX_OK;
}


/* the number of the first name that the text goes on with */

static ngx_uint_t
ngx_queues_base_retry_name(ngx_queues_base_retry_text_t *t,
    const char **names, ngx_uint_t n)
{
    size_t      len;
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        len = ngx_strlen(names[i]);

        if ((size_t) (t->last - t->pos) >= len
            && ngx_memcmp(t->pos, names[i], len) == 0)
        {
            t->pos += len;
            return i;
        }
    }

    t->failed = 1;

    return 0;
}


static ngx_uint_t
ngx_queues_base_retry_digits(ngx_queues_base_retry_text_t *t, ngx_uint_t n)
{
    ngx_uint_t  value;

    for (value = 0; n; n--) {

        if (t->pos == t->last || *t->pos < '0' || *t->pos > '9') {
            t->failed = 1;
            return 0;
        }

        value = value * 10 + (*t->pos++ - '0');
    }

    return value;
}


static void
ngx_queues_base_retry_literal(ngx_queues_base_retry_text_t *t,
    const char *literal)
{
    (void) ngx_queues_base_retry_name(t, &literal, 1);
}


/* "08:49:37"; a leap second is one that comes with 60 */

static int64_t
ngx_queues_base_retry_clock(ngx_queues_base_retry_text_t *t)
{
    ngx_uint_t  hour, minute, second;

    hour = ngx_queues_base_retry_digits(t, 2);
    ngx_queues_base_retry_literal(t, ":");
    minute = ngx_queues_base_retry_digits(t, 2);
    ngx_queues_base_retry_literal(t, ":");
    second = ngx_queues_base_retry_digits(t, 2);

    if (hour > 23 || minute > 59 || second > 60) {
        t->failed = 1;
    }

    return hour * 3600 + minute * 60 + second;
}


/* RFC 9110, 5.6.7: the last such year that is at most 50 years ahead */

static ngx_uint_t
ngx_queues_base_retry_century(ngx_uint_t year, int64_t now)
{
    ngx_uint_t  last;

    now = ngx_max(now, 0);
    now = ngx_min(now, NGX_QUEUES_BASE_RETRY_LAST);

    last = 1970 + 50 + now / 31556952;      /* of 365.2425 days */

    year += last - last % 100;

    if (year > last) {
        year -= 100;
    }

    return year;
}


ngx_int_t
ngx_queues_base_failures(ngx_str_t *body, ngx_queues_base_json_value_t *list)
{
    ngx_str_t                      key;
    uint64_t                       objects[NGX_QUEUES_BASE_RETRY_DEPTH / 64];
    const char                    *error;
    ngx_uint_t                     found;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   document, value;

    static ngx_str_t  failed = ngx_string("failed");

    if (ngx_queues_base_json_parse_deep(body, objects,
                                        NGX_QUEUES_BASE_RETRY_DEPTH,
                                        &document, &error)
        != NGX_OK
        || document.type != NGX_QUEUES_BASE_JSON_OBJECT)
    {
        return NGX_DECLINED;
    }

    found = 0;

    ngx_queues_base_json_open(&it, &document);

    while (ngx_queues_base_json_next(&it, &key, &value) == NGX_OK) {

        if (!ngx_queues_base_json_equal(&key, &failed)) {
            continue;
        }

        if (found++ || value.type != NGX_QUEUES_BASE_JSON_ARRAY) {
            return NGX_DECLINED;
        }

        *list = value;
    }

    if (!found) {
        return NGX_DECLINED;
    }

    ngx_queues_base_json_open(&it, list);

    while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {
        if (value.type != NGX_QUEUES_BASE_JSON_STRING) {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}
