
/*
 * Operations as queues_metrics counts them: by their names, of which several
 * routes may have the same.
 */

#include "ngx_queues_api.h"
#include "ngx_queues_api_metrics.h"


#define NGX_QUEUES_API_ROUTES_MAX  256


/* calls that move messages; those that receive may wait */
typedef struct {
    ngx_str_t                  name;
    ngx_queues_stat_api_e      api;
    ngx_queues_stat_move_e     move;
} ngx_queues_api_mover_t;


typedef struct {
    const ngx_queues_api_surface_t  *surface;
    ngx_uint_t                       first;       /* of its routes */
} ngx_queues_api_numbered_t;


static ngx_int_t ngx_queues_api_operations_of(
    ngx_queues_api_numbered_t *numbered,
    const ngx_queues_api_surface_t *surface);
static ngx_uint_t ngx_queues_api_operation_find(const ngx_str_t *name);
static ngx_int_t ngx_queues_api_operation_add(const ngx_str_t *name);
static ngx_queues_api_operation_t *ngx_queues_api_operation_of(
    ngx_queues_api_t *api);


static const ngx_queues_api_mover_t  ngx_queues_api_movers[] = {
    { ngx_string("SendMessages"),
      NGX_QUEUES_STAT_QUEUES, NGX_QUEUES_STAT_SENT },
    { ngx_string("ReceiveMessages"),
      NGX_QUEUES_STAT_QUEUES, NGX_QUEUES_STAT_RECEIVED },
    { ngx_string("AcknowledgeMessages"),
      NGX_QUEUES_STAT_QUEUES, NGX_QUEUES_STAT_ACKNOWLEDGED },
    { ngx_string("QueenPush"),
      NGX_QUEUES_STAT_QUEEN, NGX_QUEUES_STAT_SENT },
    { ngx_string("QueenPop"),
      NGX_QUEUES_STAT_QUEEN, NGX_QUEUES_STAT_RECEIVED },
    { ngx_string("QueenPopPartition"),
      NGX_QUEUES_STAT_QUEEN, NGX_QUEUES_STAT_RECEIVED },
    { ngx_string("QueenPopLabels"),
      NGX_QUEUES_STAT_QUEEN, NGX_QUEUES_STAT_RECEIVED },
    { ngx_string("QueenAcknowledge"),
      NGX_QUEUES_STAT_QUEEN, NGX_QUEUES_STAT_ACKNOWLEDGED },
    { ngx_string("QueenAcknowledgeBatch"),
      NGX_QUEUES_STAT_QUEEN, NGX_QUEUES_STAT_ACKNOWLEDGED },
    { ngx_string("PubsubPublish"),
      NGX_QUEUES_STAT_PUBSUB, NGX_QUEUES_STAT_SENT },
    { ngx_string("PubsubPull"),
      NGX_QUEUES_STAT_PUBSUB, NGX_QUEUES_STAT_RECEIVED },
    { ngx_string("PubsubAcknowledge"),
      NGX_QUEUES_STAT_PUBSUB, NGX_QUEUES_STAT_ACKNOWLEDGED },
    { ngx_null_string, 0, 0 }
};


/* the first one is what no route is at; set before any worker is there */

static ngx_queues_api_operation_t
    ngx_queues_api_operation_table[NGX_QUEUES_API_ROUTES_MAX];
static ngx_uint_t   ngx_queues_api_noperations;
static ngx_uint_t   ngx_queues_api_nwaits;

/* of routes, those of one surface after those of another */

static uint8_t      ngx_queues_api_route_numbers[NGX_QUEUES_API_ROUTES_MAX];
static ngx_uint_t   ngx_queues_api_nroutes;

static ngx_queues_api_numbered_t
    ngx_queues_api_numbered[NGX_QUEUES_API_SURFACES_MAX];


