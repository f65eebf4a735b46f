
#include "ngx_queues_push_engine.h"
#include "../base/ngx_queues_base_utf8.h"


static void ngx_queues_push_judge_messages(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer);
static ngx_queues_push_message_t *ngx_queues_push_judge_first(
    ngx_queues_push_delivery_t *d, ngx_uint_t n);
static void ngx_queues_push_judge_text(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer);
static u_char *ngx_queues_push_judge_clean(u_char *p, ngx_str_t *text,
    ngx_uint_t max);
static ngx_uint_t ngx_queues_push_judge_control(u_char *s, size_t len);


void
ngx_queues_push_judge(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer)
{
    ngx_uint_t  i;

    d->class = answer->class;

    if (answer->class == NGX_QUEUES_STAT_HTTP) {
        d->status = answer->status;
        d->success = (answer->status >= 200 && answer->status < 300);
    }

    d->throttled = d->config->format->throttled(d);

    if (d->job && d->config->format->rests) {

        /* a message that failed rests as long as all of them */

        if (d->success) {
            ngx_queues_push_job_rested(d->job);

        } else {
            ngx_queues_push_job_rest(d->job, d);
        }
    }

    if (d->success) {
        d->config->format->failed(d, answer);

    } else {

        for (i = 0; i < d->nmessages; i++) {
            d->messages[i].failed = 1;
        }

        ngx_queues_push_judge_text(d, answer);
    }

    ngx_queues_push_judge_messages(d, answer);
}


/*
 * When those that failed are tried again.  A message of a FIFO queue is before
 * the later ones of its group, so it takes them with it.
 */

static void
ngx_queues_push_judge_messages(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer)
{
    ngx_uint_t                  i;
    ngx_queues_push_message_t  *m, *first;

    for (i = 0; i < d->nmessages; i++) {
        m = &d->messages[i];
        first = ngx_queues_push_judge_first(d, i);

        if (first) {
            m->failed = 1;
            m->ms = first->ms;

        } else if (m->failed) {
            m->ms = d->config->format->delay(d, m, answer);
        }
    }
}


/* an earlier one of its group that has failed */

static ngx_queues_push_message_t *
ngx_queues_push_judge_first(ngx_queues_push_delivery_t *d, ngx_uint_t n)
{
    ngx_uint_t                  i;
    ngx_queues_push_message_t  *m;

    m = &d->messages[n];

    if (m->spot.kind != NGX_QUEUES_BASE_SPOT_FIFO) {
        return NULL;
    }

    for (i = 0; i < n; i++) {
        if (d->messages[i].failed
            && d->messages[i].spot.major == m->spot.major)
        {
            return &d->messages[i];
        }
    }

    return NULL;
}


static void
ngx_queues_push_judge_text(ngx_queues_push_delivery_t *d,
    ngx_queues_push_answer_t *answer)
{
    u_char     *p;
    ngx_str_t   reason;

    d->message.data = d->text;

    if (answer->class == NGX_QUEUES_STAT_HTTP) {
        p = ngx_sprintf(d->text, "The endpoint answered %ui.",
                        answer->status);

        d->message.len = p - d->text;

        if (answer->body.len) {
            *p++ = ' ';

            d->message.len++;

            p = ngx_queues_push_judge_clean(p, &answer->body,
                                            NGX_QUEUES_STORE_LAST_ERROR
                                            - d->message.len);
        }

    } else {
        reason.data = (u_char *) (answer->reason ? answer->reason : "");
        reason.len = ngx_strlen(reason.data);

        p = ngx_queues_push_judge_clean(d->text, &reason,
                                        NGX_QUEUES_STORE_LAST_ERROR);
    }

    if (p > d->text && p[-1] == ' ') {
        p--;
    }

    d->message.len = p - d->text;
}


/*
 * Writes at most so many characters of a text that anybody may have sent, in
 * one line: blanks and what does not print become one blank, what is no UTF-8
 * becomes U+FFFD.
 */

static u_char *
ngx_queues_push_judge_clean(u_char *p, ngx_str_t *text, ngx_uint_t max)
{
    size_t       len;
    u_char      *s, *last;
    ngx_uint_t   n, blank;

    s = text->data;
    last = s + text->len;
    blank = 1;

    for (n = 0; n < max && s < last; s += len) {

        len = ngx_queues_base_utf8_length(s, last);

        if (len == 0) {
            len = 1;
            p = ngx_cpymem(p, "\xef\xbf\xbd", 3);

        } else if (ngx_queues_push_judge_control(s, len)) {

            if (blank) {
                continue;
            }

            *p++ = ' ';
            blank = 1;
            n++;

            continue;

        } else {
            p = ngx_cpymem(p, s, len);
        }

        blank = 0;
        n++;
    }

    return p;
}


/*
 * Controls, separators of lines, and what turns text around: all of Unicode's
 * Bidi_Control, that is U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to
 * U+2069.
 */

static ngx_uint_t
ngx_queues_push_judge_control(u_char *s, size_t len)
{
    switch (len) {

    case 1:
        return *s <= ' ' || *s == 0x7f;

    case 2:
        return (*s == 0xc2 && s[1] < 0xa0) || (*s == 0xd8 && s[1] == 0x9c);

    case 3:
        break;

    default:
        return 0;
    }

    if (*s != 0xe2) {
        return 0;
    }

    if (s[1] == 0x80) {
        return (s[2] >= 0xa8 && s[2] <= 0xae) || s[2] == 0x8e || s[2] == 0x8f;
    }

    return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}
