
/*
 * What targets above src/base need of nginx' core, whose objects are not
 * linked: with each allocation of a pool on its own, a byte too far is seen.
 * For one file of a program.
 */

#ifndef _FUZZ_NGINX_H_INCLUDED_
#define _FUZZ_NGINX_H_INCLUDED_


#include "fuzz.h"

#include <ngx_event.h>


static ngx_log_t    fuzz_log;
static ngx_cycle_t  fuzz_cycle = { .log = &fuzz_log };
static ngx_uint_t   fuzz_pools;             /* that are there now */
static ngx_uint_t   fuzz_shortage;          /* 1: the next allocation fails */

static ngx_time_t   fuzz_time;

volatile ngx_cycle_t  *ngx_cycle = &fuzz_cycle;
volatile ngx_time_t   *ngx_cached_time = &fuzz_time;
ngx_uint_t             ngx_pagesize = 4096;


/* counts down to the one that fails; 0: none will */

static ngx_uint_t
fuzz_short(void)
{
    return fuzz_shortage && --fuzz_shortage == 0;
}


ngx_pool_t *
ngx_create_pool(size_t size, ngx_log_t *log)
{
    ngx_pool_t  *pool;

    fuzz_assert(size >= sizeof(ngx_pool_t) && size % NGX_POOL_ALIGNMENT == 0);

    if (fuzz_short()) {
        return NULL;
    }

    pool = calloc(1, sizeof(ngx_pool_t));
    fuzz_assert(pool);

    pool->log = log;
    fuzz_pools++;

    return pool;
}


void
ngx_destroy_pool(ngx_pool_t *pool)
{
    ngx_pool_large_t  *large, *next;

    for (large = pool->large; large; large = next) {
        next = large->next;
        free(large->alloc);
        free(large);
    }

    free(pool);
    fuzz_pools--;
}


static void *
fuzz_pool_alloc(ngx_pool_t *pool, void *alloc)
{
    ngx_pool_large_t  *large;

    fuzz_assert(alloc);

    large = (ngx_pool_large_t *) fuzz_alloc(sizeof(ngx_pool_large_t));

    large->alloc = alloc;
    large->next = pool->large;
    pool->large = large;

    return alloc;
}


void *
ngx_pnalloc(ngx_pool_t *pool, size_t size)
{
    return fuzz_short() ? NULL : fuzz_pool_alloc(pool, fuzz_alloc(size));
}


void *
ngx_palloc(ngx_pool_t *pool, size_t size)
{
    return ngx_pnalloc(pool, size);
}


/* by calloc(), which does not touch the megabytes of a long array */

void *
ngx_pcalloc(ngx_pool_t *pool, size_t size)
{
    return fuzz_short() ? NULL : fuzz_pool_alloc(pool, calloc(1, size));
}


void *
ngx_alloc(size_t size, ngx_log_t *log)
{
    (void) log;

    return fuzz_short() ? NULL : fuzz_alloc(size);
}


void
ngx_explicit_memzero(void *buf, size_t n)
{
    memset(buf, 0, n);
}


void
ngx_log_error_core(ngx_uint_t level, ngx_log_t *log, ngx_err_t err,
    const char *fmt, ...)
{
    (void) level;
    (void) log;
    (void) err;
    (void) fmt;
}


/* finds s2, of n + 1 bytes, without regard to case */

u_char *
ngx_strlcasestrn(u_char *s1, u_char *last, u_char *s2, size_t n)
{
    for ( /* void */ ; (size_t) (last - s1) > n; s1++) {
        if (strncasecmp((char *) s1, (char *) s2, n + 1) == 0) {
            return s1;
        }
    }

    return NULL;
}


#endif /* _FUZZ_NGINX_H_INCLUDED_ */
