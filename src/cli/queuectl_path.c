
/* Calls by their paths, and lists of many pages. */

#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"

#include <stdlib.h>
#include <string.h>


static queuectl_exit_e queuectl_list_page(queuectl_t *q,
    const queuectl_pages_t *pages, const char *member, queuectl_answer_t *a,
    queuectl_buf_t *token, queuectl_item_pt handler, void *data);


void
queuectl_path(queuectl_t *q, queuectl_buf_t *path, const char *kind,
    const char *name, const char *rest)
{
    char        *organization;
    const char  *slash;

    slash = strchr(q->project, '/');
    organization = queuectl_copy(q->project, slash - q->project);

    queuectl_buf_text(path, "/v1/organizations/");
    queuectl_buf_url(path, organization);
    queuectl_buf_text(path, "/projects/");
    queuectl_buf_url(path, slash + 1);
    queuectl_buf_print(path, "/%s", kind);

    if (name) {
        queuectl_buf_text(path, "/");
        queuectl_buf_url(path, name);
    }

    queuectl_buf_text(path, rest);

    free(organization);
}


void
queuectl_path_query(queuectl_buf_t *path, const char *name, const char *value)
{
    if (value == NULL) {
        return;
    }

    queuectl_buf_print(path, "%c%s=", strchr(path->data, '?') ? '&' : '?',
                       name);
    queuectl_buf_url(path, value);
}


queuectl_exit_e
queuectl_call(queuectl_t *q, const char *method, queuectl_buf_t *path,
    queuectl_buf_t *body, queuectl_answer_t *a)
{
    queuectl_exit_e     rc;
    queuectl_request_t  r;

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = method;
    r.path = path->data;

    if (body) {
        r.body = queuectl_buf_span(body);
    }

    rc = queuectl_http_call(q, &r, a);
    queuectl_buf_free(path);

    return rc;
}


static queuectl_exit_e
queuectl_list_page(queuectl_t *q, const queuectl_pages_t *pages,
    const char *member, queuectl_answer_t *a, queuectl_buf_t *token,
    queuectl_item_pt handler, void *data)
{
    queuectl_exit_e  rc;
    queuectl_buf_t   next;
    queuectl_span_t  items, item;

    if (!queuectl_json_member(a->json, member, &items)) {
        if (!pages->optional || !queuectl_json_is_object(a->json)) {
            queuectl_error("the answer has no %s", member);
            return QUEUECTL_FAILED;
        }

        items.len = 0;
    }

    item.data = NULL;

    while (queuectl_json_next(items, &item)) {
        rc = handler(q, item, data);

        if (rc != QUEUECTL_OK) {
            return rc;
        }
    }

    memset(&next, 0, sizeof(queuectl_buf_t));
    queuectl_json_member_text(a->json, pages->next, &next);

    /* the same page again would have no end */

    if (next.len && token->len == next.len
        && memcmp(next.data, token->data, next.len) == 0)
    {
        queuectl_error("the server names the same page twice");
        queuectl_buf_free(&next);
        return QUEUECTL_FAILED;
    }

    queuectl_buf_free(token);
    *token = next;

    return QUEUECTL_OK;
}


queuectl_exit_e
queuectl_list(queuectl_t *q, const char *kind, const char *filter,
    const char *value, queuectl_item_pt handler, void *data)
{
    queuectl_buf_t   path;
    queuectl_exit_e  rc;

    static const queuectl_pages_t  pages = {
        "pageSize", "pageToken", "nextPageToken", 0
    };

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_path(q, &path, kind, NULL, "");
    queuectl_path_query(&path, filter, value);

    rc = queuectl_list_pages(q, &pages, &path, kind, handler, data);

    queuectl_buf_free(&path);

    return rc;
}


queuectl_exit_e
queuectl_list_pages(queuectl_t *q, const queuectl_pages_t *pages,
    queuectl_buf_t *path, const char *member, queuectl_item_pt handler,
    void *data)
{
    size_t              len;
    queuectl_buf_t      token;
    queuectl_exit_e     rc;
    queuectl_answer_t   a;
    queuectl_request_t  r;

    memset(&token, 0, sizeof(queuectl_buf_t));
    memset(&r, 0, sizeof(queuectl_request_t));

    queuectl_path_query(path, pages->size, "100");
    len = path->len;

    do {
        path->len = len;
        path->data[len] = '\0';

        if (token.len) {
            queuectl_path_query(path, pages->token, token.data);
        }

        r.method = "GET";
        r.path = path->data;

        rc = queuectl_http_call(q, &r, &a);

        if (rc == QUEUECTL_OK) {
            rc = queuectl_list_page(q, pages, member, &a, &token, handler,
                                    data);
        }

        queuectl_http_free(&a);

    } while (rc == QUEUECTL_OK && token.len);

    queuectl_buf_free(&token);

    return rc;
}
