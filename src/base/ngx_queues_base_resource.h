
/*
 * Names of Pub/Sub's resources, "projects/P/topics/T", and their labels.  All
 * texts are decoded.
 */

#ifndef _NGX_QUEUES_BASE_RESOURCE_H_INCLUDED_
#define _NGX_QUEUES_BASE_RESOURCE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_PROJECT_MAX      64
#define NGX_QUEUES_BASE_RESOURCE_ID_MAX  255
#define NGX_QUEUES_BASE_LABELS_MAX       64     /* of a resource */
#define NGX_QUEUES_BASE_LABEL_MAX        63     /* characters */


typedef enum {
    NGX_QUEUES_BASE_RESOURCE_TOPIC = 0,
    NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
    NGX_QUEUES_BASE_RESOURCE_SNAPSHOT
} ngx_queues_base_resource_e;


typedef struct {
    ngx_str_t                     project;
    ngx_str_t                     id;
} ngx_queues_base_resource_t;


#pragma GCC visibility push(hidden)


/*
 * NGX_OK for the id of a topic, subscription or snapshot: 3 to 255 of
 * [A-Za-z0-9-_.~+%], a letter first, and not "goog" at its start; else
 * NGX_ERROR.
 */
ngx_int_t ngx_queues_base_resource_id(ngx_str_t *id);

/*
 * NGX_OK for the id of a project: 1 to NGX_QUEUES_BASE_PROJECT_MAX of
 * [A-Za-z0-9-_.:], a letter or digit first ("my.dom:p", and numbers); else
 * NGX_ERROR.  So it can be a part of keys of Redis and of resources in grants.
 */
ngx_int_t ngx_queues_base_resource_project(ngx_str_t *project);

/*
 * Takes the name of a resource of that kind apart; what is in *resource points
 * into it.  NGX_ERROR for one of another kind and where either id is wrong.
 */
ngx_int_t ngx_queues_base_resource_parse(ngx_str_t *name,
    ngx_queues_base_resource_e kind, ngx_queues_base_resource_t *resource);

/*
 * NGX_OK for the key of a label, a lower-case letter, then up to 62 of those,
 * digits, '_' and '-', and for a value, up to 63 of the same; else NGX_ERROR.
 * Characters that are not ASCII count as letters of lower case.  Both are
 * well-formed UTF-8.
 */
ngx_int_t ngx_queues_base_label_key(ngx_str_t *key);
ngx_int_t ngx_queues_base_label_value(ngx_str_t *value);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_RESOURCE_H_INCLUDED_ */
