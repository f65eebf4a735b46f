
/*
 * How many subscriptions of a project are active is told to all workers, in
 * another slot than the project's own: a second call, before the first one is
 * answered.  Where it fails it is tried again, without anybody waiting.
 */

#include "ngx_queues_store_call.h"
#include "ngx_queues_store_maintain.h"


#define NGX_QUEUES_STORE_TELL_TRIES  6
#define NGX_QUEUES_STORE_TELL_PAUSE  30000    /* ms, the longest between */


typedef struct {
    void                       *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t                ident;

    ngx_event_t                 timer;     /* until the next try */
    ngx_queue_t                 queue;

    ngx_str_t                   root;
    int64_t                     active;

    ngx_uint_t                  failures;
    ngx_uint_t                  old;       /* a newer number has been told;
                                              unsigned  old:1; */

    /* the call that ends with the first try, and what it ends with */
    ngx_queues_store_call_t    *call;
    ngx_queues_redis_reply_t   *reply;
    ngx_queues_store_result_t   result;
} ngx_queues_store_tell_t;


static ngx_int_t ngx_queues_store_note_start(ngx_str_t *root, int64_t active,
    ngx_queues_store_done_pt done, void *data);
static void ngx_queues_store_tell_old(ngx_str_t *root);
static void ngx_queues_store_tell_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_store_tell_failed(ngx_queues_store_tell_t *tell,
    const char *reason);
static void ngx_queues_store_tell_handler(ngx_event_t *ev);
static void ngx_queues_store_tell_free(ngx_queues_store_tell_t *tell);


static ngx_queue_t  ngx_queues_store_tells;


void
ngx_queues_store_tell_init(void)
{
    ngx_queue_init(&ngx_queues_store_tells);
}


void
ngx_queues_store_tell_exit(void)
{
    ngx_queue_t  *q;

    while (!ngx_queue_empty(&ngx_queues_store_tells)) {
        q = ngx_queue_head(&ngx_queues_store_tells);

        ngx_queues_store_tell_free(ngx_queue_data(q, ngx_queues_store_tell_t,
                                                  queue));
    }
}


ngx_int_t
ngx_queues_store_push_note(ngx_str_t *root, int64_t active,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_tell_old(root);

    return ngx_queues_store_note_start(root, active, done, data);
}


static ngx_int_t
ngx_queues_store_note_start(ngx_str_t *root, int64_t active,
    ngx_queues_store_done_pt done, void *data)
{
    u_char     buf[NGX_QUEUES_BASE_DECIMAL_MAX];
    ngx_str_t  args[2];

    args[0] = *root;
    (void) ngx_queues_store_number_arg(&args[1], buf, active);

    return ngx_queues_store_push_call("push_note", args, 2,
                                      ngx_queues_store_integer_parse, done,
                                      data);
}


ngx_int_t
ngx_queues_store_tell(ngx_str_t *root, int64_t active,
    ngx_queues_store_call_t *call, ngx_queues_redis_reply_t *reply,
    ngx_queues_store_result_t *result)
{
    ngx_queues_store_tell_t  *tell;

    tell = ngx_alloc(sizeof(ngx_queues_store_tell_t) + root->len,
                     ngx_cycle->log);
    if (tell == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(tell, sizeof(ngx_queues_store_tell_t));

    tell->ident = (ngx_socket_t) -1;

    tell->timer.handler = ngx_queues_store_tell_handler;
    tell->timer.data = tell;
    tell->timer.log = ngx_cycle->log;
    tell->timer.cancelable = 1;

    tell->root.len = root->len;
    tell->root.data = (u_char *) tell + sizeof(ngx_queues_store_tell_t);
    ngx_memcpy(tell->root.data, root->data, root->len);

    tell->active = active;

    ngx_queues_store_tell_old(root);

    if (ngx_queues_store_note_start(root, active, ngx_queues_store_tell_done,
                                    tell)
        != NGX_OK)
    {
        ngx_free(tell);
        return NGX_ERROR;
    }

    ngx_queue_insert_tail(&ngx_queues_store_tells, &tell->queue);

    if (call) {
        tell->call = call;
        tell->reply = reply;
        tell->result = *result;
    }

    return NGX_OK;
}


/* what was to be told of the root is so no more */

static void
ngx_queues_store_tell_old(ngx_str_t *root)
{
    ngx_queue_t              *q, *next;
    ngx_queues_store_tell_t  *tell;

    for (q = ngx_queue_head(&ngx_queues_store_tells);
         q != ngx_queue_sentinel(&ngx_queues_store_tells);
         q = next)
    {
        next = ngx_queue_next(q);

        tell = ngx_queue_data(q, ngx_queues_store_tell_t, queue);

        if (tell->root.len != root->len
            || ngx_memcmp(tell->root.data, root->data, root->len) != 0)
        {
            continue;
        }

        if (tell->timer.timer_set) {
            ngx_queues_store_tell_free(tell);

        } else {
            tell->old = 1;
        }
    }
}


static void
ngx_queues_store_tell_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_store_tell_t *tell = data;

    ngx_queues_store_call_t  *call;

    call = tell->call;

    if (call) {
        tell->call = NULL;

        ngx_queues_store_call_end(call, tell->reply, &tell->result);
    }

    if (result->code == NGX_QUEUES_STORE_OK || tell->old) {
        ngx_queues_store_tell_free(tell);
        return;
    }

    ngx_queues_store_tell_failed(tell, result->reason);
}


static void
ngx_queues_store_tell_failed(ngx_queues_store_tell_t *tell,
    const char *reason)
{
    tell->failures++;

    if (tell->failures < NGX_QUEUES_STORE_TELL_TRIES) {
        ngx_add_timer(&tell->timer,
                      ngx_queues_store_maintain_pause(tell->failures,
                                                NGX_QUEUES_STORE_TELL_PAUSE));
        return;
    }

    /* whoever looks after the project sees it */

    ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                  "other workers were not told of the subscriptions of "
                  "\"%V\": %s", &tell->root, reason);

    ngx_queues_store_tell_free(tell);
}


static void
ngx_queues_store_tell_handler(ngx_event_t *ev)
{
    ngx_queues_store_tell_t *tell = ev->data;

    if (ngx_queues_store_note_start(&tell->root, tell->active,
                                    ngx_queues_store_tell_done, tell)
        != NGX_OK)
    {
        ngx_queues_store_tell_failed(tell, "no memory");
    }
}


static void
ngx_queues_store_tell_free(ngx_queues_store_tell_t *tell)
{
    if (tell->timer.timer_set) {
        ngx_del_timer(&tell->timer);
    }

    ngx_queue_remove(&tell->queue);
    ngx_free(tell);
}
