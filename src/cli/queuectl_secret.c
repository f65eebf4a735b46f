
#include "queuectl_secret.h"
#include "queuectl_out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>


queuectl_exit_e
queuectl_secret_open(const char *path, int *fd)
{
    *fd = open(path, O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC, 0600);

    if (*fd == -1) {
        queuectl_error("%s: %s", path, strerror(errno));
        return QUEUECTL_FAILED;
    }

    return QUEUECTL_OK;
}


queuectl_exit_e
queuectl_secret_close(const char *path, int fd, const char *secret)
{
    size_t           len;
    queuectl_buf_t   line;
    queuectl_exit_e  rc;

    rc = QUEUECTL_OK;

    if (secret == NULL) {
        unlink(path);

    } else {
        memset(&line, 0, sizeof(queuectl_buf_t));
        queuectl_buf_print(&line, "%s\n", secret);
        len = line.len;

        if (write(fd, line.data, len) != (ssize_t) len || fsync(fd) == -1) {
            queuectl_error("%s: %s", path, strerror(errno));
            rc = QUEUECTL_FAILED;
        }

        queuectl_buf_free(&line);
    }

    close(fd);

    return rc;
}
