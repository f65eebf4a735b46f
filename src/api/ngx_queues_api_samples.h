
/*
 * The text format of Prometheus: families of samples.  For src/api only.
 */

#ifndef _NGX_QUEUES_API_SAMPLES_H_INCLUDED_
#define _NGX_QUEUES_API_SAMPLES_H_INCLUDED_


#include "ngx_queues_api.h"
#include "../stat/ngx_queues_stat_metrics.h"


typedef struct {
    ngx_str_t                     name;
    ngx_str_t                     type;
    ngx_str_t                     help;
} ngx_queues_api_family_t;


typedef struct {
    const char                   *name;
    ngx_str_t                     value;
} ngx_queues_api_label_t;


/* the text of one family, as it grows; its samples must not be among those of
 * another */
typedef struct {
    ngx_pool_t                   *pool;
    const ngx_queues_api_family_t  *family;
    ngx_chain_t                  *out;
    ngx_chain_t                 **last;
    ngx_buf_t                    *buf;
    ngx_uint_t                    failed;      /* unsigned  failed:1; no memory
                                                  was left */
} ngx_queues_api_samples_t;


#pragma GCC visibility push(hidden)


void ngx_queues_api_samples_init(ngx_queues_api_samples_t *s,
    ngx_pool_t *pool, const ngx_queues_api_family_t *family);

/* A sample; suffix, of the name, is NULL but for histograms. */
void ngx_queues_api_sample(ngx_queues_api_samples_t *s, const char *suffix,
    ngx_queues_api_label_t *labels, ngx_uint_t nlabels, int64_t value);

/* A histogram, if it has counted anything: its bounds from one to another. */
void ngx_queues_api_sample_histogram(ngx_queues_api_samples_t *s,
    ngx_queues_stat_histogram_t *h, ngx_uint_t from, ngx_uint_t to,
    ngx_queues_api_label_t *label);

/*
 * Answers n families, in their order; those without samples are left out, and
 * one at least has some.
 */
void ngx_queues_api_samples_answer(ngx_queues_api_t *api,
    ngx_queues_api_samples_t *samples, ngx_uint_t n, const char *type);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_API_SAMPLES_H_INCLUDED_ */
