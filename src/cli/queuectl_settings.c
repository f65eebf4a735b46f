
#include "queuectl_settings.h"
#include "queuectl_out.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


static char *queuectl_settings_trim(char *text);
static queuectl_exit_e queuectl_settings_parse(queuectl_settings_t *s,
    char *line, int number);
static queuectl_exit_e queuectl_settings_private(FILE *f, const char *path);
static queuectl_exit_e queuectl_settings_folder(const char *path);


const char *const  queuectl_settings_names[] = {
    "endpoint", "project", "key", "key-file", "cacert"
};


char *
queuectl_settings_path(queuectl_t *q)
{
    const char      *path, *home;
    queuectl_buf_t   b;

    path = queuectl_text(q, "config");
    path = path ? path : getenv("QUEUECTL_CONFIG");

    if (path) {
        return queuectl_copy(path, strlen(path));
    }

    memset(&b, 0, sizeof(queuectl_buf_t));

    path = getenv("XDG_CONFIG_HOME");
    home = getenv("HOME");

    if (path && path[0] == '/') {
        queuectl_buf_text(&b, path);

    } else if (home && home[0]) {
        queuectl_buf_print(&b, "%s/.config", home);

    } else {
        return NULL;
    }

    queuectl_buf_text(&b, "/queuectl/config");

    return b.data;
}


static char *
queuectl_settings_trim(char *text)
{
    size_t  len;

    while (isspace((unsigned char) *text)) {
        text++;
    }

    len = strlen(text);

    while (len && isspace((unsigned char) text[len - 1])) {
        text[--len] = '\0';
    }

    return text;
}


/* as ssh has it: a secret that others can read is none */

