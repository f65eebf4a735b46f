
#include "unit.h"
#include "ngx_queues_base_mask.h"


#define UNIT_NONE  ((uint64_t) -1)      /* refused */


/* as long as a name may be, "x" and then this */
#define UNIT_LONG                                                             \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"


typedef struct {
    const char  *mask;
    uint64_t     bits;
    const char  *path;      /* that is wrong */
} unit_mask_t;


typedef struct {
    const char  *key;
    const char  *name;
    ngx_uint_t   equal;
} unit_key_t;


static ngx_queues_base_field_t  unit_fields[] = {
    { ngx_string("labels"), 0x01, 0 },
    { ngx_string("ackDeadlineSeconds"), 0x02, 0 },
    { ngx_string("pushConfig"), 0x04, 1 },
    { ngx_string("retryPolicy"), 0x08, 1 },
    { ngx_string("retryPolicy.minimumBackoff"), 0x10, 0 },
    { ngx_string("retryPolicy.maximumBackoff.x"), 0x20, 0 },
    { ngx_string("enableURLChecks"), 0x8000000000000000, 0 },
    { ngx_string("x" UNIT_LONG), 0x40, 0 },
    { ngx_null_string, 0, 0 }
};


static unit_mask_t  unit_masks[] = {
    { "labels", 0x01, NULL },
    { "ackDeadlineSeconds", 0x02, NULL },
    { "ack_deadline_seconds", 0x02, NULL },
    { "ack_deadline_seconds,push_config", 0x06, NULL },
    { "pushConfig,ackDeadlineSeconds,labels", 0x07, NULL },
    { "labels,labels", 0x01, NULL },
    { "ack_deadline_seconds,ackDeadlineSeconds", 0x02, NULL },
    { "pushConfig.pushEndpoint", 0x04, NULL },
    { "push_config.oidc_token.audience,labels", 0x05, NULL },
    { "push_config.a1_B", 0x04, NULL },
    { "retryPolicy", 0x08, NULL },
    { "retryPolicy.minimumBackoff", 0x10, NULL },
    { "retry_policy.minimum_backoff", 0x10, NULL },
    { "retryPolicy.minimum_backoff", 0x10, NULL },
    { "retry_policy.maximum_backoff", 0x08, NULL },
    { "retry_policy.maximum_backoff.x", 0x20, NULL },
    { "enableURLChecks", 0x8000000000000000, NULL },
    { "enable_u_r_l_checks", 0x8000000000000000, NULL },
    { "", UNIT_NONE, "" },
    { ",", UNIT_NONE, "" },
    { "labels,", UNIT_NONE, "" },
    { ",labels", UNIT_NONE, "" },
    { "labels,,pushConfig", UNIT_NONE, "" },
    { "*", UNIT_NONE, "*" },
    { "name", UNIT_NONE, "name" },
    { "labels,name,topic", UNIT_NONE, "name" },
    { "Labels", UNIT_NONE, "Labels" },
    { "label", UNIT_NONE, "label" },
    { "labelsx", UNIT_NONE, "labelsx" },
    { "labels ", UNIT_NONE, "labels " },
    { "labels, pushConfig", UNIT_NONE, " pushConfig" },
    { "ack_deadlineSeconds", UNIT_NONE, "ack_deadlineSeconds" },
    { "ackDeadline_seconds", UNIT_NONE, "ackDeadline_seconds" },
    { "ack_Deadline_Seconds", UNIT_NONE, "ack_Deadline_Seconds" },
    { "ackdeadlineseconds", UNIT_NONE, "ackdeadlineseconds" },
    { "ack_deadline_", UNIT_NONE, "ack_deadline_" },
    { "labels.a", UNIT_NONE, "labels.a" },
    { "retryPolicy.minimumBackoff.x", UNIT_NONE,
      "retryPolicy.minimumBackoff.x" },
    { "pushConfig.", UNIT_NONE, "pushConfig." },
    { "pushConfig..a", UNIT_NONE, "pushConfig..a" },
    { "pushConfig.a.", UNIT_NONE, "pushConfig.a." },
    { "pushConfig.a b", UNIT_NONE, "pushConfig.a b" },
    { "pushConfig.a*", UNIT_NONE, "pushConfig.a*" },
    { ".pushConfig", UNIT_NONE, ".pushConfig" },
    { ".", UNIT_NONE, "." }
};


static unit_key_t  unit_keys[] = {
    { "ackDeadlineSeconds", "ackDeadlineSeconds", 1 },
    { "ack_deadline_seconds", "ackDeadlineSeconds", 1 },
    { "ack\\u0044eadlineSeconds", "ackDeadlineSeconds", 1 },
    { "ack\\u005fdeadline_seconds", "ackDeadlineSeconds", 1 },
    { "ack_deadlineSeconds", "ackDeadlineSeconds", 0 },
    { "ackDeadlineSecond", "ackDeadlineSeconds", 0 },
    { "ackDeadlineSecondsx", "ackDeadlineSeconds", 0 },
    { "ack_", "ackDeadlineSeconds", 0 },
    { "ack_\\u0064", "ackDeadlineSeconds", 0 },
    { "", "labels", 0 },
    { "labels", "labels", 1 },
    { "\\u006cabels", "labels", 1 },
    { "labels\\u0000", "labels", 0 },
    { "LABELS", "labels", 0 },
    { "\\u0078" UNIT_LONG, "x" UNIT_LONG, 1 },
    { "\\u0078" UNIT_LONG "x", "x" UNIT_LONG, 0 },
    { "\\u0078" UNIT_LONG "x", "labels", 0 }
};


static ngx_str_t
unit_text(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return unit_copy(&s);
}


static void
unit_mask(unit_mask_t *test)
{
    uint64_t   bits;
    ngx_int_t  rc;
    ngx_str_t  mask, path, wrong;

    mask = unit_text(test->mask);
    bits = 0;

    rc = ngx_queues_base_mask_parse(&mask, unit_fields, &bits, &path);

    if (test->bits != UNIT_NONE) {
        unit_ok(rc == NGX_OK && bits == test->bits, "mask", &mask);

    } else {
        wrong = unit_text(test->path);

        unit_ok(rc == NGX_ERROR && bits == 0 && unit_same(&path, &wrong),
                "no mask", &mask);

        free(wrong.data);
    }

    free(mask.data);
}


static void
unit_key(unit_key_t *test)
{
    ngx_str_t  raw, name;

    raw = unit_text(test->key);
    name = unit_text(test->name);

    unit_ok(ngx_queues_base_field_equal(&raw, &name) == test->equal, "key",
            &raw);

    free(raw.data);
    free(name.data);
}


int
main(void)
{
    ngx_uint_t  i;

    for (i = 0; i < UNIT_ROWS(unit_masks); i++) {
        unit_mask(&unit_masks[i]);
    }

    for (i = 0; i < UNIT_ROWS(unit_keys); i++) {
        unit_key(&unit_keys[i]);
    }

    return unit_done();
}
