
/* The Pub/Sub API: topics, their subscriptions, snapshots of these. */

#ifndef QUEUECTL_TOPICS_H_INCLUDED_
#define QUEUECTL_TOPICS_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_http.h"
#include "queuectl_out.h"
#include "queuectl_text.h"


/* flags that several tables have */

#define QUEUECTL_TOPICS_LABEL                                                 \
    { "label", 0, QUEUECTL_TEXT, "NAME=VALUE",                                \
      "a label; may be given several times" }

#define QUEUECTL_TOPICS_LABELS                                                \
    { "label", 0, QUEUECTL_TEXT, "NAME=VALUE",                                \
      "a label; may be given several times, and replaces all" },              \
    { "no-labels", 0, QUEUECTL_SWITCH, NULL, "without labels" }

#define QUEUECTL_TOPICS_NAMES                                                 \
    { "names", 'n', QUEUECTL_SWITCH, NULL, "the names alone, one a line" }

#define QUEUECTL_TOPICS_YES                                                   \
    { "yes", 'y', QUEUECTL_SWITCH, NULL, "do not ask" }


/* lines of "name  value", or one row of a list */

typedef void (*queuectl_topics_show_pt)(queuectl_table_t *t,
    const cJSON *item);

/* a kind is "topics", "subscriptions" or "snapshots" */

typedef struct {
    const char               *kind;
    const char               *singular;
    const char *const        *headings;
    size_t                    columns;
    queuectl_topics_show_pt   row;
    queuectl_topics_show_pt   show;
} queuectl_topics_kind_t;

extern const queuectl_topics_kind_t  queuectl_topics_topics;
extern const queuectl_topics_kind_t  queuectl_topics_subs;
extern const queuectl_topics_kind_t  queuectl_topics_snapshots;


/* queuectl_topics_call.c */

/* /v1/projects/PROJECT/KIND/NAME and what follows: the organization is the
   server's own */

void queuectl_topics_path(queuectl_t *q, queuectl_buf_t *path,
    const char *kind, const char *name, const char *rest);

/* a member of projects/PROJECT/KIND/NAME: 0, or -1 where that is not UTF-8;
   and the NAME of such a text */

int queuectl_topics_member(queuectl_t *q, queuectl_buf_t *object,
    const char *member, const char *kind, const char *name);
const char *queuectl_topics_short(const char *name);

/* a call of one resource; body of NULL: none. Show: it is on stdout then */

queuectl_exit_e queuectl_topics_call(queuectl_t *q, const char *method,
    const queuectl_topics_kind_t *kind, const char *name, const char *rest,
    queuectl_buf_t *body, int show);

queuectl_exit_e queuectl_topics_list(queuectl_t *q,
    const queuectl_topics_kind_t *kind);
queuectl_exit_e queuectl_topics_names(queuectl_t *q, queuectl_buf_t *path,
    const char *member);
queuectl_exit_e queuectl_topics_delete(queuectl_t *q,
    const queuectl_topics_kind_t *kind, const char *loss);

/* members that flags have given; of a change their names as well, in a mask
   that is NULL otherwise */

typedef queuectl_exit_e (*queuectl_topics_members_pt)(queuectl_t *q,
    queuectl_buf_t *body, queuectl_buf_t *mask);

queuectl_exit_e queuectl_topics_create(queuectl_t *q,
    const queuectl_topics_kind_t *kind, const char *name,
    queuectl_topics_members_pt members);
queuectl_exit_e queuectl_topics_update(queuectl_t *q,
    const queuectl_topics_kind_t *kind, queuectl_topics_members_pt members);

/* those of the flags --label and --no-labels */

queuectl_exit_e queuectl_topics_labels(queuectl_t *q, queuectl_buf_t *body,
    queuectl_buf_t *mask);


#endif /* QUEUECTL_TOPICS_H_INCLUDED_ */
