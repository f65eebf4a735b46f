
/*
 * Documents: accepted exactly where a recursive reading of RFC 8259 accepts
 * them, and walked into the same members, which stand within their container
 * and are documents themselves.
 */

#include "fuzz.h"
#include "ngx_queues_base_json.h"


/* members that are compared with each other */
#define FUZZ_KEYS  16


static ngx_uint_t fuzz_walk(ngx_queues_base_json_value_t *value);


static u_char *
fuzz_blanks(u_char *p, u_char *last)
{
    while (p < last && memchr(" \t\n\r", *p, 4)) {
        p++;
    }

    return p;
}


static ngx_uint_t
fuzz_at(u_char *p, u_char *last, const char *text)
{
    size_t  len;

    len = strlen(text);

    return (size_t) (last - p) >= len && memcmp(p, text, len) == 0;
}


/* all of these return the end of what they read at p, or NULL */

static u_char *
fuzz_read_string(u_char *p, u_char *last)
{
    size_t       n;
    uint32_t     c;
    ngx_uint_t   i;

    if (!fuzz_at(p++, last, "\"")) {
        return NULL;
    }

    while (p < last && *p != '"') {

        if (*p != '\\') {
            n = fuzz_utf8(p, last, &c);

            if (n == 0 || c < 0x20) {
                return NULL;
            }

            p += n;
            continue;
        }

        if (++p == last || *p == '\0' || !strchr("\"\\/bfnrtu", *p)) {
            return NULL;
        }

        if (*p++ != 'u') {
            continue;
        }

        for (i = 0; i < 4; i++, p++) {
            if (p == last || !isxdigit(*p)) {
                return NULL;
            }
        }
    }

    return p < last ? p + 1 : NULL;
}


static u_char *
fuzz_read_digits(u_char *p, u_char *last)
{
    u_char  *start;

    for (start = p; p < last && isdigit(*p); p++) { /* void */ }

    return p > start ? p : NULL;
}


static u_char *
fuzz_read_number(u_char *p, u_char *last)
{
    if (fuzz_at(p, last, "-")) {
        p++;
    }

    p = fuzz_at(p, last, "0") ? p + 1 : fuzz_read_digits(p, last);

    if (p && fuzz_at(p, last, ".")) {
        p = fuzz_read_digits(p + 1, last);
    }

    if (p && (fuzz_at(p, last, "e") || fuzz_at(p, last, "E"))) {
        p++;

        if (fuzz_at(p, last, "+") || fuzz_at(p, last, "-")) {
            p++;
        }

        p = fuzz_read_digits(p, last);
    }

    return p;
}


static u_char *fuzz_read_value(u_char *p, u_char *last, ngx_uint_t depth,
    ngx_uint_t *members);


static u_char *
fuzz_read_members(u_char *p, u_char *last, ngx_uint_t depth,
    ngx_uint_t *members)
{
    u_char      close;
    ngx_uint_t  within;

    close = (*p == '{') ? '}' : ']';
    *members = 0;

    p = fuzz_blanks(p + 1, last);

    if (p < last && *p == close) {
        return p + 1;
    }

    for ( ;; ) {
        if (close == '}') {
            p = fuzz_read_string(p, last);
            p = p ? fuzz_blanks(p, last) : NULL;

            if (p == NULL || !fuzz_at(p, last, ":")) {
                return NULL;
            }

            p = fuzz_blanks(p + 1, last);
        }

        p = fuzz_read_value(p, last, depth + 1, &within);

        if (p == NULL) {
            return NULL;
        }

        (*members)++;
        p = fuzz_blanks(p, last);

        if (p < last && *p == close) {
            return p + 1;
        }

        if (!fuzz_at(p, last, ",")) {
            return NULL;
        }

        p = fuzz_blanks(p + 1, last);
    }
}


static u_char *
fuzz_read_value(u_char *p, u_char *last, ngx_uint_t depth,
    ngx_uint_t *members)
{
    ngx_uint_t                i;
    static const char *const  words[] = { "true", "false", "null" };

    *members = 0;

    if (fuzz_at(p, last, "\"")) {
        return fuzz_read_string(p, last);
    }

    if (fuzz_at(p, last, "{") || fuzz_at(p, last, "[")) {
        return depth == NGX_QUEUES_BASE_JSON_DEPTH
               ? NULL : fuzz_read_members(p, last, depth, members);
    }

    for (i = 0; i < 3; i++) {
        if (fuzz_at(p, last, words[i])) {
            return p + strlen(words[i]);
        }
    }

    return fuzz_read_number(p, last);
}


