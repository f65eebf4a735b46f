
#include "ngx_queues_base_jwt_parts.h"


#define NGX_QUEUES_BASE_JWT_SUBJECT_MAX  255
#define NGX_QUEUES_BASE_JWT_TIME_MAX     253402300799   /* 9999-12-31 */


typedef struct {
    ngx_str_t     name;
    ngx_uint_t    bit;
} ngx_queues_base_jwt_word_t;


static ngx_int_t ngx_queues_base_jwt_times(
    ngx_queues_base_jwt_object_t *object,
    const ngx_queues_base_jwt_rules_t *rules, int64_t now,
    ngx_queues_base_jwt_claims_t *claims, const char **error);
static ngx_int_t ngx_queues_base_jwt_time(
    ngx_queues_base_jwt_object_t *object, ngx_str_t *name, int64_t *seconds);
static ngx_int_t ngx_queues_base_jwt_parties(
    ngx_queues_base_jwt_object_t *object,
    const ngx_queues_base_jwt_rules_t *rules, const char **error);
static ngx_uint_t ngx_queues_base_jwt_for_us(
    ngx_queues_base_json_value_t *value, const ngx_str_t *audience);
static ngx_uint_t ngx_queues_base_jwt_is(ngx_queues_base_json_value_t *value,
    const ngx_str_t *text);
static ngx_int_t ngx_queues_base_jwt_subject(
    ngx_queues_base_jwt_object_t *object,
    const ngx_queues_base_jwt_rules_t *rules, u_char *room,
    ngx_queues_base_jwt_claims_t *claims, const char **error);
static ngx_int_t ngx_queues_base_jwt_find_roles(
    ngx_queues_base_jwt_object_t *object, const ngx_str_t *path,
    ngx_queues_base_json_value_t *roles, const char **error);
static ngx_int_t ngx_queues_base_jwt_roles(
    ngx_queues_base_json_value_t *roles, u_char *room,
    ngx_queues_base_jwt_claims_t *claims, const char **error);
static ngx_int_t ngx_queues_base_jwt_role(ngx_str_t *role,
    ngx_queues_base_jwt_claims_t *claims, const char **error);
static ngx_uint_t ngx_queues_base_jwt_word(ngx_str_t *role);


static const ngx_queues_base_jwt_word_t  ngx_queues_base_jwt_words[] = {
    { ngx_string("admin"), NGX_QUEUES_BASE_JWT_ADMIN },
    { ngx_string("read-write"), NGX_QUEUES_BASE_JWT_READ_WRITE },
    { ngx_string("read-only"), NGX_QUEUES_BASE_JWT_READ_ONLY },
    { ngx_string("write-only"), NGX_QUEUES_BASE_JWT_WRITE_ONLY },
    { ngx_null_string, 0 }
};


