
/*
 * What queues_metrics tells of this node: counters, which all workers add to,
 * and gauges, which each of them keeps for itself.
 *
 * Counters stand in the zone in some copies, of which a worker has one, so that
 * two of them seldom write to the same line of the cache; a scrape adds the
 * copies up.  Gauges are in the slot of their worker, where nobody else writes,
 * and count as long as its process is there.
 */

#ifndef _NGX_QUEUES_STAT_METRICS_H_INCLUDED_
#define _NGX_QUEUES_STAT_METRICS_H_INCLUDED_


#include "ngx_queues_stat.h"


typedef enum {
    NGX_QUEUES_STAT_QUEUES = 0,
    NGX_QUEUES_STAT_QUEEN,
    NGX_QUEUES_STAT_PUBSUB,
    NGX_QUEUES_STAT_NAPIS
} ngx_queues_stat_api_e;


typedef enum {
    NGX_QUEUES_STAT_SENT = 0,
    NGX_QUEUES_STAT_RECEIVED,
    NGX_QUEUES_STAT_ACKNOWLEDGED,
    NGX_QUEUES_STAT_NMOVES
} ngx_queues_stat_move_e;


typedef enum {
    NGX_QUEUES_STAT_PARKED = 0,
    NGX_QUEUES_STAT_DELIVERIES,          /* attempts */
    NGX_QUEUES_STAT_WINDOW,
    NGX_QUEUES_STAT_SUBSCRIPTIONS,
    NGX_QUEUES_STAT_COMMANDS,
    NGX_QUEUES_STAT_LINK_COMMANDS,       /* 1: it is ready */
    NGX_QUEUES_STAT_LINK_SENDS,
    NGX_QUEUES_STAT_LINK_HINTS,
    NGX_QUEUES_STAT_NGAUGES
} ngx_queues_stat_gauge_e;


/*
 * What comes of deliveries: "ok", or the class of the failure, as lastError has
 * it.  An answer of any other status is "http", and what could not be sent
 * without a token "token".  Of what was never sent, as this worker lacks
 * connections or memory, nobody is told.
 */
typedef enum {
    NGX_QUEUES_STAT_OK = 0,
    NGX_QUEUES_STAT_HTTP,
    NGX_QUEUES_STAT_TIMEOUT,
    NGX_QUEUES_STAT_CONNECTION,
    NGX_QUEUES_STAT_REFUSED,
    NGX_QUEUES_STAT_TLS,
    NGX_QUEUES_STAT_TOKEN,
    NGX_QUEUES_STAT_NOUTCOMES,
    NGX_QUEUES_STAT_UNSENT = NGX_QUEUES_STAT_NOUTCOMES
} ngx_queues_stat_outcome_e;


#define NGX_QUEUES_STAT_STATUSES  20     /* the last one is all others */
#define NGX_QUEUES_STAT_BOUNDS    18     /* of histograms */


typedef struct {
    ngx_atomic_t                  buckets[NGX_QUEUES_STAT_BOUNDS + 1];
    ngx_atomic_t                  sum;   /* us */
} ngx_queues_stat_histogram_t;


typedef struct {
    ngx_atomic_t                  statuses[NGX_QUEUES_STAT_STATUSES];
    ngx_queues_stat_histogram_t   time;
} ngx_queues_stat_operation_t;


/* one copy of all counters, and of nothing else */
typedef struct {
    ngx_atomic_t                  messages[NGX_QUEUES_STAT_NMOVES]
                                          [NGX_QUEUES_STAT_NAPIS];

    /* of the Queen API: messages within transactions, which are not among those
     * before, and calls at no route, which are among those of "unknown", too */

    ngx_atomic_t                  transacted[NGX_QUEUES_STAT_NMOVES];
    ngx_atomic_t                  unrouted[NGX_QUEUES_STAT_STATUSES];

    ngx_atomic_t                  deliveries[NGX_QUEUES_STAT_NAPIS]
                                            [NGX_QUEUES_STAT_NOUTCOMES];
    ngx_atomic_t                  reconnects;
    ngx_atomic_t                  overdue;
    ngx_atomic_t                  retried;

    ngx_queues_stat_histogram_t   delivery;
    ngx_queues_stat_histogram_t   command;
    ngx_queues_stat_histogram_t   waits[NGX_QUEUES_CONF_WAITS];

    ngx_queues_stat_operation_t   operations[1];    /* as many as there are */
} ngx_queues_stat_counters_t;


/* of one worker, a line of the cache or two of its own */
typedef struct {
    ngx_atomic_t                  pid;              /* 0: free */
    ngx_atomic_int_t              gauges[15];
} ngx_queues_stat_worker_t;


#pragma GCC visibility push(hidden)


/* of this worker; before it has begun, counters must not be touched */
extern ngx_queues_stat_counters_t  *ngx_queues_stat_counters;
extern ngx_queues_stat_worker_t    *ngx_queues_stat_worker;

/* us */
extern const uint64_t  ngx_queues_stat_bounds[NGX_QUEUES_STAT_BOUNDS];

/* by the outcome */
extern ngx_str_t  ngx_queues_stat_outcomes[NGX_QUEUES_STAT_NOUTCOMES];

/* status codes, but for the last one */
extern const ngx_uint_t  ngx_queues_stat_statuses[NGX_QUEUES_STAT_STATUSES];


/* Takes a slot for this worker, and leaves it. */
void ngx_queues_stat_begin(ngx_queues_conf_main_t *qmcf);
void ngx_queues_stat_end(ngx_queues_conf_main_t *qmcf);


/* us of the monotonic clock, as it was when this turn of the event loop asked
 * first: reading it costs more than counting. */
uint64_t ngx_queues_stat_now(void);

void ngx_queues_stat_observe(ngx_queues_stat_histogram_t *h, uint64_t us);

/* Counts a request that has ended with status. */
void ngx_queues_stat_request(ngx_atomic_t *statuses, ngx_uint_t status);

/* Since when is counted. */
time_t ngx_queues_stat_since(ngx_queues_conf_main_t *qmcf);


/* The sum of all copies, in memory of the pool; NULL when out of memory. */
ngx_queues_stat_counters_t *ngx_queues_stat_sum(ngx_queues_conf_main_t *qmcf,
    ngx_pool_t *pool);

/* Adds up what the workers that there are have, and returns how many. */
ngx_uint_t ngx_queues_stat_gauges(ngx_queues_conf_main_t *qmcf,
    int64_t *gauges);

/* Bytes of the zone that are not in use. */
size_t ngx_queues_stat_free(ngx_queues_conf_main_t *qmcf);


#define ngx_queues_stat_gauge(gauge, n)                                       \
    ngx_queues_stat_worker->gauges[gauge] += (n)

#define ngx_queues_stat_add(counter, n)                                       \
    (void) ngx_atomic_fetch_add(&ngx_queues_stat_counters->counter, n)


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STAT_METRICS_H_INCLUDED_ */
