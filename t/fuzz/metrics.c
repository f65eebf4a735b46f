
/*
 * Replies to what metrics ask, of any shape, as in store.c: p projects, q the
 * queues of one.  What is told is what is in the reply.
 */

#include "store.h"

#include "../../src/store/ngx_queues_store_rows.c"
#include "../../src/store/ngx_queues_store_queue.c"
#include "../../src/store/ngx_queues_store_metrics.c"


/* each is a root, and those that are left out are none */

static void
fuzz_projects(ngx_queues_store_metrics_t *metrics)
{
    ngx_str_t                           *root;
    ngx_uint_t                           i, n;
    ngx_queues_store_metrics_project_t  *project;

    n = 0;

    for (i = 1; i < fuzz_call.reply->nelts; i++) {
        root = &fuzz_call.reply->elts[i].str;

        if (root->len < 8
            || memcmp(root->data, "ngxq:{", 6) != 0
            || root->data[root->len - 1] != '}'
            || memchr(root->data + 6, '/', root->len - 7) == NULL)
        {
            continue;
        }

        project = &metrics->projects[n++];

        fuzz_assert(fuzz_same(&project->root, root));
        fuzz_assert(project->organization.data == root->data + 6);
        fuzz_assert(project->organization.data[project->organization.len]
                    == '/');
        fuzz_assert(memchr(project->organization.data, '/',
                           project->organization.len)
                    == NULL);
        fuzz_assert(project->project.data
                    == project->organization.data + project->organization.len
                       + 1);
        fuzz_assert(project->project.data + project->project.len
                    == root->data + root->len - 1);
    }

    fuzz_assert(metrics->nprojects == n && metrics->nqueues == 0);
}


static void
fuzz_metrics_queues(ngx_queues_store_metrics_t *metrics)
{
    ngx_uint_t                         i;
    ngx_queues_redis_reply_t          *elts;
    ngx_queues_store_metrics_queue_t  *queue;

    elts = fuzz_call.reply->elts;

    fuzz_assert(fuzz_call.reply->nelts == 6 + 11 * metrics->nqueues);
    fuzz_assert(metrics->all == (uint64_t) elts[1].integer
                && metrics->totals.expired == (uint64_t) elts[2].integer
                && metrics->totals.dead_lettered == (uint64_t) elts[3].integer
                && metrics->totals.dropped == (uint64_t) elts[4].integer);
    fuzz_assert(fuzz_call.told == (elts[5].integer != 0));

    elts += 6;

    for (i = 0; i < metrics->nqueues; i++) {
        queue = &metrics->queues[i];

        fuzz_assert(fuzz_same(&queue->name, &elts[0].str)
                    && fuzz_same(&queue->kind, &elts[1].str)
                    && queue->counts.visible == elts[2].integer
                    && queue->counts.in_flight == elts[3].integer
                    && queue->counts.delayed == elts[4].integer
                    && queue->counts.oldest == elts[5].integer
                    && queue->totals.sent == (uint64_t) elts[6].integer
                    && queue->totals.acknowledged
                       == (uint64_t) elts[7].integer
                    && queue->totals.expired == (uint64_t) elts[8].integer
                    && queue->totals.dead_lettered
                       == (uint64_t) elts[9].integer
                    && queue->totals.dropped == (uint64_t) elts[10].integer);

        elts += 11;
    }
}


static void
fuzz_result(void *data, ngx_queues_store_result_t *result)
{
    fuzz_call.results++;

    if (result->code != NGX_QUEUES_STORE_OK) {
        return;
    }

    fuzz_assert(result->metrics);
    fuzz_assert(fuzz_same(&result->metrics->next,
                          &fuzz_call.reply->elts[0].str));

    if (*(u_char *) data == 'p') {
        fuzz_projects(result->metrics);

    } else {
        fuzz_metrics_queues(result->metrics);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    u_char      operation;
    ngx_int_t   rc;
    ngx_str_t   bytes;
    ngx_uint_t  late;

    if (size == 0 || data[0] == '\0') {
        return 0;
    }

    bytes = fuzz_input(data, size, &operation, &late);

    switch (operation) {

    case 'p':
        rc = ngx_queues_store_metrics_projects_start(&fuzz_ref, 100,
                                                     fuzz_result, &operation);
        break;

    case 'q':
        rc = ngx_queues_store_metrics_queues_start(&fuzz_root, &fuzz_ref, 50,
                                                   fuzz_result, &operation);
        break;

    default:
        rc = NGX_DECLINED;
    }

    if (rc == NGX_OK) {
        (void) fuzz_answer(&bytes, late);

        /* reading makes nothing due */

        fuzz_assert(fuzz_call.results == 1);
        fuzz_assert(fuzz_call.notes == 0);
    }

    fuzz_assert(fuzz_pools == 0);

    free(bytes.data);

    return 0;
}
