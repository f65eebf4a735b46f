
#include "unit.h"
#include "ngx_queues_base_json.h"


typedef struct {
    ngx_str_t    text;
    const char  *error;     /* what the reason has in it; NULL: accepted */
} unit_json_t;


static unit_json_t  unit_texts[] = {

    /* values */

    { ngx_string("null"), NULL },
    { ngx_string("true"), NULL },
    { ngx_string("false"), NULL },
    { ngx_string("0"), NULL },
    { ngx_string("\"\""), NULL },
    { ngx_string("[]"), NULL },
    { ngx_string("{}"), NULL },
    { ngx_string(" \t\r\n null \t\r\n "), NULL },
    { ngx_string("[ ]"), NULL },
    { ngx_string("{ }"), NULL },
    { ngx_string("[[]]"), NULL },
    { ngx_string("[{}]"), NULL },
    { ngx_string("[null,true,false,1,\"\",[],{}]"), NULL },
    { ngx_string(" [ 1 , 2 ] "), NULL },
    { ngx_string("{\"\":0}"), NULL },
    { ngx_string("{\"a\":1,\"a\":2}"), NULL },
    { ngx_string(" { \"a\" : [ { } , [ ] ] , \"b\" : { \"c\" : null } } "),
      NULL },
    { ngx_string("{\"a\\u0000b\":1}"), NULL },
    { ngx_string(""), "empty" },
    { ngx_string(" "), "empty" },
    { ngx_string("\n\t\r "), "empty" },
    { ngx_string("nul"), "unknown" },
    { ngx_string("nulL"), "unknown" },
    { ngx_string("Null"), "unknown" },
    { ngx_string("nullx"), "after its end" },
    { ngx_string("tru"), "unknown" },
    { ngx_string("True"), "unknown" },
    { ngx_string("truex"), "after its end" },
    { ngx_string("fals"), "unknown" },
    { ngx_string("FALSE"), "unknown" },
    { ngx_string("nan"), "unknown" },
    { ngx_string("NaN"), "unknown" },
    { ngx_string("Infinity"), "unknown" },
    { ngx_string("-Infinity"), "unknown" },
    { ngx_string("undefined"), "unknown" },
    { ngx_string("'a'"), "unknown" },
    { ngx_string("a"), "unknown" },
    { ngx_string("*"), "unknown" },
    { ngx_string("<null>"), "unknown" },
    { ngx_string("\xc3\xa4"), "unknown" },
    { ngx_string("\xff"), "unknown" },
    { ngx_string("\0"), "unknown" },

    /* around a value */

    { ngx_string("\xef\xbb\xbf{}"), "byte order mark" },
    { ngx_string("\xef\xbb\xbf"), "byte order mark" },
    { ngx_string(" \xef\xbb\xbf{}"), "unknown" },
    { ngx_string("{}\xef\xbb\xbf"), "after its end" },
    { ngx_string("{\"a\":1} xyz"), "after its end" },
    { ngx_string("{\"a\":1}{\"b\":2}"), "after its end" },
    { ngx_string("[]]"), "after its end" },
    { ngx_string("{}}"), "after its end" },
    { ngx_string("1 2"), "after its end" },
    { ngx_string("1,"), "after its end" },
    { ngx_string("\"a\" \"b\""), "after its end" },
    { ngx_string("\"a\"x"), "after its end" },
    { ngx_string("{}#"), "after its end" },
    { ngx_string("[] // no"), "after its end" },
    { ngx_string("/* no */ []"), "unknown" },
    { ngx_string("null\0"), "after its end" },
    { ngx_string("[]\0"), "after its end" },
    { ngx_string("null\f"), "after its end" },
    { ngx_string("\v[]"), "unknown" },
    { ngx_string("[\xc2\xa0]"), "unknown" },
    { ngx_string("[\xe2\x80\xa8]"), "unknown" },
    { ngx_string("[\f]"), "unknown" },
    { ngx_string("[\0]"), "unknown" },

    /* arrays */

    { ngx_string("["), "too early" },
    { ngx_string("[1"), "too early" },
    { ngx_string("[1,"), "too early" },
    { ngx_string("[[]"), "too early" },
    { ngx_string("[1,]"), "unknown" },
    { ngx_string("[,1]"), "unknown" },
    { ngx_string("[,]"), "unknown" },
    { ngx_string("[1,,2]"), "unknown" },
    { ngx_string("[1 2]"), "comma" },
    { ngx_string("[1 true]"), "comma" },
    { ngx_string("[\"a\" \"b\"]"), "comma" },
    { ngx_string("[1:2]"), "comma" },
    { ngx_string("[\"a\":1]"), "comma" },
    { ngx_string("[1}"), "comma" },
    { ngx_string("[}"), "unknown" },
    { ngx_string("[1;2]"), "comma" },
    { ngx_string("]"), "unknown" },
    { ngx_string("[[1],]"), "unknown" },
    { ngx_string("[[1][2]]"), "comma" },

    /* objects */

    { ngx_string("{"), "too early" },
    { ngx_string("{\"a\""), "colon" },
    { ngx_string("{\"a\":"), "too early" },
    { ngx_string("{\"a\":1"), "too early" },
    { ngx_string("{\"a\":1,"), "too early" },
    { ngx_string("{\"a\":1,}"), "key" },
    { ngx_string("{,\"a\":1}"), "key" },
    { ngx_string("{\"a\":1,,\"b\":2}"), "key" },
    { ngx_string("{\"a\" 1}"), "colon" },
    { ngx_string("{\"a\",1}"), "colon" },
    { ngx_string("{\"a\"::1}"), "unknown" },
    { ngx_string("{\"a\":}"), "unknown" },
    { ngx_string("{:1}"), "key" },
    { ngx_string("{a:1}"), "key" },
    { ngx_string("{'a':1}"), "key" },
    { ngx_string("{1:1}"), "key" },
    { ngx_string("{null:1}"), "key" },
    { ngx_string("{[]:1}"), "key" },
    { ngx_string("{\"a\"}"), "colon" },
    { ngx_string("{\"a\":1]"), "comma" },
    { ngx_string("{\"a\":1 \"b\":2}"), "comma" },
    { ngx_string("{\"a\":1:2}"), "comma" },
    { ngx_string("{]"), "key" },
    { ngx_string("}"), "unknown" },
    { ngx_string("{\"a\":\"b\"}/**/"), "after its end" },
    { ngx_string("{\"a"), "does not end" },
    { ngx_string("{\"a\\x\":1}"), "escape" },
    { ngx_string("{\"a\x01\":1}"), "control" },
    { ngx_string("{\"\xff\":1}"), "UTF-8" },

    /* numbers */

    { ngx_string("-0"), NULL },
    { ngx_string("1"), NULL },
    { ngx_string("-1"), NULL },
    { ngx_string("1234567890"), NULL },
    { ngx_string("0.0"), NULL },
    { ngx_string("-0.5"), NULL },
    { ngx_string("1.000"), NULL },
    { ngx_string("0e0"), NULL },
    { ngx_string("0E+1"), NULL },
    { ngx_string("1e-02"), NULL },
    { ngx_string("1E400"), NULL },
    { ngx_string("-1e-400"), NULL },
    { ngx_string("1.5e+300"), NULL },
    { ngx_string("9007199254740993"), NULL },
    { ngx_string("123456789012345678901234567890"), NULL },
    { ngx_string("0.10000000000000000000000000000000001"), NULL },
    { ngx_string("[1,-1,0.5,1e1]"), NULL },
    { ngx_string("01"), "zero" },
    { ngx_string("00"), "zero" },
    { ngx_string("-01"), "zero" },
    { ngx_string("-012"), "zero" },
    { ngx_string("00.5"), "zero" },
    { ngx_string("[01]"), "zero" },
    { ngx_string("1."), "point" },
    { ngx_string("1.e1"), "point" },
    { ngx_string("[1.]"), "point" },
    { ngx_string("-1.x"), "point" },
    { ngx_string("1.2.3"), "after its end" },
    { ngx_string(".5"), "unknown" },
    { ngx_string("-.5"), "unknown" },
    { ngx_string("+1"), "unknown" },
    { ngx_string("++1"), "unknown" },
    { ngx_string("-"), "unknown" },
    { ngx_string("--1"), "unknown" },
    { ngx_string("- 1"), "unknown" },
    { ngx_string("[-]"), "unknown" },
    { ngx_string("1e"), "exponent" },
    { ngx_string("1e+"), "exponent" },
    { ngx_string("1E-"), "exponent" },
    { ngx_string("1e+-1"), "exponent" },
    { ngx_string("1ee1"), "exponent" },
    { ngx_string("1.5ex"), "exponent" },
    { ngx_string("[1e]"), "exponent" },
    { ngx_string("1e1.5"), "after its end" },
    { ngx_string("0x1f"), "after its end" },
    { ngx_string("1_000"), "after its end" },
    { ngx_string("1 000"), "after its end" },
    { ngx_string("1a"), "after its end" },
    { ngx_string("-1-1"), "after its end" },
    { ngx_string("\xef\xbc\x91"), "unknown" },

    /* strings */

    { ngx_string("\"a\""), NULL },
    { ngx_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), NULL },
    { ngx_string("\"\\u0000\""), NULL },
    { ngx_string("\"\\u001F\\u00aF\\uFFFF\\uABCD\\uef01\""), NULL },
    { ngx_string("\"\\ud83d\\ude00\""), NULL },
    { ngx_string("\"\\ud800\""), NULL },
    { ngx_string("\"\\udfff\""), NULL },
    { ngx_string("\"\\ud800\\ud800\""), NULL },
    { ngx_string("\"\\ude00\\ud83d\""), NULL },
    { ngx_string("\"\\ud800x\""), NULL },
    { ngx_string("\"\\ud800\\n\""), NULL },
    { ngx_string("\"\x7f\""), NULL },
    { ngx_string("\"/\""), NULL },
    { ngx_string("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\""), NULL },
    { ngx_string("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""), NULL },
    { ngx_string("\"\xed\x9f\xbf\xee\x80\x80\""), NULL },
    { ngx_string("\"\xef\xbb\xbf\""), NULL },
    { ngx_string("\"\xe2\x80\xa8\xe2\x80\xa9\""), NULL },
    { ngx_string("\"// no /* comment */\""), NULL },
    { ngx_string("\"a\xc3\xa4" "b\xe2\x82\xac" "c\xf0\x9f\x98\x80\""), NULL },
    { ngx_string("\""), "does not end" },
    { ngx_string("\"a"), "does not end" },
    { ngx_string("\"abcdefgh"), "does not end" },
    { ngx_string("[\"a]"), "does not end" },
    { ngx_string("\"\\"), "does not end" },
    { ngx_string("\"\\\""), "does not end" },
    { ngx_string("\"\xc3\xa4"), "does not end" },
    { ngx_string("\"\\a\""), "escape" },
    { ngx_string("\"\\'\""), "escape" },
    { ngx_string("\"\\0\""), "escape" },
    { ngx_string("\"\\x41\""), "escape" },
    { ngx_string("\"\\U0041\""), "escape" },
    { ngx_string("\"\\N\""), "escape" },
    { ngx_string("\"\\\n\""), "escape" },
    { ngx_string("\"\\\xc3\xa4\""), "escape" },
    { ngx_string("\"\\\0\""), "escape" },
    { ngx_string("\"\\u\""), "escape" },
    { ngx_string("\"\\u1\""), "escape" },
    { ngx_string("\"\\u12\""), "escape" },
    { ngx_string("\"\\u123\""), "escape" },
    { ngx_string("\"\\u123"), "escape" },
    { ngx_string("\"\\u"), "escape" },
    { ngx_string("\"\\uzzzz\""), "escape" },
    { ngx_string("\"\\u000g\""), "escape" },
    { ngx_string("\"\\u+123\""), "escape" },
    { ngx_string("\"\\u 123\""), "escape" },
    { ngx_string("\"\\u00\\u0041\""), "escape" },
    { ngx_string("\"\t\""), "control" },
    { ngx_string("\"\n\""), "control" },
    { ngx_string("\"\r\""), "control" },
    { ngx_string("\"\x01\""), "control" },
    { ngx_string("\"\x1f\""), "control" },
    { ngx_string("\"\0\""), "control" },
    { ngx_string("\"ab\0cd\""), "control" },
    { ngx_string("\"abcdefghijk\x1f\""), "control" },
    { ngx_string("\"\xc3\xa4\x01\""), "control" },
    { ngx_string("\"\xff\""), "UTF-8" },
    { ngx_string("\"\xfe\xff\""), "UTF-8" },
    { ngx_string("\"\x80\""), "UTF-8" },
    { ngx_string("\"\xbf\""), "UTF-8" },
    { ngx_string("\"\xc0\x80\""), "UTF-8" },
    { ngx_string("\"\xc0\xaf\""), "UTF-8" },
    { ngx_string("\"\xc1\xbf\""), "UTF-8" },
    { ngx_string("\"\xc3\""), "UTF-8" },
    { ngx_string("\"\xc3"), "UTF-8" },
    { ngx_string("\"\xc3(\""), "UTF-8" },
    { ngx_string("\"\xe0\x80\xaf\""), "UTF-8" },
    { ngx_string("\"\xe0\x9f\xbf\""), "UTF-8" },
    { ngx_string("\"\xe2\x82\""), "UTF-8" },
    { ngx_string("\"\xe2\x82"), "UTF-8" },
    { ngx_string("\"\xed\xa0\x80\""), "UTF-8" },
    { ngx_string("\"\xed\xbf\xbf\""), "UTF-8" },
    { ngx_string("\"\xed\xa0\xbd\xed\xb8\x80\""), "UTF-8" },
    { ngx_string("\"\xf0\x80\x80\x80\""), "UTF-8" },
    { ngx_string("\"\xf0\x8f\xbf\xbf\""), "UTF-8" },
    { ngx_string("\"\xf0\x9f\x98\""), "UTF-8" },
    { ngx_string("\"\xf4\x90\x80\x80\""), "UTF-8" },
    { ngx_string("\"\xf5\x80\x80\x80\""), "UTF-8" },
    { ngx_string("\"\xf8\x88\x80\x80\x80\""), "UTF-8" },
    { ngx_string("\"abcdefg\xe4\""), "UTF-8" },
    { ngx_string("{\"body\":\"\xff\xc0\x80\xed\xa0\x80\"}"), "UTF-8" },

    /* UTF-16 */

    { ngx_string("\xff\xfe[\0]\0"), "unknown" },
    { ngx_string("\0[\0]"), "unknown" },
    { ngx_string("[\0]\0"), "unknown" }
};


/* walks all that the value holds; returns how many values, 0 on disorder */

static ngx_uint_t
unit_walk(ngx_queues_base_json_value_t *value)
{
    u_char                       *decoded, *end;
    int64_t                       n;
    ngx_str_t                     key;
    ngx_uint_t                    count, inner;
    ngx_queues_base_json_iter_t   it;
    ngx_queues_base_json_value_t  member;

    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {
        decoded = malloc(ngx_queues_base_json_decoded_length(&value->raw) + 1);
        end = ngx_queues_base_json_decode(decoded, &value->raw);

        count = ((size_t) (end - decoded)
                 == ngx_queues_base_json_decoded_length(&value->raw));

        free(decoded);
        return count;
    }

    (void) ngx_queues_base_json_integer(value, &n);

    if (value->type < NGX_QUEUES_BASE_JSON_ARRAY) {
        return 1;
    }

    count = 1;
    ngx_queues_base_json_open(&it, value);

    while (ngx_queues_base_json_next(&it, &key, &member) == NGX_OK) {

        if (!ngx_queues_base_json_equal(&key, &key)
            || member.raw.data < value->raw.data
            || member.raw.data + member.raw.len
               >= value->raw.data + value->raw.len)
        {
            return 0;
        }

        inner = unit_walk(&member);
        if (inner == 0) {
            return 0;
        }

        count += inner;
    }

    return (ngx_queues_base_json_next(&it, NULL, &member) == NGX_DONE)
           ? count : 0;
}


static void
unit_text_table(void)
{
    ngx_str_t                      text;
    ngx_int_t                      rc;
    ngx_uint_t                     i, ok;
    const char                    *error, *expected;
    ngx_queues_base_json_value_t   value;

    for (i = 0; i < UNIT_ROWS(unit_texts); i++) {
        text = unit_copy(&unit_texts[i].text);
        expected = unit_texts[i].error;
        error = NULL;

        rc = ngx_queues_base_json_parse(&text, &value, &error);

        if (expected) {
            ok = (rc == NGX_ERROR && error && strstr(error, expected));

        } else {
            ok = (rc == NGX_OK && unit_walk(&value) != 0);
        }

        unit_ok(ok, expected ? expected : "accepted", &text);

        free(text.data);
    }
}


/* every byte at every place of a string, the skipper takes 8 at a time */

static void
unit_bytes(void)
{
    size_t                         len, at;
    ngx_str_t                      text;
    ngx_int_t                      rc;
    ngx_uint_t                     c, bad;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    bad = 0;

    for (len = 1; len < 27; len++) {
        text.len = len + 2;
        text.data = malloc(text.len);

        for (at = 1; at <= len; at++) {
            for (c = 0; c < 256; c++) {
                ngx_memset(text.data, 'z', text.len);
                text.data[0] = '"';
                text.data[len + 1] = '"';
                text.data[at] = (u_char) c;

                rc = ngx_queues_base_json_parse(&text, &value, &error);

                bad += ((rc == NGX_OK)
                        != (c >= 0x20 && c < 0x80 && c != '"' && c != '\\'));
            }
        }

        free(text.data);
    }

    unit_ok(bad == 0, "every byte at every place of a string", NULL);
}


static ngx_int_t
unit_nested(size_t depth, const char *open, const char *close,
    const char *inner)
{
    char                          *p, *start;
    size_t                         i;
    ngx_str_t                      text;
    ngx_int_t                      rc;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    start = p = malloc(depth * (strlen(open) + strlen(close))
                       + strlen(inner) + 1);

    for (i = 0; i < depth; i++) {
        p = stpcpy(p, open);
    }

    p = stpcpy(p, inner);

    for (i = 0; i < depth; i++) {
        p = stpcpy(p, close);
    }

    text.data = (u_char *) start;
    text.len = p - start;
    text = unit_copy(&text);
    free(start);

    rc = ngx_queues_base_json_parse(&text, &value, &error);

    if (rc == NGX_OK) {
        rc = unit_walk(&value) ? NGX_OK : NGX_DECLINED;

    } else if (strstr(error, "deep")) {
        rc = NGX_ABORT;
    }

    free(text.data);

    return rc;
}


static void
unit_depths(void)
{
    unit_ok(unit_nested(64, "[", "]", "") == NGX_OK, "64 arrays", NULL);
    unit_ok(unit_nested(65, "[", "]", "") == NGX_ABORT, "65 arrays", NULL);
    unit_ok(unit_nested(64, "{\"a\":", "}", "1") == NGX_OK, "64 objects", NULL);
    unit_ok(unit_nested(65, "{\"a\":", "}", "1") == NGX_ABORT, "65 objects",
            NULL);
    unit_ok(unit_nested(32, "[{\"a\":", "}]", "[]") == NGX_ABORT, "65 mixed",
            NULL);
    unit_ok(unit_nested(32, "[1,{\"b\":0,\"a\":", ",\"c\":[]},{}]", "\"x\"")
            == NGX_ABORT, "65 mixed by a sibling", NULL);
    unit_ok(unit_nested(31, "[1,{\"b\":0,\"a\":", ",\"c\":[]},{}]", "{}")
            == NGX_OK, "63 mixed", NULL);
    unit_ok(unit_nested(64, "[", "}", "") == NGX_ERROR, "64 mismatched", NULL);
    unit_ok(unit_nested(100000, "[", "]", "") == NGX_ABORT, "100000 arrays",
            NULL);
    unit_ok(unit_nested(100000, "{\"a\":", "}", "1") == NGX_ABORT,
            "100000 objects", NULL);
    unit_ok(unit_nested(30000, "", ",[],{}]", "[0") == NGX_ERROR,
            "closed too often", NULL);
}


static void
unit_large(void)
{
    char                          *p, *start;
    ngx_str_t                      text, key;
    ngx_uint_t                     i, n;
    const char                    *error;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value, member;

    start = p = malloc(100000 * 20);

    for (i = 0; i < 100000; i++) {
        p += sprintf(p, "%s\"k%u\":[%u]", i ? ", " : "{", (unsigned) i,
                     (unsigned) i);
    }

    *p++ = '}';

    text.data = (u_char *) start;
    text.len = p - start;

    n = 0;

    if (ngx_queues_base_json_parse(&text, &value, &error) == NGX_OK) {
        ngx_queues_base_json_open(&it, &value);

        while (ngx_queues_base_json_next(&it, &key, &member) == NGX_OK) {
            n += (key.len - 1 == member.raw.len - 2
                  && memcmp(key.data + 1, member.raw.data + 1, key.len - 1)
                     == 0);
        }
    }

    unit_ok(n == 100000, "an object of 100000 keys", NULL);

    free(start);
}


static void
unit_members(void)
{
    ngx_str_t                      key;
    ngx_uint_t                     i, bad;
    const char                    *error;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value, member;

    static ngx_str_t  text = ngx_string(" { \"a\" : \"x\\\"}\" ,\n"
        "\"b\\\\\":[1,{\"]\":2}] , \"\":-1.5e3,\"d\":{\"e\":\"\"}, \"f\":null,"
        "\"g\": true ,\"h\":false} ");

    static struct {
        const char                   *key;
        ngx_queues_base_json_type_e   type;
        const char                   *raw;
    } rows[] = {
        { "a", NGX_QUEUES_BASE_JSON_STRING, "x\\\"}" },
        { "b\\\\", NGX_QUEUES_BASE_JSON_ARRAY, "[1,{\"]\":2}]" },
        { "", NGX_QUEUES_BASE_JSON_NUMBER, "-1.5e3" },
        { "d", NGX_QUEUES_BASE_JSON_OBJECT, "{\"e\":\"\"}" },
        { "f", NGX_QUEUES_BASE_JSON_NULL, "null" },
        { "g", NGX_QUEUES_BASE_JSON_TRUE, "true" },
        { "h", NGX_QUEUES_BASE_JSON_FALSE, "false" }
    };

    bad = (ngx_queues_base_json_parse(&text, &value, &error) != NGX_OK
           || value.type != NGX_QUEUES_BASE_JSON_OBJECT
           || value.raw.data != text.data + 1
           || value.raw.len != text.len - 2);

    unit_ok(!bad, "a document's value is without its blanks", NULL);

    ngx_queues_base_json_open(&it, &value);

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        bad = (ngx_queues_base_json_next(&it, &key, &member) != NGX_OK
               || member.type != rows[i].type
               || key.len != strlen(rows[i].key)
               || memcmp(key.data, rows[i].key, key.len) != 0
               || member.raw.len != strlen(rows[i].raw)
               || memcmp(member.raw.data, rows[i].raw, member.raw.len) != 0);

        unit_ok(!bad, "member", &key);
    }

    unit_ok(ngx_queues_base_json_next(&it, &key, &member) == NGX_DONE,
            "no more members", NULL);
    unit_ok(ngx_queues_base_json_next(&it, NULL, &member) == NGX_DONE,
            "still no more", NULL);
}


