
/*
 * Lines of parked operations.  For src/http only.
 *
 * A line holds the parked operations of one queue, or those of them to whom the
 * same is receivable, oldest first.  A wake of the queue reaches all of its
 * lines, which stand side by side in the tree: their key is the queue's.  It
 * starts a round: the first one tries; every try that finds something lets one
 * more be under way at once, and the first one that finds nothing ends the
 * round.  So a burst of messages is handed out in a few round trips, in order,
 * and one message does not make everyone ask for it.
 */

#ifndef _NGX_QUEUES_HTTP_LINE_H_INCLUDED_
#define _NGX_QUEUES_HTTP_LINE_H_INCLUDED_


#include "ngx_queues_http.h"


#define NGX_QUEUES_HTTP_WINDOW      64    /* tries at once, at most */
#define NGX_QUEUES_HTTP_RETRY       200   /* ms until a failed try is repeated,
                                             and as much again at random */


struct ngx_queues_http_line_s {
    ngx_str_node_t           node;        /* root LF queue LF part */
    size_t                   root_len;
    size_t                   queue_len;   /* of "root LF queue" */
    ngx_queue_t              queue;       /* in all lines */
    ngx_queue_t              waits;       /* oldest first */
    ngx_event_t              due;         /* something becomes receivable by
                                             itself, or a failed try's retry */
    ngx_uint_t               trying;
    ngx_uint_t               window;      /* 0: no round */
    ngx_uint_t               again;       /* woken while tries were under
                                             way; unsigned  again:1; */
};


#pragma GCC visibility push(hidden)


void ngx_queues_http_lines_init(void);

/* Every wait ends in the next turn of the event loop. */
void ngx_queues_http_lines_end(void);

/* A line, made where there is none; NULL when out of memory. */
ngx_queues_http_line_t *ngx_queues_http_line_get(ngx_str_t *root,
    ngx_str_t *queue, ngx_str_t *part);

/* Frees a line that nobody stands in and no try comes back to. */
void ngx_queues_http_line_check(ngx_queues_http_line_t *line);

/* Starts a round, or has one follow what is under way. */
void ngx_queues_http_line_wake(ngx_queues_http_line_t *line);

/* Lets those try whom the round has room for. */
void ngx_queues_http_line_run(ngx_queues_http_line_t *line);

/* In how many ms there is a wake by itself; -1: there is none. */
void ngx_queues_http_line_due(ngx_queues_http_line_t *line, int64_t next);

/* How many wakes there were, and whether any since then was for the line; 1 if
 * that is no longer known. */
ngx_uint_t ngx_queues_http_line_wakes(void);
ngx_uint_t ngx_queues_http_line_woken(ngx_queues_http_line_t *line,
    ngx_uint_t since);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_HTTP_LINE_H_INCLUDED_ */
