
/*
 * What the parts of push know of each other.  For src/push only.
 *
 *     member    which workers there are, and which projects
 *     project   what this worker wants to own in each of them
 *     sync      what it owns there
 *     job       a subscription that it owns
 *     config    its settings
 *     line      jobs that are to claim, and the slots they share
 *     claim     their claims
 *     delivery  a batch: its attempt, and what is kept of it until
 *     done      it is settled with others, all messages being handled,
 *     settle    or else by itself
 *     judge     what an answer means
 *     rest      the pause after a failure, where an API has it
 *     format    what an API says of requests and answers
 *     pubsub    another one, and its requests
 *
 * All that is called here as done of a store's call may be called once the
 * worker is shutting down, and with errors while it exits.
 */

#ifndef _NGX_QUEUES_PUSH_ENGINE_H_INCLUDED_
#define _NGX_QUEUES_PUSH_ENGINE_H_INCLUDED_


#include "ngx_queues_push.h"
#include "ngx_queues_push_attempt.h"
#include "../base/ngx_queues_base_id.h"
#include "../base/ngx_queues_base_sign.h"
#include "../base/ngx_queues_base_text.h"
#include "../stat/ngx_queues_stat_metrics.h"
#include "../store/ngx_queues_store_push.h"


#define NGX_QUEUES_PUSH_ID_LEN       NGX_QUEUES_BASE_SHORT_LEN
#define NGX_QUEUES_PUSH_NAME_LEN     (sizeof("qsb_") - 1                       \
                                      + NGX_QUEUES_PUSH_ID_LEN)

/* ms: of calls that failed, doubled each time; a quarter more or less */
#define NGX_QUEUES_PUSH_BACKOFF      200
#define NGX_QUEUES_PUSH_BACKOFF_MAX  5000


/* where a job stands that is to claim */
typedef enum {
    NGX_QUEUES_PUSH_PROBES = 0,                /* takes no messages */
    NGX_QUEUES_PUSH_BRISK,
    NGX_QUEUES_PUSH_SLOW,                      /* its attempts hang */
    NGX_QUEUES_PUSH_NLINES
} ngx_queues_push_line_e;


typedef struct ngx_queues_push_project_s   ngx_queues_push_project_t;
typedef struct ngx_queues_push_job_s       ngx_queues_push_job_t;
typedef struct ngx_queues_push_message_s   ngx_queues_push_message_t;
typedef struct ngx_queues_push_delivery_s  ngx_queues_push_delivery_t;
typedef struct ngx_queues_push_config_s    ngx_queues_push_config_t;
typedef struct ngx_queues_push_format_s    ngx_queues_push_format_t;


/* a project that has active subscriptions, or jobs or deliveries of ours */
struct ngx_queues_push_project_s {
    ngx_queues_push_project_t    *next;        /* of the same hash */
    uint64_t                      hash;

    ngx_queue_t                   queue;       /* in all of them */
    ngx_queue_t                   line;        /* of those that are to sync */
    ngx_queue_t                   jobs;
    ngx_uint_t                    njobs;
    ngx_uint_t                    holds;       /* jobs, deliveries and calls */

    int64_t                       active;      /* subscriptions */
    int64_t                       noted;       /* as the registry has it, -1:
                                                  that is not known */
    ngx_uint_t                    want;        /* of them */
    ngx_uint_t                    asked;       /* the last time */

    ngx_event_t                   timer;       /* until the next sync */
    ngx_uint_t                    failures;    /* of syncs, in a row */
    ngx_uint_t                    tries;       /* while it owns less */

    unsigned                      ready:1;     /* in the line */
    unsigned                      calling:1;   /* a sync is under way ... */
    unsigned                      again:1;     /* ... and one is to follow */
    unsigned                      reset:1;     /* gives all away first */
    unsigned                      missing:1;   /* a job may be lost */

    ngx_str_t                     root;
};


/* what Pub/Sub's subscriptions have beside */
typedef struct {
    unsigned                      wrapped:1;   /* JSON, or else the data alone */
    unsigned                      metadata:1;  /* and the rest as headers */
    unsigned                      attempts:1;  /* their number is told */
    unsigned                      retry:1;     /* there is a policy, in ms: */
    uint64_t                      min;
    uint64_t                      max;
    ngx_str_t                     email;       /* empty: no token */
    ngx_str_t                     audience;
} ngx_queues_push_pubsub_t;


