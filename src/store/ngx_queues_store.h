
/*
 * The store: one operation a function of the library, with typed arguments
 * and results.  It knows the order of arguments and the shape of replies, and
 * nothing of HTTP.  docs/redis.md is its reference.
 */

#ifndef _NGX_QUEUES_STORE_H_INCLUDED_
#define _NGX_QUEUES_STORE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "../redis/ngx_queues_redis.h"
#include "../base/ngx_queues_base_id.h"


#define NGX_QUEUES_STORE_ROOT_PREFIX     "ngxq:{"
#define NGX_QUEUES_STORE_BATCH_MAX       10

#define NGX_QUEUES_STORE_HASH_SIZE       32    /* SHA-256 */


typedef enum {
    NGX_QUEUES_STORE_OK = 0,
    NGX_QUEUES_STORE_UNAVAILABLE,        /* or of unknown outcome */
    NGX_QUEUES_STORE_NO_QUEUE,
    NGX_QUEUES_STORE_EXISTS,
    NGX_QUEUES_STORE_ID_TAKEN,
    NGX_QUEUES_STORE_IN_USE,
    NGX_QUEUES_STORE_TOO_BIG,

    NGX_QUEUES_STORE_IS_FIFO,            /* send, without groups */
    NGX_QUEUES_STORE_NOT_FIFO,           /* send with groups, update */
    NGX_QUEUES_STORE_NO_DEDUPLICATION,   /* send: an id is needed */

    /* create, update: there is none, is of the other kind, the queue itself */
    NGX_QUEUES_STORE_NO_DEAD_LETTER,
    NGX_QUEUES_STORE_DEAD_LETTER_KIND,
    NGX_QUEUES_STORE_DEAD_LETTER_SELF,

    NGX_QUEUES_STORE_CONFLICT,           /* create: key with another hash */

    NGX_QUEUES_STORE_NO_DESTINATION,     /* redrive: likewise */
    NGX_QUEUES_STORE_DESTINATION_KIND,
    NGX_QUEUES_STORE_DESTINATION_SELF,

    NGX_QUEUES_STORE_NO_SUBSCRIPTION,
    NGX_QUEUES_STORE_SUBSCRIPTION_EXISTS,

    NGX_QUEUES_STORE_LOG_SEAL,           /* log: payloads are sealed and the
                                            queue wants none, or the reverse */
    NGX_QUEUES_STORE_TOO_MANY_GROUPS,    /* log: of a queue */
    NGX_QUEUES_STORE_NO_LANE,            /* log: no such partition, */
    NGX_QUEUES_STORE_NO_MESSAGE,         /* message or dead letter */

    NGX_QUEUES_STORE_NO_TOPIC,           /* of ngx_queues_store_pubsub.h: */
    NGX_QUEUES_STORE_NO_SNAPSHOT,
    NGX_QUEUES_STORE_NO_DEAD_LETTER_TOPIC,
    NGX_QUEUES_STORE_CHANGED,            /* update: since it was read */
    NGX_QUEUES_STORE_IS_PUSH,            /* pull */
    NGX_QUEUES_STORE_DETACHED,           /* pull, seek, snapshot */
    NGX_QUEUES_STORE_FOREIGN,            /* ack: another subscription's */
    NGX_QUEUES_STORE_TOO_MANY,           /* publish: for so many of them;
                                            create: subscriptions of a topic */
    NGX_QUEUES_STORE_OTHER_TOPIC,        /* seek: a snapshot of it */
    NGX_QUEUES_STORE_TOO_OLD,            /* snapshot: it would end at once */
    NGX_QUEUES_STORE_SEEKING             /* snapshot: not at the moment */
} ngx_queues_store_code_e;


/* the settings of a queue, in the order in which the functions take them */
typedef enum {
    NGX_QUEUES_STORE_VISIBILITY = 0,
    NGX_QUEUES_STORE_WAIT,
    NGX_QUEUES_STORE_RETENTION,
    NGX_QUEUES_STORE_DELAY,
    NGX_QUEUES_STORE_MAX_BYTES,
    NGX_QUEUES_STORE_NSETTINGS
} ngx_queues_store_setting_e;