/* -999999999999999 to 999999999999999 as C reads it */

static void
fuzz_check_integer(ngx_queues_base_json_value_t *value)
{
    char        digits[32];
    size_t      len;
    int64_t     n;
    ngx_int_t   rc;

    n = 12345;
    rc = ngx_queues_base_json_integer(value, &n);

    len = value->raw.len;

    if (value->type != NGX_QUEUES_BASE_JSON_NUMBER || len > 16) {
        fuzz_assert(rc == NGX_ERROR && n == 12345);
        return;
    }

    memcpy(digits, value->raw.data, len);
    digits[len] = '\0';

    if (strspn(digits + (digits[0] == '-'), "0123456789")
        != len - (digits[0] == '-')
        || len - (digits[0] == '-') > 15)
    {
        fuzz_assert(rc == NGX_ERROR && n == 12345);
        return;
    }

    fuzz_assert(rc == NGX_OK && n == strtoll(digits, NULL, 10));
}


/* a UTF-16 unit, escaped at p */

static ngx_uint_t
fuzz_unit(u_char *p, u_char *last, uint32_t *unit)
{
    char  digits[5];

    if (last - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return 0;
    }

    memcpy(digits, p + 2, 4);
    digits[4] = '\0';
    *unit = strtoul(digits, NULL, 16);

    return 1;
}


static u_char *
fuzz_write_utf8(u_char *p, uint32_t c)
{
    ngx_uint_t           n;
    static const u_char  first[] = { 0, 0xc0, 0xe0, 0xf0 };

    n = (c < 0x80) ? 0 : (c < 0x800) ? 1 : (c < 0x10000) ? 2 : 3;

    *p++ = first[n] + (c >> 6 * n);

    while (n--) {
        *p++ = 0x80 + (c >> 6 * n) % 0x40;
    }

    return p;
}


/* as the decoder should do it: all of a string by its characters */

static ngx_str_t
fuzz_decode(ngx_str_t *raw)
{
    u_char      *p, *last, *dst;
    uint32_t     c, low;
    ngx_str_t    text;
    const char  *letter;

    static const char  letters[] = "b\bf\fn\nr\rt\t";

    text.data = fuzz_alloc(raw->len);
    dst = text.data;

    p = raw->data;
    last = p + raw->len;

    while (p < last) {
        if (*p != '\\') {
            *dst++ = *p++;
            continue;
        }

        if (!fuzz_unit(p, last, &c)) {
            letter = strchr(letters, p[1]);
            *dst++ = letter ? letter[1] : p[1];
            p += 2;
            continue;
        }

        p += 6;

        if (c >> 10 == 0x36 && fuzz_unit(p, last, &low) && low >> 10 == 0x37) {
            c = 0x10000 + (c - 0xd800) * 0x400 + (low - 0xdc00);
            p += 6;
        }

        dst = fuzz_write_utf8(dst, c);
    }

    text.len = dst - text.data;

    return text;
}


static void
fuzz_check_string(ngx_str_t *raw)
{
    u_char     *p;
    ngx_str_t   decoded, copy, expected;

    decoded.len = ngx_queues_base_json_decoded_length(raw);
    fuzz_assert(decoded.len <= raw->len);

    decoded.data = fuzz_alloc(decoded.len);
    p = ngx_queues_base_json_decode(decoded.data, raw);
    fuzz_assert(p == decoded.data + decoded.len);

    copy = fuzz_copy(raw->data, raw->len);
    p = ngx_queues_base_json_decode(copy.data, &copy);
    copy.len = p - copy.data;
    fuzz_assert(fuzz_same(&copy, &decoded));

    expected = fuzz_decode(raw);
    fuzz_assert(fuzz_same(&expected, &decoded));

    free(expected.data);
    free(copy.data);
    free(decoded.data);
}


/* keys are equal where their decoded texts are */

