
/*
 * Some members of a message as one word: percent-encoded, with colons between.
 * They are any text, and are to pass through shells and be copied by hand.
 */

#include "queuectl_logs_ack.h"
#include "queuectl_json.h"
#include "queuectl_logs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>


static int queuectl_logs_word(queuectl_span_t message,
    const char *const *names, int n, const char *between,
    queuectl_buf_t *word);
static void queuectl_logs_encode(queuectl_buf_t *word, queuectl_buf_t *text);


static const char *const  queuectl_logs_letter_names[] = {
    "partitionId", "transactionId"
};


static int
queuectl_logs_word(queuectl_span_t message, const char *const *names, int n,
    const char *between, queuectl_buf_t *word)
{
    int             i, ok;
    queuectl_buf_t  text;

    ok = 1;
    memset(&text, 0, sizeof(queuectl_buf_t));

    for (i = 0; ok && i < n; i++) {
        queuectl_buf_clear(&text);
        queuectl_buf_text(&text, "");
        ok = queuectl_json_member_text(message, names[i], &text);

        queuectl_buf_text(word, i ? between : "");
        queuectl_logs_encode(word, &text);
    }

    queuectl_buf_free(&text);

    return ok;
}


/* an id may have zeros in it */

static void
queuectl_logs_encode(queuectl_buf_t *word, queuectl_buf_t *text)
{
    size_t  at;

    for (at = 0; at <= text->len; at += strlen(text->data + at) + 1) {
        queuectl_buf_text(word, at ? "%00" : "");
        queuectl_buf_url(word, text->data + at);
    }
}


int
queuectl_logs_handle(queuectl_span_t message, queuectl_buf_t *handle)
{
    return queuectl_logs_word(message, queuectl_logs_ack_names,
                              QUEUECTL_LOGS_ACK_NPARTS, ":", handle);
}


int
queuectl_logs_letter(queuectl_span_t message, queuectl_buf_t *letter)
{
    return queuectl_logs_word(message, queuectl_logs_letter_names, 2, ":",
                              letter);
}


int
queuectl_logs_letter_path(queuectl_span_t message, const char *rest,
    queuectl_buf_t *path)
{
    int  ok;

    queuectl_logs_path(path, "messages/", NULL);
    ok = queuectl_logs_word(message, queuectl_logs_letter_names, 2, "/", path);
    queuectl_buf_text(path, rest);

    if (!ok) {
        queuectl_buf_free(path);
    }

    return ok;
}


int
queuectl_logs_letter_named(const char *letter, const char *rest,
    queuectl_buf_t *path)
{
    int             i, ok;
    queuectl_buf_t  parts[2];

    memset(parts, 0, sizeof(parts));
    ok = queuectl_logs_handle_read(letter, 2, parts);

    if (ok) {
        queuectl_logs_path(path, "messages", NULL);

        for (i = 0; i < 2; i++) {
            queuectl_buf_text(path, "/");
            queuectl_buf_text(&parts[i], "");
            queuectl_logs_encode(path, &parts[i]);
        }

        queuectl_buf_text(path, rest);
    }

    queuectl_buf_free(&parts[0]);
    queuectl_buf_free(&parts[1]);

    return ok;
}


int
queuectl_logs_handle_read(const char *text, int n, queuectl_buf_t *parts)
{
    int          i;
    char         hex[3], byte;
    const char  *p;

    i = 0;

    for (p = text; *p; p++) {
        byte = *p;

        if (*p == ':') {
            if (++i == n) {
                return 0;
            }

            continue;
        }

        if (*p == '%') {
            if (!isxdigit((unsigned char) p[1])
                || !isxdigit((unsigned char) p[2]))
            {
                return 0;
            }

            memcpy(hex, p + 1, 2);
            hex[2] = '\0';
            byte = strtol(hex, NULL, 16);
            p += 2;
        }

        queuectl_buf_add(&parts[i], &byte, 1);
    }

    return i == n - 1;
}
