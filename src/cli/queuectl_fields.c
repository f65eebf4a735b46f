
/* What flags say, as members of JSON. */

#include "queuectl_fields.h"
#include "queuectl_topics.h"

#include <string.h>


static queuectl_exit_e queuectl_field(queuectl_t *q, const queuectl_field_t *f,
    queuectl_buf_t *object);


static queuectl_exit_e
queuectl_field(queuectl_t *q, const queuectl_field_t *f, queuectl_buf_t *object)
{
    int          rc, on;
    const char  *text;

    text = queuectl_text(q, f->flag);

    switch (f->kind) {

    case QUEUECTL_FIELD_NUMBER:
        queuectl_buf_member_number(object, f->member,
                                   queuectl_number(q, f->flag, 0));
        return QUEUECTL_OK;

    case QUEUECTL_FIELD_DURATION:
        queuectl_buf_member(object, f->member);
        queuectl_buf_print(object, "\"%llds\"", queuectl_number(q, f->flag, 0));
        return QUEUECTL_OK;

    case QUEUECTL_FIELD_SWITCH:
        queuectl_buf_member(object, f->member);
        queuectl_buf_text(object, "true");
        return QUEUECTL_OK;

    case QUEUECTL_FIELD_ON_OFF:
        if (!queuectl_fields_on_off(text, &on)) {
            return queuectl_usage(q, "--%s is on or off", f->flag);
        }

        queuectl_buf_member(object, f->member);
        queuectl_buf_text(object, on ? "true" : "false");
        return QUEUECTL_OK;

    case QUEUECTL_FIELD_TOPIC:
        rc = queuectl_topics_member(q, object, f->member, "topics", text);
        break;

    default:
        rc = queuectl_buf_member_text(object, f->member, text);
        break;
    }

    return rc == -1 ? queuectl_usage(q, "--%s is not UTF-8", f->flag)
                    : QUEUECTL_OK;
}


queuectl_exit_e
queuectl_fields(queuectl_t *q, const queuectl_fields_t *f,
    queuectl_buf_t *object, queuectl_buf_t *mask)
{
    int                      any;
    queuectl_exit_e          rc;
    const queuectl_field_t  *field;

    any = 0;

    for (field = f->fields; field->flag; field++) {
        if (!queuectl_given(q, field->flag)) {
            continue;
        }

        if (f->none && queuectl_given(q, f->none)) {
            return queuectl_usage(q, "--%s and --%s are one too many",
                                  field->flag, f->none);
        }

        if (f->member && !any) {
            queuectl_buf_member(object, f->member);
            queuectl_buf_text(object, "{");
        }

        any = 1;
        queuectl_fields_mask(mask, f->member, field->member);
        rc = queuectl_field(q, field, object);

        if (rc != QUEUECTL_OK) {
            return rc;
        }
    }

    if (f->member && any) {
        queuectl_buf_text(object, "}");
    }

    if (f->none && queuectl_given(q, f->none)) {
        queuectl_fields_mask(mask, NULL,
                             f->member ? f->member : f->fields->member);
    }

    return QUEUECTL_OK;
}


int
queuectl_fields_on_off(const char *text, int *on)
{
    *on = strcmp(text, "on") == 0;

    return *on || strcmp(text, "off") == 0;
}


void
queuectl_fields_mask(queuectl_buf_t *mask, const char *object,
    const char *member)
{
    if (mask) {
        queuectl_buf_print(mask, "%s%s%s%s", mask->len ? "," : "",
                           object ? object : "", object ? "." : "", member);
    }
}


queuectl_exit_e
queuectl_fields_pairs(queuectl_t *q, const char *flag, const char *member,
    queuectl_buf_t *object)
{
    int                any;
    size_t             i, bad;
    const char        *value;
    queuectl_span_t    name, text;
    queuectl_given_t  *given;

    any = 0;

    for (i = 0; i < q->ngiven; i++) {
        given = &q->given[i];

        if (strcmp(given->flag->name, flag) != 0) {
            continue;
        }

        value = strchr(given->text, '=');

        if (value == NULL || value == given->text) {
            return queuectl_usage(q, "--%s %s: it is NAME=VALUE", flag,
                                  given->text);
        }

        if (any) {
            queuectl_buf_text(object, ",");

        } else {
            queuectl_buf_member(object, member);
            queuectl_buf_text(object, "{");
        }

        any = 1;

        name.data = given->text;
        name.len = value - given->text;
        text.data = value + 1;
        text.len = strlen(text.data);

        if (queuectl_buf_json(object, name, &bad) == -1) {
            return queuectl_usage(q, "--%s is not UTF-8", flag);
        }

        queuectl_buf_text(object, ":");

        if (queuectl_buf_json(object, text, &bad) == -1) {
            return queuectl_usage(q, "--%s is not UTF-8", flag);
        }
    }

    queuectl_buf_text(object, any ? "}" : "");

    return QUEUECTL_OK;
}
