
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_calls.h"
#include "ngx_queues_redis_error.h"


static void ngx_queues_redis_library_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_redis_library_log(ngx_queues_redis_link_t *l,
    ngx_uint_t level, const char *text);


/*
 * The library is gone: FUNCTION FLUSH, a restart without persistence, another
 * primary.  Redis executes in order, so the command may follow FUNCTION LOAD
 * at once, and all that fail until the reply to it share it.
 */

ngx_int_t
ngx_queues_redis_library_missing(ngx_queues_redis_calls_t *calls,
    ngx_queues_redis_command_t *cmd)
{
    ngx_queues_redis_link_t     *l;
    ngx_queues_redis_command_t  *load;

    l = calls->link;

    if (cmd->resent || cmd->abandoned || l->drop) {
        return NGX_DECLINED;
    }

    if (!calls->library.loading) {

        load = ngx_queues_redis_handshake_load(l->conf);
        if (load == NULL) {
            return NGX_ERROR;
        }

        load->done = ngx_queues_redis_library_done;
        load->data = calls;

        calls->library.loading = 1;

        ngx_queues_redis_link_send(l, load);
    }

    cmd->resent = 1;
    cmd->pos = ngx_queues_redis_command_start(cmd);

    ngx_queues_redis_calls_send(calls, cmd);

    return NGX_OK;
}


static void
ngx_queues_redis_library_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_redis_calls_t *calls = data;

    ngx_queues_redis_link_t     *l;
    ngx_queues_redis_library_t  *library;

    l = calls->link;
    library = &calls->library;

    library->loading = 0;

    if (reply == NULL) {
        return;
    }

    if (rc == NGX_QUEUES_REDIS_OK) {

        /* who still does not find the function met another flush */

        library->rc = NGX_QUEUES_REDIS_TRYAGAIN;

        ngx_queues_redis_library_log(l, NGX_LOG_NOTICE, "loaded again");

    } else if (ngx_queues_redis_error_loaded(&reply->str)) {

        /* another worker was faster, or there is no such function in it */

        library->rc = NGX_QUEUES_REDIS_SCRIPT;

    } else {
        library->rc = rc;

        ngx_queues_redis_library_log(l, NGX_LOG_ERR,
                                     ngx_queues_redis_result_text(rc));
    }

    ngx_queues_redis_reply_free(reply);
}


ngx_queues_redis_result_e
ngx_queues_redis_library_result(ngx_queues_redis_command_t *cmd)
{
    return cmd->resent ? cmd->calls->library.rc : NGX_QUEUES_REDIS_TRYAGAIN;
}


/* while it cannot be loaded, every call tries */

static void
ngx_queues_redis_library_log(ngx_queues_redis_link_t *l, ngx_uint_t level,
    const char *text)
{
    static time_t  logged;

    if (logged == ngx_time()) {
        return;
    }

    logged = ngx_time();

    ngx_log_error(level, &l->log, 0, "function library %V was missing: %s",
                  &l->conf->library_name, text);
}
