
/*
 * What the queues_redis* directives say; filled by src/conf, read by
 * src/redis.
 */

#ifndef _NGX_QUEUES_CONF_REDIS_H_INCLUDED_
#define _NGX_QUEUES_CONF_REDIS_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>


typedef struct {
    ngx_str_t         address;          /* as written, for the log */
    ngx_str_t         host;             /* DNS name or address; empty for a
                                           Unix socket */
    in_port_t         port;

    ngx_addr_t       *addrs;            /* as the name resolved at start */
    ngx_uint_t        naddrs;

    ngx_str_t         user;             /* empty: the default user */
    ngx_str_t         password;         /* empty: no AUTH */
    ngx_uint_t        database;

    ngx_msec_t        connect_timeout;
    ngx_msec_t        timeout;          /* deadline of one command */

    ngx_uint_t        replicas;         /* that must have a send; 0: off */
    ngx_msec_t        replicas_timeout;

    ngx_ssl_t        *ssl;              /* NULL: plain */

    ngx_resolver_t   *resolver;         /* NULL unless host is a name and
                                           http{} has a resolver */
    ngx_msec_t        resolver_timeout;

    ngx_str_t         library;          /* text of the function library with
                                           its "#!lua name=" line */
    ngx_str_t         library_name;     /* ngxq_<16 hex of SHA-256> */
} ngx_queues_conf_redis_t;


#endif /* _NGX_QUEUES_CONF_REDIS_H_INCLUDED_ */
