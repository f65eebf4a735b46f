
#include "ngx_queues_api_queues.h"


#define NGX_QUEUES_API_RECEIVES_MAX  1000


typedef enum {
    NGX_QUEUES_API_POLICY_QUEUE = 0,
    NGX_QUEUES_API_POLICY_COUNT,
    NGX_QUEUES_API_POLICY_NMEMBERS
} ngx_queues_api_policy_member_e;


static const ngx_str_t  ngx_queues_api_policy_names[] = {
    ngx_string("deadLetterQueueId"),
    ngx_string("maxReceiveCount")
};

static ngx_str_t  ngx_queues_api_policy_prefix = ngx_string("redrivePolicy.");


ngx_int_t
ngx_queues_api_policy(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, const ngx_str_t *name,
    ngx_queues_store_settings_t *settings)
{
    ngx_str_t                     *prefix;
    const ngx_str_t               *names;
    ngx_queues_base_json_value_t  *count;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_POLICY_NMEMBERS];

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {

        /* null clears, what is not there leaves it */

        if (value->raw.len) {
            settings->max_receives = 0;
        }

        return NGX_OK;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        ngx_queues_api_invalid(api, NULL, name, "must be an object or null");
        return NGX_ERROR;
    }

    prefix = &ngx_queues_api_policy_prefix;
    names = ngx_queues_api_policy_names;

    if (ngx_queues_api_members(api, value, prefix, names,
                               NGX_QUEUES_API_POLICY_NMEMBERS, values)
        != NGX_OK
        || ngx_queues_api_other(api, &values[NGX_QUEUES_API_POLICY_QUEUE],
                                prefix, &names[NGX_QUEUES_API_POLICY_QUEUE],
                                NULL, &settings->dead_letter)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    count = &values[NGX_QUEUES_API_POLICY_COUNT];

    if (count->type == NGX_QUEUES_BASE_JSON_NULL) {
        ngx_queues_api_invalid(api, prefix,
                               &names[NGX_QUEUES_API_POLICY_COUNT],
                               "is missing");
        return NGX_ERROR;
    }

    return ngx_queues_api_integer(api, count, prefix,
                                  &names[NGX_QUEUES_API_POLICY_COUNT], 1,
                                  NGX_QUEUES_API_RECEIVES_MAX,
                                  &settings->max_receives);
}


void
ngx_queues_api_policy_error(ngx_queues_api_t *api, const char *what)
{
    ngx_queues_api_invalid(api, &ngx_queues_api_policy_prefix,
                     &ngx_queues_api_policy_names[NGX_QUEUES_API_POLICY_QUEUE],
                     what);
}