static void
fuzz_check_equal(ngx_str_t *a, ngx_str_t *b)
{
    ngx_str_t   a_copy, b_copy;
    ngx_uint_t  equal;

    equal = ngx_queues_base_json_equal(a, b);
    fuzz_assert(equal == ngx_queues_base_json_equal(b, a));

    a_copy = fuzz_copy(a->data, a->len);
    b_copy = fuzz_copy(b->data, b->len);

    a_copy.len = ngx_queues_base_json_decode(a_copy.data, a) - a_copy.data;
    b_copy.len = ngx_queues_base_json_decode(b_copy.data, b) - b_copy.data;

    fuzz_assert(equal == fuzz_same(&a_copy, &b_copy));

    free(a_copy.data);
    free(b_copy.data);
}


/* with its quotes a value is a document of its own, of the same span */

static void
fuzz_check_value(ngx_queues_base_json_value_t *value)
{
    size_t                        quote;
    ngx_str_t                     text;
    ngx_uint_t                    members;
    const char                   *error;
    ngx_queues_base_json_value_t  again;

    quote = (value->type == NGX_QUEUES_BASE_JSON_STRING);

    text = fuzz_copy(value->raw.data - quote, value->raw.len + 2 * quote);

    fuzz_assert(ngx_queues_base_json_parse(&text, &again, &error) == NGX_OK);
    fuzz_assert(again.type == value->type);
    fuzz_assert(again.raw.data == text.data + quote);
    fuzz_assert(again.raw.len == value->raw.len);

    fuzz_assert(fuzz_read_value(text.data, text.data + text.len, 0, &members)
                == text.data + text.len);

    if (value->type >= NGX_QUEUES_BASE_JSON_ARRAY) {
        fuzz_assert(fuzz_walk(&again) == members);
    }

    if (quote) {
        fuzz_check_string(&again.raw);
    }

    fuzz_check_integer(&again);

    free(text.data);
}


static ngx_uint_t
fuzz_walk(ngx_queues_base_json_value_t *value)
{
    u_char                        *p, *last;
    ngx_str_t                      key, keys[FUZZ_KEYS];
    ngx_uint_t                     i, n;
    ngx_queues_base_json_iter_t    it, other;
    ngx_queues_base_json_value_t   member, same;

    p = value->raw.data + 1;
    last = value->raw.data + value->raw.len - 1;

    ngx_queues_base_json_open(&it, value);
    other = it;

    for (n = 0; ngx_queues_base_json_next(&it, &key, &member) == NGX_OK; n++) {

        fuzz_assert(ngx_queues_base_json_next(&other, NULL, &same) == NGX_OK);
        fuzz_assert(same.raw.data == member.raw.data
                    && same.raw.len == member.raw.len);

        fuzz_assert(key.data >= p && key.data + key.len <= member.raw.data);
        fuzz_assert(member.raw.data + member.raw.len <= last);
        fuzz_assert(value->type == NGX_QUEUES_BASE_JSON_OBJECT || !key.len);

        p = member.raw.data + member.raw.len;

        fuzz_check_value(&member);

        if (value->type == NGX_QUEUES_BASE_JSON_OBJECT && n < FUZZ_KEYS) {
            keys[n] = key;

            for (i = 0; i <= n; i++) {
                fuzz_check_equal(&keys[i], &key);
            }
        }
    }

    fuzz_assert(it.pos == last);
    fuzz_assert(ngx_queues_base_json_next(&it, &key, &member) == NGX_DONE);

    return n;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char                        *p, *last, *end;
    ngx_int_t                      rc;
    ngx_str_t                      text;
    ngx_uint_t                     members;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    text.data = (u_char *) data;
    text.len = size;

    last = text.data + text.len;
    p = fuzz_blanks(text.data, last);
    end = (p < last) ? fuzz_read_value(p, last, 0, &members) : NULL;

    error = NULL;
    rc = ngx_queues_base_json_parse(&text, &value, &error);

    if (end == NULL || fuzz_blanks(end, last) != last) {
        fuzz_assert(rc == NGX_ERROR && error && *error);
        return 0;
    }

    fuzz_assert(rc == NGX_OK);
    fuzz_assert(value.type == ngx_queues_base_json_type(*p));

    if (value.type == NGX_QUEUES_BASE_JSON_STRING) {
        p++;
        end--;
    }

    fuzz_assert(value.raw.data == p && value.raw.len == (size_t) (end - p));

    fuzz_check_value(&value);

    return 0;
}
