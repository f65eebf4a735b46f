
/* Dead letters go back, a thousand a call, until those of the beginning have. */

#include "queuectl_http.h"
#include "queuectl_json.h"
#include "queuectl_out.h"
#include "queuectl_queues.h"

#include <string.h>


static queuectl_exit_e queuectl_redrive_all(queuectl_t *q,
    queuectl_request_t *r);
static queuectl_exit_e queuectl_redrive_call(queuectl_t *q,
    queuectl_request_t *r, long long *moved, long long *remaining);


queuectl_exit_e
queuectl_redrive(queuectl_t *q)
{
    const char          *destination;
    queuectl_buf_t       path, body;
    queuectl_exit_e      rc;
    queuectl_request_t   r;

    destination = queuectl_text(q, "destination");

    memset(&body, 0, sizeof(queuectl_buf_t));
    queuectl_buf_text(&body, "{");

    if (destination
        && queuectl_buf_member_text(&body, "destinationQueueId", destination)
           == -1)
    {
        queuectl_buf_free(&body);
        return queuectl_usage(q, "--destination is not UTF-8");
    }

    queuectl_buf_text(&body, "}");

    memset(&path, 0, sizeof(queuectl_buf_t));
    queuectl_path(q, &path, "queues", q->arguments[0], "/redrive");

    memset(&r, 0, sizeof(queuectl_request_t));
    r.method = "POST";
    r.path = path.data;
    r.body = queuectl_buf_span(&body);
    r.patient = 1;

    rc = queuectl_redrive_all(q, &r);

    queuectl_buf_free(&path);
    queuectl_buf_free(&body);

    return rc;
}


static queuectl_exit_e
queuectl_redrive_all(queuectl_t *q, queuectl_request_t *r)
{
    int                  end;
    long long            total, moved, all, remaining;
    queuectl_exit_e      rc;
    queuectl_progress_t  progress;

    all = total = moved = remaining = 0;
    queuectl_progress_init(q, &progress, "messages", 0);

    do {
        rc = queuectl_redrive_call(q, r, &moved, &remaining);

        if (rc == QUEUECTL_OK) {
            all += moved;

            /* what fails meanwhile may come as fast as it goes: it is not
               waited for */

            total = total ? total : moved + remaining;
            progress.total = total;
            queuectl_progress(&progress, all, all);
        }

        end = rc || moved == 0 || remaining == 0 || all >= total
              || queuectl_interrupts();

    } while (!end);

    queuectl_progress_end(&progress);

    if (rc == QUEUECTL_OK || all) {
        queuectl_note(q, "%lld %s moved", all, all == 1 ? "message"
                                                        : "messages");
    }

    if (rc == QUEUECTL_OK && moved == 0 && remaining) {
        queuectl_note(q, "%lld stay: they, or others of their group before "
                      "them, came from no queue that is there. "
                      "--destination QUEUE names one.", remaining);
    }

    return rc == QUEUECTL_OK && queuectl_interrupts() ? QUEUECTL_INTERRUPTED
           : rc;
}


static queuectl_exit_e
queuectl_redrive_call(queuectl_t *q, queuectl_request_t *r, long long *moved,
    long long *remaining)
{
    queuectl_exit_e    rc;
    queuectl_answer_t  a;

    rc = queuectl_http_call(q, r, &a);

    if (rc == QUEUECTL_OK
        && !(queuectl_json_member_number(a.json, "moved", moved)
             && queuectl_json_member_number(a.json, "remaining", remaining)))
    {
        queuectl_error("the answer does not say what was moved");
        rc = QUEUECTL_FAILED;
    }

    if (rc == QUEUECTL_OK && q->json) {
        queuectl_out_json(a.json);
    }

    queuectl_http_free(&a);

    return rc;
}
