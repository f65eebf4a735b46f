
/*
 * Each day of 10,000 years is the one after the day before, and nothing
 * else is a day.
 */

#include "unit.h"
#include "ngx_queues_base_calendar.h"


int
main(void)
{
    int64_t     days, next;
    ngx_uint_t  year, month, day, known, wrong, february;

    static ngx_str_t  name = ngx_string("2000-03-01");

    unit_ok(ngx_queues_base_calendar_days(1970, 1, 1, &days) == NGX_OK
            && days == 0, "the day of 0", NULL);
    unit_ok(ngx_queues_base_calendar_days(2000, 3, 1, &days) == NGX_OK
            && days == 11017, "a day", &name);
    unit_ok(ngx_queues_base_calendar_days(0, 1, 1, &next) == NGX_OK
            && next == -719528, "the first day", NULL);

    wrong = 0;
    known = 0;

    for (year = 0; year < 10000; year++) {
        february = 0;

        for (month = 0; month <= 14; month++) {
            for (day = 0; day <= 33; day++) {

                if (ngx_queues_base_calendar_days(year, month, day, &days)
                    != NGX_OK)
                {
                    continue;
                }

                wrong |= (days != next);
                next++;
                known++;
                february += (month == 2);
            }
        }

        wrong |= (february != (year % 4 || (year % 100 == 0 && year % 400)
                               ? 28 : 29));
    }

    unit_ok(!wrong, "one after the other", NULL);
    unit_ok(known == 3652425, "25 times 146097 days", NULL);

    return unit_done();
}
