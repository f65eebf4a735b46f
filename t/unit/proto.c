
#include "unit.h"
#include "ngx_queues_base_proto.h"


typedef struct {
    const char  *json;
    const char  *text;      /* NULL: refused */
    size_t       len;
} unit_text_t;


typedef struct {
    const char  *json;
    ngx_uint_t   ok;
    int64_t      n;
} unit_integer_t;


typedef struct {
    const char  *json;
    const char  *printed;   /* NULL: refused */
    int64_t      seconds;
    int32_t      ns;
} unit_duration_t;


typedef struct {
    const char  *json;
    const char  *printed;   /* NULL: refused */
    int64_t      ms;
} unit_time_t;


static unit_text_t  unit_texts[] = {
    { "\"\"", "", 0 },
    { "\"abc\"", "abc", 3 },
    { "\"a\\/b\\u002b\\n\"", "a/b+\n", 5 },
    { "\"\\u0000\"", "\0", 1 },
    { "\"\xe2\x82\xac\"", "\xe2\x82\xac", 3 },
    { "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4 },
    { "\"\\ud83d\"", NULL, 0 },
    { "\"\\ude00\"", NULL, 0 },
    { "\"a\\ud83d\\n\\ude00\"", NULL, 0 },
    { "\"\\ude00\\ud83d\"", NULL, 0 },
    { "1", NULL, 0 },
    { "null", NULL, 0 },
    { "true", NULL, 0 },
    { "[]", NULL, 0 },
    { "{}", NULL, 0 }
};


static unit_integer_t  unit_integers[] = {
    { "0", 1, 0 },
    { "-0", 1, 0 },
    { "5", 1, 5 },
    { "\"5\"", 1, 5 },
    { "5.0", 1, 5 },
    { "5e0", 1, 5 },
    { "5E+0", 1, 5 },
    { "50e-1", 1, 5 },
    { "0.5e1", 1, 5 },
    { "0.0005e4", 1, 5 },
    { "-5.000", 1, -5 },
    { "\"-5\"", 1, -5 },
    { "\"5.0\"", 1, 5 },
    { "\"5e2\"", 1, 500 },
    { "\"\\u0035\"", 1, 5 },
    { "1e3", 1, 1000 },
    { "100200.300e3", 1, 100200300 },
    { "0e999999999999999999999", 1, 0 },
    { "0.0", 1, 0 },
    { "0.000e-5", 1, 0 },
    { "9223372036854775807", 1, INT64_MAX },
    { "\"9223372036854775807\"", 1, INT64_MAX },
    { "-9223372036854775808", 1, INT64_MIN },
    { "9.223372036854775807e18", 1, INT64_MAX },
    { "92233720368547758070e-1", 1, INT64_MAX },
    { "9223372036854775808", 0, 0 },
    { "-9223372036854775809", 0, 0 },
    { "9999999999999999999", 0, 0 },
    { "18446744073709551616", 0, 0 },
    { "100000000000000000000", 0, 0 },
    { "123456789012345678901234567890", 0, 0 },
    { "1e19", 0, 0 },
    { "1e99999999999999999999999", 0, 0 },
    { "1e-99999999999999999999999", 0, 0 },
    { "5.5", 0, 0 },
    { "5e-1", 0, 0 },
    { "123456789012345678901234567890e-29", 0, 0 },
    { "\"\"", 0, 0 },
    { "\" 5\"", 0, 0 },
    { "\"5 \"", 0, 0 },
    { "\"+5\"", 0, 0 },
    { "\"05\"", 0, 0 },
    { "\"-\"", 0, 0 },
    { "\".5e1\"", 0, 0 },
    { "\"5.\"", 0, 0 },
    { "\"5e\"", 0, 0 },
    { "\"5e+\"", 0, 0 },
    { "\"0x5\"", 0, 0 },
    { "\"5\\u0000\"", 0, 0 },
    { "\"five\"", 0, 0 },
    { "\"NaN\"", 0, 0 },
    { "true", 0, 0 },
    { "null", 0, 0 },
    { "[5]", 0, 0 },
    { "{}", 0, 0 },
    { "\"1.00000000000000000000000000000000000000000000000000000000000000\"",
      1, 1 },
    { "\"1.000000000000000000000000000000000000000000000000000000000000000\"",
      0, 0 }
};


static unit_duration_t  unit_durations[] = {
    { "\"0s\"", "0s", 0, 0 },
    { "\"-0s\"", "0s", 0, 0 },
    { "\"600s\"", "600s", 600, 0 },
    { "\"\\u0036\\u00300s\"", "600s", 600, 0 },
    { "\"0600s\"", "600s", 600, 0 },
    { "\"1.5s\"", "1.500s", 1, 500000000 },
    { "\"1.500s\"", "1.500s", 1, 500000000 },
    { "\"1.0s\"", "1s", 1, 0 },
    { "\"0.001s\"", "0.001s", 0, 1000000 },
    { "\"0.000001s\"", "0.000001s", 0, 1000 },
    { "\"0.000000001s\"", "0.000000001s", 0, 1 },
    { "\"3.0101s\"", "3.010100s", 3, 10100000 },
    { "\"-1.5s\"", "-1.500s", -1, -500000000 },
    { "\"-0.5s\"", "-0.500s", 0, -500000000 },
    { "\"315576000000s\"", "315576000000s", 315576000000, 0 },
    { "\"-315576000000s\"", "-315576000000s", -315576000000, 0 },
    { "\"315575999999.999999999s\"", "315575999999.999999999s", 315575999999,
      999999999 },
    { "\"-315575999999.999999999s\"", "-315575999999.999999999s",
      -315575999999, -999999999 },
    { "\"315576000000.000000001s\"", NULL, 0, 0 },
    { "\"315576000001s\"", NULL, 0, 0 },
    { "\"99999999999999999999999s\"", NULL, 0, 0 },
    { "\"1.0000000000s\"", NULL, 0, 0 },
    { "\"1.s\"", NULL, 0, 0 },
    { "\".5s\"", NULL, 0, 0 },
    { "\"+5s\"", NULL, 0, 0 },
    { "\"--5s\"", NULL, 0, 0 },
    { "\"5\"", NULL, 0, 0 },
    { "\"5S\"", NULL, 0, 0 },
    { "\"5 s\"", NULL, 0, 0 },
    { "\" 5s\"", NULL, 0, 0 },
    { "\"5s \"", NULL, 0, 0 },
    { "\"5ss\"", NULL, 0, 0 },
    { "\"1e3s\"", NULL, 0, 0 },
    { "\"1m\"", NULL, 0, 0 },
    { "\"s\"", NULL, 0, 0 },
    { "\"-s\"", NULL, 0, 0 },
    { "\"\"", NULL, 0, 0 },
    { "\"5s\\u0000\"", NULL, 0, 0 },
    { "600", NULL, 0, 0 },
    { "{\"seconds\":600}", NULL, 0, 0 },
    { "null", NULL, 0, 0 }
};


static unit_time_t  unit_times[] = {
    { "\"1970-01-01T00:00:00Z\"", "1970-01-01T00:00:00Z", 0 },
    { "\"2026-07-30T09:12:44.031Z\"", "2026-07-30T09:12:44.031Z",
      1785402764031 },
    { "\"2026-07-30T09:12:44Z\"", "2026-07-30T09:12:44Z", 1785402764000 },
    { "\"2026-07-30t09:12:44z\"", "2026-07-30T09:12:44Z", 1785402764000 },
    { "\"2026-07-30T09:12:44.5Z\"", "2026-07-30T09:12:44.500Z",
      1785402764500 },
    { "\"2026-07-30T09:12:44.031999999Z\"", "2026-07-30T09:12:44.031Z",
      1785402764031 },
    { "\"2026-07-30T11:12:44+02:00\"", "2026-07-30T09:12:44Z", 1785402764000 },
    { "\"2026-07-30T06:42:44-02:30\"", "2026-07-30T09:12:44Z", 1785402764000 },
    { "\"2026-07-30T09:12:44-00:00\"", "2026-07-30T09:12:44Z", 1785402764000 },
    { "\"\\u0032026-07-30T09:12:44Z\"", "2026-07-30T09:12:44Z",
      1785402764000 },
    { "\"2000-02-29T23:59:59.999Z\"", "2000-02-29T23:59:59.999Z",
      951868799999 },
    { "\"9999-12-31T23:59:59.999999999Z\"", "9999-12-31T23:59:59.999Z",
      253402300799999 },
    { "\"1969-12-31T23:59:59.9995Z\"", "", -1 },
    { "\"0001-01-01T00:00:00Z\"", "", -62135596800000 },
    { "\"0001-01-01T00:00:00+00:01\"", NULL, 0 },
    { "\"0000-12-31T23:59:59-00:01\"", "", -62135596741000 },
    { "\"0000-12-31T23:59:59Z\"", NULL, 0 },
    { "\"9999-12-31T23:59:00-00:01\"", NULL, 0 },
    { "\"9999-12-31T23:59:59-00:01\"", NULL, 0 },
    { "\"2026-12-31T23:59:60Z\"", NULL, 0 },
    { "\"2026-02-29T00:00:00Z\"", NULL, 0 },
    { "\"2026-13-01T00:00:00Z\"", NULL, 0 },
    { "\"2026-04-31T00:00:00Z\"", NULL, 0 },
    { "\"2026-00-01T00:00:00Z\"", NULL, 0 },
    { "\"2026-01-01T24:00:00Z\"", NULL, 0 },
    { "\"2026-01-01T00:60:00Z\"", NULL, 0 },
    { "\"2026-01-01T00:00:00\"", NULL, 0 },
    { "\"2026-01-01T00:00Z\"", NULL, 0 },
    { "\"2026-01-01\"", NULL, 0 },
    { "\"2026-01-01 00:00:00Z\"", NULL, 0 },
    { "\"2026-01-01T00:00:00.Z\"", NULL, 0 },
    { "\"2026-01-01T00:00:00.0000000000Z\"", NULL, 0 },
    { "\"2026-01-01T00:00:00+0200\"", NULL, 0 },
    { "\"2026-01-01T00:00:00+02\"", NULL, 0 },
    { "\"2026-01-01T00:00:00+24:00\"", NULL, 0 },
    { "\"2026-01-01T00:00:00+02:60\"", NULL, 0 },
    { "\"2026-01-01T00:00:00ZZ\"", NULL, 0 },
    { "\"2026-1-01T00:00:00Z\"", NULL, 0 },
    { "\"-026-01-01T00:00:00Z\"", NULL, 0 },
    { "\"2026-01-01T00:00:00Z \"", NULL, 0 },
    { "\"\"", NULL, 0 },
    { "1785402764", NULL, 0 },
    { "null", NULL, 0 }
};


/* in memory of exactly that size, which the caller frees */

static ngx_str_t
unit_value(const char *json, ngx_queues_base_json_value_t *value)
{
    ngx_str_t    text;
    const char  *error;

    text.data = (u_char *) json;
    text.len = strlen(json);
    text = unit_copy(&text);

    if (ngx_queues_base_json_parse(&text, value, &error) != NGX_OK) {
        abort();
    }

    return text;
}


static void
unit_string(unit_text_t *test)
{
    u_char                       *buf;
    ngx_int_t                      rc;
    ngx_str_t                      json, text;
    ngx_queues_base_json_value_t   value;

    json = unit_value(test->json, &value);
    buf = malloc(value.raw.len ? value.raw.len : 1);

    rc = ngx_queues_base_proto_text(&value, buf, &text);

    unit_ok(test->text ? rc == NGX_OK && text.len == test->len
                         && memcmp(text.data, test->text, test->len) == 0
                       : rc == NGX_ERROR, "text", &json);

    unit_ok(rc != NGX_OK || text.len == value.raw.len
            ? 1 : text.data == buf, "in the buffer", &json);

    rc = ngx_queues_base_proto_text(&value, value.raw.data, &text);

    unit_ok(test->text ? rc == NGX_OK && text.len == test->len
                         && memcmp(text.data, test->text, test->len) == 0
                       : rc == NGX_ERROR, "in place", &json);

    free(buf);
    free(json.data);
}


static void
unit_integer(unit_integer_t *test)
{
    int64_t                       n;
    ngx_int_t                     rc;
    ngx_str_t                     json;
    ngx_queues_base_json_value_t  value;

    json = unit_value(test->json, &value);

    n = 77;
    rc = ngx_queues_base_proto_integer(&value, INT64_MIN, INT64_MAX, &n);

    unit_ok(test->ok ? rc == NGX_OK && n == test->n
                     : rc == NGX_ERROR && n == 77, "integer", &json);

    if (test->ok) {
        unit_ok(ngx_queues_base_proto_integer(&value, test->n, test->n, &n)
                == NGX_OK, "within", &json);

        if (test->n > INT64_MIN) {
            unit_ok(ngx_queues_base_proto_integer(&value, INT64_MIN,
                                                  test->n - 1, &n)
                    == NGX_ERROR, "over", &json);
        }

        if (test->n < INT64_MAX) {
            unit_ok(ngx_queues_base_proto_integer(&value, test->n + 1,
                                                  INT64_MAX, &n)
                    == NGX_ERROR, "under", &json);
        }
    }

    free(json.data);
}


static void
unit_duration(unit_duration_t *test)
{
    u_char                            *printed;
    ngx_int_t                          rc;
    ngx_str_t                          json, text;
    ngx_queues_base_json_value_t       value;
    ngx_queues_base_proto_duration_t   duration;

    json = unit_value(test->json, &value);
    rc = ngx_queues_base_proto_duration(&value, &duration);

    if (test->printed == NULL) {
        unit_ok(rc == NGX_ERROR, "no duration", &json);

    } else {
        unit_ok(rc == NGX_OK && duration.seconds == test->seconds
                && duration.ns == test->ns, "duration", &json);

        printed = malloc(NGX_QUEUES_BASE_PROTO_DURATION_MAX);

        text.data = printed;
        text.len = ngx_queues_base_proto_duration_print(printed, &duration)
                   - printed;

        unit_ok(text.len == strlen(test->printed)
                && memcmp(printed, test->printed, text.len) == 0, "printed",
                &text);

        free(printed);
    }

    free(json.data);
}


static void
unit_time(unit_time_t *test)
{
    u_char                        *printed;
    int64_t                        ms;
    ngx_int_t                      rc;
    ngx_str_t                      json, text;
    ngx_queues_base_json_value_t   value;

    json = unit_value(test->json, &value);

    ms = 77;
    rc = ngx_queues_base_proto_time(&value, &ms);

    if (test->printed == NULL) {
        unit_ok(rc == NGX_ERROR && ms == 77, "no time", &json);

    } else {
        unit_ok(rc == NGX_OK && ms == test->ms, "time", &json);
    }

    if (test->printed && test->printed[0]) {
        printed = malloc(NGX_QUEUES_BASE_PROTO_TIME_MAX);

        text.data = printed;
        text.len = ngx_queues_base_proto_time_print(printed, (uint64_t) ms)
                   - printed;

        unit_ok(text.len == strlen(test->printed)
                && memcmp(printed, test->printed, text.len) == 0, "printed",
                &text);

        free(printed);
    }

    free(json.data);
}


static void
unit_bool(const char *text, ngx_int_t expected, ngx_uint_t expected_flag)
{
    ngx_str_t                     json;
    ngx_uint_t                    flag;
    ngx_queues_base_json_value_t  value;

    json = unit_value(text, &value);

    flag = 77;

    unit_ok(ngx_queues_base_proto_bool(&value, &flag) == expected
            && flag == expected_flag, "bool", &json);

    free(json.data);
}


int
main(void)
{
    ngx_uint_t  i;

    for (i = 0; i < UNIT_ROWS(unit_texts); i++) {
        unit_string(&unit_texts[i]);
    }

    for (i = 0; i < UNIT_ROWS(unit_integers); i++) {
        unit_integer(&unit_integers[i]);
    }

    for (i = 0; i < UNIT_ROWS(unit_durations); i++) {
        unit_duration(&unit_durations[i]);
    }

    for (i = 0; i < UNIT_ROWS(unit_times); i++) {
        unit_time(&unit_times[i]);
    }

    unit_bool("true", NGX_OK, 1);
    unit_bool("false", NGX_OK, 0);
    unit_bool("\"true\"", NGX_ERROR, 77);
    unit_bool("1", NGX_ERROR, 77);
    unit_bool("null", NGX_ERROR, 77);

    return unit_done();
}
