
#include "ngx_queues_http.h"
#include "../conf/ngx_queues_conf.h"


static ngx_int_t ngx_queues_http_variable_text(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_queues_http_variable_queue(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);
static ngx_int_t ngx_queues_http_variable_messages(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data);


static ngx_http_variable_t  ngx_queues_http_variables[] = {

    { ngx_string("queues_operation"), NULL,
      ngx_queues_http_variable_text,
      offsetof(ngx_queues_http_note_t, operation),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("queues_queue"), NULL,
      ngx_queues_http_variable_queue, 0,
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("queues_principal"), NULL,
      ngx_queues_http_variable_text,
      offsetof(ngx_queues_http_note_t, principal),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("queues_messages"), NULL,
      ngx_queues_http_variable_messages, 0,
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

    { ngx_string("queues_error"), NULL,
      ngx_queues_http_variable_text,
      offsetof(ngx_queues_http_note_t, error),
      NGX_HTTP_VAR_NOCACHEABLE, 0 },

      ngx_http_null_variable
};


ngx_int_t
ngx_queues_http_add_variables(ngx_conf_t *cf)
{
    ngx_http_variable_t  *var, *v;

    for (v = ngx_queues_http_variables; v->name.len; v++) {
        var = ngx_http_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}


ngx_queues_http_note_t *
ngx_queues_http_note(ngx_http_request_t *r)
{
    ngx_queues_http_note_t  *note;

    note = ngx_http_get_module_ctx(r, ngx_queues_module);

    if (note == NULL) {
        note = ngx_pcalloc(r->pool, sizeof(ngx_queues_http_note_t));
        if (note == NULL) {
            return NULL;
        }

        note->messages = -1;

        ngx_http_set_ctx(r, note, ngx_queues_module);
    }

    return note;
}


ngx_int_t
ngx_queues_http_note_principal(ngx_queues_http_op_t *op, ngx_str_t *name)
{
    ngx_str_t  *copy;

    copy = ngx_palloc(op->request->pool, sizeof(ngx_str_t) + name->len);
    if (copy == NULL) {
        return NGX_ERROR;
    }

    copy->len = name->len;
    copy->data = (u_char *) copy + sizeof(ngx_str_t);
    ngx_memcpy(copy->data, name->data, name->len);

    op->note->principal = copy;

    return NGX_OK;
}


static ngx_int_t
ngx_queues_http_variable_text(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    ngx_str_t               *text;
    ngx_queues_http_note_t  *note;

    note = ngx_http_get_module_ctx(r->main, ngx_queues_module);

    text = note ? *(ngx_str_t **) ((u_char *) note + data) : NULL;

    if (text == NULL || text->len == 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    v->len = text->len;
    v->data = text->data;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    return NGX_OK;
}


/* "org/project/queue", or "org/project" of a call that names no queue */

static ngx_int_t
ngx_queues_http_variable_queue(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                  *p;
    size_t                   len;
    ngx_uint_t               i;
    ngx_queues_http_note_t  *note;

    note = ngx_http_get_module_ctx(r->main, ngx_queues_module);

    if (note == NULL || note->names[0].len == 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    len = 0;

    for (i = 0; i < NGX_QUEUES_HTTP_NAMES && note->names[i].len; i++) {
        len += note->names[i].len + 1;
    }

    p = ngx_pnalloc(r->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    v->len = len - 1;
    v->data = p;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    for (i = 0; i < NGX_QUEUES_HTTP_NAMES && note->names[i].len; i++) {

        if (i) {
            *p++ = '/';
        }

        p = ngx_cpymem(p, note->names[i].data, note->names[i].len);
    }

    return NGX_OK;
}


static ngx_int_t
ngx_queues_http_variable_messages(ngx_http_request_t *r,
    ngx_http_variable_value_t *v, uintptr_t data)
{
    u_char                  *p;
    ngx_queues_http_note_t  *note;

    note = ngx_http_get_module_ctx(r->main, ngx_queues_module);

    if (note == NULL || note->messages < 0) {
        v->not_found = 1;
        return NGX_OK;
    }

    p = ngx_pnalloc(r->pool, NGX_INT_T_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    v->len = ngx_sprintf(p, "%i", note->messages) - p;
    v->data = p;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    return NGX_OK;
}