/* what an update leaves alone is -1 */
typedef struct {
    int64_t                   values[NGX_QUEUES_STORE_NSETTINGS];
    int64_t                   by_content;    /* deduplication: 0, 1 */
    int64_t                   max_receives;  /* 0: no dead-letter queue */
    ngx_str_t                 dead_letter;   /* a ref; in results the UUID */
} ngx_queues_store_settings_t;


typedef struct {
    ngx_str_t                    id;         /* 12 characters */
    ngx_str_t                    uuid;
    ngx_str_t                    name;
    ngx_str_t                    kind;
    ngx_queues_store_settings_t  settings;
    int64_t                      created;    /* seconds */
    int64_t                      updated;
} ngx_queues_store_queue_t;


/* what makes a create that comes again the same one */
typedef struct {
    u_char                    key[NGX_QUEUES_STORE_HASH_SIZE];
    u_char                    body[NGX_QUEUES_STORE_HASH_SIZE];
} ngx_queues_store_once_t;


typedef struct {
    int64_t                   visible;
    int64_t                   in_flight;
    int64_t                   delayed;
    int64_t                   oldest;    /* seconds, -1: no message */
    int64_t                   sources;   /* queues that it is dead-letter of */
} ngx_queues_store_counts_t;


/*
 * What became of messages, as numbers that only grow: of a queue since it was
 * made or purged, of a project as long as it has anything.
 */
typedef struct {
    uint64_t                  sent;      /* of queues: what came in, moves too */
    uint64_t                  acknowledged;      /* of queues */
    uint64_t                  expired;
    uint64_t                  dead_lettered;
    uint64_t                  dropped;   /* Pub/Sub */
} ngx_queues_store_totals_t;


typedef struct {
    uint64_t                  queue;     /* short id */
    uint64_t                  generation;
} ngx_queues_store_place_t;


/*
 * Where a message was first sent, of which its messageId is made: a spot in a
 * stream.  If it was moved to a dead-letter queue, also from where, after how
 * many receives and when.
 */
typedef struct {
    ngx_queues_store_place_t  place;
    ngx_queues_base_spot_t    spot;
    uint64_t                  source;    /* short id, 0: it was not */
    uint64_t                  receives;
    uint64_t                  moved;     /* ms */
} ngx_queues_store_origin_t;


typedef struct {
    int64_t                   delay;     /* -1: the queue's */
    size_t                    length;    /* of the body once decoded */
    ngx_str_t                 body;      /* raw JSON text */
    ngx_str_t                 attributes;

    /* send_fifo */
    ngx_str_t                 group;
    ngx_str_t                 id;        /* of deduplication; empty: by */
    u_char                    hash[NGX_QUEUES_STORE_HASH_SIZE];
                                         /* that of the decoded body */
} ngx_queues_store_send_t;


typedef struct {
    ngx_queues_store_place_t  place;     /* a duplicate's: of the first one */
    ngx_queues_base_spot_t    spot;
    uint64_t                  seq;       /* in its group; 0: no FIFO queue */
    ngx_uint_t                duplicate; /* unsigned  duplicate:1; */
} ngx_queues_store_sent_t;


typedef struct {
    ngx_queues_base_spot_t     spot;     /* where it is, for its receipts */
    ngx_queues_store_origin_t  origin;
    ngx_str_t                  group;    /* FIFO only */
    ngx_str_t                  body;
    ngx_str_t                  attributes;
    uint64_t                   count;
    uint64_t                   first;    /* ms, 0: never received */
} ngx_queues_store_message_t;


typedef struct {
    ngx_queues_store_place_t  place;
    ngx_queues_base_spot_t    spot;
    uint64_t                  token;
    int64_t                   visibility;
} ngx_queues_store_receipt_t;


typedef struct {
    int64_t                   visibility;     /* -1: the queue's */
    int64_t                   wait;           /* -1: the queue's */
    ngx_uint_t                max;
} ngx_queues_store_receive_t;


typedef enum {
    NGX_QUEUES_STORE_PEEK_VISIBLE = 0,
    NGX_QUEUES_STORE_PEEK_IN_FLIGHT,
    NGX_QUEUES_STORE_PEEK_DELAYED
} ngx_queues_store_peek_e;


