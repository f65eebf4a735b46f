
/*
 * Which projects there are: a sorted set in Redis, where each worker notes those
 * that it has used.  Metrics go through it.
 */

#include "ngx_queues_store_batch.h"
#include "ngx_queues_store_maintain.h"


/* ms; 3 times of it are to end before one is forgotten: known_forget */
#define NGX_QUEUES_STORE_KNOWN_AGAIN  300000


static void ngx_queues_store_known_args(ngx_queue_t *q, ngx_str_t *args,
    u_char *text);
static void ngx_queues_store_known_told(ngx_queue_t *q);
static void ngx_queues_store_known_failed(const char *reason);


static ngx_queues_store_batch_t  ngx_queues_store_knowing;


static ngx_queues_store_batch_kind_t  ngx_queues_store_known_kind = {
    "known_note",
    ngx_string(NGX_QUEUES_STORE_KNOWN),
    1,
    0,
    ngx_queues_store_known_args,
    ngx_queues_store_known_told,
    ngx_queues_store_known_failed
};


void
ngx_queues_store_known_init(ngx_cycle_t *cycle)
{
    ngx_queues_store_batch_init(&ngx_queues_store_knowing,
                                &ngx_queues_store_known_kind, cycle);
}


void
ngx_queues_store_known_exit(void)
{
    ngx_queues_store_batch_exit(&ngx_queues_store_knowing);
}


void
ngx_queues_store_known_note(ngx_queues_store_project_t *p)
{
    if (p->knowing
        || (p->was_told
            && ngx_current_msec - p->told < NGX_QUEUES_STORE_KNOWN_AGAIN))
    {
        return;
    }

    p->knowing = 1;
    ngx_queue_insert_tail(&ngx_queues_store_knowing.urgent, &p->known);

    ngx_queues_store_batch_next(&ngx_queues_store_knowing);
}


static void
ngx_queues_store_known_args(ngx_queue_t *q, ngx_str_t *args, u_char *text)
{
    ngx_queues_store_project_t  *p;

    p = ngx_queue_data(q, ngx_queues_store_project_t, known);

    args[0] = p->root;
    p->told = ngx_current_msec;
}


static void
ngx_queues_store_known_told(ngx_queue_t *q)
{
    ngx_queues_store_project_t  *p;

    p = ngx_queue_data(q, ngx_queues_store_project_t, known);

    p->knowing = 0;
    p->was_told = 1;
}


static void
ngx_queues_store_known_failed(const char *reason)
{
    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "projects are not made known to metrics: %s", reason);
}
