
#include "ngx_queues_push_engine.h"


/* in ms: of a message that failed, at least and at most */
#define NGX_QUEUES_PUSH_PUBSUB_DELAY_MIN  100
#define NGX_QUEUES_PUSH_PUBSUB_DELAY_MAX  600000


static void ngx_queues_push_pubsub_configure(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned, ngx_str_t *url,
    u_char *buf, ngx_str_t *text);
static ngx_int_t ngx_queues_push_pubsub_parse(ngx_queues_push_config_t *config,
    ngx_str_t *text);
static ngx_int_t ngx_queues_push_pubsub_retry(ngx_queues_push_pubsub_t *pubsub,
    ngx_str_t *text);
static size_t ngx_queues_push_pubsub_lines_length(
    ngx_queues_push_delivery_t *d);
static u_char *ngx_queues_push_pubsub_lines(void *data, u_char *p);
static void ngx_queues_push_pubsub_failed(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer);
static ngx_uint_t ngx_queues_push_pubsub_throttled(
    ngx_queues_push_delivery_t *d);
static uint64_t ngx_queues_push_pubsub_delay(ngx_queues_push_delivery_t *d,
    ngx_queues_push_message_t *message, ngx_queues_push_answer_t *answer);


/* subscriptions of Pub/Sub, the batches of which have one message */

const ngx_queues_push_format_t  ngx_queues_push_format_pubsub = {
    ngx_queues_push_pubsub_configure,
    ngx_queues_push_pubsub_request,
    ngx_queues_push_pubsub_lines_length,
    ngx_queues_push_pubsub_lines,
    ngx_queues_push_pubsub_failed,
    ngx_queues_push_pubsub_throttled,
    ngx_queues_push_pubsub_delay,
    1,
    NGX_QUEUES_STAT_PUBSUB
};


static void
ngx_queues_push_pubsub_configure(ngx_queues_push_config_t *config,
    ngx_str_t *root, ngx_queues_store_job_t *owned, ngx_str_t *url,
    u_char *buf, ngx_str_t *text)
{
    config->wrong = ngx_queues_base_endpoint_parse_pubsub(url,
                                   &ngx_queues_push_engine.conf->rules, buf,
                                   &config->endpoint);

    if (ngx_queues_push_pubsub_parse(config, text) != NGX_OK) {

        /* of another version of the module: the messages wait for that */

        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "settings of the push \"%V\" of \"%V\" are not known "
                      "here", &config->name, root);
        return;
    }

    if (config->pubsub.audience.len == 0) {
        config->pubsub.audience = *url;
    }

    config->ready = 1;
}


/* as docs/redis.md has its lines, of which the last ones may be empty */

static ngx_int_t
ngx_queues_push_pubsub_parse(ngx_queues_push_config_t *config,
    ngx_str_t *text)
{
    ngx_uint_t                 i;
    ngx_str_t                  lines[6];
    ngx_queues_push_pubsub_t  *pubsub;

    pubsub = &config->pubsub;

    for (i = 0; i < 6; i++) {
        if (ngx_queues_base_word(text, '\n', &lines[i]) != NGX_OK) {
            ngx_str_null(&lines[i]);
        }
    }

    if (lines[0].len == 0 || lines[1].len != 1) {
        return NGX_ERROR;
    }

    config->name = lines[0];

    switch (lines[1].data[0]) {

    case 'w':
        pubsub->wrapped = 1;
        break;

    case 'm':
        pubsub->metadata = 1;
        break;

    case 'n':
        break;

    default:
        return NGX_ERROR;
    }

    pubsub->attempts = (lines[2].len > 0);
    pubsub->email = lines[4];
    pubsub->audience = lines[5];

    return lines[3].len ? ngx_queues_push_pubsub_retry(pubsub, &lines[3])
                        : NGX_OK;
}


/* MIN,MAX */

static ngx_int_t
ngx_queues_push_pubsub_retry(ngx_queues_push_pubsub_t *pubsub,
    ngx_str_t *text)
{
    ngx_str_t  min;

    if (ngx_queues_base_word(text, ',', &min) != NGX_OK
        || ngx_queues_base_decimal_parse(&min, &pubsub->min) != NGX_OK
        || ngx_queues_base_decimal_parse(text, &pubsub->max) != NGX_OK)
    {
        return NGX_ERROR;
    }

    pubsub->retry = 1;

    return NGX_OK;
}


static size_t
ngx_queues_push_pubsub_lines_length(ngx_queues_push_delivery_t *d)
{
    return d->head.len;
}


static u_char *
ngx_queues_push_pubsub_lines(void *data, u_char *p)
{
    ngx_queues_push_delivery_t *d = data;

    return ngx_cpymem(p, d->head.data, d->head.len);
}


/* what a good answer says beside that is not read */

static void
ngx_queues_push_pubsub_failed(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer)
{
}


static ngx_uint_t
ngx_queues_push_pubsub_throttled(ngx_queues_push_delivery_t *d)
{
    return !d->success;
}


/* as long as its subscription rests, or as its retry policy says */

static uint64_t
ngx_queues_push_pubsub_delay(ngx_queues_push_delivery_t *d,
    ngx_queues_push_message_t *message, ngx_queues_push_answer_t *answer)
{
    uint64_t                   ms, n;
    ngx_queues_push_pubsub_t  *pubsub;

    pubsub = &d->config->pubsub;
    ms = 0;

    if (pubsub->retry) {
        ms = ngx_min(pubsub->min, pubsub->max);

        for (n = 1; n < message->count && ms && ms < pubsub->max; n++) {
            ms = ngx_min(ms * 2, pubsub->max);
        }
    }

    ms = ngx_max(ms, (d->job ? d->job->rests : 0));
    ms = ngx_max(ms, NGX_QUEUES_PUSH_PUBSUB_DELAY_MIN);

    return ngx_min(ms, NGX_QUEUES_PUSH_PUBSUB_DELAY_MAX);
}
