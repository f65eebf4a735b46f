
#include "unit.h"
#include "ngx_queues_base_published.h"


typedef struct {
    const char  *text;
    const char  *data;
    const char  *key;         /* as a header's value */
    const char  *lines;
    ngx_uint_t   found;
} unit_published_t;


static unit_published_t  unit_messages[] = {
    { "{\"data\":\"YQ==\",\"attributes\":{\"a\":\"b\",\"X-C\":\"\"},"
      "\"orderingKey\":\"k 1\"}",
      "YQ==", "k 1", "a: b\r\nX-C: \r\n", 0 },
    { "{\"orderingKey\":\"\\u006b\",\"attributes\":{\"\\u0061\":\"\\\"\"}}",
      "", "k", "a: \"\r\n", 0 },
    { "{\"data\":\"YQ==\"}", "YQ==", "", "", 0 },
    { "{\"attributes\":{\"Content-Type\":\"a/b\",\"content-type\":\"c/d\"}}",
      "", "", "Content-Type: a/b\r\n", NGX_QUEUES_BASE_HEADER_TYPE },
    { "{\"attributes\":{\"user-AGENT\":\"me\",\"User-Agent\":\"you\",\"x\":\"y\","
      "\"content-type\":\"c\"}}",
      "", "", "user-AGENT: me\r\nx: y\r\ncontent-type: c\r\n",
      NGX_QUEUES_BASE_HEADER_TYPE | NGX_QUEUES_BASE_HEADER_AGENT },
    { "{\"attributes\":{\"Accept-Encoding\":\"br\",\"Host\":\"h\",\"a b\":\"c\","
      "\"d\":\"e\\r\\nf: g\",\"h\\n\":\"i\",\"\\u0048ost\":\"j\",\"k\":\"l\"}}",
      "", "", "k: l\r\n", 0 },
    { "{\"data\":\"YQ==\",\"orderingKey\":\"a\\nb\"}", "YQ==", "", "", 0 },
    { "{\"data\":\"YQ==\",\"orderingKey\":\"\\u00e9\"}", "YQ==", "", "", 0 },
    { "{\"data\":1,\"attributes\":[\"a\",\"b\"],\"orderingKey\":{}}",
      "", "", "", 0 },
    { "{\"attributes\":{\"a\":1,\"b\":{\"c\":\"d\"},\"e\":\"f\"}}",
      "", "", "e: f\r\n", 0 },
    { "[]", "", "", "", 0 },
    { "{\"data\":\"YQ==\"", "", "", "", 0 },
    { "", "", "", "", 0 }
};


static ngx_uint_t
unit_is(u_char *buf, u_char *last, const char *expected)
{
    return (size_t) (last - buf) == strlen(expected)
           && (last == buf || memcmp(buf, expected, last - buf) == 0);
}


static void
unit_message(unit_published_t *row)
{
    u_char                       *buf;
    ngx_str_t                     text, copy;
    ngx_uint_t                    found;
    ngx_queues_base_published_t   m;

    text.data = (u_char *) row->text;
    text.len = strlen(row->text);

    copy = unit_copy(&text);
    buf = malloc(NGX_QUEUES_BASE_HEADERS_MAX);

    ngx_queues_base_published_read(&copy, &m);

    unit_ok(unit_is(m.data.data, m.data.data + m.data.len, row->data), "data",
            &text);
    unit_ok(unit_is(buf, ngx_queues_base_published_headers(buf, &m, &found),
                    row->lines)
            && found == row->found,
            "lines", &text);
    unit_ok(unit_is(buf, ngx_queues_base_published_key(buf, &m), row->key),
            "ordering key", &text);

    free(buf);
    free(copy.data);
}


/* what does not fit is left out, and what follows it may fit */

static void
unit_many(void)
{
    char                         *text, *p;
    u_char                       *buf, *last;
    ngx_str_t                     all;
    ngx_uint_t                    i, found;
    ngx_queues_base_published_t   m;

    text = malloc(65536);
    p = text + sprintf(text, "{\"attributes\":{");

    /* 7 of these lines have 7,217 bytes; "more" has 966, "one" 7 */

    for (i = 0; i < 10; i++) {
        p += sprintf(p, "\"many%u\":\"%1022d\",", (unsigned) i, 1);
    }

    p += sprintf(p, "\"more\":\"%958d\",\"one\":\"\",\"none\":\"\"}}", 1);

    all.data = (u_char *) text;
    all.len = p - text;

    buf = malloc(NGX_QUEUES_BASE_HEADERS_MAX);

    ngx_queues_base_published_read(&all, &m);
    last = ngx_queues_base_published_headers(buf, &m, &found);

    unit_ok(last - buf == 7 * 1031 + 966 + 7, "as many as fit", NULL);
    unit_ok(memcmp(last - 10, "1\r\none: \r\n", 10) == 0, "and whole ones",
            NULL);

    free(buf);
    free(text);
}


int
main(void)
{
    ngx_uint_t  i;

    for (i = 0; i < UNIT_ROWS(unit_messages); i++) {
        unit_message(&unit_messages[i]);
    }

    unit_many();

    return unit_done();
}
