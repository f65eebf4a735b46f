
/* Where the server is and who we are: flags, environment, configuration. */

#include "queuectl_out.h"
#include "queuectl_settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static char *queuectl_config_choose(queuectl_t *q, const char *flag,
    const char *variable, const char *value, const char **from);
static queuectl_exit_e queuectl_config_endpoint(queuectl_t *q,
    queuectl_settings_t *s);
static queuectl_exit_e queuectl_config_project(queuectl_t *q,
    queuectl_settings_t *s);
static queuectl_exit_e queuectl_config_key(queuectl_t *q,
    queuectl_settings_t *s);
static int queuectl_config_is_here(const char *host);
static void queuectl_config_warn(queuectl_t *q);
static queuectl_exit_e queuectl_config_colour(queuectl_t *q);


/* a copy of the first that there is, or NULL */

static char *
queuectl_config_choose(queuectl_t *q, const char *flag, const char *variable,
    const char *value, const char **from)
{
    const char  *text;

    text = flag ? queuectl_text(q, flag) : NULL;
    *from = "the command line";

    if (text == NULL) {
        text = getenv(variable);
        *from = variable;
    }

    /* an empty variable is one that was meant to be unset */

    if (text == NULL || (*from == variable && *text == '\0')) {
        text = value;
        *from = "the configuration file";
    }

    return text ? queuectl_copy(text, strlen(text)) : NULL;
}


