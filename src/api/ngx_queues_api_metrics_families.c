
#include "ngx_queues_api_metrics.h"


const ngx_queues_api_family_t
    ngx_queues_api_families[NGX_QUEUES_API_NFAMILIES] =
{
    [NGX_QUEUES_API_BUILD_INFO] =
        { ngx_string("queues_build_info"), ngx_string("gauge"),
          ngx_string("The module's version and its library in Redis, "
                     "always 1.") },
    [NGX_QUEUES_API_WORKERS] =
        { ngx_string("queues_workers"), ngx_string("gauge"),
          ngx_string("Workers of this node, with those that are still "
                     "leaving.") },
    [NGX_QUEUES_API_REQUESTS] =
        { ngx_string("queues_requests_total"), ngx_string("counter"),
          ngx_string("Requests that have ended, by operation and status.") },
    [NGX_QUEUES_API_REQUEST_SECONDS] =
        { ngx_string("queues_request_duration_seconds"),
          ngx_string("histogram"),
          ngx_string("How long requests took that did not wait for "
                     "messages.") },
    [NGX_QUEUES_API_WAIT_SECONDS] =
        { ngx_string("queues_wait_duration_seconds"), ngx_string("histogram"),
          ngx_string("How long requests took that waited for messages.") },
    [NGX_QUEUES_API_PARKED] =
        { ngx_string("queues_parked_requests"), ngx_string("gauge"),
          ngx_string("Requests that are waiting for messages.") },
    [NGX_QUEUES_API_SENT] =
        { ngx_string("queues_messages_sent_total"), ngx_string("counter"),
          ngx_string("Messages that calls have sent, duplicates too.") },
    [NGX_QUEUES_API_RECEIVED] =
        { ngx_string("queues_messages_received_total"), ngx_string("counter"),
          ngx_string("Messages in answers of calls, and in deliveries.") },
    [NGX_QUEUES_API_ACKNOWLEDGED] =
        { ngx_string("queues_messages_acknowledged_total"),
          ngx_string("counter"),
          ngx_string("Messages that calls, or answers of endpoints, have "
                     "acknowledged.") },
    [NGX_QUEUES_API_DELIVERIES] =
        { ngx_string("queues_deliveries_total"), ngx_string("counter"),
          ngx_string("Attempts to deliver to an endpoint, by what came of "
                     "them.") },
    [NGX_QUEUES_API_DELIVERY_SECONDS] =
        { ngx_string("queues_delivery_duration_seconds"),
          ngx_string("histogram"),
          ngx_string("How long attempts took, from the claim to the "
                     "endpoint's answer.") },
    [NGX_QUEUES_API_IN_FLIGHT] =
        { ngx_string("queues_deliveries_in_flight"), ngx_string("gauge"),
          ngx_string("Attempts that are under way.") },
    [NGX_QUEUES_API_WINDOW] =
        { ngx_string("queues_delivery_window"), ngx_string("gauge"),
          ngx_string("Deliveries that all subscriptions owned here may have "
                     "under way.") },
    [NGX_QUEUES_API_OWNED] =
        { ngx_string("queues_subscriptions_owned"), ngx_string("gauge"),
          ngx_string("Subscriptions that this node delivers.") },
    [NGX_QUEUES_API_REDIS_UP] =
        { ngx_string("queues_redis_up"), ngx_string("gauge"),
          ngx_string("1 if Redis answered this scrape.") },
    [NGX_QUEUES_API_REDIS_LINKS] =
        { ngx_string("queues_redis_links"), ngx_string("gauge"),
          ngx_string("Connections to Redis that are ready: one of each kind "
                     "for a worker.") },
    [NGX_QUEUES_API_REDIS_RECONNECTS] =
        { ngx_string("queues_redis_reconnects_total"), ngx_string("counter"),
          ngx_string("Connections to Redis that were lost and made anew.") },
    [NGX_QUEUES_API_REDIS_SECONDS] =
        { ngx_string("queues_redis_command_duration_seconds"),
          ngx_string("histogram"),
          ngx_string("How long commands took, from the call to Redis' "
                     "answer.") },
    [NGX_QUEUES_API_REDIS_IN_FLIGHT] =
        { ngx_string("queues_redis_commands_in_flight"), ngx_string("gauge"),
          ngx_string("Commands that are not answered yet.") },
    [NGX_QUEUES_API_REDIS_OVERDUE] =
        { ngx_string("queues_redis_commands_overdue_total"),
          ngx_string("counter"),
          ngx_string("Commands that were not answered within "
                     "queues_redis_timeout.") },
    [NGX_QUEUES_API_REDIS_RETRIED] =
        { ngx_string("queues_redis_commands_retried_total"),
          ngx_string("counter"),
          ngx_string("Commands that a Redis which is no primary refused, and "
                     "that were sent once more.") },
    [NGX_QUEUES_API_ZONE] =
        { ngx_string("queues_zone_bytes"), ngx_string("gauge"),
          ngx_string("Bytes of queues_zone.") },

    [NGX_QUEUES_API_COMPLETE] =
        { ngx_string("queues_projects_complete"), ngx_string("gauge"),
          ngx_string("0 if projects are left out: there are too many, it "
                     "took too long, or Redis failed.") },
    [NGX_QUEUES_API_LEFT_OUT] =
        { ngx_string("queues_queues_left_out"), ngx_string("gauge"),
          ngx_string("Queues that are left out of the families by queue.") },
    [NGX_QUEUES_API_PROJECT_QUEUES] =
        { ngx_string("queues_project_queues"), ngx_string("gauge"),
          ngx_string("Queues of a project, and subscriptions of Pub/Sub.") },
    [NGX_QUEUES_API_EXPIRED] =
        { ngx_string("queues_messages_expired_total"), ngx_string("counter"),
          ngx_string("Messages that were older than their retention.") },
    [NGX_QUEUES_API_DEAD_LETTERED] =
        { ngx_string("queues_messages_dead_lettered_total"),
          ngx_string("counter"),
          ngx_string("Messages that went to a dead-letter queue or topic.") },
    [NGX_QUEUES_API_DROPPED] =
        { ngx_string("queues_messages_dropped_total"), ngx_string("counter"),
          ngx_string("Messages of Pub/Sub that were tried too often and had "
                     "no dead-letter topic.") },
    [NGX_QUEUES_API_QUEUE_MESSAGES] =
        { ngx_string("queues_queue_messages"), ngx_string("gauge"),
          ngx_string("Messages in a queue, by their state.") },
    [NGX_QUEUES_API_QUEUE_OLDEST] =
        { ngx_string("queues_queue_oldest_message_age_seconds"),
          ngx_string("gauge"),
          ngx_string("How old the oldest message of a queue is.") },
    [NGX_QUEUES_API_QUEUE_SENT] =
        { ngx_string("queues_queue_messages_sent_total"),
          ngx_string("counter"),
          ngx_string("Messages that came into a queue, moved ones too, since "
                     "it was made or purged.") },
    [NGX_QUEUES_API_QUEUE_ACKNOWLEDGED] =
        { ngx_string("queues_queue_messages_acknowledged_total"),
          ngx_string("counter"),
          ngx_string("Messages of a queue that were acknowledged, since it "
                     "was made or purged.") }
};