/* of ngx_queues_store_push.h */
typedef struct ngx_queues_store_subscription_s
    ngx_queues_store_subscription_t;
typedef struct ngx_queues_store_job_s     ngx_queues_store_job_t;
typedef struct ngx_queues_store_pushes_s  ngx_queues_store_pushes_t;

/* of ngx_queues_store_log.h */
typedef struct ngx_queues_store_log_s     ngx_queues_store_log_t;

/* of ngx_queues_store_metrics.h */
typedef struct ngx_queues_store_metrics_s  ngx_queues_store_metrics_t;


/* an element of a reply that is a table */
typedef struct {
    ngx_str_t                 text;
    uint64_t                  number;
    ngx_uint_t                none;      /* unsigned  none:1; */
} ngx_queues_store_value_t;


/*
 * One result for all operations.  It and all that it points to live until
 * done returns.
 */
typedef struct ngx_queues_store_result_s  ngx_queues_store_result_t;

struct ngx_queues_store_result_s {
    ngx_queues_store_code_e       code;
    const char                   *reason;     /* unavailable: for the log */
    ngx_uint_t                    late;       /* unavailable: there was no
                                                 answer in time */

    ngx_queues_store_queue_t     *queues;     /* create, get, update, list */
    ngx_uint_t                    nqueues;
    ngx_uint_t                    more;       /* count, list, redrive */
    ngx_queues_store_counts_t     counts;     /* count */
    ngx_queues_store_totals_t     totals;
    ngx_queues_store_metrics_t   *metrics;

    ngx_queues_store_sent_t      *sent;       /* send */
    ngx_uint_t                    nsent;

    ngx_queues_store_place_t      place;      /* send, receive, peek; of create,
                                                 get, update the queue */
    ngx_queues_store_message_t   *messages;
    ngx_uint_t                    nmessages;
    uint64_t                      token;
    int64_t                       wait;       /* seconds, the one in force */
    int64_t                       next;       /* ms, -1: nothing is due */

    int64_t                       moved;      /* redrive */
    int64_t                       remaining;

    ngx_uint_t                    index;      /* too big: which one; log: an
                                                 item of the queue whose seal
                                                 differs, a refused ack */
    int64_t                       limit;      /* and what is allowed, of seal
                                                 what is wanted: 0, 1 */

    u_char                       *ok;         /* ack, visibility */
    ngx_uint_t                    nok;

    ngx_queues_store_log_t       *log;        /* of the log engine */
    ngx_queues_store_value_t     *values;     /* of tables */
    ngx_uint_t                    nvalues;

    ngx_queues_base_spot_t        spot;       /* publish: the first one's */
    ngx_uint_t                    dead_letters;  /* pull: has the policy */
    ngx_uint_t                    once;       /* pull, ack: exactly once */

    /* the rest is of ngx_queues_store_push.h */

    ngx_queues_store_subscription_t  *subscriptions;
    ngx_uint_t                    nsubscriptions;
    ngx_uint_t                    repeated;   /* create */

    ngx_str_t                    *workers;    /* join: names, in order */
    ngx_uint_t                    nworkers;
    ngx_queues_store_pushes_t    *pushes;     /* join */
    ngx_uint_t                    npushes;
    uint64_t                      since;      /* join */

    int64_t                       active;     /* sync; -1: as it was */
    int64_t                       owned;
    int64_t                       free;
    ngx_uint_t                    renewed;
    ngx_str_t                    *released;   /* sync: ids */
    ngx_uint_t                    nreleased;
    ngx_queues_store_job_t       *jobs;       /* sync: taken; claim: changed */
    ngx_uint_t                    njobs;

    ngx_uint_t                    claim;      /* claim, settle: one of
                                                 ngx_queues_store_claim_e */
    uint64_t                      now;        /* ms, by Redis' clock */
    int64_t                       visibility; /* seconds, the queue's */
    ngx_uint_t                    nclaims;    /* done: this one, if any, and */
    ngx_queues_store_result_t    *others;     /* the rest of them */
};


