
/*
 * Endpoints of push subscriptions: their URLs and the rules for them, and the
 * addresses that a delivery may go to (the page "Push subscriptions",
 * "Endpoints Queues calls").
 */

#ifndef _NGX_QUEUES_BASE_ENDPOINT_H_INCLUDED_
#define _NGX_QUEUES_BASE_ENDPOINT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_URL_MAX      2048
#define NGX_QUEUES_BASE_ADDRESS_LEN  16


/* a network; IPv4 is kept as ::ffff:a.b.c.d, with 96 bits more */
typedef struct {
    u_char                     address[NGX_QUEUES_BASE_ADDRESS_LEN];
    ngx_uint_t                 bits;
} ngx_queues_base_network_t;


typedef struct {
    ngx_uint_t                 first;
    ngx_uint_t                 last;
} ngx_queues_base_ports_t;


/* what the administrator allows beside the rules */
typedef struct {
    ngx_queues_base_network_t *networks;
    ngx_uint_t                 nnetworks;
    ngx_str_t                 *hosts;        /* lower case, no trailing dot */
    ngx_uint_t                 nhosts;
    ngx_queues_base_ports_t   *ports;        /* none: 443 only */
    ngx_uint_t                 nports;
    ngx_uint_t                 localhost;    /* unsigned  localhost:1; */
} ngx_queues_base_rules_t;


typedef struct {
    ngx_str_t                  host;         /* lower case, no trailing dot;
                                                of IPv6 without brackets */
    ngx_uint_t                 port;
    ngx_str_t                  authority;    /* for Host: with the port where
                                                it is not the scheme's */
    ngx_str_t                  uri;          /* path and query, "/" at least,
                                                as written */
    ngx_uint_t                 localhost;    /* "localhost" or under it: not
                                                asked of any DNS */
    ngx_uint_t                 tls;          /* unsigned  tls:1; */
    size_t                     naddress;     /* the host is an address of so
                                                many bytes; 0: it is a name */
    u_char                     address[NGX_QUEUES_BASE_ADDRESS_LEN];
} ngx_queues_base_endpoint_t;


#pragma GCC visibility push(hidden)


/*
 * Parses a URL and checks all rules that need no look-up.  Returns NULL, or a
 * constant text that continues "the URL ", and needs no escapes in JSON.  buf
 * has room for url->len + 8 bytes; the endpoint's texts are in it, or in url.
 */
const char *ngx_queues_base_endpoint_parse(ngx_str_t *url,
    ngx_queues_base_rules_t *rules, u_char *buf,
    ngx_queues_base_endpoint_t *endpoint);

/*
 * The same of Pub/Sub: any port, and an address for a host where a delivery may
 * go there; http:// where it leads to localhost, 127.0.0.0/8 or [::1] and the
 * rules have localhost.
 */
const char *ngx_queues_base_endpoint_parse_pubsub(ngx_str_t *url,
    ngx_queues_base_rules_t *rules, u_char *buf,
    ngx_queues_base_endpoint_t *endpoint);

/*
 * 1 if an address, of 4 or 16 bytes in network order, is globally reachable
 * unicast (IANA's special-purpose registries; embedded IPv4 addresses are
 * judged too).
 */
ngx_uint_t ngx_queues_base_address_public(u_char *address, size_t len);

/* 1 if it is one of 127.0.0.0/8, or ::1. */
ngx_uint_t ngx_queues_base_address_loopback(u_char *address, size_t len);

/* 1 if a delivery may go there: it is public, or the rules have it. */
ngx_uint_t ngx_queues_base_address_permitted(u_char *address, size_t len,
    ngx_queues_base_rules_t *rules);

/*
 * Parses "10.0.0.0/8", "fd00::/8" or an address alone.  NGX_ERROR for anything
 * else, also where bits after the prefix are set.
 */
ngx_int_t ngx_queues_base_network_parse(ngx_str_t *text,
    ngx_queues_base_network_t *network);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_ENDPOINT_H_INCLUDED_ */
