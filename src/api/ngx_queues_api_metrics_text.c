
/*
 * The families of queues_metrics, and their samples in the text format of
 * Prometheus.
 */

#include "ngx_queues_api_metrics.h"


/* bytes of buffers, and of a sample beside its texts */
#define NGX_QUEUES_API_METRICS_FIRST  1024
#define NGX_QUEUES_API_METRICS_BUF    16384
#define NGX_QUEUES_API_METRICS_FIXED  64

/* of a histogram, and the bound */
#define NGX_QUEUES_API_METRICS_LABELS  2


static void ngx_queues_api_sample_head(ngx_queues_api_samples_t *s);
static u_char *ngx_queues_api_sample_room(ngx_queues_api_samples_t *s,
    size_t size);
static void ngx_queues_api_sample_write(ngx_queues_api_samples_t *s,
    const char *suffix, ngx_queues_api_label_t *labels, ngx_uint_t nlabels,
    ngx_str_t *value);
static u_char *ngx_queues_api_sample_escape(u_char *p, ngx_str_t *text);
static u_char *ngx_queues_api_sample_seconds(u_char *p, uint64_t us);


const ngx_queues_api_family_t
    ngx_queues_api_families[NGX_QUEUES_API_NFAMILIES] =
{
    [NGX_QUEUES_API_BUILD_INFO] =
        { ngx_string("queues_build_info"), ngx_string("gauge"),
          ngx_string("The module's version and its library in Redis, "
                     "always 1.") },
    [NGX_QUEUES_API_WORKERS] =
        { ngx_string("queues_workers"), ngx_string("gauge"),
          ngx_string("Workers of this node, with those that are still "
                     "leaving.") },
    [NGX_QUEUES_API_REQUESTS] =
        { ngx_string("queues_requests_total"), ngx_string("counter"),
          ngx_string("Requests that have ended, by operation and status.") },
    [NGX_QUEUES_API_REQUEST_SECONDS] =
        { ngx_string("queues_request_duration_seconds"),
          ngx_string("histogram"),
          ngx_string("How long requests took that did not wait for "
                     "messages.") },
    [NGX_QUEUES_API_WAIT_SECONDS] =
        { ngx_string("queues_wait_duration_seconds"), ngx_string("histogram"),
          ngx_string("How long requests took that waited for messages.") },
    [NGX_QUEUES_API_PARKED] =
        { ngx_string("queues_parked_requests"), ngx_string("gauge"),
          ngx_string("Requests that are waiting for messages.") },
    [NGX_QUEUES_API_SENT] =
        { ngx_string("queues_messages_sent_total"), ngx_string("counter"),
          ngx_string("Messages that calls have sent, duplicates too.") },
    [NGX_QUEUES_API_RECEIVED] =
        { ngx_string("queues_messages_received_total"), ngx_string("counter"),
          ngx_string("Messages in answers of calls, and in deliveries.") },
    [NGX_QUEUES_API_ACKNOWLEDGED] =
        { ngx_string("queues_messages_acknowledged_total"),
          ngx_string("counter"),
          ngx_string("Messages that calls, or answers of endpoints, have "
                     "acknowledged.") },
    [NGX_QUEUES_API_DELIVERIES] =
        { ngx_string("queues_deliveries_total"), ngx_string("counter"),
          ngx_string("Attempts to deliver to an endpoint, by what came of "
                     "them.") },
    [NGX_QUEUES_API_DELIVERY_SECONDS] =
        { ngx_string("queues_delivery_duration_seconds"),
          ngx_string("histogram"),
          ngx_string("How long attempts took, from the claim to the "
                     "endpoint's answer.") },
    [NGX_QUEUES_API_IN_FLIGHT] =
        { ngx_string("queues_deliveries_in_flight"), ngx_string("gauge"),
          ngx_string("Attempts that are under way.") },
    [NGX_QUEUES_API_WINDOW] =
        { ngx_string("queues_delivery_window"), ngx_string("gauge"),
          ngx_string("Deliveries that all subscriptions owned here may have "
                     "under way.") },
    [NGX_QUEUES_API_OWNED] =
        { ngx_string("queues_subscriptions_owned"), ngx_string("gauge"),
          ngx_string("Subscriptions that this node delivers.") },
    [NGX_QUEUES_API_REDIS_UP] =
        { ngx_string("queues_redis_up"), ngx_string("gauge"),
          ngx_string("1 if Redis answered this scrape.") },
    [NGX_QUEUES_API_REDIS_LINKS] =
        { ngx_string("queues_redis_links"), ngx_string("gauge"),
          ngx_string("Connections to Redis that are ready: one of each kind "
                     "for a worker.") },
    [NGX_QUEUES_API_REDIS_RECONNECTS] =
        { ngx_string("queues_redis_reconnects_total"), ngx_string("counter"),
          ngx_string("Connections to Redis that were lost and made anew.") },
    [NGX_QUEUES_API_REDIS_SECONDS] =
        { ngx_string("queues_redis_command_duration_seconds"),
          ngx_string("histogram"),
          ngx_string("How long commands took, from the call to Redis' "
                     "answer.") },
    [NGX_QUEUES_API_REDIS_IN_FLIGHT] =
        { ngx_string("queues_redis_commands_in_flight"), ngx_string("gauge"),
          ngx_string("Commands that are not answered yet.") },
    [NGX_QUEUES_API_REDIS_OVERDUE] =
        { ngx_string("queues_redis_commands_overdue_total"),
          ngx_string("counter"),
          ngx_string("Commands that were not answered within "
                     "queues_redis_timeout.") },
    [NGX_QUEUES_API_ZONE] =
        { ngx_string("queues_zone_bytes"), ngx_string("gauge"),
          ngx_string("Bytes of queues_zone.") },

    [NGX_QUEUES_API_COMPLETE] =
        { ngx_string("queues_projects_complete"), ngx_string("gauge"),
          ngx_string("0 if projects are left out: there are too many, it "
                     "took too long, or Redis failed.") },
    [NGX_QUEUES_API_LEFT_OUT] =
        { ngx_string("queues_queues_left_out"), ngx_string("gauge"),
          ngx_string("Queues that are left out of the families by queue.") },
    [NGX_QUEUES_API_PROJECT_QUEUES] =
        { ngx_string("queues_project_queues"), ngx_string("gauge"),
          ngx_string("Queues of a project, and subscriptions of Pub/Sub.") },
    [NGX_QUEUES_API_EXPIRED] =
        { ngx_string("queues_messages_expired_total"), ngx_string("counter"),
          ngx_string("Messages that were older than their retention.") },
    [NGX_QUEUES_API_DEAD_LETTERED] =
        { ngx_string("queues_messages_dead_lettered_total"),
          ngx_string("counter"),
          ngx_string("Messages that went to a dead-letter queue or topic.") },
    [NGX_QUEUES_API_DROPPED] =
        { ngx_string("queues_messages_dropped_total"), ngx_string("counter"),
          ngx_string("Messages of Pub/Sub that were tried too often and had "
                     "no dead-letter topic.") },
    [NGX_QUEUES_API_QUEUE_MESSAGES] =
        { ngx_string("queues_queue_messages"), ngx_string("gauge"),
          ngx_string("Messages in a queue, by their state.") },
    [NGX_QUEUES_API_QUEUE_OLDEST] =
        { ngx_string("queues_queue_oldest_message_age_seconds"),
          ngx_string("gauge"),
          ngx_string("How old the oldest message of a queue is.") },
    [NGX_QUEUES_API_QUEUE_SENT] =
        { ngx_string("queues_queue_messages_sent_total"),
          ngx_string("counter"),
          ngx_string("Messages that came into a queue, moved ones too, since "
                     "it was made or purged.") },
    [NGX_QUEUES_API_QUEUE_ACKNOWLEDGED] =
        { ngx_string("queues_queue_messages_acknowledged_total"),
          ngx_string("counter"),
          ngx_string("Messages of a queue that were acknowledged, since it "
                     "was made or purged.") }
};


