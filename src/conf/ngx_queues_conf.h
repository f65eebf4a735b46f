
/*
 * The configuration: what the directives say, checked once at start so that
 * run-time code need not check again.
 */

#ifndef _NGX_QUEUES_CONF_H_INCLUDED_
#define _NGX_QUEUES_CONF_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "ngx_queues_conf_redis.h"
#include "ngx_queues_conf_push.h"
#include "../base/ngx_queues_base_handle.h"


/* the parts of the Queues API that a location may serve, and other APIs */
#define NGX_QUEUES_CONF_CONTROL    0x0001
#define NGX_QUEUES_CONF_LIVE       0x0002
#define NGX_QUEUES_CONF_RECEIPTS   0x0004
#define NGX_QUEUES_CONF_ALL        0x0007
#define NGX_QUEUES_CONF_QUEEN      0x0008
#define NGX_QUEUES_CONF_PUBSUB     0x0010
#define NGX_QUEUES_CONF_OIDC       0x0020
#define NGX_QUEUES_CONF_HEALTH     0x0040
#define NGX_QUEUES_CONF_METRICS    0x0080
#define NGX_QUEUES_CONF_DASHBOARD  0x0100

/* those for everyone, whatever queues_auth says */
#define NGX_QUEUES_CONF_OPEN       (NGX_QUEUES_CONF_OIDC                      \
                                    |NGX_QUEUES_CONF_HEALTH                   \
                                    |NGX_QUEUES_CONF_DASHBOARD)


#define NGX_QUEUES_CONF_WAITS      8       /* operations that wait, at most */

#define NGX_QUEUES_CONF_NAME_MAX   64      /* of organizations and projects */


/* of JSON Web Tokens; the texts are JSON without quotes once checked */

typedef struct {
    ngx_array_t                    *key_files;     /* ngx_str_t */
    ngx_str_t                       issuer;
    ngx_str_t                       audience;
    ngx_str_t                       roles_claim;
    time_t                          leeway;
} ngx_queues_conf_jwt_t;


/* of the tokens that pushes carry */

typedef struct {
    ngx_array_t                    *key_files;     /* ngx_str_t */
    ngx_str_t                       issuer;
    void                           *tokens;        /* of src/auth; NULL: there
                                                      is no key */
    ngx_uint_t                      discovery;     /* a location has it */
} ngx_queues_conf_oidc_t;


typedef struct {
    ngx_queues_conf_redis_t         redis;
    ngx_str_t                       redis_password_file;
    ngx_flag_t                      redis_tls;
    ngx_str_t                       redis_trusted_certificate;
    ngx_str_t                       redis_certificate;
    ngx_str_t                       redis_certificate_key;

    ngx_str_t                       secret_file;
    ngx_queues_base_handle_key_t  **handle_keys;   /* the first one seals, */
    ngx_uint_t                      nhandle_keys;  /* all of them open */

    ngx_str_t                       api_keys_file;
    ngx_queues_conf_jwt_t           jwt;
    void                           *credentials;   /* of src/auth */
    ngx_queues_conf_oidc_t          oidc;

    ngx_queues_conf_push_t          push;

    ngx_str_t                       zone_name;
    size_t                          zone_size;
    void                           *zone;          /* of src/stat */
    ngx_slab_pool_t                *zone_pool;

    ngx_http_handler_pt             handler;       /* of locations with an
                                                      API */
    ngx_uint_t                      operations;    /* that are counted */

    const char                     *used;          /* the directive of an API
                                                      in some location; NULL:
                                                      there is none */
    unsigned                        auth:1;        /* and one asks for a
                                                      credential */
    unsigned                        control:1;     /* and one makes queues
                                                      and subscriptions */
    ngx_uint_t                      max_attempts;  /* of Pub/Sub, 0: until the
                                                      retention ends */
} ngx_queues_conf_main_t;


/*
 * A bucket of tokens as a point in time: each call moves it on by the interval,
 * and is too early while it is further ahead of now than the depth.
 */
typedef struct {
    uint64_t                        interval;      /* ns, 0: no limit */
    uint64_t                        depth;         /* ns */
    uint64_t                        salt;          /* tells limits apart */
} ngx_queues_conf_rate_t;


typedef struct {
    ngx_queues_conf_rate_t          organization;
    ngx_queues_conf_rate_t          queue;
} ngx_queues_conf_limits_t;


