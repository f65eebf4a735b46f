
#include "ngx_queues_api_pubsub_message.h"
#include "../base/ngx_queues_base_attribute.h"
#include "../base/ngx_queues_base_base64.h"


/* more than a message may have attributes, for few to share a slot */
#define NGX_QUEUES_API_PUBLISH_SLOTS  256


/* the keys of a message's attributes, canonical, by hashes: numbers from 1 */
typedef struct {
    ngx_uint_t                   n;
    ngx_str_t                    keys[NGX_QUEUES_BASE_ATTRIBUTES_MAX];
    u_char                       slots[NGX_QUEUES_API_PUBLISH_SLOTS];
} ngx_queues_api_publish_keys_t;


static ngx_int_t ngx_queues_api_publish_data(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object);
static ngx_int_t ngx_queues_api_publish_attributes(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object,
    ngx_queues_store_publish_t *m);
static const char *ngx_queues_api_publish_attribute(
    ngx_queues_api_publish_t *ctx, ngx_queues_api_publish_keys_t *keys,
    ngx_str_t *name, ngx_queues_base_json_value_t *value);
static ngx_uint_t ngx_queues_api_publish_known(
    ngx_queues_api_publish_keys_t *keys, ngx_str_t *key);
static ngx_int_t ngx_queues_api_publish_key(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object,
    ngx_queues_store_publish_t *m);
static u_char *ngx_queues_api_publish_text(u_char *p, size_t raw,
    ngx_str_t *text);


/* what is empty is left out */

ngx_int_t
ngx_queues_api_publish_message(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object)
{
    u_char                      *start;
    ngx_queues_store_publish_t  *m;

    m = &ctx->messages[ctx->n];
    ngx_memzero(m, sizeof(ngx_queues_store_publish_t));

    start = ctx->pos;
    m->body.data = start;

    *ctx->pos++ = '{';

    if (ngx_queues_api_publish_data(api, ctx, object) != NGX_OK
        || ngx_queues_api_publish_attributes(api, ctx, object, m) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ctx->pos == start + 1) {
        ngx_queues_api_pubsub_invalid(api, object, NGX_QUEUES_API_PUBLISH_DATA,
                                      "must not be empty in a message without "
                                      "attributes");
        return NGX_ERROR;
    }

    if (ngx_queues_api_publish_key(api, ctx, object, m) != NGX_OK) {
        return NGX_ERROR;
    }

    *ctx->pos++ = '}';

    m->body.len = ctx->pos - start;

    return NGX_OK;
}


/*
 * A string is decoded where it is, as nothing looks there again; so one that
 * has not become shorter had nothing to decode.
 */

