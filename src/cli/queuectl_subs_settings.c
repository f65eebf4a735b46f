
/* What flags say of a subscription of a topic. */

#include "queuectl_subs.h"
#include "queuectl_fields.h"


static const queuectl_field_t  queuectl_subs_plain[] = {
    { "ack-deadline", "ackDeadlineSeconds", QUEUECTL_FIELD_NUMBER },
    { "retention", "messageRetentionDuration", QUEUECTL_FIELD_DURATION },
    { "retain-acked", "retainAckedMessages", QUEUECTL_FIELD_ON_OFF },
    { "exactly-once", "enableExactlyOnceDelivery", QUEUECTL_FIELD_ON_OFF },
    { "ordering", "enableMessageOrdering", QUEUECTL_FIELD_SWITCH },
    { "filter", "filter", QUEUECTL_FIELD_TEXT },
    { NULL, NULL, 0 }
};

static const queuectl_field_t  queuectl_subs_dead[] = {
    { "dead-letter-topic", "deadLetterTopic", QUEUECTL_FIELD_TOPIC },
    { "max-delivery-attempts", "maxDeliveryAttempts", QUEUECTL_FIELD_NUMBER },
    { NULL, NULL, 0 }
};

static const queuectl_field_t  queuectl_subs_retry[] = {
    { "min-backoff", "minimumBackoff", QUEUECTL_FIELD_DURATION },
    { "max-backoff", "maximumBackoff", QUEUECTL_FIELD_DURATION },
    { NULL, NULL, 0 }
};

static const queuectl_field_t  queuectl_subs_oidc[] = {
    { "oidc-account", "serviceAccountEmail", QUEUECTL_FIELD_TEXT },
    { "oidc-audience", "audience", QUEUECTL_FIELD_TEXT },
    { NULL, NULL, 0 }
};

static const queuectl_fields_t  queuectl_subs_fields[] = {
    { NULL, NULL, queuectl_subs_plain },
    { "deadLetterPolicy", "no-dead-letter-topic", queuectl_subs_dead },
    { "retryPolicy", "no-backoff", queuectl_subs_retry },
};


queuectl_exit_e
queuectl_subs_settings(queuectl_t *q, queuectl_buf_t *body,
    queuectl_buf_t *mask)
{
    size_t           i;
    queuectl_exit_e  rc;

    for (i = 0; i < sizeof(queuectl_subs_fields) / sizeof(queuectl_fields_t);
         i++)
    {
        rc = queuectl_fields(q, &queuectl_subs_fields[i], body, mask);

        if (rc != QUEUECTL_OK) {
            return rc;
        }
    }

    if (queuectl_given(q, "expiration") && queuectl_given(q, "no-expiration")) {
        return queuectl_usage(q, "--expiration and --no-expiration are one too "
                              "many");
    }

    /* one that is empty is not as good as none */

    if (queuectl_given(q, "expiration")) {
        queuectl_fields_mask(mask, NULL, "expirationPolicy");
        queuectl_buf_member(body, "expirationPolicy");
        queuectl_buf_print(body, "{\"ttl\":\"%llds\"}",
                           queuectl_number(q, "expiration", 0));
    }

    if (queuectl_given(q, "no-expiration")) {
        queuectl_fields_mask(mask, NULL, "expirationPolicy");
        queuectl_buf_member(body, "expirationPolicy");
        queuectl_buf_text(body, "{}");
    }

    return queuectl_topics_labels(q, body, mask);
}


queuectl_exit_e
queuectl_subs_push(queuectl_t *q, const char *url, queuectl_buf_t *body)
{
    int              bare, metadata;
    queuectl_exit_e  rc;

    static const queuectl_fields_t  oidc = {
        "oidcToken", NULL, queuectl_subs_oidc
    };

    bare = queuectl_given(q, "no-wrapper");
    metadata = queuectl_given(q, "write-metadata");

    if (url == NULL && (bare || metadata || queuectl_given(q, "oidc-account")
                        || queuectl_given(q, "oidc-audience")))
    {
        return queuectl_usage(q, "there is no endpoint that it is pushed to");
    }

    if (metadata && !bare) {
        return queuectl_usage(q, "--write-metadata goes with --no-wrapper");
    }

    if (queuectl_given(q, "oidc-audience")
        && !queuectl_given(q, "oidc-account"))
    {
        return queuectl_usage(q, "--oidc-audience goes with --oidc-account");
    }

    queuectl_buf_member(body, "pushConfig");
    queuectl_buf_text(body, "{");

    if (url && queuectl_buf_member_text(body, "pushEndpoint", url) == -1) {
        return queuectl_usage(q, "the endpoint is not UTF-8");
    }

    rc = queuectl_fields(q, &oidc, body, NULL);

    if (bare) {
        queuectl_buf_member(body, "noWrapper");
        queuectl_buf_text(body, metadata ? "{\"writeMetadata\":true}" : "{}");
    }

    queuectl_buf_text(body, "}");

    return rc;
}
