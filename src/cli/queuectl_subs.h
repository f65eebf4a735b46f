
/* What the files about subscriptions of topics share. */

#ifndef QUEUECTL_SUBS_H_INCLUDED_
#define QUEUECTL_SUBS_H_INCLUDED_


#include "queuectl_message.h"
#include "queuectl_topics.h"


/* flags of both "topics subscribe" and "subs update" */

#define QUEUECTL_SUBS_SETTINGS                                                \
    { "ack-deadline", 0, QUEUECTL_SECONDS, "TIME",                            \
      "a delivery lasts for so long: 10s to 10m" },                           \
    { "retention", 0, QUEUECTL_SECONDS, "TIME",                               \
      "messages expire after so long" },                                      \
    { "retain-acked", 0, QUEUECTL_TEXT, "on|off",                             \
      "keep what was acknowledged, for seeks" },                              \
    { "expiration", 0, QUEUECTL_SECONDS, "TIME",                              \
      "deleted when it was not used for so long" },                           \
    { "no-expiration", 0, QUEUECTL_SWITCH, NULL, "never deleted so" },        \
    { "exactly-once", 0, QUEUECTL_TEXT, "on|off",                             \
      "tell whether acknowledgements came in time" },                         \
    { "dead-letter-topic", 0, QUEUECTL_TEXT, "TOPIC",                         \
      "where messages go that fail again and again" },                        \
    { "max-delivery-attempts", 0, QUEUECTL_NUMBER, "N",                       \
      "after so many deliveries: 5 to 100" },                                 \
    { "min-backoff", 0, QUEUECTL_SECONDS, "TIME",                             \
      "a message that failed comes again after so long" },                    \
    { "max-backoff", 0, QUEUECTL_SECONDS, "TIME",                             \
      "and after twice as long each time, up to this" }

#define QUEUECTL_SUBS_PUSH                                                    \
    { "oidc-account", 0, QUEUECTL_TEXT, "EMAIL",                              \
      "pushes have a token of this account" },                                \
    { "oidc-audience", 0, QUEUECTL_TEXT, "TEXT",                              \
      "for this audience; the endpoint" },                                    \
    { "no-wrapper", 0, QUEUECTL_SWITCH, NULL,                                 \
      "bodies are the data alone" },                                          \
    { "write-metadata", 0, QUEUECTL_SWITCH, NULL,                             \
      "with --no-wrapper: all else is in headers" }


/* queuectl_subs_settings.c: members of a subscription, and their mask */

queuectl_exit_e queuectl_subs_settings(queuectl_t *q, queuectl_buf_t *body,
    queuectl_buf_t *mask);

/* its pushConfig; a URL of NULL: it is pulled */

queuectl_exit_e queuectl_subs_push(queuectl_t *q, const char *url,
    queuectl_buf_t *body);

/* queuectl_subs_ack.c: of the subscription that is the first argument */

queuectl_exit_e queuectl_subs_settle(queuectl_t *q, queuectl_receipts_t *rs);

/* queuectl_subs_message.c: on stdout, as it was received */

queuectl_exit_e queuectl_subs_print(queuectl_t *q, queuectl_span_t received);


#endif /* QUEUECTL_SUBS_H_INCLUDED_ */
