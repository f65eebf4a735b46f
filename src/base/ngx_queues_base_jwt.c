
#include "ngx_queues_base_jwt_parts.h"
#include "ngx_queues_base_text.h"


typedef struct {
    ngx_str_t                          header;     /* base64url */
    ngx_str_t                          payload;
    ngx_str_t                          signature;
    ngx_str_t                          text;       /* that is signed */
} ngx_queues_base_jwt_split_t;


typedef struct {
    const ngx_queues_base_jwt_alg_t   *alg;
    ngx_str_t                          kid;        /* data is NULL: none */
} ngx_queues_base_jwt_header_t;


static ngx_int_t ngx_queues_base_jwt_split(ngx_str_t *token,
    ngx_queues_base_jwt_split_t *parts, const char **error);
static ngx_int_t ngx_queues_base_jwt_json(ngx_str_t *text, u_char *room,
    ngx_queues_base_json_value_t *value);
static ngx_int_t ngx_queues_base_jwt_header(ngx_str_t *text, u_char *room,
    ngx_queues_base_jwt_header_t *header, const char **error);
static ngx_int_t ngx_queues_base_jwt_signature(
    ngx_queues_base_jwt_keys_t *keys, ngx_queues_base_jwt_header_t *header,
    ngx_queues_base_jwt_split_t *parts, const char **error);
static ngx_int_t ngx_queues_base_jwt_candidates(
    ngx_queues_base_jwt_keys_t *keys, ngx_queues_base_jwt_header_t *header,
    ngx_queues_base_jwt_key_t **found, ngx_uint_t *n, const char **error);
static ngx_uint_t ngx_queues_base_jwt_knows(ngx_queues_base_jwt_keys_t *keys,
    ngx_str_t *kid);


