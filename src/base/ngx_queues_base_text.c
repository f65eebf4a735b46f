
#include "ngx_queues_base_text.h"


static ngx_int_t ngx_queues_base_hex_digit(u_char c);
static u_char *ngx_queues_base_digits_print(u_char *p, ngx_uint_t n,
    ngx_uint_t width);


/* values of the digits of base64url, 64 for what is none */

static const u_char  ngx_queues_base_base64url_digits[128] = {
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 62, 64, 64,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 64, 64, 64, 64, 64, 64,
    64,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 64, 64, 64, 64, 63,
    64, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 64, 64, 64, 64, 64
};


u_char *
ngx_queues_base_base64url_print(u_char *p, u_char *data, size_t len)
{
    u_char              *last;
    uint32_t             bits;
    static const u_char  digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "abcdefghijklmnopqrstuvwxyz0123456789-_";

    last = data + len;

    for ( /* void */ ; last - data >= 3; data += 3) {
        bits = data[0] << 16 | data[1] << 8 | data[2];

        *p++ = digits[bits >> 18];
        *p++ = digits[bits >> 12 & 0x3f];
        *p++ = digits[bits >> 6 & 0x3f];
        *p++ = digits[bits & 0x3f];
    }

    if (last - data == 2) {
        bits = data[0] << 16 | data[1] << 8;

        *p++ = digits[bits >> 18];
        *p++ = digits[bits >> 12 & 0x3f];
        *p++ = digits[bits >> 6 & 0x3f];

    } else if (last - data == 1) {
        bits = data[0] << 16;

        *p++ = digits[bits >> 18];
        *p++ = digits[bits >> 12 & 0x3f];
    }

    return p;
}


ngx_int_t
ngx_queues_base_base64url_parse(ngx_str_t *text, u_char *dst, size_t *len)
{
    u_char    *p, *start, c, wrong;
    size_t     i;
    uint32_t   bits;

    if (text->len % 4 == 1) {
        return NGX_ERROR;
    }

    p = text->data;
    start = dst;
    bits = 0;
    wrong = 0;

    for (i = 0; i < text->len; i++) {
        c = ngx_queues_base_base64url_digits[p[i] & 0x7f];
        wrong |= (p[i] & 0x80) | (c & 64);
        bits = bits << 6 | c;

        switch (i % 4) {

        case 1:
            *dst++ = (u_char) (bits >> 4);
            bits &= 0x0f;
            break;

        case 2:
            *dst++ = (u_char) (bits >> 2);
            bits &= 0x03;
            break;

        case 3:
            *dst++ = (u_char) bits;
            bits = 0;
        }
    }

    if (wrong || bits) {
        return NGX_ERROR;
    }

    *len = dst - start;

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_hex_parse(ngx_str_t *text, u_char *dst)
{
    u_char     *p, *last;
    ngx_int_t   high, low;

    if (text->len % 2) {
        return NGX_ERROR;
    }

    p = text->data;
    last = p + text->len;

    for ( /* void */ ; p < last; p += 2) {
        high = ngx_queues_base_hex_digit(p[0]);
        low = ngx_queues_base_hex_digit(p[1]);

        if (high == NGX_ERROR || low == NGX_ERROR) {
            return NGX_ERROR;
        }

        *dst++ = (u_char) (high << 4 | low);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_hex_digit(u_char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }

    c |= 0x20;

    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }

    return NGX_ERROR;
}


ngx_int_t
ngx_queues_base_decimal_parse(ngx_str_t *text, uint64_t *n)
{
    u_char    *p, *last;
    uint64_t   sum, digit;

    if (text->len == 0) {
        return NGX_ERROR;
    }

    p = text->data;
    last = p + text->len;

    for (sum = 0; p < last; p++) {
        if (*p < '0' || *p > '9') {
            return NGX_ERROR;
        }

        digit = *p - '0';

        if (sum > (UINT64_MAX - digit) / 10) {
            return NGX_ERROR;
        }

        sum = sum * 10 + digit;
    }

    *n = sum;

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_word(ngx_str_t *text, u_char separator, ngx_str_t *word)
{
    u_char  *last;

    if (text->len == 0) {
        return NGX_ERROR;
    }

    last = ngx_strlchr(text->data, text->data + text->len, separator);

    if (last == NULL) {
        *word = *text;
        text->data += text->len;
        text->len = 0;

        return NGX_OK;
    }

    word->data = text->data;
    word->len = last - text->data;

    text->data += word->len + 1;
    text->len -= word->len + 1;

    return NGX_OK;
}


u_char *
ngx_queues_base_decimal_print(u_char *p, uint64_t n)
{
    u_char  *digit, digits[NGX_QUEUES_BASE_DECIMAL_MAX];
    size_t   len;

    digit = digits + NGX_QUEUES_BASE_DECIMAL_MAX;

    do {
        *--digit = (u_char) ('0' + n % 10);
        n /= 10;
    } while (n);

    len = digits + NGX_QUEUES_BASE_DECIMAL_MAX - digit;

    return ngx_cpymem(p, digit, len);
}


u_char *
ngx_queues_base_time_print(u_char *p, int64_t seconds)
{
    ngx_uint_t  days, clock, era, year, month, day;

    seconds = ngx_max(seconds, 0);
    seconds = ngx_min(seconds, 253402300799);   /* 9999-12-31T23:59:59Z */

    clock = seconds % 86400;

    /*
     * Days from 0000-03-01, in eras of 400 years: with the year beginning in
     * March the leap day is its last one (Hinnant, civil_from_days).
     */

    days = seconds / 86400 + 719468;
    era = days / 146097;
    days = days % 146097;

    year = (days - days / 1460 + days / 36524 - days / 146096) / 365;
    days = days - (365 * year + year / 4 - year / 100);
    month = (5 * days + 2) / 153;
    day = days - (153 * month + 2) / 5 + 1;

    year += era * 400;

    if (month < 10) {
        month += 3;

    } else {
        month -= 9;
        year++;
    }

    p = ngx_queues_base_digits_print(p, year, 4);
    *p++ = '-';
    p = ngx_queues_base_digits_print(p, month, 2);
    *p++ = '-';
    p = ngx_queues_base_digits_print(p, day, 2);
    *p++ = 'T';
    p = ngx_queues_base_digits_print(p, clock / 3600, 2);
    *p++ = ':';
    p = ngx_queues_base_digits_print(p, clock / 60 % 60, 2);
    *p++ = ':';
    p = ngx_queues_base_digits_print(p, clock % 60, 2);
    *p++ = 'Z';

    return p;
}


static u_char *
ngx_queues_base_digits_print(u_char *p, ngx_uint_t n, ngx_uint_t width)
{
    ngx_uint_t  i;

    for (i = width; i > 0; i--) {
        p[i - 1] = (u_char) ('0' + n % 10);
        n /= 10;
    }

    return p + width;
}
