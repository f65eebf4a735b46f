
/*
 * The store's part of push: subscriptions, who delivers for them, and
 * deliveries.  docs/redis.md, "Push", is its reference.
 */

#ifndef _NGX_QUEUES_STORE_PUSH_H_INCLUDED_
#define _NGX_QUEUES_STORE_PUSH_H_INCLUDED_


#include "ngx_queues_store.h"


/* the place of all nodes' workers, and of the projects that have
 * subscriptions; its hints say that either has changed */
#define NGX_QUEUES_STORE_PUSH_ROOT      "ngxq:{push}"

#define NGX_QUEUES_STORE_LAST_ERROR     200    /* characters of a message */

/* of one call: deliveries, and their messages */
#define NGX_QUEUES_STORE_DONE_MAX       10
#define NGX_QUEUES_STORE_DONE_MESSAGES  (NGX_QUEUES_STORE_DONE_MAX             \
                                         * NGX_QUEUES_STORE_BATCH_MAX)


/* settings as create and update have them; what an update leaves is -1, or an
 * empty url */
typedef struct {
    ngx_str_t                 url;
    int64_t                   timeout;       /* seconds */
    int64_t                   batch;
    int64_t                   concurrency;
} ngx_queues_store_target_t;


struct ngx_queues_store_subscription_s {
    ngx_str_t                 id;            /* 12 characters */
    ngx_str_t                 uuid;
    ngx_str_t                 queue;         /* 12 characters */
    ngx_str_t                 queue_uuid;
    ngx_str_t                 queue_name;
    ngx_queues_store_target_t target;
    ngx_uint_t                paused;        /* unsigned  paused:1; */
    int64_t                   created;       /* seconds */
    int64_t                   updated;

    ngx_uint_t                failing;       /* unsigned  failing:1; */
    int64_t                   last_success;  /* seconds, 0: none */
    int64_t                   failed_at;     /* seconds, 0: never; then: */
    ngx_str_t                 class;
    int64_t                   status;        /* 0: it did not answer */
    ngx_str_t                 message;

    int64_t                   deliveries;    /* since it was created */
    int64_t                   failures;
    int64_t                   messages;      /* that were acknowledged */
};


/* what its owner needs of a subscription */
struct ngx_queues_store_job_s {
    ngx_str_t                 id;            /* 12 characters */
    ngx_str_t                 queue;         /* 12 characters */
    uint64_t                  fence;
    uint64_t                  version;       /* of what follows */
    ngx_queues_store_target_t target;
    ngx_str_t                 secrets;       /* "UNTIL SEALED" by blanks, the
                                                newest first; UNTIL in
                                                seconds, 0: for good */
    ngx_uint_t                window;        /* deliveries at once; 0: no
                                                limit but the target's */
    ngx_str_t                 format;        /* of Pub/Sub's: lines, see
                                                docs/redis.md; else empty */
};


/* another project that has subscriptions, or had */
struct ngx_queues_store_pushes_s {
    ngx_str_t                 root;
    int64_t                   active;        /* subscriptions */
};


typedef enum {
    NGX_QUEUES_STORE_CLAIMED = 0,            /* messages, or next */
    NGX_QUEUES_STORE_CLAIM_LOST,             /* not the owner, or paused, or
                                                deleted */
    NGX_QUEUES_STORE_CLAIM_CHANGED,          /* jobs[0] is how it is now */
    NGX_QUEUES_STORE_CLAIM_FULL,             /* as many as may be are open, of
                                                other owners too: try again in
                                                next ms */
    NGX_QUEUES_STORE_CLAIM_NONE              /* settle: it was not asked for,
                                                or failed, while the settle
                                                did not */
} ngx_queues_store_claim_e;


/* a claim of up to target.batch messages */
typedef struct {
    ngx_str_t                 id;            /* of the subscription */
    ngx_str_t                 worker;
    uint64_t                  fence;
    uint64_t                  version;
} ngx_queues_store_claim_t;


/* a message of a delivery that failed */
typedef struct {
    ngx_queues_base_spot_t    spot;
    uint64_t                  count;
    uint64_t                  ms;            /* until it is visible again; the
                                                store caps it */
} ngx_queues_store_failed_t;


typedef struct {
    ngx_str_t                  id;           /* of the subscription */
    ngx_queues_store_place_t   place;
    uint64_t                   token;

    /* undo: nothing was sent, all of it is given back as if it had not been
     * received, and what follows (but ok, all of it) is not looked at */
    ngx_uint_t                 undo;         /* unsigned  undo:1; */

    ngx_uint_t                 success;      /* unsigned  success:1; */
    ngx_str_t                  class;        /* else: of the last error */
    ngx_uint_t                 status;       /* 0: none */
    ngx_str_t                  message;

    ngx_uint_t                 window;       /* from now on; 0: as jobs have */

    ngx_queues_base_spot_t    *ok;           /* acknowledged */
    ngx_uint_t                 nok;
    ngx_queues_store_failed_t *failed;
    ngx_uint_t                 nfailed;
} ngx_queues_store_settle_t;


/* deliveries of a subscription and of a place, each with one message or more,
 * all of which were handled */
typedef struct {
    ngx_str_t                  id;           /* of the subscription */
    ngx_queues_store_place_t   place;
    ngx_uint_t                 window;       /* as of a settle */
    ngx_uint_t                 n;
    struct {
        uint64_t                token;
        ngx_queues_base_spot_t *ok;
        ngx_uint_t              nok;
    } deliveries[NGX_QUEUES_STORE_DONE_MAX];
} ngx_queues_store_handled_t;


#pragma GCC visibility push(hidden)


