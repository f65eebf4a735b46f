
#include "ngx_queues_api_pubsub_resource.h"


static ngx_int_t ngx_queues_api_pubsub_mask(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i,
    ngx_queues_base_field_t *fields, uint64_t *bits);
static ngx_int_t ngx_queues_api_pubsub_label(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_str_t *key,
    ngx_queues_base_json_value_t *value);
static ngx_uint_t ngx_queues_api_pubsub_label_twice(
    ngx_queues_base_json_value_t *map, ngx_str_t *key);


ngx_int_t
ngx_queues_api_pubsub_new_id(ngx_queues_api_t *api, ngx_str_t *id)
{
    u_char  uuid[NGX_QUEUES_BASE_UUID_LEN];

    id->len = NGX_QUEUES_BASE_SHORT_LEN;

    id->data = ngx_pnalloc(api->op->pool, id->len);
    if (id->data == NULL) {
        ngx_queues_api_no_memory(api);
        return NGX_ERROR;
    }

    return ngx_queues_api_new_id(api, id->data, uuid);
}


ngx_int_t
ngx_queues_api_pubsub_patch(ngx_queues_api_t *api, const ngx_str_t *name,
    ngx_queues_base_field_t *fields, ngx_queues_api_pubsub_object_t *object,
    uint64_t *bits)
{
    ngx_str_t                       names[2];
    ngx_queues_base_json_value_t    values[2];
    ngx_queues_api_pubsub_object_t  patch;

    names[0] = *name;
    ngx_str_set(&names[1], "updateMask");

    patch.names = names;
    patch.values = values;
    patch.n = 2;

    object->at = *name;

    if (ngx_queues_api_pubsub_body(api, &patch) != NGX_OK) {
        return NGX_ERROR;
    }

    if (values[0].type == NGX_QUEUES_BASE_JSON_NULL) {
        ngx_queues_api_pubsub_invalid(api, &patch, 0, "must be there");
        return NGX_ERROR;
    }

    if (ngx_queues_api_pubsub_members(api, &values[0], object) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_queues_api_pubsub_mask(api, &patch, 1, fields, bits);
}


static ngx_int_t
ngx_queues_api_pubsub_mask(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i,
    ngx_queues_base_field_t *fields, uint64_t *bits)
{
    ngx_str_t  text, path;

    ngx_str_null(&text);

    if (ngx_queues_api_pubsub_string(api, object, i, &text) != NGX_OK) {
        return NGX_ERROR;
    }

    if (text.len == 0) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "The update_mask in the request must be set, and "
                             "must contain a non-empty paths list.");
        return NGX_ERROR;
    }

    if (ngx_queues_base_mask_parse(&text, fields, bits, &path) != NGX_OK) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "Invalid update_mask provided in the request: "
                             "\"%V\" is not a known field, or not one that can "
                             "be changed.", &path);
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_stored(ngx_queues_api_t *api, ngx_str_t *text,
    ngx_queues_base_json_value_t *value)
{
    u_char      *p;
    ngx_str_t    object;
    const char  *error;

    object.len = text->len + 2;

    p = ngx_queues_api_alloc(api, object.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    object.data = p;

    *p++ = '{';
    p = ngx_cpymem(p, text->data, text->len);
    *p = '}';

    if (ngx_queues_base_json_parse(&object, value, &error) != NGX_OK) {
        ngx_log_error(NGX_LOG_ALERT, api->op->request->connection->log, 0,
                      "what Redis has of \"%V\" is not JSON: %s",
                      &api->queue, error);

        ngx_queues_api_error(api, NGX_QUEUES_API_INTERNAL, NULL,
                             "The resource could not be read.");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_labels(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_str_t *labels)
{
    u_char                        *p;
    ngx_str_t                      key;
    ngx_uint_t                     n;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value, *map;

    ngx_str_null(labels);

    map = &object->values[i];

    if (map->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (map->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        ngx_queues_api_pubsub_invalid(api, object, i, "must be an object");
        return NGX_ERROR;
    }

    /* no longer than it was: a canonical string is not */

    p = ngx_queues_api_alloc(api, map->raw.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    labels->data = p;
    *p++ = '{';

    ngx_queues_base_json_open(&it, map);

    for (n = 0; ngx_queues_base_json_next(&it, &key, &value) == NGX_OK; n++) {

        if (n == NGX_QUEUES_BASE_LABELS_MAX) {
            ngx_queues_api_pubsub_invalid(api, object, i,
                                          "has more than 64 labels");
            return NGX_ERROR;
        }

        if (ngx_queues_api_pubsub_label(api, object, i, &key, &value)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (n) {
            *p++ = ',';
        }

        *p++ = '"';
        p = ngx_queues_base_json_canonical(p, &key);
        p = ngx_queues_base_copy(p, "\":\"");
        p = ngx_queues_base_json_canonical(p, &value.raw);
        *p++ = '"';
    }

    *p++ = '}';

    labels->len = n ? p - labels->data : 0;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_pubsub_label(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_str_t *key,
    ngx_queues_base_json_value_t *value)
{
    u_char                        *buf;
    ngx_str_t                      text;
    ngx_queues_base_json_value_t   name;

    if (ngx_queues_api_pubsub_label_twice(&object->values[i], key)) {
        ngx_queues_api_pubsub_invalid(api, object, i,
                                      "has a key more than once");
        return NGX_ERROR;
    }

    buf = ngx_queues_api_alloc(api, ngx_max(key->len, value->raw.len) + 1);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    name.type = NGX_QUEUES_BASE_JSON_STRING;
    name.raw = *key;

    if (ngx_queues_base_proto_text(&name, buf, &text) != NGX_OK
        || ngx_queues_base_label_key(&text) != NGX_OK)
    {
        ngx_queues_api_pubsub_invalid(api, object, i,
            "has a key that is not a lower-case letter and up to 62 of those, "
            "of digits, \"_\" and \"-\"");
        return NGX_ERROR;
    }

    if (ngx_queues_base_proto_text(value, buf, &text) != NGX_OK
        || ngx_queues_base_label_value(&text) != NGX_OK)
    {
        ngx_queues_api_pubsub_invalid(api, object, i,
            "has a value that is not a string of up to 63 lower-case letters, "
            "digits, \"_\" and \"-\"");
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* whether another key of the map, before this one, is the same */

static ngx_uint_t
ngx_queues_api_pubsub_label_twice(ngx_queues_base_json_value_t *map,
    ngx_str_t *key)
{
    ngx_str_t                      other;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   value;

    ngx_queues_base_json_open(&it, map);

    while (ngx_queues_base_json_next(&it, &other, &value) == NGX_OK
           && other.data != key->data)
    {
        if (ngx_queues_base_json_equal(&other, key)) {
            return 1;
        }
    }

    return 0;
}


/* clients send empty maps and lists for what they do not set */

ngx_int_t
ngx_queues_api_pubsub_refused(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t first, ngx_uint_t last)
{
    ngx_uint_t                     i;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   member, *value;

    for (i = first; i <= last; i++) {
        value = &object->values[i];

        if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
            continue;
        }

        if (value->type == NGX_QUEUES_BASE_JSON_OBJECT
            || value->type == NGX_QUEUES_BASE_JSON_ARRAY)
        {
            ngx_queues_base_json_open(&it, value);

            if (ngx_queues_base_json_next(&it, NULL, &member) == NGX_DONE) {
                continue;
            }
        }

        ngx_queues_api_pubsub_invalid(api, object, i,
                                      "is not supported by this server");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_time_of(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i,
    ngx_queues_api_pubsub_time_t *time)
{
    if (object->values[i].type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    time->given = 1;

    return ngx_queues_api_pubsub_duration(api, object, i, &time->value);
}


ngx_uint_t
ngx_queues_api_pubsub_within(ngx_queues_base_proto_duration_t *duration,
    int64_t min, int64_t max)
{
    return duration->seconds >= min
           && duration->ns >= 0
           && (duration->seconds < max
               || (duration->seconds == max && duration->ns == 0));
}


int64_t
ngx_queues_api_pubsub_seconds(ngx_queues_base_proto_duration_t *duration)
{
    return duration->seconds + (duration->ns > 0);
}


ngx_int_t
ngx_queues_api_pubsub_id_of(ngx_queues_api_t *api, ngx_str_t *name,
    ngx_queues_base_resource_e kind, ngx_str_t *id)
{
    ngx_str_t                   *project;
    ngx_queues_base_resource_t   resource;

    project = &api->op->note->names[1];

    if (ngx_queues_base_resource_parse(name, kind, &resource) != NGX_OK) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "Invalid resource name given (name=%V).", name);
        return NGX_ERROR;
    }

    if (resource.project.len != project->len
        || ngx_memcmp(resource.project.data, project->data, project->len) != 0)
    {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "The resource is of another project than \"%V\", "
                             "which this server does not support (name=%V).",
                             project, name);
        return NGX_ERROR;
    }

    *id = resource.id;

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_may(ngx_queues_api_t *api, const char *permission,
    ngx_str_t *id)
{
    ngx_str_t  text;

    text.data = (u_char *) permission;
    text.len = ngx_strlen(permission);

    if (ngx_queues_api_permits(api, &text, id)) {
        return NGX_OK;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_PERMISSION_DENIED, NULL,
                         "The credential lacks the permission %V on \"%V\".",
                         &text, id);

    return NGX_ERROR;
}
