
#include "unit.h"
#include "ngx_queues_base_base64.h"


typedef struct {
    const char  *text;
    const char  *canonical;     /* NULL: refused */
    size_t       size;
} unit_base64_t;


static unit_base64_t  unit_texts[] = {
    { "", "", 0 },                      /* RFC 4648, 10 */
    { "Zg==", "Zg==", 1 },
    { "Zm8=", "Zm8=", 2 },
    { "Zm9v", "Zm9v", 3 },
    { "Zm9vYg==", "Zm9vYg==", 4 },
    { "Zm9vYmE=", "Zm9vYmE=", 5 },
    { "Zm9vYmFy", "Zm9vYmFy", 6 },
    { "Zg", "Zg==", 1 },
    { "Zm8", "Zm8=", 2 },
    { "Zm9vYg", "Zm9vYg==", 4 },
    { "Zm9vYmE", "Zm9vYmE=", 5 },
    { "+/+/", "+/+/", 3 },
    { "-_-_", "+/+/", 3 },
    { "-_-_Zg", "+/+/Zg==", 4 },
    { "Zm9vYmFy-A==", "Zm9vYmFy+A==", 7 },
    { "Zh==", "Zg==", 1 },              /* trailing bits */
    { "Zv", "Zg==", 1 },
    { "Zm9=", "Zm8=", 2 },
    { "Zm-", "Zm8=", 2 },
    { "+_", NULL, 0 },                  /* both alphabets */
    { "+/-_", NULL, 0 },
    { "Zm9vYmF/Zm9vYmF_", NULL, 0 },
    { "Z", NULL, 0 },
    { "Zm9vY", NULL, 0 },
    { "=", NULL, 0 },
    { "==", NULL, 0 },
    { "===", NULL, 0 },
    { "====", NULL, 0 },
    { "Z=", NULL, 0 },
    { "Z==", NULL, 0 },
    { "Z===", NULL, 0 },
    { "Zg=", NULL, 0 },
    { "Zm8==", NULL, 0 },
    { "Zm9v=", NULL, 0 },
    { "Zm9v==", NULL, 0 },
    { "Zm9v====", NULL, 0 },
    { "Zg==Zg==", NULL, 0 },
    { "Zg=g", NULL, 0 },
    { "=Zg=", NULL, 0 },
    { " Zg==", NULL, 0 },
    { "Zg==\n", NULL, 0 },
    { "Zm 9", NULL, 0 },
    { "Zm.v", NULL, 0 },
    { "Zm9vYmF\xc3\xa9", NULL, 0 },
    { "Zm9\xf6", NULL, 0 }              /* 'v' with its high bit set */
};


static void
unit_text(unit_base64_t *test)
{
    size_t      size;
    u_char     *room;
    ngx_int_t   rc, expected;
    ngx_str_t   name, text, written;

    name.data = (u_char *) test->text;
    name.len = strlen(test->text);
    text = unit_copy(&name);

    expected = (test->canonical == NULL) ? NGX_ERROR
               : strcmp(test->text, test->canonical) ? NGX_DONE : NGX_OK;

    size = 77;
    rc = ngx_queues_base_base64_check(&text, &size);

    unit_ok(rc == expected, "base64", &name);

    if (rc != NGX_ERROR && expected != NGX_ERROR) {

        unit_ok(size == test->size, "size", &name);

        room = malloc(ngx_queues_base_base64_length(size) + 1);

        written.data = room;
        written.len = ngx_queues_base_base64_canonical(room, &text) - room;

        unit_ok(written.len == strlen(test->canonical)
                && written.len == ngx_queues_base_base64_length(size)
                && memcmp(room, test->canonical, written.len) == 0,
                "canonical", &name);

        ngx_memcpy(room, text.data, text.len);
        text.len = name.len;

        free(text.data);
        text.data = room;

        unit_ok(ngx_queues_base_base64_canonical(room, &text)
                == room + written.len
                && memcmp(room, test->canonical, written.len) == 0,
                "in place", &name);
    }

    free(text.data);
}


/* each byte as a digit */

static void
unit_digits(void)
{
    size_t      size;
    u_char      byte[4], c;
    ngx_int_t   rc;
    ngx_str_t   text;
    ngx_uint_t  i, right;

    text.data = byte;
    text.len = 4;
    right = 1;

    for (i = 0; i < 256; i++) {
        memset(byte, 'A', 4);
        c = (u_char) i;
        byte[2] = c;

        rc = ngx_queues_base_base64_check(&text, &size);

        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
            || (c >= '0' && c <= '9') || c == '+' || c == '/')
        {
            right &= (rc == NGX_OK);

        } else if (c == '-' || c == '_') {
            right &= (rc == NGX_DONE);

        } else {
            right &= (rc == NGX_ERROR);
        }
    }

    unit_ok(right, "each byte", NULL);
}


int
main(void)
{
    ngx_uint_t  i;

    for (i = 0; i < UNIT_ROWS(unit_texts); i++) {
        unit_text(&unit_texts[i]);
    }

    unit_digits();

    return unit_done();
}
