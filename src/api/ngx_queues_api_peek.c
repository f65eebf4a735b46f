
#include "ngx_queues_api_queues.h"
#include "ngx_queues_api_messages.h"


#define NGX_QUEUES_API_PEEK      10
#define NGX_QUEUES_API_PEEK_MAX  100


typedef enum {
    NGX_QUEUES_API_PEEK_LIMIT = 0,
    NGX_QUEUES_API_PEEK_STATE,
    NGX_QUEUES_API_PEEK_NPARAMS
} ngx_queues_api_peek_param_e;


static ngx_int_t ngx_queues_api_peek_state(ngx_queues_api_t *api,
    ngx_str_t *value, ngx_queues_store_peek_e *state);
static void ngx_queues_api_peek_done(void *data,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_peek_names[] = {
    ngx_string("limit"),
    ngx_string("state")
};

/* in the order of the store's enum */

static const ngx_str_t  ngx_queues_api_peek_states[] = {
    ngx_string("visible"),
    ngx_string("inFlight"),
    ngx_string("delayed")
};


void
ngx_queues_api_peek(ngx_queues_api_t *api)
{
    ngx_str_t                 values[NGX_QUEUES_API_PEEK_NPARAMS];
    ngx_uint_t                limit;
    const ngx_str_t          *names;
    ngx_queues_store_peek_e   state;

    names = ngx_queues_api_peek_names;
    limit = NGX_QUEUES_API_PEEK;

    if (ngx_queues_api_query(api, names, NGX_QUEUES_API_PEEK_NPARAMS, values)
        != NGX_OK
        || ngx_queues_api_query_integer(api,
                                        &values[NGX_QUEUES_API_PEEK_LIMIT],
                                        &names[NGX_QUEUES_API_PEEK_LIMIT], 1,
                                        NGX_QUEUES_API_PEEK_MAX, &limit)
           != NGX_OK
        || ngx_queues_api_peek_state(api, &values[NGX_QUEUES_API_PEEK_STATE],
                                     &state)
           != NGX_OK)
    {
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_peek(&api->root, &api->ref, state, limit,
                              ngx_queues_api_peek_done, api));
}


static ngx_int_t
ngx_queues_api_peek_state(ngx_queues_api_t *api, ngx_str_t *value,
    ngx_queues_store_peek_e *state)
{
    ngx_uint_t        i;
    const ngx_str_t  *name, *states;

    name = &ngx_queues_api_peek_names[NGX_QUEUES_API_PEEK_STATE];
    states = ngx_queues_api_peek_states;

    if (value->data == NULL) {
        *state = NGX_QUEUES_STORE_PEEK_VISIBLE;
        return NGX_OK;
    }

    for (i = NGX_QUEUES_STORE_PEEK_VISIBLE;
         i <= NGX_QUEUES_STORE_PEEK_DELAYED;
         i++)
    {
        if (value->len == states[i].len
            && ngx_memcmp(value->data, states[i].data, value->len) == 0)
        {
            *state = i;
            return NGX_OK;
        }
    }

    ngx_queues_api_invalid(api, NULL, name,
                           "must be \"visible\", \"inFlight\" or \"delayed\"");

    return NGX_ERROR;
}


static void
ngx_queues_api_peek_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_limit_learn(api, result->place.queue);

    if (api->op->request) {

        if (result->code != NGX_QUEUES_STORE_OK) {
            ngx_queues_api_store_error(api, result);

        } else {
            (void) ngx_queues_api_messages_answer(api, NULL, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}
