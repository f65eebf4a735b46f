
/*
 * The Pub/Sub API: what the files of its resources share.
 *
 * The store keeps what a resource has as the text of its members in JSON, as
 * it is answered.  A patch reads it, lays the fields of its mask over it, and
 * writes it anew if nobody else has done so meanwhile.
 */

#ifndef _NGX_QUEUES_API_PUBSUB_RESOURCE_H_INCLUDED_
#define _NGX_QUEUES_API_PUBSUB_RESOURCE_H_INCLUDED_


#include "ngx_queues_api_pubsub.h"


/* how often a patch is tried where others change the same */
#define NGX_QUEUES_API_PUBSUB_TRIES   10

/* seconds: the shortest and the longest a message is kept for */
#define NGX_QUEUES_API_PUBSUB_RETENTION_MIN  600
#define NGX_QUEUES_API_PUBSUB_RETENTION_MAX  2678400


/* a duration that may be missing */
typedef struct {
    ngx_uint_t                        given;     /* unsigned  given:1; */
    ngx_queues_base_proto_duration_t  value;
} ngx_queues_api_pubsub_time_t;


/* a kind of resources: how lists and answers have them */
typedef struct {
    ngx_queues_base_resource_e        kind;
    ngx_str_t                         name;      /* of a list's member */
    ngx_uint_t                        ncolumns;  /* of a row of results */
    ngx_uint_t                        column;    /* of a row's name */

    /* NULL: the full name, as a string */
    size_t                          (*length)(ngx_queues_api_t *api,
                                              ngx_queues_store_value_t *row);
    u_char                         *(*print)(u_char *p, ngx_queues_api_t *api,
                                             ngx_queues_store_value_t *row);

    ngx_int_t                       (*get)(ngx_str_t *root, ngx_str_t *name,
                                           ngx_queues_store_done_pt done,
                                           void *data);
} ngx_queues_api_pubsub_kind_t;


typedef void (*ngx_queues_api_pubsub_overlay_pt)(ngx_queues_api_t *api,
    ngx_queues_store_value_t *row);


/* a call of a resource under way, in api->data */
typedef struct {
    const ngx_queues_api_pubsub_kind_t *kind;
    ngx_uint_t                          row;     /* where in the result */
    ngx_uint_t                          empty;   /* the answer is {} */

    ngx_queues_api_pubsub_overlay_pt    overlay; /* of a patch, and what it has
                                                    for it */
    uint64_t                            bits;
    void                               *data;
} ngx_queues_api_pubsub_call_t;


typedef struct {
    ngx_uint_t                        size;
    ngx_str_t                         after;     /* empty: the first page */
} ngx_queues_api_pubsub_page_t;


#pragma GCC visibility push(hidden)


/*
 * Makes api->data of a list, with the page that the query asks for.  NGX_ERROR
 * after it has answered.
 */
ngx_int_t ngx_queues_api_pubsub_page(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind,
    ngx_queues_api_pubsub_page_t *page);

/*
 * Answers it.  Only what the principal may list is shown: a page may then be
 * short, its token goes on all the same.
 */
void ngx_queues_api_pubsub_listed(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind,
    ngx_queues_store_result_t *result);


/* Makes api->data of a call; NULL after it has answered. */
ngx_queues_api_pubsub_call_t *ngx_queues_api_pubsub_call(
    ngx_queues_api_t *api, const ngx_queues_api_pubsub_kind_t *kind,
    ngx_uint_t row);

/* The start of a route that answers the resource in its path. */
void ngx_queues_api_pubsub_get(ngx_queues_api_t *api,
    const ngx_queues_api_pubsub_kind_t *kind);

/* The done of a store call whose result is a resource, or a list of them. */
void ngx_queues_api_pubsub_resource_done(void *data,
    ngx_queues_store_result_t *result);
void ngx_queues_api_pubsub_list_done(void *data,
    ngx_queues_store_result_t *result);

/*
 * Reads the resource in the path and goes on with the call's overlay, which
 * starts an update with modified for its done: where another one was faster all
 * of it comes again.
 */
void ngx_queues_api_pubsub_modify(ngx_queues_api_t *api);
void ngx_queues_api_pubsub_modified(void *data,
    ngx_queues_store_result_t *result);


/* A new resource's short id; NGX_ERROR after it has answered. */
ngx_int_t ngx_queues_api_pubsub_new_id(ngx_queues_api_t *api, ngx_str_t *id);

/*
 * The body of a patch, {"<name>": {...}, "updateMask": "..."}: the members of
 * the resource, and the bits of the fields that are to change.  NGX_ERROR after
 * it has answered, also where there are none.
 */
ngx_int_t ngx_queues_api_pubsub_patch(ngx_queues_api_t *api,
    const ngx_str_t *name, ngx_queues_base_field_t *fields,
    ngx_queues_api_pubsub_object_t *object, uint64_t *bits);

/* The members that the store has, as an object; its text is in the pool. */
ngx_int_t ngx_queues_api_pubsub_stored(ngx_queues_api_t *api, ngx_str_t *text,
    ngx_queues_base_json_value_t *value);

/*
 * A member that is a map of labels: as canonical JSON, empty where there are
 * none.
 */
ngx_int_t ngx_queues_api_pubsub_labels(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_str_t *labels);

/*
 * Members that this server does not have, from the first of them up to the
 * last: they must be missing or empty.
 */
ngx_int_t ngx_queues_api_pubsub_refused(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t first, ngx_uint_t last);

/* A duration that is untouched where it is missing. */
ngx_int_t ngx_queues_api_pubsub_time_of(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i,
    ngx_queues_api_pubsub_time_t *time);

/* 1 if a duration is from min to max seconds. */
ngx_uint_t ngx_queues_api_pubsub_within(
    ngx_queues_base_proto_duration_t *duration, int64_t min, int64_t max);

/* Its seconds, rounded up. */
int64_t ngx_queues_api_pubsub_seconds(
    ngx_queues_base_proto_duration_t *duration);

/* The short id of a full name in this project; NGX_ERROR after an answer. */
ngx_int_t ngx_queues_api_pubsub_id_of(ngx_queues_api_t *api,
    ngx_str_t *name, ngx_queues_base_resource_e kind, ngx_str_t *id);

/*
 * NGX_OK if the principal has a further permission on a resource; NGX_ERROR
 * after it has answered 403.
 */
ngx_int_t ngx_queues_api_pubsub_may(ngx_queues_api_t *api,
    const char *permission, ngx_str_t *id);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_PUBSUB_RESOURCE_H_INCLUDED_ */
