
#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"
#include "queuectl_secret.h"
#include "queuectl_subscriptions.h"

#include <string.h>


static queuectl_exit_e queuectl_subscriptions_create(queuectl_t *q);
static queuectl_exit_e queuectl_subscriptions_get(queuectl_t *q);
static queuectl_exit_e queuectl_subscriptions_update(queuectl_t *q);
static queuectl_exit_e queuectl_subscriptions_pause(queuectl_t *q);
static queuectl_exit_e queuectl_subscriptions_resume(queuectl_t *q);
static queuectl_exit_e queuectl_subscriptions_delete(queuectl_t *q);
static queuectl_exit_e queuectl_subscriptions_rotate(queuectl_t *q);
static queuectl_exit_e queuectl_subscriptions_settings(queuectl_t *q,
    queuectl_buf_t *body);
static queuectl_exit_e queuectl_subscriptions_call(queuectl_t *q,
    const char *method, const char *name, const char *rest,
    queuectl_buf_t *body);
static queuectl_exit_e queuectl_subscriptions_secret(queuectl_t *q,
    const char *name, const char *rest, queuectl_buf_t *body);


#define QUEUECTL_SUBSCRIPTIONS_SETTINGS                                       \
    { "delivery-timeout", 0, QUEUECTL_SECONDS, "TIME",                        \
      "how long the endpoint may take to answer" },                           \
    { "batch-size", 0, QUEUECTL_NUMBER, "N", "messages of a delivery" },      \
    { "max-concurrency", 0, QUEUECTL_NUMBER, "N", "deliveries at once" }

#define QUEUECTL_SUBSCRIPTIONS_FILE                                           \
    { "secret-file", 0, QUEUECTL_TEXT, "FILE",                                \
      "write the secret to this new file, and do not show it" }

