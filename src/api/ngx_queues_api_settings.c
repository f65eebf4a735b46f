
#include "ngx_queues_api_queues.h"


/* the members of a queue that a client may write: settings first */

typedef enum {
    NGX_QUEUES_API_NAME = NGX_QUEUES_STORE_NSETTINGS,
    NGX_QUEUES_API_KIND,
    NGX_QUEUES_API_DEDUPLICATION,
    NGX_QUEUES_API_REDRIVE,
    NGX_QUEUES_API_NMEMBERS
} ngx_queues_api_member_e;


typedef struct {
    int64_t      value;
    int64_t      min;
    int64_t      max;
} ngx_queues_api_range_t;


static ngx_int_t ngx_queues_api_settings_read(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values,
    ngx_queues_store_settings_t *settings);
static ngx_int_t ngx_queues_api_settings_flag(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, int64_t *flag);
static ngx_int_t ngx_queues_api_settings_name(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *name);
static ngx_int_t ngx_queues_api_settings_kind(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *kind);
static void ngx_queues_api_settings_not_fifo(ngx_queues_api_t *api);


static ngx_str_t  ngx_queues_api_kinds[] = {
    ngx_string("standard"),
    ngx_string("fifo")
};


static const ngx_str_t  ngx_queues_api_members_of_queue[] = {
    ngx_string("visibilityTimeoutSeconds"),
    ngx_string("receiveWaitSeconds"),
    ngx_string("retentionSeconds"),
    ngx_string("delaySeconds"),
    ngx_string("maxMessageBytes"),
    ngx_string("name"),
    ngx_string("kind"),
    ngx_string("contentBasedDeduplication"),
    ngx_string("redrivePolicy")
};


/* default and range, from the API page */

static const ngx_queues_api_range_t  ngx_queues_api_ranges[] = {
    { 30, 0, NGX_QUEUES_API_VISIBILITY_MAX },
    { 0, 0, NGX_QUEUES_API_WAIT_MAX },
    { 345600, 60, 1209600 },
    { 0, 0, NGX_QUEUES_API_DELAY_MAX },
    { 262144, 1024, 1048576 }
};


