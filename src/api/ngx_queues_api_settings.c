
#include "ngx_queues_api_queues.h"


#define NGX_QUEUES_API_QUEUE_NAME_MAX  80


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
    ngx_queues_base_json_value_t *values, int64_t *settings);
static ngx_int_t ngx_queues_api_settings_later(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values);
static ngx_int_t ngx_queues_api_settings_name(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *name);
static ngx_int_t ngx_queues_api_settings_kind(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *kind);


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
        queue->settings[i] = ngx_queues_api_ranges[i].value;
    }

    return ngx_queues_api_settings_read(api, values, queue->settings);
}


ngx_int_t
ngx_queues_api_settings_change(ngx_queues_api_t *api, int64_t *settings)
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
        settings[i] = -1;
    }

    return ngx_queues_api_settings_read(api, values, settings);
}


static ngx_int_t
ngx_queues_api_settings_read(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, int64_t *settings)
{
    ngx_uint_t  i;

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        if (ngx_queues_api_integer(api, &values[i], NULL,
                                   &ngx_queues_api_members_of_queue[i],
                                   ngx_queues_api_ranges[i].min,
                                   ngx_queues_api_ranges[i].max, &settings[i])
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_queues_api_settings_later(api, values);
}


/* FIFO queues and dead letters are not there yet: docs/design.md */

static ngx_int_t
ngx_queues_api_settings_later(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values)
{
    ngx_queues_base_json_value_t  *value;

    value = &values[NGX_QUEUES_API_DEDUPLICATION];

    if (value->type != NGX_QUEUES_BASE_JSON_NULL
        && value->type != NGX_QUEUES_BASE_JSON_FALSE)
    {
        ngx_queues_api_invalid(api, NULL,
            &ngx_queues_api_members_of_queue[NGX_QUEUES_API_DEDUPLICATION],
            "must be false: it is for FIFO queues, which this version does "
            "not have");
        return NGX_ERROR;
    }

    value = &values[NGX_QUEUES_API_REDRIVE];

    if (value->type != NGX_QUEUES_BASE_JSON_NULL) {
        ngx_queues_api_invalid(api, NULL,
            &ngx_queues_api_members_of_queue[NGX_QUEUES_API_REDRIVE],
            "must be null: this version does not have dead-letter queues");
        return NGX_ERROR;
    }

    return NGX_OK;
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
    static ngx_str_t  standard = ngx_string("standard");

    *kind = standard;

    if (value->type == NGX_QUEUES_BASE_JSON_NULL
        || (value->type == NGX_QUEUES_BASE_JSON_STRING
            && ngx_queues_base_json_equal(&value->raw, kind)))
    {
        return NGX_OK;
    }

    ngx_queues_api_invalid(api, NULL,
                       &ngx_queues_api_members_of_queue[NGX_QUEUES_API_KIND],
                       "must be \"standard\": this version does not have "
                       "FIFO queues");

    return NGX_ERROR;
}


size_t
ngx_queues_api_queue_length(ngx_queues_store_queue_t *queue)
{
    /* the text below with its numbers and times: 600 bytes at most */

    return 1024 + queue->uuid.len + queue->id.len + queue->name.len
           + queue->kind.len;
}


u_char *
ngx_queues_api_queue_print(u_char *p, ngx_queues_store_queue_t *queue,
    ngx_queues_store_counts_t *counts)
{
    ngx_uint_t  i;

    p = ngx_sprintf(p, "{\"queueId\":\"%V\",\"queue\":\"que_%V\","
                    "\"name\":\"%V\",\"kind\":\"%V\"",
                    &queue->uuid, &queue->id, &queue->name, &queue->kind);

    for (i = 0; i < NGX_QUEUES_STORE_NSETTINGS; i++) {
        p = ngx_sprintf(p, ",\"%V\":%L", &ngx_queues_api_members_of_queue[i],
                        queue->settings[i]);
    }

    p = ngx_sprintf(p, ",\"contentBasedDeduplication\":false,"
                       "\"redrivePolicy\":null,\"createdAt\":\"");
    p = ngx_queues_base_time_print(p, queue->created);

    p = ngx_sprintf(p, "\",\"updatedAt\":\"");
    p = ngx_queues_base_time_print(p, queue->updated);
    *p++ = '"';

    if (counts) {
        p = ngx_sprintf(p, ",\"counts\":{\"visible\":%L,\"inFlight\":%L,"
                        "\"delayed\":%L,\"oldestMessageAgeSeconds\":%L}",
                        counts->visible, counts->in_flight, counts->delayed,
                        ngx_max(counts->oldest, 0));
    }

    *p++ = '}';

    return p;
}