/* as a name is kept, whatever its spelling */

static struct {
    ngx_str_t   raw;
    ngx_str_t   text;
} unit_canonical_strings[] = {
    { ngx_string(""), ngx_string("") },
    { ngx_string("a\\/\\u0062\\u0022\\\\"), ngx_string("a/b\\\"\\\\") },
    { ngx_string("\\u0000\\u0009\\u001F\\u007f"),
      ngx_string("\\u0000\\t\\u001f\x7f") },
    { ngx_string("\\u00e9\xc3\xa9\\uD83D\\uDE00"),
      ngx_string("\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80") },
    { ngx_string("\\uD800"), ngx_string("\\ud800") },
    { ngx_string("a\\udc00\\ud83d\\ud83d\\ude00"),
      ngx_string("a\\udc00\\ud83d\xf0\x9f\x98\x80") },
    { ngx_string("\\ufffd"), ngx_string("\xef\xbf\xbd") }
};


static void
unit_canonical(void)
{
    u_char      *p, *end;
    ngx_str_t    raw, *expected;
    ngx_uint_t   i;

    for (i = 0; i < UNIT_ROWS(unit_canonical_strings); i++) {
        expected = &unit_canonical_strings[i].text;

        raw = unit_copy(&unit_canonical_strings[i].raw);
        p = malloc(raw.len + 1);

        end = ngx_queues_base_json_canonical(p, &raw);

        unit_ok((size_t) (end - p) == expected->len
                && memcmp(p, expected->data, expected->len) == 0,
                "canonical", &unit_canonical_strings[i].raw);

        free(raw.data);
        free(p);
    }
}


