
/*
 * Secrets at rest: AES-256-GCM, with a random nonce, under a key made of a line
 * of queues_secret_file.
 *
 *     base64url(0x01 || nonce (12) || ciphertext || tag (16))
 *
 * The context is authenticated with it: what was sealed in one place does not
 * open in another.
 */

#ifndef _NGX_QUEUES_BASE_SEAL_H_INCLUDED_
#define _NGX_QUEUES_BASE_SEAL_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_SEAL_OVERHEAD    29
#define NGX_QUEUES_BASE_SEAL_NONCE_SIZE  12
#define NGX_QUEUES_BASE_SEAL_TAG_SIZE    16
#define NGX_QUEUES_BASE_SEAL_MAX         256      /* bytes of a plain text */

#define ngx_queues_base_seal_length(n)                                        \
    (((n) + NGX_QUEUES_BASE_SEAL_OVERHEAD) * 4 / 3 + 2)


typedef struct ngx_queues_base_seal_key_s  ngx_queues_base_seal_key_t;


#pragma GCC visibility push(hidden)


/*
 * Makes the key of one secret (len >= 32 bytes; it is not kept), another one
 * than handles have of it.  The object is malloc'ed and the caller's to
 * destroy.  NULL for a short secret or if OpenSSL fails.
 */
ngx_queues_base_seal_key_t *ngx_queues_base_seal_key_create(u_char *secret,
    size_t len);

/* Wipes and frees; NULL is fine. */
void ngx_queues_base_seal_key_destroy(ngx_queues_base_seal_key_t *key);

/*
 * Writes the sealed text to p, which has room for
 * ngx_queues_base_seal_length(plain->len), and returns the end; NULL if it is
 * too long or OpenSSL fails.
 */
u_char *ngx_queues_base_seal(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, ngx_str_t *plain, u_char *p);

/*
 * Opens a text that must hold exactly len bytes of plain text, into plain.
 * NGX_ERROR for anything that was not sealed with this key and context; plain
 * is wiped then.
 */
ngx_int_t ngx_queues_base_seal_open(ngx_queues_base_seal_key_t *key,
    ngx_str_t *context, ngx_str_t *text, u_char *plain, size_t len);

/*
 * The cipher alone, under a key that is made of the salt: so many of them that
 * nonces need not be counted.  src->len bytes go to dst, the tag of
 * NGX_QUEUES_BASE_SEAL_TAG_SIZE bytes is written, or checked.
 */
ngx_int_t ngx_queues_base_seal_salted(ngx_queues_base_seal_key_t *key,
    ngx_str_t *salt, ngx_str_t *context, u_char *nonce, ngx_str_t *src,
    u_char *dst, u_char *tag, ngx_uint_t encrypt);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_SEAL_H_INCLUDED_ */
