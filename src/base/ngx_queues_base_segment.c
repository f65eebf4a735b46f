
#include "ngx_queues_base_segment.h"
#include "ngx_queues_base_text.h"


#define NGX_QUEUES_BASE_SEGMENT_NUMBERS  7
#define NGX_QUEUES_BASE_SEGMENT_SEALED   1


static ngx_int_t ngx_queues_base_segment_cut(ngx_str_t *text, uint64_t len,
    ngx_str_t *piece);
static ngx_int_t ngx_queues_base_segment_word(ngx_str_t *text,
    u_char separator, ngx_uint_t last, ngx_str_t *word);


/* "ms:n:flags:a:b:c:d" LF, texts of a to d bytes, and the payloads */

ngx_int_t
ngx_queues_base_segment_open(ngx_queues_base_segment_t *segment,
    ngx_str_t *text)
{
    uint64_t    n[NGX_QUEUES_BASE_SEGMENT_NUMBERS];
    ngx_str_t   rest, head, word;
    ngx_uint_t  i;

    rest = *text;

    if (ngx_queues_base_segment_word(&rest, LF, 0, &head) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_QUEUES_BASE_SEGMENT_NUMBERS; i++) {
        if (ngx_queues_base_segment_word(&head, ':',
                                    i == NGX_QUEUES_BASE_SEGMENT_NUMBERS - 1,
                                    &word)
            != NGX_OK
            || ngx_queues_base_decimal_parse(&word, &n[i]) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (n[1] == 0 || n[1] > text->len || n[2] > NGX_QUEUES_BASE_SEGMENT_SEALED)
    {
        return NGX_ERROR;
    }

    segment->ms = n[0];
    segment->left = n[1];
    segment->sealed = n[2];
    segment->traced = (n[5] != 0);

    if (ngx_queues_base_segment_cut(&rest, n[3], &segment->producer) != NGX_OK
        || ngx_queues_base_segment_cut(&rest, n[4], &segment->ids) != NGX_OK
        || ngx_queues_base_segment_cut(&rest, n[5], &segment->traces) != NGX_OK
        || ngx_queues_base_segment_cut(&rest, n[6], &segment->lengths)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    segment->payloads = rest;

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_segment_next(ngx_queues_base_segment_t *segment,
    ngx_queues_base_segment_message_t *message)
{
    uint64_t    len;
    ngx_str_t   word;
    ngx_uint_t  last;

    if (segment->left == 0) {
        return NGX_DONE;
    }

    last = (segment->left == 1);

    ngx_str_null(&message->trace);

    if (ngx_queues_base_segment_word(&segment->ids, LF, last, &message->id)
        != NGX_OK
        || (segment->traced
            && ngx_queues_base_segment_word(&segment->traces, LF, last,
                                            &message->trace)
               != NGX_OK)
        || ngx_queues_base_segment_word(&segment->lengths, ' ', last, &word)
           != NGX_OK
        || ngx_queues_base_decimal_parse(&word, &len) != NGX_OK
        || ngx_queues_base_segment_cut(&segment->payloads, len,
                                       &message->payload)
           != NGX_OK
        || (last && segment->payloads.len))
    {
        return NGX_ERROR;
    }

    segment->left--;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_segment_cut(ngx_str_t *text, uint64_t len, ngx_str_t *piece)
{
    if (len > text->len) {
        return NGX_ERROR;
    }

    piece->data = text->data;
    piece->len = len;

    text->data += len;
    text->len -= len;

    return NGX_OK;
}


/*
 * Unlike ngx_queues_base_word(): words are separated, so that the last one has
 * no separator after it and all others do, and each may be empty.
 */

static ngx_int_t
ngx_queues_base_segment_word(ngx_str_t *text, u_char separator,
    ngx_uint_t last, ngx_str_t *word)
{
    u_char  *p;

    p = text->len ? memchr(text->data, separator, text->len) : NULL;

    if (last) {
        *word = *text;

        text->data += text->len;
        text->len = 0;

        return p ? NGX_ERROR : NGX_OK;
    }

    if (p == NULL) {
        return NGX_ERROR;
    }

    word->data = text->data;
    word->len = p - text->data;

    text->data = p + 1;
    text->len -= word->len + 1;

    return NGX_OK;
}
