
#include "unit.h"
#include "ngx_queues_base_text.h"


typedef struct {
    const char  *text;
    const char  *data;      /* NULL: refused */
} unit_text_t;


typedef struct {
    const char  *text;
    ngx_int_t    rc;
    uint64_t     n;
} unit_decimal_t;


typedef struct {
    int64_t      seconds;
    const char  *text;
} unit_time_t;


static unit_text_t  unit_base64url[] = {
    { "", "" },                         /* RFC 4648, 10 */
    { "Zg", "f" },
    { "Zm8", "fo" },
    { "Zm9v", "foo" },
    { "Zm9vYg", "foob" },
    { "Zm9vYmE", "fooba" },
    { "Zm9vYmFy", "foobar" },
    { "-_-_", "\xfb\xff\xbf" },
    { "Z", NULL },
    { "Zm9vY", NULL },
    { "Zg==", NULL },
    { "Zg=", NULL },
    { "Zm8=", NULL },
    { "Zh", NULL },                     /* trailing bits */
    { "Zm9", NULL },
    { "Zm9vYh", NULL },
    { "Zm+v", NULL },
    { "Zm/v", NULL },
    { "Zm v", NULL },
    { "Zm\nv", NULL },
    { "Zm9v\xe2\x82\xac", NULL },
    { "Zm9\xf6", NULL },                /* 'v' with its high bit set */
    { "@m9v", NULL },
    { "[m9v", NULL },
    { "`m9v", NULL },
    { "{m9v", NULL },
    { ":m9v", NULL },
    { ".m9v", NULL }
};


static unit_text_t  unit_hex[] = {
    { "", "" },
    { "00ff", "\x00\xff" },
    { "aBcDeF09", "\xab\xcd\xef\x09" },
    { "0", NULL },
    { "000", NULL },
    { "0g", NULL },
    { "g0", NULL },
    { "0x", NULL },
    { " 1", NULL },
    { "1/", NULL },
    { "1:", NULL },
    { "1@", NULL },
    { "1G", NULL },
    { "1`", NULL },
    { "\xe1\xe1", NULL }
};


static unit_decimal_t  unit_decimals[] = {
    { "0", NGX_OK, 0 },
    { "1", NGX_OK, 1 },
    { "10", NGX_OK, 10 },
    { "007", NGX_OK, 7 },
    { "4294967296", NGX_OK, 4294967296ULL },
    { "9007199254740993", NGX_OK, 9007199254740993ULL },
    { "18446744073709551609", NGX_OK, 18446744073709551609ULL },
    { "18446744073709551615", NGX_OK, UINT64_MAX },
    { "00000000000000000000001", NGX_OK, 1 },
    { "18446744073709551616", NGX_ERROR, 0 },
    { "18446744073709551620", NGX_ERROR, 0 },
    { "99999999999999999999", NGX_ERROR, 0 },
    { "184467440737095516150", NGX_ERROR, 0 },
    { "", NGX_ERROR, 0 },
    { "-1", NGX_ERROR, 0 },
    { "+1", NGX_ERROR, 0 },
    { " 1", NGX_ERROR, 0 },
    { "1 ", NGX_ERROR, 0 },
    { "1.0", NGX_ERROR, 0 },
    { "1e3", NGX_ERROR, 0 },
    { "0x1", NGX_ERROR, 0 },
    { "abc", NGX_ERROR, 0 },
    { ":", NGX_ERROR, 0 },
    { "/", NGX_ERROR, 0 }
};


static unit_time_t  unit_times[] = {
    { 0, "1970-01-01T00:00:00Z" },
    { 59, "1970-01-01T00:00:59Z" },
    { 951782399, "2000-02-28T23:59:59Z" },
    { 951782400, "2000-02-29T00:00:00Z" },
    { 951868800, "2000-03-01T00:00:00Z" },
    { 1791910960, "2026-10-13T17:02:40Z" },
    { 2147483648LL, "2038-01-19T03:14:08Z" },
    { 4107542400LL, "2100-03-01T00:00:00Z" },
    { 4107542399LL, "2100-02-28T23:59:59Z" },
    { 253402300799LL, "9999-12-31T23:59:59Z" },
    { 253402300800LL, "9999-12-31T23:59:59Z" },
    { INT64_MAX, "9999-12-31T23:59:59Z" },
    { -1, "1970-01-01T00:00:00Z" },
    { INT64_MIN, "1970-01-01T00:00:00Z" }
};


static ngx_str_t
unit_string(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return unit_copy(&s);
}


static void
unit_base64url_tables(void)
{
    size_t        len, size;
    u_char       *dst, *printed, *end;
    ngx_str_t     text;
    ngx_int_t     rc;
    ngx_uint_t    i;
    unit_text_t  *row;

    for (i = 0; i < UNIT_ROWS(unit_base64url); i++) {
        row = &unit_base64url[i];
        text = unit_string(row->text);

        size = ngx_queues_base_base64url_parsed_length(text.len);
        dst = malloc(size + 1);

        rc = ngx_queues_base_base64url_parse(&text, dst, &len);

        if (row->data == NULL) {
            unit_ok(rc == NGX_ERROR, "base64url refused", &text);

        } else {
            unit_ok(rc == NGX_OK && len == strlen(row->data)
                    && memcmp(dst, row->data, len) == 0 && len == size,
                    "base64url parsed", &text);

            size = ngx_queues_base_base64url_length(len);
            printed = malloc(size + 1);
            end = ngx_queues_base_base64url_print(printed, dst, len);

            unit_ok((size_t) (end - printed) == size && size == text.len
                    && memcmp(printed, text.data, size) == 0,
                    "base64url printed", &text);

            free(printed);
        }

        free(dst);
        free(text.data);
    }
}


