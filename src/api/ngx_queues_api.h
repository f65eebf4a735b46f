
/*
 * The routes of the APIs.  Each file of routes exports one constant table, and
 * a constant record, the API's surface, lists those of one API; the router
 * finds the route, checks the credential, reads the body and calls the route's
 * start, which makes one store call and answers in its done.
 */

#ifndef _NGX_QUEUES_API_H_INCLUDED_
#define _NGX_QUEUES_API_H_INCLUDED_


#include "../base/ngx_queues_base_json.h"
#include "../base/ngx_queues_base_path.h"
#include "../base/ngx_queues_base_text.h"
#include "../base/ngx_queues_base_id.h"
#include "../conf/ngx_queues_conf.h"
#include "../auth/ngx_queues_auth.h"
#include "../store/ngx_queues_store_push.h"
#include "../http/ngx_queues_http.h"


/* the errors of the APIs; each surface has a table of what they are to it */
typedef enum {
    NGX_QUEUES_API_INVALID_JSON = 0,
    NGX_QUEUES_API_INVALID_ARGUMENT,
    NGX_QUEUES_API_UNAUTHENTICATED,
    NGX_QUEUES_API_PERMISSION_DENIED,
    NGX_QUEUES_API_QUEUE_NOT_FOUND,
    NGX_QUEUES_API_SUBSCRIPTION_NOT_FOUND,
    NGX_QUEUES_API_PARTITION_NOT_FOUND,
    NGX_QUEUES_API_MESSAGE_NOT_FOUND,
    NGX_QUEUES_API_NOT_FOUND,
    NGX_QUEUES_API_METHOD_NOT_ALLOWED,
    NGX_QUEUES_API_QUEUE_EXISTS,
    NGX_QUEUES_API_SUBSCRIPTION_EXISTS,
    NGX_QUEUES_API_IDEMPOTENCY_CONFLICT,
    NGX_QUEUES_API_QUEUE_IN_USE,
    NGX_QUEUES_API_REQUEST_TOO_LARGE,
    NGX_QUEUES_API_UNSUPPORTED_MEDIA_TYPE,
    NGX_QUEUES_API_RATE_LIMITED,
    NGX_QUEUES_API_INTERNAL,
    NGX_QUEUES_API_UNAVAILABLE,

    NGX_QUEUES_API_FAILED_PRECONDITION,  /* of Pub/Sub alone: */
    NGX_QUEUES_API_RESOURCE_EXISTS,
    NGX_QUEUES_API_ABORTED,
    NGX_QUEUES_API_UNIMPLEMENTED,
    NGX_QUEUES_API_NERRORS
} ngx_queues_api_error_e;


/*
 * Bytes of a body that is no message.  A receive keeps its own while it waits,
 * so that must be small.
 */
#define NGX_QUEUES_API_SMALL_BODY    65536
#define NGX_QUEUES_API_RECEIVE_BODY  4096


/* ranges that several calls share, in seconds */
#define NGX_QUEUES_API_VISIBILITY_MAX  43200
#define NGX_QUEUES_API_WAIT_MAX        20
#define NGX_QUEUES_API_DELAY_MAX       900

#define NGX_QUEUES_API_QUEUE_NAME_MAX  80


/* the message of an error that two places tell */
#define NGX_QUEUES_API_NO_SUBSCRIPTION                                        \
    "There is no subscription \"%V\" in the project."


/* the parameters of all lists, the last ones of their queries */
#define NGX_QUEUES_API_PAGE_NAMES  ngx_string("pageSize"),                    \
                                   ngx_string("pageToken")

#define NGX_QUEUES_API_PAGE_END                                               \
    (sizeof("],\"nextPageToken\":\"\"}") + NGX_QUEUES_BASE_HANDLE_TEXT_MAX)


/* what a request's body is */
typedef enum {
    NGX_QUEUES_API_NO_BODY = 0,
    NGX_QUEUES_API_BODY,                 /* JSON, of a JSON media type */
    NGX_QUEUES_API_ANY_BODY              /* JSON, whatever the header says */
} ngx_queues_api_body_e;


