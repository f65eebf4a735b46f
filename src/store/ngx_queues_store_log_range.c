
#include "ngx_queues_store_log_call.h"


static ngx_int_t ngx_queues_store_log_range_compare(ngx_str_t *a,
    ngx_str_t *b);


ngx_uint_t
ngx_queues_store_log_range(ngx_queues_store_log_push_t *push,
    ngx_queues_store_log_set_t *set, ngx_queues_store_log_range_t *range)
{
    ngx_uint_t                    i, k, made, rising;
    ngx_queues_store_log_item_t  *item;

    item = &push->items[set->first];

    range->low = &item->id;
    range->high = &item->id;
    range->room = 2 * (item->id.len + 1);

    made = item->made;
    rising = 1;

    for (i = item->next, k = 1; k < set->n; i = item->next, k++) {
        item = &push->items[i];

        range->room += 2 * (item->id.len + 1);

        if (!item->made) {
            made = 0;
        }

        if (ngx_queues_store_log_range_compare(&item->id, range->high) > 0) {
            range->high = &item->id;
            continue;
        }

        rising = 0;

        if (ngx_queues_store_log_range_compare(&item->id, range->low) < 0) {
            range->low = &item->id;
        }
    }

    if (set->n < NGX_QUEUES_STORE_LOG_RUN) {
        rising = 0;
    }

    return (item->sealed ? NGX_QUEUES_STORE_LOG_SEALED : 0)
           | (made ? NGX_QUEUES_STORE_LOG_MADE : 0)
           | (rising ? NGX_QUEUES_STORE_LOG_RISING : 0);
}


/* as Redis does it: byte by byte */

static ngx_int_t
ngx_queues_store_log_range_compare(ngx_str_t *a, ngx_str_t *b)
{
    ngx_int_t  rc;

    rc = ngx_memcmp(a->data, b->data, ngx_min(a->len, b->len));

    return rc ? rc : (ngx_int_t) a->len - (ngx_int_t) b->len;
}


u_char *
ngx_queues_store_log_range_print(u_char *p, ngx_str_t *low, ngx_str_t *high)
{
    p = ngx_cpymem(p, low->data, low->len);
    *p++ = LF;

    p = ngx_cpymem(p, high->data, high->len);
    *p++ = LF;

    return p;
}
