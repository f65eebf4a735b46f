
/*
 * Request mechanics: the life of an operation, its body, its answer and its
 * wait.  Knows no API and no Redis.
 *
 * An operation is not in its request's pool: a reply of the store may come
 * after the client has gone.  It lives until its request is over and nobody
 * holds it any more.
 */

#ifndef _NGX_QUEUES_HTTP_H_INCLUDED_
#define _NGX_QUEUES_HTTP_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


typedef struct ngx_queues_http_op_s    ngx_queues_http_op_t;
typedef struct ngx_queues_http_line_s  ngx_queues_http_line_t;

typedef void (*ngx_queues_http_op_pt)(ngx_queues_http_op_t *op);
typedef void (*ngx_queues_http_over_pt)(ngx_queues_http_op_t *op,
    ngx_uint_t status);


typedef enum {
    NGX_QUEUES_HTTP_WAIT_NONE = 0,
    NGX_QUEUES_HTTP_WAIT_PARKED,
    NGX_QUEUES_HTTP_WAIT_TRYING,         /* in the line, a try is under way */
    NGX_QUEUES_HTTP_WAIT_LEFT            /* out of the line, a try is */
} ngx_queues_http_wait_state_e;


typedef enum {
    NGX_QUEUES_HTTP_TRY_FOUND = 0,
    NGX_QUEUES_HTTP_TRY_PASSED,          /* found, for one who came earlier */
    NGX_QUEUES_HTTP_TRY_EMPTY,
    NGX_QUEUES_HTTP_TRY_FAILED
} ngx_queues_http_try_e;


typedef ngx_int_t (*ngx_queues_http_try_pt)(ngx_queues_http_op_t *op);


typedef struct {
    ngx_queue_t                    queue;     /* in the line, oldest first */
    ngx_queues_http_line_t        *line;
    ngx_event_t                    timer;     /* the end of the wait */
    ngx_queues_http_wait_state_e   state;
    ngx_uint_t                     ended;     /* the last try is under way */
    ngx_uint_t                     since;     /* wakes before the first look */
    ngx_queues_http_try_pt         try;       /* see ngx_queues_http_park() */
    ngx_queues_http_op_pt          end;
} ngx_queues_http_wait_t;


/* organization, project, queue */
#define NGX_QUEUES_HTTP_NAMES  3


/*
 * What is known of a request when it is logged: in the request's pool, as the
 * operation may be gone by then.  What it points to lives as long as the
 * request, or for ever.
 */
typedef struct {
    ngx_queues_http_op_t          *op;        /* NULL: it is over */

    const ngx_str_t               *operation; /* of these, NULL: not known */
    ngx_str_t                     *principal;
    const ngx_str_t               *error;
    ngx_str_t                      names[NGX_QUEUES_HTTP_NAMES];
    ngx_int_t                      messages;  /* -1: none to be counted */

    ngx_str_t                      body;      /* of an answer of nginx itself,
                                                 once its headers are made */
} ngx_queues_http_note_t;


struct ngx_queues_http_op_s {
    ngx_http_request_t            *request;   /* NULL: it is over */
    ngx_queues_http_note_t        *note;      /* as long as request */
    ngx_pool_t                    *pool;
    void                          *data;      /* of the API */

    ngx_str_t                      body;      /* lives as long as request */
    ngx_queues_http_op_pt          handler;

    /* the request is over and no byte of its answer was written */
    ngx_queues_http_op_pt          lost;

    /* is told once how it ended: before its answer, or where there is none */
    ngx_queues_http_over_pt        over;

    ngx_str_t                      type;      /* of the answer; empty: JSON */

    off_t                          sent;
    ngx_uint_t                     holds;
    ngx_queues_http_wait_t         wait;

    unsigned                       own_body:1;/* nobody else has read it */
    unsigned                       answered:1;
    unsigned                       parked:1;  /* at some time */
    unsigned                       async:1;   /* out of the request's event */
};


/*
 * Writes the JSON body of an answer that nginx itself makes (413, 400 ...) into
 * r->pool, adds what headers belong to it.  NGX_DECLINED: it is not for an API.
 */
typedef ngx_int_t (*ngx_queues_http_error_pt)(ngx_http_request_t *r,
    ngx_uint_t status, ngx_str_t *body);


#pragma GCC visibility push(hidden)


/*
 * Makes the operation of a request.  The caller is the content handler and
 * goes on with ngx_queues_http_read_body() or ngx_queues_http_no_body(),
 * whose result it returns.  NULL when out of memory.
 */
ngx_queues_http_op_t *ngx_queues_http_op_create(ngx_http_request_t *r);

/* The note of a request, which is made if need be; NULL when out of memory. */
ngx_queues_http_note_t *ngx_queues_http_note(ngx_http_request_t *r);

/* Notes who asks, in a copy; NGX_ERROR when out of memory. */
ngx_int_t ngx_queues_http_note_principal(ngx_queues_http_op_t *op,
    ngx_str_t *name);

