
#include "unit.h"
#include "ngx_queues_base_keys.h"


#define HEX32  "0123456789abcdef0123456789ABCDEF"
#define HEX64  HEX32 HEX32


typedef struct {
    ngx_str_t    line;
    const char  *expected;      /* in an error; NULL: accepted; "": skipped */
} unit_line_t;


static unit_line_t  unit_lines[] = {
    { ngx_string(HEX64 " app queues.* acme/*"), NULL },
    { ngx_string(HEX64 " app queues.* acme/*\r"), NULL },
    { ngx_string("\t " HEX64 "\tapp  queues.* \t acme/* \t"), NULL },
    { ngx_string(HEX64 " a#b queues.get,queues.list a/b/c,a/b/d*,*"), NULL },
    { ngx_string(HEX64 " ! * *"), NULL },
    { ngx_string(""), "" },
    { ngx_string("\r"), "" },
    { ngx_string("  \t "), "" },
    { ngx_string("# a comment"), "" },
    { ngx_string("   #" HEX64 " app * *"), "" },
    { ngx_string("#"), "" },
    { ngx_string(HEX32 " app * *"), "64 hex digits" },
    { ngx_string(HEX64 "0 app * *"), "64 hex digits" },
    { ngx_string(HEX64 "00 app * *"), "64 hex digits" },
    { ngx_string("g" HEX32 "123456789abcdef0123456789abcdef0 app * *"),
      "64 hex digits" },
    { ngx_string("app * *"), "64 hex digits" },
    { ngx_string("\xef\xbb\xbf" HEX64 " app * *"), "64 hex digits" },
    { ngx_string(HEX64), "four fields" },
    { ngx_string(HEX64 " app"), "four fields" },
    { ngx_string(HEX64 " app *"), "four fields" },
    { ngx_string(HEX64 " app * * *"), "four fields" },
    { ngx_string(HEX64 " app * * # comment"), "four fields" },
    { ngx_string(HEX64 " app a, b *"), "four fields" },
    { ngx_string(HEX64 " \xc3\xa4pp * *"), "principal" },
    { ngx_string(HEX64 " a\0p * *"), "principal" },
    { ngx_string(HEX64 " a\x7fp * *"), "principal" },
    { ngx_string(HEX64 " app ,a *"), "permissions" },
    { ngx_string(HEX64 " app a, *"), "permissions" },
    { ngx_string(HEX64 " app a,,b *"), "permissions" },
    { ngx_string(HEX64 " app , *"), "permissions" },
    { ngx_string(HEX64 " app a\x01 *"), "permissions" },
    { ngx_string(HEX64 " app * ,"), "resources" },
    { ngx_string(HEX64 " app * a/b/c,"), "resources" },
    { ngx_string(HEX64 " app * a,,b"), "resources" },
    { ngx_string(HEX64 " app * a\xff"), "resources" },
    { ngx_string(HEX64 " app * a\r\r"), "resources" },
    { ngx_string(HEX64 " app * a\n"), "resources" }
};


int
main(void)
{
    ngx_str_t                     line;
    ngx_int_t                     rc;
    ngx_uint_t                    i, ok;
    const char                   *error, *expected;
    ngx_queues_base_keys_line_t   key;

    for (i = 0; i < UNIT_ROWS(unit_lines); i++) {
        line = unit_copy(&unit_lines[i].line);
        expected = unit_lines[i].expected;
        error = NULL;

        rc = ngx_queues_base_keys_parse(&line, &key, &error);

        if (expected == NULL) {
            ok = (rc == NGX_OK && key.hash[0] == 0x01
                  && key.hash[31] == 0xef && key.principal.len
                  && key.grant.permissions.len && key.grant.resources.len);

        } else if (*expected == '\0') {
            ok = (rc == NGX_DECLINED);

        } else {
            ok = (rc == NGX_ERROR && error && strstr(error, expected));
        }

        unit_ok(ok, expected ? expected : "accepted", &line);

        free(line.data);
    }

    line = unit_copy(&unit_lines[2].line);
    (void) ngx_queues_base_keys_parse(&line, &key, &error);

    unit_ok(key.principal.len == 3
            && memcmp(key.principal.data, "app", 3) == 0
            && key.grant.permissions.len == 8
            && memcmp(key.grant.permissions.data, "queues.*", 8) == 0
            && key.grant.resources.len == 6
            && memcmp(key.grant.resources.data, "acme/*", 6) == 0,
            "the fields are what stands between the blanks", NULL);

    free(line.data);

    return unit_done();
}
