
#include "unit.h"
#include "ngx_queues_base_filter.h"


#define UNIT_STRING(s)  { sizeof(s) - 1, (u_char *) s }


typedef struct {
    ngx_str_t    filter;
    ngx_str_t    program;
} unit_filter_t;


typedef struct {
    ngx_str_t    filter;
    ngx_uint_t   line;
    ngx_uint_t   column;
    const char  *token;
    const char  *text;
} unit_wrong_t;


static unit_filter_t  unit_filters[] = {
    { UNIT_STRING("attributes:k"), UNIT_STRING("h 1:k\n") },
    { UNIT_STRING("attributes:\"k l\""), UNIT_STRING("h 3:k l\n") },
    { UNIT_STRING("attributes.k = \"v\""), UNIT_STRING("e 1:k 1:v\n") },
    { UNIT_STRING("attributes.k=\"v\""), UNIT_STRING("e 1:k 1:v\n") },
    { UNIT_STRING("attributes.k != \"v\""), UNIT_STRING("n 1:k 1:v\n") },
    { UNIT_STRING("attributes.k!=\"\""), UNIT_STRING("n 1:k 0:\n") },
    { UNIT_STRING("attributes.\"a.b\"=\"1\""), UNIT_STRING("e 3:a.b 1:1\n") },
    { UNIT_STRING("attributes.\"\"=\"1\""), UNIT_STRING("e 0: 1:1\n") },
    { UNIT_STRING("attributes.ce-type=\"t\""),
      UNIT_STRING("e 7:ce-type 1:t\n") },
    { UNIT_STRING("attributes:_9-"), UNIT_STRING("h 3:_9-\n") },
    { UNIT_STRING("attributes:9"), UNIT_STRING("h 1:9\n") },
    { UNIT_STRING("attributes:AND AND attributes:NOT"),
      UNIT_STRING("h 3:AND\nh 3:NOT\n& 2\n") },
    { UNIT_STRING("attributes:attributes OR attributes:hasPrefix"),
      UNIT_STRING("h 10:attributes\nh 9:hasPrefix\n| 2\n") },
    { UNIT_STRING("hasPrefix(attributes.k, \"p\")"),
      UNIT_STRING("p 1:k 1:p\n") },
    { UNIT_STRING("hasPrefix ( attributes . \"k\" , \"\" )"),
      UNIT_STRING("p 1:k 0:\n") },
    { UNIT_STRING("\t\r\n attributes \n:\tk \n"), UNIT_STRING("h 1:k\n") },
    { UNIT_STRING("NOT attributes:k"), UNIT_STRING("h 1:k\n!\n") },
    { UNIT_STRING("-attributes:k"), UNIT_STRING("h 1:k\n!\n") },
    { UNIT_STRING("- attributes:k"), UNIT_STRING("h 1:k\n!\n") },
    { UNIT_STRING("NOT NOT attributes:k"), UNIT_STRING("h 1:k\n") },
    { UNIT_STRING("NOT -NOT attributes:k"), UNIT_STRING("h 1:k\n!\n") },
    { UNIT_STRING("NOT(attributes:k)"), UNIT_STRING("h 1:k\n!\n") },
    { UNIT_STRING("NOT (NOT attributes:k)"), UNIT_STRING("h 1:k\n!\n!\n") },
    { UNIT_STRING("((attributes:k))"), UNIT_STRING("h 1:k\n") },
    { UNIT_STRING("attributes:a AND attributes:b"),
      UNIT_STRING("h 1:a\nh 1:b\n& 2\n") },
    { UNIT_STRING("attributes:a OR attributes:b OR attributes:c"),
      UNIT_STRING("h 1:a\nh 1:b\nh 1:c\n| 3\n") },
    { UNIT_STRING("attributes:a OR NOT attributes:b"),
      UNIT_STRING("h 1:a\nh 1:b\n!\n| 2\n") },
    { UNIT_STRING("NOT attributes:a AND attributes:b"),
      UNIT_STRING("h 1:a\n!\nh 1:b\n& 2\n") },
    { UNIT_STRING("NOT (attributes:a AND attributes:b)"),
      UNIT_STRING("h 1:a\nh 1:b\n& 2\n!\n") },
    { UNIT_STRING("attributes:a AND (attributes:b OR attributes:c)"),
      UNIT_STRING("h 1:a\nh 1:b\nh 1:c\n| 2\n& 2\n") },
    { UNIT_STRING("(attributes:a OR attributes:b)AND(attributes:c OR "
                  "attributes:d)"),
      UNIT_STRING("h 1:a\nh 1:b\n| 2\nh 1:c\nh 1:d\n| 2\n& 2\n") },
    { UNIT_STRING("attributes.a=\"x\"AND(attributes:b)"),
      UNIT_STRING("e 1:a 1:x\nh 1:b\n& 2\n") },
    { UNIT_STRING("attributes:\"iana.org/language_tag\" AND NOT "
                  "hasPrefix(attributes.\"iana.org/language_tag\", \"en\")"),
      UNIT_STRING("h 21:iana.org/language_tag\n"
                  "p 21:iana.org/language_tag 2:en\n!\n& 2\n") },
    { UNIT_STRING("attributes:\"\\a\\b\\f\\n\\r\\t\\v\\\\\\/\\\"\\'\\?\\`\""),
      UNIT_STRING("h 13:\a\b\f\n\r\t\v\\/\"'?`\n") },
    { UNIT_STRING("attributes:\"\\x41\\xe9\\xE9\\101\\351\\000\""),
      UNIT_STRING("h 9:A\xc3\xa9\xc3\xa9" "A\xc3\xa9\x00\n") },
    { UNIT_STRING("attributes:\"\\u20ac\\U0001F600\\ud83d\\ude00\""),
      UNIT_STRING("h 11:\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f\x98\x80\n") },
    { UNIT_STRING("attributes.\"\xc3\xa9\"=\"\xe2\x82\xac\""),
      UNIT_STRING("e 2:\xc3\xa9 3:\xe2\x82\xac\n") },
    { UNIT_STRING("attributes:\"(AND)\""), UNIT_STRING("h 5:(AND)\n") }
};