/* what a location of queues_metrics tells beside its node */
typedef struct {
    ngx_uint_t                      queues;        /* of them, at most */
    ngx_array_t                     projects;      /* ngx_str_t, with "/";
                                                      empty: all */
} ngx_queues_conf_metrics_t;


/* the web page, as it is sent */

typedef struct {
    ngx_str_t                       page;
    ngx_str_t                       etag;
    ngx_str_t                       policy;        /* Content-Security-Policy */
} ngx_queues_conf_dashboard_t;


typedef struct {
    ngx_flag_t                      auth;
    ngx_queues_conf_limits_t       *limits;        /* NULL: none */
    ngx_uint_t                      api;           /* 0: no API here */
    const char                     *directive;     /* that set it */
    ngx_str_t                       organization;  /* empty: the path tells, */
    ngx_str_t                       project;       /* and likewise */
    ngx_queues_conf_metrics_t      *metrics;
    ngx_queues_conf_dashboard_t    *dashboard;
    ngx_uint_t                      serves;        /* what locations of this
                                                      server have of APIs */
    off_t                           body_max;      /* client_max_body_size, as
                                                      it was written */
} ngx_queues_conf_loc_t;


/* the module record in the root: needed for every look-up of a conf */
extern ngx_module_t  ngx_queues_module;


#pragma GCC visibility push(hidden)

void *ngx_queues_conf_create_main(ngx_conf_t *cf);
char *ngx_queues_conf_init_main(ngx_conf_t *cf, void *conf);
void *ngx_queues_conf_create_loc(ngx_conf_t *cf);
char *ngx_queues_conf_merge_loc(ngx_conf_t *cf, void *parent, void *child);

/* Setters of directives that are more than one stock slot. */
char *ngx_queues_conf_set_redis(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_database(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_replicas(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_zone(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_rate_limit(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_push_address(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_push_host(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_push_port(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_push_max(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_push_prefix(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_api(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_queues_conf_set_queen_api(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_pubsub_api(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_oidc_discovery(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_health(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_dashboard(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);
char *ngx_queues_conf_set_max_attempts(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf);

/*
 * Lets a location of the Pub/Sub API take its requests where it has no
 * client_max_body_size of its own.
 */
void ngx_queues_conf_merge_pubsub(ngx_conf_t *cf, ngx_queues_conf_loc_t *prev,
    ngx_queues_conf_loc_t *conf);

/* The first API of a location; NGX_CONF_OK, or what is wrong. */
char *ngx_queues_conf_first_api(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_queues_conf_loc_t *qlcf);

/*
 * Checks the whole configuration after parsing and prepares what run time
 * needs: files are read, the TLS context and the function library are made.
 * NGX_ERROR after an [emerg] that names the directive and the mend.
 */
ngx_int_t ngx_queues_conf_check(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf);

/*
 * The part of it that is about queues_jwt_*: defaults are filled in, texts
 * become JSON.
 */
ngx_int_t ngx_queues_conf_check_jwt(ngx_conf_t *cf,
    ngx_queues_conf_jwt_t *jwt);

/* The part of it that is about queues_oidc_*. */
ngx_int_t ngx_queues_conf_check_oidc(ngx_conf_t *cf,
    ngx_queues_conf_oidc_t *oidc);

/*
 * The parts of the functions above that are about queues_push*.  The rules are
 * wired by init, so that they count where push is off, too; check says whether
 * it is on, and makes the TLS context then.
 */
ngx_int_t ngx_queues_conf_create_push(ngx_conf_t *cf,
    ngx_queues_conf_push_t *push);
void ngx_queues_conf_init_push(ngx_queues_conf_push_t *push);
ngx_int_t ngx_queues_conf_check_push(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);
void ngx_queues_conf_cleanup_push(ngx_queues_conf_push_t *push);

/* The resolver of http {} and its timeout; NULL where there is none. */
ngx_resolver_t *ngx_queues_conf_http_resolver(ngx_conf_t *cf,
    ngx_msec_t *timeout);

/*
 * Reads a file of at most max bytes into cf->pool.  NGX_ERROR after an
 * [emerg] that names the directive.
 */
ngx_int_t ngx_queues_conf_read_file(ngx_conf_t *cf, const char *directive,
    ngx_str_t *file, size_t max, ngx_str_t *text);

/* Takes the next line off text, without its end; NGX_DONE at the end. */
ngx_int_t ngx_queues_conf_next_line(ngx_str_t *text, ngx_str_t *line);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_CONF_H_INCLUDED_ */