/* settings of a subscription, of its job and of open deliveries */
struct ngx_queues_push_config_s {
    ngx_uint_t                    refs;
    const ngx_queues_push_format_t  *format;
    ngx_str_t                     name;        /* for the log */

    ngx_uint_t                    batch;
    ngx_uint_t                    concurrency;
    ngx_msec_t                    timeout;

    const char                   *wrong;       /* with the URL, NULL: nothing */
    ngx_queues_base_endpoint_t    endpoint;

    ngx_queues_base_secrets_t     secrets;
    uint64_t                      until[NGX_QUEUES_BASE_SECRETS_MAX];
                                               /* seconds, 0: for good */
    ngx_queues_push_pubsub_t      pubsub;

    ngx_uint_t                    ready;       /* unsigned  ready:1; requests
                                                  can be made */
};


struct ngx_queues_push_job_s {
    ngx_queues_push_job_t        *next[2];     /* of the same hash: of the */
    ngx_queues_push_project_t    *project;     /* subscription, the queue */
    ngx_queues_push_config_t     *config;

    ngx_queue_t                   queue;       /* in the project's */
    ngx_queue_t                   line;
    ngx_queue_t                   deliveries;  /* open, the oldest first */
    ngx_uint_t                    open;
    ngx_uint_t                    connecting;  /* of these */
    ngx_queue_t                   handled;     /* deliveries to be settled, */
    ngx_uint_t                    nhandled;    /* open for the store */
    ngx_uint_t                    settles;     /* of such, under way */

    uint64_t                      fence;
    uint64_t                      version;
    ngx_uint_t                    window;

    ngx_event_t                   timer;       /* something becomes receivable,
                                                  or a pause ends */
    ngx_uint_t                    failures;    /* in a row */
    ngx_queues_push_line_e        place;       /* the line it is in */
    ngx_uint_t                    claims;      /* under way */

    ngx_event_t                   rest;        /* until its end */
    ngx_msec_t                    rests;       /* how long the last one is, 0:
                                                  a success came since */
    ngx_uint_t                    round;       /* how many have ended */

    u_char                        id[NGX_QUEUES_PUSH_ID_LEN];
    u_char                        queue_id[NGX_QUEUES_PUSH_ID_LEN];

    unsigned                      wanted:1;    /* there may be messages */
    unsigned                      waiting:1;   /* in a line */
    unsigned                      eager:1;     /* the last claim found as many
                                                  messages as it may have */
    unsigned                      probing:1;   /* the claim is a probe */
    unsigned                      again:1;     /* a hint came meanwhile */
    unsigned                      probe:1;     /* it may be another's */
    unsigned                      paused:1;    /* by the timer: no hint helps */
    unsigned                      slow:1;      /* its last attempt hung */
    unsigned                      answers:1;   /* its last attempt had one */
    unsigned                      resting:1;   /* claims only to probe */
    unsigned                      broken:1;    /* no request can be made */
    unsigned                      dropped:1;   /* freed with its claim */
};


struct ngx_queues_push_message_s {
    ngx_queues_base_spot_t        spot;
    uint64_t                      count;
    uint64_t                      ms;          /* until it is tried again */
    u_char                        id[NGX_QUEUES_BASE_UUID_LEN];
    ngx_uint_t                    failed;      /* unsigned  failed:1; */
};


/* a batch from its claim until it is settled */
struct ngx_queues_push_delivery_s {
    ngx_queue_t                   all;
    ngx_queue_t                   queue;       /* in the job's, while open, or
                                                  while it waits */
    ngx_queues_push_job_t        *job;         /* NULL: it went */
    ngx_queues_push_job_t        *claimer;     /* the settle claims for it */
    ngx_queues_push_project_t    *project;
    ngx_queues_push_config_t     *config;
    ngx_queues_push_attempt_t    *attempt;

    u_char                        id[NGX_QUEUES_PUSH_ID_LEN];
    u_char                        uuid[NGX_QUEUES_BASE_UUID_LEN];
    ngx_queues_store_place_t      place;
    uint64_t                      token;
    uint64_t                      now;         /* ms of Redis, at ... */
    ngx_msec_t                    since;       /* ... this moment of ours */
    ngx_msec_t                    until;       /* when the messages come back
                                                  anyway */

    uint64_t                      longest;     /* ms until a retry */

