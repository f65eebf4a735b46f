
/*
 * The Pub/Sub API: what a subscription has.
 */

#ifndef _NGX_QUEUES_API_PUBSUB_SUB_H_INCLUDED_
#define _NGX_QUEUES_API_PUBSUB_SUB_H_INCLUDED_


#include "ngx_queues_api_pubsub_resource.h"
#include "../base/ngx_queues_base_filter.h"


/* members; those from _BIGQUERY on are of other servers */
typedef enum {
    NGX_QUEUES_API_PUBSUB_SUB_NAME = 0,
    NGX_QUEUES_API_PUBSUB_SUB_TOPIC,
    NGX_QUEUES_API_PUBSUB_SUB_PUSH,
    NGX_QUEUES_API_PUBSUB_SUB_DEADLINE,
    NGX_QUEUES_API_PUBSUB_SUB_RETAINS,
    NGX_QUEUES_API_PUBSUB_SUB_RETENTION,
    NGX_QUEUES_API_PUBSUB_SUB_LABELS,
    NGX_QUEUES_API_PUBSUB_SUB_ORDERED,
    NGX_QUEUES_API_PUBSUB_SUB_EXPIRATION,
    NGX_QUEUES_API_PUBSUB_SUB_FILTER,
    NGX_QUEUES_API_PUBSUB_SUB_DEAD,
    NGX_QUEUES_API_PUBSUB_SUB_RETRY,
    NGX_QUEUES_API_PUBSUB_SUB_ONCE,

    /* what only answers have */
    NGX_QUEUES_API_PUBSUB_SUB_DETACHED,
    NGX_QUEUES_API_PUBSUB_SUB_STATE,
    NGX_QUEUES_API_PUBSUB_SUB_TOPICS_RETENTION,
    NGX_QUEUES_API_PUBSUB_SUB_HUB,

    NGX_QUEUES_API_PUBSUB_SUB_BIGQUERY,
    NGX_QUEUES_API_PUBSUB_SUB_STORAGE,
    NGX_QUEUES_API_PUBSUB_SUB_BIGTABLE,
    NGX_QUEUES_API_PUBSUB_SUB_TRANSFORMS,
    NGX_QUEUES_API_PUBSUB_SUB_TAGS,
    NGX_QUEUES_API_PUBSUB_SUB_NMEMBERS
} ngx_queues_api_pubsub_sub_member_e;


/* bits of masks */
#define NGX_QUEUES_API_PUBSUB_SUB_BIT(member)                                 \
    ((uint64_t) 1 << NGX_QUEUES_API_PUBSUB_SUB_ ## member)

/* and of parts of what is a message itself */
#define NGX_QUEUES_API_PUBSUB_ENDPOINT_BIT    ((uint64_t) 1 << 32)
#define NGX_QUEUES_API_PUBSUB_ATTRIBUTES_BIT  ((uint64_t) 1 << 33)
#define NGX_QUEUES_API_PUBSUB_OIDC_BIT        ((uint64_t) 1 << 34)
#define NGX_QUEUES_API_PUBSUB_WRAPPER_BIT     ((uint64_t) 1 << 35)
#define NGX_QUEUES_API_PUBSUB_DEAD_TOPIC_BIT  ((uint64_t) 1 << 36)
#define NGX_QUEUES_API_PUBSUB_ATTEMPTS_BIT    ((uint64_t) 1 << 37)
#define NGX_QUEUES_API_PUBSUB_MIN_BIT         ((uint64_t) 1 << 38)
#define NGX_QUEUES_API_PUBSUB_MAX_BIT         ((uint64_t) 1 << 39)


typedef enum {
    NGX_QUEUES_API_PUBSUB_WRAPPER_NONE = 0,  /* as wrapped, which is not told */
    NGX_QUEUES_API_PUBSUB_WRAPPED,
    NGX_QUEUES_API_PUBSUB_UNWRAPPED,
    NGX_QUEUES_API_PUBSUB_METADATA           /* unwrapped, in headers */
} ngx_queues_api_pubsub_wrapper_e;


/* texts are decoded */
typedef struct {
    ngx_str_t                         endpoint;  /* empty: pull */
    ngx_str_t                         version;   /* x-goog-version, or empty */
    ngx_uint_t                        oidc;      /* unsigned  oidc:1; */
    ngx_str_t                         email;
    ngx_str_t                         audience;
    ngx_queues_api_pubsub_wrapper_e   wrapper;
} ngx_queues_api_pubsub_push_t;


typedef struct {
    ngx_str_t                         topic;     /* full names, or empty */
    ngx_str_t                         dead;
    int64_t                           attempts;

    int64_t                           deadline;  /* seconds */
    ngx_queues_api_pubsub_time_t      retention;
    ngx_uint_t                        retains;   /* unsigned  retains:1; */
    ngx_uint_t                        ordered;   /* unsigned  ordered:1; */
    ngx_uint_t                        once;      /* unsigned  once:1; */

    ngx_uint_t                        expires;   /* there is a policy: */
    ngx_queues_api_pubsub_time_t      ttl;       /* not given: never */

    ngx_uint_t                        retry;     /* there is a policy */
    ngx_queues_api_pubsub_time_t      min;
    ngx_queues_api_pubsub_time_t      max;

    ngx_str_t                         labels;    /* canonical JSON */
    ngx_str_t                         filter;
    ngx_queues_api_pubsub_push_t      push;
} ngx_queues_api_pubsub_sub_t;


#pragma GCC visibility push(hidden)


extern const ngx_str_t  ngx_queues_api_pubsub_sub_members[];
extern const ngx_queues_api_pubsub_kind_t  ngx_queues_api_pubsub_subs;


/* All of these return NGX_OK, or NGX_ERROR after they have answered. */

/* What an object of ngx_queues_api_pubsub_sub_members[] says, as it is. */
ngx_int_t ngx_queues_api_pubsub_sub_read(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_queues_api_pubsub_sub_t *sub);

/* The same of a push config, and of what the store has. */
ngx_int_t ngx_queues_api_pubsub_push_read(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *parent, ngx_uint_t i,
    ngx_queues_api_pubsub_push_t *push);
ngx_int_t ngx_queues_api_pubsub_sub_stored(ngx_queues_api_t *api,
    ngx_str_t *members, ngx_queues_api_pubsub_sub_t *sub);

/*
 * Fills in what is not said, and checks all that can be without the store.  A
 * push config is checked where it is new: what the server allows may have
 * changed since, which is to be no hindrance to other changes.
 */
ngx_int_t ngx_queues_api_pubsub_sub_check(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub);
ngx_int_t ngx_queues_api_pubsub_push_check(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_push_t *push);

/* What the store is to have of a checked one. */
ngx_int_t ngx_queues_api_pubsub_sub_write(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_queues_store_sub_t *stored);

/* That the principal may publish to the topic for dead letters, if any. */
ngx_int_t ngx_queues_api_pubsub_may_dead(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_sub_t *sub, ngx_queues_store_sub_t *stored);

/* Answers what came of a create or an update that was not OK. */
void ngx_queues_api_pubsub_sub_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_queues_store_sub_t *stored);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_PUBSUB_SUB_H_INCLUDED_ */