typedef struct ngx_queues_api_s  ngx_queues_api_t;

typedef void (*ngx_queues_api_start_pt)(ngx_queues_api_t *api);


typedef struct {
    ngx_uint_t                    method;
    ngx_str_t                     path;        /* a template of src/base */
    ngx_str_t                     name;        /* of the call, for the log */
    ngx_uint_t                    group;       /* NGX_QUEUES_CONF_LIVE ... */
    ngx_str_t                     permission;  /* empty: no credential */
    ngx_queues_api_body_e         body;
    size_t                        max;         /* bytes of a body, 0: nginx'
                                                  own limit */
    ngx_queues_api_start_pt       start;
} ngx_queues_api_route_t;


/* the most braces of a route's path */
#define NGX_QUEUES_API_CAPTURES  3


/* an error of an API */
typedef struct {
    ngx_uint_t                    status;      /* 0: it is none of the API's */
    ngx_str_t                     code;
} ngx_queues_api_code_t;


/* an error as it is answered: by src/api/ngx_queues_api_error.c */
typedef struct {
    ngx_queues_api_error_e        error;
    ngx_uint_t                    status;
    ngx_str_t                     code;
    ngx_str_t                     message;
    ngx_str_t                    *field;       /* JSON text, or NULL; of Pub/Sub
                                                  what "details" has */
} ngx_queues_api_told_t;


#define NGX_QUEUES_API_SURFACES_MAX  8


/* bytes of an error's answer beside its texts, and of what replaces those */
#define NGX_QUEUES_API_ERROR_MAX  128


/* what tells the APIs apart, one constant record each */
typedef struct {
    ngx_uint_t                    parts;       /* of locations, as group */
    ngx_str_t                     prefix;      /* of its paths, or empty */
    const ngx_queues_api_route_t *const *tables; /* the most frequent first,
                                                    NULL ends them */

    const ngx_queues_api_code_t  *codes;       /* by the error's number */

    /* the names in the path, and the project: as ngx_queues_api_find() */
    ngx_int_t                   (*names)(ngx_queues_api_t *api,
                                         ngx_queues_conf_loc_t *qlcf);

    /* writes the body of an error; api is NULL for one of nginx itself */
    u_char                     *(*error)(u_char *p, ngx_queues_api_t *api,
                                         ngx_queues_api_told_t *told);

    /* headers of an error of nginx itself; may be NULL */
    ngx_int_t                   (*headers)(ngx_http_request_t *r);

    ngx_uint_t                    loose;       /* as of credentials, see
                                                  ngx_queues_auth_bearer() */
    ngx_str_t                     charset;     /* of answers; may be empty */
    ngx_uint_t                    tail;        /* so many segments at the end
                                                  of a path are its routes',
                                                  0: all */
    ngx_uint_t                    verbs;       /* a ':' in a path's end, unless
                                                  it is escaped, begins a verb,
                                                  which is part of no name */
    ngx_uint_t                    controls;    /* control characters may be in
                                                  names: nginx itself refuses
                                                  %00 in a path */
} ngx_queues_api_surface_t;


/* one request, in its operation's pool */
struct ngx_queues_api_s {
    ngx_queues_http_op_t         *op;
    const ngx_queues_api_surface_t *surface;
    const ngx_queues_api_route_t *route;
    ngx_queues_conf_main_t       *qmcf;

    ngx_queues_auth_principal_t  *principal;   /* NULL: everyone may */
    ngx_queues_base_glob_scope_e  scope;

    ngx_str_t                     captures[NGX_QUEUES_API_CAPTURES];
                                               /* in the request's pool */

    ngx_str_t                     root;        /* "ngxq:{org/project}" */
    ngx_str_t                     project;     /* "org/project", in root */
    ngx_str_t                     queue;       /* as in the path, decoded */
    ngx_str_t                     ref;         /* and as the store has it */
    ngx_str_t                     subscription; /* the same of one */
    ngx_str_t                     sub;         /* empty: there can be none */

