
/*
 * A JSON value as each of proto3's: integers by moving the point of their
 * digits, durations and times by patterns and by what the C library makes of
 * them; what is printed is read again.
 */

#define _GNU_SOURCE

#include "fuzz.h"
#include "ngx_queues_base_proto.h"

#include <regex.h>
#include <time.h>


#define FUZZ_SHORT  64


enum {
    FUZZ_INTEGER = 0,
    FUZZ_DURATION,
    FUZZ_PRINTED,
    FUZZ_TIME,
    FUZZ_PATTERNS
};


static const char  *fuzz_patterns[] = {
    "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?$",
    "^-?[0-9]+(\\.[0-9]{1,9})?s$",
    "^-?(0|[1-9][0-9]*)(\\.([0-9]{3}){1,3})?s$",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]"
        "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?"
        "([Zz]|[-+]([01][0-9]|2[0-3]):[0-5][0-9])$"
};


/* whether the whole text is like that, without a NUL */

static ngx_uint_t
fuzz_like(const char *text, size_t len, ngx_uint_t pattern)
{
    ngx_uint_t         i;
    static regex_t     regex[FUZZ_PATTERNS];
    static ngx_uint_t  compiled;

    for (i = 0; i < FUZZ_PATTERNS && !compiled; i++) {
        fuzz_assert(regcomp(&regex[i], fuzz_patterns[i],
                            REG_EXTENDED|REG_NOSUB) == 0);
    }

    compiled = 1;

    return strlen(text) == len
           && regexec(&regex[pattern], text, 0, NULL, 0) == 0;
}


/* 1 and the number, if it is one of an int64 */

static ngx_uint_t
fuzz_integer_of(const char *text, size_t len, int64_t *n)
{
    long         point, k, i;
    char        *digits;
    __int128     sum;
    const char  *p;

    if (!fuzz_like(text, len, FUZZ_INTEGER)) {
        return 0;
    }

    digits = (char *) fuzz_alloc(len);
    point = -1;
    k = 0;

    for (p = text + (*text == '-'); *p && *p != 'e' && *p != 'E'; p++) {

        if (*p == '.') {
            point = k;

        } else {
            digits[k++] = *p;
        }
    }

    point = (point < 0) ? k : point;
    i = (*p) ? strtol(p + 1, NULL, 10) : 0;
    i = ngx_min(i, 1000000000);
    point += ngx_max(i, -1000000000);

    /* the digits before the point, and zeros where there are none */

    sum = 0;

    for (i = 0; i < k; i++) {

        if (i >= point && digits[i] != '0') {
            free(digits);
            return 0;
        }

        if (i < point) {
            sum = ngx_min(sum * 10 + digits[i] - '0', (__int128) 1 << 64);
        }
    }

    for ( /* void */ ; sum && i < point && sum < (__int128) 1 << 64; i++) {
        sum *= 10;
    }

    free(digits);

    sum = (*text == '-') ? -sum : sum;
    *n = (int64_t) sum;

    return sum >= INT64_MIN && sum <= INT64_MAX;
}


static void
fuzz_integer(ngx_queues_base_json_value_t *value, const char *text, size_t len)
{
    int64_t     n, expected;
    ngx_uint_t  ok;

    ok = (value->type == NGX_QUEUES_BASE_JSON_NUMBER
          || (value->type == NGX_QUEUES_BASE_JSON_STRING && len <= FUZZ_SHORT))
         && fuzz_integer_of(text, len, &expected);

    n = 77;

    if (!ok) {
        fuzz_assert(ngx_queues_base_proto_integer(value, INT64_MIN, INT64_MAX,
                                                  &n)
                    == NGX_ERROR && n == 77);
        return;
    }

    fuzz_assert(ngx_queues_base_proto_integer(value, INT64_MIN, INT64_MAX, &n)
                == NGX_OK && n == expected);

    fuzz_assert(ngx_queues_base_proto_integer(value, INT32_MIN, INT32_MAX, &n)
                == (n == (int32_t) n ? NGX_OK : NGX_ERROR));
}