/* Called exactly once, never before the call that started it has returned. */
typedef void (*ngx_queues_store_done_pt)(void *data,
    ngx_queues_store_result_t *result);


#pragma GCC visibility push(hidden)


/*
 * All of these return NGX_OK, or NGX_ERROR when out of memory: then done is
 * not called.  The arguments are copied.  root is "ngxq:{org/project}", ref
 * names a queue as docs/redis.md says.
 */

/* once: NULL where no key came with the request */
ngx_int_t ngx_queues_store_queue_create(ngx_str_t *root,
    ngx_queues_store_queue_t *queue, ngx_queues_store_once_t *once,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_queue_get(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_queue_count(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_queue_list(ngx_str_t *root, ngx_str_t *prefix,
    ngx_str_t *after, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data);

/*
 * Changes the settings that are not -1; dead_letter goes with max_receives.
 */
ngx_int_t ngx_queues_store_queue_update(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_settings_t *settings, ngx_queues_store_done_pt done,
    void *data);
ngx_int_t ngx_queues_store_queue_purge(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_queue_delete(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_done_pt done, void *data);

/*
 * A bounded step of moving messages of a dead-letter queue back to where they
 * came from, or to a destination that is not empty.
 */
ngx_int_t ngx_queues_store_queue_redrive(ngx_str_t *root, ngx_str_t *ref,
    ngx_str_t *destination, ngx_uint_t limit, ngx_queues_store_done_pt done,
    void *data);

ngx_int_t ngx_queues_store_send(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_send_t *messages, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_send_fifo(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_send_t *messages, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);

/*
 * Messages of a receive whose deadline had passed before they came are given
 * back here, without done being called again.
 */
ngx_int_t ngx_queues_store_receive(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_receive_t *receive, ngx_queues_store_done_pt done,
    void *data);

/* At most 100 messages as they are, without receiving them. */
ngx_int_t ngx_queues_store_peek(ngx_str_t *root, ngx_str_t *ref,
    ngx_queues_store_peek_e state, ngx_uint_t limit,
    ngx_queues_store_done_pt done, void *data);

/* The receipts are all of one project. */
ngx_int_t ngx_queues_store_ack(ngx_str_t *root,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);
ngx_int_t ngx_queues_store_visibility(ngx_str_t *root,
    ngx_queues_store_receipt_t *receipts, ngx_uint_t n,
    ngx_queues_store_done_pt done, void *data);

/*
 * Gives claimed messages back as if they had not been received.  Nobody waits
 * for it: where it fails they come back when their visibility ends.
 */
void ngx_queues_store_undo(ngx_str_t *root, ngx_queues_store_place_t *place,
    uint64_t token, ngx_queues_base_spot_t *spots, ngx_uint_t n);

/* The same of all messages of a receive's result. */
void ngx_queues_store_undo_all(ngx_str_t *root,
    ngx_queues_store_result_t *result);

/* 1 while a link to the store is up. */
ngx_uint_t ngx_queues_store_ready(void);

/*
 * Makes sure that hints of the project come to the handler that the worker's
 * start has set.  NGX_OK: they do; NGX_AGAIN: they will, a hint for the whole
 * project then says so; NGX_ERROR: out of memory.
 */
ngx_int_t ngx_queues_store_watch(ngx_str_t *root);

/* Random bytes for tokens and ids.  NGX_ERROR if there are none. */
ngx_int_t ngx_queues_store_random(u_char *p, size_t len);

/*
 * The texts of a new UUIDv7, NGX_QUEUES_BASE_UUID_LEN bytes, and of the short
 * id in it, if one is wanted.  NGX_ERROR if there is nothing random.
 */
ngx_int_t ngx_queues_store_new_id(u_char *id, u_char *uuid);

/*
 * Due work, done by the workers without being asked: dead letters, retention.
 * load is the master's, after each reading of the configuration.  init comes
 * before the links', exit after theirs, as that answers what is open.
 */
void ngx_queues_store_maintain_load(void);
ngx_int_t ngx_queues_store_maintain_init(ngx_cycle_t *cycle);
void ngx_queues_store_maintain_exit(ngx_cycle_t *cycle);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STORE_H_INCLUDED_ */
