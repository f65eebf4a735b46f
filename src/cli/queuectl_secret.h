
/* Secrets that are shown once, into files that nobody else can read. */

#ifndef QUEUECTL_SECRET_H_INCLUDED_
#define QUEUECTL_SECRET_H_INCLUDED_


#include "queuectl.h"


/*
 * A new file of mode 0600, before the secret is made: where there can be none,
 * nothing is lost. It is gone again where there is no secret in the end (NULL).
 */

queuectl_exit_e queuectl_secret_open(const char *path, int *fd);
queuectl_exit_e queuectl_secret_close(const char *path, int fd,
    const char *secret);


#endif /* QUEUECTL_SECRET_H_INCLUDED_ */