static unit_wrong_t  unit_wrongs[] = {
    { UNIT_STRING(""), 1, 1, "", "attributes or hasPrefix is missing" },
    { UNIT_STRING(" \n "), 2, 2, "", "attributes or hasPrefix is missing" },
    { UNIT_STRING("bogus"), 1, 1, "bogus",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("Attributes:k"), 1, 1, "Attributes",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("attributes-:k"), 1, 1, "attributes-",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("not attributes:k"), 1, 1, "not",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("NOTattributes:k"), 1, 1, "NOTattributes",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("hasprefix(attributes.k,\"\")"), 1, 1, "hasprefix",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("\"attributes\":k"), 1, 1, "\"attributes\"",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("attributes"), 1, 11, "",
      ": or . after attributes is missing" },
    { UNIT_STRING("attributes[\"k\"]=\"v\""), 1, 11, "[",
      "there is no such sign" },
    { UNIT_STRING("attributes:"), 1, 12, "", "a key is missing" },
    { UNIT_STRING("attributes:-k"), 1, 12, "-", "a key is missing" },
    { UNIT_STRING("attributes.k"), 1, 13, "", "= or != is missing" },
    { UNIT_STRING("attributes.k.l = \"v\""), 1, 13, ".",
      "= or != is missing" },
    { UNIT_STRING("attributes.k : \"v\""), 1, 14, ":", "= or != is missing" },
    { UNIT_STRING("attributes.k ! \"v\""), 1, 14, "!",
      "there is no such sign" },
    { UNIT_STRING("attributes.k < \"v\""), 1, 14, "<",
      "there is no such sign" },
    { UNIT_STRING("attributes.k = v"), 1, 16, "v", "a string is missing" },
    { UNIT_STRING("attributes.k = 'v'"), 1, 16, "'", "there is no such sign" },
    { UNIT_STRING("attributes.k == \"v\""), 1, 15, "=",
      "a string is missing" },
    { UNIT_STRING("attributes:a attributes:b"), 1, 14, "attributes",
      "AND, OR or the end of the filter is missing" },
    { UNIT_STRING("attributes:a and attributes:b"), 1, 14, "and",
      "AND, OR or the end of the filter is missing" },
    { UNIT_STRING("attributes:a)"), 1, 13, ")",
      "AND, OR or the end of the filter is missing" },
    { UNIT_STRING("attributes:a = \"v\""), 1, 14, "=",
      "AND, OR or the end of the filter is missing" },
    { UNIT_STRING("attributes:a AND"), 1, 17, "",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("attributes:a OR AND attributes:b"), 1, 17, "AND",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("OR attributes:b"), 1, 1, "OR",
      "attributes or hasPrefix is missing" },
    { UNIT_STRING("attributes:a OR\nattributes:b AND attributes:c"), 2, 14,
      "AND", "AND and OR together need parentheses" },
    { UNIT_STRING("attributes:a AND attributes:b OR attributes:c"), 1, 31,
      "OR", "AND and OR together need parentheses" },
    { UNIT_STRING("(attributes:a"), 1, 14, "", "AND, OR or ) is missing" },
    { UNIT_STRING("(attributes:a attributes:b)"), 1, 15, "attributes",
      "AND, OR or ) is missing" },
    { UNIT_STRING("()"), 1, 2, ")", "attributes or hasPrefix is missing" },
    { UNIT_STRING("NOT"), 1, 4, "", "attributes or hasPrefix is missing" },
    { UNIT_STRING("hasPrefix"), 1, 10, "", "( after hasPrefix is missing" },
    { UNIT_STRING("hasPrefix(k"), 1, 11, "k", "attributes is missing" },
    { UNIT_STRING("hasPrefix(attributes:k"), 1, 21, ":",
      ". after attributes is missing" },
    { UNIT_STRING("hasPrefix(attributes.\"k\" \"v\")"), 1, 26, "\"v\"",
      "a comma is missing" },
    { UNIT_STRING("hasPrefix(attributes.k, v)"), 1, 25, "v",
      "a string is missing" },
    { UNIT_STRING("hasPrefix(attributes.k, \"v\""), 1, 28, "",
      ") is missing" },
    { UNIT_STRING("attributes:\"k"), 1, 12, "\"k", "a string does not end" },
    { UNIT_STRING("attributes:\"k\\"), 1, 12, "\"k",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"k\\\""), 1, 12, "\"k\\\"",
      "a string does not end" },
    { UNIT_STRING("attributes:\"\xe2\x82\xac\" = \"\\q\""), 1, 16, "=",
      "AND, OR or the end of the filter is missing" },
    { UNIT_STRING("attributes.\"\xe2\x82\xac\" = \"\\q\""), 1, 18, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"a\nb\""), 1, 12, "\"a",
      "a string has a control character that is not escaped" },
    { UNIT_STRING("attributes:\"\\x4\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\xg0\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\400\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\108\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\10\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\u12\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\ud83d\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\ud83dx\\ude00\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\ud83d\\u0041\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\ude00\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\U0000d800\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:\"\\U00110000\""), 1, 12, "\"",
      "a string has an escape that there is not" },
    { UNIT_STRING("attributes:k\xe2\x82\xac"), 1, 13, "\xe2\x82\xac",
      "there is no such sign" },
    { UNIT_STRING("attributes:k\0"), 1, 13, "", "there is no such sign" },
    { UNIT_STRING("# attributes:k"), 1, 1, "#", "there is no such sign" }
};


