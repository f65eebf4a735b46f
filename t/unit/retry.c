
#include "unit.h"
#include "ngx_queues_base_retry.h"


#define UNIT_NOW      1792567680        /* Wed, 21 Oct 2026 07:28:00 GMT */
#define UNIT_NONE     -1


typedef struct {
    ngx_str_t    value;
    int64_t      seconds;      /* UNIT_NONE: as if it were not there */
} unit_retry_t;


typedef struct {
    ngx_str_t    value;
    int64_t      now;
    int64_t      seconds;
} unit_date_t;


typedef struct {
    ngx_str_t    body;
    int          n;            /* strings in the list; UNIT_NONE: no list */
} unit_failures_t;


static unit_retry_t  unit_values[] = {
    { ngx_string("7"), 7 },
    { ngx_string("0"), 0 },
    { ngx_string("1"), 1 },
    { ngx_string(" 7 "), 7 },
    { ngx_string("\t7\t "), 7 },
    { ngx_string("007"), 7 },
    { ngx_string("120"), 120 },
    { ngx_string("43199"), 43199 },
    { ngx_string("43200"), 43200 },
    { ngx_string("43201"), 43200 },
    { ngx_string("4294967296"), 43200 },
    { ngx_string("18446744073709551615"), 43200 },
    { ngx_string("18446744073709551616"), 43200 },
    { ngx_string("99999999999999999999"), 43200 },
    { ngx_string("00000000000000000000000000000000000005"), 5 },

    { ngx_string(""), UNIT_NONE },
    { ngx_string(" "), UNIT_NONE },
    { ngx_string("\t \t"), UNIT_NONE },
    { ngx_string("-5"), UNIT_NONE },
    { ngx_string("+5"), UNIT_NONE },
    { ngx_string("1000abc"), UNIT_NONE },
    { ngx_string("abc"), UNIT_NONE },
    { ngx_string("1.5"), UNIT_NONE },
    { ngx_string("1e3"), UNIT_NONE },
    { ngx_string("0x10"), UNIT_NONE },
    { ngx_string("1 0"), UNIT_NONE },
    { ngx_string("7, 7"), UNIT_NONE },
    { ngx_string("7;"), UNIT_NONE },
    { ngx_string("\"7\""), UNIT_NONE },
    { ngx_string("7s"), UNIT_NONE },
    { ngx_string("7\0"), UNIT_NONE },
    { ngx_string("\xd9\xa7"), UNIT_NONE },
    { ngx_string("NaN"), UNIT_NONE },

    { ngx_string("Wed, 21 Oct 2026 07:28:00 GMT"), 0 },
    { ngx_string("Wed, 21 Oct 2026 07:28:01 GMT"), 1 },
    { ngx_string(" Wed, 21 Oct 2026 07:28:30 GMT "), 30 },
    { ngx_string("Wed, 21 Oct 2026 07:27:59 GMT"), 0 },
    { ngx_string("Wed, 21 Oct 2026 07:28:60 GMT"), 60 },
    { ngx_string("Wed, 21 Oct 2026 19:27:59 GMT"), 43199 },
    { ngx_string("Wed, 21 Oct 2026 19:28:00 GMT"), 43200 },
    { ngx_string("Wed, 21 Oct 2026 19:28:01 GMT"), 43200 },
    { ngx_string("Fri, 31 Dec 9999 23:59:59 GMT"), 43200 },
    { ngx_string("Sun, 06 Nov 1994 08:49:37 GMT"), 0 },
    { ngx_string("Thu, 01 Jan 1970 00:00:00 GMT"), 0 },
    { ngx_string("Mon, 01 Jan 0001 00:00:00 GMT"), 0 },
    { ngx_string("Mon, 21 Oct 2026 07:29:00 GMT"), 60 },

    { ngx_string("Wednesday, 21-Oct-26 07:28:10 GMT"), 10 },
    { ngx_string("Wednesday, 21-Oct-26 07:27:50 GMT"), 0 },
    { ngx_string("Sunday, 06-Nov-94 08:49:37 GMT"), 0 },
    { ngx_string("Tuesday, 21-Oct-76 07:28:10 GMT"), 43200 },
    { ngx_string("Friday, 21-Oct-77 07:28:10 GMT"), 0 },
    { ngx_string("Saturday, 01-Jan-00 00:00:00 GMT"), 0 },

    { ngx_string("Wed Oct 21 07:28:20 2026"), 20 },
    { ngx_string("Wed Oct 21 07:27:00 2026"), 0 },
    { ngx_string("Sun Nov  6 08:49:37 1994"), 0 },
    { ngx_string("Sun Nov  1 08:49:37 2026"), 43200 },
    { ngx_string("Sun Nov 01 08:49:37 2026"), 43200 },

    { ngx_string("Wed, 21 Oct 2026 07:28:00"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 07:28:00 UTC"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 07:28:00 +0000"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 07:28:00 GMT."), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 07:28:00 GMTT"), UNIT_NONE },
    { ngx_string("Wed,21 Oct 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 1 Oct 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 00 Oct 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 32 Oct 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 31 Nov 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Sun, 29 Feb 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Sun, 29 Feb 2100 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Tue, 29 Feb 2028 07:28:00 GMT"), 43200 },
    { ngx_string("Tue, 29 Feb 2000 07:28:00 GMT"), 0 },
    { ngx_string("Wed, 21 Oct 0000 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 20265 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 24:00:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 07:60:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 07:28:61 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 7:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21 Oct 2026 07:28 GMT"), UNIT_NONE },
    { ngx_string("wed, 21 oct 2026 07:28:00 gmt"), UNIT_NONE },
    { ngx_string("Wed, 21 Okt 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Xyz, 21 Oct 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wednesday, 21 Oct 2026 07:28:00 GMT"), UNIT_NONE },
    { ngx_string("Wed, 21-Oct-26 07:28:10 GMT"), UNIT_NONE },
    { ngx_string("Wednesday, 21-Oct-2026 07:28:10 GMT"), UNIT_NONE },
    { ngx_string("Wednesday Oct 21 07:28:20 2026"), UNIT_NONE },
    { ngx_string("Wed Oct 21 07:28:20 2026 GMT"), UNIT_NONE },
    { ngx_string("Wed Oct  21 07:28:20 2026"), UNIT_NONE },
    { ngx_string("Wed Oct 6 07:28:20 2026"), UNIT_NONE },
    { ngx_string("Wed"), UNIT_NONE },
    { ngx_string("Wed, "), UNIT_NONE },
    { ngx_string("2026-10-21T07:28:00Z"), UNIT_NONE }
};


