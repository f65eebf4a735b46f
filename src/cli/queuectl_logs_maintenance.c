
/* The two switches of a project, for all its logs. */

#include "queuectl_logs.h"
#include "queuectl_fields.h"
#include "queuectl_json.h"

#include <string.h>


static queuectl_exit_e queuectl_logs_maintenance(queuectl_t *q);
static queuectl_exit_e queuectl_logs_maintenance_check(queuectl_t *q);
static queuectl_exit_e queuectl_logs_maintenance_set(queuectl_t *q,
    const char *what, const char *how);
static queuectl_exit_e queuectl_logs_maintenance_show(queuectl_t *q);


const queuectl_command_t  queuectl_logs_maintenance_commands[] = {
    { "logs", "maintenance", "[push|pop on|off]...", 0, 4, QUEUECTL_LOGS_API,
      "Show or turn the switches of maintenance",
      "While that of pops is on they answer that there is nothing. That of "
      "pushes is kept and\nshown: messages are stored as ever.\n\n"
      "  queuectl logs maintenance pop on\n",
      NULL, queuectl_logs_maintenance },

    { NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL, NULL }
};


static queuectl_exit_e
queuectl_logs_maintenance(queuectl_t *q)
{
    int              i;
    queuectl_exit_e  rc;

    rc = queuectl_logs_maintenance_check(q);

    for (i = 0; rc == QUEUECTL_OK && i < q->narguments; i += 2) {
        rc = queuectl_logs_maintenance_set(q, q->arguments[i],
                                           q->arguments[i + 1]);
    }

    return rc == QUEUECTL_OK ? queuectl_logs_maintenance_show(q) : rc;
}


/* all of it is right, or nothing is done */

static queuectl_exit_e
queuectl_logs_maintenance_check(queuectl_t *q)
{
    int  i, on;

    for (i = 0; i < q->narguments; i += 2) {
        if (strcmp(q->arguments[i], "push") != 0
            && strcmp(q->arguments[i], "pop") != 0)
        {
            return queuectl_usage(q, "there are switches of push and of pop, "
                                  "none of %s", q->arguments[i]);
        }

        if (i + 1 == q->narguments
            || !queuectl_fields_on_off(q->arguments[i + 1], &on))
        {
            return queuectl_usage(q, "%s is on or off", q->arguments[i]);
        }
    }

    return QUEUECTL_OK;
}


static queuectl_exit_e
queuectl_logs_maintenance_set(queuectl_t *q, const char *what, const char *how)
{
    int                on;
    queuectl_buf_t     path, body;
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    queuectl_fields_on_off(how, &on);
    queuectl_logs_path(&path, strcmp(what, "pop") == 0
                       ? "system/maintenance/pop" : "system/maintenance", NULL);

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_print(&body, "{\"enabled\":%s}", on ? "true" : "false");

    rc = queuectl_call(q, "POST", &path, &body, &a);

    queuectl_http_free(&a);
    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_logs_maintenance_show(queuectl_t *q)
{
    size_t             i;
    queuectl_buf_t     path;
    queuectl_exit_e    rc;
    queuectl_table_t   t;
    queuectl_answer_t  a;

    static const struct {
        const char  *member;
        const char  *label;
    } switches[] = {
        { "maintenanceMode", "Push maintenance" },
        { "popMaintenanceMode", "Pop maintenance" },
    };

    queuectl_logs_path(&path, "system/maintenance", NULL);
    rc = queuectl_call(q, "GET", &path, NULL, &a);

    if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(a.json);

    } else if (rc == QUEUECTL_OK) {
        queuectl_table_init(&t, NULL, 2);

        for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
            queuectl_table_add(&t, switches[i].label);
            queuectl_table_add(&t,
                queuectl_json_member_true(a.json, switches[i].member) ? "on"
                                                                      : "off");
        }

        queuectl_table_end(q, &t);
    }

    queuectl_http_free(&a);

    return rc;
}
