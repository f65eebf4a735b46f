
#include "ngx_queues_auth.h"


ngx_queues_base_glob_scope_e
ngx_queues_auth_scope(ngx_queues_auth_principal_t *principal,
    ngx_str_t *permission, ngx_str_t *prefix)
{
    if (!ngx_queues_base_glob_list(&principal->permissions, permission)) {
        return NGX_QUEUES_BASE_GLOB_NONE;
    }

    return ngx_queues_base_glob_scope(&principal->resources, prefix);
}


ngx_uint_t
ngx_queues_auth_permits(ngx_queues_auth_principal_t *principal,
    ngx_str_t *permission, ngx_str_t *resource)
{
    return ngx_queues_base_glob_list(&principal->permissions, permission)
           && ngx_queues_base_glob_list(&principal->resources, resource);
}