/* the same day at other times */

static unit_date_t  unit_dates[] = {
    { ngx_string("Thu, 01 Jan 1970 00:00:10 GMT"), 0, 10 },
    { ngx_string("Thu, 01 Jan 1970 00:00:10 GMT"), -5, 15 },
    { ngx_string("Sun, 06 Nov 1994 08:49:37 GMT"), 784111776, 1 },
    { ngx_string("Sunday, 06-Nov-94 08:49:37 GMT"), 784111776, 1 },
    { ngx_string("Sun Nov  6 08:49:37 1994"), 784111776, 1 },
    { ngx_string("Tue, 29 Feb 2000 23:59:59 GMT"), 951868798, 1 },
    { ngx_string("Wed, 01 Mar 2000 00:00:00 GMT"), 951868799, 1 },
    { ngx_string("Tue, 19 Jan 2038 03:14:08 GMT"), 2147483647, 1 },
    { ngx_string("Sun, 07 Feb 2106 06:28:16 GMT"), 4294967295, 1 },
    { ngx_string("Mon, 01 Mar 2100 00:00:00 GMT"), 4107542399, 1 },
    { ngx_string("Friday, 01-Jan-00 00:00:01 GMT"), 4102444799, 2 },
    { ngx_string("Thursday, 31-Dec-99 23:59:59 GMT"), 4102444798, 1 },
    { ngx_string("Friday, 31-Dec-99 23:59:59 GMT"), 946684798, 1 },
    { ngx_string("Saturday, 01-Jan-00 00:00:00 GMT"), 946684799, 1 },
    { ngx_string("Fri, 31 Dec 9999 23:59:59 GMT"), 253402300798, 1 },
    { ngx_string("Wed, 21 Oct 2026 07:28:00 GMT"), INT64_MAX, 0 },
    { ngx_string("Friday, 21-Oct-26 07:28:00 GMT"), INT64_MAX, 0 },
    { ngx_string("9"), INT64_MAX, 9 }
};