static const queuectl_flag_t  queuectl_subscriptions_create_flags[] = {
    { "url", 'u', QUEUECTL_TEXT, "URL", "the https endpoint" },
    QUEUECTL_SUBSCRIPTIONS_SETTINGS,
    { "paused", 0, QUEUECTL_SWITCH, NULL, "no deliveries until it is resumed" },
    QUEUECTL_SUBSCRIPTIONS_FILE,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subscriptions_update_flags[] = {
    { "url", 'u', QUEUECTL_TEXT, "URL", "the https endpoint" },
    QUEUECTL_SUBSCRIPTIONS_SETTINGS,
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subscriptions_list_flags[] = {
    { "queue", 0, QUEUECTL_TEXT, "QUEUE", "that of this queue" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subscriptions_delete_flags[] = {
    { "yes", 'y', QUEUECTL_SWITCH, NULL, "do not ask" },
    { NULL, 0, 0, NULL, NULL }
};

static const queuectl_flag_t  queuectl_subscriptions_rotate_flags[] = {
    QUEUECTL_SUBSCRIPTIONS_FILE,
    { NULL, 0, 0, NULL, NULL }
};


const queuectl_command_t  queuectl_subscriptions_commands[] = {
    { "subscriptions", "create", "QUEUE", 1, 1, QUEUECTL_API,
      "Have the messages of a queue POSTed to an https endpoint",
      "The secret that verifies signatures is shown this once.\n\n"
      "  queuectl subscriptions create orders --url "
      "https://hooks.example.com/orders\n",
      queuectl_subscriptions_create_flags, queuectl_subscriptions_create },

    { "subscriptions", "list", "", 0, 0, QUEUECTL_API,
      "List the subscriptions, and how their deliveries go",
      NULL, queuectl_subscriptions_list_flags, queuectl_subscriptions_list },

    { "subscriptions", "get", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Show a subscription", "SUBSCRIPTION is one of its ids.\n",
      NULL, queuectl_subscriptions_get },

    { "subscriptions", "update", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Change settings of a subscription",
      "What is not named stays as it is.\n",
      queuectl_subscriptions_update_flags, queuectl_subscriptions_update },

    { "subscriptions", "pause", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Start no deliveries", "Messages wait in the queue meanwhile.\n",
      NULL, queuectl_subscriptions_pause },

    { "subscriptions", "resume", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Start deliveries again", NULL, NULL, queuectl_subscriptions_resume },

    { "subscriptions", "delete", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Delete a subscription",
      "The queue and its messages stay. It asks first; scripts say --yes.\n",
      queuectl_subscriptions_delete_flags, queuectl_subscriptions_delete },

    { "subscriptions", "rotate-secret", "SUBSCRIPTION", 1, 1, QUEUECTL_API,
      "Make a new signing secret",
      "Deliveries are signed with the old one as well for 24 hours. The new "
      "one is shown\nthis once.\n",
      queuectl_subscriptions_rotate_flags, queuectl_subscriptions_rotate },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_subscriptions_settings(queuectl_t *q, queuectl_buf_t *body)
{
    size_t       i;
    const char  *url;

    static const struct {
        const char  *flag;
        const char  *member;
    } numbers[] = {
        { "batch-size", "batchSize" },
        { "max-concurrency", "maxConcurrency" },
    };

    url = queuectl_text(q, "url");

    if (url || queuectl_given(q, "delivery-timeout")) {
        queuectl_buf_member(body, "target");
        queuectl_buf_text(body, "{");

        if (url && queuectl_buf_member_text(body, "url", url) == -1) {
            return queuectl_usage(q, "--url is not UTF-8");
        }

        if (queuectl_given(q, "delivery-timeout")) {
            queuectl_buf_member_number(body, "timeoutSeconds",
                                       queuectl_number(q, "delivery-timeout",
                                                       0));
        }

        queuectl_buf_text(body, "}");
    }

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (queuectl_given(q, numbers[i].flag)) {
            queuectl_buf_member_number(body, numbers[i].member,
                                       queuectl_number(q, numbers[i].flag, 0));
        }
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_subscriptions_create(queuectl_t *q)
{
    queuectl_buf_t   body;
    queuectl_exit_e  rc;

    if (!queuectl_given(q, "url")) {
        return queuectl_usage(q, "where to? --url URL");
    }

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");

    if (queuectl_buf_member_text(&body, "queueId", q->arguments[0]) == -1) {
        queuectl_buf_free(&body);
        return queuectl_usage(q, "the name is not UTF-8");
    }

    rc = queuectl_subscriptions_settings(q, &body);

    if (queuectl_given(q, "paused")) {
        queuectl_buf_member_text(&body, "state", "paused");
    }

    queuectl_buf_text(&body, "}");

    if (rc == QUEUECTL_OK) {
        rc = queuectl_subscriptions_secret(q, NULL, "", &body);
    }

    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_subscriptions_rotate(queuectl_t *q)
{
    return queuectl_subscriptions_secret(q, q->arguments[0], "/rotate-secret",
                                         NULL);
}


/* the two calls whose answers have a secret */

static queuectl_exit_e
queuectl_subscriptions_secret(queuectl_t *q, const char *name,
    const char *rest, queuectl_buf_t *body)
{
    int                 fd, known;
    const char         *file;
    queuectl_buf_t      path, secret;
    queuectl_exit_e     rc, written;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    file = queuectl_text(q, "secret-file");

    if (file && q->json) {
        return queuectl_usage(q, "--json has the secret: "
                              "--secret-file is one too many");
    }

    if (file && queuectl_secret_open(file, &fd) != QUEUECTL_OK) {
        return QUEUECTL_FAILED;
    }

    memset(&path, 0, sizeof(queuectl_buf_t));
    memset(&secret, 0, sizeof(queuectl_buf_t));
    memset(&r, 0, sizeof(queuectl_request_t));

    queuectl_path(q, &path, "subscriptions", name, rest);
    r.method = "POST";
    r.path = path.data;
    r.once = (name == NULL);

    if (body) {
        r.body = queuectl_buf_span(body);
    }

    rc = queuectl_http_call(q, &r, &a);
    known = rc == QUEUECTL_OK
            && queuectl_json_member_text(a.json, "signingSecret", &secret)
            && secret.len;

    written = QUEUECTL_OK;

    if (file) {
        written = queuectl_secret_close(file, fd, known ? secret.data : NULL);
    }

    if (rc == QUEUECTL_OK) {

        /* a file that is full is no reason to lose it */

        queuectl_subscription_show(q, a.json, file == NULL || written);
        rc = written;

        if (!known) {
            queuectl_error("the answer that had the secret was lost: "
                           "make a new one with queuectl subscriptions "
                           "rotate-secret");
            rc = QUEUECTL_FAILED;

        } else if (file == NULL) {
            queuectl_note(q, "the signing secret is shown this once");
        }
    }

    queuectl_http_free(&a);
    queuectl_buf_free(&path);
    queuectl_buf_free(&secret);

    return rc;
}


/* all other calls of one subscription: it is shown, where the answer has it */

static queuectl_exit_e
queuectl_subscriptions_call(queuectl_t *q, const char *method,
    const char *name, const char *rest, queuectl_buf_t *body)
{
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_path(q, &path, "subscriptions", name, rest);

    rc = queuectl_call(q, method, &path, body, &a);

    if (rc == QUEUECTL_OK && a.json.len) {
        queuectl_subscription_show(q, a.json, 0);
    }

    queuectl_http_free(&a);

    return rc;
}


static queuectl_exit_e
queuectl_subscriptions_get(queuectl_t *q)
{
    return queuectl_subscriptions_call(q, "GET", q->arguments[0], "", NULL);
}


static queuectl_exit_e
queuectl_subscriptions_pause(queuectl_t *q)
{
    return queuectl_subscriptions_call(q, "POST", q->arguments[0], "/pause",
                                       NULL);
}


static queuectl_exit_e
queuectl_subscriptions_resume(queuectl_t *q)
{
    return queuectl_subscriptions_call(q, "POST", q->arguments[0], "/resume",
                                       NULL);
}


static queuectl_exit_e
queuectl_subscriptions_update(queuectl_t *q)
{
    queuectl_buf_t   body;
    queuectl_exit_e  rc;

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");
    rc = queuectl_subscriptions_settings(q, &body);

    if (rc == QUEUECTL_OK && body.len == 1) {
        rc = queuectl_usage(q, "there is nothing to change");
    }

    queuectl_buf_text(&body, "}");

    if (rc == QUEUECTL_OK) {
        rc = queuectl_subscriptions_call(q, "PATCH", q->arguments[0], "",
                                         &body);
    }

    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_subscriptions_delete(queuectl_t *q)
{
    queuectl_exit_e  rc;

    rc = queuectl_confirm(q, "Delete the subscription %s of %s?",
                          q->arguments[0], q->project);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_subscriptions_call(q, "DELETE", q->arguments[0], "",
                                         NULL);

        if (rc == QUEUECTL_OK) {
            queuectl_note(q, "%s is deleted", q->arguments[0]);
        }
    }

    return rc;
}
