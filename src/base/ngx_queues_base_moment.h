
/*
 * Moments in ms since 1970 as ISO 8601 text.
 */

#ifndef _NGX_QUEUES_BASE_MOMENT_H_INCLUDED_
#define _NGX_QUEUES_BASE_MOMENT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_MOMENT_LEN  24


#pragma GCC visibility push(hidden)


/*
 * Writes "2026-10-13T17:02:40.031Z", NGX_QUEUES_BASE_MOMENT_LEN bytes, and
 * returns the end.
 */
u_char *ngx_queues_base_moment_print(u_char *p, uint64_t ms);

/*
 * Parses a date, "2026-10-13", perhaps with a time after "T", "t" or a blank:
 * "17:02", perhaps with seconds and a fraction (what is beyond ms is cut), and
 * an offset, "Z", "z", "+02:00", "+0200" or "+02"; without one it is UTC.
 * NGX_ERROR for everything else and for days that there are not; a leap second
 * is the one before, what is before 1970 is 0.
 */
ngx_int_t ngx_queues_base_moment_parse(ngx_str_t *text, uint64_t *ms);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_MOMENT_H_INCLUDED_ */
