
/*
 * What queues_metrics tells of this node: all of it is in the zone, and no call
 * is made.
 */

#include "ngx_queues_api_metrics.h"
#include "../base/ngx_queues_base_version.h"


/* bounds of histograms, by their indices: seconds */
#define NGX_QUEUES_API_0_0001  0
#define NGX_QUEUES_API_0_0005  2
#define NGX_QUEUES_API_0_001   3
#define NGX_QUEUES_API_0_01    6
#define NGX_QUEUES_API_5       14
#define NGX_QUEUES_API_10      15
#define NGX_QUEUES_API_60      17


static void ngx_queues_api_node_build(ngx_queues_api_t *api,
    ngx_queues_api_samples_t *s);
static void ngx_queues_api_node_requests(ngx_queues_stat_counters_t *c,
    ngx_queues_api_samples_t *s);
static void ngx_queues_api_node_statuses(ngx_queues_stat_operation_t *o,
    ngx_queues_api_label_t *labels, ngx_queues_api_samples_t *s);
static void ngx_queues_api_node_messages(ngx_queues_stat_counters_t *c,
    ngx_queues_api_samples_t *s);
static void ngx_queues_api_node_push(ngx_queues_stat_counters_t *c,
    int64_t *gauges, ngx_queues_api_samples_t *s);
static void ngx_queues_api_node_redis(ngx_queues_api_t *api,
    ngx_queues_stat_counters_t *c, int64_t *gauges,
    ngx_queues_api_samples_t *s);
static void ngx_queues_api_node_zone(ngx_queues_api_t *api,
    ngx_queues_api_samples_t *s);


static const ngx_str_t  ngx_queues_api_node_apis[NGX_QUEUES_STAT_NAPIS] = {
    ngx_string("queues"),
    ngx_string("queen"),
    ngx_string("pubsub")
};


void
ngx_queues_api_metrics_node(ngx_queues_api_t *api,
    ngx_queues_api_samples_t *samples, ngx_uint_t redis)
{
    int64_t                      gauges[NGX_QUEUES_STAT_NGAUGES];
    ngx_uint_t                   n;
    ngx_queues_stat_counters_t  *c;

    c = ngx_queues_stat_sum(api->qmcf, api->op->request->pool);

    if (c == NULL) {
        samples[NGX_QUEUES_API_BUILD_INFO].failed = 1;
        return;
    }

    n = ngx_queues_stat_gauges(api->qmcf, gauges);

    ngx_queues_api_node_build(api, samples);

    ngx_queues_api_sample(&samples[NGX_QUEUES_API_WORKERS], NULL, NULL, 0, n);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_PARKED], NULL, NULL, 0,
                          gauges[NGX_QUEUES_STAT_PARKED]);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_REDIS_UP], NULL, NULL, 0,
                          redis);

    ngx_queues_api_node_requests(c, samples);
    ngx_queues_api_node_messages(c, samples);
    ngx_queues_api_node_push(c, gauges, samples);
    ngx_queues_api_node_redis(api, c, gauges, samples);
    ngx_queues_api_node_zone(api, samples);
}


static void
ngx_queues_api_node_build(ngx_queues_api_t *api, ngx_queues_api_samples_t *s)
{
    ngx_queues_api_label_t  labels[2];

    labels[0].name = "version";
    ngx_str_set(&labels[0].value, NGX_QUEUES_VERSION);

    labels[1].name = "library";
    labels[1].value = api->qmcf->redis.library_name;

    ngx_queues_api_sample(&s[NGX_QUEUES_API_BUILD_INFO], NULL, labels, 2, 1);
}


static void
ngx_queues_api_node_requests(ngx_queues_stat_counters_t *c,
    ngx_queues_api_samples_t *s)
{
    ngx_uint_t                         n;
    ngx_queues_api_label_t             labels[2];
    const ngx_queues_api_operation_t  *o;

    labels[0].name = "operation";

    for (n = 0; /* void */ ; n++) {
        o = ngx_queues_api_operation(n);

        if (o == NULL) {
            break;
        }

        labels[0].value = *o->name;

        ngx_queues_api_node_statuses(&c->operations[n], labels,
                                     &s[NGX_QUEUES_API_REQUESTS]);

        ngx_queues_api_sample_histogram(&s[NGX_QUEUES_API_REQUEST_SECONDS],
                                        &c->operations[n].time,
                                        NGX_QUEUES_API_0_0005,
                                        NGX_QUEUES_API_10, labels);

        if (o->wait >= 0) {
            ngx_queues_api_sample_histogram(&s[NGX_QUEUES_API_WAIT_SECONDS],
                                            &c->waits[o->wait],
                                            NGX_QUEUES_API_0_01,
                                            NGX_QUEUES_API_60, labels);
        }
    }
}


static void
ngx_queues_api_node_statuses(ngx_queues_stat_operation_t *o,
    ngx_queues_api_label_t *labels, ngx_queues_api_samples_t *s)
{
    u_char      buf[NGX_INT_T_LEN];
    ngx_uint_t  i;

    labels[1].name = "status";

    for (i = 0; i < NGX_QUEUES_STAT_STATUSES; i++) {

        if (o->statuses[i] == 0) {
            continue;
        }

        labels[1].value.data = buf;
        labels[1].value.len = ngx_sprintf(buf, "%ui",
                                          ngx_queues_stat_statuses[i])
                              - buf;

        if (ngx_queues_stat_statuses[i] == 0) {
            ngx_str_set(&labels[1].value, "other");
        }

        ngx_queues_api_sample(s, NULL, labels, 2, o->statuses[i]);
    }
}


