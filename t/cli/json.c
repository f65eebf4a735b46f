
/*
 * A driver for t/cli_json.t: for each line of stdin, in hex, whether it is
 * JSON; and what its items, members and characters are, in hex again.
 */

#include "queuectl_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


static void
print_hex(const char *what, queuectl_span_t span)
{
    size_t  i;

    printf(" %s:", what);

    for (i = 0; i < span.len; i++) {
        printf("%02x", (unsigned char) span.data[i]);
    }
}


static void
look(queuectl_span_t text)
{
    size_t           bad;
    queuectl_buf_t   b;
    queuectl_span_t  value, item, name, member;

    if (queuectl_json_check(text) == -1) {
        printf("no\n");
        return;
    }

    printf("yes");

    value = queuectl_json_value(text);
    print_hex("value", value);

    item.data = name.data = NULL;

    while (queuectl_json_next(value, &item)) {
        print_hex("item", item);
    }

    while (queuectl_json_next_member(value, &name, &member)) {
        print_hex("name", name);
        print_hex("member", member);
    }

    memset(&b, 0, sizeof(queuectl_buf_t));

    if (queuectl_json_text(value, &b)) {
        print_hex("text", queuectl_buf_span(&b));

        item = queuectl_buf_span(&b);
        memset(&b, 0, sizeof(queuectl_buf_t));

        if (queuectl_buf_json(&b, item, &bad) == 0) {
            print_hex("again", queuectl_buf_span(&b));
        }

        queuectl_buf_clear(&b);
        queuectl_buf_safe(&b, item, 0);
        print_hex("safe", queuectl_buf_span(&b));

        free((void *) (item.len ? item.data : NULL));
    }

    queuectl_buf_free(&b);
    printf("\n");
}


int
main(void)
{
    char             *line;
    size_t            size, i;
    ssize_t           len;
    unsigned          byte;
    queuectl_span_t   text;

    line = NULL;
    size = 0;

    while ((len = getline(&line, &size, stdin)) > 0) {
        char  *bytes;

        /* of exactly that size, so that the sanitizer sees a step beyond */

        text.len = (len - 1) / 2;
        bytes = malloc(text.len ? text.len : 1);

        for (i = 0; i < text.len; i++) {
            sscanf(line + 2 * i, "%2x", &byte);
            bytes[i] = byte;
        }

        text.data = bytes;
        look(text);
        free(bytes);
    }

    free(line);

    return 0;
}
