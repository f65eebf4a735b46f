
#include "ngx_queues_api_queen_pop.h"


static size_t ngx_queues_api_queen_pop_size(ngx_queues_api_queen_pop_t *ctx,
    ngx_queues_store_log_t *log);
static u_char *ngx_queues_api_queen_pop_message(u_char *p, ngx_str_t *lease,
    ngx_str_t *group, ngx_queues_store_log_message_t *m);
static u_char *ngx_queues_api_queen_pop_text(u_char *p, ngx_str_t *text);
static u_char *ngx_queues_api_queen_pop_partition(u_char *p,
    ngx_queues_store_lane_t *place);


ngx_int_t
ngx_queues_api_queen_pop_write(ngx_queues_api_t *api,
    ngx_queues_api_queen_pop_t *ctx, ngx_queues_store_log_t *log)
{
    u_char                          *p, *start;
    ngx_str_t                        lease, *group;
    ngx_uint_t                       i;
    ngx_queues_store_log_message_t  *m;

    m = log->messages;

    for (i = 0; i < log->nmessages; i++) {

        if (m[i].sealed
            && ngx_queues_api_queen_unseal(api, &m[i].payload) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    start = ngx_pnalloc(api->op->request->pool,
                        ngx_queues_api_queen_pop_size(ctx, log));
    if (start == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    group = &ctx->pop.group;

    lease.data = ctx->pop.lease;
    lease.len = ctx->pop.auto_ack ? 0 : NGX_QUEUES_BASE_UUID_LEN;

    p = ngx_sprintf(start, "{\"success\":true,\"queue\":\"%V\","
                    "\"partition\":\"%V\"", &ctx->pop.queue, &m->lane);
    p = ngx_queues_api_queen_pop_partition(p, &m->place);
    p = ngx_sprintf(p, ",\"leaseId\":\"%V\",\"consumerGroup\":\"%V\","
                    "\"messages\":[", &lease, group);

    for (i = 0; i < log->nmessages; i++) {

        if (i) {
            *p++ = ',';
        }

        p = ngx_queues_api_queen_pop_message(p, &lease, group, &m[i]);
    }

    p = ngx_sprintf(p, "],\"partitionsClaimed\":%ui}", log->nlanes);

    api->op->note->messages = log->nmessages;

    ngx_queues_api_answer(api, NGX_HTTP_OK, start, p);

    return NGX_OK;
}


static size_t
ngx_queues_api_queen_pop_size(ngx_queues_api_queen_pop_t *ctx,
    ngx_queues_store_log_t *log)
{
    size_t                           size, each;
    ngx_uint_t                       i;
    ngx_queues_store_log_message_t  *m;

    size = sizeof("{\"success\":true,\"queue\":\"\",\"partition\":\"\","
                  "\"partitionId\":\"\",\"leaseId\":\"\",\"consumerGroup\":"
                  "\"\",\"messages\":[],\"partitionsClaimed\":}")
           + 2 * NGX_QUEUES_BASE_UUID_LEN + NGX_INT_T_LEN
           + ctx->pop.queue.len + ctx->pop.group.len
           + log->messages[0].lane.len;

    each = sizeof(",{\"id\":\"\",\"transactionId\":\"\",\"traceId\":null,"
                  "\"data\":,\"producerSub\":null,\"createdAt\":\"\","
                  "\"partitionId\":\"\",\"partition\":\"\",\"leaseId\":\"\","
                  "\"consumerGroup\":\"\"}")
           + 3 * NGX_QUEUES_BASE_UUID_LEN + NGX_QUEUES_BASE_MOMENT_LEN
           + ctx->pop.group.len;

    for (i = 0; i < log->nmessages; i++) {
        m = &log->messages[i];

        size += each + m->id.len + m->trace.len + m->payload.len
                + m->producer.len + m->lane.len;
    }

    return size;
}


static u_char *
ngx_queues_api_queen_pop_message(u_char *p, ngx_str_t *lease, ngx_str_t *group,
    ngx_queues_store_log_message_t *m)
{
    p = ngx_queues_api_queen_literal(p, "{\"id\":\"");
    p = ngx_queues_api_queen_message_id(p, &m->place, m->offset, m->ms);
    p = ngx_queues_api_queen_literal(p, "\",\"transactionId\":\"");
    p = ngx_queues_api_queen_copy(p, &m->id);

    p = ngx_queues_api_queen_literal(p, "\",\"traceId\":");
    p = ngx_queues_api_queen_pop_text(p, &m->trace);

    p = ngx_queues_api_queen_literal(p, ",\"data\":");
    p = ngx_queues_api_queen_copy(p, &m->payload);

    p = ngx_queues_api_queen_literal(p, ",\"producerSub\":");
    p = ngx_queues_api_queen_pop_text(p, &m->producer);

    p = ngx_queues_api_queen_literal(p, ",\"createdAt\":\"");
    p = ngx_queues_base_moment_print(p, m->ms);
    *p++ = '"';

    p = ngx_queues_api_queen_pop_partition(p, &m->place);

    p = ngx_queues_api_queen_literal(p, ",\"partition\":\"");
    p = ngx_queues_api_queen_copy(p, &m->lane);
    p = ngx_queues_api_queen_literal(p, "\",\"leaseId\":\"");
    p = ngx_queues_api_queen_copy(p, lease);
    p = ngx_queues_api_queen_literal(p, "\",\"consumerGroup\":\"");
    p = ngx_queues_api_queen_copy(p, group);

    return ngx_queues_api_queen_literal(p, "\"}");
}


/* null where there is none */

static u_char *
ngx_queues_api_queen_pop_text(u_char *p, ngx_str_t *text)
{
    if (text->len == 0) {
        return ngx_queues_api_queen_literal(p, "null");
    }

    *p++ = '"';
    p = ngx_queues_api_queen_copy(p, text);
    *p++ = '"';

    return p;
}


static u_char *
ngx_queues_api_queen_pop_partition(u_char *p,
    ngx_queues_store_lane_t *place)
{
    p = ngx_queues_api_queen_literal(p, ",\"partitionId\":\"");
    p = ngx_queues_base_lane_print(p, place->queue, place->lane);
    *p++ = '"';

    return p;
}
