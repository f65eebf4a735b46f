
/*
 * Signing secrets and signatures of deliveries: the scheme of the page "Push
 * subscriptions" and that of Standard Webhooks 1.0, with the same secret.
 */

#ifndef _NGX_QUEUES_BASE_SIGN_H_INCLUDED_
#define _NGX_QUEUES_BASE_SIGN_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_SECRET_SIZE      32
#define NGX_QUEUES_BASE_SECRET_LEN       49     /* "whsec_" and base64url */
#define NGX_QUEUES_BASE_SECRETS_MAX      4      /* active at once */

/* of a signature with so many secrets, at most */
#define NGX_QUEUES_BASE_SIGNATURE_MAX    (24 + NGX_QUEUES_BASE_SECRETS_MAX * 68)
#define NGX_QUEUES_BASE_WEBHOOK_MAX      (NGX_QUEUES_BASE_SECRETS_MAX * 48)


typedef struct {
    u_char                    keys[NGX_QUEUES_BASE_SECRETS_MAX]
                                  [NGX_QUEUES_BASE_SECRET_SIZE];
    ngx_uint_t                n;                /* the newest first */
} ngx_queues_base_secrets_t;


#pragma GCC visibility push(hidden)


/*
 * 1 if the text of a secret is the same in base64 and base64url (it has
 * neither "-" nor "_"): libraries of Standard Webhooks take the one, the
 * samples of the page the other.  Some 26 % of random secrets are so.
 */
ngx_uint_t ngx_queues_base_secret_portable(u_char *secret);

/* Writes "whsec_..." and returns the end. */
u_char *ngx_queues_base_secret_print(u_char *p, u_char *secret);

/*
 * Writes "t=SECONDS,v1=HEX[,v1=HEX...]" over t + "." + body, one v1 a secret;
 * returns the end, or NULL if OpenSSL fails.
 */
u_char *ngx_queues_base_sign(u_char *p, ngx_queues_base_secrets_t *secrets,
    uint64_t t, ngx_str_t *body);

/*
 * Writes "v1,BASE64[ v1,BASE64...]" over id + "." + t + "." + body, likewise.
 */
u_char *ngx_queues_base_sign_webhook(u_char *p,
    ngx_queues_base_secrets_t *secrets, ngx_str_t *id, uint64_t t,
    ngx_str_t *body);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_SIGN_H_INCLUDED_ */
