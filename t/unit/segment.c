
#include "unit.h"
#include "ngx_queues_base_segment.h"


static const char  *unit_refused[] = {
    "",
    "1:1:0:0:1:0:1",
    "1:1:0:0:1:0\nt1x",
    "1:1:0:0:1:0:1:0\nt1x",
    ":1:0:0:1:0:1\nt1x",
    "1:0:0:0:0:0:0\n",
    "1:0:0:0:1:0:1\nt1x",
    "1:1:2:0:1:0:1\nt1x",
    "1:1:-1:0:1:0:1\nt1x",
    "1:1: 0:0:1:0:1\nt1x",
    "1:1:0:5:1:0:1\nt1x",
    "1:1:0:0:5:0:1\nt1x",
    "1:1:0:0:1:5:1\nt1x",
    "1:1:0:0:1:0:5\nt1x",
    "1:99:0:0:1:0:1\nt1x",
    "1:1:0:0:1:0:18446744073709551615\nt1x",
    "1:1:0:0:1:0:18446744073709551616\nt1x"
};


/* opened, but no message comes, or not the second one */

static const char  *unit_broken[] = {
    "1:1:0:0:1:0:0\ntx",
    "1:1:0:0:1:0:1\nt2x",
    "1:1:0:0:1:0:1\nt0x",
    "1:1:0:0:1:0:2\nt1 x",
    "1:1:0:0:3:0:1\nt\nu1x",
    "1:1:0:0:1:3:1\ntr\ns1x",
    "1:1:0:0:1:0:1\nt1xy",
    "1:1:0:0:1:0:20\nt18446744073709551615x",
    "1:2:0:0:1:0:3\nt1 1xy",
    "1:2:0:0:3:0:1\nt\nu1xy",
    "1:2:0:0:3:1:3\nt\nur1 1xy",
    "1:2:0:0:5:0:3\nt\nu\nv1 1xy",
    "1:2:0:0:3:0:5\nt\nu1 1 1xy",
    "1:2:0:0:3:0:3\nt\nu1 2xy"
};


static ngx_str_t
unit_text(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return unit_copy(&s);
}


static ngx_uint_t
unit_is(ngx_str_t *text, const char *what)
{
    return text->len == strlen(what)
           && memcmp(text->data, what, text->len) == 0;
}


static void
unit_read(void)
{
    ngx_str_t                           text;
    ngx_queues_base_segment_t           s;
    ngx_queues_base_segment_message_t   m;

    text = unit_text("1790000000123:3:1:4:9:3:5\nuser" "t1\n\nt\\n\\t3"
                     "\na\n" "2 0 3" "{}null");

    /* the lengths do not fit the payloads: that shows at the last one */

    unit_ok(ngx_queues_base_segment_open(&s, &text) == NGX_OK
            && s.ms == 1790000000123 && s.left == 3 && s.sealed == 1
            && unit_is(&s.producer, "user"), "a head", &text);
    free(text.data);

    text = unit_text("17:3:0:4:8:3:5\nuser" "t1\n\nt\\n3" "\na\n" "2 0 4"
                     "{}null");

    unit_ok(ngx_queues_base_segment_open(&s, &text) == NGX_OK
            && ngx_queues_base_segment_next(&s, &m) == NGX_OK
            && unit_is(&m.id, "t1") && m.trace.len == 0
            && unit_is(&m.payload, "{}"), "the first", &text);
    unit_ok(ngx_queues_base_segment_next(&s, &m) == NGX_OK
            && m.id.len == 0 && unit_is(&m.trace, "a")
            && m.payload.len == 0, "the second, of empty texts", NULL);
    unit_ok(ngx_queues_base_segment_next(&s, &m) == NGX_OK
            && unit_is(&m.id, "t\\n3") && m.trace.len == 0
            && unit_is(&m.payload, "null"), "the last", NULL);
    unit_ok(ngx_queues_base_segment_next(&s, &m) == NGX_DONE
            && ngx_queues_base_segment_next(&s, &m) == NGX_DONE,
            "the end", NULL);
    free(text.data);

    text = unit_text("17:1:0:0:1:0:2\nt11[\n: 56789]!");
    unit_ok(ngx_queues_base_segment_open(&s, &text) == NGX_OK
            && ngx_queues_base_segment_next(&s, &m) == NGX_OK
            && unit_is(&m.id, "t") && m.trace.data == NULL
            && s.producer.len == 0
            && unit_is(&m.payload, "[\n: 56789]!"), "one without traces",
            &text);
    free(text.data);
}


int
main(void)
{
    ngx_int_t                           rc;
    ngx_str_t                           text;
    ngx_uint_t                          i;
    ngx_queues_base_segment_t           s;
    ngx_queues_base_segment_message_t   m;

    unit_read();

    for (i = 0; i < UNIT_ROWS(unit_refused); i++) {
        text = unit_text(unit_refused[i]);
        unit_ok(ngx_queues_base_segment_open(&s, &text) == NGX_ERROR,
                "refused", &text);
        free(text.data);
    }

    for (i = 0; i < UNIT_ROWS(unit_broken); i++) {
        text = unit_text(unit_broken[i]);
        rc = ngx_queues_base_segment_open(&s, &text);

        unit_ok(rc == NGX_OK, "opened", &text);

        while (rc == NGX_OK) {
            rc = ngx_queues_base_segment_next(&s, &m);
        }

        unit_ok(rc == NGX_ERROR, "but broken", &text);
        free(text.data);
    }

    return unit_done();
}
