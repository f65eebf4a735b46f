
/*
 * Bodies of the Pub/Sub API: JSON as proto3 has it.
 */

#include "ngx_queues_api_pubsub.h"


/* of an unknown member's name in an error */
#define NGX_QUEUES_API_PUBSUB_UNKNOWN_MAX  128


static ngx_int_t ngx_queues_api_pubsub_member(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_str_t *key, ngx_uint_t *i);
static void ngx_queues_api_pubsub_unknown(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_str_t *key);


ngx_int_t
ngx_queues_api_pubsub_body(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object)
{
    ngx_str_t                     *body;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    static ngx_str_t  none = ngx_string("{}");

    body = &api->op->body;

    if (body->len == 0) {
        body = &none;
    }

    if (ngx_queues_base_json_parse(body, &value, &error) != NGX_OK) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_JSON, NULL,
                             "Invalid JSON payload received: %s.", error);
        return NGX_ERROR;
    }

    ngx_str_null(&object->at);

    return ngx_queues_api_pubsub_members(api, &value, object);
}


ngx_int_t
ngx_queues_api_pubsub_members(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value,
    ngx_queues_api_pubsub_object_t *object)
{
    ngx_str_t                      key;
    ngx_uint_t                     i;
    uint64_t                       seen;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   member;

    for (i = 0; i < object->n; i++) {
        object->values[i].type = NGX_QUEUES_BASE_JSON_NULL;
        ngx_str_null(&object->values[i].raw);
    }

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "Invalid JSON payload received: %s%V%s must be "
                             "an object.", object->at.len ? "\"" : "the body",
                             &object->at, object->at.len ? "\"" : "");
        return NGX_ERROR;
    }

    seen = 0;

    ngx_queues_base_json_open(&it, value);

    while (ngx_queues_base_json_next(&it, &key, &member) == NGX_OK) {

        if (ngx_queues_api_pubsub_member(api, object, &key, &i) != NGX_OK) {
            return NGX_ERROR;
        }

        if (seen & ((uint64_t) 1 << i)) {
            ngx_queues_api_pubsub_invalid(api, object, i,
                                          "is there more than once");
            return NGX_ERROR;
        }

        seen |= (uint64_t) 1 << i;
        object->values[i] = member;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_api_pubsub_member(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_str_t *key, ngx_uint_t *i)
{
    ngx_str_t   name;
    ngx_uint_t  k;

    for (k = 0; k < object->n; k++) {
        name = object->names[k];

        if (ngx_queues_base_field_equal(key, &name)) {
            *i = k;
            return NGX_OK;
        }
    }

    ngx_queues_api_pubsub_unknown(api, object, key);

    return NGX_ERROR;
}


static void
ngx_queues_api_pubsub_unknown(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_str_t *key)
{
    u_char     buf[NGX_QUEUES_API_PUBSUB_UNKNOWN_MAX];
    ngx_str_t  name;

    if (key->len > sizeof(buf)) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "Invalid JSON payload received. Unknown name of "
                             "%uz bytes: Cannot find field.", key->len);
        return;
    }

    name.data = buf;
    name.len = ngx_queues_base_json_decode(buf, key) - buf;

    if (object->at.len == 0) {
        ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                             "Invalid JSON payload received. Unknown name "
                             "\"%V\": Cannot find field.", &name);
        return;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, NULL,
                         "Invalid JSON payload received. Unknown name \"%V\" "
                         "at '%V': Cannot find field.", &name, &object->at);
}


void
ngx_queues_api_pubsub_invalid(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, const char *what)
{
    u_char     *p;
    ngx_str_t   field;

    field.len = object->at.len + 1 + object->names[i].len;

    p = ngx_queues_api_alloc(api, field.len);
    if (p == NULL) {
        return;
    }

    field.data = p;
    p = ngx_cpymem(p, object->at.data, object->at.len);

    if (object->at.len) {
        *p++ = '.';
    }

    p = ngx_cpymem(p, object->names[i].data, object->names[i].len);
    field.len = p - field.data;

    ngx_queues_api_pubsub_violation(api, &field, what);
}