ngx_int_t
ngx_queues_api_operations(ngx_conf_t *cf, ngx_queues_conf_main_t *qmcf)
{
    ngx_uint_t  i;

    static const ngx_str_t  unknown = ngx_string("unknown");

    ngx_queues_api_noperations = 0;
    ngx_queues_api_nwaits = 0;
    ngx_queues_api_nroutes = 0;

    (void) ngx_queues_api_operation_add(&unknown);

    for (i = 0; ngx_queues_api_surfaces[i]; i++) {

        if (i == NGX_QUEUES_API_SURFACES_MAX
            || ngx_queues_api_operations_of(&ngx_queues_api_numbered[i],
                                            ngx_queues_api_surfaces[i])
               != NGX_OK)
        {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "there are too many operations to be counted");
            return NGX_ERROR;
        }
    }

    qmcf->operations = ngx_queues_api_noperations;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_operations_of(ngx_queues_api_numbered_t *numbered,
    const ngx_queues_api_surface_t *surface)
{
    ngx_uint_t                            n;
    const ngx_queues_api_route_t         *route;
    const ngx_queues_api_route_t *const  *t;

    numbered->surface = surface;
    numbered->first = ngx_queues_api_nroutes;

    for (t = surface->tables; *t; t++) {

        for (route = *t; route->method; route++) {
            n = ngx_queues_api_operation_find(&route->name);

            if (ngx_queues_api_nroutes == NGX_QUEUES_API_ROUTES_MAX
                || (n == ngx_queues_api_noperations
                    && ngx_queues_api_operation_add(&route->name) != NGX_OK))
            {
                return NGX_ERROR;
            }

            ngx_queues_api_route_numbers[ngx_queues_api_nroutes++] = n;
        }
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_api_operation_find(const ngx_str_t *name)
{
    ngx_uint_t                   i;
    ngx_queues_api_operation_t  *o;

    for (i = 0; i < ngx_queues_api_noperations; i++) {
        o = &ngx_queues_api_operation_table[i];

        if (o->name->len == name->len
            && ngx_memcmp(o->name->data, name->data, name->len) == 0)
        {
            break;
        }
    }

    return i;
}


static ngx_int_t
ngx_queues_api_operation_add(const ngx_str_t *name)
{
    ngx_queues_api_operation_t    *o;
    const ngx_queues_api_mover_t  *m;

    if (ngx_queues_api_noperations == NGX_QUEUES_API_ROUTES_MAX) {
        return NGX_ERROR;
    }

    o = &ngx_queues_api_operation_table[ngx_queues_api_noperations++];

    o->name = name;
    o->api = NGX_QUEUES_STAT_NAPIS;
    o->wait = -1;

    for (m = ngx_queues_api_movers; m->name.len; m++) {

        if (m->name.len != name->len
            || ngx_memcmp(m->name.data, name->data, name->len) != 0)
        {
            continue;
        }

        o->api = m->api;
        o->move = m->move;

        if (m->move == NGX_QUEUES_STAT_RECEIVED) {

            if (ngx_queues_api_nwaits == NGX_QUEUES_CONF_WAITS) {
                return NGX_ERROR;
            }

            o->wait = ngx_queues_api_nwaits++;
        }
    }

    return NGX_OK;
}


const ngx_queues_api_operation_t *
ngx_queues_api_operation(ngx_uint_t n)
{
    return n < ngx_queues_api_noperations ? &ngx_queues_api_operation_table[n]
                                          : NULL;
}


static ngx_queues_api_operation_t *
ngx_queues_api_operation_of(ngx_queues_api_t *api)
{
    ngx_queues_api_numbered_t  *s;

    if (api->route == NULL) {
        return ngx_queues_api_operation_table;
    }

    for (s = ngx_queues_api_numbered; s->surface != api->surface; s++) {
        /* void */
    }

    return &ngx_queues_api_operation_table[
                        ngx_queues_api_route_numbers[s->first + api->number]];
}


void
ngx_queues_api_over(ngx_queues_http_op_t *op, ngx_uint_t status)
{
    ngx_queues_api_t *api = op->data;

    uint64_t                      us;
    ngx_uint_t                    n;
    ngx_queues_api_operation_t   *o;
    ngx_queues_stat_counters_t   *c;

    o = ngx_queues_api_operation_of(api);
    n = o - ngx_queues_api_operation_table;

    c = ngx_queues_stat_counters;
    us = ngx_queues_stat_now() - api->since;

    ngx_queues_stat_request(c->operations[n].statuses, status);

    if (api->route == NULL && api->surface == &ngx_queues_api_queen_surface) {
        ngx_queues_stat_request(c->unrouted, status);
    }

    if (op->parked && o->wait >= 0) {
        ngx_queues_stat_observe(&c->waits[o->wait], us);

    } else {
        ngx_queues_stat_observe(&c->operations[n].time, us);
    }

    if (o->api != NGX_QUEUES_STAT_NAPIS && op->note->messages > 0
        && status < NGX_HTTP_BAD_REQUEST)
    {
        ngx_queues_stat_add(messages[o->move][o->api], op->note->messages);
    }
}


/* of how long it took nothing is known that could be compared */

void
ngx_queues_api_over_nginx(ngx_uint_t status)
{
    ngx_queues_stat_request(ngx_queues_stat_counters->operations[0].statuses,
                            status);
}
