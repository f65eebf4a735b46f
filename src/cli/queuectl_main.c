
#include "queuectl.h"
#include "queuectl_out.h"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static void queuectl_main_descriptors(void);
static queuectl_exit_e queuectl_main_run(queuectl_t *q);


const queuectl_command_t *const  queuectl_commands[] = {
    queuectl_queues_commands,
    queuectl_send_commands,
    queuectl_receive_commands,
    queuectl_receipts_commands,
    queuectl_subscriptions_commands,
    queuectl_tail_commands,
    queuectl_topics_commands,
    queuectl_topics_publish_commands,
    queuectl_subs_commands,
    queuectl_subs_pull_commands,
    queuectl_subs_ack_commands,
    queuectl_snapshots_commands,
    queuectl_logs_commands,
    queuectl_logs_push_commands,
    queuectl_logs_pop_commands,
    queuectl_logs_ack_commands,
    queuectl_logs_groups_commands,
    queuectl_logs_messages_commands,
    queuectl_logs_letters_commands,
    queuectl_logs_maintenance_commands,
    queuectl_keys_commands,
    queuectl_config_commands,
    NULL
};


const queuectl_flag_t  queuectl_global_flags[] = {
    { "endpoint", 'e', QUEUECTL_TEXT, "URL", "the server; QUEUES_URL" },
    { "project", 'p', QUEUECTL_TEXT, "ORG/PROJECT",
      "the project; QUEUES_PROJECT" },
    { "key-file", 'k', QUEUECTL_TEXT, "FILE",
      "a file with the key, of mode 0600; QUEUES_KEY_FILE" },
    { "key", 0, QUEUECTL_TEXT, "KEY",
      "the key itself, for all to see in ps: better QUEUES_KEY" },
    { "config", 'c', QUEUECTL_TEXT, "FILE",
      "the configuration file; QUEUECTL_CONFIG" },
    { "json", 'j', QUEUECTL_SWITCH, NULL,
      "the server's JSON, an object a line" },
    { "quiet", 'q', QUEUECTL_SWITCH, NULL, "no notes and no progress" },
    { "verbose", 'v', QUEUECTL_SWITCH, NULL, "each call, on stderr" },
    { "color", 0, QUEUECTL_TEXT, "WHEN", "auto, always or never" },
    { "timeout", 0, QUEUECTL_SECONDS, "TIME",
      "for a call, beside its wait: 30s" },
    { "connect-timeout", 0, QUEUECTL_SECONDS, "TIME",
      "for a connection: 10s" },
    { "retries", 0, QUEUECTL_NUMBER, "N",
      "tries after 429 and 503: 5, for long work 100" },
    { "cacert", 0, QUEUECTL_TEXT, "FILE",
      "authorities to trust, in PEM; QUEUES_CACERT" },
    { "insecure", 0, QUEUECTL_SWITCH, NULL,
      "do not check the server's certificate" },
    { "help", 'h', QUEUECTL_SWITCH, NULL, "how a command is used" },
    { "version", 'V', QUEUECTL_SWITCH, NULL, "the version" },
    { NULL, 0, 0, NULL, NULL }
};


/*
 * Where one of the three is closed a connection would get its number, and what
 * is printed. Without a stdout nothing can be written: it is an error, also for
 * messages that would be acknowledged then.
 */

static void
queuectl_main_descriptors(void)
{
    int  fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1
            && open(fd == STDOUT_FILENO ? "/dev/full" : "/dev/null", O_RDWR)
               != fd)
        {
            exit(QUEUECTL_FAILED);
        }
    }
}


static queuectl_exit_e
queuectl_main_run(queuectl_t *q)
{
    queuectl_exit_e  rc;

    if (queuectl_given(q, "version")) {
        printf("queuectl %s (%s)\n", NGX_QUEUES_VERSION, curl_version());
        return QUEUECTL_OK;
    }

    if (q->help) {
        queuectl_help(q, stdout);
        return QUEUECTL_OK;
    }

    if (q->command == NULL) {
        queuectl_help(q, stderr);
        return QUEUECTL_USAGE;
    }

    rc = queuectl_config_load(q);

    if (rc != QUEUECTL_OK) {
        return rc;
    }

    if (q->command->needs & QUEUECTL_ENDPOINT) {
        q->curl = curl_easy_init();

        if (q->curl == NULL) {
            queuectl_error("libcurl does not start");
            return QUEUECTL_FAILED;
        }
    }

    return q->command->run(q);
}


int
main(int argc, char **argv)
{
    queuectl_t       q;
    queuectl_exit_e  rc, written;

    queuectl_main_descriptors();

    memset(&q, 0, sizeof(queuectl_t));

    /* all that is shown is UTF-8, whatever the environment says */

    setlocale(LC_CTYPE, "C.UTF-8");
    queuectl_signal_init();

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        queuectl_error("libcurl does not start");
        return QUEUECTL_FAILED;
    }

    rc = queuectl_args_parse(&q, argc, argv);

    if (rc == QUEUECTL_OK) {
        rc = queuectl_main_run(&q);
    }

    written = queuectl_out_flush();
    rc = rc ? rc : written;

    curl_easy_cleanup(q.curl);
    curl_global_cleanup();

    free(q.endpoint);
    free(q.project);
    free(q.key);
    free(q.cacert);
    free(q.given);
    free(q.arguments);

    queuectl_signal_end();

    return rc;
}
