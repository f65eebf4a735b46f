
/*
 * Receipt handles: what the server needs to find a delivery, sealed so that
 * the holder learns nothing of it and cannot change a bit of it.
 *
 *     base64url(0x01 || tag || ciphertext)
 *     tag        = HMAC-SHA256(k_mac, 0x01 || plaintext), first 16 bytes, the
 *                  high 4 bits cleared
 *     ciphertext = AES-256-CTR(k_enc, IV = tag, plaintext)
 *
 * The tag as the initial vector makes it deterministic (the composition of
 * SIV, RFC 5297); the 4 bits are cleared for the text to start with "AQ".
 *
 *     plaintext  = numbers || project
 *     numbers    = queue (8 bytes; the high bits say what the spot is),
 *                  generation (6), spot (6 and 4, of FIFO 6 and 6), token (5)
 */

#ifndef _NGX_QUEUES_BASE_HANDLE_H_INCLUDED_
#define _NGX_QUEUES_BASE_HANDLE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_base_id.h"


#define NGX_QUEUES_BASE_HANDLE_PROJECT_MAX  129  /* 64 "/" 64 */
#define NGX_QUEUES_BASE_HANDLE_OVERHEAD     48   /* version, tag, numbers */

/* bytes of a sealed handle, and of its text */
#define NGX_QUEUES_BASE_HANDLE_MAX                                            \
    (NGX_QUEUES_BASE_HANDLE_OVERHEAD + NGX_QUEUES_BASE_HANDLE_PROJECT_MAX)
#define NGX_QUEUES_BASE_HANDLE_TEXT_MAX                                       \
    ((NGX_QUEUES_BASE_HANDLE_MAX * 4 + 2) / 3)


typedef struct {
    ngx_str_t                         project;     /* "org/project" */
    uint64_t                          queue;       /* short id, 60 bits */
    uint64_t                          generation;  /* 48 bits */
    ngx_queues_base_spot_t            spot;
    uint64_t                          token;       /* 40 bits */
} ngx_queues_base_handle_t;


typedef struct ngx_queues_base_handle_key_s  ngx_queues_base_handle_key_t;


#pragma GCC visibility push(hidden)


/*
 * Makes the keys of one secret (len >= 32 bytes; it is not kept).  The object
 * is malloc'ed and the caller's to destroy; it holds working state, so one
 * thread uses it at a time.  NULL for a short secret or if OpenSSL fails.
 */
ngx_queues_base_handle_key_t *ngx_queues_base_handle_key_create(
    u_char *secret, size_t len);

/* Wipes and frees; NULL is fine. */
void ngx_queues_base_handle_key_destroy(ngx_queues_base_handle_key_t *key);

/*
 * Bytes of the text of a handle with such a spot, whose project has so many
 * bytes.
 */
size_t ngx_queues_base_handle_length(ngx_queues_base_spot_kind_e kind,
    size_t project_len);

/*
 * Writes the text of a handle to p, which has room for its length, and returns
 * the end.  NULL if a field is out of its range or OpenSSL fails.
 */
u_char *ngx_queues_base_handle_print(ngx_queues_base_handle_key_t *key,
    ngx_queues_base_handle_t *handle, u_char *p);

/*
 * Opens the text of a handle.  buf has NGX_QUEUES_BASE_HANDLE_MAX bytes and
 * holds handle->project afterwards.  NGX_ERROR for anything that
 * ngx_queues_base_handle_print() has not written with this key; the content
 * of handle and buf must not be used then.
 */
ngx_int_t ngx_queues_base_handle_parse(ngx_queues_base_handle_key_t *key,
    ngx_str_t *text, ngx_queues_base_handle_t *handle, u_char *buf);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_HANDLE_H_INCLUDED_ */
