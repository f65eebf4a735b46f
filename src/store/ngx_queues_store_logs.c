
#include "ngx_queues_store_logs.h"
#include "ngx_queues_store_call.h"


typedef struct {
    const char                *name;
    ngx_queues_store_kind_e    kind;
    const char                *shape;
} ngx_queues_store_logs_function_t;


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

    c = ngx_queues_store_call_create(root, ngx_queues_store_rows_parse, done,
                                     data);
    if (c == NULL) {
        return NGX_ERROR;
    }

    c->reads = (f->kind == NGX_QUEUES_STORE_READS);
    c->shape = f->shape;

    return ngx_queues_store_call_start(c, f->name, call->args, call->n);
}