static struct {
    ngx_str_t   raw;
    ngx_str_t   decoded;
} unit_strings[] = {
    { ngx_string(""), ngx_string("") },
    { ngx_string("abc"), ngx_string("abc") },
    { ngx_string("\\\"\\\\\\/\\b\\f\\n\\r\\t"), ngx_string("\"\\/\b\f\n\r\t") },
    { ngx_string("\\u0062ody"), ngx_string("body") },
    { ngx_string("ab\\u0000cd"), ngx_string("ab\0cd") },
    { ngx_string("\\u007f\\u0080\\u07ff\\u0800"),
      ngx_string("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80") },
    { ngx_string("\\uFFFF\\uffff"), ngx_string("\xef\xbf\xbf\xef\xbf\xbf") },
    { ngx_string("\\uABCD\\uabcd"), ngx_string("\xea\xaf\x8d\xea\xaf\x8d") },
    { ngx_string("\\ud83d\\ude00"), ngx_string("\xf0\x9f\x98\x80") },
    { ngx_string("\\uD800\\uDC00"), ngx_string("\xf0\x90\x80\x80") },
    { ngx_string("\\udbff\\udfff"), ngx_string("\xf4\x8f\xbf\xbf") },
    { ngx_string("\\ud800"), ngx_string("\xed\xa0\x80") },
    { ngx_string("\\udfff"), ngx_string("\xed\xbf\xbf") },
    { ngx_string("\\ud83dx"), ngx_string("\xed\xa0\xbdx") },
    { ngx_string("\\ud83d\\n"), ngx_string("\xed\xa0\xbd\n") },
    { ngx_string("\\ud83d\\\\ude00"), ngx_string("\xed\xa0\xbd\\ude00") },
    { ngx_string("\\ud83d\\u0041"), ngx_string("\xed\xa0\xbd" "A") },
    { ngx_string("\\ud83dxxxxxx"), ngx_string("\xed\xa0\xbdxxxxxx") },
    { ngx_string("\\ud83d\\ud83d\\ude00"),
      ngx_string("\xed\xa0\xbd\xf0\x9f\x98\x80") },
    { ngx_string("\\ude00\\ud83d"), ngx_string("\xed\xb8\x80\xed\xa0\xbd") },
    { ngx_string("\xc3\xa4\\u00e4\xf0\x9f\x98\x80"),
      ngx_string("\xc3\xa4\xc3\xa4\xf0\x9f\x98\x80") },
    { ngx_string("\\\\u0041"), ngx_string("\\u0041") },
    { ngx_string("a long run before \\t and a long run behind it"),
      ngx_string("a long run before \t and a long run behind it") }
};


