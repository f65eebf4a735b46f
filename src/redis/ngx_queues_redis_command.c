
#include <ngx_config.h>
#include <ngx_core.h>

#include "ngx_queues_redis_command.h"


/* "$", the length, CRLF and the CRLF after the argument */
#define NGX_QUEUES_REDIS_ARG_LEN  (1 + NGX_SIZE_T_LEN + 2 + 2)


static u_char *ngx_queues_redis_command_args(u_char *p, ngx_str_t *args,
    ngx_uint_t nargs);
static u_char *ngx_queues_redis_command_number(u_char *p, u_char type,
    size_t n);


ngx_queues_redis_command_t *
ngx_queues_redis_command_create(ngx_str_t *head, ngx_uint_t nhead,
    ngx_str_t *args, ngx_uint_t nargs)
{
    size_t                       size;
    u_char                      *p;
    ngx_uint_t                   i;
    ngx_queues_redis_command_t  *cmd;

    size = sizeof(ngx_queues_redis_command_t)
           + (nhead + nargs + 1) * NGX_QUEUES_REDIS_ARG_LEN;

    for (i = 0; i < nhead; i++) {
        size += head[i].len;
    }

    for (i = 0; i < nargs; i++) {
        size += args[i].len;
    }

    cmd = ngx_alloc(size, ngx_cycle->log);
    if (cmd == NULL) {
        return NULL;
    }

    ngx_memzero(cmd, sizeof(ngx_queues_redis_command_t));

    cmd->pos = ngx_queues_redis_command_start(cmd);

    p = ngx_queues_redis_command_number(cmd->pos, '*', nhead + nargs);
    p = ngx_queues_redis_command_args(p, head, nhead);

    cmd->last = ngx_queues_redis_command_args(p, args, nargs);

    return cmd;
}


static u_char *
ngx_queues_redis_command_args(u_char *p, ngx_str_t *args, ngx_uint_t nargs)
{
    ngx_uint_t  i;

    for (i = 0; i < nargs; i++) {
        p = ngx_queues_redis_command_number(p, '$', args[i].len);

        if (args[i].len) {
            p = ngx_cpymem(p, args[i].data, args[i].len);
        }

        *p++ = CR;
        *p++ = LF;
    }

    return p;
}


/* ngx_sprintf() is several times slower, and every argument has a length */

static u_char *
ngx_queues_redis_command_number(u_char *p, u_char type, size_t n)
{
    u_char  *d, digits[NGX_SIZE_T_LEN];

    d = digits + NGX_SIZE_T_LEN;

    do {
        *--d = (u_char) ('0' + n % 10);
        n /= 10;
    } while (n);

    *p++ = type;
    p = ngx_cpymem(p, d, digits + NGX_SIZE_T_LEN - d);
    *p++ = CR;
    *p++ = LF;

    return p;
}


void
ngx_queues_redis_command_free(ngx_queues_redis_command_t *cmd)
{
    ngx_free(cmd);
}
