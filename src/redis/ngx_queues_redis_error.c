
#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis_error.h"


typedef struct {
    ngx_str_t                   word;
    ngx_queues_redis_result_e   rc;
} ngx_queues_redis_error_t;


static ngx_uint_t ngx_queues_redis_error_has(ngx_str_t *str, const char *text);


static ngx_queues_redis_error_t  ngx_queues_redis_errors[] = {
    { ngx_string("QUEUES"),      NGX_QUEUES_REDIS_APP },
    { ngx_string("LOADING"),     NGX_QUEUES_REDIS_LOADING },
    { ngx_string("READONLY"),    NGX_QUEUES_REDIS_READONLY },
    { ngx_string("UNBLOCKED"),   NGX_QUEUES_REDIS_READONLY },
    { ngx_string("OOM"),         NGX_QUEUES_REDIS_OOM },
    { ngx_string("BUSY"),        NGX_QUEUES_REDIS_BUSY },
    { ngx_string("UNKILLABLE"),  NGX_QUEUES_REDIS_BUSY },
    { ngx_string("MISCONF"),     NGX_QUEUES_REDIS_MISCONF },
    { ngx_string("NOREPLICAS"),  NGX_QUEUES_REDIS_NOREPLICAS },
    { ngx_string("NOAUTH"),      NGX_QUEUES_REDIS_NOAUTH },
    { ngx_string("WRONGPASS"),   NGX_QUEUES_REDIS_NOAUTH },
    { ngx_string("NOPERM"),      NGX_QUEUES_REDIS_NOPERM },
    { ngx_string("MASTERDOWN"),  NGX_QUEUES_REDIS_MASTERDOWN },
    { ngx_string("MOVED"),       NGX_QUEUES_REDIS_MOVED },
    { ngx_string("ASK"),         NGX_QUEUES_REDIS_MOVED },
    { ngx_string("TRYAGAIN"),    NGX_QUEUES_REDIS_TRYAGAIN },
    { ngx_string("CLUSTERDOWN"), NGX_QUEUES_REDIS_TRYAGAIN },
    { ngx_string("WRONGTYPE"),   NGX_QUEUES_REDIS_SCRIPT },
    { ngx_string("CROSSSLOT"),   NGX_QUEUES_REDIS_SCRIPT },
    { ngx_null_string,           NGX_QUEUES_REDIS_OTHER }
};


static const char  *ngx_queues_redis_texts[] = {
    [NGX_QUEUES_REDIS_OK] = "success",
    [NGX_QUEUES_REDIS_APP] = "refused by the function",
    [NGX_QUEUES_REDIS_DOWN] = "no connection to Redis",
    [NGX_QUEUES_REDIS_LOST] = "connection to Redis lost, outcome unknown",
    [NGX_QUEUES_REDIS_TIMEOUT] =
                           "no answer from Redis in time, outcome unknown",
    [NGX_QUEUES_REDIS_REPLICAS] =
                           "stored, but not enough replicas have it in time",
    [NGX_QUEUES_REDIS_LOADING] = "Redis is loading its data",
    [NGX_QUEUES_REDIS_READONLY] = "Redis is a read-only replica",
    [NGX_QUEUES_REDIS_OOM] = "Redis is out of memory",
    [NGX_QUEUES_REDIS_BUSY] = "Redis is busy running a script",
    [NGX_QUEUES_REDIS_MISCONF] = "Redis cannot persist its data",
    [NGX_QUEUES_REDIS_NOREPLICAS] = "Redis has not enough replicas",
    [NGX_QUEUES_REDIS_NOAUTH] = "Redis wants another user name or password",
    [NGX_QUEUES_REDIS_NOPERM] = "the Redis user lacks a permission",
    [NGX_QUEUES_REDIS_MASTERDOWN] = "the Redis replica has lost its primary",
    [NGX_QUEUES_REDIS_MOVED] = "Redis is a node of a cluster",
    [NGX_QUEUES_REDIS_TRYAGAIN] = "Redis asks to try again",
    [NGX_QUEUES_REDIS_SCRIPT] = "function failed in Redis",
    [NGX_QUEUES_REDIS_OTHER] = "error from Redis"
};


ngx_queues_redis_result_e
ngx_queues_redis_error_parse(ngx_str_t *str)
{
    u_char                    *p;
    size_t                     len;
    ngx_queues_redis_error_t  *e;

    p = ngx_strlchr(str->data, str->data + str->len, ' ');
    len = p ? (size_t) (p - str->data) : str->len;

    for (e = ngx_queues_redis_errors; e->word.len; e++) {

        if (e->word.len != len
            || ngx_memcmp(e->word.data, str->data, len) != 0)
        {
            continue;
        }

        if (e->rc == NGX_QUEUES_REDIS_APP) {
            len = ngx_min(len + 1, str->len);
            str->data += len;
            str->len -= len;
        }

        return e->rc;
    }

    /* Lua's own errors: "... script: <sha>, on @user_function:<line>." */

    if (ngx_queues_redis_error_has(str, "script")
        || ngx_queues_redis_error_has(str, "user_function"))
    {
        return NGX_QUEUES_REDIS_SCRIPT;
    }

    return NGX_QUEUES_REDIS_OTHER;
}


const char *
ngx_queues_redis_result_text(ngx_queues_redis_result_e rc)
{
    return ngx_queues_redis_texts[rc];
}


ngx_uint_t
ngx_queues_redis_error_moved_on(ngx_queues_redis_result_e rc)
{
    return rc == NGX_QUEUES_REDIS_READONLY
           || rc == NGX_QUEUES_REDIS_MASTERDOWN
           || rc == NGX_QUEUES_REDIS_LOADING;
}


ngx_uint_t
ngx_queues_redis_error_no_function(ngx_str_t *str)
{
    static ngx_str_t  text = ngx_string("ERR Function not found");

    return str->len >= text.len
           && ngx_memcmp(str->data, text.data, text.len) == 0;
}


/* the name has the hash of the text, so the one that exists is ours */

ngx_uint_t
ngx_queues_redis_error_loaded(ngx_str_t *str)
{
    static ngx_str_t  text = ngx_string("ERR Library ");

    return str->len >= text.len
           && ngx_memcmp(str->data, text.data, text.len) == 0
           && ngx_queues_redis_error_has(str, "already exists");
}


ngx_uint_t
ngx_queues_redis_error_unknown(ngx_str_t *str)
{
    static ngx_str_t  text = ngx_string("ERR unknown command");

    return str->len >= text.len
           && ngx_memcmp(str->data, text.data, text.len) == 0;
}


static ngx_uint_t
ngx_queues_redis_error_has(ngx_str_t *str, const char *text)
{
    return ngx_strlcasestrn(str->data, str->data + str->len, (u_char *) text,
                            ngx_strlen(text) - 1)
           != NULL;
}
