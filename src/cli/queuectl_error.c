
#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <string.h>


static queuectl_exit_e queuectl_error_transport(queuectl_t *q,
    queuectl_answer_t *a);
static queuectl_exit_e queuectl_error_status(long status);
static int queuectl_error_member(queuectl_span_t json, const char *name,
    queuectl_buf_t *safe);
static void queuectl_error_hint(queuectl_t *q, const char *code);
static void queuectl_error_key(queuectl_t *q);
static void queuectl_error_logs(queuectl_t *q, queuectl_answer_t *a,
    const char *text);


static queuectl_exit_e
queuectl_error_transport(queuectl_t *q, queuectl_answer_t *a)
{
    const char  *why;

    why = a->message[0] ? a->message : curl_easy_strerror(a->code);

    switch (a->code) {

    case CURLE_PEER_FAILED_VERIFICATION:
        queuectl_error("%s: the server is not trusted: %s\n"
                       "Name the certificate authority of its certificate with "
                       "--cacert FILE.", q->endpoint, why);
        break;

    case CURLE_SSL_CACERT_BADFILE:
        queuectl_error("%s: %s\n--cacert takes a file of certificates in PEM.",
                       q->cacert ? q->cacert : q->endpoint, why);
        return QUEUECTL_USAGE;

    case CURLE_WRITE_ERROR:
        queuectl_error("%s: the answer is too long", q->endpoint);
        break;

    default:
        queuectl_error("%s: %s", q->endpoint, why);

        if (a->sent) {
            queuectl_error("Whether the call was carried out is not known.%s",
                           a->code == CURLE_OPERATION_TIMEDOUT
                           ? " --timeout TIME gives it longer." : "");
        } else {
            queuectl_error("The endpoint is from %s: does the server run "
                           "there?", q->endpoint_from);
        }

        break;
    }

    return QUEUECTL_UNAVAILABLE;
}


static queuectl_exit_e
queuectl_error_status(long status)
{
    switch (status) {

    case 401:
    case 403:
        return QUEUECTL_AUTH;

    case 404:
        return QUEUECTL_NOT_FOUND;

    case 409:
        return QUEUECTL_CONFLICT;

    case 429:
        return QUEUECTL_UNAVAILABLE;
    }

    return status >= 500 ? QUEUECTL_UNAVAILABLE : QUEUECTL_FAILED;
}


static void
queuectl_error_hint(queuectl_t *q, const char *code)
{
    size_t  i;

    static const struct {
        const char  *code;
        const char  *group;             /* NULL: of any command */
        const char  *hint;
    } hints[] = {
        { "queue_not_found", NULL,
          "To see the queues of %s: queuectl queues list" },
        { "subscription_not_found", NULL,
          "To see the subscriptions of %s: queuectl subscriptions list" },
        { "queue_exists", NULL,
          "To change its settings: queuectl queues update" },
        { "subscription_exists", NULL,
          "A queue has one. To change it: queuectl subscriptions update" },
        { "queue_in_use", NULL,
          "To take it from that one: queuectl queues update QUEUE "
          "--no-dead-letter-queue" },
        { "NOT_FOUND", "topics",
          "To see the topics of %s: queuectl topics list" },
        { "NOT_FOUND", "subs",
          "To see the subscriptions of %s: queuectl subs list" },
        { "NOT_FOUND", "snapshots",
          "To see the snapshots of %s: queuectl snapshots list" },
        { "not_found", NULL,
          "Has the server a location for the API of this command?" },
    };

    if (strcasecmp(code, "unauthenticated") == 0) {
        queuectl_error_key(q);
        return;
    }

    if (strcasecmp(code, "permission_denied") == 0) {
        queuectl_error("The key is from %s.", q->key_from ? q->key_from
                                              : "nowhere: there is none");
        return;
    }

    for (i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (strcmp(hints[i].code, code) == 0
            && (hints[i].group == NULL
                || (q->group && strcmp(hints[i].group, q->group) == 0)))
        {
            queuectl_error(hints[i].hint, q->project);
        }
    }
}


