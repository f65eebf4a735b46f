
/*
 * Pub/Sub: topics, subscriptions, which are queues of the message engine, and
 * snapshots.  docs/redis.md is its reference.  Names are short ids, as text.
 */

#ifndef _NGX_QUEUES_STORE_PUBSUB_H_INCLUDED_
#define _NGX_QUEUES_STORE_PUBSUB_H_INCLUDED_


#include "ngx_queues_store_push.h"


/* of a publish, a pull, and of acks */
#define NGX_QUEUES_STORE_PUBSUB_MAX     1000

/* digits of a messageId behind its moment, and the longest one */
#define NGX_QUEUES_STORE_PUBSUB_DIGITS  6
#define NGX_QUEUES_STORE_PUBSUB_ID_MAX                                        \
    (NGX_QUEUES_BASE_DECIMAL_MAX + NGX_QUEUES_STORE_PUBSUB_DIGITS)


/*
 * Where in result->values the rows of resources begin; they follow one another
 * to the end.  ONE is of gets, of creates and updates of topics and snapshots,
 * CHANGED of those of subscriptions (before it is what is active), LISTED of
 * lists (before it is whether there are more).
 */
#define NGX_QUEUES_STORE_AT_ONE      0
#define NGX_QUEUES_STORE_AT_CHANGED  1
#define NGX_QUEUES_STORE_AT_LISTED   1


typedef enum {
    NGX_QUEUES_STORE_OF_TOPIC_ID = 0,    /* 12 characters */
    NGX_QUEUES_STORE_OF_TOPIC_VERSION,   /* a number */
    NGX_QUEUES_STORE_OF_TOPIC_NAME,
    NGX_QUEUES_STORE_OF_TOPIC_MEMBERS,   /* JSON, as they were given */
    NGX_QUEUES_STORE_OF_TOPIC_NCOLUMNS
} ngx_queues_store_of_topic_e;


typedef enum {
    NGX_QUEUES_STORE_OF_SUB_QUEUE = 0,   /* 12 characters */
    NGX_QUEUES_STORE_OF_SUB_VERSION,     /* a number */
    NGX_QUEUES_STORE_OF_SUB_NAME,
    NGX_QUEUES_STORE_OF_SUB_TOPIC,       /* a name; empty: it was deleted */
    NGX_QUEUES_STORE_OF_SUB_MEMBERS,
    NGX_QUEUES_STORE_OF_SUB_DETACHED,    /* 0, 1 */
    NGX_QUEUES_STORE_OF_SUB_RETENTION,   /* seconds, the topic's, 0: none */
    NGX_QUEUES_STORE_OF_SUB_PUSH,        /* 0, 1 */
    NGX_QUEUES_STORE_OF_SUB_NCOLUMNS
} ngx_queues_store_of_sub_e;


/* of a count, the one row of its result */
typedef enum {
    NGX_QUEUES_STORE_OF_COUNT_VISIBLE = 0,
    NGX_QUEUES_STORE_OF_COUNT_IN_FLIGHT,
    NGX_QUEUES_STORE_OF_COUNT_DELAYED,
    NGX_QUEUES_STORE_OF_COUNT_OLDEST,    /* seconds, as an int64_t; -1: there
                                            is no message */
    NGX_QUEUES_STORE_OF_COUNT_SENT,
    NGX_QUEUES_STORE_OF_COUNT_ACKNOWLEDGED,
    NGX_QUEUES_STORE_OF_COUNT_EXPIRED,
    NGX_QUEUES_STORE_OF_COUNT_DEAD_LETTERED,
    NGX_QUEUES_STORE_OF_COUNT_DROPPED
} ngx_queues_store_of_count_e;


typedef enum {
    NGX_QUEUES_STORE_OF_SNAP_ID = 0,     /* 12 characters */
    NGX_QUEUES_STORE_OF_SNAP_VERSION,    /* a number */
    NGX_QUEUES_STORE_OF_SNAP_NAME,
    NGX_QUEUES_STORE_OF_SNAP_TOPIC,      /* a name; empty: it was deleted */
    NGX_QUEUES_STORE_OF_SNAP_EXPIRE,     /* ms */
    NGX_QUEUES_STORE_OF_SNAP_MEMBERS,
    NGX_QUEUES_STORE_OF_SNAP_NCOLUMNS
} ngx_queues_store_of_snap_e;


/* of create and update; members: JSON, of an object without its braces */
typedef struct {
    ngx_str_t                 id;            /* create: 12 characters */
    ngx_str_t                 name;
    ngx_str_t                 members;
    int64_t                   retention;     /* seconds, 0: none */
} ngx_queues_store_topic_t;


