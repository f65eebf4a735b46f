
#include "ngx_queues_base_wipe.h"

#include <openssl/crypto.h>


/* deeper than TLS, with a signal's frame and its handler below that */
#define NGX_QUEUES_BASE_WIPE_STACK  16384

#define NGX_QUEUES_BASE_WIPE_REGISTERS                                        \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",           \
    "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"


static void ngx_queues_base_wipe_registers(void);
static void ngx_queues_base_wipe_stack(void);


void
ngx_queues_base_wipe(void *p, size_t len)
{
    OPENSSL_cleanse(p, len);

    ngx_queues_base_wipe_traces();
}


/*
 * To copy a text is to have it in registers, where wide ones hold all of a
 * secret until something as long is copied.  A signal puts them on the stack,
 * below what is in use, where they stay.
 */

void
ngx_queues_base_wipe_traces(void)
{
    ngx_queues_base_wipe_registers();
    ngx_queues_base_wipe_stack();
}


static __attribute__((noinline)) void
ngx_queues_base_wipe_registers(void)
{
#if (__x86_64__)

    if (__builtin_cpu_supports("avx")) {
        __asm__ volatile ("vzeroall" ::: NGX_QUEUES_BASE_WIPE_REGISTERS);

    } else {
        __asm__ volatile (
            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
            "pxor %%xmm\\n, %%xmm\\n\n"
            ".endr\n"
            ::: NGX_QUEUES_BASE_WIPE_REGISTERS);
    }

    /*
     * The C library copies by these, where there are any.  A function that is
     * called may change them, and none of its compiler's values are in them.
     */

    if (__builtin_cpu_supports("avx512f")) {
        __asm__ volatile (
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, "
            "30, 31\n"
            "vpxorq %%zmm\\n, %%zmm\\n, %%zmm\\n\n"
            ".endr\n"
            ::: "memory");
    }

#endif
}


/* a frame over all that functions which have returned had there */

static __attribute__((noinline)) void
ngx_queues_base_wipe_stack(void)
{
    u_char  stack[NGX_QUEUES_BASE_WIPE_STACK];

    OPENSSL_cleanse(stack, sizeof(stack));
}