/* The variables that tell what is in the note; a preconfiguration. */
ngx_int_t ngx_queues_http_add_variables(ngx_conf_t *cf);

/*
 * Reads the body into op->body, then calls the handler.
 * ngx_queues_http_no_body() discards what there is of a body.
 */
ngx_int_t ngx_queues_http_read_body(ngx_queues_http_op_t *op,
    ngx_queues_http_op_pt handler);
ngx_int_t ngx_queues_http_no_body(ngx_queues_http_op_t *op,
    ngx_queues_http_op_pt handler);

/* Calls op->over, unless it was called before. */
void ngx_queues_http_over(ngx_queues_http_op_t *op, ngx_uint_t status);

/* Gives a body's memory back where it was an allocation of its own. */
void ngx_queues_http_drop_body(ngx_queues_http_op_t *op);

/*
 * Everyone who will come back to the operation holds it; the last release of
 * one whose request is over frees it.
 */
void ngx_queues_http_op_hold(ngx_queues_http_op_t *op);
void ngx_queues_http_op_release(ngx_queues_http_op_t *op);

/*
 * Answers and finalizes the request: op->request may be NULL afterwards.  The
 * body is in the request's pool; of zero length: none (204).  Headers beside
 * the content's type and length are in r->headers_out already.
 */
void ngx_queues_http_answer(ngx_queues_http_op_t *op, ngx_uint_t status,
    ngx_str_t *body);

/* The same with a body of size bytes that a chain has, the last one's last_buf
 * being set. */
void ngx_queues_http_answer_chain(ngx_queues_http_op_t *op, ngx_uint_t status,
    ngx_chain_t *out, off_t size);

/*
 * Finalizes the request with rc, also out of its own event: op->request may be
 * NULL afterwards.
 */
void ngx_queues_http_finalize(ngx_queues_http_op_t *op, ngx_int_t rc);

/* Ends a request whose client has gone, without an answer. */
void ngx_queues_http_abandon(ngx_queues_http_op_t *op);

/* Adds a header to the answer; NGX_ERROR when out of memory. */
ngx_int_t ngx_queues_http_add_header(ngx_http_request_t *r, const char *name,
    ngx_str_t *value);

/*
 * Before an answer with a secret: the text that is set in what it gives is
 * wiped when the request is over, and so is each copy on its way to the client.
 * NULL when out of memory.
 */
ngx_str_t *ngx_queues_http_secret(ngx_http_request_t *r);

/*
 * 1 if the client has closed its side, as far as the kernel knows by now: a
 * last look before messages are given to it.
 */
ngx_uint_t ngx_queues_http_client_gone(ngx_queues_http_op_t *op);


/*
 * Is called before the first look at the store.  A wake and the answer to that
 * look come on different ways, so a wake between the two counts as one after
 * ngx_queues_http_park().
 */
void ngx_queues_http_look(ngx_queues_http_op_t *op);

/*
 * Parks an operation in a line of a queue until something may be receivable
 * there or ms have passed.  part: a text, perhaps empty, that those have in
 * common to whom the same is receivable: they stand in one line.  next: in how
 * many ms something becomes receivable by itself, -1: nothing does.  try starts
 * another receive, whose outcome is told by ngx_queues_http_tried(), or returns
 * NGX_ERROR.  end answers an operation whose time is over, early when the
 * worker exits.  NGX_ERROR when out of memory: the operation is not parked.
 */
ngx_int_t ngx_queues_http_park(ngx_queues_http_op_t *op, ngx_str_t *root,
    ngx_str_t *queue, ngx_str_t *part, ngx_msec_t ms, int64_t next,
    ngx_queues_http_try_pt try, ngx_queues_http_op_pt end);

/*
 * Tells the outcome of a try, also where the client has gone meanwhile.  After
 * FOUND the operation is out of the line and the caller's to answer; otherwise
 * it goes on waiting, or is answered through end if its time is over.
 */
void ngx_queues_http_tried(ngx_queues_http_op_t *op,
    ngx_queues_http_try_e outcome, int64_t next);

/*
 * The first one in the line who came before this one and whose own try, if it
 * had one, is over; NULL where there is none.
 */
ngx_queues_http_op_t *ngx_queues_http_before(ngx_queues_http_op_t *op);

/* Takes the operation out of its line, whatever its state. */
void ngx_queues_http_unpark(ngx_queues_http_op_t *op);

/* Something may be receivable in this queue; empty: in the whole project. */
void ngx_queues_http_wake(ngx_str_t *root, ngx_str_t *queue);

/* The worker's lines.  NGX_ERROR where the worker cannot start. */
ngx_int_t ngx_queues_http_wait_init(ngx_cycle_t *cycle);
void ngx_queues_http_wait_exit(ngx_cycle_t *cycle);


/*
 * Installs the filters that turn answers of nginx itself on our locations into
 * the API's errors.
 */
void ngx_queues_http_filter_init(ngx_queues_http_error_pt error);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_HTTP_H_INCLUDED_ */
