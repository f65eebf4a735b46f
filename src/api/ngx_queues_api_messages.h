
/*
 * Sending and receiving.  For src/api only.
 */

#ifndef _NGX_QUEUES_API_MESSAGES_H_INCLUDED_
#define _NGX_QUEUES_API_MESSAGES_H_INCLUDED_


#include "ngx_queues_api.h"


#pragma GCC visibility push(hidden)


/* The routes' starts. */
void ngx_queues_api_send(ngx_queues_api_t *api);
void ngx_queues_api_receive(ngx_queues_api_t *api);

/*
 * Writes a received message with its receipt handle; NULL if no handle could
 * be made.  There is room for its length.
 */
size_t ngx_queues_api_message_length(ngx_str_t *project,
    ngx_queues_store_message_t *message);
u_char *ngx_queues_api_message_print(u_char *p, ngx_str_t *project,
    ngx_queues_base_handle_key_t *key, ngx_queues_store_result_t *result,
    ngx_queues_store_message_t *message);

/* The messageId of where a message stands, as 36 characters. */
u_char *ngx_queues_api_message_id(u_char *p, ngx_queues_store_place_t *place,
    ngx_queues_store_id_t *id);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_MESSAGES_H_INCLUDED_ */