static queuectl_exit_e
queuectl_config_endpoint(queuectl_t *q, queuectl_settings_t *s)
{
    char        *p;
    const char  *host;
    size_t       len;

    q->endpoint = queuectl_config_choose(q, "endpoint", "QUEUES_URL",
                                         s->values[QUEUECTL_SET_ENDPOINT],
                                         &q->endpoint_from);

    if (q->endpoint == NULL) {
        queuectl_error("which server? Say so with --endpoint URL, QUEUES_URL "
                       "or queuectl config set endpoint URL");
        return QUEUECTL_USAGE;
    }

    host = strncmp(q->endpoint, "https://", 8) == 0 ? q->endpoint + 8
           : strncmp(q->endpoint, "http://", 7) == 0 ? q->endpoint + 7 : "";

    for (p = q->endpoint; *p > ' ' && *p <= '~'; p++) { /* void */ }

    len = strcspn(host, "/");

    if (len == 0 || *p || strpbrk(host, "?#") || memchr(host, '@', len)) {
        queuectl_error("the endpoint of %s is not one: %s\n"
                       "It is such as https://queues.example.com",
                       q->endpoint_from, q->endpoint);
        return QUEUECTL_USAGE;
    }

    while (p[-1] == '/') {
        *--p = '\0';
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_config_project(queuectl_t *q, queuectl_settings_t *s)
{
    const char  *slash, *from;

    q->project = queuectl_config_choose(q, "project", "QUEUES_PROJECT",
                                        s->values[QUEUECTL_SET_PROJECT], &from);

    if (q->project == NULL) {
        queuectl_error("of which project? Say so with --project ORG/PROJECT, "
                       "QUEUES_PROJECT or queuectl config set project "
                       "ORG/PROJECT");
        return QUEUECTL_USAGE;
    }

    slash = strchr(q->project, '/');

    if (slash == NULL || slash == q->project || slash[1] == '\0'
        || strchr(slash + 1, '/'))
    {
        queuectl_error("the project of %s is not one: %s\n"
                       "It is such as acme/shop", from, q->project);
        return QUEUECTL_USAGE;
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_config_key(queuectl_t *q, queuectl_settings_t *s)
{
    int              i;
    char            *path;
    const char      *p;
    queuectl_exit_e  rc;

    /* a file of the same place as a key: the flags', the environment's … */

    const struct {
        const char  *key;
        const char  *file;
        const char  *key_from;
    } places[] = {
        { queuectl_text(q, "key"), queuectl_text(q, "key-file"),
          "the command line" },
        { getenv("QUEUES_KEY"), getenv("QUEUES_KEY_FILE"), "QUEUES_KEY" },
        { s->values[QUEUECTL_SET_KEY], s->values[QUEUECTL_SET_KEY_FILE],
          "the configuration file" },
    };

    if (places[0].key && places[0].file) {
        return queuectl_usage(q, "--key and --key-file are one too many");
    }

    for (i = 0; i < 3; i++) {
        if (places[i].key && places[i].key[0]) {
            q->key = queuectl_copy(places[i].key, strlen(places[i].key));
            q->key_from = places[i].key_from;
            break;
        }

        if (places[i].file && places[i].file[0]) {
            path = queuectl_copy(places[i].file, strlen(places[i].file));
            rc = queuectl_settings_secret(path, &q->key);
            free(path);

            if (rc != QUEUECTL_OK) {
                return rc;
            }

            q->key_from = places[i].file;
            break;
        }
    }

    for (p = q->key; p && *p; p++) {
        if (*p <= ' ' || *p > '~') {
            queuectl_error("the key of %s has characters that no key has",
                           q->key_from);
            return QUEUECTL_AUTH;
        }
    }

    return QUEUECTL_OK;
}


/* whether an address begins with the name of this machine, and ends there */

static int
queuectl_config_is_here(const char *host)
{
    size_t  i, len;

    static const char *const  here[] = { "localhost", "[::1]" };

    len = strspn(host, "0123456789.");

    if (strncmp(host, "127.", 4) != 0) {
        for (i = 0, len = 0; i < sizeof(here) / sizeof(here[0]) && !len; i++) {
            len = strncmp(host, here[i], strlen(here[i])) == 0
                  ? strlen(here[i]) : 0;
        }
    }

    return len && (host[len] == '\0' || host[len] == ':' || host[len] == '/');
}


static void
queuectl_config_warn(queuectl_t *q)
{
    if (q->insecure) {
        queuectl_error("--insecure: the server's certificate is not checked, "
                       "anybody may read and change what is sent");
    }

    if (q->key && strncmp(q->endpoint, "http://", 7) == 0
        && !queuectl_config_is_here(q->endpoint + 7))
    {
        queuectl_note(q, "the key goes to %s without encryption", q->endpoint);
    }
}


static queuectl_exit_e
queuectl_config_colour(queuectl_t *q)
{
    const char  *when, *term;

    when = queuectl_text(q, "color");

    if (when == NULL || strcmp(when, "auto") == 0) {
        term = getenv("TERM");
        q->colour = isatty(STDOUT_FILENO)
                    && !(getenv("NO_COLOR") && *getenv("NO_COLOR"))
                    && term && strcmp(term, "dumb") != 0;

    } else if (strcmp(when, "always") == 0) {
        q->colour = 1;

    } else if (strcmp(when, "never") != 0) {
        return queuectl_usage(q, "--color %s: it is auto, always or never",
                              when);
    }

    return QUEUECTL_OK;
}


queuectl_exit_e
queuectl_config_load(queuectl_t *q)
{
    unsigned             needs;
    const char          *from;
    queuectl_exit_e      rc;
    queuectl_settings_t  s;

    needs = q->command->needs;

    q->json = queuectl_given(q, "json");
    q->quiet = queuectl_given(q, "quiet");
    q->verbose = queuectl_given(q, "verbose");
    q->insecure = queuectl_given(q, "insecure");
    q->timeout = queuectl_number(q, "timeout", 30);
    q->connect_timeout = queuectl_number(q, "connect-timeout", 10);
    q->retries = queuectl_number(q, "retries", -1);

    rc = queuectl_config_colour(q);

    if (rc != QUEUECTL_OK || needs == 0) {
        return rc;
    }

    rc = queuectl_settings_read(q, &s);

    if (rc == QUEUECTL_OK && needs & QUEUECTL_ENDPOINT) {
        rc = queuectl_config_endpoint(q, &s);
    }

    if (rc == QUEUECTL_OK && needs & QUEUECTL_PROJECT) {
        rc = queuectl_config_project(q, &s);
    }

    if (rc == QUEUECTL_OK && needs & QUEUECTL_KEY) {
        rc = queuectl_config_key(q, &s);
    }

    if (rc == QUEUECTL_OK) {
        q->cacert = queuectl_config_choose(q, "cacert", "QUEUES_CACERT",
                                           s.values[QUEUECTL_SET_CACERT],
                                           &from);
        queuectl_config_warn(q);
    }

    queuectl_settings_free(&s);

    return rc;
}
