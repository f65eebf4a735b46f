
/*
 * The Pub/Sub API: what its files of routes share.  The names of resources in
 * paths are checked before a route starts: api->queue is the short id of the
 * topic, subscription or snapshot.
 *
 * Errors are told by ngx_queues_api_error(); what its field is to the Queues
 * API is here the text of the elements of "details", or NULL.
 */

#ifndef _NGX_QUEUES_API_PUBSUB_H_INCLUDED_
#define _NGX_QUEUES_API_PUBSUB_H_INCLUDED_


#include "ngx_queues_api.h"
#include "../base/ngx_queues_base_mask.h"
#include "../base/ngx_queues_base_proto.h"
#include "../base/ngx_queues_base_resource.h"
#include "../store/ngx_queues_store_pubsub.h"


/* bytes of a publish (of all other requests that say nothing:
 * NGX_QUEUES_API_SMALL_BODY), and what a location must take for it */
#define NGX_QUEUES_API_PUBSUB_BODY    10485760


/* members of an object, by the numbers of their names, at most 32 */
typedef struct {
    ngx_str_t                     at;        /* of the object, "messages[3]";
                                                empty: the body itself */
    const ngx_str_t              *names;     /* lowerCamelCase */
    ngx_queues_base_json_value_t *values;
    ngx_uint_t                    n;
} ngx_queues_api_pubsub_object_t;


#pragma GCC visibility push(hidden)


extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_publish_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_pull_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_ack_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_topics_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_subs_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_config_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_seek_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_snaps_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_pubsub_none_routes[];


/*
 * Bodies, as proto3 has them in JSON: members have two spellings, null is as
 * good as nothing, and so is no body at all.  All of these return NGX_OK, or
 * NGX_ERROR after they have answered 400.
 */

/* The members of the body, and of an object in it; missing ones: type NULL. */
ngx_int_t ngx_queues_api_pubsub_body(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object);
ngx_int_t ngx_queues_api_pubsub_members(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value,
    ngx_queues_api_pubsub_object_t *object);

/*
 * A member's value, by its number; what is given for it is untouched where it
 * is missing.  A string is decoded.
 */
ngx_int_t ngx_queues_api_pubsub_string(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_str_t *text);
ngx_int_t ngx_queues_api_pubsub_integer(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, int64_t *n);
ngx_int_t ngx_queues_api_pubsub_bool(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_uint_t *flag);
ngx_int_t ngx_queues_api_pubsub_duration(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i,
    ngx_queues_base_proto_duration_t *duration);
ngx_int_t ngx_queues_api_pubsub_time(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, int64_t *ms);

/* That a member, unless it is missing, is an array: with n elements. */
ngx_int_t ngx_queues_api_pubsub_array(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_uint_t *n);

/* Answers that a member's value is wrong; what begins with a verb. */
void ngx_queues_api_pubsub_invalid(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, const char *what);

/* The same of a field by its whole name, JSON text. */
void ngx_queues_api_pubsub_violation(ngx_queues_api_t *api, ngx_str_t *field,
    const char *what);

/* Only the details of that error: for one that has a message of its own. */
ngx_int_t ngx_queues_api_pubsub_violated(ngx_queues_api_t *api,
    ngx_str_t *field, const char *what, ngx_str_t *details);


/* Answers 404 for a resource: the one of the path, where id is NULL. */
void ngx_queues_api_pubsub_not_found(ngx_queues_api_t *api, ngx_str_t *id);

/* Answers the outcome of a store operation that was not OK. */
void ngx_queues_api_pubsub_store_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);

/*
 * The full name of a resource of the request's project, "projects/P/topics/T".
 * An empty id is that of a topic which was deleted.
 */
size_t ngx_queues_api_pubsub_name_length(ngx_queues_api_t *api,
    ngx_queues_base_resource_e kind, ngx_str_t *id);
u_char *ngx_queues_api_pubsub_name(u_char *p, ngx_queues_api_t *api,
    ngx_queues_base_resource_e kind, ngx_str_t *id);

/* Answers 200 with {}. */
void ngx_queues_api_pubsub_empty(ngx_queues_api_t *api);

/* The done of a store call after which there is nothing to tell. */
void ngx_queues_api_pubsub_done(void *data,
    ngx_queues_store_result_t *result);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_PUBSUB_H_INCLUDED_ */