static void
ngx_queues_api_node_messages(ngx_queues_stat_counters_t *c,
    ngx_queues_api_samples_t *s)
{
    uint64_t                n;
    ngx_uint_t              i, k;
    ngx_queues_api_label_t  label;

    static const ngx_queues_api_family_e  families[NGX_QUEUES_STAT_NMOVES] = {
        NGX_QUEUES_API_SENT,
        NGX_QUEUES_API_RECEIVED,
        NGX_QUEUES_API_ACKNOWLEDGED
    };

    label.name = "api";

    for (i = 0; i < NGX_QUEUES_STAT_NMOVES; i++) {
        for (k = 0; k < NGX_QUEUES_STAT_NAPIS; k++) {

            n = c->messages[i][k];

            if (k == NGX_QUEUES_STAT_QUEEN) {
                n += c->transacted[i];
            }

            if (n) {
                label.value = ngx_queues_api_node_apis[k];

                ngx_queues_api_sample(&s[families[i]], NULL, &label, 1, n);
            }
        }
    }
}


static void
ngx_queues_api_node_push(ngx_queues_stat_counters_t *c, int64_t *gauges,
    ngx_queues_api_samples_t *s)
{
    ngx_uint_t              i, k;
    ngx_queues_api_label_t  labels[2];

    labels[0].name = "api";
    labels[1].name = "outcome";

    for (i = 0; i < NGX_QUEUES_STAT_NAPIS; i++) {
        for (k = 0; k < NGX_QUEUES_STAT_NOUTCOMES; k++) {

            if (c->deliveries[i][k] == 0) {
                continue;
            }

            labels[0].value = ngx_queues_api_node_apis[i];
            labels[1].value = ngx_queues_stat_outcomes[k];

            ngx_queues_api_sample(&s[NGX_QUEUES_API_DELIVERIES], NULL, labels,
                                  2, c->deliveries[i][k]);
        }
    }

    ngx_queues_api_sample_histogram(&s[NGX_QUEUES_API_DELIVERY_SECONDS],
                                    &c->delivery, NGX_QUEUES_API_0_001,
                                    NGX_QUEUES_API_60, NULL);

    ngx_queues_api_sample(&s[NGX_QUEUES_API_IN_FLIGHT], NULL, NULL, 0,
                          gauges[NGX_QUEUES_STAT_DELIVERIES]);
    ngx_queues_api_sample(&s[NGX_QUEUES_API_WINDOW], NULL, NULL, 0,
                          gauges[NGX_QUEUES_STAT_WINDOW]);
    ngx_queues_api_sample(&s[NGX_QUEUES_API_OWNED], NULL, NULL, 0,
                          gauges[NGX_QUEUES_STAT_SUBSCRIPTIONS]);
}


static void
ngx_queues_api_node_redis(ngx_queues_api_t *api,
    ngx_queues_stat_counters_t *c, int64_t *gauges,
    ngx_queues_api_samples_t *s)
{
    ngx_queues_api_label_t     label;
    ngx_queues_api_samples_t  *links;

    links = &s[NGX_QUEUES_API_REDIS_LINKS];

    label.name = "kind";

    ngx_str_set(&label.value, "commands");
    ngx_queues_api_sample(links, NULL, &label, 1,
                          gauges[NGX_QUEUES_STAT_LINK_COMMANDS]);

    ngx_str_set(&label.value, "hints");
    ngx_queues_api_sample(links, NULL, &label, 1,
                          gauges[NGX_QUEUES_STAT_LINK_HINTS]);

    if (api->qmcf->redis.replicas) {
        ngx_str_set(&label.value, "sends");
        ngx_queues_api_sample(links, NULL, &label, 1,
                              gauges[NGX_QUEUES_STAT_LINK_SENDS]);
    }

    ngx_queues_api_sample(&s[NGX_QUEUES_API_REDIS_RECONNECTS], NULL, NULL, 0,
                          c->reconnects);
    ngx_queues_api_sample_histogram(&s[NGX_QUEUES_API_REDIS_SECONDS],
                                    &c->command, NGX_QUEUES_API_0_0001,
                                    NGX_QUEUES_API_5, NULL);
    ngx_queues_api_sample(&s[NGX_QUEUES_API_REDIS_IN_FLIGHT], NULL, NULL, 0,
                          gauges[NGX_QUEUES_STAT_COMMANDS]);
    ngx_queues_api_sample(&s[NGX_QUEUES_API_REDIS_OVERDUE], NULL, NULL, 0,
                          c->overdue);
    ngx_queues_api_sample(&s[NGX_QUEUES_API_REDIS_RETRIED], NULL, NULL, 0,
                          c->retried);
}


static void
ngx_queues_api_node_zone(ngx_queues_api_t *api, ngx_queues_api_samples_t *s)
{
    size_t                  left;
    ngx_queues_api_label_t  label;

    s = &s[NGX_QUEUES_API_ZONE];
    left = ngx_queues_stat_free(api->qmcf);

    label.name = "state";

    ngx_str_set(&label.value, "used");
    ngx_queues_api_sample(s, NULL, &label, 1, api->qmcf->zone_size - left);

    ngx_str_set(&label.value, "free");
    ngx_queues_api_sample(s, NULL, &label, 1, left);
}
