
#include "unit.h"
#include "ngx_queues_base_resource.h"


typedef struct {
    const char                  *name;
    ngx_queues_base_resource_e   kind;
    const char                  *project;       /* NULL: refused */
    const char                  *id;
} unit_resource_t;


static unit_resource_t  unit_resources[] = {
    { "projects/p/topics/top", NGX_QUEUES_BASE_RESOURCE_TOPIC, "p", "top" },
    { "projects/my.dom:p-1/topics/a~b+c%41d", NGX_QUEUES_BASE_RESOURCE_TOPIC,
      "my.dom:p-1", "a~b+c%41d" },
    { "projects/0123/subscriptions/s_.-", NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION,
      "0123", "s_.-" },
    { "projects/p/snapshots/projects", NGX_QUEUES_BASE_RESOURCE_SNAPSHOT, "p",
      "projects" },
    { "projects/p/topics/top", NGX_QUEUES_BASE_RESOURCE_SUBSCRIPTION, NULL,
      NULL },
    { "projects/p/topic/top", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p/Topics/top", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "project/p/topics/top", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "/projects/p/topics/top", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p/topics/top/", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p/topics/top/x", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects//topics/top", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p{/topics/top", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p/topics/to", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p/topics/", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p/topics", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/p", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects/", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "projects", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "top", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL },
    { "_deleted-topic_", NGX_QUEUES_BASE_RESOURCE_TOPIC, NULL, NULL }
};


static const char  *unit_ids[] = {
    "abc", "Zzz", "a09", "a-_.~+%", "goo", "goo-g", "Goog", "GOOG", "agoog"
};

static const char  *unit_not_ids[] = {
    "", "a", "ab", "1ab", "-ab", "_ab", "%ab", ".ab", "goog", "google",
    "goog-x", "a b", "a/b", "a:b", "a{b", "a\nb", "a@b", "a\xc3\xa9", "a[b",
    "a`b", "ab\x7f"
};

static const char  *unit_projects[] = {
    "p", "0", "my-project", "my.dom:p", "P_q", "goog"
};

static const char  *unit_not_projects[] = {
    "", ".", "..", "-p", ":p", "_p", "a/b", "a{b", "a}b", "a b", "a*", "a,b",
    "a%41", "a\xc3\xa9", "a~b", "a+b"
};

static const char  *unit_keys[] = {
    "a", "z9_-", "\xc3\xa9", "a\xc3\xa9"
};

static const char  *unit_not_keys[] = {
    "", "A", "0", "_", "-", "aB", "a b", "a.b", "a/b", "a`", "a{"
};

static const char  *unit_values[] = {
    "", "a", "0", "_", "-", "9-z", "\xe2\x82\xac"
};

static const char  *unit_not_values[] = { "A", "a b", "a.b", "a\x7f" };


static ngx_str_t
unit_text(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return unit_copy(&s);
}


static void
unit_checks(const char *what, ngx_int_t (*check)(ngx_str_t *text),
    const char **texts, ngx_uint_t n, ngx_int_t expected)
{
    ngx_str_t   text;
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        text = unit_text(texts[i]);
        unit_ok(check(&text) == expected, what, &text);
        free(text.data);
    }
}


/* n times the same bytes */

static void
unit_length(const char *what, ngx_int_t (*check)(ngx_str_t *text),
    const char *unit, size_t n, ngx_int_t expected)
{
    size_t     len;
    u_char    *p;
    ngx_str_t  text;

    len = strlen(unit);
    text.len = n * len;
    text.data = malloc(text.len);

    for (p = text.data; n; n--) {
        p = ngx_cpymem(p, unit, len);
    }

    unit_ok(check(&text) == expected, what, &text);

    free(text.data);
}


static void
unit_resource(unit_resource_t *test)
{
    ngx_int_t                   rc;
    ngx_str_t                   name, project, id;
    ngx_queues_base_resource_t  resource;

    name = unit_text(test->name);

    rc = ngx_queues_base_resource_parse(&name, test->kind, &resource);

    if (test->project == NULL) {
        unit_ok(rc == NGX_ERROR, "no resource", &name);

    } else {
        project = unit_text(test->project);
        id = unit_text(test->id);

        unit_ok(rc == NGX_OK && unit_same(&resource.project, &project)
                && unit_same(&resource.id, &id), "resource", &name);

        free(project.data);
        free(id.data);
    }

    free(name.data);
}


int
main(void)
{
    ngx_uint_t  i;
    ngx_str_t   nul = ngx_string("ab\0c");

    for (i = 0; i < UNIT_ROWS(unit_resources); i++) {
        unit_resource(&unit_resources[i]);
    }

    unit_checks("id", ngx_queues_base_resource_id, unit_ids,
                UNIT_ROWS(unit_ids), NGX_OK);
    unit_checks("no id", ngx_queues_base_resource_id, unit_not_ids,
                UNIT_ROWS(unit_not_ids), NGX_ERROR);
    unit_length("id", ngx_queues_base_resource_id, "a", 255, NGX_OK);
    unit_length("no id", ngx_queues_base_resource_id, "a", 256, NGX_ERROR);
    unit_ok(ngx_queues_base_resource_id(&nul) == NGX_ERROR, "no id", &nul);

    unit_checks("project", ngx_queues_base_resource_project, unit_projects,
                UNIT_ROWS(unit_projects), NGX_OK);
    unit_checks("no project", ngx_queues_base_resource_project,
                unit_not_projects, UNIT_ROWS(unit_not_projects), NGX_ERROR);
    unit_length("project", ngx_queues_base_resource_project, "a", 64, NGX_OK);
    unit_length("no project", ngx_queues_base_resource_project, "a", 65,
                NGX_ERROR);
    unit_ok(ngx_queues_base_resource_project(&nul) == NGX_ERROR, "no project",
            &nul);

    unit_checks("key of a label", ngx_queues_base_label_key, unit_keys,
                UNIT_ROWS(unit_keys), NGX_OK);
    unit_checks("no key of a label", ngx_queues_base_label_key, unit_not_keys,
                UNIT_ROWS(unit_not_keys), NGX_ERROR);
    unit_checks("label", ngx_queues_base_label_value, unit_values,
                UNIT_ROWS(unit_values), NGX_OK);
    unit_checks("no label", ngx_queues_base_label_value, unit_not_values,
                UNIT_ROWS(unit_not_values), NGX_ERROR);
    unit_length("key of a label", ngx_queues_base_label_key, "a", 63, NGX_OK);
    unit_length("no key of a label", ngx_queues_base_label_key, "a", 64,
                NGX_ERROR);
    unit_length("characters", ngx_queues_base_label_value, "\xe2\x82\xac", 63,
                NGX_OK);
    unit_length("more characters", ngx_queues_base_label_value, "\xe2\x82\xac",
                64, NGX_ERROR);
    unit_ok(ngx_queues_base_label_value(&nul) == NGX_ERROR, "no label", &nul);

    return unit_done();
}
