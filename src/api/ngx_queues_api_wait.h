
/*
 * Calls that wait for messages: from the first try to the end of the request.
 * For src/api only.
 */

#ifndef _NGX_QUEUES_API_WAIT_H_INCLUDED_
#define _NGX_QUEUES_API_WAIT_H_INCLUDED_


#include "ngx_queues_api.h"


typedef struct ngx_queues_api_wait_s  ngx_queues_api_wait_t;


/* what tells the calls apart, one constant record each */
typedef struct {
    /*
     * Starts a call of the store whose done is, or ends with,
     * ngx_queues_api_waited().  NGX_ERROR when out of memory.
     */
    ngx_int_t                   (*try)(ngx_queues_api_t *api);

    /* messages of a result that is OK, and the short id of their queue */
    ngx_uint_t                  (*found)(ngx_queues_store_result_t *result);
    uint64_t                    (*queue)(ngx_queues_store_result_t *result);

    /* how long it waits after an empty first try, 0: not at all */
    ngx_msec_t                  (*ms)(ngx_queues_api_t *api,
                                      ngx_queues_store_result_t *result);

    /* what is to be known for later tries, and the line's part; may be NULL */
    void                        (*line)(ngx_queues_api_t *api,
                                        ngx_queues_store_result_t *result);

    /*
     * Takes off what one who came earlier gets of a result, or refuses to:
     * NGX_DECLINED.  NULL: nothing is passed on.
     */
    ngx_int_t                   (*cut)(ngx_queues_api_t *api,
                                       ngx_queues_api_t *earlier,
                                       ngx_queues_store_result_t *result,
                                       ngx_queues_store_result_t *part);

    /* NGX_ERROR after it has answered that it cannot */
    ngx_int_t                   (*answer)(ngx_queues_api_t *api,
                                          ngx_queues_store_result_t *result);

    /* gives back messages of a result; of an answer that nobody got */
    void                        (*undo)(ngx_queues_api_t *api,
                                        ngx_queues_store_result_t *result);
    void                        (*lost)(ngx_queues_api_t *api);

    void                        (*empty)(ngx_queues_api_t *api);
    void                        (*error)(ngx_queues_api_t *api,
                                         ngx_queues_store_result_t *result);

    /* ms for tries in a row, as one looks at a part of what there is; or 0 */
    ngx_msec_t                    looks;

    /* one whose name has another queue now waits there: else it is gone */
    ngx_uint_t                    follows;
} ngx_queues_api_waits_t;


/* api->data begins with it */
struct ngx_queues_api_wait_s {
    const ngx_queues_api_waits_t *calls;
    ngx_msec_t                    start;
    ngx_uint_t                    taken;       /* and not yet written */

    /* its line: of a queue, 0: of the project */
    uint64_t                      id;
    ngx_str_t                     part;
    u_char                        short_id[NGX_QUEUES_BASE_SHORT_LEN];
};


/* what a call has taken that receives: its own until the answer is written */
typedef struct {
    ngx_queues_store_place_t      place;
    uint64_t                      token;
    ngx_uint_t                    n;
    ngx_queues_base_spot_t       *spots;
} ngx_queues_api_claims_t;


#pragma GCC visibility push(hidden)


/* Sets wait, which is zeroed but for what the call has read, and tries. */
void ngx_queues_api_wait(ngx_queues_api_t *api, ngx_queues_api_wait_t *wait,
    const ngx_queues_api_waits_t *calls);

/* The done of a try: data is the api. */
void ngx_queues_api_waited(void *data, ngx_queues_store_result_t *result);


/*
 * What calls that receive share: found, queue and undo as above; keep remembers
 * what was taken, NGX_ERROR when out of memory; lost gives that back.
 */
ngx_uint_t ngx_queues_api_claims_found(ngx_queues_store_result_t *result);
uint64_t ngx_queues_api_claims_queue(ngx_queues_store_result_t *result);
void ngx_queues_api_claims_undo(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
ngx_int_t ngx_queues_api_claims_keep(ngx_queues_api_t *api,
    ngx_queues_api_claims_t *claims, ngx_queues_store_result_t *result);
void ngx_queues_api_claims_lost(ngx_queues_api_t *api,
    ngx_queues_api_claims_t *claims);

/*
 * Cuts the first messages off, max at most.  What would be left of a group of
 * a FIFO queue is given back: a group is with one receiver at a time.
 */
void ngx_queues_api_claims_cut(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result, ngx_uint_t max,
    ngx_queues_store_result_t *part);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_WAIT_H_INCLUDED_ */
