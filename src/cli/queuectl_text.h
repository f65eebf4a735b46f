
/* Bytes: spans of somebody else's, buffers of one's own. */

#ifndef QUEUECTL_TEXT_H_INCLUDED_
#define QUEUECTL_TEXT_H_INCLUDED_


#include <stddef.h>


typedef struct {
    const char  *data;
    size_t       len;
} queuectl_span_t;


/* empty is all zero; data has a zero after its end once there is any */

typedef struct {
    char        *data;
    size_t       len;
    size_t       size;
} queuectl_buf_t;


/* there is no going on without memory, or chance: these end the program */

void queuectl_random(void *bytes, size_t n);
void *queuectl_alloc(size_t size);
void *queuectl_grow(void *p, size_t n, size_t size);
char *queuectl_copy(const char *data, size_t len);

void queuectl_buf_add(queuectl_buf_t *b, const void *data, size_t len);
void queuectl_buf_text(queuectl_buf_t *b, const char *text);
void queuectl_buf_print(queuectl_buf_t *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void queuectl_buf_clear(queuectl_buf_t *b);
void queuectl_buf_free(queuectl_buf_t *b);
queuectl_span_t queuectl_buf_span(queuectl_buf_t *b);

/* 0 for UTF-8, without surrogates, or -1 */

int queuectl_utf8_check(queuectl_span_t text);

/* percent-encoded, as one segment of a path or one value of a query */

void queuectl_buf_url(queuectl_buf_t *b, const char *text);

/*
 * A JSON string of bytes in UTF-8; a lone surrogate may be among them in the
 * three bytes that it would have. Returns 0, or -1 with the place of the first
 * byte that no JSON can carry.
 */

int queuectl_buf_json(queuectl_buf_t *b, queuectl_span_t text, size_t *bad);

/* "name": "text" and so on of an object that begins with "{" */

void queuectl_buf_member(queuectl_buf_t *b, const char *name);
int queuectl_buf_member_text(queuectl_buf_t *b, const char *name,
    const char *text);
void queuectl_buf_member_number(queuectl_buf_t *b, const char *name,
    long long number);

/*
 * What a terminal may be shown: without control characters of any kind, and
 * without those that turn the direction of writing. Lines stay lines where
 * that is asked for.
 */

void queuectl_buf_safe(queuectl_buf_t *b, queuectl_span_t text, int lines);

/* the columns that safe text takes */

size_t queuectl_width(const char *text);

/* queuectl_time.c: 90 → "1m30s" */

void queuectl_buf_seconds(queuectl_buf_t *b, long long seconds);

/* when that was, so many seconds ago by the clock here: ISO 8601, not before
   1970 */

void queuectl_buf_ago(queuectl_buf_t *b, long long seconds);


#endif /* QUEUECTL_TEXT_H_INCLUDED_ */
