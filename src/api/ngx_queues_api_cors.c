
#include "ngx_queues_api.h"


ngx_int_t
ngx_queues_api_cors(ngx_http_request_t *r)
{
    ngx_str_t  value;

    ngx_str_set(&value, "*");

    return ngx_queues_http_add_header(r, "Access-Control-Allow-Origin",
                                      &value);
}


void
ngx_queues_api_preflight(ngx_queues_api_t *api)
{
    ngx_str_t            methods, headers, age;
    ngx_http_request_t  *r;

    r = api->op->request;

    ngx_str_set(&methods, "POST");
    ngx_str_set(&headers, "content-type");
    ngx_str_set(&age, "86400");

    if (ngx_queues_http_add_header(r, "Access-Control-Allow-Methods",
                                   &methods)
        != NGX_OK
        || ngx_queues_http_add_header(r, "Access-Control-Allow-Headers",
                                      &headers)
           != NGX_OK
        || ngx_queues_http_add_header(r, "Access-Control-Max-Age", &age)
           != NGX_OK)
    {
        ngx_queues_api_no_memory(api);
        return;
    }

    ngx_queues_api_answer(api, NGX_HTTP_NO_CONTENT, NULL, NULL);
}