static void
unit_right(unit_filter_t *test)
{
    ngx_int_t                       rc;
    ngx_str_t                       filter, program;
    ngx_queues_base_filter_error_t  error;

    filter = unit_copy(&test->filter);
    program.data = malloc(NGX_QUEUES_BASE_FILTER_MAX);
    program.len = 0;

    rc = ngx_queues_base_filter_parse(&filter, &program, &error);

    unit_ok(rc == NGX_OK && unit_same(&program, &test->program), "filter",
            &test->filter);

    free(program.data);
    free(filter.data);
}


static void
unit_error(unit_wrong_t *test)
{
    ngx_int_t                       rc;
    ngx_str_t                       filter, program;
    ngx_queues_base_filter_error_t  error;

    filter = unit_copy(&test->filter);
    program.data = malloc(NGX_QUEUES_BASE_FILTER_MAX);

    rc = ngx_queues_base_filter_parse(&filter, &program, &error);

    unit_ok(rc == NGX_ERROR, "refused", &test->filter);
    unit_ok(rc == NGX_ERROR && strcmp(error.text, test->text) == 0
            && error.line == test->line && error.column == test->column,
            test->text, &test->filter);

    /* that of the NUL is one byte that a constant cannot tell */

    unit_ok(rc == NGX_ERROR
            && (error.token.len == strlen(test->token)
                || (error.token.len == 1 && *error.token.data == '\0'))
            && memcmp(error.token.data, test->token, error.token.len) == 0,
            "token", &test->filter);

    free(program.data);
    free(filter.data);
}


