
/* Replies that are tables of texts and numbers. */

#include "ngx_queues_store_call.h"


static const char *ngx_queues_store_row(ngx_queues_redis_reply_t *reply,
    const char *shape, char end, ngx_queues_store_value_t *values,
    ngx_uint_t *i);
static ngx_int_t ngx_queues_store_value(ngx_queues_redis_reply_t *elt,
    char letter, ngx_queues_store_value_t *value);


/* a reply that is no array is one element */

ngx_int_t
ngx_queues_store_rows_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result)
{
    ngx_uint_t                 i, n;
    const char                *shape;
    ngx_queues_store_value_t  *values;

    shape = call->shape;
    n = (reply->type == NGX_QUEUES_REDIS_ARRAY) ? reply->nelts : 1;

    values = ngx_pcalloc(reply->pool,
                         (n + 1) * sizeof(ngx_queues_store_value_t));
    if (values == NULL) {
        return NGX_ERROR;
    }

    result->values = values;
    result->nvalues = n;

    if (reply->type != NGX_QUEUES_REDIS_ARRAY) {
        return shape[1] == '\0'
               ? ngx_queues_store_value(reply, *shape, values)
               : NGX_ERROR;
    }

    i = 0;

    shape = ngx_queues_store_row(reply, shape, '*', values, &i);

    while (shape && *shape == '*' && i < n) {
        if (ngx_queues_store_row(reply, shape + 1, '\0', values, &i)
            == NULL)
        {
            return NGX_ERROR;
        }
    }

    return shape && i == n ? NGX_OK : NGX_ERROR;
}


/* its end, at one of these or the end of all; NULL where the reply is another
   one */

static const char *
ngx_queues_store_row(ngx_queues_redis_reply_t *reply, const char *shape,
    char end, ngx_queues_store_value_t *values, ngx_uint_t *i)
{
    uint64_t     n;
    const char  *row;

    while (*shape != end && *shape != '\0') {

        if (*shape != '[') {

            if (*i == reply->nelts
                || ngx_queues_store_value(&reply->elts[*i], *shape,
                                          &values[*i])
                   != NGX_OK)
            {
                return NULL;
            }

            (*i)++;
            shape++;

            continue;
        }

        row = shape + 1;
        shape = ngx_strchr(row, ']') + 1;

        for (n = values[*i - 1].number; n; n--) {
            if (ngx_queues_store_row(reply, row, ']', values, i)
                == NULL)
            {
                return NULL;
            }
        }
    }

    return shape;
}


static ngx_int_t
ngx_queues_store_value(ngx_queues_redis_reply_t *elt, char letter,
    ngx_queues_store_value_t *value)
{
    if (elt->type == NGX_QUEUES_REDIS_INTEGER) {
        value->number = (uint64_t) elt->integer;

        if (letter == 'i') {
            return NGX_OK;
        }

        return letter != 's' && elt->integer >= 0 ? NGX_OK : NGX_ERROR;
    }

    if (ngx_queues_store_string(elt, &value->text) != NGX_OK) {
        return NGX_ERROR;
    }

    if (letter == 's') {
        return NGX_OK;
    }

    if (value->text.len == 0 && letter == 'N') {
        value->none = 1;
        return NGX_OK;
    }

    return (letter == 'n' || letter == 'N')
           ? ngx_queues_base_decimal_parse(&value->text, &value->number)
           : NGX_ERROR;
}
