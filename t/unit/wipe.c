
#include "unit.h"
#include "ngx_queues_base_wipe.h"

#include <pthread.h>
#include <signal.h>


/* texts of 16 bytes, each of which may be in a register, or part of one */
#define UNIT_PART   16
#define UNIT_PARTS  4


/* the secret is here, and nowhere on the stack until it is left there */

static u_char  unit_secret[UNIT_PARTS * UNIT_PART]
    = "a secret, 64 of itssecond part, its third and the fourth of all.";

static u_char  unit_stack[256 * 1024] __attribute__((aligned(4096)));

static void      (*unit_leave)(void);
static ngx_uint_t  unit_wipes;
static ngx_uint_t  unit_found;


/* a stack in use, of which the address sanitizer would not have all read */

static __attribute__((no_sanitize_address)) ngx_uint_t
unit_part_found(u_char *part)
{
    size_t  i, n;

    for (i = 0; i <= sizeof(unit_stack) - UNIT_PART; i++) {

        for (n = 0; n < UNIT_PART && unit_stack[i + n] == part[n]; n++) {
            /* void */
        }

        if (n == UNIT_PART) {
            return 1;
        }
    }

    return 0;
}


/* looks before anything else is put there */

static void
unit_signal(int signo)
{
    ngx_uint_t  i;

    (void) signo;

    unit_found = 0;

    for (i = 0; i < UNIT_PARTS; i++) {
        unit_found += unit_part_found(unit_secret + i * UNIT_PART);
    }
}


/* as a function does which copies it, or as its compiler does */

static void
unit_leave_on_stack(void)
{
    u_char  stack[4096];

    memcpy(stack, unit_secret, sizeof(unit_secret));

    /* it is not left out */
    __asm__ volatile ("" :: "r" (stack) : "memory");
}


#if (__x86_64__)

static void
unit_leave_in_sse(void)
{
    __asm__ volatile (
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "movdqu (%0), %%xmm\\n\n"
        ".endr\n"
        :: "r" (unit_secret)
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
          "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}


static void
unit_leave_in_avx(void)
{
    __asm__ volatile (
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "vmovdqu (%0), %%ymm\\n\n"
        ".endr\n"
        :: "r" (unit_secret)
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
          "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}


static void
unit_leave_in_avx512(void)
{
    __asm__ volatile (
        ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
        "vmovdqu64 (%0), %%zmm\\n\n"
        ".endr\n"
        :: "r" (unit_secret) : "memory");
}

#endif


/* at once: a function on the way would have use for registers */

static void
unit_interrupt(void)
{
#if (__x86_64__)
    __asm__ volatile ("int3" ::: "memory");
#else
    (void) raise(SIGTRAP);
#endif
}


/* a thread, as its stack is known; the signal's frame is there too */

static void *
unit_run(void *data)
{
    unit_leave();

    if (unit_wipes) {
        ngx_queues_base_wipe_traces();
    }

    unit_interrupt();

    return data;
}


/* how many parts of the secret there are after it */

static ngx_uint_t
unit_left(ngx_uint_t wipes)
{
    pthread_t       thread;
    pthread_attr_t  attr;

    memset(unit_stack, 0, sizeof(unit_stack));

    unit_wipes = wipes;

    if (pthread_attr_init(&attr) != 0
        || pthread_attr_setstack(&attr, unit_stack, sizeof(unit_stack)) != 0
        || pthread_create(&thread, &attr, unit_run, NULL) != 0
        || pthread_join(thread, NULL) != 0)
    {
        abort();
    }

    (void) pthread_attr_destroy(&attr);

    return unit_found;
}


static void
unit_traces(const char *where, void (*leave)(void), ngx_uint_t parts)
{
    ngx_str_t  name;

    name.data = (u_char *) where;
    name.len = ngx_strlen(where);

    unit_leave = leave;

    unit_ok(unit_left(0) == parts, "a signal finds a secret", &name);
    unit_ok(unit_left(1) == 0, "it is wiped", &name);
}


int
main(void)
{
    size_t  i;
    u_char  text[UNIT_PART], zero[UNIT_PART];

    (void) signal(SIGTRAP, unit_signal);

    memset(zero, 0, sizeof(zero));
    memset(text, 'x', sizeof(text));

    for (i = 0; i <= sizeof(text); i++) {
        ngx_queues_base_wipe(text, i);
        unit_ok(memcmp(text, zero, i) == 0
                && (i == sizeof(text) || text[i] == 'x'),
                "so much of a text is wiped", NULL);
    }

    unit_traces("on the stack", unit_leave_on_stack, UNIT_PARTS);

#if (__x86_64__)

    unit_traces("in registers", unit_leave_in_sse, 1);

    if (__builtin_cpu_supports("avx")) {
        unit_traces("in those of AVX", unit_leave_in_avx, 2);
    }

    if (__builtin_cpu_supports("avx512f")) {
        unit_traces("in those of AVX-512", unit_leave_in_avx512, UNIT_PARTS);
    }

#endif

    return unit_done();
}
