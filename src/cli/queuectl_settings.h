
/* The configuration file: lines of "name = value". */

#ifndef QUEUECTL_SETTINGS_H_INCLUDED_
#define QUEUECTL_SETTINGS_H_INCLUDED_


#include "queuectl.h"


enum {
    QUEUECTL_SET_ENDPOINT = 0,
    QUEUECTL_SET_PROJECT,
    QUEUECTL_SET_KEY,
    QUEUECTL_SET_KEY_FILE,
    QUEUECTL_SET_CACERT,
    QUEUECTL_SETTINGS
};


typedef struct {
    char  *path;
    char  *values[QUEUECTL_SETTINGS];   /* NULL: not set */
} queuectl_settings_t;


extern const char *const  queuectl_settings_names[QUEUECTL_SETTINGS];


/* where it is, or NULL */

char *queuectl_settings_path(queuectl_t *q);

/* a file that is not there has no settings */

queuectl_exit_e queuectl_settings_read(queuectl_t *q, queuectl_settings_t *s);
queuectl_exit_e queuectl_settings_write(queuectl_settings_t *s);
void queuectl_settings_free(queuectl_settings_t *s);

/* the first line of a file that nobody else may read */

queuectl_exit_e queuectl_settings_secret(const char *path, char **secret);


#endif /* QUEUECTL_SETTINGS_H_INCLUDED_ */
