
#include "ngx_queues_base_resource.h"
#include "ngx_queues_base_text.h"


static ngx_int_t ngx_queues_base_resource_check(ngx_str_t *text,
    const char *others);
static ngx_uint_t ngx_queues_base_resource_letter(u_char c);
static ngx_uint_t ngx_queues_base_resource_digit(u_char c);


static ngx_str_t  ngx_queues_base_resource_kinds[] = {
    ngx_string("topics"),
    ngx_string("subscriptions"),
    ngx_string("snapshots")
};


ngx_int_t
ngx_queues_base_resource_id(ngx_str_t *id)
{
    if (id->len < 3
        || id->len > NGX_QUEUES_BASE_RESOURCE_ID_MAX
        || !ngx_queues_base_resource_letter(id->data[0])
        || (id->len >= 4 && ngx_memcmp(id->data, "goog", 4) == 0))
    {
        return NGX_ERROR;
    }

    return ngx_queues_base_resource_check(id, "-_.~+%");
}


ngx_int_t
ngx_queues_base_resource_project(ngx_str_t *project)
{
    if (project->len == 0
        || project->len > NGX_QUEUES_BASE_PROJECT_MAX
        || (!ngx_queues_base_resource_letter(project->data[0])
            && !ngx_queues_base_resource_digit(project->data[0])))
    {
        return NGX_ERROR;
    }

    return ngx_queues_base_resource_check(project, "-_.:");
}


ngx_int_t
ngx_queues_base_resource_parse(ngx_str_t *name, ngx_queues_base_resource_e kind,
    ngx_queues_base_resource_t *resource)
{
    ngx_str_t  rest, projects, kinds, *expected;

    expected = &ngx_queues_base_resource_kinds[kind];
    rest = *name;

    if (ngx_queues_base_word(&rest, '/', &projects) != NGX_OK
        || projects.len != sizeof("projects") - 1
        || ngx_memcmp(projects.data, "projects", projects.len) != 0
        || ngx_queues_base_word(&rest, '/', &resource->project) != NGX_OK
        || ngx_queues_base_resource_project(&resource->project) != NGX_OK
        || ngx_queues_base_word(&rest, '/', &kinds) != NGX_OK
        || kinds.len != expected->len
        || ngx_memcmp(kinds.data, expected->data, kinds.len) != 0)
    {
        return NGX_ERROR;
    }

    resource->id = rest;

    return ngx_queues_base_resource_id(&rest);
}


ngx_int_t
ngx_queues_base_label_key(ngx_str_t *key)
{
    u_char  c;

    if (key->len == 0) {
        return NGX_ERROR;
    }

    c = key->data[0];

    if (c < 0x80 && (c < 'a' || c > 'z')) {
        return NGX_ERROR;
    }

    return ngx_queues_base_label_value(key);
}


ngx_int_t
ngx_queues_base_label_value(ngx_str_t *value)
{
    u_char      *p, *last;
    ngx_uint_t   n;

    p = value->data;
    last = p + value->len;

    for (n = 0; p < last; p++) {

        if (*p < 0x80 && (*p < 'a' || *p > 'z')
            && !ngx_queues_base_resource_digit(*p)
            && *p != '_' && *p != '-')
        {
            return NGX_ERROR;
        }

        n += ((*p & 0xc0) != 0x80);
    }

    return n > NGX_QUEUES_BASE_LABEL_MAX ? NGX_ERROR : NGX_OK;
}


/* letters, digits and these */

static ngx_int_t
ngx_queues_base_resource_check(ngx_str_t *text, const char *others)
{
    u_char  *p, *last;

    p = text->data;
    last = p + text->len;

    for ( /* void */ ; p < last; p++) {

        if (!ngx_queues_base_resource_letter(*p)
            && !ngx_queues_base_resource_digit(*p)
            && (*p == '\0' || ngx_strchr(others, *p) == NULL))
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}


static ngx_uint_t
ngx_queues_base_resource_letter(u_char c)
{
    c |= 0x20;

    return c >= 'a' && c <= 'z';
}


static ngx_uint_t
ngx_queues_base_resource_digit(u_char c)
{
    return c >= '0' && c <= '9';
}