    ngx_queues_api_error_e        error;       /* found before the body */
    ngx_str_t                     wrong;       /* a name that cannot be one */
    const char                   *refused;     /* why a JWT was, or NULL */
    ngx_uint_t                    allow;       /* methods, for a 405 */
    ngx_uint_t                    retry_after; /* seconds, 0: one */
    ngx_uint_t                    groups;      /* of the routes at the path */
    ngx_queues_api_start_pt       next;        /* after a look at a queue */

    ngx_queues_conf_limits_t     *limits;      /* NULL: none */
    uint64_t                      spelling;    /* the queue's key in the rate
                                                  limit, 0: not counted */
    uint64_t                      counted;     /* where a token was taken */
    const char                   *over;        /* the limit: what has none */
    ngx_uint_t                    repeats;     /* of a call, by the route */

    ngx_uint_t                    number;      /* of the route in its surface */
    uint64_t                      since;       /* us, when the request came */

    void                         *data;        /* of the route */
};


#pragma GCC visibility push(hidden)


extern const ngx_queues_api_route_t  ngx_queues_api_queues_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_messages_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_receipts_routes[];
extern const ngx_queues_api_route_t  ngx_queues_api_subscriptions_routes[];


extern const ngx_queues_api_surface_t  ngx_queues_api_queues_surface;
extern const ngx_queues_api_surface_t  ngx_queues_api_queen_surface;
extern const ngx_queues_api_surface_t  ngx_queues_api_pubsub_surface;
extern const ngx_queues_api_surface_t  ngx_queues_api_oidc_surface;
extern const ngx_queues_api_surface_t  ngx_queues_api_health_surface;
extern const ngx_queues_api_surface_t  ngx_queues_api_metrics_surface;


/* of the Queues API and of those that have its codes */
extern const ngx_queues_api_code_t  ngx_queues_api_codes[];


/* All APIs, NGX_QUEUES_API_SURFACES_MAX at most; NULL ends them. */
extern const ngx_queues_api_surface_t *const  ngx_queues_api_surfaces[];

/* The API of a location with these parts; NULL: what is there is none. */
const ngx_queues_api_surface_t *ngx_queues_api_surface(ngx_uint_t parts);

/*
 * The API that an answer of nginx itself is for, also where nginx had not got
 * to a location; NULL: it is for none.
 */
const ngx_queues_api_surface_t *ngx_queues_api_surface_of(
    ngx_http_request_t *r);


/* The error of one, in the words of the Queues API. */
u_char *ngx_queues_api_queues_error(u_char *p, ngx_queues_api_t *api,
    ngx_queues_api_told_t *told);

/* The content handler of a location with an API. */
ngx_int_t ngx_queues_api_handler(ngx_http_request_t *r);

/* And of one with the web page. */
ngx_int_t ngx_queues_api_dashboard_handler(ngx_http_request_t *r);

/*
 * Finds the route of a request and the names in its path.  NGX_DECLINED with
 * api->error set where there is none, or NGX_ERROR.
 */
ngx_int_t ngx_queues_api_find(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);

/* What the path has where the route's has "{name}"; empty: nothing. */
ngx_str_t ngx_queues_api_capture(ngx_queues_api_t *api, const char *name);

/* Makes the root of a project.  NGX_ERROR when out of memory. */
ngx_int_t ngx_queues_api_set_project(ngx_queues_api_t *api, ngx_str_t *org,
    ngx_str_t *project);

/*
 * Gives each operation its number for queues_metrics.  Is called once before
 * any request.  NGX_ERROR after an [emerg].
 */
ngx_int_t ngx_queues_api_operations(ngx_conf_t *cf,
    ngx_queues_conf_main_t *qmcf);

/* Counts a request that has ended: op->over. */
void ngx_queues_api_over(ngx_queues_http_op_t *op, ngx_uint_t status);

/* Counts one that nginx has refused before there was an operation. */
void ngx_queues_api_over_nginx(ngx_uint_t status);

/* Callback of ngx_queues_http_filter_init(). */
ngx_int_t ngx_queues_api_nginx_error(ngx_http_request_t *r, ngx_uint_t status,
    ngx_str_t *body);

