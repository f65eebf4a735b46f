
/* What was received is acknowledged, or kept for longer, so many a call. */

#ifndef QUEUECTL_SETTLE_H_INCLUDED_
#define QUEUECTL_SETTLE_H_INCLUDED_


#include "queuectl.h"
#include "queuectl_text.h"


/* what became of one */

typedef struct {
    int              failed;
    queuectl_buf_t   result;            /* in a word or two */
    queuectl_buf_t   name;              /* its handle or its id */
    const char      *why;               /* it failed; NULL: the result says */
} queuectl_settled_t;


/* how an API has it */

typedef struct {
    const char      *path;
    const char      *member;            /* of the results; NULL: the answer */
    const char      *heading;           /* of the column of names */
    unsigned         public:1;          /* without the key */

    /* a body of those from that one on, so many at most; how many they are */

    size_t         (*write)(void *data, size_t from, size_t most,
                            queuectl_buf_t *body);

    void           (*result)(void *data, size_t i, queuectl_span_t result,
                             queuectl_settled_t *s);
} queuectl_settling_t;


/*
 * All n of them, where some are refused the others all the same. Results are
 * shown on stdout, or else only what failed is said.
 */

queuectl_exit_e queuectl_settle(queuectl_t *q, const queuectl_settling_t *s,
    void *data, size_t n, int shown);

/*
 * What was printed has been settled so: what its command ends with, where the
 * printing has ended with rc.
 */

queuectl_exit_e queuectl_settle_printed(queuectl_exit_e rc,
    queuectl_exit_e settled);


#endif /* QUEUECTL_SETTLE_H_INCLUDED_ */