/* "attributes:k" in so many parentheses, or two of them */

static ngx_int_t
unit_nested(ngx_uint_t depth, ngx_uint_t n,
    ngx_queues_base_filter_error_t *error)
{
    u_char     *p;
    ngx_int_t   rc;
    ngx_str_t   filter, program;

    filter.data = malloc(n * (2 * depth + sizeof("attributes:k OR ")));
    program.data = malloc(NGX_QUEUES_BASE_FILTER_MAX);

    for (p = filter.data; n; n--) {
        memset(p, '(', depth);
        p = ngx_cpymem(p + depth, "attributes:k", sizeof("attributes:k") - 1);
        memset(p, ')', depth);
        p += depth;

        if (n > 1) {
            p = ngx_cpymem(p, " OR ", 4);
        }
    }

    filter.len = p - filter.data;

    rc = ngx_queues_base_filter_parse(&filter, &program, error);

    free(program.data);
    free(filter.data);

    return rc;
}


/* of as many bytes as there may be, and of one more */

static ngx_int_t
unit_long(size_t len, ngx_queues_base_filter_error_t *error)
{
    ngx_int_t  rc;
    ngx_str_t  filter, program;

    filter.len = len;
    filter.data = malloc(len);
    program.data = malloc(NGX_QUEUES_BASE_FILTER_MAX);

    memset(filter.data, 'k', len);
    ngx_memcpy(filter.data, "attributes:", sizeof("attributes:") - 1);

    rc = ngx_queues_base_filter_parse(&filter, &program, error);

    free(program.data);
    free(filter.data);

    return rc;
}


int
main(void)
{
    ngx_uint_t                      i;
    ngx_queues_base_filter_error_t  error;

    for (i = 0; i < UNIT_ROWS(unit_filters); i++) {
        unit_right(&unit_filters[i]);
    }

    for (i = 0; i < UNIT_ROWS(unit_wrongs); i++) {
        unit_error(&unit_wrongs[i]);
    }

    unit_ok(unit_nested(NGX_QUEUES_BASE_FILTER_DEPTH, 1, &error) == NGX_OK,
            "as deep as may be", NULL);
    unit_ok(unit_nested(NGX_QUEUES_BASE_FILTER_DEPTH, 2, &error) == NGX_OK,
            "twice", NULL);

    unit_ok(unit_nested(NGX_QUEUES_BASE_FILTER_DEPTH + 1, 1, &error)
            == NGX_ERROR
            && strcmp(error.text, "parentheses are nested too deeply") == 0
            && error.column == NGX_QUEUES_BASE_FILTER_DEPTH + 1,
            "one deeper", NULL);

    unit_ok(unit_long(NGX_QUEUES_BASE_FILTER_MAX, &error) == NGX_OK,
            "as long as may be", NULL);

    unit_ok(unit_long(NGX_QUEUES_BASE_FILTER_MAX + 1, &error) == NGX_ERROR
            && strcmp(error.text, "the filter is too long") == 0
            && error.line == 1 && error.column == 1 && error.token.len == 0,
            "one longer", NULL);

    return unit_done();
}