/*
 * 1 if the principal has the permission, NULL: the route's own, on the queue so
 * named.
 */
ngx_uint_t ngx_queues_api_permits(ngx_queues_api_t *api,
    ngx_str_t *permission, ngx_str_t *name);

/*
 * The same of a queue that was looked up by its id, or of a subscription's:
 * NGX_OK, or NGX_DECLINED, also where there is none, so that nothing is told.
 * NGX_DONE after it has answered that the store is away.
 */
ngx_int_t ngx_queues_api_named_permits(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


/* How the store has a queue that is written as in a path. */
ngx_int_t ngx_queues_api_ref(ngx_queues_api_t *api, ngx_str_t *queue,
    ngx_str_t *ref);

/* The same of a subscription; *sub is empty where none can be written so. */
ngx_int_t ngx_queues_api_sub(ngx_queues_api_t *api, ngx_str_t *subscription,
    ngx_str_t *sub);

/*
 * A queue that a body names as paths do: the text, where that is not NULL, and
 * how the store has it.  NGX_ERROR after it has answered.
 */
ngx_int_t ngx_queues_api_other(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    const ngx_str_t *field, ngx_str_t *text, ngx_str_t *ref);

/*
 * Goes on with next if the principal has the route's permission on that queue
 * too, or ref is empty; else answers 403.
 */
void ngx_queues_api_with_other(ngx_queues_api_t *api, ngx_str_t *ref,
    ngx_queues_api_start_pt next);


/*
 * The request's Idempotency-Key.  NGX_OK with *once, or with NULL where there
 * is none; NGX_ERROR after it has answered.
 */
ngx_int_t ngx_queues_api_idempotency(ngx_queues_api_t *api, const char *call,
    ngx_queues_store_once_t **once);

/*
 * A new resource's ids: id has NGX_QUEUES_BASE_SHORT_LEN bytes, uuid
 * NGX_QUEUES_BASE_UUID_LEN.  NGX_ERROR after it has answered.
 */
ngx_int_t ngx_queues_api_new_id(ngx_queues_api_t *api, u_char *id,
    u_char *uuid);


/*
 * Counts a call that is permitted against queues_rate_limit.  NGX_DECLINED with
 * api->error set where it is over a limit.
 */
ngx_int_t ngx_queues_api_limit(ngx_queues_api_t *api);

/*
 * Tells the limit the id of the call's queue, which may be spelled otherwise
 * in its path.  Every done that gets to know the id calls it, also where the
 * client has gone.
 */
void ngx_queues_api_limit_learn(ngx_queues_api_t *api, uint64_t queue);


/*
 * Receipt handles.  NGX_ERROR after it has answered that too many invalid ones
 * have come from the client's address; counts some more of them.
 */
ngx_int_t ngx_queues_api_handle_limit(ngx_queues_api_t *api);
void ngx_queues_api_handle_count(ngx_queues_api_t *api, ngx_uint_t n);

/* As ngx_queues_base_handle_parse(); raw is the content of a JSON string. */
ngx_int_t ngx_queues_api_handle_open(ngx_queues_api_t *api, ngx_str_t *raw,
    ngx_queues_base_handle_t *handle, u_char *buf);


/*
 * Answers an error.  field is the one to blame, JSON text without quotes, or
 * NULL; the message is a format of ngx_sprintf() whose result is escaped.
 */
void ngx_queues_api_error(ngx_queues_api_t *api, ngx_queues_api_error_e error,
    ngx_str_t *field, const char *fmt, ...);

/* Answers the outcome of a store operation that was not OK. */
void ngx_queues_api_store_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);

/*
 * Answers that there is no such queue as api->queue; name is the field that
 * named it, or NULL.
 */
void ngx_queues_api_no_queue(ngx_queues_api_t *api, const ngx_str_t *name);

/* Answers 503 for a worker that is out of memory. */
void ngx_queues_api_no_memory(ngx_queues_api_t *api);

/* Headers that let a page of any origin call the receipt routes. */
ngx_int_t ngx_queues_api_cors(ngx_http_request_t *r);

