
/* What Google's Pub/Sub has and this server has not: 501. */

#include "ngx_queues_api_pubsub.h"


#define NGX_QUEUES_API_PUBSUB_NONE  "Pubsub"

#define ngx_queues_api_pubsub_none_route(method, path, name)                  \
    { method, ngx_string("/v1/projects/{project}/" path),                     \
      ngx_string(NGX_QUEUES_API_PUBSUB_NONE name),                            \
      NGX_QUEUES_CONF_PUBSUB, ngx_null_string, NGX_QUEUES_API_NO_BODY, 0,     \
      ngx_queues_api_pubsub_none }

#define ngx_queues_api_pubsub_none_policy(resource)                           \
    ngx_queues_api_pubsub_none_route(NGX_HTTP_GET,                            \
                                     resource ":getIamPolicy",                \
                                     "GetIamPolicy"),                         \
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST,                           \
                                     resource ":getIamPolicy",                \
                                     "GetIamPolicy"),                         \
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST,                           \
                                     resource ":setIamPolicy",                \
                                     "SetIamPolicy"),                         \
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST,                           \
                                     resource ":testIamPermissions",          \
                                     "TestIamPermissions")


static void ngx_queues_api_pubsub_none(ngx_queues_api_t *api);


const ngx_queues_api_route_t  ngx_queues_api_pubsub_none_routes[] = {

    ngx_queues_api_pubsub_none_policy("topics/{topic}"),
    ngx_queues_api_pubsub_none_policy("subscriptions/{subscription}"),
    ngx_queues_api_pubsub_none_policy("snapshots/{snapshot}"),
    ngx_queues_api_pubsub_none_policy("schemas/{schema}"),

    ngx_queues_api_pubsub_none_route(NGX_HTTP_GET, "schemas", "ListSchemas"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST, "schemas",
                                     "CreateSchema"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST, "schemas:validate",
                                     "ValidateSchema"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST, "schemas:validateMessage",
                                     "ValidateMessage"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_GET, "schemas/{schema}",
                                     "GetSchema"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_DELETE, "schemas/{schema}",
                                     "DeleteSchema"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST, "schemas/{schema}:commit",
                                     "CommitSchema"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_POST,
                                     "schemas/{schema}:rollback",
                                     "RollbackSchema"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_GET,
                                     "schemas/{schema}:listRevisions",
                                     "ListSchemaRevisions"),
    ngx_queues_api_pubsub_none_route(NGX_HTTP_DELETE,
                                     "schemas/{schema}:deleteRevision",
                                     "DeleteSchemaRevision"),

    { 0, ngx_null_string, ngx_null_string, 0, ngx_null_string, 0, 0, NULL }
};


static void
ngx_queues_api_pubsub_none(ngx_queues_api_t *api)
{
    ngx_str_t  name;

    name = api->route->name;

    name.data += sizeof(NGX_QUEUES_API_PUBSUB_NONE) - 1;
    name.len -= sizeof(NGX_QUEUES_API_PUBSUB_NONE) - 1;

    ngx_queues_api_error(api, NGX_QUEUES_API_UNIMPLEMENTED, NULL,
                         "This server does not implement %V.", &name);
}