static void
fuzz_duration(ngx_queues_base_json_value_t *value, const char *text, size_t len)
{
    char                              *point, *end;
    u_char                             printed[64];
    int64_t                            seconds, ns;
    ngx_int_t                          rc;
    ngx_uint_t                         i;
    ngx_queues_base_json_value_t       again;
    ngx_queues_base_proto_duration_t   duration, copy;

    rc = ngx_queues_base_proto_duration(value, &duration);

    if (value->type != NGX_QUEUES_BASE_JSON_STRING || len > FUZZ_SHORT
        || !fuzz_like(text, len, FUZZ_DURATION))
    {
        fuzz_assert(rc == NGX_ERROR);
        return;
    }

    seconds = strtoll(text, &point, 10);
    ns = 0;

    if (*point == '.') {
        ns = strtoll(point + 1, &end, 10);

        for (i = end - point - 1; i < 9; i++) {
            ns *= 10;
        }
    }

    if (seconds > NGX_QUEUES_BASE_PROTO_SECONDS
        || seconds < -NGX_QUEUES_BASE_PROTO_SECONDS
        || (llabs(seconds) == NGX_QUEUES_BASE_PROTO_SECONDS && ns))
    {
        fuzz_assert(rc == NGX_ERROR);
        return;
    }

    fuzz_assert(rc == NGX_OK && duration.seconds == seconds
                && duration.ns == (*text == '-' ? -ns : ns));

    end = (char *) ngx_queues_base_proto_duration_print(printed, &duration);

    again.type = NGX_QUEUES_BASE_JSON_STRING;
    again.raw.data = printed;
    again.raw.len = end - (char *) printed;
    *end = '\0';

    fuzz_assert(again.raw.len <= NGX_QUEUES_BASE_PROTO_DURATION_MAX);
    fuzz_assert(fuzz_like((char *) printed, again.raw.len, FUZZ_PRINTED));
    fuzz_assert(strstr((char *) printed, "000s") == NULL
                || strchr((char *) printed, '.') == NULL);
    fuzz_assert(ngx_queues_base_proto_duration(&again, &copy) == NGX_OK
                && copy.seconds == seconds && copy.ns == duration.ns);
}


static void
fuzz_time_printed(int64_t ms)
{
    char                           expected[40];
    u_char                        *p;
    time_t                         seconds;
    int64_t                        copy;
    struct tm                      tm;
    ngx_queues_base_json_value_t   again;

    seconds = ms / 1000;
    gmtime_r(&seconds, &tm);

    p = (u_char *) expected + strftime(expected, 30, "%Y-%m-%dT%H:%M:%S", &tm);

    sprintf((char *) p, ms % 1000 ? ".%03dZ" : "Z", (int) (ms % 1000));

    again.type = NGX_QUEUES_BASE_JSON_STRING;
    again.raw.data = fuzz_alloc(NGX_QUEUES_BASE_PROTO_TIME_MAX);

    p = ngx_queues_base_proto_time_print(again.raw.data, (uint64_t) ms);
    again.raw.len = p - again.raw.data;

    fuzz_assert(again.raw.len == strlen(expected)
                && memcmp(again.raw.data, expected, again.raw.len) == 0);
    fuzz_assert(ngx_queues_base_proto_time(&again, &copy) == NGX_OK
                && copy == ms);

    free(again.raw.data);
}


