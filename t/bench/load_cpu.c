
/*
 * CPU time of the servers, all their threads, from schedstat: user and system
 * time in ns, while the clock ticks of "stat" are 10 ms each.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <dirent.h>

#include "load.h"


#define LOAD_CPU_QUIET    200       /* ms without work */
#define LOAD_CPU_LONGEST  10000


static uint64_t load_cpu_of(unsigned pid);
static uint64_t load_cpu_own(void);


static load_server_t  load_servers[LOAD_SERVERS];
static unsigned       load_nservers;

static uint64_t  load_own_begin, load_own_used;
static uint64_t  load_begin, load_window;


void
load_cpu_server(char *arg)
{
    char           *colon;
    load_server_t  *s;

    colon = strchr(arg, ':');

    if (colon == NULL || load_nservers == LOAD_SERVERS) {
        load_fail("cpu=NAME:PID");
    }

    *colon = '\0';

    s = &load_servers[load_nservers++];

    s->name = arg;
    s->pid = strtoul(colon + 1, NULL, 10);
}


static uint64_t
load_cpu_of(unsigned pid)
{
    DIR                 *dir;
    FILE                *f;
    char                 name[320];
    uint64_t             sum;
    struct dirent       *de;
    unsigned long long   ns;

    snprintf(name, sizeof(name), "/proc/%u/task", pid);

    dir = opendir(name);
    if (dir == NULL) {
        load_fail("a server has ended");
    }

    sum = 0;

    while ((de = readdir(dir)) != NULL) {

        if (de->d_name[0] == '.') {
            continue;
        }

        snprintf(name, sizeof(name), "/proc/%u/task/%s/schedstat", pid,
                 de->d_name);

        f = fopen(name, "r");
        if (f == NULL) {
            continue;
        }

        if (fscanf(f, "%llu", &ns) == 1) {
            sum += ns;
        }

        fclose(f);
    }

    closedir(dir);

    return sum;
}


static uint64_t
load_cpu_own(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}


void
load_cpu_begin(void)
{
    unsigned  i;

    for (i = 0; i < load_nservers; i++) {
        load_servers[i].begin = load_cpu_of(load_servers[i].pid);
    }

    load_own_begin = load_cpu_own();
    load_begin = load_now();
}


void
load_cpu_end(void)
{
    unsigned        i;
    load_server_t  *s;

    load_window = load_now() - load_begin;
    load_own_used = load_cpu_own() - load_own_begin;

    for (i = 0; i < load_nservers; i++) {
        s = &load_servers[i];
        s->used = load_cpu_of(s->pid) - s->begin;
    }
}


void
load_cpu_print(const char *prefix, uint64_t answers)
{
    unsigned  i;

    printf("%sanswers %llu\n", prefix, (unsigned long long) answers);
    printf("%sseconds %.6f\n", prefix, load_window / 1e9);
    printf("%srate %.1f\n", prefix, answers / (load_window / 1e9));
    printf("%sload %.6f\n", prefix, load_own_used / 1e9);

    for (i = 0; i < load_nservers; i++) {
        printf("%s%s %.6f\n", prefix, load_servers[i].name,
               load_servers[i].used / 1e9);
    }
}


/* Waits until nginx has done what it was given; Redis is never quite idle. */

void
load_cpu_settle(void)
{
    unsigned         i, ms, quiet;
    uint64_t         sum, last;
    struct timespec  ts = { 0, 10000000 };

    last = 0;
    quiet = 0;

    for (ms = 0; ms < LOAD_CPU_LONGEST; ms += 10) {

        nanosleep(&ts, NULL);

        sum = 0;

        for (i = 0; i < load_nservers; i++) {
            if (strncmp(load_servers[i].name, "nginx", 5) == 0) {
                sum += load_cpu_of(load_servers[i].pid);
            }
        }

        /* a timer now and then is not work */

        quiet = (sum - last < 200000) ? quiet + 10 : 0;
        last = sum;

        if (quiet == LOAD_CPU_QUIET) {
            return;
        }
    }
}