static void
unit_decoding(void)
{
    u_char      *decoded, *end;
    size_t       len;
    ngx_str_t    raw, *expected;
    ngx_uint_t   i, ok;

    for (i = 0; i < UNIT_ROWS(unit_strings); i++) {
        expected = &unit_strings[i].decoded;

        raw = unit_copy(&unit_strings[i].raw);
        len = ngx_queues_base_json_decoded_length(&raw);
        decoded = malloc(len + 1);

        end = ngx_queues_base_json_decode(decoded, &raw);

        ok = (len == expected->len && (size_t) (end - decoded) == len
              && memcmp(decoded, expected->data, len) == 0);

        /* in place */

        end = ngx_queues_base_json_decode(raw.data, &raw);

        ok = (ok && (size_t) (end - raw.data) == len
              && memcmp(raw.data, decoded, len) == 0);

        unit_ok(ok, "decoded", &unit_strings[i].raw);

        free(raw.data);
        free(decoded);
    }
}


static struct {
    ngx_str_t    a;
    ngx_str_t    b;
    ngx_uint_t   equal;
} unit_pairs[] = {
    { ngx_string(""), ngx_string(""), 1 },
    { ngx_string(""), ngx_string("a"), 0 },
    { ngx_string("body"), ngx_string("body"), 1 },
    { ngx_string("body"), ngx_string("Body"), 0 },
    { ngx_string("body"), ngx_string("bod"), 0 },
    { ngx_string("body"), ngx_string("bodyx"), 0 },
    { ngx_string("\\u0062ody"), ngx_string("body"), 1 },
    { ngx_string("\\u0062\\u006F\\u0064\\u0079"), ngx_string("body"), 1 },
    { ngx_string("body"), ngx_string("body\\u0000"), 0 },
    { ngx_string("body\\u0000x"), ngx_string("body"), 0 },
    { ngx_string("\\n"), ngx_string("\\u000a"), 1 },
    { ngx_string("\\n"), ngx_string("n"), 0 },
    { ngx_string("\\/"), ngx_string("/"), 1 },
    { ngx_string("\\\\"), ngx_string("\\u005c"), 1 },
    { ngx_string("\xc3\xa4"), ngx_string("\\u00e4"), 1 },
    { ngx_string("\xe2\x82\xac"), ngx_string("\\u20AC"), 1 },
    { ngx_string("\xf0\x9f\x98\x80"), ngx_string("\\ud83d\\ude00"), 1 },
    { ngx_string("\\uD83D\\uDE00"), ngx_string("\\ud83d\\ude00"), 1 },
    { ngx_string("\\ud83d"), ngx_string("\\ud83d\\ude00"), 0 },
    { ngx_string("\\ud83d"), ngx_string("\\uD83D"), 1 },
    { ngx_string("\xc3\xa4"), ngx_string("\xc3\xb6"), 0 }
};


