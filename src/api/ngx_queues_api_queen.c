
/*
 * What of the Queen API is not a route: where its projects are, its errors.
 */

#include "ngx_queues_api_queen_extra.h"


typedef struct {
    const char   *reason;     /* how it begins */
    ngx_str_t     text;
} ngx_queues_api_queen_refusal_t;


static ngx_int_t ngx_queues_api_queen_names(ngx_queues_api_t *api,
    ngx_queues_conf_loc_t *qlcf);
static ngx_int_t ngx_queues_api_queen_shown(ngx_queues_api_t *api,
    ngx_str_t *name);
static u_char *ngx_queues_api_queen_error(u_char *p, ngx_queues_api_t *api,
    ngx_queues_api_told_t *told);
static void ngx_queues_api_queen_refused(ngx_queues_api_t *api,
    ngx_str_t *text);


/* what Queen says of a token that src/base has refused; of all others the last
   one */

static const ngx_queues_api_queen_refusal_t  ngx_queues_api_queen_refusals[] = {
    { "has expired", ngx_string("Token has expired") },
    { "is not valid yet", ngx_string("Token not yet valid") },
    { "is from the future", ngx_string("Token issued in the future") },
    { "has a bad signature", ngx_string("Invalid token signature") },
    { "has a signature that", ngx_string("Invalid token signature") },
    { "has no \"alg\"", ngx_string("Unsupported token algorithm") },
    { "has an unknown \"kid\"", ngx_string("Unknown key ID") },
    { "has another \"iss\"", ngx_string("Invalid token issuer") },
    { "has another \"aud\"", ngx_string("Invalid token audience") },
    { "has an \"aud\"", ngx_string("Invalid token audience") },
    { "has a header", ngx_string("Bad token header") },
    { "", ngx_string("Invalid token") }
};


static const ngx_queues_api_route_t *const  ngx_queues_api_queen_tables[] = {
    ngx_queues_api_queen_push_routes,
    ngx_queues_api_queen_pop_routes,
    ngx_queues_api_queen_ack_routes,
    ngx_queues_api_queen_tx_routes,
    ngx_queues_api_queen_lease_routes,
    ngx_queues_api_queen_health_routes,
    ngx_queues_api_queen_configure_routes,
    ngx_queues_api_queen_dead_routes,
    ngx_queues_api_queen_groups_routes,
    ngx_queues_api_queen_seek_routes,
    ngx_queues_api_queen_queues_routes,
    ngx_queues_api_queen_labels_routes,
    ngx_queues_api_queen_messages_routes,
    ngx_queues_api_queen_message_routes,
    ngx_queues_api_queen_traces_routes,
    ngx_queues_api_queen_maintenance_routes,
    ngx_queues_api_queen_metrics_routes,
    NULL
};


const ngx_queues_api_surface_t  ngx_queues_api_queen_surface = {
    NGX_QUEUES_CONF_QUEEN,
    ngx_string("/api/v1/"),
    ngx_queues_api_queen_tables,
    ngx_queues_api_codes,
    ngx_queues_api_queen_names,
    ngx_queues_api_queen_error,
    NULL,
    1,
    ngx_null_string,
    0,
    0,
    1
};


/* the project is the location's, the queue's name is any text */

static ngx_int_t
ngx_queues_api_queen_names(ngx_queues_api_t *api, ngx_queues_conf_loc_t *qlcf)
{
    u_char     *p;
    ngx_str_t  *names;

    names = api->op->note->names;

    names[0] = qlcf->organization;
    names[1] = qlcf->project;
    names[2] = ngx_queues_api_capture(api, "queue");

    if (ngx_queues_api_set_project(api, &names[0], &names[1]) != NGX_OK) {
        return NGX_ERROR;
    }

    if (names[2].len == 0) {
        return NGX_OK;
    }

    /* as a name's ref, which credentials and rate limits know */

    p = ngx_pnalloc(api->op->pool,
                    1 + ngx_queues_base_json_escape_length(&names[2]));
    if (p == NULL) {
        return NGX_ERROR;
    }

    *p = 'n';

    api->queue.data = p + 1;
    api->queue.len = ngx_queues_base_json_escape(p + 1, &names[2]) - (p + 1);

    api->ref.data = p;
    api->ref.len = 1 + api->queue.len;

    return ngx_queues_api_queen_shown(api, &names[2]);
}


/* what a variable says of a name may be in a log or a header, unescaped */

static ngx_int_t
ngx_queues_api_queen_shown(ngx_queues_api_t *api, ngx_str_t *name)
{
    u_char      *p;
    ngx_str_t    text;
    ngx_uint_t   i, n, deletes;

    n = 0;
    deletes = 0;

    for (i = 0; i < name->len; i++) {
        n += (name->data[i] < 0x20);
        deletes += (name->data[i] == 0x7f);
    }

    if (n + deletes == 0) {
        return NGX_OK;
    }

    text = api->queue;

    p = ngx_pnalloc(api->op->pool,
                    text.len + deletes * (sizeof("\\u007f") - 1));
    if (p == NULL) {
        return NGX_ERROR;
    }

    name->data = p;

    for (i = 0; i < text.len; i++) {

        /* JSON need not escape it */

        if (text.data[i] == 0x7f) {
            p = ngx_cpymem(p, "\\u007f", sizeof("\\u007f") - 1);
            continue;
        }

        *p++ = text.data[i];
    }

    name->len = p - name->data;

    return NGX_OK;
}


static u_char *
ngx_queues_api_queen_error(u_char *p, ngx_queues_api_t *api,
    ngx_queues_api_told_t *told)
{
    ngx_str_t  text, code;

    text = told->message;
    ngx_str_null(&code);

    switch (told->error) {

    case NGX_QUEUES_API_NOT_FOUND:
        ngx_str_set(&text, "Not Found");
        ngx_str_set(&code, "no_such_route");
        break;

    case NGX_QUEUES_API_UNAUTHENTICATED:
        ngx_queues_api_queen_refused(api, &text);
        break;

    case NGX_QUEUES_API_PERMISSION_DENIED:
        ngx_str_set(&text, "Insufficient permissions");
        break;

    case NGX_QUEUES_API_RATE_LIMITED:
        code = told->code;
        break;

    default:
        break;
    }

    p = ngx_cpymem(p, "{\"error\":\"", sizeof("{\"error\":\"") - 1);
    p = ngx_queues_base_json_escape(p, &text);
    *p++ = '"';

    if (code.len) {
        p = ngx_sprintf(p, ",\"code\":\"%V\"", &code);
    }

    *p++ = '}';

    return p;
}


static void
ngx_queues_api_queen_refused(ngx_queues_api_t *api, ngx_str_t *text)
{
    const ngx_queues_api_queen_refusal_t  *r;

    if (api == NULL || api->refused == NULL) {
        ngx_str_set(text, "Authentication required");
        return;
    }

    r = ngx_queues_api_queen_refusals;

    while (ngx_strncmp(api->refused, r->reason, ngx_strlen(r->reason)) != 0) {
        r++;
    }

    *text = r->text;
}
