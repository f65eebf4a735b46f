
/*
 * Push subscriptions: their settings read and written as JSON, their signing
 * secrets, their list.  For src/api only.
 */

#ifndef _NGX_QUEUES_API_SUBSCRIPTIONS_H_INCLUDED_
#define _NGX_QUEUES_API_SUBSCRIPTIONS_H_INCLUDED_


#include "ngx_queues_api.h"
#include "../base/ngx_queues_base_seal.h"
#include "../base/ngx_queues_base_sign.h"


#define NGX_QUEUES_API_SEALED_MAX                                             \
    ngx_queues_base_seal_length(NGX_QUEUES_BASE_SECRET_SIZE)


/* a new signing secret, until it is answered */
typedef struct {
    u_char        plain[NGX_QUEUES_BASE_SECRET_SIZE];
    u_char        text[NGX_QUEUES_API_SEALED_MAX];
    ngx_str_t     sealed;                          /* in text */
} ngx_queues_api_secret_t;


#pragma GCC visibility push(hidden)


/*
 * Reads the body of a create call with its defaults; the queue that it names
 * becomes that of the request.  Or that of an update: settings that it does not
 * name become -1, an empty URL.  NGX_ERROR after they have answered.
 */
ngx_int_t ngx_queues_api_subscription_new(ngx_queues_api_t *api,
    ngx_queues_store_subscription_t *subscription);
ngx_int_t ngx_queues_api_subscription_change(ngx_queues_api_t *api,
    ngx_queues_store_target_t *target);

/* Answers the outcome of a create that was not OK. */
void ngx_queues_api_subscription_refuse(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);

/* Writes a subscription. */
size_t ngx_queues_api_subscription_length(
    ngx_queues_store_subscription_t *subscription);
u_char *ngx_queues_api_subscription_print(u_char *p,
    ngx_queues_store_subscription_t *subscription);

/*
 * Makes a secret for the subscription with that short id and seals it.
 * NGX_ERROR after it has answered.
 */
ngx_int_t ngx_queues_api_secret_make(ngx_queues_api_t *api, u_char *id,
    ngx_queues_api_secret_t *secret);

/* Forgets it: due in every done, and where there will be none. */
void ngx_queues_api_secret_wipe(ngx_queues_api_secret_t *secret);

/*
 * Answers with a subscription and its new secret, null where that is NULL.
 * Nothing of it is left in memory once the request is over.
 */
void ngx_queues_api_secret_answer(ngx_queues_api_t *api, ngx_uint_t status,
    ngx_queues_store_subscription_t *subscription,
    ngx_queues_api_secret_t *secret);

/* The start of ListSubscriptions. */
void ngx_queues_api_subscriptions_list(ngx_queues_api_t *api);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_SUBSCRIPTIONS_H_INCLUDED_ */
