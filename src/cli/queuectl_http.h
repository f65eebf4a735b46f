
/* Calls of the API. */

#ifndef QUEUECTL_HTTP_H_INCLUDED_
#define QUEUECTL_HTTP_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


typedef struct {
    const char       *method;
    const char       *path;
    queuectl_span_t   body;             /* data of NULL: none */
    long              wait;             /* seconds that the server may wait */
    long              limit;            /* 0, or seconds instead of all that */
    unsigned          once:1;           /* an Idempotency-Key goes with it */
    unsigned          public:1;         /* without the key */
    unsigned          patient:1;        /* part of long work: many retries */
    unsigned          finish:1;         /* Ctrl-C does not end it */
} queuectl_request_t;


typedef struct {
    CURLcode          code;
    long              sent;             /* bytes of the request; 0: none */
    long              status;           /* 0: no answer */
    long              retry_after;
    queuectl_buf_t    body;
    queuectl_span_t   json;             /* its value; empty: none, or no JSON */
    char              message[CURL_ERROR_SIZE];
} queuectl_answer_t;


/*
 * Sends a request, again where the answer is to come again. QUEUECTL_OK for a
 * status of 2xx with JSON or nothing; all else is in the answer, and what
 * queuectl_http_failed says of it is what the program ends with.
 * The answer is freed by the caller in any case.
 */

queuectl_exit_e queuectl_http_send(queuectl_t *q, queuectl_request_t *r,
    queuectl_answer_t *a);

/* both at once */

queuectl_exit_e queuectl_http_call(queuectl_t *q, queuectl_request_t *r,
    queuectl_answer_t *a);

void queuectl_http_free(queuectl_answer_t *a);


/* queuectl_error.c: says what went wrong and what to do next */

queuectl_exit_e queuectl_http_failed(queuectl_t *q, queuectl_answer_t *a);

/* the field that is to blame, where the answer names one */

int queuectl_http_blamed(queuectl_answer_t *a, queuectl_buf_t *field);


/* queuectl_path.c: /v1/organizations/ORG/projects/PROJECT and what follows */

void queuectl_path(queuectl_t *q, queuectl_buf_t *path, const char *kind,
    const char *name, const char *rest);

/* "?name=value", or "&" where there is one before; NULL for no value */

void queuectl_path_query(queuectl_buf_t *path, const char *name,
    const char *value);

/* a call without anything special; frees the path. A body of NULL is none */

queuectl_exit_e queuectl_call(queuectl_t *q, const char *method,
    queuectl_buf_t *path, queuectl_buf_t *body, queuectl_answer_t *a);

/* all items of a list, page by page; what is returned but QUEUECTL_OK ends it */

typedef queuectl_exit_e (*queuectl_item_pt)(queuectl_t *q,
    queuectl_span_t item, void *data);

queuectl_exit_e queuectl_list(queuectl_t *q, const char *kind,
    const char *filter, const char *value, queuectl_item_pt handler,
    void *data);

/* how the lists of an API have pages */

typedef struct {
    const char       *size;             /* in a query */
    const char       *token;            /* and which page */
    const char       *next;             /* in an answer: the token of the next */
    unsigned          optional:1;       /* an empty list may not be there */
} queuectl_pages_t;

/* the same of any path */

queuectl_exit_e queuectl_list_pages(queuectl_t *q,
    const queuectl_pages_t *pages, queuectl_buf_t *path, const char *member,
    queuectl_item_pt handler, void *data);


#endif /* QUEUECTL_HTTP_H_INCLUDED_ */
