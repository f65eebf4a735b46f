
/* Calls that topics, subscriptions and snapshots have alike. */

#include "queuectl_topics.h"
#include "queuectl_fields.h"
#include "queuectl_json.h"

#include <string.h>


typedef struct {
    const queuectl_topics_kind_t  *kind;
    queuectl_table_t               table;
    size_t                         n;
} queuectl_topics_list_t;


static void queuectl_topics_shown(queuectl_t *q,
    const queuectl_topics_kind_t *kind, queuectl_span_t span);
static queuectl_exit_e queuectl_topics_item(queuectl_t *q,
    queuectl_span_t item, void *data);
static queuectl_exit_e queuectl_topics_name_item(queuectl_t *q,
    queuectl_span_t item, void *data);


static const queuectl_pages_t  queuectl_topics_pages = {
    "pageSize", "pageToken", "nextPageToken", 1
};


void
queuectl_topics_path(queuectl_t *q, queuectl_buf_t *path, const char *kind,
    const char *name, const char *rest)
{
    queuectl_buf_text(path, "/v1/projects/");
    queuectl_buf_url(path, strchr(q->project, '/') + 1);
    queuectl_buf_print(path, "/%s", kind);

    if (name) {
        queuectl_buf_text(path, "/");
        queuectl_buf_url(path, name);
    }

    queuectl_buf_text(path, rest);
}


int
queuectl_topics_member(queuectl_t *q, queuectl_buf_t *object,
    const char *member, const char *kind, const char *name)
{
    int             rc;
    queuectl_buf_t  whole;

    memset(&whole, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&whole, "projects/%s/%s/%s",
                       strchr(q->project, '/') + 1, kind, name);

    rc = queuectl_buf_member_text(object, member, whole.data);
    queuectl_buf_free(&whole);

    return rc;
}


const char *
queuectl_topics_short(const char *name)
{
    const char  *slash;

    slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}


static void
queuectl_topics_shown(queuectl_t *q, const queuectl_topics_kind_t *kind,
    queuectl_span_t span)
{
    cJSON             *item;
    queuectl_table_t   table;

    if (q->json) {
        queuectl_out_json(span);
        return;
    }

    item = cJSON_ParseWithLength(span.data, span.len);

    queuectl_table_init(&table, NULL, 2);
    kind->show(&table, item);
    queuectl_table_end(q, &table);

    cJSON_Delete(item);
}


queuectl_exit_e
queuectl_topics_call(queuectl_t *q, const char *method,
    const queuectl_topics_kind_t *kind, const char *name, const char *rest,
    queuectl_buf_t *body, int show)
{
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_topics_path(q, &path, kind->kind, name, rest);

    rc = queuectl_call(q, method, &path, body, &a);

    if (rc == QUEUECTL_OK && show) {
        queuectl_topics_shown(q, kind, a.json);
    }

    queuectl_http_free(&a);

    return rc;
}


queuectl_exit_e
queuectl_topics_list(queuectl_t *q, const queuectl_topics_kind_t *kind)
{
    queuectl_buf_t          path;
    queuectl_exit_e         rc;
    queuectl_topics_list_t  list;

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_topics_path(q, &path, kind->kind, NULL, "");

    list.kind = kind;
    list.n = 0;
    queuectl_table_init(&list.table, kind->headings, kind->columns);

    rc = queuectl_list_pages(q, &queuectl_topics_pages, &path, kind->kind,
                             queuectl_topics_item, &list);

    if (list.table.ncells) {
        queuectl_table_end(q, &list.table);

    } else if (rc == QUEUECTL_OK && list.n == 0) {
        queuectl_note(q, "no %s in %s", kind->kind, q->project);
    }

    queuectl_buf_free(&path);

    return rc;
}


static queuectl_exit_e
queuectl_topics_item(queuectl_t *q, queuectl_span_t span, void *data)
{
    queuectl_topics_list_t  *list = data;

    cJSON  *item;

    list->n++;

    if (q->json) {
        queuectl_out_json(span);
        return QUEUECTL_OK;
    }

    item = cJSON_ParseWithLength(span.data, span.len);

    if (queuectl_given(q, "names")) {
        queuectl_out_safe(queuectl_topics_short(queuectl_shown(item, "name")));

    } else {
        list->kind->row(&list->table, item);
    }

    cJSON_Delete(item);

    return QUEUECTL_OK;
}