ngx_int_t
ngx_queues_api_settings_new(ngx_queues_api_t *api,
    ngx_queues_store_queue_t *queue)
{
    ngx_uint_t                     i;
    ngx_queues_base_json_value_t   body;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_NMEMBERS];

    if (ngx_queues_api_body(api, 0, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL,
                                  ngx_queues_api_members_of_queue,
                                  NGX_QUEUES_API_NMEMBERS, values)
           != NGX_OK
        || ngx_queues_api_settings_name(api, &values[NGX_QUEUES_API_NAME],
                                        &queue->name)
           != NGX_OK
        || ngx_queues_api_settings_kind(api, &values[NGX_QUEUES_API_KIND],
                                        &queue->kind)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        queue->settings.values[i] = ngx_queues_api_ranges[i].value;
    }

    queue->settings.by_content = 0;
    queue->settings.max_receives = 0;
    ngx_str_null(&queue->settings.dead_letter);

    if (ngx_queues_api_settings_read(api, values, &queue->settings)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (queue->settings.by_content
        && queue->kind.data != ngx_queues_api_kinds[1].data)
    {
        ngx_queues_api_settings_not_fifo(api);
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_settings_change(ngx_queues_api_t *api,
    ngx_queues_store_settings_t *settings)
{
    ngx_uint_t                     i;
    ngx_queues_base_json_value_t   body;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_NMEMBERS];

    if (ngx_queues_api_body(api, 1, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL,
                                  ngx_queues_api_members_of_queue,
                                  NGX_QUEUES_API_NMEMBERS, values)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    for (i = NGX_QUEUES_API_NAME; i <= NGX_QUEUES_API_KIND; i++) {
        if (values[i].type != NGX_QUEUES_BASE_JSON_NULL) {
            ngx_queues_api_invalid(api, NULL,
                                   &ngx_queues_api_members_of_queue[i],
                                   "cannot be changed");
            return NGX_ERROR;
        }
    }

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        settings->values[i] = -1;
    }

    settings->by_content = -1;
    settings->max_receives = -1;
    ngx_str_null(&settings->dead_letter);

    return ngx_queues_api_settings_read(api, values, settings);
}


static ngx_int_t
ngx_queues_api_settings_read(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values,
    ngx_queues_store_settings_t *settings)
{
    ngx_uint_t        i;
    const ngx_str_t  *names;

    names = ngx_queues_api_members_of_queue;

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        if (ngx_queues_api_integer(api, &values[i], NULL, &names[i],
                                   ngx_queues_api_ranges[i].min,
                                   ngx_queues_api_ranges[i].max,
                                   &settings->values[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (ngx_queues_api_settings_flag(api,
                                     &values[NGX_QUEUES_API_DEDUPLICATION],
                                     &settings->by_content)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_queues_api_policy(api, &values[NGX_QUEUES_API_REDRIVE],
                                 &names[NGX_QUEUES_API_REDRIVE], settings);
}


static ngx_int_t
ngx_queues_api_settings_flag(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, int64_t *flag)
{
    const ngx_str_t  *name;

    name = &ngx_queues_api_members_of_queue[NGX_QUEUES_API_DEDUPLICATION];

    switch (value->type) {

    case NGX_QUEUES_BASE_JSON_NULL:
        return NGX_OK;

    case NGX_QUEUES_BASE_JSON_FALSE:
    case NGX_QUEUES_BASE_JSON_TRUE:
        *flag = (value->type == NGX_QUEUES_BASE_JSON_TRUE);
        return NGX_OK;

    default:
        ngx_queues_api_invalid(api, NULL, name, "must be true or false");
        return NGX_ERROR;
    }
}


static void
ngx_queues_api_settings_not_fifo(ngx_queues_api_t *api)
{
    ngx_queues_api_invalid(api, NULL,
            &ngx_queues_api_members_of_queue[NGX_QUEUES_API_DEDUPLICATION],
            "is for FIFO queues only");
}


void
ngx_queues_api_settings_error(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    switch (result->code) {

    case NGX_QUEUES_STORE_NOT_FIFO:
        ngx_queues_api_settings_not_fifo(api);
        return;

    case NGX_QUEUES_STORE_NO_DEAD_LETTER:
        ngx_queues_api_policy_error(api, "is no queue of the project");
        return;

    case NGX_QUEUES_STORE_DEAD_LETTER_KIND:
        ngx_queues_api_policy_error(api, "is a queue of the other kind");
        return;

    case NGX_QUEUES_STORE_DEAD_LETTER_SELF:
        ngx_queues_api_policy_error(api, "is the queue itself");
        return;

    default:
        ngx_queues_api_store_error(api, result);
    }
}


static ngx_int_t
ngx_queues_api_settings_name(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *name)
{
    if (value->type == NGX_QUEUES_BASE_JSON_STRING) {

        name->data = ngx_queues_api_alloc(api, value->raw.len + 1);
        if (name->data == NULL) {
            return NGX_ERROR;
        }

        name->len = ngx_queues_base_json_decode(name->data, &value->raw)
                    - name->data;

        if (ngx_queues_base_name_check(name, NGX_QUEUES_API_QUEUE_NAME_MAX)
            == NGX_OK)
        {
            return NGX_OK;
        }
    }

    ngx_queues_api_invalid(api, NULL,
                       &ngx_queues_api_members_of_queue[NGX_QUEUES_API_NAME],
                       "must be 1 to 80 letters, digits, \"_\" or \"-\"");

    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_api_settings_kind(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *kind)
{
    ngx_uint_t  i;

    *kind = ngx_queues_api_kinds[0];

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    for (i = 0; i < 2 && value->type == NGX_QUEUES_BASE_JSON_STRING; i++) {
        if (ngx_queues_base_json_equal(&value->raw, &ngx_queues_api_kinds[i]))
        {
            *kind = ngx_queues_api_kinds[i];
            return NGX_OK;
        }
    }

    ngx_queues_api_invalid(api, NULL,
                       &ngx_queues_api_members_of_queue[NGX_QUEUES_API_KIND],
                       "must be \"standard\" or \"fifo\"");

    return NGX_ERROR;
}


size_t
ngx_queues_api_queue_length(ngx_queues_store_queue_t *queue)
{
    /* the text below with its numbers and times: 940 bytes at most */

    return 1024 + queue->uuid.len + queue->id.len + queue->name.len
           + queue->kind.len + queue->settings.dead_letter.len;
}


u_char *
ngx_queues_api_queue_print(u_char *p, ngx_queues_store_queue_t *queue,
    ngx_queues_store_result_t *counted)
{
    ngx_uint_t                    i;
    ngx_queues_store_counts_t    *counts;
    ngx_queues_store_totals_t    *totals;
    ngx_queues_store_settings_t  *settings;

    settings = &queue->settings;

    p = ngx_sprintf(p, "{\"queueId\":\"%V\",\"queue\":\"que_%V\","
                    "\"name\":\"%V\",\"kind\":\"%V\"",
                    &queue->uuid, &queue->id, &queue->name, &queue->kind);

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        p = ngx_sprintf(p, ",\"%V\":%L", &ngx_queues_api_members_of_queue[i],
                        settings->values[i]);
    }

    p = ngx_sprintf(p, ",\"contentBasedDeduplication\":%s,"
                    "\"redrivePolicy\":",
                    settings->by_content ? "true" : "false");

    if (settings->dead_letter.len) {
        p = ngx_sprintf(p, "{\"deadLetterQueueId\":\"%V\","
                        "\"maxReceiveCount\":%L}",
                        &settings->dead_letter, settings->max_receives);

    } else {
        p = ngx_sprintf(p, "null");
    }

    p = ngx_sprintf(p, ",\"createdAt\":\"");
    p = ngx_queues_base_time_print(p, queue->created);

    p = ngx_sprintf(p, "\",\"updatedAt\":\"");
    p = ngx_queues_base_time_print(p, queue->updated);
    *p++ = '"';

    if (counted) {
        counts = &counted->counts;
        totals = &counted->totals;

        p = ngx_sprintf(p, ",\"counts\":{\"visible\":%L,\"inFlight\":%L,"
                        "\"delayed\":%L,\"deadLetterSource\":%L,"
                        "\"oldestMessageAgeSeconds\":%L}",
                        counts->visible, counts->in_flight, counts->delayed,
                        counts->sources, ngx_max(counts->oldest, 0));

        p = ngx_sprintf(p, ",\"totals\":{\"sent\":%uL,\"acknowledged\":%uL,"
                        "\"expired\":%uL,\"deadLettered\":%uL}",
                        totals->sent, totals->acknowledged, totals->expired,
                        totals->dead_lettered);
    }

    *p++ = '}';

    return p;
}
