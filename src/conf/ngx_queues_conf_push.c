
#include "ngx_queues_conf.h"


#define NGX_QUEUES_CONF_PUSH_MAX         256
#define NGX_QUEUES_CONF_PUSH_MAX_LIMIT   10000
#define NGX_QUEUES_CONF_PUSH_PREFIX_MAX  64


static ngx_int_t ngx_queues_conf_push_host(ngx_conf_t *cf, ngx_str_t *name);
static ngx_int_t ngx_queues_conf_push_port(ngx_str_t *text,
    ngx_queues_base_ports_t *ports);


ngx_int_t
ngx_queues_conf_create_push(ngx_conf_t *cf, ngx_queues_conf_push_t *push)
{
    push->on = NGX_CONF_UNSET;
    push->localhost = NGX_CONF_UNSET;
    push->max = NGX_CONF_UNSET_UINT;

    if (ngx_array_init(&push->networks, cf->pool, 1,
                       sizeof(ngx_queues_base_network_t))
        != NGX_OK
        || ngx_array_init(&push->hosts, cf->pool, 1, sizeof(ngx_str_t))
           != NGX_OK
        || ngx_array_init(&push->ports, cf->pool, 1,
                          sizeof(ngx_queues_base_ports_t))
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


void
ngx_queues_conf_init_push(ngx_queues_conf_push_t *push)
{
    ngx_conf_init_value(push->localhost, 0);
    ngx_conf_init_uint_value(push->max, NGX_QUEUES_CONF_PUSH_MAX);

    if (push->header_prefix.len == 0) {
        ngx_str_set(&push->header_prefix, "EZGH");
    }

    push->rules.networks = push->networks.elts;
    push->rules.nnetworks = push->networks.nelts;
    push->rules.hosts = push->hosts.elts;
    push->rules.nhosts = push->hosts.nelts;
    push->rules.ports = push->ports.elts;
    push->rules.nports = push->ports.nelts;
    push->rules.localhost = push->localhost;
}


void
ngx_queues_conf_cleanup_push(ngx_queues_conf_push_t *push)
{
    ngx_uint_t  i;

    if (push->ssl) {
        ngx_ssl_cleanup_ctx(push->ssl);
    }

    for (i = 0; i < push->nseal_keys; i++) {
        ngx_queues_base_seal_key_destroy(push->seal_keys[i]);
    }
}


char *
ngx_queues_conf_set_push_address(ngx_conf_t *cf, ngx_command_t *cmd,
    void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_str_t                  *value;
    ngx_uint_t                  i;
    ngx_queues_base_network_t  *network;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        network = ngx_array_push(&qmcf->push.networks);
        if (network == NULL) {
            return NGX_CONF_ERROR;
        }

        if (ngx_queues_base_network_parse(&value[i], network) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid \"%V\" in "
                               "\"queues_push_allow_address\": write an "
                               "address or a network such as \"10.0.0.0/8\" or "
                               "\"fd00::/8\", with no bits after the prefix",
                               &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_push_host(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_str_t   *value, *name;
    ngx_uint_t   i;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        name = ngx_array_push(&qmcf->push.hosts);
        if (name == NULL) {
            return NGX_CONF_ERROR;
        }

        *name = value[i];

        if (name->len && name->data[name->len - 1] == '.') {
            name->len--;
        }

        ngx_strlow(name->data, name->data, name->len);

        switch (ngx_queues_conf_push_host(cf, name)) {

        case NGX_OK:
            break;

        case NGX_DECLINED:
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid \"%V\" in \"queues_push_allow_host\": "
                               "write a DNS name, such as \"hooks.internal\", "
                               "or \".internal\" for all names under it",
                               &value[i]);

            /* fall through */

        default: /* NGX_ERROR */
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


/* NGX_DECLINED for what no URL could have as its host, or as the end of that */

static ngx_int_t
ngx_queues_conf_push_host(ngx_conf_t *cf, ngx_str_t *name)
{
    u_char                      *p, *buf;
    ngx_str_t                    url;
    ngx_queues_base_rules_t      rules;
    ngx_queues_base_endpoint_t   endpoint;

    static ngx_str_t  head = ngx_string("https://x");

    url.data = ngx_pnalloc(cf->pool, head.len + name->len);
    if (url.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(url.data, head.data, head.len);

    if (name->len == 0 || name->data[0] != '.') {
        p--;
    }

    url.len = ngx_cpymem(p, name->data, name->len) - url.data;

    buf = ngx_pnalloc(cf->pool, url.len + 8);
    if (buf == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(&rules, sizeof(ngx_queues_base_rules_t));

    rules.hosts = name;
    rules.nhosts = 1;

    /* no port or path, nor a dot at its end, that would not be the host's */

    if (ngx_queues_base_endpoint_parse(&url, &rules, buf, &endpoint) != NULL
        || endpoint.host.len != url.len - (head.len - 1))
    {
        return NGX_DECLINED;
    }

    return NGX_OK;
}


char *
ngx_queues_conf_set_push_port(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_str_t                *value;
    ngx_uint_t                i;
    ngx_queues_base_ports_t  *ports;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {

        ports = ngx_array_push(&qmcf->push.ports);
        if (ports == NULL) {
            return NGX_CONF_ERROR;
        }

        if (ngx_queues_conf_push_port(&value[i], ports) != NGX_OK) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "invalid \"%V\" in \"queues_push_allow_port\": "
                               "write a port from 1 to 65535, or a range such "
                               "as \"8000-8999\"", &value[i]);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static ngx_int_t
ngx_queues_conf_push_port(ngx_str_t *text, ngx_queues_base_ports_t *ports)
{
    u_char     *p, *last;
    ngx_int_t   first, end;

    last = text->data + text->len;

    p = ngx_strlchr(text->data, last, '-');

    first = ngx_atoi(text->data, (p ? p : last) - text->data);
    end = p ? ngx_atoi(p + 1, last - p - 1) : first;

    if (first < 1 || end < first || end > 65535) {
        return NGX_ERROR;
    }

    ports->first = first;
    ports->last = end;

    return NGX_OK;
}


char *
ngx_queues_conf_set_push_max(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    ngx_int_t   n;
    ngx_str_t  *value;

    if (qmcf->push.max != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    n = ngx_atoi(value[1].data, value[1].len);

    if (n < 1 || n > NGX_QUEUES_CONF_PUSH_MAX_LIMIT) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_push_max_deliveries %V\": write "
                           "a number from 1 to %d", &value[1],
                           NGX_QUEUES_CONF_PUSH_MAX_LIMIT);
        return NGX_CONF_ERROR;
    }

    qmcf->push.max = n;

    return NGX_CONF_OK;
}


char *
ngx_queues_conf_set_push_prefix(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_queues_conf_main_t *qmcf = conf;

    u_char     *p, *last;
    ngx_str_t  *value;

    if (qmcf->push.header_prefix.len) {
        return "is duplicate";
    }

    value = cf->args->elts;

    /* what a field's name may have (RFC 9110, 5.1) */

    p = value[1].data;
    last = p + value[1].len;

    while (p < last
           && ((*p >= '0' && *p <= '9')
               || ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')
               || (*p && ngx_strchr("!#$%&'*+-.^_`|~", *p))))
    {
        p++;
    }

    /* "webhook-signature" is another header of a delivery */

    if (p < last
        || value[1].len == 0
        || value[1].len > NGX_QUEUES_CONF_PUSH_PREFIX_MAX
        || (value[1].len == sizeof("webhook") - 1
            && ngx_strcasecmp(value[1].data, (u_char *) "webhook") == 0))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid \"queues_push_header_prefix %V\": write "
                           "the beginning of a header's name, 1 to %d letters, "
                           "digits and hyphens, such as \"EZGH\", but not "
                           "\"webhook\"",
                           &value[1], NGX_QUEUES_CONF_PUSH_PREFIX_MAX);
        return NGX_CONF_ERROR;
    }

    qmcf->push.header_prefix = value[1];

    return NGX_CONF_OK;
}
