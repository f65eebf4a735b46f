
/*
 * Days of the Gregorian calendar.
 */

#ifndef _NGX_QUEUES_BASE_CALENDAR_H_INCLUDED_
#define _NGX_QUEUES_BASE_CALENDAR_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#pragma GCC visibility push(hidden)


/*
 * NGX_OK with the days from 1970-01-01 to a day of a year from 0 on; months
 * and days count from 1.  NGX_ERROR where there is no such day.
 */
ngx_int_t ngx_queues_base_calendar_days(ngx_uint_t year, ngx_uint_t month,
    ngx_uint_t day, int64_t *days);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_CALENDAR_H_INCLUDED_ */