void
ngx_queues_api_pubsub_violation(ngx_queues_api_t *api, ngx_str_t *field,
    const char *what)
{
    ngx_str_t  details;

    if (ngx_queues_api_pubsub_violated(api, field, what, &details) != NGX_OK) {
        return;
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, &details,
                         "Invalid value at '%V': it %s.", field, what);
}


ngx_int_t
ngx_queues_api_pubsub_violated(ngx_queues_api_t *api, ngx_str_t *field,
    const char *what, ngx_str_t *details)
{
    u_char     *p;
    ngx_str_t   text;

    static const char  head[] =
        "{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\","
        "\"fieldViolations\":[{\"field\":\"";

    static const char  middle[] = "\",\"description\":\"It ";

    text.data = (u_char *) what;
    text.len = ngx_strlen(what);

    p = ngx_queues_api_alloc(api, sizeof(head) + sizeof(middle)
                                  + sizeof(".\"}]}") + field->len
                                  + ngx_queues_base_json_escape_length(&text));
    if (p == NULL) {
        return NGX_ERROR;
    }

    details->data = p;

    p = ngx_cpymem(p, head, sizeof(head) - 1);
    p = ngx_cpymem(p, field->data, field->len);
    p = ngx_cpymem(p, middle, sizeof(middle) - 1);
    p = ngx_queues_base_json_escape(p, &text);
    p = ngx_cpymem(p, ".\"}]}", sizeof(".\"}]}") - 1);

    details->len = p - details->data;

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_string(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_str_t *text)
{
    u_char                        *buf;
    ngx_queues_base_json_value_t  *value;

    value = &object->values[i];

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    buf = NULL;

    if (value->type == NGX_QUEUES_BASE_JSON_STRING
        && value->raw.len
        && memchr(value->raw.data, '\\', value->raw.len))
    {
        buf = ngx_queues_api_alloc(api, value->raw.len);
        if (buf == NULL) {
            return NGX_ERROR;
        }
    }

    if (ngx_queues_base_proto_text(value, buf, text) != NGX_OK) {
        ngx_queues_api_pubsub_invalid(api, object, i,
                                      "must be a string of whole characters");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_integer(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, int64_t *n)
{
    ngx_queues_base_json_value_t  *value;

    value = &object->values[i];

    if (value->type != NGX_QUEUES_BASE_JSON_NULL
        && ngx_queues_base_proto_integer(value, INT32_MIN, INT32_MAX, n)
           != NGX_OK)
    {
        ngx_queues_api_pubsub_invalid(api, object, i,
                                      "must be an integer of 32 bits");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_bool(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_uint_t *flag)
{
    ngx_queues_base_json_value_t  *value;

    value = &object->values[i];

    if (value->type != NGX_QUEUES_BASE_JSON_NULL
        && ngx_queues_base_proto_bool(value, flag) != NGX_OK)
    {
        ngx_queues_api_pubsub_invalid(api, object, i,
                                      "must be true or false");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_duration(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i,
    ngx_queues_base_proto_duration_t *duration)
{
    ngx_queues_base_json_value_t  *value;

    value = &object->values[i];

    if (value->type != NGX_QUEUES_BASE_JSON_NULL
        && ngx_queues_base_proto_duration(value, duration) != NGX_OK)
    {
        ngx_queues_api_pubsub_invalid(api, object, i,
                                      "must be a duration such as \"600s\"");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_time(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, int64_t *ms)
{
    ngx_queues_base_json_value_t  *value;

    value = &object->values[i];

    if (value->type != NGX_QUEUES_BASE_JSON_NULL
        && ngx_queues_base_proto_time(value, ms) != NGX_OK)
    {
        ngx_queues_api_pubsub_invalid(api, object, i,
                                      "must be a time such as "
                                      "\"2026-10-13T17:02:40Z\"");
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_api_pubsub_array(ngx_queues_api_t *api,
    ngx_queues_api_pubsub_object_t *object, ngx_uint_t i, ngx_uint_t *n)
{
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   member, *value;

    *n = 0;
    value = &object->values[i];

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        ngx_queues_api_pubsub_invalid(api, object, i, "must be a list");
        return NGX_ERROR;
    }

    ngx_queues_base_json_open(&it, value);

    while (ngx_queues_base_json_next(&it, NULL, &member) == NGX_OK) {
        (*n)++;
    }

    return NGX_OK;
}
