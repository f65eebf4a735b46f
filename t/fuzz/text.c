
/*
 * Codecs of texts: what is parsed prints to the same text, what is printed
 * parses to the same bytes.
 */

#include "fuzz.h"
#include "ngx_queues_base_path.h"
#include "ngx_queues_base_text.h"

#include <time.h>


static void
fuzz_base64url(ngx_str_t *text)
{
    u_char     *p;
    size_t      len;
    ngx_int_t   rc;
    ngx_str_t   bytes, again;

    /* as a text */

    bytes.data = fuzz_alloc(ngx_queues_base_base64url_parsed_length(text->len));
    bytes.len = 12345;

    rc = ngx_queues_base_base64url_parse(text, bytes.data, &bytes.len);

    if (rc == NGX_OK) {
        fuzz_assert(bytes.len
                    == ngx_queues_base_base64url_parsed_length(text->len));

        again.len = ngx_queues_base_base64url_length(bytes.len);
        again.data = fuzz_alloc(again.len);

        p = ngx_queues_base_base64url_print(again.data, bytes.data, bytes.len);

        fuzz_assert(p == again.data + again.len);
        fuzz_assert(fuzz_same(&again, text));

        free(again.data);

    } else {
        fuzz_assert(rc == NGX_ERROR);
    }

    free(bytes.data);

    /* as bytes */

    again.len = ngx_queues_base_base64url_length(text->len);
    again.data = fuzz_alloc(again.len);

    p = ngx_queues_base_base64url_print(again.data, text->data, text->len);
    fuzz_assert(p == again.data + again.len);

    bytes.len = ngx_queues_base_base64url_parsed_length(again.len);
    bytes.data = fuzz_alloc(bytes.len);

    rc = ngx_queues_base_base64url_parse(&again, bytes.data, &len);
    fuzz_assert(rc == NGX_OK && len == bytes.len);
    fuzz_assert(fuzz_same(&bytes, text));

    free(bytes.data);
    free(again.data);
}


static void
fuzz_hex(ngx_str_t *text)
{
    char        digits[3];
    u_char     *bytes;
    size_t      i;
    ngx_int_t   rc;

    bytes = fuzz_alloc(text->len / 2);
    rc = ngx_queues_base_hex_parse(text, bytes);

    for (i = 0; i < text->len && isxdigit(text->data[i]); i++) { /* void */ }

    if (i < text->len || i % 2) {
        fuzz_assert(rc == NGX_ERROR);

    } else {
        fuzz_assert(rc == NGX_OK);

        for (i = 0; i < text->len; i += 2) {
            snprintf(digits, sizeof(digits), "%02x", bytes[i / 2]);

            fuzz_assert(strncasecmp(digits, (char *) text->data + i, 2) == 0);
        }
    }

    free(bytes);
}


/* printed again it is the text without its leading zeros */

static void
fuzz_decimal(ngx_str_t *text)
{
    u_char       digits[NGX_QUEUES_BASE_DECIMAL_MAX];
    size_t       i;
    uint64_t     n;
    ngx_int_t    rc;
    ngx_str_t    short_text, again;
    const char  *max = "18446744073709551615";

    n = 12345;
    rc = ngx_queues_base_decimal_parse(text, &n);

    for (i = 0; i < text->len && isdigit(text->data[i]); i++) { /* void */ }

    short_text = *text;

    while (short_text.len > 1 && *short_text.data == '0') {
        short_text.data++;
        short_text.len--;
    }

    if (text->len == 0 || i < text->len || short_text.len > 20
        || (short_text.len == 20 && memcmp(short_text.data, max, 20) > 0))
    {
        fuzz_assert(rc == NGX_ERROR && n == 12345);
        return;
    }

    fuzz_assert(rc == NGX_OK);

    again.data = digits;
    again.len = ngx_queues_base_decimal_print(digits, n) - digits;

    fuzz_assert(fuzz_same(&again, &short_text));
}


static void
fuzz_time(ngx_str_t *text)
{
    char        expected[64];
    u_char      printed[NGX_QUEUES_BASE_TIME_LEN];
    time_t      seconds;
    int64_t     n;
    ngx_str_t   rest;
    struct tm   tm;

    rest = *text;
    n = (int64_t) fuzz_number(&rest, ngx_min(ngx_max(rest.len, 1), 8));

    fuzz_assert(ngx_queues_base_time_print(printed, n)
                == printed + NGX_QUEUES_BASE_TIME_LEN);

    seconds = n < 0 ? 0 : n > 253402300799 ? 253402300799 : n;
    gmtime_r(&seconds, &tm);
    strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%SZ", &tm);

    fuzz_assert(memcmp(printed, expected, NGX_QUEUES_BASE_TIME_LEN) == 0);
}


static void
fuzz_name(ngx_str_t *text)
{
    size_t      i, max;
    ngx_uint_t  good;

    for (i = 0; i < text->len; i++) {
        if (!isalnum(text->data[i]) && text->data[i] != '_'
            && text->data[i] != '-')
        {
            break;
        }
    }

    for (max = 0; max <= text->len + 1; max += text->len / 4 + 1) {
        good = (i == text->len && i > 0 && i <= max);

        fuzz_assert(ngx_queues_base_name_check(text, max)
                    == (good ? NGX_OK : NGX_ERROR));
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t  text;

    text.data = (u_char *) data;
    text.len = size;

    fuzz_base64url(&text);
    fuzz_hex(&text);
    fuzz_decimal(&text);
    fuzz_time(&text);
    fuzz_name(&text);

    return 0;
}
