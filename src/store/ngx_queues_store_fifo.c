
#include "ngx_queues_store_call.h"


/* a word: messages of one group that follow one another */

typedef struct {
    uint64_t                   group;      /* its id */
    uint64_t                   from;       /* sequence numbers */
    uint64_t                   to;
    uint64_t                   count;
    uint64_t                   first;
} ngx_queues_store_run_t;


static ngx_int_t ngx_queues_store_fifo_word(ngx_str_t *word,
    ngx_queues_store_run_t *run);
static ngx_int_t ngx_queues_store_fifo_value(ngx_str_t *value,
    ngx_queues_store_message_t *m);


/* of each word: the group's name, then its messages */

ngx_int_t
ngx_queues_store_fifo_parse(ngx_queues_redis_reply_t *reply,
    ngx_queues_redis_reply_t *elt, ngx_str_t *text, uint64_t now,
    ngx_queues_store_result_t *result)
{
    uint64_t                     seq;
    ngx_str_t                    word, name, value;
    ngx_queues_store_run_t       run;
    ngx_queues_redis_reply_t    *last;
    ngx_queues_store_message_t  *m;

    m = result->messages;
    last = reply->elts + reply->nelts;

    while (text->len) {
        run.count = 1;
        run.first = now;

        if (ngx_queues_base_word(text, ' ', &word) != NGX_OK
            || ngx_queues_store_fifo_word(&word, &run) != NGX_OK
            || elt == last
            || ngx_queues_store_string(elt++, &name) != NGX_OK
            || run.to - run.from >= (uint64_t) (last - elt))
        {
            return NGX_ERROR;
        }

        for (seq = run.from; seq <= run.to; seq++) {
            m->spot.kind = NGX_QUEUES_BASE_SPOT_FIFO;
            m->spot.major = run.group;
            m->spot.minor = seq;
            m->count = run.count;
            m->first = run.first;
            m->group = name;
            m->origin.place = result->place;

            if (ngx_queues_store_string(elt++, &value) != NGX_OK
                || ngx_queues_store_fifo_value(&value, m) != NGX_OK)
            {
                return NGX_ERROR;
            }

            m++;
        }
    }

    result->nmessages = m - result->messages;

    return elt == last ? NGX_OK : NGX_ERROR;
}


/* "gid:a:z" or "gid:a:z:count:first" */

static ngx_int_t
ngx_queues_store_fifo_word(ngx_str_t *word, ngx_queues_store_run_t *run)
{
    ngx_str_t  text;

    text = *word;

    if (ngx_queues_store_number(&text, ':', &run->group) != NGX_OK
        || ngx_queues_store_number(&text, ':', &run->from) != NGX_OK
        || ngx_queues_store_number(&text, ':', &run->to) != NGX_OK
        || run->to < run->from
        || run->group >> 48
        || run->to >> 48)
    {
        return NGX_ERROR;
    }

    if (text.len == 0) {
        return NGX_OK;
    }

    if (ngx_queues_store_number(&text, ':', &run->count) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_base_decimal_parse(&text, &run->first);
}


/*
 * "ms-n:due:length:origin:", the body and the attributes.  When it is due is
 * of no interest here.
 */

static ngx_int_t
ngx_queues_store_fifo_value(ngx_str_t *value, ngx_queues_store_message_t *m)
{
    uint64_t   length;
    ngx_str_t  text, sent, due, origin;

    text = *value;

    if (ngx_queues_base_word(&text, ':', &sent) != NGX_OK
        || ngx_queues_store_spot(&sent, &m->origin.spot) != NGX_OK
        || ngx_queues_base_word(&text, ':', &due) != NGX_OK
        || ngx_queues_store_number(&text, ':', &length) != NGX_OK
        || ngx_queues_base_word(&text, ':', &origin) != NGX_OK
        || length > text.len)
    {
        return NGX_ERROR;
    }

    if (origin.len
        && ngx_queues_store_origin(&origin, &m->origin) != NGX_OK)
    {
        return NGX_ERROR;
    }

    m->body.data = text.data;
    m->body.len = (size_t) length;

    m->attributes.data = text.data + m->body.len;
    m->attributes.len = text.len - m->body.len;

    return NGX_OK;
}
