
#include "ngx_queues_api_metrics.h"


void
ngx_queues_api_metrics_project(ngx_queues_api_samples_t *samples,
    ngx_queues_api_names_t names, ngx_queues_store_metrics_t *page)
{
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_PROJECT_QUEUES], NULL,
                          names, 2, page->all);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_EXPIRED], NULL, names, 2,
                          page->totals.expired);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_DEAD_LETTERED], NULL,
                          names, 2, page->totals.dead_lettered);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_DROPPED], NULL, names, 2,
                          page->totals.dropped);
}


void
ngx_queues_api_metrics_queue(ngx_queues_api_samples_t *samples,
    ngx_queues_api_names_t names, ngx_queues_store_metrics_queue_t *queue)
{
    ngx_queues_api_label_t     labels[4];
    ngx_queues_api_samples_t  *s;

    ngx_memcpy(labels, names, sizeof(ngx_queues_api_names_t));

    labels[2].name = "queue";
    labels[2].value = queue->name;

    labels[3].name = "state";

    s = &samples[NGX_QUEUES_API_QUEUE_MESSAGES];

    ngx_str_set(&labels[3].value, "visible");
    ngx_queues_api_sample(s, NULL, labels, 4, queue->counts.visible);

    ngx_str_set(&labels[3].value, "in_flight");
    ngx_queues_api_sample(s, NULL, labels, 4, queue->counts.in_flight);

    ngx_str_set(&labels[3].value, "delayed");
    ngx_queues_api_sample(s, NULL, labels, 4, queue->counts.delayed);

    if (queue->counts.oldest >= 0) {
        ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEUE_OLDEST], NULL,
                              labels, 3, queue->counts.oldest);
    }

    ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEUE_SENT], NULL, labels,
                          3, queue->totals.sent);
    ngx_queues_api_sample(&samples[NGX_QUEUES_API_QUEUE_ACKNOWLEDGED], NULL,
                          labels, 3, queue->totals.acknowledged);
}