void
ngx_queues_api_samples_init(ngx_queues_api_samples_t *s, ngx_pool_t *pool,
    ngx_queues_api_family_e family)
{
    ngx_memzero(s, sizeof(ngx_queues_api_samples_t));

    s->pool = pool;
    s->family = &ngx_queues_api_families[family];
    s->last = &s->out;
}


void
ngx_queues_api_sample(ngx_queues_api_samples_t *s, const char *suffix,
    ngx_queues_api_label_t *labels, ngx_uint_t nlabels, int64_t value)
{
    u_char     buf[NGX_INT64_LEN];
    ngx_str_t  text;

    text.data = buf;
    text.len = ngx_sprintf(buf, "%L", value) - buf;

    ngx_queues_api_sample_write(s, suffix, labels, nlabels, &text);
}


void
ngx_queues_api_sample_histogram(ngx_queues_api_samples_t *s,
    ngx_queues_stat_histogram_t *h, ngx_uint_t from, ngx_uint_t to,
    ngx_queues_api_label_t *label)
{
    u_char                   bound[NGX_INT64_LEN], sum[NGX_INT64_LEN + 8];
    uint64_t                 count;
    ngx_str_t                text;
    ngx_uint_t               i, n;
    ngx_queues_api_label_t   labels[NGX_QUEUES_API_METRICS_LABELS], *le;

    count = 0;

    for (i = 0; i <= NGX_QUEUES_STAT_BOUNDS; i++) {
        count += h->buckets[i];
    }

    if (count == 0) {
        return;
    }

    n = 0;

    if (label) {
        labels[n++] = *label;
    }

    le = &labels[n];
    le->name = "le";
    le->value.data = bound;

    count = 0;

    for (i = 0; i <= NGX_QUEUES_STAT_BOUNDS; i++) {
        count += h->buckets[i];

        if (i >= from && i <= to) {
            le->value.len = ngx_queues_api_sample_seconds(bound,
                                                  ngx_queues_stat_bounds[i])
                            - bound;

            ngx_queues_api_sample(s, "_bucket", labels, n + 1, count);
        }
    }

    ngx_str_set(&le->value, "+Inf");

    ngx_queues_api_sample(s, "_bucket", labels, n + 1, count);

    text.data = sum;
    text.len = ngx_queues_api_sample_seconds(sum, h->sum) - sum;

    ngx_queues_api_sample_write(s, "_sum", labels, n, &text);
    ngx_queues_api_sample(s, "_count", labels, n, count);
}


