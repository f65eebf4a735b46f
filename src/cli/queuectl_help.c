
/* All help is made of the tables: what is not there is not said. */

#include "queuectl.h"

#include <string.h>


static void queuectl_help_flags(const queuectl_flag_t *flags, FILE *out);
static void queuectl_help_command(const queuectl_command_t *c, FILE *out);
static void queuectl_help_list(const char *group, FILE *out);


static void
queuectl_help_flags(const queuectl_flag_t *flags, FILE *out)
{
    int                     width;
    char                    names[64];
    const queuectl_flag_t  *f;

    width = 0;

    for (f = flags; f->name; f++) {
        snprintf(names, sizeof(names), "--%s %s", f->name,
                 f->value ? f->value : "");

        if ((int) strlen(names) > width) {
            width = strlen(names);
        }
    }

    for (f = flags; f->name; f++) {
        snprintf(names, sizeof(names), "--%s %s", f->name,
                 f->value ? f->value : "");

        fprintf(out, "  %c%c%s %-*s  %s\n", f->letter ? '-' : ' ',
                f->letter ? f->letter : ' ', f->letter ? "," : " ", width,
                names, f->help);
    }
}


static void
queuectl_help_command(const queuectl_command_t *c, FILE *out)
{
    fprintf(out, "%s\n\nUsage:\n  queuectl %s%s%s%s%s%s\n", c->summary,
            c->group ? c->group : "", c->group ? " " : "", c->name,
            c->arguments[0] ? " " : "", c->arguments,
            c->flags ? " [flags]" : "");

    if (c->details) {
        fprintf(out, "\n%s", c->details);
    }

    if (c->flags) {
        fputs("\nFlags:\n", out);
        queuectl_help_flags(c->flags, out);
    }

    fputs("\nFlags of all commands:\n", out);
    queuectl_help_flags(queuectl_global_flags, out);
}


static void
queuectl_help_list(const char *group, FILE *out)
{
    int                        i;
    char                       whole[64];
    size_t                     n;
    const queuectl_command_t  *c;

    /* before which table of commands there is a heading */

    static const struct {
        const queuectl_command_t  *commands;
        const char                *heading;
    } headings[] = {
        { queuectl_queues_commands, "The Queues API" },
        { queuectl_topics_commands, "The Pub/Sub API" },
        { queuectl_logs_commands, "The Queen API" },
        { queuectl_keys_commands, "Keys and settings" },
    };

    for (i = 0; queuectl_commands[i]; i++) {
        for (n = 0; !group && n < sizeof(headings) / sizeof(headings[0]); n++) {
            if (headings[n].commands == queuectl_commands[i]) {
                fprintf(out, "\n%s:\n", headings[n].heading);
            }
        }

        for (c = queuectl_commands[i]; c->name; c++) {

            if (group && (c->group == NULL || strcmp(c->group, group) != 0)) {
                continue;
            }

            snprintf(whole, sizeof(whole), "%s%s%s", c->group ? c->group : "",
                     c->group ? " " : "", c->name);
            fprintf(out, "  %-27s  %s\n", whole, c->summary);
        }
    }
}


void
queuectl_help(queuectl_t *q, FILE *out)
{
    if (q->command) {
        queuectl_help_command(q->command, out);
        return;
    }

    if (q->group) {
        fprintf(out, "Usage:\n  queuectl %s COMMAND\n\nCommands:\n", q->group);
        queuectl_help_list(q->group, out);
        fprintf(out, "\nqueuectl %s COMMAND --help says more of each.\n",
                q->group);
        return;
    }

    fputs("queuectl, the command line of ngx_queues\n\n"
          "Usage:\n  queuectl COMMAND [arguments] [flags]\n", out);
    queuectl_help_list(NULL, out);

    fputs("\nFlags of all commands:\n", out);
    queuectl_help_flags(queuectl_global_flags, out);

    fputs("\nThe server, the project and the key are taken from flags, else "
          "from QUEUES_URL,\nQUEUES_PROJECT and QUEUES_KEY, else from the "
          "configuration file (queuectl config).\n\n"
          "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, "
          "4 credentials, 5 the\nserver is not available, 6 it is there "
          "already or in use, 130 interrupted.\n\n"
          "queuectl COMMAND --help says more of each, man queuectl all of it."
          "\n", out);
}
