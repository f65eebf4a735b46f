
#include "unit.h"
#include "ngx_queues_base_utf8.h"


typedef struct {
    ngx_int_t    rc;
    ngx_str_t    text;
} unit_utf8_t;


static unit_utf8_t  unit_texts[] = {
    { NGX_OK, ngx_string("") },
    { NGX_OK, ngx_string("abc") },
    { NGX_OK, ngx_string("a\0b") },
    { NGX_OK, ngx_string("\xc2\x80") },
    { NGX_OK, ngx_string("\xdf\xbf") },
    { NGX_OK, ngx_string("\xe0\xa0\x80") },
    { NGX_OK, ngx_string("\xed\x9f\xbf") },
    { NGX_OK, ngx_string("\xee\x80\x80") },
    { NGX_OK, ngx_string("\xef\xbf\xbf") },
    { NGX_OK, ngx_string("\xf0\x90\x80\x80") },
    { NGX_OK, ngx_string("\xf4\x8f\xbf\xbf") },
    { NGX_ERROR, ngx_string("\x80") },
    { NGX_ERROR, ngx_string("a\xbf") },
    { NGX_ERROR, ngx_string("\xc0\x80") },
    { NGX_ERROR, ngx_string("\xc1\xbf") },
    { NGX_ERROR, ngx_string("\xc2") },
    { NGX_ERROR, ngx_string("\xc2\x7f") },
    { NGX_ERROR, ngx_string("\xc2\xc0") },
    { NGX_ERROR, ngx_string("\xe0\x9f\xbf") },
    { NGX_ERROR, ngx_string("\xe2\x82") },
    { NGX_ERROR, ngx_string("\xe2\x82\x28") },
    { NGX_ERROR, ngx_string("\xed\xa0\x80") },
    { NGX_ERROR, ngx_string("\xed\xbf\xbf") },
    { NGX_ERROR, ngx_string("\xf0\x8f\xbf\xbf") },
    { NGX_ERROR, ngx_string("\xf0\x9f\x98") },
    { NGX_ERROR, ngx_string("\xf0\x9f\x98\x28") },
    { NGX_ERROR, ngx_string("\xf4\x90\x80\x80") },
    { NGX_ERROR, ngx_string("\xf5\x80\x80\x80") },
    { NGX_ERROR, ngx_string("\xf8\x88\x80\x80\x80") },
    { NGX_ERROR, ngx_string("\xfe") },
    { NGX_ERROR, ngx_string("\xff") }
};


/* how many sequences of n bytes are one character of n bytes */

static ngx_uint_t
unit_count(size_t n)
{
    u_char      text[3];
    ngx_uint_t  i, count;

    count = 0;

    for (i = 0; i < (ngx_uint_t) 1 << 8 * n; i++) {
        text[0] = (u_char) (i >> 8 * (n - 1));
        text[1] = (u_char) (i >> 8 * (n > 1 ? n - 2 : 0));
        text[2] = (u_char) i;

        count += (ngx_queues_base_utf8_length(text, text + n) == n);
    }

    return count;
}


static ngx_uint_t
unit_planes(void)
{
    u_char    text[4];
    uint32_t  c;

    for (c = 0x10000; c < 0x110000; c++) {
        text[0] = (u_char) (0xf0 | c >> 18);
        text[1] = (u_char) (0x80 | (c >> 12 & 0x3f));
        text[2] = (u_char) (0x80 | (c >> 6 & 0x3f));
        text[3] = (u_char) (0x80 | (c & 0x3f));

        if (ngx_queues_base_utf8_length(text, text + 4) != 4
            || ngx_queues_base_utf8_length(text, text + 3) != 0)
        {
            return 0;
        }
    }

    return 1;
}


int
main(void)
{
    ngx_str_t   text;
    ngx_uint_t  i;

    for (i = 0; i < UNIT_ROWS(unit_texts); i++) {
        text = unit_copy(&unit_texts[i].text);

        unit_ok(ngx_queues_base_utf8_check(&text) == unit_texts[i].rc,
                unit_texts[i].rc == NGX_OK ? "accepted" : "refused", &text);

        free(text.data);
    }

    unit_ok(unit_count(1) == 128, "128 characters of one byte", NULL);
    unit_ok(unit_count(2) == 0x800 - 0x80, "all of two bytes", NULL);
    unit_ok(unit_count(3) == 0x10000 - 0x800 - 0x800, "all of three bytes",
            NULL);
    unit_ok(unit_planes(), "all of four bytes", NULL);

    return unit_done();
}
