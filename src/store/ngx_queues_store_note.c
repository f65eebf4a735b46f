
/*
 * What the registry of projects is told: when each is to be looked after.
 */

#include "ngx_queues_store_batch.h"
#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_NOTE_GAP  20      /* ms between calls */


static void ngx_queues_store_note_put(ngx_queues_store_project_t *p,
    ngx_queue_t *list);
static void ngx_queues_store_note_args(ngx_queue_t *q, ngx_str_t *args,
    u_char *text);
static void ngx_queues_store_note_told(ngx_queue_t *q);
static void ngx_queues_store_note_failed(const char *reason);


static ngx_queues_store_batch_t  ngx_queues_store_note;


static ngx_queues_store_batch_kind_t  ngx_queues_store_note_kind = {
    "project_note",
    ngx_string(NGX_QUEUES_STORE_REGISTRY),
    2,
    NGX_QUEUES_STORE_NOTE_GAP,
    ngx_queues_store_note_args,
    ngx_queues_store_note_told,
    ngx_queues_store_note_failed
};


void
ngx_queues_store_note_init(ngx_cycle_t *cycle)
{
    ngx_queues_store_batch_init(&ngx_queues_store_note,
                                &ngx_queues_store_note_kind, cycle);
}


void
ngx_queues_store_note_exit(void)
{
    ngx_queues_store_batch_exit(&ngx_queues_store_note);
}


void
ngx_queues_store_note_now(ngx_queues_store_project_t *p, ngx_msec_t ms)
{
    p->moment = ngx_current_msec + ms;
    p->nothing = 0;

    ngx_queues_store_note_put(p, &ngx_queues_store_note.urgent);
}


void
ngx_queues_store_note_soon(ngx_queues_store_project_t *p, ngx_msec_t ms)
{
    p->moment = ngx_current_msec + ms;
    p->nothing = 0;

    ngx_queues_store_note_put(p, &ngx_queues_store_note.later);
}


void
ngx_queues_store_note_nothing(ngx_queues_store_project_t *p)
{
    p->nothing = 1;

    ngx_queues_store_note_put(p, &ngx_queues_store_note.later);
}


static void
ngx_queues_store_note_put(ngx_queues_store_project_t *p, ngx_queue_t *list)
{
    if (p->noting) {
        ngx_queue_remove(&p->notes);
    }

    p->noting = 1;
    ngx_queue_insert_tail(list, &p->notes);

    ngx_queues_store_batch_next(&ngx_queues_store_note);
}


static void
ngx_queues_store_note_args(ngx_queue_t *q, ngx_str_t *args, u_char *text)
{
    ngx_msec_int_t               ms;
    ngx_queues_store_project_t  *p;

    p = ngx_queue_data(q, ngx_queues_store_project_t, notes);

    args[0] = p->root;

    if (p->nothing) {
        ngx_str_set(&args[1], "-1");
        return;
    }

    ms = (ngx_msec_int_t) (p->moment - ngx_current_msec);

    (void) ngx_queues_store_number_arg(&args[1], text, ngx_max(ms, 0));
}


static void
ngx_queues_store_note_told(ngx_queue_t *q)
{
    ngx_queues_store_project_t  *p;

    p = ngx_queue_data(q, ngx_queues_store_project_t, notes);

    p->noting = 0;
}


static void
ngx_queues_store_note_failed(const char *reason)
{
    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "projects with due work are not noted: %s", reason);
}