#define ID  "01999f3d-02b4-7c1d-8e2f-3a4b5c6d7e8f"


static unit_failures_t  unit_bodies[] = {
    { ngx_string("{\"failed\":[]}"), 0 },
    { ngx_string("{\"failed\":[\"" ID "\"]}"), 1 },
    { ngx_string("{\"failed\": [ \"" ID "\" , \"" ID "\", \"zzz\" ] }\n"), 3 },
    { ngx_string(" \t\r\n{\"failed\":[\"\"]}"), 1 },
    { ngx_string("{\"a\":1,\"failed\":[\"x\"],\"b\":{\"failed\":3}}"), 1 },
    { ngx_string("{\"ok\":true,\"failed\":[\"x\",\"y\"]}"), 2 },
    { ngx_string("{\"\\u0066ailed\":[\"x\"]}"), 1 },
    { ngx_string("{\"failed\":[\"\\u0030\\u00e4\"]}"), 1 },
    { ngx_string("{\"a\":1,\"a\":2,\"failed\":[\"x\"]}"), 1 },
    { ngx_string("{\"Failed\":1,\"failed\":[]}"), 0 },

    { ngx_string(""), UNIT_NONE },
    { ngx_string(" "), UNIT_NONE },
    { ngx_string("ok"), UNIT_NONE },
    { ngx_string("{}"), UNIT_NONE },
    { ngx_string("[]"), UNIT_NONE },
    { ngx_string("null"), UNIT_NONE },
    { ngx_string("\"failed\""), UNIT_NONE },
    { ngx_string("0"), UNIT_NONE },
    { ngx_string("[{\"failed\":[\"x\"]}]"), UNIT_NONE },
    { ngx_string("[\"failed\",[\"x\"]]"), UNIT_NONE },
    { ngx_string("{\"failed\":\"id1\"}"), UNIT_NONE },
    { ngx_string("{\"failed\":[1]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\",null]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\",[\"y\"]]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[{\"messageId\":\"x\"}]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[true]}"), UNIT_NONE },
    { ngx_string("{\"failed\":null}"), UNIT_NONE },
    { ngx_string("{\"failed\":{}}"), UNIT_NONE },
    { ngx_string("{\"failed\":{\"0\":\"x\"}}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\"],\"failed\":[]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\"],\"\\u0066ailed\":[\"y\"]}"), UNIT_NONE },
    { ngx_string("{\"Failed\":[\"x\"]}"), UNIT_NONE },
    { ngx_string("{\"failed\\u0000\":[\"x\"]}"), UNIT_NONE },
    { ngx_string("{\"failed \":[\"x\"]}"), UNIT_NONE },
    { ngx_string("{\"data\":{\"failed\":[\"x\"]}}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\"]"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\""), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\"]}x"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\",]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\"],}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"\xff\"]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\ny\"]}"), UNIT_NONE },
    { ngx_string("\xef\xbb\xbf{\"failed\":[\"x\"]}"), UNIT_NONE },
    { ngx_string("{'failed':['x']}"), UNIT_NONE },
    { ngx_string("{failed:[\"x\"]}"), UNIT_NONE },
    { ngx_string("\0{\"failed\":[\"x\"]}"), UNIT_NONE },
    { ngx_string("{\"failed\":[\"x\"]}\0"), UNIT_NONE },
    { ngx_string("<html>{\"failed\":[\"x\"]}</html>"), UNIT_NONE }
};


static void
unit_after(ngx_str_t *text, int64_t now, int64_t expected)
{
    int64_t    seconds;
    ngx_int_t  rc;
    ngx_str_t  value;

    value = unit_copy(text);
    seconds = UNIT_NONE;

    rc = ngx_queues_base_retry_after(&value, now, &seconds);

    unit_ok(rc == (expected == UNIT_NONE ? NGX_DECLINED : NGX_OK)
            && seconds == expected,
            expected == UNIT_NONE ? "is none" : "retry after", text);

    free(value.data);
}