static ngx_int_t
ngx_queues_api_publish_data(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object)
{
    size_t                         size;
    ngx_int_t                      rc;
    ngx_str_t                      text;
    ngx_queues_base_json_value_t  *value;

    value = &object->values[NGX_QUEUES_API_PUBLISH_DATA];

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (ngx_queues_base_proto_text(value, value->raw.data, &text) != NGX_OK) {
        goto invalid;
    }

    rc = ngx_queues_base_base64_check(&text, &size);

    if (rc == NGX_ERROR) {
        goto invalid;
    }

    if (size == 0) {
        return NGX_OK;
    }

    ctx->size += size;

    ctx->pos = ngx_queues_base_copy(ctx->pos, "\"data\":\"");

    ctx->pos = (rc == NGX_OK)
               ? ngx_cpymem(ctx->pos, text.data, text.len)
               : ngx_queues_base_base64_canonical(ctx->pos, &text);

    *ctx->pos++ = '"';

    return NGX_OK;

invalid:

    ngx_queues_api_pubsub_invalid(api, object, NGX_QUEUES_API_PUBLISH_DATA,
                                  "must be base64");
    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_api_publish_attributes(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object,
    ngx_queues_store_publish_t *m)
{
    u_char                         *start, *open;
    ngx_str_t                       name;
    const char                     *what;
    ngx_queues_base_json_iter_t     it;
    ngx_queues_base_json_value_t   *attributes, value;
    ngx_queues_api_publish_keys_t   keys;

    attributes = &object->values[NGX_QUEUES_API_PUBLISH_ATTRIBUTES];

    if (attributes->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (attributes->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        what = "must be an object";
        goto invalid;
    }

    keys.n = 0;
    ngx_memzero(keys.slots, sizeof(keys.slots));

    start = ctx->pos;

    if (start > m->body.data + 1) {
        *ctx->pos++ = ',';
    }

    ctx->pos = ngx_queues_base_copy(ctx->pos, "\"attributes\":");
    open = ctx->pos;

    ngx_queues_base_json_open(&it, attributes);

    while (ngx_queues_base_json_next(&it, &name, &value) == NGX_OK) {

        *ctx->pos++ = keys.n ? ',' : '{';

        what = ngx_queues_api_publish_attribute(ctx, &keys, &name, &value);
        if (what) {
            goto invalid;
        }
    }

    if (keys.n == 0) {
        ctx->pos = start;
        return NGX_OK;
    }

    *ctx->pos++ = '}';

    m->attributes = open - m->body.data + 1;
    m->length = ctx->pos - open;

    return NGX_OK;

invalid:

    ngx_queues_api_pubsub_invalid(api, object,
                                  NGX_QUEUES_API_PUBLISH_ATTRIBUTES, what);
    return NGX_ERROR;
}


/* Returns what is wrong with it, or NULL. */

static const char *
ngx_queues_api_publish_attribute(ngx_queues_api_publish_t *ctx,
    ngx_queues_api_publish_keys_t *keys, ngx_str_t *name,
    ngx_queues_base_json_value_t *value)
{
    u_char                        *p;
    ngx_str_t                      text, key;
    ngx_queues_base_json_value_t   string;

    if (keys->n == NGX_QUEUES_BASE_ATTRIBUTES_MAX) {
        return "must be at most 100";
    }

    string.type = NGX_QUEUES_BASE_JSON_STRING;
    string.raw = *name;

    if (ngx_queues_base_proto_text(&string, name->data, &text) != NGX_OK) {
        return "must not have half of a surrogate pair in a key";
    }

    if (ngx_queues_base_attribute_key(&text) != NGX_OK) {
        return "must have keys of 1 to 256 bytes that do not start with "
               "goog";
    }

    ctx->size += text.len;

    p = ctx->pos;

    *p++ = '"';
    key.data = p;
    p = ngx_queues_api_publish_text(p, name->len, &text);
    key.len = p - key.data;

    if (ngx_queues_api_publish_known(keys, &key)) {
        return "must not have a key twice";
    }

    if (ngx_queues_base_proto_text(value, value->raw.data, &text) != NGX_OK) {
        return "must have values that are strings, without half of a "
               "surrogate pair";
    }

    if (ngx_queues_base_attribute_value(&text) != NGX_OK) {
        return "must have values of at most 1024 bytes";
    }

    ctx->size += text.len;

    p = ngx_queues_base_copy(p, "\":\"");
    p = ngx_queues_api_publish_text(p, value->raw.len, &text);
    *p++ = '"';

    ctx->pos = p;

    return NULL;
}


/* 1 if the key has come before, else it is added: there is room */

static ngx_uint_t
ngx_queues_api_publish_known(ngx_queues_api_publish_keys_t *keys,
    ngx_str_t *key)
{
    uint32_t    slot;
    ngx_str_t  *other;

    slot = ngx_crc32_short(key->data, key->len);

    for ( ;; ) {
        slot %= NGX_QUEUES_API_PUBLISH_SLOTS;

        if (keys->slots[slot] == 0) {
            break;
        }

        other = &keys->keys[keys->slots[slot] - 1];

        if (other->len == key->len
            && ngx_memcmp(other->data, key->data, key->len) == 0)
        {
            return 1;
        }

        slot++;
    }

    keys->keys[keys->n++] = *key;
    keys->slots[slot] = (u_char) keys->n;

    return 0;
}


static ngx_int_t
ngx_queues_api_publish_key(ngx_queues_api_t *api,
    ngx_queues_api_publish_t *ctx, ngx_queues_api_pubsub_object_t *object,
    ngx_queues_store_publish_t *m)
{
    ngx_str_t                      text;
    const char                    *what;
    ngx_queues_base_json_value_t  *value;

    value = &object->values[NGX_QUEUES_API_PUBLISH_KEY];

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    if (ngx_queues_base_proto_text(value, value->raw.data, &text) != NGX_OK) {
        what = "must be a string without half of a surrogate pair";
        goto invalid;
    }

    if (text.len > NGX_QUEUES_BASE_ORDERING_KEY_MAX) {
        what = "must have at most 1024 bytes";
        goto invalid;
    }

    if (text.len == 0) {
        return NGX_OK;
    }

    ctx->size += text.len;

    ctx->pos = ngx_queues_base_copy(ctx->pos, ",\"orderingKey\":\"");

    m->key.data = ctx->pos;
    ctx->pos = ngx_queues_api_publish_text(ctx->pos, value->raw.len, &text);
    m->key.len = ctx->pos - m->key.data;

    *ctx->pos++ = '"';

    return NGX_OK;

invalid:

    ngx_queues_api_pubsub_invalid(api, object, NGX_QUEUES_API_PUBLISH_KEY,
                                  what);
    return NGX_ERROR;
}


/* never longer than the raw text: what has no escape needs none */

static u_char *
ngx_queues_api_publish_text(u_char *p, size_t raw, ngx_str_t *text)
{
    return text->len == raw ? ngx_cpymem(p, text->data, text->len)
                            : ngx_queues_base_json_escape(p, text);
}
