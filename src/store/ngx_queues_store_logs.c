
#include "ngx_queues_store_logs.h"
#include "ngx_queues_store_call.h"


/*
 * The elements of a reply: s a text, n a number, N a number or an empty text.
 * What is in brackets is there as often as the number before it says, and what
 * follows "*" as often as there are elements.
 */

typedef struct {
    const char                *name;
    ngx_queues_store_kind_e    kind;
    const char                *shape;
} ngx_queues_store_logs_function_t;


static ngx_int_t ngx_queues_store_logs_parse(ngx_queues_store_call_t *call,
    ngx_queues_redis_reply_t *reply, ngx_queues_store_result_t *result);
static const char *ngx_queues_store_logs_row(ngx_queues_redis_reply_t *reply,
    const char *shape, char end, ngx_queues_store_value_t *values,
    ngx_uint_t *i);
static ngx_int_t ngx_queues_store_logs_value(ngx_queues_redis_reply_t *elt,
    char letter, ngx_queues_store_value_t *value);


/* in the order of the enum */

static const ngx_queues_store_logs_function_t
    ngx_queues_store_logs_functions[] =
{
    { "log_configure", NGX_QUEUES_STORE_WRITES, "ss" },
    { "log_delete", NGX_QUEUES_STORE_WRITES, "n" },
    { "log_get", NGX_QUEUES_STORE_READS, "ssssnsnnnnnnsN" },
    { "log_lanes", NGX_QUEUES_STORE_READS, "snn*nsnnnnNNN" },
    { "log_queues", NGX_QUEUES_STORE_READS, "n*sssssnnnnnnN" },
    { "log_labels", NGX_QUEUES_STORE_READS, "n*snnnn" },
    { "log_overview", NGX_QUEUES_STORE_READS, "snnnnnnnnn" },
    { "log_groups", NGX_QUEUES_STORE_READS, "n*ssssnnnnnNN" },
    { "log_group", NGX_QUEUES_STORE_READS, "*ssssnnnnnNNn[nsnnnsNNN]" },
    { "log_lagging", NGX_QUEUES_STORE_READS, "*sssnssnnnn" },
    { "log_subscription", NGX_QUEUES_STORE_WRITES, "n" },
    { "log_seek", NGX_QUEUES_STORE_WRITES, "n" },
    { "log_forget", NGX_QUEUES_STORE_WRITES, "nnn" },
    { "log_dead", NGX_QUEUES_STORE_READS, "n*nssnssnnnnnssss" },
    { "log_purge_dead", NGX_QUEUES_STORE_WRITES, "nn" },
    { "log_delete_dead", NGX_QUEUES_STORE_WRITES, "n" },
    { "log_retry_dead", NGX_QUEUES_STORE_WRITES, "snnn" },
    { "log_message", NGX_QUEUES_STORE_READS,
      "nnnsnssssssssn[nssnssnnnnnssss]n[sNsNN]" },
    { "log_messages", NGX_QUEUES_STORE_READS, "*ssnsnnsnsssssnnNNnn" },
    { "log_trace", NGX_QUEUES_STORE_WRITES, "n" },
    { "log_traces", NGX_QUEUES_STORE_READS, "*ssssnn[s]" },
    { "log_traces_named", NGX_QUEUES_STORE_READS, "n*ssssnn[s]ssnssns" },
    { "log_trace_names", NGX_QUEUES_STORE_READS, "n*snnn" },
    { "log_switch", NGX_QUEUES_STORE_WRITES, "nn" },
    { "log_ping", NGX_QUEUES_STORE_READS, "n" }
};


void
ngx_queues_store_logs_init(ngx_queues_store_logs_t *call,
    ngx_queues_store_logs_e function)
{
    call->function = function;
    call->n = 0;
    call->p = call->digits;
}


void
ngx_queues_store_logs_text(ngx_queues_store_logs_t *call, ngx_str_t *text)
{
    call->args[call->n++] = *text;
}


void
ngx_queues_store_logs_number(ngx_queues_store_logs_t *call, uint64_t n)
{
    ngx_str_t  *arg;

    arg = &call->args[call->n++];

    arg->data = call->p;
    call->p = ngx_queues_base_decimal_print(call->p, n);
    arg->len = call->p - arg->data;
}


void
ngx_queues_store_logs_lane(ngx_queues_store_logs_t *call,
    ngx_queues_store_lane_t *lane)
{
    call->p = ngx_queues_store_short_arg(&call->args[call->n++], call->p,
                                         lane->queue);
    ngx_queues_store_logs_number(call, lane->lane);
}


ngx_int_t
ngx_queues_store_logs_start(ngx_str_t *root, ngx_queues_store_logs_t *call,
    ngx_queues_store_done_pt done, void *data)
{
    ngx_queues_store_call_t                 *c;
    const ngx_queues_store_logs_function_t  *f;

    f = &ngx_queues_store_logs_functions[call->function];

    c = ngx_queues_store_call_create(root, ngx_queues_store_logs_parse, done,
                                     data);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->reads = (f->kind == NGX_QUEUES_STORE_READS);
    c->shape = f->shape;

    return ngx_queues_store_call_start(c, f->name, call->args, call->n);
}


/* a reply that is no array is one element */

static ngx_int_t
ngx_queues_store_logs_parse(ngx_queues_store_call_t *call,
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
               ? ngx_queues_store_logs_value(reply, *shape, values)
               : NGX_ERROR;
    }

    i = 0;

    shape = ngx_queues_store_logs_row(reply, shape, '*', values, &i);

    while (shape && *shape == '*' && i < n) {
        if (ngx_queues_store_logs_row(reply, shape + 1, '\0', values, &i)
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
ngx_queues_store_logs_row(ngx_queues_redis_reply_t *reply, const char *shape,
    char end, ngx_queues_store_value_t *values, ngx_uint_t *i)
{
    uint64_t     n;
    const char  *row;

    while (*shape != end && *shape != '\0') {

        if (*shape != '[') {

            if (*i == reply->nelts
                || ngx_queues_store_logs_value(&reply->elts[*i], *shape,
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
            if (ngx_queues_store_logs_row(reply, row, ']', values, i)
                == NULL)
            {
                return NULL;
            }
        }
    }

    return shape;
}


static ngx_int_t
ngx_queues_store_logs_value(ngx_queues_redis_reply_t *elt, char letter,
    ngx_queues_store_value_t *value)
{
    if (elt->type == NGX_QUEUES_REDIS_INTEGER) {
        value->number = (uint64_t) elt->integer;
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