static void
unit_comparing(void)
{
    ngx_str_t   a, b;
    ngx_uint_t  i;

    for (i = 0; i < UNIT_ROWS(unit_pairs); i++) {
        a = unit_copy(&unit_pairs[i].a);
        b = unit_copy(&unit_pairs[i].b);

        unit_ok(ngx_queues_base_json_equal(&a, &b) == unit_pairs[i].equal
                && ngx_queues_base_json_equal(&b, &a) == unit_pairs[i].equal,
                unit_pairs[i].equal ? "equal" : "not equal", &a);

        free(a.data);
        free(b.data);
    }
}


static struct {
    ngx_str_t   text;
    ngx_int_t   rc;
    int64_t     n;
} unit_integers[] = {
    { ngx_string("0"), NGX_OK, 0 },
    { ngx_string("-0"), NGX_OK, 0 },
    { ngx_string("1"), NGX_OK, 1 },
    { ngx_string("-1"), NGX_OK, -1 },
    { ngx_string("43200"), NGX_OK, 43200 },
    { ngx_string("2147483648"), NGX_OK, 2147483648LL },
    { ngx_string("999999999999999"), NGX_OK, 999999999999999LL },
    { ngx_string("-999999999999999"), NGX_OK, -999999999999999LL },
    { ngx_string("1000000000000000"), NGX_ERROR, 0 },
    { ngx_string("-1000000000000000"), NGX_ERROR, 0 },
    { ngx_string("9223372036854775808"), NGX_ERROR, 0 },
    { ngx_string("100000000000000000000000000000000000000"), NGX_ERROR, 0 },
    { ngx_string("1.0"), NGX_ERROR, 0 },
    { ngx_string("30.5"), NGX_ERROR, 0 },
    { ngx_string("1e2"), NGX_ERROR, 0 },
    { ngx_string("1E0"), NGX_ERROR, 0 },
    { ngx_string("-0.0"), NGX_ERROR, 0 },
    { ngx_string("\"30\""), NGX_ERROR, 0 },
    { ngx_string("null"), NGX_ERROR, 0 },
    { ngx_string("true"), NGX_ERROR, 0 },
    { ngx_string("[]"), NGX_ERROR, 0 },
    { ngx_string("{}"), NGX_ERROR, 0 }
};


