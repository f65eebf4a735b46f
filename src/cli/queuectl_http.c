
#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <stdlib.h>
#include <string.h>


/* ten messages of 1 MiB with every byte escaped are some 60 MiB */

#define QUEUECTL_HTTP_MOST     (256 * 1024 * 1024)

#define QUEUECTL_HTTP_RETRIES  5
#define QUEUECTL_HTTP_PATIENT  100
#define QUEUECTL_HTTP_PAUSE    60


static size_t queuectl_http_write(char *data, size_t size, size_t n, void *a);
static int queuectl_http_progress(void *data, curl_off_t dltotal,
    curl_off_t dlnow, curl_off_t ultotal, curl_off_t ulnow);
static struct curl_slist *queuectl_http_header(struct curl_slist *list,
    const char *name, const char *value);
static struct curl_slist *queuectl_http_headers(queuectl_t *q,
    queuectl_request_t *r, const char *idempotency);
static void queuectl_http_perform(queuectl_t *q, queuectl_request_t *r,
    queuectl_answer_t *a, struct curl_slist *headers);
static void queuectl_http_secure(queuectl_t *q, CURL *curl);
static long queuectl_http_again(queuectl_t *q, queuectl_request_t *r,
    queuectl_answer_t *a, long tries);
static void queuectl_http_random(char text[33]);


static size_t
queuectl_http_write(char *data, size_t size, size_t n, void *answer)
{
    queuectl_answer_t  *a = answer;

    if (a->body.len + size * n > QUEUECTL_HTTP_MOST) {
        return 0;
    }

    queuectl_buf_add(&a->body, data, size * n);

    return size * n;
}


static int
queuectl_http_progress(void *data, curl_off_t dltotal, curl_off_t dlnow,
    curl_off_t ultotal, curl_off_t ulnow)
{
    queuectl_request_t  *r = data;

    (void) dltotal;
    (void) dlnow;
    (void) ultotal;
    (void) ulnow;

    return queuectl_interrupts() && !r->finish;
}


static struct curl_slist *
queuectl_http_header(struct curl_slist *list, const char *name,
    const char *value)
{
    queuectl_buf_t      line;
    struct curl_slist  *longer;

    memset(&line, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&line, "%s:%s%s", name, *value ? " " : "", value);

    longer = curl_slist_append(list, line.data);

    if (longer == NULL) {
        queuectl_error("there is not enough memory");
        exit(QUEUECTL_FAILED);
    }

    queuectl_buf_free(&line);

    return longer;
}


static void
queuectl_http_random(char text[33])
{
    int            i;
    unsigned char  bytes[16];

    queuectl_random(bytes, sizeof(bytes));

    for (i = 0; i < 16; i++) {
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
}


static struct curl_slist *
queuectl_http_headers(queuectl_t *q, queuectl_request_t *r,
    const char *idempotency)
{
    queuectl_buf_t      bearer;
    struct curl_slist  *list;

    /* curl would else wait for "100 Continue" */

    list = queuectl_http_header(NULL, "Expect", "");
    list = queuectl_http_header(list, "Accept", "application/json");

    if (r->body.data) {
        list = queuectl_http_header(list, "Content-Type", "application/json");
    }

    if (r->once) {
        list = queuectl_http_header(list, "Idempotency-Key", idempotency);
    }

    if (q->key && !r->public) {
        memset(&bearer, 0, sizeof(queuectl_buf_t));
        queuectl_buf_print(&bearer, "Bearer %s", q->key);
        list = queuectl_http_header(list, "Authorization", bearer.data);
        queuectl_buf_free(&bearer);
    }

    return list;
}


static void
queuectl_http_secure(queuectl_t *q, CURL *curl)
{
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);

    if (q->cacert) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, q->cacert);
        curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    }

    if (q->insecure) {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}


