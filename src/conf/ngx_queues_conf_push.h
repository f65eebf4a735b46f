
/*
 * What the directives queues_push* say.
 */

#ifndef _NGX_QUEUES_CONF_PUSH_H_INCLUDED_
#define _NGX_QUEUES_CONF_PUSH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#include "../base/ngx_queues_base_endpoint.h"
#include "../base/ngx_queues_base_seal.h"


typedef struct {
    ngx_flag_t                    on;         /* once checked: this node's
                                                 workers deliver */
    ngx_queues_base_rules_t       rules;
    ngx_array_t                   networks;   /* of the directives, for */
    ngx_array_t                   hosts;      /* rules */
    ngx_array_t                   ports;
    ngx_flag_t                    localhost;

    ngx_str_t                     trusted_certificate;
    ngx_ssl_t                    *ssl;
    ngx_uint_t                    max;        /* deliveries at once of a
                                                 worker */
    ngx_str_t                     header_prefix;

    ngx_resolver_t               *resolver;   /* of http {} */
    ngx_msec_t                    resolver_timeout;

    ngx_queues_base_seal_key_t  **seal_keys;  /* the first one seals, */
    ngx_uint_t                    nseal_keys; /* all of them open */
} ngx_queues_conf_push_t;


#endif /* _NGX_QUEUES_CONF_PUSH_H_INCLUDED_ */