typedef struct {
    ngx_str_t                 id;            /* create: 12 characters */
    ngx_str_t                 name;
    ngx_str_t                 topic;         /* create */
    ngx_str_t                 members;
    int64_t                   deadline;      /* seconds, of an ack */
    int64_t                   retention;     /* seconds */

    /* no dead letters: 0; a name of a topic; "-": dropped after so many */
    int64_t                   max_attempts;
    ngx_str_t                 dead_letter;

    int64_t                   min_backoff;   /* ms, -1: no policy */
    int64_t                   max_backoff;

    ngx_uint_t                ordered;       /* unsigned  ordered:1; create */
    ngx_uint_t                once;          /* unsigned  once:1; */
    ngx_uint_t                retains;       /* unsigned  retains:1; what is
                                                acknowledged */

    ngx_str_t                 filter;        /* create: a program of
                                                ngx_queues_base_filter.h */
    int64_t                   ttl;           /* seconds, 0: never */

    ngx_str_t                 push_id;       /* 12 characters, for a push part
                                                if one is to be made */
    ngx_str_t                 url;           /* empty: pull */
    ngx_str_t                 extra;         /* of a job */
} ngx_queues_store_sub_t;


typedef struct {
    ngx_str_t                 id;            /* create: 12 characters */
    ngx_str_t                 name;
    ngx_str_t                 sub;           /* create */
    ngx_str_t                 members;
} ngx_queues_store_snap_t;


/* a message: canonical JSON, {"data","attributes","orderingKey"}, and where in
 * it the attributes' object begins, from 1 (0: there is none), and its bytes */
typedef struct {
    ngx_str_t                 body;
    size_t                    attributes;
    size_t                    length;
    ngx_str_t                 key;           /* JSON-string content, or empty */
} ngx_queues_store_publish_t;


#pragma GCC visibility push(hidden)


/*
 * All of these return as those of ngx_queues_store.h do.  Resources of results
 * are in result->values.  Lists are in the order of names: after is the last
 * one of the page before, or empty.  Updates have the version that was read:
 * CHANGED is the result where it is another one now.
 */

ngx_int_t ngx_queues_store_topic_create(ngx_str_t *root,
    ngx_queues_store_topic_t *topic, ngx_queues_store_done_pt done,
    void *data);
ngx_int_t ngx_queues_store_topic_get(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_topic_update(ngx_str_t *root,
    ngx_queues_store_topic_t *topic, uint64_t version,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_topic_delete(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_topic_list(ngx_str_t *root, ngx_str_t *after,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data);

/* Names of its subscriptions and snapshots, one value each. */
ngx_int_t ngx_queues_store_topic_subs(ngx_str_t *root, ngx_str_t *name,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data);
ngx_int_t ngx_queues_store_topic_snaps(ngx_str_t *root, ngx_str_t *name,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data);

/*
 * To a topic, up to NGX_QUEUES_STORE_PUBSUB_MAX messages.  result->spot is that
 * of the first one; the others have those that follow it.
 */
ngx_int_t ngx_queues_store_topic_publish(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_publish_t *messages, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);

/*
 * Writes the messageId of the n-th message, from 0, after one that has that
 * spot, at most NGX_QUEUES_STORE_PUBSUB_ID_MAX bytes, and returns the end.
 */
u_char *ngx_queues_store_pubsub_id(u_char *p, ngx_queues_base_spot_t *spot,
    ngx_uint_t n);


ngx_int_t ngx_queues_store_sub_create(ngx_str_t *root,
    ngx_queues_store_sub_t *sub, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_get(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_count(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_list(ngx_str_t *root, ngx_str_t *after,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_update(ngx_str_t *root,
    ngx_queues_store_sub_t *sub, uint64_t version,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_delete(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_detach(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);

/*
 * Takes up to max messages, which are in the result as those of a receive are:
 * what was published is message->origin.spot, of which the messageId is made,
 * and message->body.  What comes too late is given back here.  wait: seconds.
 */
ngx_int_t ngx_queues_store_sub_pull(ngx_str_t *root, ngx_str_t *name,
    ngx_uint_t max, int64_t wait, ngx_queues_store_done_pt done, void *data);

/*
 * What ack and visibility are to the Queues API, for up to
 * NGX_QUEUES_STORE_PUBSUB_MAX receipts, whose visibility is not looked at.
 * FOREIGN: one of them is not of this subscription, so that nothing was done.
 * result->once: the subscription delivers exactly once.
 */
ngx_int_t ngx_queues_store_sub_ack(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_modify(ngx_str_t *root, ngx_str_t *name,
    int64_t seconds, ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);

ngx_int_t ngx_queues_store_sub_seek_time(ngx_str_t *root, ngx_str_t *name,
    uint64_t ms, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_sub_seek_snap(ngx_str_t *root, ngx_str_t *name,
    ngx_str_t *snap, ngx_queues_store_done_pt done, void *data);


ngx_int_t ngx_queues_store_snap_create(ngx_str_t *root,
    ngx_queues_store_snap_t *snap, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_snap_get(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_snap_list(ngx_str_t *root, ngx_str_t *after,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_snap_update(ngx_str_t *root,
    ngx_queues_store_snap_t *snap, uint64_t version,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_snap_delete(ngx_str_t *root, ngx_str_t *name,
    ngx_queues_store_done_pt done, void *data);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_PUBSUB_H_INCLUDED_ */
