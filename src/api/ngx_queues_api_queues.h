
/*
 * Queues: their settings read and written as JSON, and their list.  For
 * src/api only.
 */

#ifndef _NGX_QUEUES_API_QUEUES_H_INCLUDED_
#define _NGX_QUEUES_API_QUEUES_H_INCLUDED_


#include "ngx_queues_api.h"


#pragma GCC visibility push(hidden)


/*
 * Reads the body of a create call with its defaults, or that of an update:
 * settings that it does not name become -1.  NGX_ERROR after they have
 * answered.
 */
ngx_int_t ngx_queues_api_settings_new(ngx_queues_api_t *api,
    ngx_queues_store_queue_t *queue);
ngx_int_t ngx_queues_api_settings_change(ngx_queues_api_t *api,
    ngx_queues_store_settings_t *settings);

/* Answers what the store says of settings that were well-formed. */
void ngx_queues_api_settings_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);

/*
 * The redrive policy, whose member is so named, and an error about the queue
 * that it names.  A missing one leaves the settings as they are.
 */
ngx_int_t ngx_queues_api_policy(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const ngx_str_t *name,
    ngx_queues_store_settings_t *settings);
void ngx_queues_api_policy_error(ngx_queues_api_t *api, const char *what);

/* Writes a queue, with counts and totals where a result of a count is given. */
size_t ngx_queues_api_queue_length(ngx_queues_store_queue_t *queue);
u_char *ngx_queues_api_queue_print(u_char *p, ngx_queues_store_queue_t *queue,
    ngx_queues_store_result_t *counted);

/* The routes of ListQueues, PeekMessages, RedriveMessages. */
void ngx_queues_api_list(ngx_queues_api_t *api);
void ngx_queues_api_peek(ngx_queues_api_t *api);
void ngx_queues_api_redrive(ngx_queues_api_t *api);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_QUEUES_H_INCLUDED_ */
