
/* What the files about queues share. */

#ifndef QUEUECTL_QUEUES_H_INCLUDED_
#define QUEUECTL_QUEUES_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


/* on stdout, as JSON or for people; with its counts where they are there */

queuectl_exit_e queuectl_queue_show(queuectl_t *q, queuectl_span_t queue);

queuectl_exit_e queuectl_redrive(queuectl_t *q);


#endif /* QUEUECTL_QUEUES_H_INCLUDED_ */
