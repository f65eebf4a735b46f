
/* Members of a body that flags have given. */

#ifndef QUEUECTL_FIELDS_H_INCLUDED_
#define QUEUECTL_FIELDS_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


typedef enum {
    QUEUECTL_FIELD_NUMBER = 0,
    QUEUECTL_FIELD_DURATION,            /* "600s" */
    QUEUECTL_FIELD_ON_OFF,
    QUEUECTL_FIELD_SWITCH,
    QUEUECTL_FIELD_TEXT,
    QUEUECTL_FIELD_TOPIC                /* "projects/PROJECT/topics/NAME" */
} queuectl_field_e;


typedef struct {
    const char              *flag;
    const char              *member;
    queuectl_field_e         kind;
} queuectl_field_t;


/* fields of an object, to the one without a flag */

typedef struct {
    const char              *member;    /* NULL: of the body itself */
    const char              *none;      /* the flag that takes it, or the only
                                           field, away */
    const queuectl_field_t  *fields;
} queuectl_fields_t;


/* what was given goes into an object that begins with "{", and its names into
   a mask, with commas between them; a mask of NULL is not asked for */

queuectl_exit_e queuectl_fields(queuectl_t *q, const queuectl_fields_t *f,
    queuectl_buf_t *object, queuectl_buf_t *mask);

/* "on" or "off": 1 and whether it is on, or 0 */

int queuectl_fields_on_off(const char *text, int *on);

void queuectl_fields_mask(queuectl_buf_t *mask, const char *object,
    const char *member);

/* a member that has all NAME=VALUE of a flag; none where there are none */

queuectl_exit_e queuectl_fields_pairs(queuectl_t *q, const char *flag,
    const char *member, queuectl_buf_t *object);


#endif /* QUEUECTL_FIELDS_H_INCLUDED_ */
