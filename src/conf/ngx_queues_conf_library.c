
#include <ngx_config.h>
#include <ngx_core.h>
#include "ngx_queues_conf_library.h"


#pragma GCC visibility push(hidden)

extern const u_char  ngx_queues_conf_library_start[];
extern const u_char  ngx_queues_conf_library_end[];

#pragma GCC visibility pop


/* the included lines are written by "config": one .incbin for each .lua */

__asm__(
    ".pushsection .rodata\n"
    ".globl ngx_queues_conf_library_start\n"
    ".hidden ngx_queues_conf_library_start\n"
    "ngx_queues_conf_library_start:\n"
#include "ngx_queues_lua.inc"
    ".globl ngx_queues_conf_library_end\n"
    ".hidden ngx_queues_conf_library_end\n"
    "ngx_queues_conf_library_end:\n"
    ".byte 0\n"
    ".popsection\n"
);


void
ngx_queues_conf_library_text(ngx_str_t *text)
{
    text->data = (u_char *) ngx_queues_conf_library_start;
    text->len = ngx_queues_conf_library_end - ngx_queues_conf_library_start;
}
