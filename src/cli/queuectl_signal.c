
#include "queuectl.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>


static void queuectl_signal_handler(int number);


static volatile sig_atomic_t  queuectl_signals;
static volatile sig_atomic_t  queuectl_signal;


/*
 * The first one ends what is being waited for, and lets finish what would else
 * be half done; the second one ends the program.
 */

static void
queuectl_signal_handler(int number)
{
    if (queuectl_signals) {
        signal(number, SIG_DFL);
        raise(number);
    }

    queuectl_signals = 1;
    queuectl_signal = number;
}


void
queuectl_signal_init(void)
{
    size_t            i;
    struct sigaction  sa, before;

    static const int  numbers[] = { SIGINT, SIGTERM, SIGHUP };

    memset(&sa, 0, sizeof(struct sigaction));
    sigemptyset(&sa.sa_mask);

    /* without SA_RESTART: a read of what a person types ends as well */

    sa.sa_handler = queuectl_signal_handler;

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {

        /* nohup and the like have it ignored, and mean it */

        if (sigaction(numbers[i], NULL, &before) == 0
            && before.sa_handler != SIG_IGN)
        {
            sigaction(numbers[i], &sa, NULL);
        }
    }

    /* some parents have it ignored; "| head" is to end this quietly */

    sa.sa_handler = SIG_DFL;
    sigaction(SIGPIPE, &sa, NULL);
}


int
queuectl_interrupts(void)
{
    return queuectl_signals;
}


/* as the default action would have ended it: shells look at that */

void
queuectl_signal_end(void)
{
    if (queuectl_signals) {
        signal(queuectl_signal, SIG_DFL);
        raise(queuectl_signal);
    }
}


queuectl_exit_e
queuectl_sleep(long ms)
{
    sigset_t         some, before;
    struct timespec  ts;

    ts.tv_sec = ms / 1000;
    ts.tv_nsec = (ms % 1000) * 1000000;

    /* one that comes just before the sleep is to end it, too */

    sigemptyset(&some);
    sigaddset(&some, SIGINT);
    sigaddset(&some, SIGTERM);
    sigaddset(&some, SIGHUP);
    sigprocmask(SIG_BLOCK, &some, &before);

    if (!queuectl_signals) {
        pselect(0, NULL, NULL, NULL, &ts, &before);
    }

    sigprocmask(SIG_SETMASK, &before, NULL);

    return queuectl_signals ? QUEUECTL_INTERRUPTED : QUEUECTL_OK;
}