/*
 * Subscriptions.  They return as all of ngx_queues_store.h do; the result has
 * one subscription, of list several.  ref names a queue, sub a subscription:
 * "q" and its short id, or "u", its short id and its UUID.  Those that change how
 * many are active tell it to all workers before done is called.
 */

/* sealed is the signing secret; result->repeated is set where once was met
 * before, and the secret is not this one */
ngx_int_t ngx_queues_store_subscription_create(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_subscription_t *subscription, ngx_str_t *sealed,
    ngx_queues_store_once_t *once, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_subscription_get(ngx_str_t *root, ngx_str_t *sub,
    ngx_queues_store_done_pt done, void *data);

/* in the order in which they were created; ref empty: of all queues; after:
 * short id and UUID (48 characters) of the last one before, or empty */
ngx_int_t ngx_queues_store_subscription_list(ngx_str_t *root, ngx_str_t *ref,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data);
ngx_int_t ngx_queues_store_subscription_update(ngx_str_t *root, ngx_str_t *sub,
    ngx_queues_store_target_t *target, ngx_queues_store_done_pt done,
    void *data);
ngx_int_t ngx_queues_store_subscription_pause(ngx_str_t *root, ngx_str_t *sub,
    ngx_uint_t pause, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_subscription_rotate(ngx_str_t *root, ngx_str_t *sub,
    ngx_str_t *sealed, ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_subscription_delete(ngx_str_t *root, ngx_str_t *sub,
    ngx_queues_store_done_pt done, void *data);


/*
 * Workers.  Their names are without blanks, at most 64 bytes.
 */

/*
 * Says that a worker lives, for 6 s from now.  The result has
 * the names of all that do, in order, and up to limit projects that have
 * changed after since (at first 0); result->more: there are further ones;
 * result->since is for the next call: where it is less than since, changes were
 * lost, and all that there are are told anew.  result->next: in how many ms
 * the first one of the others is dead unless it says so again, -1: there is none.
 */
ngx_int_t ngx_queues_store_push_join(ngx_str_t *worker, uint64_t since,
    ngx_uint_t limit, ngx_queues_store_done_pt done, void *data);

/* It leaves: all others are told. */
ngx_int_t ngx_queues_store_push_leave(ngx_str_t *worker,
    ngx_queues_store_done_pt done, void *data);

/* How many subscriptions of a project are active, told to all workers. */
ngx_int_t ngx_queues_store_push_note(ngx_str_t *root, int64_t active,
    ngx_queues_store_done_pt done, void *data);

/*
 * Renews the worker's lease of what it owns in a project, and brings that to
 * want, up to 100 at a time; 0: it gives all away.  The result has how many are
 * active, owned by it and free; result->renewed: it still had what it had before,
 * else all of that is lost; result->jobs that it has taken; result->released: ids
 * that it does not own any more.  result->next: in how many ms a lease of
 * another worker ends, -1: there is none.
 */
ngx_int_t ngx_queues_store_push_sync(ngx_str_t *root, ngx_str_t *worker,
    ngx_uint_t want, ngx_queues_store_done_pt done, void *data);

/* Who is told what looking after a project has shown of its subscriptions. */
typedef void (*ngx_queues_store_push_seen_pt)(ngx_str_t *root,
    int64_t active);
void ngx_queues_store_push_seen(ngx_queues_store_push_seen_pt handler);


/*
 * Deliveries.  Claims and settles that were answered as timed out give the
 * messages of the late reply back.
 */

/*
 * Takes a batch.  result->claim says what came of it; result->now is Redis'
 * time in ms, and result->token the delivery's.  Where there are no messages
 * the owner gets a hint, and next is as of receive.
 */
ngx_int_t ngx_queues_store_push_claim(ngx_str_t *root,
    ngx_queues_store_claim_t *claim, ngx_queues_store_done_pt done,
    void *data);

/*
 * Ends a delivery, and takes the next batch where claim is not NULL.  Doing it
 * again does no harm.
 */
ngx_int_t ngx_queues_store_push_settle(ngx_str_t *root,
    ngx_queues_store_settle_t *settle, ngx_queues_store_claim_t *claim,
    ngx_queues_store_done_pt done, void *data);

/*
 * Ends several deliveries, each of one claim, and claims up to nclaims batches where claim is not NULL.  The
 * result is that of the first claim, if any, and result->others those of
 * further ones: of result->nclaims that were tried, one at least.
 */
ngx_int_t ngx_queues_store_push_done(ngx_str_t *root,
    ngx_queues_store_handled_t *handled, ngx_queues_store_claim_t *claim,
    ngx_uint_t nclaims, ngx_queues_store_done_pt done, void *data);

/* Gives all messages of a claim's result back, by a settle of the subscription. */
ngx_int_t ngx_queues_store_push_undo(ngx_str_t *root, ngx_str_t *id,
    ngx_queues_store_result_t *result, ngx_queues_store_done_pt done,
    void *data);


/*
 * Messages as JSON, for answers and deliveries alike.
 */

/* The messageId of what was sent there, as 36 characters. */
u_char *ngx_queues_store_message_id(u_char *p, ngx_queues_store_place_t *place,
    ngx_queues_base_spot_t *spot);

/*
 * Members of a message's object, without a comma around them: what was sent
 * (body, attributes with what a dead letter has more, sentAt), and how it stands
 * (receiveCount; of FIFO queues groupId and seq).  Bytes of both together, at
 * most.
 */
size_t ngx_queues_store_message_length(ngx_queues_store_message_t *message);
u_char *ngx_queues_store_message_print(u_char *p,
    ngx_queues_store_message_t *message);
u_char *ngx_queues_store_message_print_count(u_char *p,
    ngx_queues_store_message_t *message);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_PUSH_H_INCLUDED_ */
