
/* What the files about subscriptions share. */

#ifndef QUEUECTL_SUBSCRIPTIONS_H_INCLUDED_
#define QUEUECTL_SUBSCRIPTIONS_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


/* on stdout, as JSON or for people; its secret only where it is to be shown */

void queuectl_subscription_show(queuectl_t *q, queuectl_span_t span,
    int secret);

queuectl_exit_e queuectl_subscriptions_list(queuectl_t *q);


#endif /* QUEUECTL_SUBSCRIPTIONS_H_INCLUDED_ */
