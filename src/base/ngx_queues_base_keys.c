
#include "ngx_queues_base_keys.h"
#include "ngx_queues_base_text.h"


static void ngx_queues_base_keys_field(ngx_str_t *rest, ngx_str_t *field);
static ngx_int_t ngx_queues_base_keys_check_text(ngx_str_t *text);
static ngx_int_t ngx_queues_base_keys_check_list(ngx_str_t *list);


ngx_int_t
ngx_queues_base_keys_parse(ngx_str_t *line, ngx_queues_base_keys_line_t *key,
    const char **error)
{
    ngx_str_t  rest, hash, more;

    rest = *line;

    if (rest.len && rest.data[rest.len - 1] == '\r') {
        rest.len--;
    }

    ngx_queues_base_keys_field(&rest, &hash);

    if (hash.len == 0 || hash.data[0] == '#') {
        return NGX_DECLINED;
    }

    ngx_queues_base_keys_field(&rest, &key->principal);
    ngx_queues_base_keys_field(&rest, &key->grant.permissions);
    ngx_queues_base_keys_field(&rest, &key->grant.resources);
    ngx_queues_base_keys_field(&rest, &more);

    if (hash.len != 2 * NGX_QUEUES_BASE_KEYS_HASH_SIZE
        || ngx_queues_base_hex_parse(&hash, key->hash) != NGX_OK)
    {
        *error = "the first field must be 64 hex digits";
        return NGX_ERROR;
    }

    if (key->grant.resources.len == 0 || more.len) {
        *error = "there must be four fields: "
                 "SHA256-HEX PRINCIPAL PERMISSIONS RESOURCES";
        return NGX_ERROR;
    }

    if (ngx_queues_base_keys_check_text(&key->principal) != NGX_OK) {
        *error = "the principal must be printable ASCII";
        return NGX_ERROR;
    }

    if (ngx_queues_base_keys_check_list(&key->grant.permissions) != NGX_OK) {
        *error = "the permissions must be globs of printable ASCII "
                 "with one comma between them";
        return NGX_ERROR;
    }

    if (ngx_queues_base_keys_check_list(&key->grant.resources) != NGX_OK) {
        *error = "the resources must be globs of printable ASCII "
                 "with one comma between them";
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_keys_grant(ngx_str_t *text,
    ngx_queues_base_keys_grant_t *grant)
{
    u_char  *at, *last;

    last = text->data + text->len;

    at = text->len ? memchr(text->data, '@', text->len) : NULL;

    if (at == NULL || memchr(at + 1, '@', last - at - 1)) {
        return NGX_ERROR;
    }

    grant->permissions.data = text->data;
    grant->permissions.len = at - text->data;

    grant->resources.data = at + 1;
    grant->resources.len = last - at - 1;

    if (ngx_queues_base_keys_check_list(&grant->permissions) != NGX_OK
        || ngx_queues_base_keys_check_list(&grant->resources) != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* takes the first field off the rest, an empty one at the end */

static void
ngx_queues_base_keys_field(ngx_str_t *rest, ngx_str_t *field)
{
    u_char  *p, *last;

    p = rest->data;
    last = p + rest->len;

    while (p < last && (*p == ' ' || *p == '\t')) {
        p++;
    }

    field->data = p;

    while (p < last && *p != ' ' && *p != '\t') {
        p++;
    }

    field->len = p - field->data;

    rest->data = p;
    rest->len = last - p;
}


static ngx_int_t
ngx_queues_base_keys_check_text(ngx_str_t *text)
{
    size_t  i;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] <= ' ' || text->data[i] > '~') {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_base_keys_check_list(ngx_str_t *list)
{
    size_t  i;
    u_char  previous;

    previous = ',';

    for (i = 0; i < list->len; i++) {
        if (list->data[i] == ',' && previous == ',') {
            return NGX_ERROR;
        }

        previous = list->data[i];
    }

    if (previous == ',') {
        return NGX_ERROR;
    }

    return ngx_queues_base_keys_check_text(list);
}
