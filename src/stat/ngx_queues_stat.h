
/*
 * What the workers of this node share: the zone of queues_zone.  Nothing
 * correct depends on it: a restart or a new size starts from zero.
 */

#ifndef _NGX_QUEUES_STAT_H_INCLUDED_
#define _NGX_QUEUES_STAT_H_INCLUDED_


#include "../conf/ngx_queues_conf.h"


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


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_STAT_H_INCLUDED_ */
