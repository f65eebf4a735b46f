
#include "queuectl_out.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>


#define QUEUECTL_PROGRESS_CELLS  24
#define QUEUECTL_PROGRESS_MS     100


static long long
queuectl_progress_now(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}


void
queuectl_progress_init(queuectl_t *q, queuectl_progress_t *p, const char *unit,
    long long total)
{
    const char  *term;

    memset(p, 0, sizeof(queuectl_progress_t));

    term = getenv("TERM");

    p->shown = !q->quiet && isatty(STDERR_FILENO)
               && !(term && strcmp(term, "dumb") == 0);
    p->unit = unit;
    p->total = total;
    p->began = queuectl_progress_now();
    p->drawn = p->began - QUEUECTL_PROGRESS_MS;
}


static void
queuectl_progress_draw(queuectl_progress_t *p, long long now)
{
    int        full;
    char       bar[QUEUECTL_PROGRESS_CELLS + 1];
    long long  ms, left;

    ms = now - p->began;
    ms = ms ? ms : 1;

    fputs("\r\033[K", stderr);

    if (p->total > 0) {
        full = p->done >= p->total ? QUEUECTL_PROGRESS_CELLS
               : (int) (QUEUECTL_PROGRESS_CELLS * p->done / p->total);

        memset(bar, ' ', QUEUECTL_PROGRESS_CELLS);
        memset(bar, '=', full);
        bar[QUEUECTL_PROGRESS_CELLS] = '\0';

        fprintf(stderr, "[%s] %3d%%  ", bar, p->done >= p->total ? 100
                : (int) (100 * p->done / p->total));
    }

    fprintf(stderr, "%lld %s, %lld/s", p->count, p->unit,
            p->count * 1000 / ms);

    if (p->total > 0 && p->done > 0 && p->done < p->total) {
        left = (p->total - p->done) * ms / p->done / 1000;
        fprintf(stderr, ", %lld:%02lld to go", left / 60, left % 60);
    }

    fflush(stderr);
}


void
queuectl_progress(queuectl_progress_t *p, long long done, long long count)
{
    long long  now;

    p->done = done;
    p->count = count;

    if (!p->shown) {
        return;
    }

    now = queuectl_progress_now();

    if (now - p->drawn >= QUEUECTL_PROGRESS_MS) {
        p->drawn = now;
        queuectl_progress_draw(p, now);
    }
}


/* the last state stays on its line */

void
queuectl_progress_end(queuectl_progress_t *p)
{
    if (p->shown && p->count) {
        queuectl_progress_draw(p, queuectl_progress_now());
        fputs("\n", stderr);
    }

    p->shown = 0;
}