    ngx_uint_t                    nmessages;
    ngx_queues_push_message_t     messages[NGX_QUEUES_STORE_BATCH_MAX];
    ngx_str_t                     body;        /* of the request */
    ngx_str_t                     head;        /* header lines, of a format
                                                  that makes them before */
    const char                   *denied;      /* why no request could be */
    ngx_uint_t                    round;       /* of the job */

    /* what came of it */
    ngx_queues_stat_outcome_e     class;
    ngx_uint_t                    status;
    ngx_str_t                     message;
    ngx_uint_t                    window;
    ngx_event_t                   timer;       /* of the next try to settle */
    ngx_uint_t                    failures;

    unsigned                      success:1;
    unsigned                      throttled:1;
    unsigned                      undo:1;
    unsigned                      begun:1;     /* it has a connection */
    unsigned                      waiting:1;   /* for others to be settled */
    unsigned                      calling:1;   /* a settle is under way */
    unsigned                      unsettled:1; /* one has failed */
    unsigned                      leaving:1;   /* until is that of the exit */

    u_char                        text[4 * NGX_QUEUES_STORE_LAST_ERROR];
};


/*
 * What a request of an API looks like, and what its answers list.  The same
 * for all deliveries of a subscription.
 */
struct ngx_queues_push_format_s {
    /*
     * From what the store has of it, with copies of the URL and of the format in
     * config's memory, and room for what is made of the former.
     */
    void    (*configure)(ngx_queues_push_config_t *config, ngx_str_t *root,
        ngx_queues_store_job_t *owned, ngx_str_t *url, u_char *buf,
        ngx_str_t *text);

    /* makes the body, in memory that is freed with it; NGX_ERROR: there is
     * none */
    ngx_int_t (*request)(ngx_queues_push_delivery_t *delivery,
        ngx_queues_store_result_t *result);

    /* of header lines, at most */
    size_t  (*lines_length)(ngx_queues_push_delivery_t *delivery);
    ngx_queues_push_lines_pt   lines;

    /* marks the messages that a good answer says have failed */
    void    (*failed)(ngx_queues_push_delivery_t *delivery,
        ngx_queues_push_answer_t *answer);

    /* 1 if it is to be given less at once */
    ngx_uint_t (*throttled)(ngx_queues_push_delivery_t *delivery);

    /* in how many ms a message that has failed is tried again */
    uint64_t (*delay)(ngx_queues_push_delivery_t *delivery,
        ngx_queues_push_message_t *message, ngx_queues_push_answer_t *answer);

    ngx_uint_t                 rests;          /* unsigned  rests:1; failures
                                                  pause a subscription */
    ngx_queues_stat_api_e      api;
};


typedef struct {
    ngx_queues_conf_main_t       *qmcf;        /* of tokens */
    ngx_queues_conf_push_t       *conf;
    ngx_str_t                     worker;      /* its name among all */

    ngx_queue_t                   deliveries;
    ngx_uint_t                    njobs;       /* that are not freed */

    /* slots, of which there are conf->max */
    ngx_uint_t                    open;        /* attempts */
    ngx_uint_t                    claims;      /* that may become attempts */
    ngx_uint_t                    unsettled;   /* settles that have failed */
    ngx_uint_t                    slow;        /* attempts of slow jobs */

    unsigned                      active:1;    /* queues_push is on */
    unsigned                      draining:1;  /* the worker is leaving ... */
    unsigned                      aborted:1;   /* ... and waits for nothing */
} ngx_queues_push_engine_t;


#pragma GCC visibility push(hidden)


extern ngx_queues_push_engine_t        ngx_queues_push_engine;

extern const ngx_queues_push_format_t  ngx_queues_push_format_queues;
extern const ngx_queues_push_format_t  ngx_queues_push_format_pubsub;


/* The pause after so many failures in a row, from 1. */
ngx_msec_t ngx_queues_push_backoff(ngx_uint_t failures);

/*
 * Sets a timer anew: ngx_add_timer() alone leaves one that is only some
 * hundred ms off.
 */
void ngx_queues_push_timer(ngx_event_t *ev, ngx_msec_t ms);

/* An event of the engine as a whole, which keeps no worker from leaving. */
void ngx_queues_push_event(ngx_event_t *ev, ngx_event_handler_pt handler);

/* Tells all workers how many subscriptions of a project are active. */
void ngx_queues_push_note(ngx_str_t *root, int64_t active);

/* The done of calls whose outcome changes nothing here. */
void ngx_queues_push_ignore(void *data, ngx_queues_store_result_t *result);

