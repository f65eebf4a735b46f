
/*
 * The Queen API: what its files of routes share.  Texts of names are canonical,
 * as ngx_queues_store_log.h says.
 */

#ifndef _NGX_QUEUES_API_QUEEN_H_INCLUDED_
#define _NGX_QUEUES_API_QUEEN_H_INCLUDED_


#include "ngx_queues_api.h"
#include "../base/ngx_queues_base_lane.h"
#include "../base/ngx_queues_base_moment.h"
#include "../store/ngx_queues_store_log.h"


/* bytes of a name, once canonical */
#define NGX_QUEUES_API_QUEEN_NAME_MAX     1024

/* the longest lease, seconds: a year */
#define NGX_QUEUES_API_QUEEN_LEASE_MAX    31536000

/* bytes of what is said of an ack */
#define NGX_QUEUES_API_QUEEN_VERDICT_MAX  64


/* an acknowledgement of a request */
typedef struct {
    ngx_str_t                     id;          /* of the transaction */
    ngx_queues_store_log_ack_t   *ack;         /* NULL: it never goes to the
                                                  store */
    const char                   *error;       /* and why */
} ngx_queues_api_queen_ack_t;


/* of answers with many messages: ngx_sprintf() costs more than the copying */

#define ngx_queues_api_queen_literal(p, text)                                 \
    ngx_cpymem(p, text, sizeof(text) - 1)

#define ngx_queues_api_queen_copy(p, text)                                    \
    ngx_cpymem(p, (text)->data, (text)->len)


#pragma GCC visibility push(hidden)


extern const ngx_queues_api_route_t  ngx_queues_api_queen_push_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_pop_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_ack_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_tx_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_lease_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_queen_health_routes[];


/* the group of those who name none */
#define NGX_QUEUES_API_QUEEN_NO_GROUP  "__QUEUE_MODE__"


/*
 * The members of a body that must be an object.  NGX_ERROR after it has
 * answered.
 */
ngx_int_t ngx_queues_api_queen_body(ngx_queues_api_t *api,
    const ngx_str_t *names, ngx_uint_t n,
    ngx_queues_base_json_value_t *values);

/*
 * The members of an object by their names: those that are missing have no
 * data and type NULL.  Others are passed over.  NGX_ERROR after it has
 * answered, where one of the names is there twice.
 */
ngx_int_t ngx_queues_api_queen_members(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *object, const ngx_str_t *names, ngx_uint_t n,
    ngx_queues_base_json_value_t *values);

/*
 * The same without an answer: the place among the names of one that is there
 * twice, NGX_DECLINED where all is well.  After both the object's end is known,
 * if it was entered.
 */
ngx_int_t ngx_queues_api_queen_read(ngx_queues_base_json_value_t *object,
    const ngx_str_t *names, ngx_uint_t n,
    ngx_queues_base_json_value_t *values);

/*
 * The number of elements of an array, NGX_ERROR after it has answered 400 for
 * another value or more than max.
 */
ngx_int_t ngx_queues_api_queen_count(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, const char *what, ngx_uint_t max);

/* The same for who counts while it reads: whether it is one, and the answer. */
ngx_int_t ngx_queues_api_queen_array(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const char *what);
void ngx_queues_api_queen_too_many(ngx_queues_api_t *api, const char *what,
    ngx_uint_t max);

/*
 * The canonical text of a checked string, which may be the string itself.
 * NGX_ERROR when out of memory.
 */
ngx_int_t ngx_queues_api_queen_canonical(ngx_queues_api_t *api,
    ngx_str_t *raw, ngx_str_t *text);

/*
 * The same of a name; *text is untouched where the value is null or missing.
 * NGX_ERROR after it has answered, also for another type or a text that is too
 * long.
 */
ngx_int_t ngx_queues_api_queen_string(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const char *what, ngx_str_t *text);

/* The same of a text of the path or the query. */
ngx_int_t ngx_queues_api_queen_text(ngx_queues_api_t *api, ngx_str_t *decoded,
    const char *what, ngx_str_t *text);

/* A new UUIDv7, behind those before; NGX_ERROR after it has answered. */
ngx_int_t ngx_queues_api_queen_uuid(ngx_queues_api_t *api, ngx_str_t *text);


/*
 * An item to push, of {"queue", "partition", "transactionId", "traceId",
 * "payload"}; loose: also "data" is taken for a payload, and none for {}.
 * NGX_ERROR after it has answered, also where the principal may not push to
 * the queue.
 */
ngx_int_t ngx_queues_api_queen_item(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_uint_t loose,
    ngx_queues_store_log_item_t *item);

/* Who pushes, as messages have it; NGX_ERROR after it has answered. */
ngx_int_t ngx_queues_api_queen_producer(ngx_queues_api_t *api,
    ngx_str_t *text);

/* Writes a message's id, a UUID. */
u_char *ngx_queues_api_queen_message_id(u_char *p,
    ngx_queues_store_lane_t *place, uint64_t offset, uint64_t ms);


/*
 * An acknowledgement, of {"transactionId", "partitionId", "leaseId", "status",
 * "error"}, with the group of an operation that names none.  NGX_OK with
 * item->ack set to ack, or with NULL where the store need not be asked;
 * NGX_ERROR after it has answered.
 */
ngx_int_t ngx_queues_api_queen_read_ack(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *group,
    ngx_queues_store_log_ack_t *ack, ngx_queues_api_queen_ack_t *item);

/* The group of a "consumerGroup"; NGX_ERROR after it has answered. */
ngx_int_t ngx_queues_api_queen_group(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *group);

/* What is said of an item after the store's call; NULL: it succeeded. */
const char *ngx_queues_api_queen_verdict(ngx_queues_api_queen_ack_t *item);


/*
 * Seals the payloads of those queues that are known to want it.  NGX_ERROR
 * after it has answered.
 */
ngx_int_t ngx_queues_api_queen_seal(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push);

/*
 * The same as the store has asked for it: then the call comes again.  NGX_ERROR
 * after it has answered.
 */
ngx_int_t ngx_queues_api_queen_reseal(ngx_queues_api_t *api,
    ngx_queues_store_log_push_t *push, ngx_queues_store_result_t *result);

/*
 * Opens a sealed payload; one that no key opens stays what it is.  NGX_ERROR
 * after it has answered.
 */
ngx_int_t ngx_queues_api_queen_unseal(ngx_queues_api_t *api,
    ngx_str_t *payload);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_QUEEN_H_INCLUDED_ */
