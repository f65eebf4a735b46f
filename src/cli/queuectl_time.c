
/* Times as text: how long, and when. */

#include "queuectl_text.h"

#include <stdio.h>
#include <time.h>


void
queuectl_buf_seconds(queuectl_buf_t *b, long long seconds)
{
    size_t       i;
    long long    n;

    static const struct {
        char       unit;
        long long  seconds;
    } units[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };

    if (seconds <= 0) {
        queuectl_buf_text(b, "0s");
        return;
    }

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        n = seconds / units[i].seconds;
        seconds %= units[i].seconds;

        if (n) {
            queuectl_buf_print(b, "%lld%c", n, units[i].unit);
        }
    }
}


void
queuectl_buf_ago(queuectl_buf_t *b, long long seconds)
{
    char             text[sizeof("2026-11-30T12:00:00")];
    time_t           at;
    struct tm        tm;
    struct timespec  now;

    clock_gettime(CLOCK_REALTIME, &now);
    at = now.tv_sec > seconds ? now.tv_sec - seconds : 0;

    gmtime_r(&at, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    queuectl_buf_print(b, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}
