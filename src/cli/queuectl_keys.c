
/* API keys are made here, and known to nobody else: the server has a hash. */

#include "queuectl_out.h"
#include "queuectl_secret.h"

#include <openssl/sha.h>
#include <string.h>


#define QUEUECTL_KEYS_BYTES  24


static queuectl_exit_e queuectl_keys_create(queuectl_t *q);
static queuectl_exit_e queuectl_keys_check(queuectl_t *q, const char *what,
    const char *text, int list);
static void queuectl_keys_make(char *key, size_t size);
static void queuectl_keys_line(queuectl_t *q, const char *key,
    queuectl_buf_t *line);
static void queuectl_keys_print(queuectl_t *q, const char *key,
    queuectl_buf_t *line);


static const queuectl_flag_t  queuectl_keys_create_flags[] = {
    { "permissions", 0, QUEUECTL_TEXT, "LIST",
      "what it may do: globs, with commas between them" },
    { "resources", 0, QUEUECTL_TEXT, "LIST",
      "on which queues: globs over ORG/PROJECT/QUEUE" },
    { "secret-file", 0, QUEUECTL_TEXT, "FILE",
      "write the key to this new file, and do not show it" },
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_keys_commands[] = {
    { "keys", "create", "NAME", 1, 1, 0,
      "Make an API key, and its line for the server's queues_api_keys",
      "No server is asked: add the line to the file of queues_api_keys on all "
      "nodes and\nreload nginx. The key is shown this once.\n\n"
      "  queuectl keys create worker --permissions 'queues.messages.*' "
      "--resources 'acme/shop/*'\n"
      "  queuectl keys create worker --permissions 'queues.messages.*' "
      "--resources 'acme/shop/*' \\\n"
      "      --secret-file worker.key >> queues.keys\n",
      queuectl_keys_create_flags, queuectl_keys_create },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_keys_create(queuectl_t *q)
{
    int              fd;
    char             key[64];
    const char      *file;
    queuectl_buf_t   line;
    queuectl_exit_e  rc;

    file = queuectl_text(q, "secret-file");

    if (file && q->json) {
        return queuectl_usage(q, "--json has the key: "
                              "--secret-file is one too many");
    }

    rc = queuectl_keys_check(q, "the name", q->arguments[0], 0);
    rc = rc ? rc : queuectl_keys_check(q, "--permissions",
                                       queuectl_text(q, "permissions"), 1);
    rc = rc ? rc : queuectl_keys_check(q, "--resources",
                                       queuectl_text(q, "resources"), 1);
    queuectl_keys_make(key, sizeof(key));

    if (rc == QUEUECTL_OK && file) {
        rc = queuectl_secret_open(file, &fd);
        rc = rc ? rc : queuectl_secret_close(file, fd, key);
    }

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    memset(&line, 0, sizeof(queuectl_buf_t));
    queuectl_keys_line(q, key, &line);

    if (file) {
        printf("%s\n", line.data);

    } else {
        queuectl_keys_print(q, key, &line);
    }

    queuectl_buf_free(&line);

    return QUEUECTL_OK;
}


/* what the server would refuse, and then not start with */

static queuectl_exit_e
queuectl_keys_check(queuectl_t *q, const char *what, const char *text,
    int list)
{
    char         before;
    const char  *p;

    if (text == NULL) {
        return queuectl_usage(q, "%s is missing: a key has permissions on "
                              "resources", what);
    }

    before = ',';

    for (p = text; *p; p++) {
        if (*p <= ' ' || *p > '~') {
            return queuectl_usage(q, "%s is printable ASCII without blanks: %s",
                                  what, text);
        }

        if (list && *p == ',' && before == ',') {
            break;
        }

        before = *p;
    }

    if (list && before == ',') {
        return queuectl_usage(q, "%s is a list with one comma between two: %s",
                              what, text);
    }

    return QUEUECTL_OK;
}


static void
queuectl_keys_make(char *key, size_t size)
{
    size_t         i, len;
    unsigned char  bytes[QUEUECTL_KEYS_BYTES];

    queuectl_random(bytes, sizeof(bytes));

    len = snprintf(key, size, "qk_");

    for (i = 0; i < sizeof(bytes); i++) {
        len += snprintf(key + len, size - len, "%02x", bytes[i]);
    }
}


static void
queuectl_keys_line(queuectl_t *q, const char *key, queuectl_buf_t *line)
{
    size_t         i;
    unsigned char  hash[SHA256_DIGEST_LENGTH];

    SHA256((const unsigned char *) key, strlen(key), hash);

    for (i = 0; i < sizeof(hash); i++) {
        queuectl_buf_print(line, "%02x", hash[i]);
    }

    queuectl_buf_print(line, " %s %s %s", q->arguments[0],
                       queuectl_text(q, "permissions"),
                       queuectl_text(q, "resources"));
}


static void
queuectl_keys_print(queuectl_t *q, const char *key, queuectl_buf_t *line)
{
    queuectl_buf_t    json;
    queuectl_table_t  t;

    if (q->json) {
        memset(&json, 0, sizeof(queuectl_buf_t));
        queuectl_buf_text(&json, "{");
        queuectl_buf_member_text(&json, "principal", q->arguments[0]);
        queuectl_buf_member_text(&json, "key", key);
        queuectl_buf_member_text(&json, "line", line->data);
        queuectl_buf_text(&json, "}");
        queuectl_out_json(queuectl_buf_span(&json));
        queuectl_buf_free(&json);
        return;
    }

    queuectl_table_init(&t, NULL, 2);
    queuectl_table_add(&t, "Key");
    queuectl_table_add(&t, key);
    queuectl_table_add(&t, "Line");
    queuectl_table_add(&t, line->data);
    queuectl_table_end(q, &t);

    queuectl_note(q, "the key is shown this once; the line is for the file of "
                  "queues_api_keys");
}
