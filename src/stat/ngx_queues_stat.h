
/*
 * What the workers of this node share: the zone of queues_zone.  Nothing
 * correct depends on it: a restart or a new size starts from zero.
 */

#ifndef _NGX_QUEUES_STAT_H_INCLUDED_
#define _NGX_QUEUES_STAT_H_INCLUDED_


#include "../conf/ngx_queues_conf.h"


typedef enum {
    NGX_QUEUES_STAT_RATE_ORGANIZATION = 0,
    NGX_QUEUES_STAT_RATE_NAME,
    NGX_QUEUES_STAT_RATE_ID
} ngx_queues_stat_rate_e;


typedef struct {
    ngx_queues_conf_rate_t       *rate;
    uint64_t                      key;
} ngx_queues_stat_bucket_t;


#pragma GCC visibility push(hidden)


/* Adds the zone to the configuration.  NGX_ERROR after an [emerg]. */
ngx_int_t ngx_queues_stat_add_zone(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);

/*
 * The limit on invalid receipt handles: more than 100 within a minute from one
 * address.  wait returns for how many seconds the address has to wait, 0 if it
 * need not; add counts n further ones.
 */
ngx_uint_t ngx_queues_stat_invalid_wait(ngx_queues_conf_main_t *qmcf,
    struct sockaddr *sockaddr);
void ngx_queues_stat_invalid_add(ngx_queues_conf_main_t *qmcf,
    struct sockaddr *sockaddr, ngx_uint_t n);



/*
 * The rate limits: a bucket of tokens for each queue and each organization.
 *
 * A queue has a name and two ids, of which a request tells one.  The ids are
 * one key; a name counts by itself until an answer has told whose it is, and
 * from then on as the queue.
 */

/* What is counted: the organization, or the project with a name or an id. */
uint64_t ngx_queues_stat_rate_key(ngx_queues_conf_main_t *qmcf,
    ngx_queues_conf_rate_t *rate, ngx_queues_stat_rate_e kind,
    ngx_str_t *owner, ngx_str_t *name);

/*
 * Takes a token from each of n buckets, or none where one of them has none:
 * then returns for how many seconds there will be none, at least 1, and which
 * one it is.  The buckets' keys become those that were counted.
 */
ngx_uint_t ngx_queues_stat_rate_take(ngx_queues_conf_main_t *qmcf,
    ngx_queues_stat_bucket_t *buckets, ngx_uint_t n, ngx_uint_t *which);

/*
 * The queue of a request whose token was taken from another bucket: it is
 * counted there as well, and from now on the spelling as the queue.
 */
void ngx_queues_stat_rate_learn(ngx_queues_conf_main_t *qmcf,
    ngx_queues_conf_rate_t *rate, uint64_t spelling, uint64_t key);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STAT_H_INCLUDED_ */
