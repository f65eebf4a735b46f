
#include "ngx_queues_base_calendar.h"


ngx_int_t
ngx_queues_base_calendar_days(ngx_uint_t year, ngx_uint_t month, ngx_uint_t day,
    int64_t *days)
{
    ngx_uint_t  leap, last;

    static const u_char  lengths[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };

    if (month == 0 || month > 12) {
        return NGX_ERROR;
    }

    leap = (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    last = lengths[month - 1] + (month == 2 && leap);

    if (day == 0 || day > last) {
        return NGX_ERROR;
    }

    /*
     * Years begin in March: the leap day is the last one (Hinnant).  400 of
     * them more, 146097 days, keep the year before the year 0 from being less
     * than 0.
     */

    year += 400;

    if (month > 2) {
        month -= 3;

    } else {
        month += 9;
        year--;
    }

    *days = (int64_t) (365 * year + year / 4 - year / 100 + year / 400
                       + (153 * month + 2) / 5 + day - 1)
            - 719468 - 146097;

    return NGX_OK;
}