/* lists of what hangs on a topic have names alone */

queuectl_exit_e
queuectl_topics_names(queuectl_t *q, queuectl_buf_t *path, const char *member)
{
    size_t           n;
    queuectl_exit_e  rc;

    n = 0;
    rc = queuectl_list_pages(q, &queuectl_topics_pages, path, member,
                             queuectl_topics_name_item, &n);

    if (rc == QUEUECTL_OK && n == 0) {
        queuectl_note(q, "no %s", member);
    }

    return rc;
}


static queuectl_exit_e
queuectl_topics_name_item(queuectl_t *q, queuectl_span_t item, void *data)
{
    size_t  *n = data;

    queuectl_buf_t  name;

    (*n)++;

    if (q->json) {
        queuectl_out_json(item);
        return QUEUECTL_OK;
    }

    memset(&name, 0, sizeof(queuectl_buf_t));
    queuectl_json_text(item, &name);
    queuectl_out_safe(name.len ? queuectl_topics_short(name.data) : "-");
    queuectl_buf_free(&name);

    return QUEUECTL_OK;
}


queuectl_exit_e
queuectl_topics_delete(queuectl_t *q, const queuectl_topics_kind_t *kind,
    const char *loss)
{
    queuectl_exit_e  rc;

    rc = queuectl_confirm(q, "Delete the %s %s of %s%s?", kind->singular,
                          q->arguments[0], q->project, loss);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_topics_call(q, "DELETE", kind, q->arguments[0], "", NULL,
                                  0);

        if (rc == QUEUECTL_OK) {
            queuectl_note(q, "%s is deleted", q->arguments[0]);
        }
    }

    return rc;
}


queuectl_exit_e
queuectl_topics_create(queuectl_t *q, const queuectl_topics_kind_t *kind,
    const char *name, queuectl_topics_members_pt members)
{
    queuectl_buf_t   body;
    queuectl_exit_e  rc;

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");
    rc = members(q, &body, NULL);
    queuectl_buf_text(&body, "}");

    if (rc == QUEUECTL_OK) {
        rc = queuectl_topics_call(q, "PUT", kind, name, "", &body, 1);
    }

    queuectl_buf_free(&body);

    return rc;
}


queuectl_exit_e
queuectl_topics_update(queuectl_t *q, const queuectl_topics_kind_t *kind,
    queuectl_topics_members_pt members)
{
    queuectl_buf_t   body, mask;
    queuectl_exit_e  rc;

    memset(&body, 0, sizeof(queuectl_buf_t));
    memset(&mask, 0, sizeof(queuectl_buf_t));

    queuectl_buf_text(&body, "{");
    queuectl_buf_member(&body, kind->singular);
    queuectl_buf_text(&body, "{");
    rc = members(q, &body, &mask);
    queuectl_buf_text(&body, "}");

    if (rc == QUEUECTL_OK && mask.len == 0) {
        rc = queuectl_usage(q, "there is nothing to change");
    }

    if (rc == QUEUECTL_OK) {
        queuectl_buf_member_text(&body, "updateMask", mask.data);
        queuectl_buf_text(&body, "}");

        rc = queuectl_topics_call(q, "PATCH", kind, q->arguments[0], "", &body,
                                  1);
    }

    queuectl_buf_free(&body);
    queuectl_buf_free(&mask);

    return rc;
}


queuectl_exit_e
queuectl_topics_labels(queuectl_t *q, queuectl_buf_t *body,
    queuectl_buf_t *mask)
{
    int  given, none;

    given = queuectl_given(q, "label");
    none = queuectl_given(q, "no-labels");

    if (given && none) {
        return queuectl_usage(q, "--label and --no-labels are one too many");
    }

    if (given || none) {
        queuectl_fields_mask(mask, NULL, "labels");
    }

    return queuectl_fields_pairs(q, "label", "labels", body);
}