/* what a family is, before its first sample */

static void
ngx_queues_api_sample_head(ngx_queues_api_samples_t *s)
{
    u_char                         *p;
    const ngx_queues_api_family_t  *f;

    f = s->family;

    p = ngx_queues_api_sample_room(s, 2 * f->name.len + f->type.len
                                      + f->help.len
                                      + NGX_QUEUES_API_METRICS_FIXED);
    if (p == NULL) {
        return;
    }

    s->buf->last = ngx_sprintf(p, "# HELP %V %V\n# TYPE %V %V\n",
                               &f->name, &f->help, &f->name, &f->type);
}


static u_char *
ngx_queues_api_sample_room(ngx_queues_api_samples_t *s, size_t size)
{
    size_t        least;
    ngx_buf_t    *b;
    ngx_chain_t  *cl;

    if (s->failed) {
        return NULL;
    }

    if (s->buf && (size_t) (s->buf->end - s->buf->last) >= size) {
        return s->buf->last;
    }

    least = s->buf ? NGX_QUEUES_API_METRICS_BUF : NGX_QUEUES_API_METRICS_FIRST;

    b = ngx_create_temp_buf(s->pool, ngx_max(size, least));
    cl = ngx_alloc_chain_link(s->pool);

    if (b == NULL || cl == NULL) {
        s->failed = 1;
        return NULL;
    }

    cl->buf = b;
    cl->next = NULL;

    *s->last = cl;
    s->last = &cl->next;
    s->buf = b;

    return b->last;
}


static void
ngx_queues_api_sample_write(ngx_queues_api_samples_t *s, const char *suffix,
    ngx_queues_api_label_t *labels, ngx_uint_t nlabels, ngx_str_t *value)
{
    size_t       size;
    u_char      *p;
    ngx_uint_t   i;

    if (s->out == NULL) {
        ngx_queues_api_sample_head(s);
    }

    size = s->family->name.len + value->len + NGX_QUEUES_API_METRICS_FIXED;

    for (i = 0; i < nlabels; i++) {
        size += ngx_strlen(labels[i].name) + 2 * labels[i].value.len
                + sizeof(",=\"\"") - 1;
    }

    p = ngx_queues_api_sample_room(s, size);
    if (p == NULL) {
        return;
    }

    p = ngx_sprintf(p, "%V%s", &s->family->name, suffix ? suffix : "");

    for (i = 0; i < nlabels; i++) {
        p = ngx_sprintf(p, "%c%s=\"", i ? ',' : '{', labels[i].name);
        p = ngx_queues_api_sample_escape(p, &labels[i].value);
        *p++ = '"';
    }

    if (nlabels) {
        *p++ = '}';
    }

    s->buf->last = ngx_sprintf(p, " %V\n", value);
}


static u_char *
ngx_queues_api_sample_escape(u_char *p, ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {

        switch (text->data[i]) {

        case '\n':
            *p++ = '\\';
            *p++ = 'n';
            break;

        case '"':
        case '\\':
            *p++ = '\\';
            *p++ = text->data[i];
            break;

        default:

            /*
             * No name has others.  What is planted in Redis may be no UTF-8, for
             * which Prometheus would refuse the whole scrape.
             */

            *p++ = (text->data[i] < 0x80) ? text->data[i] : '?';
        }
    }

    return p;
}


/* without zeros at the end */

static u_char *
ngx_queues_api_sample_seconds(u_char *p, uint64_t us)
{
    p = ngx_sprintf(p, "%uL.%06uL", us / 1000000, us % 1000000);

    while (p[-1] == '0') {
        p--;
    }

    return p[-1] == '.' ? p - 1 : p;
}