static void
fuzz_time(ngx_queues_base_json_value_t *value, const char *text, size_t len)
{
    char       *rest;
    time_t      t;
    int64_t     ms, expected;
    ngx_int_t   rc;
    struct tm   tm, back;
    ngx_uint_t  i;

    ms = 77;
    rc = ngx_queues_base_proto_time(value, &ms);

    if (value->type != NGX_QUEUES_BASE_JSON_STRING || len > FUZZ_SHORT
        || !fuzz_like(text, len, FUZZ_TIME))
    {
        fuzz_assert(rc == NGX_ERROR && ms == 77);
        return;
    }

    memset(&tm, 0, sizeof(tm));

    tm.tm_year = atoi(text) - 1900;
    tm.tm_mon = atoi(text + 5) - 1;
    tm.tm_mday = atoi(text + 8);
    tm.tm_hour = atoi(text + 11);
    tm.tm_min = atoi(text + 14);
    tm.tm_sec = atoi(text + 17);

    back = tm;
    t = timegm(&back);

    rest = (char *) text + 19;
    expected = (int64_t) t * 1000;

    if (*rest == '.') {
        for (i = 0, rest++; *rest >= '0' && *rest <= '9'; i++, rest++) {
            expected += (*rest - '0')
                        * (i == 0 ? 100 : i == 1 ? 10 : i == 2 ? 1 : 0);
        }
    }

    if (*rest == '-' || *rest == '+') {
        expected -= (*rest == '-' ? -60000 : 60000)
                    * (int64_t) (atoi(rest + 1) * 60 + atoi(rest + 4));
    }

    /* a day that there is not becomes another one */

    if (back.tm_mon != tm.tm_mon || back.tm_mday != tm.tm_mday
        || expected < -62135596800000 || expected >= 253402300800000)
    {
        fuzz_assert(rc == NGX_ERROR && ms == 77);
        return;
    }

    fuzz_assert(rc == NGX_OK && ms == expected);

    if (ms >= 0) {
        fuzz_time_printed(ms);
    }
}


static void
fuzz_bool(ngx_queues_base_json_value_t *value)
{
    ngx_int_t   rc;
    ngx_uint_t  flag;

    flag = 77;
    rc = ngx_queues_base_proto_bool(value, &flag);

    fuzz_assert(flag == (value->type == NGX_QUEUES_BASE_JSON_TRUE ? 1
                         : value->type == NGX_QUEUES_BASE_JSON_FALSE ? 0 : 77));
    fuzz_assert(rc == (flag == 77 ? NGX_ERROR : NGX_OK));
}


/* what the value has, decoded, with a NUL behind it */

static char *
fuzz_text(ngx_queues_base_json_value_t *value, size_t *len)
{
    char       *copy;
    u_char     *buf;
    ngx_int_t   rc;
    ngx_str_t   text, decoded;

    buf = fuzz_alloc(value->raw.len);
    rc = ngx_queues_base_proto_text(value, buf, &text);

    if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
        fuzz_assert(rc == NGX_ERROR);
        decoded = fuzz_copy(value->raw.data, value->raw.len);

    } else {
        decoded.data = fuzz_alloc(value->raw.len);
        decoded.len = ngx_queues_base_json_decode(decoded.data, &value->raw)
                      - decoded.data;

        fuzz_assert(rc == (fuzz_utf8_all(&decoded) ? NGX_OK : NGX_ERROR));
        fuzz_assert(rc == NGX_ERROR || fuzz_same(&text, &decoded));
    }

    copy = (char *) fuzz_alloc(decoded.len + 1);
    ngx_memcpy(copy, decoded.data, decoded.len);
    copy[decoded.len] = '\0';
    *len = decoded.len;

    free(decoded.data);
    free(buf);

    return copy;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char                          *text;
    size_t                         len;
    ngx_str_t                      json;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    json = fuzz_copy(data, size);

    if (ngx_queues_base_json_parse(&json, &value, &error) == NGX_OK) {

        text = fuzz_text(&value, &len);

        fuzz_integer(&value, text, len);
        fuzz_duration(&value, text, len);
        fuzz_time(&value, text, len);
        fuzz_bool(&value);

        free(text);
    }

    free(json.data);

    return 0;
}
