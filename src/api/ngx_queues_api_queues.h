
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
    int64_t *settings);

/* Writes a queue, with its counts where they are not NULL. */
size_t ngx_queues_api_queue_length(ngx_queues_store_queue_t *queue);
u_char *ngx_queues_api_queue_print(u_char *p, ngx_queues_store_queue_t *queue,
    ngx_queues_store_counts_t *counts);

/* The route of ListQueues. */
void ngx_queues_api_list(ngx_queues_api_t *api);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_QUEUES_H_INCLUDED_ */
