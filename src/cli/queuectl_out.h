
/*
 * What is written: to stdout what was asked for, to stderr all else. Nothing
 * of a server's reaches a terminal with its control characters, but for what
 * --json and --raw are asked to give as it is.
 */

#ifndef QUEUECTL_OUT_H_INCLUDED_
#define QUEUECTL_OUT_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"

#include <cjson/cJSON.h>


/* queuectl_out.c */

/* a value of JSON as it was sent, on one line */

void queuectl_out_json(queuectl_span_t value);

/* a line that is safe for a terminal */

void queuectl_out_safe(const char *text);

/* 0, or what a failed write of stdout ends with: it has been said then */

queuectl_exit_e queuectl_out_flush(void);

/* a line on stderr: what went wrong; what else is worth saying (not with -q) */

void queuectl_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void queuectl_note(queuectl_t *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* asks on stderr, unless --yes was given */

queuectl_exit_e queuectl_confirm(queuectl_t *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* a member of a settings object for people; "-" where there is none */

const char *queuectl_shown(const cJSON *object, const char *name);
long long queuectl_shown_number(const cJSON *object, const char *name);


/* queuectl_table.c: columns; a heading that begins with ">" is of numbers */

typedef struct {
    const char *const  *headings;       /* NULL: lines of "name  value" */
    size_t              columns;
    char              **cells;
    size_t              ncells;
    size_t              size;
} queuectl_table_t;

void queuectl_table_init(queuectl_table_t *t, const char *const *headings,
    size_t columns);
void queuectl_table_add(queuectl_table_t *t, const char *text);
void queuectl_table_print_cell(queuectl_table_t *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void queuectl_table_seconds(queuectl_table_t *t, long long seconds);

/* prints it, and frees it; or frees it alone */

void queuectl_table_end(queuectl_t *q, queuectl_table_t *t);
void queuectl_table_free(queuectl_table_t *t);


/* queuectl_progress.c: a bar on a terminal; done of total, 0: not known */

typedef struct {
    int          shown;
    const char  *unit;
    long long    total;
    long long    done;
    long long    count;                 /* what the unit counts */
    long long    began;
    long long    drawn;
} queuectl_progress_t;

void queuectl_progress_init(queuectl_t *q, queuectl_progress_t *p,
    const char *unit, long long total);
void queuectl_progress(queuectl_progress_t *p, long long done,
    long long count);
void queuectl_progress_end(queuectl_progress_t *p);


#endif /* QUEUECTL_OUT_H_INCLUDED_ */
