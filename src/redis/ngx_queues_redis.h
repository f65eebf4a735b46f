
/*
 * Redis as the store sees it: asynchronous calls of the functions of our
 * library, and hints that something became receivable.  Nothing above this
 * folder knows hiredis, sockets to Redis or the names of errors.
 */

#ifndef _NGX_QUEUES_REDIS_H_INCLUDED_
#define _NGX_QUEUES_REDIS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "../conf/ngx_queues_conf_redis.h"


typedef enum {
    NGX_QUEUES_REDIS_OK = 0,        /* reply is the function's result */
    NGX_QUEUES_REDIS_APP,           /* reply->str is "CODE text", what followed
                                       "QUEUES " in the function's error */
    NGX_QUEUES_REDIS_DOWN,          /* no link: certainly not executed */
    NGX_QUEUES_REDIS_LOST,          /* link lost after sending: outcome is
                                       unknown */
    NGX_QUEUES_REDIS_TIMEOUT,       /* deadline passed: outcome is unknown,
                                       a second call of done follows */
    NGX_QUEUES_REDIS_REPLICAS,      /* executed, but not enough replicas have
                                       it */
    NGX_QUEUES_REDIS_LOADING,       /* the rest: Redis refused, certainly not
                                       executed (but for a durable call) */
    NGX_QUEUES_REDIS_READONLY,
    NGX_QUEUES_REDIS_OOM,
    NGX_QUEUES_REDIS_BUSY,
    NGX_QUEUES_REDIS_MISCONF,
    NGX_QUEUES_REDIS_NOREPLICAS,
    NGX_QUEUES_REDIS_NOAUTH,
    NGX_QUEUES_REDIS_NOPERM,
    NGX_QUEUES_REDIS_MASTERDOWN,
    NGX_QUEUES_REDIS_MOVED,
    NGX_QUEUES_REDIS_TRYAGAIN,
    NGX_QUEUES_REDIS_SCRIPT,        /* the function itself failed */
    NGX_QUEUES_REDIS_OTHER
} ngx_queues_redis_result_e;


typedef enum {
    NGX_QUEUES_REDIS_NIL = 0,
    NGX_QUEUES_REDIS_INTEGER,
    NGX_QUEUES_REDIS_STRING,
    NGX_QUEUES_REDIS_STATUS,
    NGX_QUEUES_REDIS_ERROR,
    NGX_QUEUES_REDIS_ARRAY
} ngx_queues_redis_type_e;


typedef struct ngx_queues_redis_reply_s    ngx_queues_redis_reply_t;
typedef struct ngx_queues_redis_command_s  ngx_queues_redis_command_t;

struct ngx_queues_redis_reply_s {
    ngx_queues_redis_type_e     type;
    int64_t                     integer;
    ngx_str_t                   str;        /* string, status, error */
    ngx_queues_redis_reply_t   *elts;       /* array: nelts of them, flat */
    ngx_uint_t                  nelts;
    ngx_pool_t                 *pool;       /* of the outermost one only */
};


/*
 * Called exactly once with the outcome, never before the call that started
 * the command has returned.  Where the outcome is TIMEOUT it is called a
 * second and last time when the late reply comes (OK, APP ...) or the link is
 * lost (LOST): that is the moment to undo what nobody waits for and to free
 * data.  The reply is NULL for all but OK and APP; it belongs to the callee,
 * who must ngx_queues_redis_reply_free() it.
 */
typedef void (*ngx_queues_redis_done_pt)(void *data,
    ngx_queues_redis_result_e rc, ngx_queues_redis_reply_t *reply);


#pragma GCC visibility push(hidden)

/*
 * Starts FCALL <library>_<function> 1 <key> <args>...  The arguments are
 * copied before it returns.  Returns NGX_OK, or NGX_ERROR when out of memory:
 * then done is not called.  Commands that one turn of the event loop starts
 * leave in one write.  While the first connection or a reconnect is being
 * made the command waits for it within its deadline; in the pause between two
 * attempts it is answered DOWN.  In a failover it waits in the pause as well,
 * and what the old primary refused is sent once more, to the new one.
 */
ngx_int_t ngx_queues_redis_call(const char *function, ngx_str_t *key,
    ngx_str_t *args, ngx_uint_t nargs, ngx_queues_redis_done_pt done,
    void *data);

/*
 * The same for a call that stores what must not be lost: with
 * queues_redis_replicas it is OK only when that many replicas have it, within
 * the same deadline.  Errors of the function come as ever.
 */
ngx_int_t ngx_queues_redis_call_durable(const char *function, ngx_str_t *key,
    ngx_str_t *args, ngx_uint_t nargs, ngx_queues_redis_done_pt done,
    void *data);

void ngx_queues_redis_reply_free(ngx_queues_redis_reply_t *reply);

/* A short text of the outcome for the error log. */
const char *ngx_queues_redis_result_text(ngx_queues_redis_result_e rc);


/* 1 while the command link is ready. */
ngx_uint_t ngx_queues_redis_ready(void);


/*
 * Hints.  The handler gets the project key ("ngxq:{org/project}") and the
 * queue's id, or a zero-length id for "anything in the project may have
 * changed" (the channel was joined, or joined again after the link was lost).
 */
typedef void (*ngx_queues_redis_wake_pt)(ngx_str_t *key, ngx_str_t *queue);

/*
 * Makes sure that hints of the project come.  NGX_OK: they do already;
 * NGX_AGAIN: the channel is being joined, the handler is called with an empty
 * id when that is done; NGX_ERROR: out of memory.
 */
ngx_int_t ngx_queues_redis_watch(ngx_str_t *key);


/* The worker's links: init starts connecting and never fails for a Redis that
 * is down; exit closes everything and calls done of what is still open. */
ngx_int_t ngx_queues_redis_init(ngx_cycle_t *cycle,
    ngx_queues_conf_redis_t *conf, ngx_queues_redis_wake_pt wake);
void ngx_queues_redis_exit(ngx_cycle_t *cycle);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_REDIS_H_INCLUDED_ */
