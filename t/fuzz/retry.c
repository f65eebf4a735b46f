
/*
 * Values of Retry-After, after eight bytes of the time that it is and eight of
 * a count: digits are what strtod() makes of them, a date is what strptime()
 * does, and each form of a time is read as that time.
 */

#define _GNU_SOURCE

#include "fuzz.h"
#include "ngx_queues_base_retry.h"

#include <time.h>


#define FUZZ_MOST      43200
#define FUZZ_9999      253402300799


static const char  *fuzz_forms[] = {
    "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
    "%a %b %e %H:%M:%S %Y"
};


static int64_t
fuzz_wait(int64_t time, int64_t now)
{
    __int128  wait;

    wait = (__int128) time - now;

    return wait < 0 ? 0 : wait > FUZZ_MOST ? FUZZ_MOST : (int64_t) wait;
}


static void
fuzz_backoff(uint64_t count, uint64_t max, uint32_t random)
{
    double    base, least, most;
    uint64_t  n;

    n = ngx_queues_base_backoff(count, max, random);

    max = ngx_min(max, NGX_QUEUES_BASE_BACKOFF_MAX);

    for (base = 1000; count > 1 && base < max; count--) {
        base *= 2;
    }

    base = ngx_min(base, max);
    least = base * 0.8;
    most = ngx_min(base * 1.2, max);

    fuzz_assert(n + 1 >= least && n <= most + 1 && n <= max);
}


/* the year of two digits is the nearest one to 50 years ahead, at most */

static int64_t
fuzz_time(struct tm *tm, ngx_uint_t form, int64_t now)
{
    int     last;
    time_t  t;

    if (form == 1) {
        t = now < 0 ? 0 : now > FUZZ_9999 ? FUZZ_9999 : now;
        last = 1970 + t / 31556952 + 50;

        tm->tm_year %= 100;

        while (tm->tm_year + 1900 + 100 <= last) {
            tm->tm_year += 100;
        }
    }

    return timegm(tm);
}


static void
fuzz_value(ngx_str_t *value, int64_t now)
{
    char        *text, *p, *end;
    double       n;
    int64_t      seconds;
    ngx_int_t    rc;
    ngx_uint_t   i;
    struct tm    tm;

    seconds = -7;
    rc = ngx_queues_base_retry_after(value, now, &seconds);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_DECLINED && seconds == -7);
    }

    text = (char *) fuzz_alloc(value->len + 1);
    memcpy(text, value->data, value->len);
    text[value->len] = '\0';

    end = text + value->len;

    while (end > text && strchr(" \t", end[-1]) && end[-1]) {
        *--end = '\0';
    }

    p = text + strspn(text, " \t");

    if (p < end && strspn(p, "0123456789") == (size_t) (end - p)) {
        n = strtod(p, NULL);
        fuzz_assert(rc == NGX_OK
                    && seconds == (n > FUZZ_MOST ? FUZZ_MOST : (int64_t) n));

    } else if (rc == NGX_OK) {

        for (i = 0; i < 3; i++) {
            memset(&tm, 0, sizeof(tm));

            if (strptime(p, fuzz_forms[i], &tm) == end) {
                fuzz_assert(seconds == fuzz_wait(fuzz_time(&tm, i, now), now));
                break;
            }
        }

        fuzz_assert(i < 3);
    }

    free(text);
}


/* a time as each of the forms */

static void
fuzz_printed(int64_t time, int64_t now)
{
    char        buf[64];
    int64_t     seconds;
    time_t      t;
    ngx_str_t   value;
    ngx_uint_t  i;
    struct tm   tm;

    t = (uint64_t) time % (FUZZ_9999 + 1);

    for (i = 0; i < 3; i++) {
        fuzz_assert(gmtime_r(&t, &tm));

        value.len = strftime(buf, sizeof(buf), fuzz_forms[i], &tm);
        value = fuzz_copy((u_char *) buf, value.len);

        /* in another century the day may not exist: 29-Feb-00 */

        if (i == 1 && tm.tm_mon == 1 && tm.tm_mday == 29) {
            (void) ngx_queues_base_retry_after(&value, now, &seconds);

        } else {
            fuzz_assert(ngx_queues_base_retry_after(&value, now, &seconds)
                        == NGX_OK);
            fuzz_assert(seconds == fuzz_wait(fuzz_time(&tm, i, now), now));
        }

        free(value.data);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t    now;
    uint64_t   count;
    ngx_str_t  rest, value;

    rest.data = (u_char *) data;
    rest.len = size;

    now = (int64_t) fuzz_number(&rest, 8);
    count = fuzz_number(&rest, 8);

    value = fuzz_copy(rest.data, rest.len);

    fuzz_value(&value, now);
    fuzz_printed((int64_t) ((uint64_t) now + (count & 0xffff)), now);
    fuzz_printed((int64_t) count, now);

    fuzz_backoff(count, UINT64_MAX, (uint32_t) now);
    fuzz_backoff(count & 0x1f, (uint64_t) now & 0x3ffffff,
                 (uint32_t) (count >> 32));

    free(value.data);

    return 0;
}
