
/*
 * Attributes of Pub/Sub's messages, both parts decoded: what they may be, and
 * which of them become headers of a push.
 */

#ifndef _NGX_QUEUES_BASE_ATTRIBUTE_H_INCLUDED_
#define _NGX_QUEUES_BASE_ATTRIBUTE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_ATTRIBUTES_MAX       100    /* of a message */
#define NGX_QUEUES_BASE_ATTRIBUTE_KEY_MAX    256    /* bytes */
#define NGX_QUEUES_BASE_ATTRIBUTE_VALUE_MAX  1024
#define NGX_QUEUES_BASE_ORDERING_KEY_MAX     1024


#pragma GCC visibility push(hidden)


/*
 * NGX_OK for a key of 1 to 256 bytes that does not start with "goog", and for a
 * value of up to 1024 bytes; else NGX_ERROR.
 */
ngx_int_t ngx_queues_base_attribute_key(ngx_str_t *key);
ngx_int_t ngx_queues_base_attribute_value(ngx_str_t *value);

/*
 * 1 if an attribute may be written as a header of a push, "KEY: VALUE", else 0.
 * The key is a token (RFC 9110) and the value printable ASCII and blanks.  Of
 * what frames, routes or authenticates a request nothing may come from whoever
 * publishes; nor what names a message, x-goog-pubsub-*.  Content-Type and
 * User-Agent may: who has headers of these names leaves out its own.
 */
ngx_uint_t ngx_queues_base_attribute_header(ngx_str_t *key, ngx_str_t *value);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_ATTRIBUTE_H_INCLUDED_ */
