
/*
 * The registry of projects: a set in Redis, read page by page.  It is how a
 * worker learns of what it has never been asked for.
 */

#include "ngx_queues_store_maintain.h"
#include "ngx_queues_store_call.h"


#define NGX_QUEUES_STORE_PAGE          "100"
#define NGX_QUEUES_STORE_PAGE_BUSY     100     /* wait: no next page */

/* all in ms */
#define NGX_QUEUES_STORE_PAGE_FIRST    200     /* from page to page, in the
                                                  first round */
#define NGX_QUEUES_STORE_PAGE_NEXT     5000    /* and later */
#define NGX_QUEUES_STORE_ROUND         30000   /* from round to round */
#define NGX_QUEUES_STORE_ROUND_JITTER  5000
#define NGX_QUEUES_STORE_PAGE_WAIT     500
#define NGX_QUEUES_STORE_PAGE_REFUSED  300000


typedef struct {
    void          *unused[3];

    /* event ident must be after 3 pointers as in ngx_connection_t */
    ngx_socket_t   ident;

    ngx_event_t    timer;

    ngx_uint_t     repeat;       /* unsigned  repeat:1; */
    ngx_uint_t     rounds;
    ngx_uint_t     failures;     /* in a row */

    ngx_str_t      cursor;
    u_char         text[NGX_INT64_LEN];
} ngx_queues_store_registry_t;


static void ngx_queues_store_registry_handler(ngx_event_t *ev);
static void ngx_queues_store_registry_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static ngx_int_t ngx_queues_store_registry_page(
    ngx_queues_redis_reply_t *reply);
static void ngx_queues_store_registry_project(ngx_str_t *root,
    ngx_msec_t within);
static void ngx_queues_store_registry_failed(void);


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
    reg->cursor.len = 1;
    reg->text[0] = '0';

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
    ngx_str_t                     args[2];
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

    args[0] = reg->cursor;
    ngx_str_set(&args[1], NGX_QUEUES_STORE_PAGE);

    rc = ngx_queues_redis_call("project_list", &registry, args, 2,
                               ngx_queues_store_registry_done, reg);

    if (rc != NGX_OK) {
        ngx_queues_store_registry_failed();
    }
}


static void
ngx_queues_store_registry_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_msec_t                    ms;
    ngx_queues_store_registry_t  *reg;

    reg = &ngx_queues_store_registry;

    if (rc == NGX_QUEUES_REDIS_TIMEOUT) {

        /* it will be called once more, and no other call is made till then */

        return;
    }

    if (rc == NGX_QUEUES_REDIS_OK) {
        rc = ngx_queues_store_registry_page(reply) == NGX_OK
             ? NGX_QUEUES_REDIS_OK : NGX_QUEUES_REDIS_OTHER;
    }

    if (reply) {
        ngx_queues_redis_reply_free(reply);
    }

    if (rc != NGX_QUEUES_REDIS_OK) {
        ngx_queues_store_registry_failed();
        return;
    }

    reg->failures = 0;

    if (reg->cursor.len == 1 && reg->text[0] == '0') {
        reg->rounds++;

        if (!reg->repeat) {
            return;
        }

        ms = NGX_QUEUES_STORE_ROUND
             + ngx_random() % NGX_QUEUES_STORE_ROUND_JITTER;

    } else {
        ms = reg->rounds ? NGX_QUEUES_STORE_PAGE_NEXT
                         : NGX_QUEUES_STORE_PAGE_FIRST;
    }

    ngx_add_timer(&reg->timer, ms);
}


/* cursor, then roots */

static ngx_int_t
ngx_queues_store_registry_page(ngx_queues_redis_reply_t *reply)
{
    ngx_str_t                     str;
    ngx_uint_t                    i;
    ngx_msec_t                    within;
    ngx_queues_store_registry_t  *reg;

    reg = &ngx_queues_store_registry;

    within = reg->rounds ? NGX_QUEUES_STORE_PAGE_NEXT
                         : NGX_QUEUES_STORE_PAGE_FIRST;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY
        || reply->nelts == 0
        || ngx_queues_store_string(&reply->elts[0], &str) != NGX_OK
        || str.len == 0
        || str.len > sizeof(reg->text))
    {
        goto wrong;
    }

    reg->cursor.len = str.len;
    ngx_memcpy(reg->text, str.data, str.len);

    for (i = 1; i < reply->nelts; i++) {

        if (ngx_queues_store_string(&reply->elts[i], &str) != NGX_OK) {
            goto wrong;
        }

        ngx_queues_store_registry_project(&str, within);
    }

    return NGX_OK;

wrong:

    ngx_log_error(NGX_LOG_ALERT, ngx_cycle->log, 0,
                  "unexpected reply of a Redis function");

    return NGX_ERROR;
}


/* what others wrote there is left alone */

static void
ngx_queues_store_registry_project(ngx_str_t *root, ngx_msec_t within)
{
    size_t  len;

    len = sizeof(NGX_QUEUES_STORE_ROOT_PREFIX) - 1;

    if (root->len <= len + 1
        || ngx_memcmp(root->data, NGX_QUEUES_STORE_ROOT_PREFIX, len) != 0
        || root->data[root->len - 1] != '}')
    {
        return;
    }

    ngx_queues_store_maintain_found(root, ngx_random() % within,
                                    NGX_QUEUES_STORE_ROUND);
}


static void
ngx_queues_store_registry_failed(void)
{
    ngx_queues_store_registry_t  *reg;

    reg = &ngx_queues_store_registry;

    reg->failures++;

    ngx_add_timer(&reg->timer, ngx_queues_store_maintain_pause(reg->failures,
                                              NGX_QUEUES_STORE_PAGE_REFUSED));
}