ngx_int_t
ngx_queues_base_jwt_claims(ngx_queues_base_json_value_t *payload,
    const ngx_queues_base_jwt_rules_t *rules, int64_t now, u_char *room,
    ngx_queues_base_jwt_claims_t *claims, const char **error)
{
    ngx_str_t                      word;
    ngx_queues_base_json_value_t   roles, *role;
    ngx_queues_base_jwt_object_t   object;

    static ngx_str_t  name = ngx_string("role");

    claims->strict = 1;
    claims->words = 0;
    claims->ngrants = 0;

    if (ngx_queues_base_jwt_members(payload, &object, error) != NGX_OK
        || ngx_queues_base_jwt_times(&object, rules, now, claims, error)
           != NGX_OK
        || ngx_queues_base_jwt_parties(&object, rules, error) != NGX_OK
        || ngx_queues_base_jwt_subject(&object, rules, room, claims, error)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    room += claims->subject.len;

    role = ngx_queues_base_jwt_member(&object, &name);

    if (role && role->type == NGX_QUEUES_BASE_JSON_STRING) {
        word.data = room;
        word.len = ngx_queues_base_json_decode(room, &role->raw) - room;

        claims->words = ngx_queues_base_jwt_word(&word);
    }

    switch (ngx_queues_base_jwt_find_roles(&object, &rules->roles, &roles,
                                           error))
    {
    case NGX_OK:
        return ngx_queues_base_jwt_roles(&roles, room, claims, error);

    case NGX_DECLINED:
        return NGX_OK;

    default:
        return NGX_ERROR;
    }
}


static ngx_int_t
ngx_queues_base_jwt_times(ngx_queues_base_jwt_object_t *object,
    const ngx_queues_base_jwt_rules_t *rules, int64_t now,
    ngx_queues_base_jwt_claims_t *claims, const char **error)
{
    int64_t    exp, nbf, iat, leeway;
    ngx_int_t  rc;

    static ngx_str_t  exp_name = ngx_string("exp");
    static ngx_str_t  nbf_name = ngx_string("nbf");
    static ngx_str_t  iat_name = ngx_string("iat");

    nbf = 0;
    iat = 0;
    leeway = rules->leeway;

    rc = ngx_queues_base_jwt_time(object, &exp_name, &exp);

    if (rc == NGX_DECLINED) {

        if (!rules->loose) {
            *error = "has no \"exp\"";
            return NGX_ERROR;
        }

        exp = NGX_QUEUES_BASE_JWT_TIME_MAX;
        claims->strict = 0;
    }

    if (rc == NGX_ERROR
        || ngx_queues_base_jwt_time(object, &nbf_name, &nbf) == NGX_ERROR
        || ngx_queues_base_jwt_time(object, &iat_name, &iat) == NGX_ERROR)
    {
        *error = "has an \"exp\", \"nbf\" or \"iat\" that is no time";
        return NGX_ERROR;
    }

    claims->ends = exp + leeway;
    claims->starts = ngx_max(nbf, iat) - leeway;

    if (now >= claims->ends) {
        *error = "has expired";
        return NGX_ERROR;
    }

    if (now < nbf - leeway) {
        *error = "is not valid yet (\"nbf\")";
        return NGX_ERROR;
    }

    if (now < iat - leeway) {
        *error = "is from the future (\"iat\")";
        return NGX_ERROR;
    }

    return NGX_OK;
}


/*
 * Seconds since 1970, perhaps with a fraction, rounded up: with whole seconds
 * for a clock that compares like the exact number.  NGX_DECLINED where there
 * is none.
 */

static ngx_int_t
ngx_queues_base_jwt_time(ngx_queues_base_jwt_object_t *object,
    ngx_str_t *name, int64_t *seconds)
{
    u_char                        *p, *last;
    int64_t                        n;
    ngx_uint_t                     more;
    ngx_queues_base_json_value_t  *value;

    value = ngx_queues_base_jwt_member(object, name);

    if (value == NULL) {
        return NGX_DECLINED;
    }

    if (value->type != NGX_QUEUES_BASE_JSON_NUMBER) {
        return NGX_ERROR;
    }

    p = value->raw.data;
    last = p + value->raw.len;

    for (n = 0; p < last && *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (*p - '0');

        if (n > NGX_QUEUES_BASE_JWT_TIME_MAX) {
            return NGX_ERROR;
        }
    }

    more = 0;

    if (p < last && *p == '.') {
        for (p++; p < last && *p >= '0' && *p <= '9'; p++) {
            more |= (*p != '0');
        }
    }

    /* what is left is a sign or an exponent */

    if (p < last) {
        return NGX_ERROR;
    }

    *seconds = n + more;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_jwt_parties(ngx_queues_base_jwt_object_t *object,
    const ngx_queues_base_jwt_rules_t *rules, const char **error)
{
    ngx_queues_base_json_value_t  *value;

    static ngx_str_t  iss = ngx_string("iss");
    static ngx_str_t  aud = ngx_string("aud");

    if (rules->issuer.len) {
        value = ngx_queues_base_jwt_member(object, &iss);

        if (value == NULL || !ngx_queues_base_jwt_is(value, &rules->issuer)) {
            *error = "has another \"iss\" than queues_jwt_issuer, or none";
            return NGX_ERROR;
        }
    }

    value = ngx_queues_base_jwt_member(object, &aud);

    if (rules->audience.len == 0) {

        /* RFC 7519, 4.1.3: it is for somebody, who is not us */

        if (value) {
            *error = "has an \"aud\", and there is no queues_jwt_audience";
            return NGX_ERROR;
        }

        return NGX_OK;
    }

    if (value == NULL
        || !ngx_queues_base_jwt_for_us(value, &rules->audience))
    {
        *error = "has another \"aud\" than queues_jwt_audience, or none";
        return NGX_ERROR;
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_base_jwt_for_us(ngx_queues_base_json_value_t *value,
    const ngx_str_t *audience)
{
    ngx_queues_base_json_iter_t   it;
    ngx_queues_base_json_value_t  one;

    if (value->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        return ngx_queues_base_jwt_is(value, audience);
    }

    ngx_queues_base_json_open(&it, value);

    while (ngx_queues_base_json_next(&it, NULL, &one) == NGX_OK) {
        if (ngx_queues_base_jwt_is(&one, audience)) {
            return 1;
        }
    }

    return 0;
}


static ngx_uint_t
ngx_queues_base_jwt_is(ngx_queues_base_json_value_t *value,
    const ngx_str_t *text)
{
    ngx_str_t  raw;

    raw = *text;

    return value->type == NGX_QUEUES_BASE_JSON_STRING
           && ngx_queues_base_json_equal(&value->raw, &raw);
}


/* the name of the principal, which tells principals apart */

static ngx_int_t
ngx_queues_base_jwt_subject(ngx_queues_base_jwt_object_t *object,
    const ngx_queues_base_jwt_rules_t *rules, u_char *room,
    ngx_queues_base_jwt_claims_t *claims, const char **error)
{
    size_t                         i;
    ngx_str_t                     *subject;
    ngx_queues_base_json_value_t  *value;

    static ngx_str_t  sub = ngx_string("sub");

    *error = "has no \"sub\" of 1 to 255 bytes without control characters";

    subject = &claims->subject;
    subject->data = room;
    subject->len = 0;

    value = ngx_queues_base_jwt_member(object, &sub);

    if (rules->loose
        && (value == NULL
            || value->type == NGX_QUEUES_BASE_JSON_NULL
            || value->raw.len == 0))
    {
        claims->strict = 0;
        return NGX_OK;
    }

    if (value == NULL || value->type != NGX_QUEUES_BASE_JSON_STRING) {
        return NGX_ERROR;
    }

    subject->len = ngx_queues_base_json_decoded_length(&value->raw);

    if (subject->len == 0
        || subject->len > NGX_QUEUES_BASE_JWT_SUBJECT_MAX)
    {
        return NGX_ERROR;
    }

    ngx_queues_base_json_decode(room, &value->raw);

    for (i = 0; i < subject->len; i++) {
        if (room[i] < ' ' || room[i] == 0x7f) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/*
 * A claim of the whole name, as many names are URLs, or else what a path with
 * dots leads to, "realm_access.roles".  The object is used up.
 */

static ngx_int_t
ngx_queues_base_jwt_find_roles(ngx_queues_base_jwt_object_t *object,
    const ngx_str_t *path, ngx_queues_base_json_value_t *roles,
    const char **error)
{
    u_char                        *dot;
    ngx_str_t                      rest, name;
    ngx_queues_base_json_value_t  *value;

    rest = *path;
    value = ngx_queues_base_jwt_member(object, &rest);

    while (value == NULL) {

        dot = rest.len ? memchr(rest.data, '.', rest.len) : NULL;
        if (dot == NULL) {
            return NGX_DECLINED;
        }

        name.data = rest.data;
        name.len = dot - rest.data;

        rest.data += name.len + 1;
        rest.len -= name.len + 1;

        value = ngx_queues_base_jwt_member(object, &name);

        if (value == NULL || value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
            return NGX_DECLINED;
        }

        *roles = *value;

        if (ngx_queues_base_jwt_members(roles, object, error) != NGX_OK) {
            return NGX_ERROR;
        }

        value = ngx_queues_base_jwt_member(object, &rest);
    }

    *roles = *value;

    return NGX_OK;
}


/* an array of strings, or a string of words as OAuth's "scope" is one */

static ngx_int_t
ngx_queues_base_jwt_roles(ngx_queues_base_json_value_t *roles, u_char *room,
    ngx_queues_base_jwt_claims_t *claims, const char **error)
{
    u_char                        *p, *last;
    ngx_str_t                      role;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   one;

    if (roles->type == NGX_QUEUES_BASE_JSON_STRING) {
        last = ngx_queues_base_json_decode(room, &roles->raw);

        for (p = room; p < last; p += (p < last)) {
            role.data = p;

            while (p < last && *p != ' ') {
                p++;
            }

            role.len = p - role.data;

            if (ngx_queues_base_jwt_role(&role, claims, error) != NGX_OK) {
                return NGX_ERROR;
            }
        }
    }

    if (roles->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        return NGX_OK;
    }

    ngx_queues_base_json_open(&it, roles);

    while (ngx_queues_base_json_next(&it, NULL, &one) == NGX_OK) {

        if (one.type != NGX_QUEUES_BASE_JSON_STRING) {
            continue;
        }

        role.data = room;
        room = ngx_queues_base_json_decode(room, &one.raw);
        role.len = room - role.data;

        if (ngx_queues_base_jwt_role(&role, claims, error) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


/* what is no grant is a role of some other system */

static ngx_int_t
ngx_queues_base_jwt_role(ngx_str_t *role,
    ngx_queues_base_jwt_claims_t *claims, const char **error)
{
    ngx_queues_base_keys_grant_t  grant;

    if (ngx_queues_base_keys_grant(role, &grant) != NGX_OK) {
        claims->words |= ngx_queues_base_jwt_word(role);
        return NGX_OK;
    }

    if (claims->ngrants == NGX_QUEUES_BASE_JWT_GRANTS) {
        *error = "has more than 64 roles of the form PERMISSIONS@RESOURCES";
        return NGX_ERROR;
    }

    claims->grants[claims->ngrants++] = grant;

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_base_jwt_word(ngx_str_t *role)
{
    const ngx_queues_base_jwt_word_t  *word;

    for (word = ngx_queues_base_jwt_words; word->bit; word++) {
        if (role->len == word->name.len
            && ngx_memcmp(role->data, word->name.data, role->len) == 0)
        {
            return word->bit;
        }
    }

    return 0;
}
