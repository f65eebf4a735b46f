
/* The configuration file, for those who do not want to edit it. */

#include "queuectl_out.h"
#include "queuectl_settings.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>


static queuectl_exit_e queuectl_config_set(queuectl_t *q);
static queuectl_exit_e queuectl_config_unset(queuectl_t *q);
static queuectl_exit_e queuectl_config_get(queuectl_t *q);
static queuectl_exit_e queuectl_config_list(queuectl_t *q);
static queuectl_exit_e queuectl_config_path(queuectl_t *q);
static int queuectl_config_index(queuectl_t *q);
static queuectl_exit_e queuectl_config_change(queuectl_t *q, int i,
    const char *value);
static queuectl_exit_e queuectl_config_ask(const char *name,
    queuectl_buf_t *value);


#define QUEUECTL_CONFIG_DETAILS                                               \
    "NAME is endpoint, project, key, key-file or cacert. The file is written "  \
    "anew, without\nits comments.\n"


const queuectl_command_t  queuectl_config_commands[] = {
    { "config", "set", "NAME [VALUE]", 1, 2, 0,
      "Set a value in the configuration file",
      QUEUECTL_CONFIG_DETAILS
      "Without VALUE it is read from stdin, and not shown on a terminal: a key "
      "is then in\nno list of processes and no history.\n\n"
      "  queuectl config set endpoint https://queues.example.com\n"
      "  queuectl config set project acme/shop\n"
      "  queuectl config set key\n",
      NULL, queuectl_config_set },

    { "config", "unset", "NAME", 1, 1, 0,
      "Remove a value from the configuration file",
      QUEUECTL_CONFIG_DETAILS, NULL, queuectl_config_unset },

    { "config", "get", "NAME", 1, 1, 0,
      "Show a value of the configuration file",
      "NAME is endpoint, project, key, key-file or cacert.\n",
      NULL, queuectl_config_get },

    { "config", "list", "", 0, 0, 0,
      "Show the configuration file, without the key",
      NULL, NULL, queuectl_config_list },

    { "config", "path", "", 0, 0, 0, "Show where the configuration file is",
      "--config FILE, else QUEUECTL_CONFIG, else queuectl/config in "
      "XDG_CONFIG_HOME or\n~/.config.\n", NULL, queuectl_config_path },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static int
queuectl_config_index(queuectl_t *q)
{
    int  i;

    for (i = 0; i < QUEUECTL_SETTINGS; i++) {
        if (strcmp(q->arguments[0], queuectl_settings_names[i]) == 0) {
            return i;
        }
    }

    queuectl_usage(q, "there is no setting \"%s\"", q->arguments[0]);

    return -1;
}


static queuectl_exit_e
queuectl_config_change(queuectl_t *q, int i, const char *value)
{
    queuectl_exit_e      rc;
    queuectl_settings_t  s;

    rc = queuectl_settings_read(q, &s);

    if (rc == QUEUECTL_OK) {
        free(s.values[i]);
        s.values[i] = value ? queuectl_copy(value, strlen(value)) : NULL;
        rc = queuectl_settings_write(&s);
    }

    queuectl_settings_free(&s);

    return rc;
}


/* a line of stdin; what is typed is not shown */

static queuectl_exit_e
queuectl_config_ask(const char *name, queuectl_buf_t *value)
{
    int              terminal;
    char            *line;
    size_t           size;
    ssize_t          len;
    struct termios   before, silent;

    terminal = tcgetattr(STDIN_FILENO, &before) == 0;

    if (terminal) {
        fprintf(stderr, "%s: ", name);
        silent = before;
        silent.c_lflag &= ~(tcflag_t) ECHO;
        tcsetattr(STDIN_FILENO, TCSANOW, &silent);
    }

    line = NULL;
    size = 0;
    len = getline(&line, &size, stdin);

    if (terminal) {
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
        fputs("\n", stderr);
    }

    if (len > 0) {
        queuectl_buf_add(value, line, strcspn(line, "\r\n"));
    }

    free(line);

    return len > 0 ? QUEUECTL_OK : queuectl_interrupts() ? QUEUECTL_INTERRUPTED
           : QUEUECTL_FAILED;
}


static queuectl_exit_e
queuectl_config_set(queuectl_t *q)
{
    int              i;
    queuectl_buf_t   value;
    queuectl_exit_e  rc;

    i = queuectl_config_index(q);

    if (i < 0) {
        return QUEUECTL_USAGE;
    }

    memset(&value, 0, sizeof(queuectl_buf_t));
    rc = QUEUECTL_OK;

    if (q->narguments == 2) {
        queuectl_buf_text(&value, q->arguments[1]);

    } else {
        rc = queuectl_config_ask(q->arguments[0], &value);
    }

    if (rc != QUEUECTL_INTERRUPTED
        && (value.len == 0 || strchr(value.data, '\n')))
    {
        rc = queuectl_usage(q, "a value is one line, and not empty");
    }

    if (rc == QUEUECTL_OK) {
        rc = queuectl_config_change(q, i, value.data);
    }

    queuectl_buf_free(&value);

    return rc;
}


static queuectl_exit_e
queuectl_config_unset(queuectl_t *q)
{
    int  i;

    i = queuectl_config_index(q);

    return i < 0 ? QUEUECTL_USAGE : queuectl_config_change(q, i, NULL);
}


static queuectl_exit_e
queuectl_config_get(queuectl_t *q)
{
    int                  i;
    queuectl_exit_e      rc;
    queuectl_settings_t  s;

    i = queuectl_config_index(q);

    if (i < 0) {
        return QUEUECTL_USAGE;
    }

    rc = queuectl_settings_read(q, &s);

    if (rc == QUEUECTL_OK && s.values[i] == NULL) {
        queuectl_error("%s is not set", q->arguments[0]);
        rc = QUEUECTL_NOT_FOUND;
    }

    if (rc == QUEUECTL_OK) {
        queuectl_out_safe(s.values[i]);
    }

    queuectl_settings_free(&s);

    return rc;
}


static queuectl_exit_e
queuectl_config_list(queuectl_t *q)
{
    int                  i;
    const char          *value;
    queuectl_buf_t       json;
    queuectl_table_t     t;
    queuectl_exit_e      rc;
    queuectl_settings_t  s;

    rc = queuectl_settings_read(q, &s);

    memset(&json, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&json, "{");
    queuectl_table_init(&t, NULL, 2);

    for (i = 0; i < QUEUECTL_SETTINGS && rc == QUEUECTL_OK; i++) {
        value = i == QUEUECTL_SET_KEY && s.values[i] ? "(not shown)"
                : s.values[i];

        if (value) {
            queuectl_table_add(&t, queuectl_settings_names[i]);
            queuectl_table_add(&t, value);

            if (queuectl_buf_member_text(&json, queuectl_settings_names[i],
                                         value) == -1)
            {
                queuectl_error("%s is not UTF-8", queuectl_settings_names[i]);
                rc = QUEUECTL_FAILED;
            }
        }
    }

    queuectl_buf_text(&json, "}");

    if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(queuectl_buf_span(&json));
        queuectl_table_free(&t);

    } else {
        queuectl_table_end(q, &t);
    }

    queuectl_buf_free(&json);
    queuectl_settings_free(&s);

    return rc;
}


static queuectl_exit_e
queuectl_config_path(queuectl_t *q)
{
    char  *path;

    path = queuectl_settings_path(q);

    if (path == NULL) {
        queuectl_error("there is no HOME for a configuration file");
        return QUEUECTL_FAILED;
    }

    queuectl_out_safe(path);
    free(path);

    return QUEUECTL_OK;
}