static queuectl_exit_e
queuectl_settings_private(FILE *f, const char *path)
{
    struct stat  st;

    if (fstat(fileno(f), &st) == -1) {
        queuectl_error("%s: %s", path, strerror(errno));
        return QUEUECTL_FAILED;
    }

    /* a pipe of the shell has no other readers */

    if (!S_ISREG(st.st_mode)) {
        return QUEUECTL_OK;
    }

    if (st.st_mode & 077) {
        queuectl_error("%s has a key that others can read (mode %04o).\n"
                       "It is not used. Mend it: chmod 600 %s", path,
                       (unsigned) st.st_mode & 07777, path);
        return QUEUECTL_AUTH;
    }

    if (st.st_uid != geteuid() && st.st_uid != 0) {
        queuectl_error("%s has a key and belongs to somebody else: "
                       "it is not used", path);
        return QUEUECTL_AUTH;
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_settings_parse(queuectl_settings_t *s, char *line, int number)
{
    int    i;
    char  *name, *value;

    name = queuectl_settings_trim(line);

    if (*name == '\0' || *name == '#') {
        return QUEUECTL_OK;
    }

    value = strchr(name, '=');

    if (value == NULL) {
        queuectl_error("%s:%d: a line is \"name = value\"", s->path, number);
        return QUEUECTL_USAGE;
    }

    *value++ = '\0';
    name = queuectl_settings_trim(name);
    value = queuectl_settings_trim(value);

    for (i = 0; i < QUEUECTL_SETTINGS; i++) {
        if (strcmp(name, queuectl_settings_names[i]) == 0) {
            free(s->values[i]);
            s->values[i] = queuectl_copy(value, strlen(value));
            return QUEUECTL_OK;
        }
    }

    queuectl_error("%s:%d: there is no setting \"%s\"", s->path, number, name);

    return QUEUECTL_USAGE;
}


queuectl_exit_e
queuectl_settings_read(queuectl_t *q, queuectl_settings_t *s)
{
    int              number;
    FILE            *f;
    char            *line;
    size_t           size;
    queuectl_exit_e  rc;

    memset(s, 0, sizeof(queuectl_settings_t));

    s->path = queuectl_settings_path(q);

    if (s->path == NULL) {
        return QUEUECTL_OK;
    }

    f = fopen(s->path, "re");

    if (f == NULL) {
        if ((errno == ENOENT || errno == ENOTDIR)
            && !(queuectl_text(q, "config") && q->command->needs))
        {
            return QUEUECTL_OK;
        }

        queuectl_error("%s: %s", s->path, strerror(errno));
        return QUEUECTL_USAGE;
    }

    line = NULL;
    size = 0;
    rc = QUEUECTL_OK;

    for (number = 1; rc == QUEUECTL_OK && getline(&line, &size, f) > 0;
         number++)
    {
        rc = queuectl_settings_parse(s, line, number);
    }

    if (rc == QUEUECTL_OK && s->values[QUEUECTL_SET_KEY]) {
        rc = queuectl_settings_private(f, s->path);
    }

    free(line);
    fclose(f);

    return rc;
}


queuectl_exit_e
queuectl_settings_secret(const char *path, char **secret)
{
    FILE            *f;
    char            *line;
    size_t           size;
    queuectl_exit_e  rc;

    f = fopen(path, "re");

    if (f == NULL) {
        queuectl_error("%s: %s", path, strerror(errno));
        return QUEUECTL_AUTH;
    }

    rc = queuectl_settings_private(f, path);

    if (rc == QUEUECTL_OK) {
        line = NULL;
        size = 0;

        if (getline(&line, &size, f) > 0) {
            *secret = queuectl_settings_trim(line);
            *secret = queuectl_copy(*secret, strlen(*secret));
        }

        free(line);
    }

    fclose(f);

    if (rc == QUEUECTL_OK && (*secret == NULL || **secret == '\0')) {
        queuectl_error("%s has no key in its first line", path);
        rc = QUEUECTL_AUTH;
    }

    return rc;
}


static queuectl_exit_e
queuectl_settings_folder(const char *path)
{
    char  *copy, *p;

    copy = queuectl_copy(path, strlen(path));

    for (p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';

        if (mkdir(copy, 0700) == -1 && errno != EEXIST) {
            queuectl_error("%s: %s", copy, strerror(errno));
            free(copy);
            return QUEUECTL_FAILED;
        }

        *p = '/';
    }

    free(copy);

    return QUEUECTL_OK;
}


/* a new file takes the place of the old one: never half of it is there */

queuectl_exit_e
queuectl_settings_write(queuectl_settings_t *s)
{
    int              i, fd;
    FILE            *f;
    queuectl_buf_t   path;
    queuectl_exit_e  rc;

    if (s->path == NULL) {
        queuectl_error("there is no HOME for a configuration file: "
                       "name one with --config FILE");
        return QUEUECTL_USAGE;
    }

    if (queuectl_settings_folder(s->path) != QUEUECTL_OK) {
        return QUEUECTL_FAILED;
    }

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&path, "%s.XXXXXX", s->path);

    fd = mkostemp(path.data, O_CLOEXEC);            /* with a mode of 0600 */
    f = fd == -1 ? NULL : fdopen(fd, "w");

    for (i = 0; f && i < QUEUECTL_SETTINGS; i++) {
        if (s->values[i]) {
            fprintf(f, "%s = %s\n", queuectl_settings_names[i], s->values[i]);
        }
    }

    rc = QUEUECTL_OK;

    if (f == NULL || fflush(f) || fsync(fd) == -1
        || rename(path.data, s->path) == -1)
    {
        queuectl_error("%s: %s", s->path, strerror(errno));
        rc = QUEUECTL_FAILED;

        if (fd != -1) {
            unlink(path.data);
        }
    }

    if (f) {
        fclose(f);
    }

    queuectl_buf_free(&path);

    return rc;
}


void
queuectl_settings_free(queuectl_settings_t *s)
{
    int  i;

    for (i = 0; i < QUEUECTL_SETTINGS; i++) {
        free(s->values[i]);
    }

    free(s->path);
}
