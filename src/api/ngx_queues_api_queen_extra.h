
/*
 * What the routes of the Queen API beside those of messages share: their
 * queries, their calls of the store, the writing of their answers.
 */

#ifndef _NGX_QUEUES_API_QUEEN_EXTRA_H_INCLUDED_
#define _NGX_QUEUES_API_QUEEN_EXTRA_H_INCLUDED_


#include "ngx_queues_api_queen.h"
#include "../store/ngx_queues_store_logs.h"


/* of a list: what is beyond costs as much as what is shown */
#define NGX_QUEUES_API_QUEEN_OFFSET_MAX  1000000000


/* an answer being written */
typedef struct {
    ngx_queues_api_t             *api;
    u_char                       *start;
    u_char                       *p;
    u_char                       *end;
    ngx_uint_t                    failed;    /* unsigned  failed:1; */
} ngx_queues_api_queen_out_t;


/* of a list */
typedef struct {
    uint64_t                      limit;
    uint64_t                      offset;
    ngx_str_t                     after;     /* canonical; empty: none */
} ngx_queues_api_queen_page_t;


/* what becomes of a message */
typedef struct {
    ngx_uint_t                    dead;      /* it has dead letters */
    ngx_uint_t                    queue_mode;  /* that is used */
    uint64_t                      committed; /* by the queue mode */
    uint64_t                      expiry;    /* of its lease, 0: none */
    uint64_t                      groups;    /* beside the queue mode */
    uint64_t                      passed;    /* how many have consumed it */
} ngx_queues_api_queen_state_t;


/* the outcome was OK, the request is there */
typedef void (*ngx_queues_api_queen_answer_pt)(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


#pragma GCC visibility push(hidden)


extern const ngx_queues_api_route_t  ngx_queues_api_queen_configure_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_dead_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_groups_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_seek_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_queues_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_labels_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_messages_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_message_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_traces_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_maintenance_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_metrics_routes[];


/*
 * The parameters of the query by their names: n values, without data where
 * they are missing.  Others are passed over, of several with one name the first
 * one counts.  NGX_ERROR after it has answered.
 */
ngx_int_t ngx_queues_api_queen_query(ngx_queues_api_t *api,
    const ngx_str_t *names, ngx_uint_t n, ngx_str_t *values);

/* A text of the query or the path, canonical. */
ngx_int_t ngx_queues_api_queen_word(ngx_queues_api_t *api, const char *name,
    ngx_str_t *value, ngx_str_t *text);

/*
 * A number of the query; one that is out of range is the next one that is not.
 * *n is untouched where it is missing.
 */
ngx_int_t ngx_queues_api_queen_number(ngx_queues_api_t *api,
    const ngx_str_t *name, ngx_str_t *value, uint64_t min, uint64_t max,
    uint64_t *n);

/* For what is not of one queue: 403 for who may not use all of them. */
ngx_int_t ngx_queues_api_queen_any(ngx_queues_api_t *api);

/* The same for what is of a queue where that is named. */
ngx_int_t ngx_queues_api_queen_of(ngx_queues_api_t *api, ngx_str_t *queue);

/*
 * "limit", "offset" and "after" of a list, as far as its call takes them; limit
 * is what it is where nothing is said.
 */
ngx_int_t ngx_queues_api_queen_page(ngx_queues_api_t *api, uint64_t limit,
    uint64_t max, ngx_queues_api_queen_page_t *page);

/* The partition in the path; 404 for what is none. */
ngx_int_t ngx_queues_api_queen_partition(ngx_queues_api_t *api,
    ngx_queues_store_lane_t *lane);

/* A partition of a reply. */
void ngx_queues_api_queen_lane(ngx_queues_store_value_t *id,
    ngx_queues_store_value_t *l, ngx_queues_store_lane_t *lane);

/* A word for it all, and one for the queue mode, empty where it is not used. */
void ngx_queues_api_queen_state(ngx_queues_api_queen_state_t *state,
    uint64_t offset, ngx_str_t *status, ngx_str_t *own);

/* Writes who consumes: {"hasQueueMode", "busGroupsCount", "type"}. */
void ngx_queues_api_queen_mode(ngx_queues_api_queen_out_t *out,
    ngx_uint_t queue_mode, uint64_t groups);

/* ms since 1970, by the worker's clock. */
uint64_t ngx_queues_api_queen_now(void);

/* The options of a queue that was not configured; NGX_ERROR after an answer. */
ngx_int_t ngx_queues_api_queen_defaults(ngx_queues_api_t *api,
    ngx_str_t *options);

/*
 * Sums over the queues of a project, which take several calls where they are
 * many: summed() adds the columns of one, and says whether another one follows,
 * after the queue so named.
 */
void ngx_queues_api_queen_sum(ngx_queues_api_t *api, ngx_str_t *after,
    ngx_queues_api_queen_answer_pt answer);
ngx_uint_t ngx_queues_api_queen_summed(ngx_queues_store_result_t *result,
    uint64_t *sums);

/* Starts a call of the store. */
void ngx_queues_api_queen_start(ngx_queues_api_t *api,
    ngx_queues_store_logs_t *call, ngx_queues_api_queen_answer_pt answer);


/* Writes: it grows as it must, and fails at the end if it could not. */
void ngx_queues_api_queen_open(ngx_queues_api_t *api,
    ngx_queues_api_queen_out_t *out);

/*
 * A format in which ' stands for ", and
 *
 *     %s  ngx_str_t *    a canonical text, with its quotes
 *     %n  ngx_str_t *    the same, null where it is empty
 *     %r  ngx_str_t *    as it is
 *     %c  const char *   the same
 *     %d  uint64_t       a number
 *     %v  value *        a number of the store, null where it is none
 *     %t  uint64_t       a moment, null where it is 0
 *     %b  ngx_uint_t     true or false
 *     %l  lane *         the id of a partition
 *     %m  lane *, uint64_t offset, uint64_t ms
 *                        the id of a message
 */
void ngx_queues_api_queen_write(ngx_queues_api_queen_out_t *out,
    const char *fmt, ...);

/* Takes the comma back that a list has after its last element. */
void ngx_queues_api_queen_trim(ngx_queues_api_queen_out_t *out);

/* Room for n further bytes at out->p; NULL when out of memory. */
u_char *ngx_queues_api_queen_room(ngx_queues_api_queen_out_t *out, size_t n);

void ngx_queues_api_queen_close(ngx_queues_api_queen_out_t *out,
    ngx_uint_t status);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_QUEEN_EXTRA_H_INCLUDED_ */
