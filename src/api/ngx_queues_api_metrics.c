
/*
 * queues_metrics: what this node has counted, and what the store knows of
 * projects and queues, for Prometheus.  The store is asked page by page, one
 * call at a time, and for no longer than a scrape may take.
 */

#include "ngx_queues_api_metrics.h"


/* of one scrape */
#define NGX_QUEUES_API_METRICS_PROJECTS  1000
#define NGX_QUEUES_API_METRICS_MS        5000


typedef ngx_int_t (*ngx_queues_api_metrics_pt)(ngx_queues_api_t *api,
    ngx_queues_store_metrics_t *page);


typedef struct {
    ngx_queues_api_metrics_pt  page;         /* takes what was asked for */
    ngx_uint_t                 queues;       /* that are left to be told of */
    uint64_t                   out;          /* left out so far */
    ngx_msec_t                 since;

    ngx_str_t                 *roots;        /* of the page */
    ngx_queues_api_names_t    *labels;       /* and their names */
    ngx_uint_t                 nroots;
    ngx_uint_t                 root;         /* the one asked about */
    ngx_uint_t                 nprojects;    /* in all */

    ngx_str_t                  next;         /* page of projects, empty: this is
                                                the last one */
    ngx_str_t                  cursor;       /* in the project */
    uint64_t                   told;         /* queues of it */

    unsigned                   incomplete:1;

    ngx_queues_api_samples_t   samples[NGX_QUEUES_API_NFAMILIES];
} ngx_queues_api_metrics_t;


static ngx_int_t ngx_queues_api_metrics_names(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);
static void ngx_queues_api_metrics(ngx_queues_api_t *api);
static ngx_int_t ngx_queues_api_metrics_listed(ngx_queues_api_t *api,
    ngx_array_t *projects);
static ngx_int_t ngx_queues_api_metrics_roots(ngx_queues_api_t *api,
    ngx_uint_t n);
static ngx_int_t ngx_queues_api_metrics_root(ngx_queues_api_t *api,
    ngx_str_t *organization, ngx_str_t *project);
