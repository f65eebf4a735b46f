
/*
 * What an endpoint's answer says: when to try again, and which messages of a
 * batch have failed (the page "Push subscriptions").
 */

#ifndef _NGX_QUEUES_BASE_RETRY_H_INCLUDED_
#define _NGX_QUEUES_BASE_RETRY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_json.h"


#define NGX_QUEUES_BASE_BACKOFF_MAX  43200000   /* ms: 12 hours */


#pragma GCC visibility push(hidden)


/*
 * ms until a message is tried again that was received so many times (from 1):
 * 2^(count - 1) seconds or max ms, whichever is less, plus or minus up to 20 % by
 * the 32 random bits, and at most max: what waits as long as that is spread over
 * the 20 % before.  max is at most NGX_QUEUES_BASE_BACKOFF_MAX.
 */
uint64_t ngx_queues_base_backoff(uint64_t count, uint64_t max,
    uint32_t random);

/*
 * The value of a Retry-After header: seconds, or an HTTP date (RFC 9110, 5.6.7,
 * all three forms) against now, seconds since 1970; a date that is past is 0.
 * Blanks around it are fine.  NGX_OK with *seconds, at most 43200; NGX_DECLINED
 * for anything else.
 */
ngx_int_t ngx_queues_base_retry_after(ngx_str_t *value, int64_t now,
    int64_t *seconds);

/*
 * NGX_OK where a body is the list of failed messages, a JSON object whose
 * "failed", once, is an array of strings; other members are passed over.  list
 * is then that array for ngx_queues_base_json_open().  NGX_DECLINED for
 * anything else.
 */
ngx_int_t ngx_queues_base_failures(ngx_str_t *body,
    ngx_queues_base_json_value_t *list);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_RETRY_H_INCLUDED_ */