ngx_int_t
ngx_queues_base_jwt_verify(ngx_queues_base_jwt_keys_t *keys,
    const ngx_queues_base_jwt_rules_t *rules, ngx_str_t *token, int64_t now,
    u_char *room, ngx_queues_base_jwt_claims_t *claims, const char **error)
{
    ngx_queues_base_jwt_split_t    parts;
    ngx_queues_base_json_value_t   payload;
    ngx_queues_base_jwt_header_t   header;

    if (ngx_queues_base_jwt_split(token, &parts, error) != NGX_OK
        || ngx_queues_base_jwt_header(&parts.header, room, &header, error)
           != NGX_OK
        || ngx_queues_base_jwt_signature(keys, &header, &parts, error)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* nothing of the header is needed from here on */

    if (ngx_queues_base_jwt_json(&parts.payload, room, &payload) != NGX_OK) {
        *error = "has a payload that is not a JSON object in base64url";
        return NGX_ERROR;
    }

    return ngx_queues_base_jwt_claims(&payload, rules, now, room + token->len,
                                      claims, error);
}


static ngx_int_t
ngx_queues_base_jwt_split(ngx_str_t *token,
    ngx_queues_base_jwt_split_t *parts, const char **error)
{
    u_char  *last, *dot[2];

    if (token->len > NGX_QUEUES_BASE_JWT_MAX) {
        *error = "is longer than 8 KiB";
        return NGX_ERROR;
    }

    last = token->data + token->len;

    dot[0] = token->len ? memchr(token->data, '.', token->len) : NULL;
    dot[1] = dot[0] ? memchr(dot[0] + 1, '.', last - dot[0] - 1) : NULL;

    if (dot[1] == NULL || memchr(dot[1] + 1, '.', last - dot[1] - 1)) {
        *error = "is not three parts with a dot between them";
        return NGX_ERROR;
    }

    parts->header.data = token->data;
    parts->header.len = dot[0] - token->data;

    parts->payload.data = dot[0] + 1;
    parts->payload.len = dot[1] - dot[0] - 1;

    parts->signature.data = dot[1] + 1;
    parts->signature.len = last - dot[1] - 1;

    parts->text.data = token->data;
    parts->text.len = dot[1] - token->data;

    return NGX_OK;
}


/* the object of a part of a token, decoded to room */

static ngx_int_t
ngx_queues_base_jwt_json(ngx_str_t *text, u_char *room,
    ngx_queues_base_json_value_t *value)
{
    ngx_str_t    json;
    const char  *error;

    json.data = room;

    if (ngx_queues_base_base64url_parse(text, room, &json.len) != NGX_OK
        || ngx_queues_base_json_parse(&json, value, &error) != NGX_OK
        || value->type != NGX_QUEUES_BASE_JSON_OBJECT)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * Keys come from the configuration alone: "jwk", "jku", "x5c" and "x5u" of a
 * header are not looked at.
 */

static ngx_int_t
ngx_queues_base_jwt_header(ngx_str_t *text, u_char *room,
    ngx_queues_base_jwt_header_t *header, const char **error)
{
    ngx_queues_base_json_value_t  *value, json;
    ngx_queues_base_jwt_object_t   object;

    static ngx_str_t  alg = ngx_string("alg");
    static ngx_str_t  kid = ngx_string("kid");
    static ngx_str_t  crit = ngx_string("crit");

    if (ngx_queues_base_jwt_json(text, room, &json) != NGX_OK) {
        *error = "has a header that is not a JSON object in base64url";
        return NGX_ERROR;
    }

    if (ngx_queues_base_jwt_members(&json, &object, error) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_queues_base_jwt_member(&object, &crit)) {
        *error = "has critical extensions (\"crit\")";
        return NGX_ERROR;
    }

    value = ngx_queues_base_jwt_member(&object, &alg);

    header->alg = (value && value->type == NGX_QUEUES_BASE_JSON_STRING)
                  ? ngx_queues_base_jwt_alg(&value->raw) : NULL;

    if (header->alg == NULL) {
        *error = "has no \"alg\" that is supported";
        return NGX_ERROR;
    }

    value = ngx_queues_base_jwt_member(&object, &kid);

    ngx_str_null(&header->kid);

    if (value) {
        if (value->type != NGX_QUEUES_BASE_JSON_STRING) {
            *error = "has a \"kid\" that is not a string";
            return NGX_ERROR;
        }

        header->kid = value->raw;
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_jwt_signature(ngx_queues_base_jwt_keys_t *keys,
    ngx_queues_base_jwt_header_t *header, ngx_queues_base_jwt_split_t *parts,
    const char **error)
{
    u_char                      data[NGX_QUEUES_BASE_JWT_SIGNATURE];
    ngx_str_t                   signature;
    ngx_uint_t                  i, n;
    ngx_queues_base_jwt_key_t  *found[NGX_QUEUES_BASE_JWT_TRIES];

    if (ngx_queues_base_jwt_candidates(keys, header, found, &n, error)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    signature.data = data;

    if (ngx_queues_base_base64url_parsed_length(parts->signature.len)
        > sizeof(data)
        || ngx_queues_base_base64url_parse(&parts->signature, data,
                                           &signature.len)
           != NGX_OK)
    {
        *error = "has a signature that is not base64url";
        return NGX_ERROR;
    }

    for (i = 0; i < n; i++) {
        if (ngx_queues_base_jwt_alg_verify(header->alg, found[i],
                                           &parts->text, &signature)
            == NGX_OK)
        {
            return NGX_OK;
        }
    }

    *error = "has a bad signature";

    return NGX_ERROR;
}


/*
 * A token that names its key is tried with keys of that name; those that have
 * no name are for tokens that name none, and where nobody has the name.
 */

static ngx_int_t
ngx_queues_base_jwt_candidates(ngx_queues_base_jwt_keys_t *keys,
    ngx_queues_base_jwt_header_t *header, ngx_queues_base_jwt_key_t **found,
    ngx_uint_t *n, const char **error)
{
    ngx_uint_t                  i, known, unnamed;
    ngx_queues_base_jwt_key_t  *key;

    known = header->kid.data && ngx_queues_base_jwt_knows(keys, &header->kid);
    unnamed = 0;
    *n = 0;

    for (i = 0; i < keys->nkeys; i++) {
        key = &keys->keys[i];

        if (key->kid.data == NULL) {
            unnamed = 1;
        }

        if (known) {
            if (key->kid.data == NULL
                || !ngx_queues_base_json_equal(&key->kid, &header->kid))
            {
                continue;
            }

        } else if (header->kid.data && key->kid.data) {
            continue;
        }

        if (key->kind != header->alg->kind
            || (key->alg && key->alg != header->alg))
        {
            continue;
        }

        if (*n == NGX_QUEUES_BASE_JWT_TRIES) {
            *error = "fits too many keys: its \"kid\" must name one";
            return NGX_ERROR;
        }

        found[(*n)++] = key;
    }

    if (*n == 0) {
        *error = (header->kid.data && !known && !unnamed)
                 ? "has an unknown \"kid\""
                 : "has an \"alg\" that its key is not for";
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_base_jwt_knows(ngx_queues_base_jwt_keys_t *keys, ngx_str_t *kid)
{
    ngx_uint_t                  i;
    ngx_queues_base_jwt_key_t  *key;

    for (i = 0; i < keys->nkeys; i++) {
        key = &keys->keys[i];

        if (key->kid.data && ngx_queues_base_json_equal(&key->kid, kid)) {
            return 1;
        }
    }

    return 0;
}


ngx_int_t
ngx_queues_base_jwt_members(ngx_queues_base_json_value_t *value,
    ngx_queues_base_jwt_object_t *object, const char **error)
{
    ngx_queues_base_json_iter_t   it;
    ngx_queues_base_jwt_member_t  m;

    object->n = 0;

    ngx_queues_base_json_open(&it, value);

    while (ngx_queues_base_json_next(&it, &m.name, &m.value) == NGX_OK) {

        if (ngx_queues_base_jwt_member(object, &m.name)) {
            *error = "has an object with a member twice";
            return NGX_ERROR;
        }

        if (object->n == NGX_QUEUES_BASE_JWT_MEMBERS) {
            *error = "has an object of more than 128 members";
            return NGX_ERROR;
        }

        object->list[object->n++] = m;
    }

    return NGX_OK;
}


ngx_queues_base_json_value_t *
ngx_queues_base_jwt_member(ngx_queues_base_jwt_object_t *object,
    ngx_str_t *name)
{
    ngx_uint_t  i;

    for (i = 0; i < object->n; i++) {
        if (ngx_queues_base_json_equal(&object->list[i].name, name)) {
            return &object->list[i].value;
        }
    }

    return NULL;
}