/* The link is away: syncs and claims are tried again when it is back. */
void ngx_queues_push_pause(void);

/* The hash of a text in the tables. */
uint64_t ngx_queues_push_hash(u_char *data, size_t len);


/* member */

ngx_int_t ngx_queues_push_member_init(void);
void ngx_queues_push_member_exit(void);

/* Something of workers or projects has changed. */
void ngx_queues_push_member_wake(void);
void ngx_queues_push_member_leave(void);

/* How many of so many subscriptions are this worker's; 0 while it does not
 * know of itself. */
ngx_uint_t ngx_queues_push_member_share(ngx_str_t *root, int64_t active);

/* 1 once all projects of the registry are known. */
ngx_uint_t ngx_queues_push_member_ready(void);


/* project */

ngx_int_t ngx_queues_push_projects_init(ngx_cycle_t *cycle);
void ngx_queues_push_projects_exit(void);

ngx_queues_push_project_t *ngx_queues_push_project_find(ngx_str_t *root);

/* It is used until the release. */
void ngx_queues_push_project_hold(ngx_queues_push_project_t *p);
void ngx_queues_push_project_release(ngx_queues_push_project_t *p);

/* The registry's number of active subscriptions; NGX_ERROR: out of memory. */
ngx_int_t ngx_queues_push_project_told(ngx_str_t *root, int64_t active);

/* The registry has lost numbers: they are noted again. */
void ngx_queues_push_projects_lost(void);

/* Others share from now on. */
void ngx_queues_push_projects_share(void);

/* Gives all away, and leaves when that is done. */
void ngx_queues_push_projects_drain(void);


/* sync */

void ngx_queues_push_sync_init(void);
void ngx_queues_push_sync_exit(void);
void ngx_queues_push_sync_init_timer(ngx_event_t *ev,
    ngx_queues_push_project_t *p);

/* As soon as there is room. */
void ngx_queues_push_sync(ngx_queues_push_project_t *p);
void ngx_queues_push_sync_run(void);

/* The worker is leaving: starts what there is room for at once. */
void ngx_queues_push_sync_drain(void);


/* job */

ngx_int_t ngx_queues_push_jobs_init(void);
void ngx_queues_push_jobs_exit(void);

/* NGX_ERROR: out of memory. */
ngx_int_t ngx_queues_push_job_take(ngx_queues_push_project_t *p,
    ngx_queues_store_job_t *owned);

/* It is not ours any more; open deliveries go on, or where undo is set, those
 * of which nothing was sent are given back. */
void ngx_queues_push_job_drop(ngx_queues_push_job_t *job, ngx_uint_t undo);
void ngx_queues_push_jobs_drop(ngx_queues_push_project_t *p, ngx_uint_t undo);

/* NULL where it is not ours. */
ngx_queues_push_job_t *ngx_queues_push_job_find(ngx_queues_push_project_t *p,
    ngx_str_t *id);
ngx_queues_push_job_t *ngx_queues_push_job_of_queue(
    ngx_queues_push_project_t *p, ngx_str_t *queue);

/* New settings. */
void ngx_queues_push_job_change(ngx_queues_push_job_t *job,
    ngx_queues_store_job_t *owned);

/* How many deliveries may be open at once, from now on. */
void ngx_queues_push_job_window(ngx_queues_push_job_t *job, ngx_uint_t n);

/* One that was dropped goes when nothing comes back to it. */
void ngx_queues_push_job_check(ngx_queues_push_job_t *job);

/* NULL: out of memory.  Its refs are 1. */
ngx_queues_push_config_t *ngx_queues_push_config_create(ngx_str_t *root,
    ngx_queues_store_job_t *owned);
void ngx_queues_push_config_release(ngx_queues_push_config_t *config);


/* line */

void ngx_queues_push_line_init(void);
void ngx_queues_push_line_exit(void);

/* Lets jobs claim that stand in the line, at the end of this turn. */
void ngx_queues_push_line_run(void);

/* There may be messages. */
void ngx_queues_push_job_wake(ngx_queues_push_job_t *job);

/* It may be another's, or have other settings: asks, without claiming. */
void ngx_queues_push_job_probe(ngx_queues_push_job_t *job);

/* Puts a job into its line if it is to claim, and takes it out. */
void ngx_queues_push_job_line(ngx_queues_push_job_t *job);
void ngx_queues_push_job_leave(ngx_queues_push_job_t *job);

/* No claim for some time, after a failure. */
void ngx_queues_push_job_pause(ngx_queues_push_job_t *job);

