
#include "queuectl_out.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>


static void queuectl_table_line(queuectl_t *q, queuectl_table_t *t,
    const char *const *cells, const size_t *widths, int heading);


void
queuectl_table_init(queuectl_table_t *t, const char *const *headings,
    size_t columns)
{
    memset(t, 0, sizeof(queuectl_table_t));

    t->headings = headings;
    t->columns = columns;
}


void
queuectl_table_add(queuectl_table_t *t, const char *text)
{
    queuectl_buf_t   cell;
    queuectl_span_t  span;

    if (t->ncells == t->size) {
        t->size = 2 * t->size + 16;
        t->cells = queuectl_grow(t->cells, t->size, sizeof(char *));
    }

    memset(&cell, 0, sizeof(queuectl_buf_t));
    span.data = text;
    span.len = strlen(text);

    queuectl_buf_text(&cell, "");
    queuectl_buf_safe(&cell, span, 0);

    t->cells[t->ncells++] = cell.data;
}


void
queuectl_table_print_cell(queuectl_table_t *t, const char *format, ...)
{
    char     text[1024];
    va_list  args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    queuectl_table_add(t, text);
}


void
queuectl_table_seconds(queuectl_table_t *t, long long seconds)
{
    queuectl_buf_t  text;

    memset(&text, 0, sizeof(queuectl_buf_t));
    queuectl_buf_seconds(&text, seconds);
    queuectl_table_add(t, text.data);
    queuectl_buf_free(&text);
}


static void
queuectl_table_line(queuectl_t *q, queuectl_table_t *t,
    const char *const *cells, const size_t *widths, int heading)
{
    int         right, bold;
    size_t      i, pad;
    const char *cell;

    bold = q->colour && (heading || t->headings == NULL);

    for (i = 0; i < t->columns; i++) {
        cell = cells[i];
        right = t->headings && t->headings[i][0] == '>';

        if (heading && right) {
            cell++;
        }

        pad = widths[i] - queuectl_width(cell);

        if (right) {
            printf("%*s", (int) pad, "");
        }

        if (bold && (heading || i == 0)) {
            printf("\033[1m%s\033[0m", cell);

        } else {
            fputs(cell, stdout);
        }

        /* no blanks at the ends of lines */

        if (i + 1 < t->columns) {
            printf("%*s", (int) (right ? 0 : pad) + 2, "");
        }
    }

    putchar('\n');
}


void
queuectl_table_end(queuectl_t *q, queuectl_table_t *t)
{
    size_t  i, width, *widths;

    widths = queuectl_alloc(t->columns * sizeof(size_t));

    for (i = 0; t->headings && i < t->columns; i++) {
        widths[i] = strlen(t->headings[i]) - (t->headings[i][0] == '>');
    }

    for (i = 0; i < t->ncells; i++) {
        width = queuectl_width(t->cells[i]);

        if (width > widths[i % t->columns]) {
            widths[i % t->columns] = width;
        }
    }

    if (t->headings) {
        queuectl_table_line(q, t, t->headings, widths, 1);
    }

    for (i = 0; i + t->columns <= t->ncells; i += t->columns) {
        queuectl_table_line(q, t, (const char *const *) t->cells + i, widths,
                            0);
    }

    free(widths);
    queuectl_table_free(t);
}


void
queuectl_table_free(queuectl_table_t *t)
{
    size_t  i;

    for (i = 0; i < t->ncells; i++) {
        free(t->cells[i]);
    }

    free(t->cells);
    memset(t, 0, sizeof(queuectl_table_t));
}
