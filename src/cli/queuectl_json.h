
/*
 * JSON as it was sent: a strict check of a whole text, and spans of its values
 * without a copy, so that bodies of messages are never printed anew.
 * All but the check take spans of a text that passed it.
 */

#ifndef QUEUECTL_JSON_H_INCLUDED_
#define QUEUECTL_JSON_H_INCLUDED_


#include "queuectl_text.h"


int queuectl_json_check(queuectl_span_t text);

/* trims white space around the one value of a text */

queuectl_span_t queuectl_json_value(queuectl_span_t text);

int queuectl_json_is_object(queuectl_span_t value);
int queuectl_json_is_string(queuectl_span_t value);

/* 1 and the value, or 0: not an object, or without it */

int queuectl_json_member(queuectl_span_t object, const char *name,
    queuectl_span_t *value);

/* from an item (name, value) to the next; the first one for data of NULL */

int queuectl_json_next(queuectl_span_t array, queuectl_span_t *item);
int queuectl_json_next_member(queuectl_span_t object, queuectl_span_t *name,
    queuectl_span_t *value);

/* the characters of a string, added in UTF-8; 0 where it is no string */

int queuectl_json_text(queuectl_span_t string, queuectl_buf_t *b);

/* a member that is a string or an integer; 0 where it is not there or not one */

int queuectl_json_member_text(queuectl_span_t object, const char *name,
    queuectl_buf_t *b);
int queuectl_json_member_number(queuectl_span_t object, const char *name,
    long long *number);

/* whether a member is there, and is true */

int queuectl_json_member_true(queuectl_span_t object, const char *name);


#endif /* QUEUECTL_JSON_H_INCLUDED_ */