static void
unit_integer_table(void)
{
    int64_t                        n;
    ngx_str_t                      text;
    ngx_int_t                      rc;
    ngx_uint_t                     i;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    for (i = 0; i < UNIT_ROWS(unit_integers); i++) {
        text = unit_copy(&unit_integers[i].text);
        n = 4711;

        rc = ngx_queues_base_json_parse(&text, &value, &error);

        if (rc == NGX_OK) {
            rc = ngx_queues_base_json_integer(&value, &n);
        }

        unit_ok(rc == unit_integers[i].rc
                && n == (rc == NGX_OK ? unit_integers[i].n : 4711),
                rc == NGX_OK ? "integer" : "no integer", &text);

        free(text.data);
    }
}


static struct {
    ngx_str_t   text;
    ngx_str_t   escaped;
} unit_escapes[] = {
    { ngx_string(""), ngx_string("") },
    { ngx_string("abc /"), ngx_string("abc /") },
    { ngx_string("\"\\"), ngx_string("\\\"\\\\") },
    { ngx_string("\b\t\n\f\r"), ngx_string("\\b\\t\\n\\f\\r") },
    { ngx_string("\0\x01\x0b\x1f\x7f"),
      ngx_string("\\u0000\\u0001\\u000b\\u001f\x7f") },
    { ngx_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
      ngx_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80") },
    { ngx_string("a\xff" "b"), ngx_string("a\xef\xbf\xbd" "b") },
    { ngx_string("\xc3"), ngx_string("\xef\xbf\xbd") },
    { ngx_string("\xe2\x82" "x"),
      ngx_string("\xef\xbf\xbd\xef\xbf\xbdx") },
    { ngx_string("\xed\xa0\x80"),
      ngx_string("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") },
    { ngx_string("\xc3\""), ngx_string("\xef\xbf\xbd\\\"") }
};


static void
unit_escaping(void)
{
    u_char      *p, *end;
    size_t       len;
    ngx_str_t    text, s;
    ngx_uint_t   i;

    for (i = 0; i < UNIT_ROWS(unit_escapes); i++) {
        text = unit_copy(&unit_escapes[i].text);
        len = ngx_queues_base_json_escape_length(&text);
        p = malloc(len + 1);
        end = ngx_queues_base_json_escape(p, &text);

        s.data = p;
        s.len = end - p;
        unit_ok(s.len == len && unit_same(&s, &unit_escapes[i].escaped),
                "escaped", &text);

        free(text.data);
        free(p);
    }
}


/* any text, written and read again, is the same (if it was UTF-8) */

static void
unit_escape_round_trips(void)
{
    u_char                         bytes[8], escaped[64], again[64], *end;
    ngx_str_t                      text, quoted;
    ngx_uint_t                     i, k, bad;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    for (bad = 0, i = 0; i < 200000; i++) {
        text.len = i % 8;
        text.data = bytes;

        for (k = 0; k < text.len; k++) {
            bytes[k] = (u_char) (unit_random() >> 7);
        }

        escaped[0] = '"';
        end = ngx_queues_base_json_escape(escaped + 1, &text);
        *end++ = '"';

        quoted.data = escaped;
        quoted.len = end - escaped;

        if (ngx_queues_base_json_parse(&quoted, &value, &error) != NGX_OK) {
            bad++;
            continue;
        }

        end = ngx_queues_base_json_decode(again, &value.raw);

        if (memmem(again, end - again, "\xef\xbf\xbd", 3) == NULL) {
            bad += ((size_t) (end - again) != text.len
                    || memcmp(again, bytes, text.len) != 0);
        }
    }

    unit_ok(bad == 0, "what is written is read again", NULL);
}


/* documents with a few bytes changed or cut off: whatever is said of them */

static void
unit_mutations(void)
{
    ngx_str_t                      text;
    ngx_uint_t                     i, k, row, bad, accepted;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    static const char  bytes[] = "\"\\{}[]:,0123456789eE+-.utrnfalsbd \n\x01"
                                 "\xc3\xa4\xed\xf0\xff";

    bad = 0;
    accepted = 0;

    for (i = 0; i < 300000; i++) {
        row = unit_random() % UNIT_ROWS(unit_texts);
        text = unit_copy(&unit_texts[row].text);

        for (k = 0; text.len && k < 1 + i % 3; k++) {
            text.data[unit_random() % text.len] =
                                     bytes[unit_random() % sizeof(bytes)];
        }

        if (ngx_queues_base_json_parse(&text, &value, &error) == NGX_OK) {
            accepted++;
            bad += (unit_walk(&value) == 0);
        }

        free(text.data);
    }

    unit_ok(bad == 0 && accepted > 1000, "mutated documents", NULL);
}


static void
unit_entering(void)
{
    ngx_str_t                      key, seen;
    ngx_uint_t                     n, bad;
    const char                    *error;
    ngx_queues_base_json_iter_t    it, in;
    ngx_queues_base_json_value_t   value, object, member;

    static ngx_str_t  texts[] = {
        ngx_string("{}"), ngx_string("{\"a\" : [1,{\"}\":2}] , \"b\":-1}"),
        ngx_string("{\"c\":{\"d\":\"\\\\\"}}"), ngx_string("{\"e\":5 }")
    };

    static ngx_str_t  text = ngx_string("[{} , {\"a\" : [1,{\"}\":2}] , \"b\":-1},"
        "{\"c\":{\"d\":\"\\\\\"}},[{\"x\":1}],{\"e\":5 }\n]");

    static const ngx_uint_t  members[] = { 0, 2, 1, 1 };

    (void) ngx_queues_base_json_parse(&text, &value, &error);
    ngx_queues_base_json_open(&it, &value);

    n = 0;

    while (ngx_queues_base_json_enter(&it, &object) == NGX_OK) {

        if (object.type != NGX_QUEUES_BASE_JSON_OBJECT) {
            unit_ok(n == 3 && object.raw.len == sizeof("[{\"x\":1}]") - 1,
                    "another value has its end", &object.raw);
            continue;
        }

        ngx_queues_base_json_open(&in, &object);

        for (bad = 0;
             ngx_queues_base_json_next(&in, &key, &member) == NGX_OK;
             bad++)
        {
            /* void */
        }

        ngx_queues_base_json_end(&in, &object);
        ngx_queues_base_json_leave(&it, &object);

        seen = object.raw;

        unit_ok(bad == members[n] && seen.len == texts[n].len
                && memcmp(seen.data, texts[n].data, seen.len) == 0,
                "an object that was entered", &seen);
        n++;
    }

    unit_ok(n == 4, "all of them", NULL);
}


int
main(void)
{
    unit_text_table();
    unit_bytes();
    unit_depths();
    unit_large();
    unit_members();
    unit_entering();
    unit_canonical();
    unit_decoding();
    unit_comparing();
    unit_integer_table();
    unit_escaping();
    unit_escape_round_trips();
    unit_mutations();

    return unit_done();
}