static void ngx_queues_api_metrics_next(ngx_queues_api_t *api);
static void ngx_queues_api_metrics_done(void *data,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_metrics_projects(ngx_queues_api_t *api,
    ngx_queues_store_metrics_t *page);
static ngx_int_t ngx_queues_api_metrics_queues(ngx_queues_api_t *api,
    ngx_queues_store_metrics_t *page);
static void ngx_queues_api_metrics_skip(ngx_queues_api_t *api);
static void ngx_queues_api_metrics_failed(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_metrics_failed_done(void *data,
    ngx_queues_store_result_t *result);
static ngx_int_t ngx_queues_api_metrics_copy(ngx_queues_api_t *api,
    ngx_str_t *to, ngx_str_t *from);
static void ngx_queues_api_metrics_answer(ngx_queues_api_t *api,
    ngx_uint_t redis);


static const ngx_queues_api_route_t  ngx_queues_api_metrics_routes[] = {

    { NGX_HTTP_GET,
      ngx_string("/{name}"),
      ngx_string("Metrics"),
      NGX_QUEUES_CONF_METRICS,
      ngx_string("queues.metrics.read"),
      NGX_QUEUES_API_NO_BODY,
      0,
      ngx_queues_api_metrics },

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static const ngx_queues_api_route_t *const  ngx_queues_api_metrics_tables[] = {
    ngx_queues_api_metrics_routes,
    NULL
};


/* as of queues_health: the path is the location's affair */

const ngx_queues_api_surface_t  ngx_queues_api_metrics_surface = {
    NGX_QUEUES_CONF_METRICS,
    ngx_null_string,
    ngx_queues_api_metrics_tables,
    ngx_queues_api_codes,
    ngx_queues_api_metrics_names,
    ngx_queues_api_queues_error,
    NULL,
    0,
    ngx_null_string,
    1,
    0,
    0
};


/*
 * It is about all projects: what a credential must permit is the resource that
 * is written so.  No organization pays for it.
 */

static ngx_int_t
ngx_queues_api_metrics_names(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf)
{
    ngx_str_set(&api->project, "*");
    ngx_str_set(&api->queue, "*");
    ngx_str_set(&api->ref, "n*");

    api->limits = NULL;

    return NGX_OK;
}


static void
ngx_queues_api_metrics(ngx_queues_api_t *api)
{
    ngx_str_t                  value;
    ngx_uint_t                 i;
    ngx_queues_conf_loc_t     *qlcf;
    ngx_queues_api_metrics_t  *m;

    qlcf = ngx_http_get_module_loc_conf(api->op->request, ngx_queues_module);

    ngx_str_set(&value, "no-store");

    m = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_metrics_t));

    if (m == NULL
        || ngx_queues_http_add_header(api->op->request, "Cache-Control",
                                      &value)
           != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = m;

    m->queues = qlcf->metrics->queues;
    m->since = ngx_current_msec;

    for (i = 0; i < NGX_QUEUES_API_NFAMILIES; i++) {
        ngx_queues_api_samples_init(&m->samples[i], api->op->request->pool,
                                    &ngx_queues_api_families[i]);
    }

    if (qlcf->metrics->projects.nelts == 0) {
        m->page = ngx_queues_api_metrics_projects;

        ngx_queues_api_started(api,
            ngx_queues_store_metrics_projects_start(&m->next,
                                            NGX_QUEUES_STORE_METRICS_PROJECTS,
                                            ngx_queues_api_metrics_done, api));
        return;
    }

    if (ngx_queues_api_metrics_listed(api, &qlcf->metrics->projects)
        != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
        return;
    }

    ngx_queues_api_metrics_next(api);
}


static ngx_int_t
ngx_queues_api_metrics_listed(ngx_queues_api_t *api, ngx_array_t *projects)
{
    ngx_str_t   organization, project, *value;
    ngx_uint_t  i;

    value = projects->elts;

    if (ngx_queues_api_metrics_roots(api, projects->nelts) != NGX_OK) {
        return NGX_ERROR;
    }

    for (i = 0; i < projects->nelts; i++) {
        project = value[i];

        if (ngx_queues_base_word(&project, '/', &organization) != NGX_OK
            || ngx_queues_api_metrics_root(api, &organization, &project)
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_metrics_roots(ngx_queues_api_t *api, ngx_uint_t n)
{
    ngx_queues_api_metrics_t  *m;

    m = api->data;

    m->roots = ngx_palloc(api->op->pool, n * sizeof(ngx_str_t));
    m->labels = ngx_pcalloc(api->op->pool, n * sizeof(ngx_queues_api_names_t));
    m->nroots = 0;
    m->root = 0;

    return (m->roots && m->labels) ? NGX_OK : NGX_ERROR;
}


/* copies of the names, as labels and as the store has them */

static ngx_int_t
ngx_queues_api_metrics_root(ngx_queues_api_t *api, ngx_str_t *organization,
    ngx_str_t *project)
{
    ngx_str_t                  names;
    ngx_queues_api_label_t    *labels;
    ngx_queues_api_metrics_t  *m;

    m = api->data;

    if (ngx_queues_api_set_project(api, organization, project) != NGX_OK) {
        return NGX_ERROR;
    }

    m->roots[m->nroots] = api->root;

    labels = m->labels[m->nroots++];
    names = api->project;

    labels[0].name = "organization";
    labels[1].name = "project";

    if (ngx_queues_base_word(&names, '/', &labels[0].value) != NGX_OK) {
        return NGX_ERROR;
    }

    labels[1].value = names;

    return NGX_OK;
}


/* the next call, or the answer */

static void
ngx_queues_api_metrics_next(ngx_queues_api_t *api)
{
    ngx_uint_t                 limit;
    ngx_queues_api_metrics_t  *m;

    m = api->data;

    if ((m->root < m->nroots || m->next.len)
        && (m->nprojects >= NGX_QUEUES_API_METRICS_PROJECTS
            || ngx_current_msec - m->since >= NGX_QUEUES_API_METRICS_MS))
    {
        m->incomplete = 1;
        ngx_queues_api_metrics_answer(api, 1);
        return;
    }

    if (m->root < m->nroots) {
        limit = ngx_min(m->queues, NGX_QUEUES_STORE_METRICS_QUEUES);

        m->page = ngx_queues_api_metrics_queues;

        ngx_queues_api_started(api,
            ngx_queues_store_metrics_queues_start(&m->roots[m->root],
                                                  &m->cursor, limit,
                                                  ngx_queues_api_metrics_done,
                                                  api));
        return;
    }

    if (m->next.len) {
        m->page = ngx_queues_api_metrics_projects;

        ngx_queues_api_started(api,
            ngx_queues_store_metrics_projects_start(&m->next,
                                            NGX_QUEUES_STORE_METRICS_PROJECTS,
                                            ngx_queues_api_metrics_done, api));
        return;
    }

    ngx_queues_api_metrics_answer(api, 1);
}


static void
ngx_queues_api_metrics_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_metrics_t  *m;

    m = api->data;

    if (api->op->request == NULL) {
        /* who asked has gone */

    } else if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_metrics_failed(api, result);

    } else if (m->page(api, result->metrics) != NGX_OK) {
        ngx_queues_api_no_memory(api);

    } else {
        ngx_queues_api_metrics_next(api);
    }

    ngx_queues_http_op_release(api->op);
}


static ngx_int_t
ngx_queues_api_metrics_projects(ngx_queues_api_t *api,
    ngx_queues_store_metrics_t *page)
{
    ngx_uint_t                           i;
    ngx_queues_api_metrics_t            *m;
    ngx_queues_store_metrics_project_t  *p;

    m = api->data;

    if (ngx_queues_api_metrics_copy(api, &m->next, &page->next) != NGX_OK
        || ngx_queues_api_metrics_roots(api, ngx_max(page->nprojects, 1))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < page->nprojects; i++) {
        p = &page->projects[i];

        /* what others wrote there */

        if (ngx_queues_base_name_check(&p->organization,
                                       NGX_QUEUES_CONF_NAME_MAX)
            != NGX_OK
            || ngx_queues_base_name_check(&p->project,
                                          NGX_QUEUES_CONF_NAME_MAX)
               != NGX_OK)
        {
            continue;
        }

        if (ngx_queues_api_metrics_root(api, &p->organization, &p->project)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_metrics_queues(ngx_queues_api_t *api,
    ngx_queues_store_metrics_t *page)
{
    ngx_uint_t                 i;
    ngx_queues_api_metrics_t  *m;

    m = api->data;

    if (m->cursor.len == 0) {
        ngx_queues_api_metrics_project(m->samples, m->labels[m->root], page);
    }

    for (i = 0; i < page->nqueues && m->queues; i++) {
        ngx_queues_api_metrics_queue(m->samples, m->labels[m->root],
                                     &page->queues[i]);

        m->queues--;
        m->told++;
    }

    if (page->next.len && m->queues) {
        return ngx_queues_api_metrics_copy(api, &m->cursor, &page->next);
    }

    m->out += page->all > m->told ? page->all - m->told : 0;

    ngx_queues_api_metrics_skip(api);

    return NGX_OK;
}


/* to the next project */

static void
ngx_queues_api_metrics_skip(ngx_queues_api_t *api)
{
    ngx_queues_api_metrics_t  *m;

    m = api->data;

    ngx_str_null(&m->cursor);

    m->told = 0;
    m->root++;
    m->nprojects++;
}


/*
 * Keys of one project that are not ours do not hide the rest.  But who was
 * silent for so long is not asked again: the scrape would be over before.
 */

static void
ngx_queues_api_metrics_failed(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    if (result->late) {
        ngx_queues_api_metrics_answer(api, 0);
        return;
    }

    ngx_str_set(&api->root, NGX_QUEUES_STORE_PUSH_ROOT);

    ngx_queues_api_ping(api, ngx_queues_api_metrics_failed_done);
}


static void
ngx_queues_api_metrics_failed_done(void *data,
    ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_metrics_t  *m;

    m = api->data;

    if (api->op->request == NULL) {
        /* who asked has gone */

    } else if (result->code != NGX_QUEUES_STORE_OK) {
        ngx_queues_api_metrics_answer(api, 0);

    } else {
        m->incomplete = 1;

        if (m->root < m->nroots) {
            ngx_queues_api_metrics_skip(api);

        } else {
            ngx_str_null(&m->next);
        }

        ngx_queues_api_metrics_next(api);
    }

    ngx_queues_http_op_release(api->op);
}


static ngx_int_t
ngx_queues_api_metrics_copy(ngx_queues_api_t *api, ngx_str_t *to,
    ngx_str_t *from)
{
    to->len = from->len;
    to->data = ngx_pstrdup(api->op->pool, from);

    return (to->data || from->len == 0) ? NGX_OK : NGX_ERROR;
}


/* what the store has told before it went away is not half told */

static void
ngx_queues_api_metrics_answer(ngx_queues_api_t *api, ngx_uint_t redis)
{
    ngx_queues_api_metrics_t  *m;

    m = api->data;

    ngx_queues_api_metrics_node(api, m->samples, redis);

    if (redis) {
        ngx_queues_api_sample(&m->samples[NGX_QUEUES_API_COMPLETE], NULL,
                              NULL, 0, !m->incomplete);
        ngx_queues_api_sample(&m->samples[NGX_QUEUES_API_LEFT_OUT], NULL,
                              NULL, 0, m->out);
    }

    ngx_queues_api_samples_answer(api, m->samples,
                                  redis ? NGX_QUEUES_API_NFAMILIES
                                        : NGX_QUEUES_API_STORE_FIRST,
                              "text/plain; version=0.0.4; charset=utf-8");
}
