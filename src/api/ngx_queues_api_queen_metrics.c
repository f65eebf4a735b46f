
/*
 * Metrics: what this node has counted, for all its projects, and whether the
 * store answers.  Nobody is asked for a credential, so it costs next to nothing.
 * The numbers are those of queues_metrics, by other names.
 */

#include "ngx_queues_api_metrics.h"
#include "ngx_queues_api_queen_extra.h"

#include <sys/resource.h>


/* the last one is all others */
#define NGX_QUEUES_API_QUEEN_CALLS    5

#define NGX_QUEUES_API_QUEEN_CLASSES  3


/* in the order in which they are written */
typedef enum {
    NGX_QUEUES_API_QUEEN_UP = 0,
    NGX_QUEUES_API_QUEEN_START,
    NGX_QUEUES_API_QUEEN_REQUESTS,
    NGX_QUEUES_API_QUEEN_PUSHED,
    NGX_QUEUES_API_QUEEN_POPPED,
    NGX_QUEUES_API_QUEEN_ACKNOWLEDGED,
    NGX_QUEUES_API_QUEEN_NFAMILIES
} ngx_queues_api_queen_family_e;


typedef struct {
    const char                   *operation;  /* how it begins */
    ngx_str_t                     name;
} ngx_queues_api_queen_call_t;


typedef struct {
    uint64_t                      requests[NGX_QUEUES_API_QUEEN_CALLS]
                                          [NGX_QUEUES_API_QUEEN_CLASSES];
    uint64_t                      total;
    uint64_t                      messages[NGX_QUEUES_STAT_NMOVES];
} ngx_queues_api_queen_counts_t;


static ngx_int_t ngx_queues_api_queen_counted(ngx_queues_api_t *api,
    ngx_queues_api_queen_counts_t *counts);
static void ngx_queues_api_queen_count_statuses(
    ngx_queues_api_queen_counts_t *counts, ngx_uint_t call,
    ngx_atomic_t *statuses);
static void ngx_queues_api_queen_metrics(ngx_queues_api_t *api);
static void ngx_queues_api_queen_metrics_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_prometheus(ngx_queues_api_t *api);
static void ngx_queues_api_queen_prometheus_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_prometheus_answer(ngx_queues_api_t *api,
    ngx_uint_t up);


static const ngx_queues_api_queen_call_t
    ngx_queues_api_queen_calls[NGX_QUEUES_API_QUEEN_CALLS] =
{
    { "QueenPush", ngx_string("push") },
    { "QueenPop", ngx_string("pop") },
    { "QueenAcknowledge", ngx_string("ack") },
    { "QueenTransaction", ngx_string("transaction") },
    { "Queen", ngx_string("other") }
};


static const ngx_str_t
    ngx_queues_api_queen_classes[NGX_QUEUES_API_QUEEN_CLASSES] =
{
    ngx_string("2xx"),
    ngx_string("4xx"),
    ngx_string("5xx")
};


static const ngx_queues_api_family_t
    ngx_queues_api_queen_families[NGX_QUEUES_API_QUEEN_NFAMILIES] =
{
    [NGX_QUEUES_API_QUEEN_UP] =
        { ngx_string("queen_up"), ngx_string("gauge"),
          ngx_string("Whether the store answers.") },
    [NGX_QUEUES_API_QUEEN_START] =
        { ngx_string("queen_start_time_seconds"), ngx_string("gauge"),
          ngx_string("When this node began to count.") },
    [NGX_QUEUES_API_QUEEN_REQUESTS] =
        { ngx_string("queen_requests_total"), ngx_string("counter"),
          ngx_string("Calls of the Queen API that this node has "
                     "answered.") },
    [NGX_QUEUES_API_QUEEN_PUSHED] =
        { ngx_string("queen_messages_pushed_total"), ngx_string("counter"),
          ngx_string("Items of pushes, with duplicates.") },
    [NGX_QUEUES_API_QUEEN_POPPED] =
        { ngx_string("queen_messages_popped_total"), ngx_string("counter"),
          ngx_string("Messages that were delivered.") },
    [NGX_QUEUES_API_QUEEN_ACKNOWLEDGED] =
        { ngx_string("queen_messages_acknowledged_total"),
          ngx_string("counter"),
          ngx_string("Items of acknowledgements.") }
};


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


/* NGX_ERROR after it has answered */