/* An attempt has a slot as one of the job, is of no job any more, and ends. */
void ngx_queues_push_slot_take(ngx_queues_push_job_t *job);
void ngx_queues_push_slot_leave(ngx_queues_push_job_t *job);
void ngx_queues_push_slot_free(void);

/* Whether its attempts hang. */
void ngx_queues_push_job_slow(ngx_queues_push_job_t *job, ngx_uint_t slow);

/* 1 if nobody is before it in the line, which it leaves then. */
ngx_uint_t ngx_queues_push_line_first(ngx_queues_push_job_t *job);


/* claim */

/* How many are under way, but for those of settles. */
ngx_uint_t ngx_queues_push_claims(void);

/* Claims, or probes. */
void ngx_queues_push_job_start(ngx_queues_push_job_t *job);

/* 1 if a settle is to claim for the job; that is under way then, unless it
 * could not be called. */
ngx_uint_t ngx_queues_push_job_follow(ngx_queues_push_job_t *job);
void ngx_queues_push_job_unclaimed(ngx_queues_push_job_t *job);

/* A claim of a settle was not tried. */
void ngx_queues_push_job_spared(ngx_queues_push_job_t *job);

/* What the store's calls take of a job. */
void ngx_queues_push_job_claim(ngx_queues_push_job_t *job,
    ngx_queues_store_claim_t *claim);

/* A claim has a result, which had a slot but for probes. */
void ngx_queues_push_job_claimed(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result, ngx_uint_t slot);

/*
 * 1 if a further claim of the job may be under way: one at a time, and more
 * while each finds a whole batch.
 */
ngx_uint_t ngx_queues_push_job_ready(ngx_queues_push_job_t *job);


/* delivery */

/* Delivers the messages of a claim.  NGX_ERROR: it gave them back. */
ngx_int_t ngx_queues_push_deliver(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result);

/* Ends those of which nothing was sent, and gives their messages back. */
void ngx_queues_push_deliveries_undo(ngx_queues_push_job_t *job);

/* nginx waits no longer: ends all of them. */
void ngx_queues_push_deliveries_abort(void);
void ngx_queues_push_deliveries_exit(void);

/* It is of no job any more. */
void ngx_queues_push_delivery_detach(ngx_queues_push_delivery_t *d);
void ngx_queues_push_delivery_free(ngx_queues_push_delivery_t *d);


/* settle */

/*
 * Tells the store what came of a delivery, again and again if need be, and then
 * frees it.  The first time it may claim for the job, if that is not NULL.
 */
void ngx_queues_push_settle(ngx_queues_push_delivery_t *d,
    ngx_queues_push_job_t *job);

/* What came of it, when it was called; and that it could not be. */
void ngx_queues_push_settle_end(ngx_queues_push_delivery_t *d,
    ngx_queues_store_result_t *result);
void ngx_queues_push_settle_later(ngx_queues_push_delivery_t *d,
    const char *reason);

/* Gives the messages of a claim back, as if they had not been received. */
void ngx_queues_push_give_back(ngx_queues_push_job_t *job,
    ngx_queues_store_result_t *result);


/* done */

/* 1 if it is to be settled together with others of the job. */
ngx_uint_t ngx_queues_push_done_may(ngx_queues_push_delivery_t *d);
void ngx_queues_push_done_add(ngx_queues_push_delivery_t *d,
    ngx_queues_push_job_t *job);

/* It waits no longer; settles all that does. */
void ngx_queues_push_done_leave(ngx_queues_push_delivery_t *d);
void ngx_queues_push_done_flush(ngx_queues_push_job_t *job);


/* rest */

void ngx_queues_push_rest_init(ngx_queues_push_job_t *job);

/* A delivery of the job has failed, or went well. */
void ngx_queues_push_job_rest(ngx_queues_push_job_t *job,
    ngx_queues_push_delivery_t *d);
void ngx_queues_push_job_rested(ngx_queues_push_job_t *job);

/* The job goes. */
void ngx_queues_push_rest_cancel(ngx_queues_push_job_t *job);


/* pubsub: the request of a delivery, as the format's request does */

ngx_int_t ngx_queues_push_pubsub_request(ngx_queues_push_delivery_t *d,
    ngx_queues_store_result_t *result);


/* judge */

/* What an answer means for each message, and for the status. */
void ngx_queues_push_judge(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_PUSH_ENGINE_H_INCLUDED_ */