/* every text of two and three digits either is refused or prints the same */

static void
unit_base64url_unique(void)
{
    size_t      len;
    u_char      bytes[3], digits[4], again[4];
    ngx_str_t   text;
    ngx_uint_t  i, n, accepted, bad;

    accepted = 0;
    bad = 0;

    for (n = 2; n < 4; n++) {
        for (i = 0; i < (ngx_uint_t) 1 << 8 * n; i++) {
            digits[0] = (u_char) i;
            digits[1] = (u_char) (i >> 8);
            digits[2] = (u_char) (i >> 16);

            text.data = digits;
            text.len = n;

            if (ngx_queues_base_base64url_parse(&text, bytes, &len) == NGX_OK) {
                accepted++;

                (void) ngx_queues_base_base64url_print(again, bytes, len);
                bad += (len != n - 1 || memcmp(again, digits, n) != 0);
            }
        }
    }

    unit_ok(accepted == 256 + 65536, "as many texts as bytes", NULL);
    unit_ok(bad == 0, "they print as they were", NULL);
}


static void
unit_hex_table(void)
{
    u_char       *dst;
    ngx_str_t     text;
    ngx_int_t     rc;
    ngx_uint_t    i;
    unit_text_t  *row;

    for (i = 0; i < UNIT_ROWS(unit_hex); i++) {
        row = &unit_hex[i];
        text = unit_string(row->text);
        dst = malloc(text.len / 2 + 1);

        rc = ngx_queues_base_hex_parse(&text, dst);

        if (row->data == NULL) {
            unit_ok(rc == NGX_ERROR, "hex refused", &text);

        } else {
            unit_ok(rc == NGX_OK && memcmp(dst, row->data, text.len / 2) == 0,
                    "hex parsed", &text);
        }

        free(dst);
        free(text.data);
    }
}


static void
unit_decimal_table(void)
{
    u_char           buf[NGX_QUEUES_BASE_DECIMAL_MAX], *end;
    uint64_t         n, power, again;
    ngx_str_t        text, printed;
    ngx_int_t        rc;
    ngx_uint_t       i, bad;
    unit_decimal_t  *row;

    for (i = 0; i < UNIT_ROWS(unit_decimals); i++) {
        row = &unit_decimals[i];
        text = unit_string(row->text);
        n = 12345;

        rc = ngx_queues_base_decimal_parse(&text, &n);

        unit_ok(rc == row->rc && n == (rc == NGX_OK ? row->n : 12345),
                rc == NGX_OK ? "decimal parsed" : "decimal refused", &text);

        free(text.data);
    }

    bad = 0;
    power = 1;

    for (i = 0; i < 20 * 3; i++) {
        n = power - 1 + i % 3;

        end = ngx_queues_base_decimal_print(buf, n);
        printed.data = buf;
        printed.len = end - buf;

        bad += (printed.len != (size_t) snprintf(NULL, 0, "%llu",
                                                 (unsigned long long) n)
                || ngx_queues_base_decimal_parse(&printed, &again) != NGX_OK
                || again != n);

        if (i % 3 == 2) {
            power *= 10;
        }
    }

    unit_ok(bad == 0, "numbers around powers of ten round trip", NULL);

    end = ngx_queues_base_decimal_print(buf, UINT64_MAX);
    unit_ok(end - buf == 20 && memcmp(buf, "18446744073709551615", 20) == 0,
            "the largest number", NULL);
}


static void
unit_time_table(void)
{
    char         expected[64];
    time_t       t;
    u_char       buf[NGX_QUEUES_BASE_TIME_LEN], *end;
    struct tm    tm;
    ngx_str_t    text;
    ngx_uint_t   i, bad;

    for (i = 0; i < UNIT_ROWS(unit_times); i++) {
        end = ngx_queues_base_time_print(buf, unit_times[i].seconds);

        text = unit_string(unit_times[i].text);
        unit_ok(end - buf == NGX_QUEUES_BASE_TIME_LEN
                && memcmp(buf, unit_times[i].text, end - buf) == 0,
                "time", &text);
        free(text.data);
    }

    bad = 0;

    for (t = 0; t <= 253402300799LL; t += 86400 - 7 + unit_random() % 14) {
        (void) ngx_queues_base_time_print(buf, t);
        (void) gmtime_r(&t, &tm);
        (void) strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%SZ", &tm);

        bad += (memcmp(buf, expected, NGX_QUEUES_BASE_TIME_LEN) != 0);
    }

    unit_ok(bad == 0, "every day until 9999 as gmtime() has it", NULL);
}


int
main(void)
{
    unit_base64url_tables();
    unit_base64url_unique();
    unit_hex_table();
    unit_decimal_table();
    unit_time_table();

    return unit_done();
}
