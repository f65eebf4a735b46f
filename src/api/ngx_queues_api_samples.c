
#include "ngx_queues_api_samples.h"


/* bytes of buffers, and of a sample beside its texts */
#define NGX_QUEUES_API_SAMPLES_FIRST  1024
#define NGX_QUEUES_API_SAMPLES_BUF    16384
#define NGX_QUEUES_API_SAMPLES_FIXED  64

/* of a histogram, and the bound */
#define NGX_QUEUES_API_SAMPLES_LABELS  2


static void ngx_queues_api_sample_head(ngx_queues_api_samples_t *s);
static u_char *ngx_queues_api_sample_room(ngx_queues_api_samples_t *s,
    size_t size);
static void ngx_queues_api_sample_write(ngx_queues_api_samples_t *s,
    const char *suffix, ngx_queues_api_label_t *labels, ngx_uint_t nlabels,
    ngx_str_t *value);
static u_char *ngx_queues_api_sample_escape(u_char *p, ngx_str_t *text);
static u_char *ngx_queues_api_sample_seconds(u_char *p, uint64_t us);


void
ngx_queues_api_samples_init(ngx_queues_api_samples_t *s, ngx_pool_t *pool,
    const ngx_queues_api_family_t *family)
{
    ngx_memzero(s, sizeof(ngx_queues_api_samples_t));

    s->pool = pool;
    s->family = family;
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
    ngx_queues_api_label_t   labels[NGX_QUEUES_API_SAMPLES_LABELS], *le;

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


void
ngx_queues_api_samples_answer(ngx_queues_api_t *api,
    ngx_queues_api_samples_t *samples, ngx_uint_t n, const char *type)
{
    off_t         size;
    ngx_uint_t    i;
    ngx_chain_t  *out, **last, *cl;

    out = NULL;
    last = &out;
    size = 0;

    for (i = 0; i < n; i++) {

        if (samples[i].failed) {
            ngx_queues_api_no_memory(api);
            return;
        }

        for (cl = samples[i].out; cl; cl = cl->next) {
            size += ngx_buf_size(cl->buf);
        }

        if (samples[i].out) {
            *last = samples[i].out;
            last = samples[i].last;
        }
    }

    for (cl = out; cl->next; cl = cl->next) {
        /* void */
    }

    cl->buf->last_buf = 1;

    api->op->type.data = (u_char *) type;
    api->op->type.len = ngx_strlen(type);

    ngx_queues_http_answer_chain(api->op, NGX_HTTP_OK, out, size);
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
                                      + NGX_QUEUES_API_SAMPLES_FIXED);
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

    least = s->buf ? NGX_QUEUES_API_SAMPLES_BUF : NGX_QUEUES_API_SAMPLES_FIRST;

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

    size = s->family->name.len + value->len + NGX_QUEUES_API_SAMPLES_FIXED;

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