static ngx_int_t
ngx_queues_api_queen_counted(ngx_queues_api_t *api,
    ngx_queues_api_queen_counts_t *counts)
{
    const char                        *begins;
    ngx_uint_t                         i, n;
    ngx_queues_stat_counters_t        *c;
    const ngx_queues_api_operation_t  *o;

    c = ngx_queues_stat_sum(api->qmcf, api->op->request->pool);
    if (c == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    ngx_memzero(counts, sizeof(ngx_queues_api_queen_counts_t));

    for (n = 0; (o = ngx_queues_api_operation(n)) != NULL; n++) {

        for (i = 0; i < NGX_QUEUES_API_QUEEN_CALLS; i++) {
            begins = ngx_queues_api_queen_calls[i].operation;

            if (ngx_strncmp(o->name->data, begins, ngx_strlen(begins)) == 0) {
                ngx_queues_api_queen_count_statuses(counts, i,
                                                    c->operations[n].statuses);
                break;
            }
        }
    }

    ngx_queues_api_queen_count_statuses(counts, NGX_QUEUES_API_QUEEN_CALLS - 1,
                                        c->unrouted);

    for (i = 0; i < NGX_QUEUES_STAT_NMOVES; i++) {
        counts->messages[i] = c->messages[i][NGX_QUEUES_STAT_QUEEN];
    }

    return NGX_OK;
}


static void
ngx_queues_api_queen_count_statuses(ngx_queues_api_queen_counts_t *counts,
    ngx_uint_t call, ngx_atomic_t *statuses)
{
    ngx_uint_t  i, class, status;

    for (i = 0; i < NGX_QUEUES_STAT_STATUSES; i++) {
        status = ngx_queues_stat_statuses[i];

        if (status == NGX_HTTP_REQUEST_TIME_OUT
            || status == NGX_HTTP_CLIENT_CLOSED_REQUEST)
        {
            /* there was no answer */

            continue;
        }

        if (status >= NGX_HTTP_INTERNAL_SERVER_ERROR) {
            class = 2;

        } else if (status >= NGX_HTTP_BAD_REQUEST || status == 0) {

            /* 0: those that only nginx itself gives */

            class = 1;

        } else {
            class = 0;
        }

        counts->requests[call][class] += statuses[i];
        counts->total += statuses[i];
    }
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

    uint64_t                       uptime;
    struct rusage                  usage;
    ngx_queues_api_queen_out_t     out;
    ngx_queues_api_queen_counts_t  counts;

    if (api->op->request == NULL
        || ngx_queues_api_queen_counted(api, &counts) != NGX_OK)
    {
        ngx_queues_http_op_release(api->op);
        return;
    }

    uptime = ngx_max(ngx_time() - ngx_queues_stat_since(api->qmcf), 1);

    ngx_memzero(&usage, sizeof(usage));
    (void) getrusage(RUSAGE_SELF, &usage);

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'uptime':%d,'requests':{'total':%d,'rate':%d},'messages':{"
        "'pushed':%d,'popped':%d,'acknowledged':%d},"
        "'database':{'connected':%b},",
        uptime, counts.total, counts.total / uptime,
        counts.messages[NGX_QUEUES_STAT_SENT],
        counts.messages[NGX_QUEUES_STAT_RECEIVED],
        counts.messages[NGX_QUEUES_STAT_ACKNOWLEDGED],
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
    ngx_uint_t                     i, k;
    ngx_queues_api_label_t         labels[2];
    ngx_queues_api_samples_t       samples[NGX_QUEUES_API_QUEEN_NFAMILIES];
    ngx_queues_api_queen_counts_t  counts;

    if (ngx_queues_api_queen_counted(api, &counts) != NGX_OK) {
        return;
    }

    for (i = 0; i < NGX_QUEUES_API_QUEEN_NFAMILIES; i++) {
        ngx_queues_api_samples_init(&samples[i], api->op->request->pool,
                                    &ngx_queues_api_queen_families[i]);
    }

    ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEEN_UP], NULL, NULL, 0,
                          up);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEEN_START], NULL, NULL, 0,
                          ngx_queues_stat_since(api->qmcf));

    labels[0].name = "call";
    labels[1].name = "code";

    for (i = 0; i < NGX_QUEUES_API_QUEEN_CALLS; i++) {
        for (k = 0; k < NGX_QUEUES_API_QUEEN_CLASSES; k++) {
            labels[0].value = ngx_queues_api_queen_calls[i].name;
            labels[1].value = ngx_queues_api_queen_classes[k];

            ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEEN_REQUESTS],
                                  NULL, labels, 2, counts.requests[i][k]);
        }
    }

    ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEEN_PUSHED], NULL, NULL,
                          0, counts.messages[NGX_QUEUES_STAT_SENT]);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEEN_POPPED], NULL, NULL,
                          0, counts.messages[NGX_QUEUES_STAT_RECEIVED]);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEEN_ACKNOWLEDGED], NULL,
                          NULL, 0,
                          counts.messages[NGX_QUEUES_STAT_ACKNOWLEDGED]);

    ngx_queues_api_samples_answer(api, samples,
                                  NGX_QUEUES_API_QUEEN_NFAMILIES,
                                  "text/plain; version=0.0.4");
}
