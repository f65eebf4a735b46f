
/*
 * The registry of projects: a sorted set in Redis, by the moment at which each
 * is to be looked after.  It is how a worker learns of what it has never been
 * asked for, and what nobody else may be left to do.
 */

#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_PAGE          "100"
#define NGX_QUEUES_STORE_PAGE_BUSY     100     /* wait: no next page */

/* all in ms; what is to come until the next pass is told in this one */
#define NGX_QUEUES_STORE_AHEAD         "6000"
#define NGX_QUEUES_STORE_PASS          4750    /* from pass to pass */
#define NGX_QUEUES_STORE_PASS_JITTER   500
#define NGX_QUEUES_STORE_PAGE_NEXT     200     /* from page to page */
#define NGX_QUEUES_STORE_PAGE_WAIT     500
#define NGX_QUEUES_STORE_PAGE_REFUSED  30000   /* longest, of failures */


typedef struct {
    void          *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t   ident;

    ngx_event_t    timer;

    ngx_uint_t     repeat;       /* unsigned  repeat:1; */
    ngx_uint_t     failures;     /* in a row */

    ngx_str_t      cursor;       /* empty: a pass begins, or has ended */
    u_char         text[64];
} ngx_queues_store_registry_t;


static void ngx_queues_store_registry_handler(ngx_event_t *ev);
static void ngx_queues_store_registry_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static ngx_int_t ngx_queues_store_registry_page(
    ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_registry_project(ngx_str_t *root, int64_t left);
static void ngx_queues_store_registry_failed(const char *reason);


static ngx_queues_store_registry_t  ngx_queues_store_registry;


void
ngx_queues_store_registry_init(ngx_uint_t repeat)
{
    ngx_queues_store_registry_t  *reg;

    reg = &ngx_queues_store_registry;

    ngx_memzero(reg, sizeof(ngx_queues_store_registry_t));

    reg->ident = (ngx_socket_t) -1;
    reg->repeat = repeat;
    reg->cursor.data = reg->text;

    reg->timer.handler = ngx_queues_store_registry_handler;
    reg->timer.data = reg;
    reg->timer.log = ngx_cycle->log;
    reg->timer.cancelable = 1;

    /* the link is being made; nodes that start together take turns */

    ngx_add_timer(&reg->timer, 50 + ngx_random() % NGX_QUEUES_STORE_PAGE_WAIT);
}


void
ngx_queues_store_registry_exit(void)
{
    if (ngx_queues_store_registry.timer.timer_set) {
        ngx_del_timer(&ngx_queues_store_registry.timer);
    }
}


static void
ngx_queues_store_registry_handler(ngx_event_t *ev)
{
    ngx_int_t                     rc;
    ngx_str_t                     args[3];
    ngx_queues_store_registry_t  *reg;

    static ngx_str_t  registry = ngx_string(NGX_QUEUES_STORE_REGISTRY);

    reg = &ngx_queues_store_registry;

    if (ngx_exiting) {
        return;
    }

    if (!ngx_queues_store_ready()
        || ngx_queues_store_projects_ready() > NGX_QUEUES_STORE_PAGE_BUSY)
    {
        ngx_add_timer(ev, NGX_QUEUES_STORE_PAGE_WAIT
                          + ngx_random() % NGX_QUEUES_STORE_PAGE_WAIT);
        return;
    }

    ngx_str_set(&args[0], NGX_QUEUES_STORE_AHEAD);
    ngx_str_set(&args[1], NGX_QUEUES_STORE_PAGE);
    args[2] = reg->cursor;

    rc = ngx_queues_redis_call("project_due", &registry, args, 3,
                               ngx_queues_store_registry_done, reg);

    if (rc != NGX_OK) {
        ngx_queues_store_registry_failed("no memory");
    }
}


static void
ngx_queues_store_registry_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    const char                   *reason;
    ngx_queues_store_registry_t  *reg;

    reg = &ngx_queues_store_registry;

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {

        /* it will be called once more, and no other call is made till then */

        return;
    }

    reason = NULL;

    if (rc != NGX_QUEUES_REDIS_OK) {
        reason = ngx_queues_redis_result_text(rc);

    } else if (ngx_queues_store_registry_page(reply) != NGX_OK) {
        reason = "unexpected reply";
    }

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    if (reason) {
        ngx_queues_store_registry_failed(reason);
        return;
    }

    reg->failures = 0;

    if (reg->cursor.len) {
        ngx_add_timer(&reg->timer, NGX_QUEUES_STORE_PAGE_NEXT);

    } else if (reg->repeat) {
        ngx_add_timer(&reg->timer, NGX_QUEUES_STORE_PASS
                                   + ngx_random()
                                     % NGX_QUEUES_STORE_PASS_JITTER);
    }
}


/* cursor, then pairs of root and ms left */

static ngx_int_t
ngx_queues_store_registry_page(ngx_queues_redis_reply_t *reply)
{
    int64_t                       left;
    ngx_str_t                     str;
    ngx_uint_t                    i;
    ngx_queues_store_registry_t  *reg;

    reg = &ngx_queues_store_registry;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts % 2 == 0
        || ngx_queues_store_string(&reply->elts[0], &str) != NGX_OK
        || str.len > sizeof(reg->text))
    {
        goto wrong;
    }

    reg->cursor.len = str.len;
    ngx_memcpy(reg->text, str.data, str.len);

    for (i = 1; i < reply->nelts; i += 2) {

        if (ngx_queues_store_string(&reply->elts[i], &str) != NGX_OK
            || ngx_queues_store_integer(&reply->elts[i + 1], &left) != NGX_OK)
        {
            goto wrong;
        }

        ngx_queues_store_registry_project(&str, left);
    }

    return NGX_OK;

wrong:

    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                  "unexpected reply of a Redis function");

    return NGX_ERROR;
}


/* what others wrote there is left alone */

static void
ngx_queues_store_registry_project(ngx_str_t *root, int64_t left)
{
    size_t  len;

    len = sizeof(NGX_QUEUES_STORE_ROOT_PREFIX) - 1;

    if (root->len <= len + 1
        || ngx_memcmp(root->data, NGX_QUEUES_STORE_ROOT_PREFIX, len) != 0
        || root->data[root->len - 1] != '}')
    {
        return;
    }

    ngx_queues_store_maintain_adopt(root, left);
}


static void
ngx_queues_store_registry_failed(const char *reason)
{
    ngx_msec_t                    ms;
    ngx_queues_store_registry_t  *reg;

    reg = &ngx_queues_store_registry;

    reg->cursor.len = 0;

    if (!ngx_queues_store_ready()) {

        /* the link comes back by itself */

        ngx_add_timer(&reg->timer, NGX_QUEUES_STORE_PAGE_WAIT);
        return;
    }

    reg->failures++;

    ms = ngx_queues_store_maintain_pause(reg->failures,
                                         NGX_QUEUES_STORE_PAGE_REFUSED);

    ngx_add_timer(&reg->timer, ms);

    ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                  "projects with due work are not known: %s", reason);
}