static void
unit_failures(unit_failures_t *row)
{
    int                            n;
    ngx_int_t                      rc;
    ngx_str_t                      body;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   list, value;

    body = unit_copy(&row->body);

    rc = ngx_queues_base_failures(&body, &list);
    n = UNIT_NONE;

    if (rc == NGX_OK) {
        n = 0;
        ngx_queues_base_json_open(&it, &list);

        while (ngx_queues_base_json_next(&it, NULL, &value) == NGX_OK) {
            n += (value.type == NGX_QUEUES_BASE_JSON_STRING);
        }
    }

    unit_ok(n == row->n && (rc == NGX_OK || rc == NGX_DECLINED),
            row->n == UNIT_NONE ? "no list" : "a list", &row->body);

    free(body.data);
}


#define MOST  NGX_QUEUES_BASE_BACKOFF_MAX


static void
unit_backoff(void)
{
    uint64_t    ms, least, most, base, sum;
    ngx_uint_t  count, i, bad, tenths[10];

    for (bad = 0, count = 1; count <= 16; count++) {
        base = 1000ULL << (count - 1);

        bad += (ngx_queues_base_backoff(count, MOST, 0) != base * 8 / 10);
        bad += (ngx_queues_base_backoff(count, MOST, UINT32_MAX) != base * 12 / 10);

        least = base;
        most = base;

        for (i = 0; i < 1000; i++) {
            ms = ngx_queues_base_backoff(count, MOST, unit_random());

            least = ngx_min(least, ms);
            most = ngx_max(most, ms);
        }

        bad += (least < base * 8 / 10 || least > base * 82 / 100
                || most > base * 12 / 10 || most < base * 118 / 100);
    }

    unit_ok(bad == 0, "doubles, and is within 20 percent, and far from one"
            " moment", NULL);

    ngx_memzero(tenths, sizeof(tenths));

    for (sum = 0, i = 0; i < 10000; i++) {
        ms = ngx_queues_base_backoff(11, MOST, unit_random());     /* 1024 s */
        sum += ms;
        tenths[ngx_min((ms - 819200) * 10 / 409600, 9)]++;
    }

    for (bad = 0, i = 0; i < 10; i++) {
        bad += (tenths[i] < 800 || tenths[i] > 1200);
    }

    unit_ok(bad == 0, "all moments are alike", NULL);
    unit_ok(sum / 10000 > 1014000 && sum / 10000 < 1034000,
            "and it is so long on average", NULL);

    for (bad = 0, i = 0; i < 64; i++) {
        ms = ngx_queues_base_backoff(1ULL << i, UINT64_MAX, unit_random());
        bad += (i >= 5 && ms < MOST * 8 / 10);
        bad += (ms == 0 || ms > MOST);
    }

    bad += (ngx_queues_base_backoff(UINT64_MAX, MOST, UINT32_MAX) != MOST);
    bad += (ngx_queues_base_backoff(17, MOST, 0) != MOST * 8 / 10);

    unit_ok(bad == 0, "at most twelve hours, whatever the count is", NULL);

    ngx_memzero(tenths, sizeof(tenths));

    for (i = 0; i < 10000; i++) {
        ms = ngx_queues_base_backoff(1 + i % 30 + 5, 30000, unit_random());
        bad += (ms > 30000 || ms < 12800);

        if (i % 30 >= 5) {
            tenths[ngx_min((ms - 24000) * 10 / 6000, 9)]++;
        }
    }

    for (i = 0; i < 10; i++) {
        bad += (tenths[i] < 600 || tenths[i] > 1100);
    }

    unit_ok(bad == 0, "what is cut to a maximum is spread before it", NULL);

    unit_ok(ngx_queues_base_backoff(5, 0, UINT32_MAX) == 0, "none is none",
            NULL);
    unit_ok(ngx_queues_base_backoff(0, MOST, 0) == 800, "no count is the first",
            NULL);
}


int
main(void)
{
    ngx_uint_t  i;

    unit_backoff();

    for (i = 0; i < UNIT_ROWS(unit_values); i++) {
        unit_after(&unit_values[i].value, UNIT_NOW, unit_values[i].seconds);
    }

    for (i = 0; i < UNIT_ROWS(unit_dates); i++) {
        unit_after(&unit_dates[i].value, unit_dates[i].now,
                   unit_dates[i].seconds);
    }

    for (i = 0; i < UNIT_ROWS(unit_bodies); i++) {
        unit_failures(&unit_bodies[i]);
    }

    return unit_done();
}