static void
queuectl_http_perform(queuectl_t *q, queuectl_request_t *r,
    queuectl_answer_t *a, struct curl_slist *headers)
{
    CURL           *curl;
    curl_off_t      retry;
    queuectl_buf_t  url;

    curl = q->curl;
    curl_easy_reset(curl);

    memset(&url, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&url, "%s%s", q->endpoint, r->path);

    curl_easy_setopt(curl, CURLOPT_URL, url.data);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "queuectl/" NGX_QUEUES_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, a->message);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, queuectl_http_write);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, a);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, queuectl_http_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, r);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, q->connect_timeout);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT,
                     r->limit ? r->limit : q->timeout + r->wait);
    queuectl_http_secure(q, curl);

    if (r->body.data) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t) r->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, r->body.data);
    }

    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);

    if (q->verbose) {
        queuectl_error("> %s %s", r->method, url.data);
    }

    a->message[0] = '\0';
    a->code = curl_easy_perform(curl);
    a->sent = a->status = a->retry_after = 0;

    curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &a->sent);

    if (a->code == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a->status);

        if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry) == CURLE_OK) {
            a->retry_after = retry > QUEUECTL_HTTP_PAUSE ? QUEUECTL_HTTP_PAUSE
                             : (long) retry;
        }
    }

    if (q->verbose) {
        queuectl_error("< %ld, %zu bytes%s%s", a->status, a->body.len,
                       a->code ? ": " : "",
                       a->code ? curl_easy_strerror(a->code) : "");
    }

    queuectl_buf_free(&url);
}


/* in how many ms it is worth another try; 0: it is not */

static long
queuectl_http_again(queuectl_t *q, queuectl_request_t *r, queuectl_answer_t *a,
    long tries)
{
    long  most, seconds;

    most = r->patient ? QUEUECTL_HTTP_PATIENT : QUEUECTL_HTTP_RETRIES;

    if (q->retries >= 0) {
        most = q->retries;
    }

    if (tries >= most) {
        return 0;
    }

    if (a->status == 429 || a->status == 503) {
        seconds = a->retry_after > 0 ? a->retry_after : 1;

    } else if (r->patient && a->sent == 0
               && (a->code == CURLE_COULDNT_CONNECT
                   || a->code == CURLE_OPERATION_TIMEDOUT))
    {
        /* a server that restarts, perhaps */

        seconds = 1;

    } else {
        return 0;
    }

    queuectl_note(q, "%s; trying again in %ld s",
                  a->status == 429 ? "the server has had too many requests (429)"
                  : a->status ? "the server is not available (503)"
                  : "the server does not answer", seconds);

    return seconds * 1000;
}


queuectl_exit_e
queuectl_http_send(queuectl_t *q, queuectl_request_t *r, queuectl_answer_t *a)
{
    char                idempotency[33];
    long                tries, pause;
    queuectl_span_t     body;
    struct curl_slist  *headers;

    memset(a, 0, sizeof(queuectl_answer_t));

    /* the same one for every try: two of them create one thing */

    queuectl_http_random(idempotency);

    headers = queuectl_http_headers(q, r, idempotency);

    for (tries = 0; /* void */ ; tries++) {
        queuectl_buf_clear(&a->body);
        queuectl_http_perform(q, r, a, headers);

        if (queuectl_interrupts() && !r->finish) {
            break;
        }

        pause = queuectl_http_again(q, r, a, tries);

        if (pause == 0 || queuectl_sleep(pause) != QUEUECTL_OK) {
            break;
        }
    }

    curl_slist_free_all(headers);

    body = queuectl_buf_span(&a->body);

    if (a->code == CURLE_OK && queuectl_json_check(body) == 0) {
        a->json = queuectl_json_value(body);
    }

    if (a->code == CURLE_OK && a->status >= 200 && a->status < 300
        && (a->json.len || body.len == 0))
    {
        return QUEUECTL_OK;
    }

    return QUEUECTL_FAILED;
}


queuectl_exit_e
queuectl_http_call(queuectl_t *q, queuectl_request_t *r, queuectl_answer_t *a)
{
    if (queuectl_http_send(q, r, a) == QUEUECTL_OK) {
        return QUEUECTL_OK;
    }

    return queuectl_http_failed(q, a);
}


void
queuectl_http_free(queuectl_answer_t *a)
{
    queuectl_buf_free(&a->body);
    memset(&a->json, 0, sizeof(queuectl_span_t));
}
