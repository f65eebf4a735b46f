
/*
 * Metrics: what this node has counted, for all its projects, and whether the
 * store answers.  Nobody is asked for a credential, so it costs next to nothing.
 */

#include "ngx_queues_api_queen_extra.h"
#include "../stat/ngx_queues_stat.h"

#include <sys/resource.h>


typedef struct {
    const char                   *name;     /* how an operation begins */
    ngx_queues_stat_call_e        call;
} ngx_queues_api_queen_counted_t;


static void ngx_queues_api_queen_metrics(ngx_queues_api_t *api);
static void ngx_queues_api_queen_metrics_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_prometheus(ngx_queues_api_t *api);
static void ngx_queues_api_queen_prometheus_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_prometheus_answer(ngx_queues_api_t *api,
    ngx_uint_t up);


static const ngx_queues_api_queen_counted_t
    ngx_queues_api_queen_counted[] =
{
    { "QueenPush", NGX_QUEUES_STAT_PUSH },
    { "QueenPop", NGX_QUEUES_STAT_POP },
    { "QueenAcknowledge", NGX_QUEUES_STAT_ACK },
    { "QueenTransaction", NGX_QUEUES_STAT_TRANSACTION },
    { "", NGX_QUEUES_STAT_OTHER }
};


static const char  *ngx_queues_api_queen_call_names[] = {
    "push", "pop", "ack", "transaction", "other"
};


static const char  *ngx_queues_api_queen_classes[] = { "2xx", "4xx", "5xx" };


const ngx_queues_api_route_t  ngx_queues_api_queen_metrics_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/metrics"),
      ngx_string("QueenMetrics"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_metrics },

    { NGX_HTTP_GET,
      ngx_string("/metrics/prometheus"),
      ngx_string("QueenMetrics"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_null_string,
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_prometheus },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


void
ngx_queues_api_queen_count_answer(ngx_queues_api_t *api, ngx_uint_t status)
{
    ngx_queues_http_note_t                *note;
    const ngx_queues_api_queen_counted_t  *c;

    note = api->op->note;
    c = ngx_queues_api_queen_counted;

    if (note->operation) {
        while (ngx_strncmp(note->operation->data, c->name,
                           ngx_strlen(c->name))
               != 0)
        {
            c++;
        }

    } else {
        c += NGX_QUEUES_STAT_OTHER;
    }

    ngx_queues_stat_count(api->qmcf, c->call, status,
                          note->messages > 0 && status < NGX_HTTP_BAD_REQUEST
                          ? note->messages : 0);
}


static void
ngx_queues_api_queen_metrics(ngx_queues_api_t *api)
{
    ngx_queues_api_ping(api, ngx_queues_api_queen_metrics_done);
}


static void
ngx_queues_api_queen_metrics_done(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    uint64_t                     total, uptime;
    ngx_uint_t                   i, k;
    struct rusage                usage;
    ngx_queues_stat_counts_t    *counts;
    ngx_queues_api_queen_out_t   out;

    if (api->op->request == NULL) {
        ngx_queues_http_op_release(api->op);
        return;
    }

    counts = ngx_queues_stat_counts(api->qmcf);
    uptime = ngx_max(ngx_time() - (time_t) counts->since, 1);
    total = 0;

    for (i = 0; i < NGX_QUEUES_STAT_NCALLS; i++) {
        for (k = 0; k < NGX_QUEUES_STAT_CLASSES; k++) {
            total += counts->requests[i][k];
        }
    }

    ngx_memzero(&usage, sizeof(usage));
    (void) getrusage(RUSAGE_SELF, &usage);

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'uptime':%d,'requests':{'total':%d,'rate':%d},'messages':{"
        "'pushed':%d,'popped':%d,'acknowledged':%d},"
        "'database':{'connected':%b},",
        uptime, total, total / uptime,
        (uint64_t) counts->messages[NGX_QUEUES_STAT_PUSH],
        (uint64_t) counts->messages[NGX_QUEUES_STAT_POP],
        (uint64_t) counts->messages[NGX_QUEUES_STAT_ACK],
        (ngx_uint_t) (result->code == NGX_QUEUES_STORE_OK));

    /* of this worker: the most memory it had, us it has run */

    ngx_queues_api_queen_write(&out,
        "'memory':{'maxRss':%d},'cpu':{'user':%d,'system':%d}}",
        (uint64_t) usage.ru_maxrss * 1024,
        (uint64_t) usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec,
        (uint64_t) usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec);

    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_queen_prometheus(ngx_queues_api_t *api)
{
    ngx_queues_api_ping(api, ngx_queues_api_queen_prometheus_done);
}


static void
ngx_queues_api_queen_prometheus_done(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    if (api->op->request) {
        ngx_queues_api_queen_prometheus_answer(api,
                                        result->code == NGX_QUEUES_STORE_OK);
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_queen_prometheus_answer(ngx_queues_api_t *api, ngx_uint_t up)
{
    ngx_uint_t                   i, k;
    ngx_queues_stat_counts_t    *counts;
    ngx_queues_api_queen_out_t   out;

    counts = ngx_queues_stat_counts(api->qmcf);

    ngx_queues_api_queen_open(api, &out);

    ngx_queues_api_queen_write(&out,
        "# HELP queen_up Whether the store answers.\n"
        "# TYPE queen_up gauge\n"
        "queen_up %d\n"
        "# HELP queen_start_time_seconds When this node began to count.\n"
        "# TYPE queen_start_time_seconds gauge\n"
        "queen_start_time_seconds %d\n"
        "# HELP queen_requests_total Calls of the Queen API that this node "
        "has answered.\n"
        "# TYPE queen_requests_total counter\n",
        (uint64_t) up, (uint64_t) counts->since);

    for (i = 0; i < NGX_QUEUES_STAT_NCALLS; i++) {
        for (k = 0; k < NGX_QUEUES_STAT_CLASSES; k++) {
            ngx_queues_api_queen_write(&out,
                "queen_requests_total{call='%c',code='%c'} %d\n",
                ngx_queues_api_queen_call_names[i],
                ngx_queues_api_queen_classes[k],
                (uint64_t) counts->requests[i][k]);
        }
    }

    ngx_queues_api_queen_write(&out,
        "# HELP queen_messages_pushed_total Items of pushes, with duplicates.\n"
        "# TYPE queen_messages_pushed_total counter\n"
        "queen_messages_pushed_total %d\n"
        "# HELP queen_messages_popped_total Messages that were delivered.\n"
        "# TYPE queen_messages_popped_total counter\n"
        "queen_messages_popped_total %d\n"
        "# HELP queen_messages_acknowledged_total Items of "
        "acknowledgements.\n"
        "# TYPE queen_messages_acknowledged_total counter\n"
        "queen_messages_acknowledged_total %d\n",
        (uint64_t) counts->messages[NGX_QUEUES_STAT_PUSH],
        (uint64_t) counts->messages[NGX_QUEUES_STAT_POP],
        (uint64_t) counts->messages[NGX_QUEUES_STAT_ACK]);

    if (!out.failed) {
        ngx_str_set(&api->op->type, "text/plain; version=0.0.4");
    }

    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}
