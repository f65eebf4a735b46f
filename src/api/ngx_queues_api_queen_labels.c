
/* Namespaces, tasks, and sums over a project. */

#include "ngx_queues_api_queen_extra.h"


#define NGX_QUEUES_API_QUEEN_LABELS_MAX  100


typedef struct {
    ngx_queues_api_queen_page_t   page;
    ngx_uint_t                    tasks;     /* unsigned  tasks:1; */
} ngx_queues_api_queen_labels_t;


static void ngx_queues_api_queen_namespaces(ngx_queues_api_t *api);
static void ngx_queues_api_queen_tasks(ngx_queues_api_t *api);
static void ngx_queues_api_queen_labels(ngx_queues_api_t *api,
    ngx_uint_t tasks);
static void ngx_queues_api_queen_labels_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_queen_overview(ngx_queues_api_t *api);
static void ngx_queues_api_queen_overview_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


const ngx_queues_api_route_t  ngx_queues_api_queen_labels_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/api/v1/resources/namespaces"),
      ngx_string("QueenNamespaces"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.overview"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_namespaces },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/resources/tasks"),
      ngx_string("QueenTasks"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.overview"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_tasks },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/resources/overview"),
      ngx_string("QueenOverview"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.overview"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_overview },

    { NGX_HTTP_GET,
      ngx_string("/api/v1/status"),
      ngx_string("QueenOverview"),
      NGX_QUEUES_CONF_QUEEN,
      ngx_string("queen.read.overview"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_queen_overview },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_queen_namespaces(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_labels(api, 0);
}


static void
ngx_queues_api_queen_tasks(ngx_queues_api_t *api)
{
    ngx_queues_api_queen_labels(api, 1);
}


static void
ngx_queues_api_queen_labels(ngx_queues_api_t *api, ngx_uint_t tasks)
{
    ngx_str_t                       kind;
    ngx_queues_store_logs_t         call;
    ngx_queues_api_queen_labels_t  *ctx;

    ctx = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_queen_labels_t));
    if (ctx == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = ctx;
    ctx->tasks = tasks;

    if (ngx_queues_api_queen_any(api) != NGX_OK
        || ngx_queues_api_queen_page(api, NGX_QUEUES_API_QUEEN_LABELS_MAX,
                                     NGX_QUEUES_API_QUEEN_LABELS_MAX,
                                     &ctx->page)
           != NGX_OK)
    {
        return;
    }

    kind.data = (u_char *) (tasks ? "T" : "N");
    kind.len = 1;

    ngx_queues_store_logs_init(&call, NGX_QUEUES_STORE_LOGS_LABELS);
    ngx_queues_store_logs_text(&call, &kind);
    ngx_queues_store_logs_text(&call, &ctx->page.after);
    ngx_queues_store_logs_number(&call, ctx->page.limit);

    ngx_queues_api_queen_start(api, &call, ngx_queues_api_queen_labels_answer);
}


static void
ngx_queues_api_queen_labels_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    ngx_uint_t                      i;
    ngx_queues_store_value_t       *row;
    ngx_queues_api_queen_out_t      out;
    ngx_queues_api_queen_labels_t  *ctx;

    ctx = api->data;
    row = NULL;

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out, "{'%c':[",
                               ctx->tasks ? "tasks" : "namespaces");

    for (i = 1; i < result->nvalues; i += NGX_QUEUES_STORE_OF_LABEL_NCOLUMNS) {
        row = &result->values[i];

        ngx_queues_api_queen_write(&out,
            "{'%c':%s,'queues':%v,'partitions':%v,'messages':{'total':%v,"
            "'pending':%v}},",
            ctx->tasks ? "task" : "namespace",
            &row[NGX_QUEUES_STORE_OF_LABEL_NAME].text,
            &row[NGX_QUEUES_STORE_OF_LABEL_QUEUES],
            &row[NGX_QUEUES_STORE_OF_LABEL_LANES],
            &row[NGX_QUEUES_STORE_OF_LABEL_MESSAGES],
            &row[NGX_QUEUES_STORE_OF_LABEL_PENDING]);
    }

    ngx_queues_api_queen_trim(&out);

    if (row && result->values[0].number) {
        ngx_queues_api_queen_write(&out, "],'next':%s}",
                                   &row[NGX_QUEUES_STORE_OF_LABEL_NAME].text);

    } else {
        ngx_queues_api_queen_write(&out, "],'next':null}");
    }

    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}


static void
ngx_queues_api_queen_overview(ngx_queues_api_t *api)
{
    uint64_t  *sums;

    sums = ngx_pcalloc(api->op->pool,
                       NGX_QUEUES_STORE_OF_SUM_NCOLUMNS * sizeof(uint64_t));
    if (sums == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = sums;

    if (ngx_queues_api_queen_any(api) == NGX_OK) {
        ngx_queues_api_queen_sum(api, NULL,
                                 ngx_queues_api_queen_overview_answer);
    }
}


static void
ngx_queues_api_queen_overview_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    uint64_t                    *s, pending, done;
    ngx_queues_api_queen_out_t   out;

    s = api->data;

    if (ngx_queues_api_queen_summed(result, s)) {
        ngx_queues_api_queen_sum(api,
                         &result->values[NGX_QUEUES_STORE_OF_SUM_MORE].text,
                         ngx_queues_api_queen_overview_answer);
        return;
    }

    pending = s[NGX_QUEUES_STORE_OF_SUM_PENDING];
    done = s[NGX_QUEUES_STORE_OF_SUM_MESSAGES]
           - ngx_min(s[NGX_QUEUES_STORE_OF_SUM_MESSAGES], pending);

    ngx_queues_api_queen_open(api, &out);
    ngx_queues_api_queen_write(&out,
        "{'queues':%d,'partitions':%d,'namespaces':%d,'tasks':%d,"
        "'consumerGroups':%d,'messages':{'total':%d,'pending':%d,"
        "'processing':0,'completed':%d,'failed':0,'deadLetter':%d,"
        "'pushed':%d},",
        s[NGX_QUEUES_STORE_OF_SUM_QUEUES], s[NGX_QUEUES_STORE_OF_SUM_LANES],
        s[NGX_QUEUES_STORE_OF_SUM_SPACES], s[NGX_QUEUES_STORE_OF_SUM_TASKS],
        s[NGX_QUEUES_STORE_OF_SUM_GROUPS],
        s[NGX_QUEUES_STORE_OF_SUM_MESSAGES], pending, done,
        s[NGX_QUEUES_STORE_OF_SUM_DEAD], s[NGX_QUEUES_STORE_OF_SUM_PUSHED]);

    /* no rates are kept, so none are told */

    ngx_queues_api_queen_write(&out,
        "'lag':{'time':{'avg':0,'median':0,'min':0,'max':0},"
        "'offset':{'avg':0,'median':0,'min':0,'max':0}},"
        "'throughput':{'ingestedPerSecond':0,'processedPerSecond':0},"
        "'timestamp':%t,'statsAge':0}", ngx_queues_api_queen_now());

    ngx_queues_api_queen_close(&out, NGX_HTTP_OK);
}