/* The start of their preflight. */
void ngx_queues_api_preflight(ngx_queues_api_t *api);


/* 1 for the value of a Content-Type header that is JSON in UTF-8. */
ngx_uint_t ngx_queues_api_json_type(ngx_str_t *type);


/*
 * Reading of bodies.  All of these return NGX_OK, or NGX_ERROR after they have
 * answered the error.  prefix and field are JSON text for the error's "field".
 */

/* The whole body as an object; an empty body is "{}" where empty is set. */
ngx_int_t ngx_queues_api_body(ngx_queues_api_t *api, ngx_uint_t empty,
    ngx_queues_base_json_value_t *value);

/*
 * The members of an object by their names: n values, of which those that are
 * missing have type NULL, as null means the same.
 */
ngx_int_t ngx_queues_api_members(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *object, ngx_str_t *prefix,
    const ngx_str_t *names, ngx_uint_t n,
    ngx_queues_base_json_value_t *values);

/* An integer from min to max; *n is untouched where it is missing. */
ngx_int_t ngx_queues_api_integer(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    const ngx_str_t *name, int64_t min, int64_t max, int64_t *n);

/* Answers 400 for a field. */
void ngx_queues_api_invalid(ngx_queues_api_t *api, ngx_str_t *prefix,
    const ngx_str_t *name, const char *what);


/*
 * Reads the query: n values by their names, without data where they are
 * missing; of several with one name the first one counts.  odd is the first
 * parameter that is not known or there again, without data where there is none.
 * NGX_DECLINED where what follows is not well-formed; NGX_ERROR after it has
 * answered.
 */
ngx_int_t ngx_queues_api_query_read(ngx_queues_api_t *api,
    const ngx_str_t *names, ngx_uint_t n, ngx_str_t *values, ngx_str_t *odd);

/*
 * The parameters of the query by their names: n values, without data where
 * they are missing.
 */
ngx_int_t ngx_queues_api_query(ngx_queues_api_t *api, const ngx_str_t *names,
    ngx_uint_t n, ngx_str_t *values);

/* An integer of the query; *n is untouched where it is missing. */
ngx_int_t ngx_queues_api_query_integer(ngx_queues_api_t *api,
    ngx_str_t *value, const ngx_str_t *name, ngx_uint_t min, ngx_uint_t max,
    ngx_uint_t *n);


/*
 * Pages of lists.  kind, a constant, tells the lists of a project apart: their
 * tokens are not each other's.  Reads pageSize and pageToken, the two values
 * of the query: *after is the last one of the page before.  NGX_ERROR after it
 * has answered.
 */
ngx_int_t ngx_queues_api_page(ngx_queues_api_t *api, const char *kind,
    ngx_str_t *values, ngx_uint_t *size, ngx_str_t *after);

/*
 * Writes the end of a page's answer, NGX_QUEUES_API_PAGE_END bytes at most, and
 * returns the end; last is NULL where no page follows.  NULL after it has
 * answered.
 */
u_char *ngx_queues_api_page_end(ngx_queues_api_t *api, const char *kind,
    u_char *p, ngx_str_t *last);


/* Room for an answer in the request's pool; NULL after it has answered. */
u_char *ngx_queues_api_alloc(ngx_queues_api_t *api, size_t size);

/* Answers with the JSON that was written from start to end. */
void ngx_queues_api_answer(ngx_queues_api_t *api, ngx_uint_t status,
    u_char *start, u_char *end);

/* Starts a store call that reads nothing: whether it is there. */
void ngx_queues_api_ping(ngx_queues_api_t *api, ngx_queues_store_done_pt done);

/* The done of a store call after which there is nothing to tell: 204. */
void ngx_queues_api_no_content(void *data, ngx_queues_store_result_t *result);

/*
 * Holds the operation for a store call that was started with rc; answers where
 * that failed.  The done handler releases.
 */
void ngx_queues_api_started(ngx_queues_api_t *api, ngx_int_t rc);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_H_INCLUDED_ */
