
/*
 * queuectl, the command line of the APIs: what a command is, what it is given,
 * and how it ends. The other headers are of the parts below.
 */

#ifndef QUEUECTL_H_INCLUDED_
#define QUEUECTL_H_INCLUDED_


#include "../base/ngx_queues_base_version.h"

#include <curl/curl.h>

#include <stddef.h>
#include <stdio.h>


/* exit codes: they are documented, scripts rely on them */

typedef enum {
    QUEUECTL_OK = 0,
    QUEUECTL_FAILED = 1,
    QUEUECTL_USAGE = 2,
    QUEUECTL_NOT_FOUND = 3,
    QUEUECTL_AUTH = 4,
    QUEUECTL_UNAVAILABLE = 5,
    QUEUECTL_CONFLICT = 6,
    QUEUECTL_INTERRUPTED = 130
} queuectl_exit_e;


typedef struct queuectl_s  queuectl_t;


typedef enum {
    QUEUECTL_SWITCH = 0,
    QUEUECTL_TEXT,
    QUEUECTL_NUMBER,
    QUEUECTL_SECONDS,                   /* 90, 90s, 5m, 4h, 14d */
    QUEUECTL_BYTES                      /* 4096, 64k, 1m */
} queuectl_kind_e;


typedef struct {
    const char             *name;
    char                    letter;
    queuectl_kind_e         kind;
    const char             *value;      /* its name in the help */
    const char             *help;
} queuectl_flag_t;


/* what a command cannot do without */

#define QUEUECTL_ENDPOINT   0x01
#define QUEUECTL_PROJECT    0x02
#define QUEUECTL_KEY        0x04
#define QUEUECTL_API        (QUEUECTL_ENDPOINT|QUEUECTL_PROJECT|QUEUECTL_KEY)


typedef struct {
    const char             *group;      /* NULL: "queuectl NAME" */
    const char             *name;
    const char             *arguments;
    int                     least;
    int                     most;       /* -1: any number */
    unsigned                needs;
    const char             *summary;
    const char             *details;
    const queuectl_flag_t  *flags;      /* to the one without a name, or NULL */
    queuectl_exit_e       (*run)(queuectl_t *q);
} queuectl_command_t;


typedef struct {
    const queuectl_flag_t  *flag;
    const char             *text;
    long long               number;
} queuectl_given_t;


struct queuectl_s {
    const queuectl_command_t  *command;
    const char                *group;
    int                        help;

    char                     **arguments;
    int                        narguments;

    queuectl_given_t          *given;
    size_t                     ngiven;

    /* settings, and for messages where each was found */

    char                      *endpoint;
    const char                *endpoint_from;
    char                      *project;
    char                      *key;
    const char                *key_from;
    char                      *cacert;

    int                        json;
    int                        quiet;
    int                        verbose;
    int                        insecure;
    int                        colour;
    long                       timeout;
    long                       connect_timeout;
    long                       retries;     /* -1: as the command has it */

    CURL                      *curl;
};


/* the commands, a table a file, each to the one without a name */

extern const queuectl_command_t  queuectl_queues_commands[];
extern const queuectl_command_t  queuectl_send_commands[];
extern const queuectl_command_t  queuectl_receive_commands[];
extern const queuectl_command_t  queuectl_receipts_commands[];
extern const queuectl_command_t  queuectl_subscriptions_commands[];
extern const queuectl_command_t  queuectl_topics_commands[];
extern const queuectl_command_t  queuectl_topics_publish_commands[];
extern const queuectl_command_t  queuectl_subs_commands[];
extern const queuectl_command_t  queuectl_subs_pull_commands[];
extern const queuectl_command_t  queuectl_subs_ack_commands[];
extern const queuectl_command_t  queuectl_snapshots_commands[];
extern const queuectl_command_t  queuectl_logs_commands[];
extern const queuectl_command_t  queuectl_logs_push_commands[];
extern const queuectl_command_t  queuectl_logs_pop_commands[];
extern const queuectl_command_t  queuectl_logs_ack_commands[];
extern const queuectl_command_t  queuectl_logs_groups_commands[];
extern const queuectl_command_t  queuectl_logs_messages_commands[];
extern const queuectl_command_t  queuectl_logs_letters_commands[];
extern const queuectl_command_t  queuectl_logs_maintenance_commands[];
extern const queuectl_command_t  queuectl_keys_commands[];
extern const queuectl_command_t  queuectl_tail_commands[];
extern const queuectl_command_t  queuectl_config_commands[];

extern const queuectl_command_t *const  queuectl_commands[];
extern const queuectl_flag_t            queuectl_global_flags[];


/* queuectl_args.c */

queuectl_exit_e queuectl_args_parse(queuectl_t *q, int argc, char **argv);
int queuectl_given(queuectl_t *q, const char *name);
const char *queuectl_text(queuectl_t *q, const char *name);
long long queuectl_number(queuectl_t *q, const char *name, long long otherwise);

/* a number of what such a flag has; 0 where it is none */

int queuectl_quantity(queuectl_kind_e kind, const char *text,
    long long *number);

queuectl_exit_e queuectl_usage(queuectl_t *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));


/* queuectl_help.c */

void queuectl_help(queuectl_t *q, FILE *out);


/* queuectl_config.c */

queuectl_exit_e queuectl_config_load(queuectl_t *q);


/* queuectl_signal.c: how often a person has pressed Ctrl-C */

void queuectl_signal_init(void);
int queuectl_interrupts(void);
void queuectl_signal_end(void);
queuectl_exit_e queuectl_sleep(long ms);


#endif /* QUEUECTL_H_INCLUDED_ */
