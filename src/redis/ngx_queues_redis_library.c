
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "ngx_queues_redis_calls.h"
#include "ngx_queues_redis_error.h"


static void ngx_queues_redis_library_done(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);
static void ngx_queues_redis_library_log(ngx_queues_redis_link_t *l,
    ngx_uint_t level, const char *text);


static ngx_uint_t                 ngx_queues_redis_library_loading;
static ngx_queues_redis_result_e  ngx_queues_redis_library_rc;


/*
 * The library is gone: FUNCTION FLUSH, a restart without persistence, another
 * primary.  Redis executes in order, so the command may follow FUNCTION LOAD
 * at once, and all that fail until the reply to it share it.
 */

ngx_int_t
ngx_queues_redis_library_missing(ngx_queues_redis_link_t *l,
    ngx_queues_redis_command_t *cmd)
{
    ngx_queues_redis_command_t  *load;

    if (cmd->resent || cmd->abandoned || l->drop) {
        return NGX_DECLINED;
    }

    if (!ngx_queues_redis_library_loading) {

        load = ngx_queues_redis_handshake_load(l->conf);
        if (load == NULL) {
            return NGX_ERROR;
        }

        load->done = ngx_queues_redis_library_done;
        load->data = l;

        ngx_queues_redis_library_loading = 1;

        ngx_queues_redis_link_send(l, load);
    }

    cmd->resent = 1;
    cmd->pos = ngx_queues_redis_command_start(cmd);

    ngx_queues_redis_link_send(l, cmd);

    return NGX_OK;
}


static void
ngx_queues_redis_library_done(void *data, ngx_queues_redis_result_e rc,
    ngx_queues_redis_reply_t *reply)
{
    ngx_queues_redis_link_t  *l = data;

    ngx_queues_redis_library_loading = 0;

    if (reply == NULL) {
        return;
    }

    if (rc == NGX_QUEUES_REDIS_OK) {

        /* who still does not find the function met another flush */

        ngx_queues_redis_library_rc = NGX_QUEUES_REDIS_TRYAGAIN;

        ngx_queues_redis_library_log(l, NGX_LOG_NOTICE, "loaded again");

    } else if (ngx_queues_redis_error_loaded(&reply->str)) {

        /* another worker was faster, or there is no such function in it */

        ngx_queues_redis_library_rc = NGX_QUEUES_REDIS_SCRIPT;

    } else {
        ngx_queues_redis_library_rc = rc;

        ngx_queues_redis_library_log(l, NGX_LOG_ERR,
                                     ngx_queues_redis_result_text(rc));
    }

    ngx_queues_redis_reply_free(reply);
}


ngx_queues_redis_result_e
ngx_queues_redis_library_result(ngx_queues_redis_command_t *cmd)
{
    return cmd->resent ? ngx_queues_redis_library_rc
                       : NGX_QUEUES_REDIS_TRYAGAIN;
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