static void
queuectl_error_key(queuectl_t *q)
{
    if (q->key) {
        queuectl_error("The server does not know the key of %s.", q->key_from);

    } else {
        queuectl_error("Give a key with QUEUES_KEY, --key-file FILE or "
                       "queuectl config set key.");
    }
}


/* the Queen API has a text, and few codes */

static void
queuectl_error_logs(queuectl_t *q, queuectl_answer_t *a, const char *text)
{
    queuectl_error("%s (%ld)", text, a->status);

    if (a->status == 401) {
        queuectl_error_key(q);

    } else if (a->status == 403) {
        queuectl_error("The key is from %s.", q->key_from ? q->key_from
                                              : "nowhere: there is none");

    } else if (strcmp(text, "Queue not found") == 0) {
        queuectl_error("To see the queues of this API: queuectl logs list");

    } else if (strcmp(text, "Not Found") == 0) {
        queuectl_error("The server has no such call: does the location of the "
                       "endpoint have queues_queen_api?");
    }
}


/* with no line ends either: what the server says is one line of ours */

static int
queuectl_error_member(queuectl_span_t json, const char *name,
    queuectl_buf_t *safe)
{
    queuectl_buf_t  text;

    memset(&text, 0, sizeof(queuectl_buf_t));

    if (queuectl_json_member_text(json, name, &text)) {
        queuectl_buf_safe(safe, queuectl_buf_span(&text), 0);
    }

    queuectl_buf_free(&text);

    return safe->len != 0;
}


/* in the Pub/Sub API it is among the details of the error */

int
queuectl_http_blamed(queuectl_answer_t *a, queuectl_buf_t *field)
{
    queuectl_span_t  error, details, detail, violations, first;

    if (queuectl_json_member_text(a->json, "field", field)) {
        return 1;
    }

    detail.data = first.data = NULL;

    if (!queuectl_json_member(a->json, "error", &error)
        || !queuectl_json_member(error, "details", &details))
    {
        return 0;
    }

    while (queuectl_json_next(details, &detail)) {
        if (queuectl_json_member(detail, "fieldViolations", &violations)
            && queuectl_json_next(violations, &first))
        {
            return queuectl_json_member_text(first, "field", field);
        }
    }

    return 0;
}


queuectl_exit_e
queuectl_http_failed(queuectl_t *q, queuectl_answer_t *a)
{
    const char       *named;
    queuectl_buf_t    code, message, field;
    queuectl_span_t   error, inner;

    if (queuectl_interrupts()) {
        return QUEUECTL_INTERRUPTED;
    }

    if (a->code != CURLE_OK) {
        return queuectl_error_transport(q, a);
    }

    memset(&code, 0, sizeof(queuectl_buf_t));
    memset(&message, 0, sizeof(queuectl_buf_t));
    memset(&field, 0, sizeof(queuectl_buf_t));

    error = a->json;
    named = "error";

    if (queuectl_json_member(error, "error", &inner)
        && queuectl_json_is_object(inner))
    {
        error = inner;
        named = "status";
    }

    if (queuectl_error_member(error, named, &code)
        && queuectl_error_member(error, "message", &message))
    {
        queuectl_error_member(error, "field", &field);

        queuectl_error("%s (%s%s%s, %ld)", message.data, code.data,
                       field.len ? " in " : "", field.len ? field.data : "",
                       a->status);
        queuectl_error_hint(q, code.data);

    } else if (code.len) {
        queuectl_error_logs(q, a, code.data);

    } else {
        queuectl_error("%s answers %ld, and not as the API does.\n"
                       "The endpoint is from %s: is it the right one?",
                       q->endpoint, a->status, q->endpoint_from);
    }

    queuectl_buf_free(&code);
    queuectl_buf_free(&message);
    queuectl_buf_free(&field);

    return queuectl_error_status(a->status);
}
