
#include "unit.h"
#include "ngx_queues_base_glob.h"


#define NONE  NGX_QUEUES_BASE_GLOB_NONE
#define SOME  NGX_QUEUES_BASE_GLOB_SOME
#define ALL   NGX_QUEUES_BASE_GLOB_ALL


typedef struct {
    ngx_str_t    list;
    ngx_str_t    text;
    ngx_uint_t   expected;
} unit_glob_t;


static unit_glob_t  unit_globs[] = {
    { ngx_string(""), ngx_string(""), 1 },
    { ngx_string(""), ngx_string("a"), 0 },
    { ngx_string("*"), ngx_string(""), 1 },
    { ngx_string("*"), ngx_string("a/b.c"), 1 },
    { ngx_string("**"), ngx_string(""), 1 },
    { ngx_string("**"), ngx_string("abc"), 1 },
    { ngx_string("a"), ngx_string("a"), 1 },
    { ngx_string("a"), ngx_string("A"), 0 },
    { ngx_string("a"), ngx_string("ab"), 0 },
    { ngx_string("ab"), ngx_string("a"), 0 },
    { ngx_string("a*"), ngx_string("a"), 1 },
    { ngx_string("a*"), ngx_string("ba"), 0 },
    { ngx_string("*a"), ngx_string("ba"), 1 },
    { ngx_string("*a"), ngx_string("ab"), 0 },
    { ngx_string("*ab"), ngx_string("aab"), 1 },
    { ngx_string("*aab"), ngx_string("aaaab"), 1 },
    { ngx_string("a*b*c"), ngx_string("abc"), 1 },
    { ngx_string("a*b*c"), ngx_string("axbybzc"), 1 },
    { ngx_string("a*b*c"), ngx_string("acb"), 0 },
    { ngx_string("*abc*abd"), ngx_string("abcabcabd"), 1 },
    { ngx_string("*abc*abd"), ngx_string("abcabdabc"), 0 },
    { ngx_string("a?c"), ngx_string("abc"), 0 },
    { ngx_string("a?c"), ngx_string("a?c"), 1 },
    { ngx_string("[a]"), ngx_string("a"), 0 },
    { ngx_string("\\*"), ngx_string("*"), 0 },
    { ngx_string("\\*"), ngx_string("\\x"), 1 },
    { ngx_string("queues.*"), ngx_string("queues.messages.send"), 1 },
    { ngx_string("queues.*.send"), ngx_string("queues.messages.send"), 1 },
    { ngx_string("queues.*.send"), ngx_string("queues.send"), 0 },
    { ngx_string("acme/*/q"), ngx_string("acme/p/q"), 1 },
    { ngx_string("acme/*/q"), ngx_string("acme/p/x/q"), 1 },
    { ngx_string("acme/p/*"), ngx_string("acme/p2/q"), 0 },
    { ngx_string("a*"), ngx_string("a\0b"), 1 },
    { ngx_string("*aaaaaaaaaaaaaaab"),
      ngx_string("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 0 }
};


static unit_glob_t  unit_lists[] = {
    { ngx_string("a,b"), ngx_string("a"), 1 },
    { ngx_string("a,b"), ngx_string("b"), 1 },
    { ngx_string("a,b"), ngx_string("a,b"), 0 },
    { ngx_string("a,b"), ngx_string(""), 0 },
    { ngx_string("a,b*,c"), ngx_string("bbb"), 1 },
    { ngx_string("a,b*,c"), ngx_string("c"), 1 },
    { ngx_string("a,b*,c"), ngx_string("cc"), 0 },
    { ngx_string("x*,*y"), ngx_string("a,y"), 1 },
    { ngx_string("queues.messages.send,queues.messages.receive"),
      ngx_string("queues.messages.receive"), 1 },
    { ngx_string("a,"), ngx_string(""), 1 },
    { ngx_string("a,b"), ngx_string("ab"), 0 }
};


static unit_glob_t  unit_scopes[] = {
    { ngx_string("*"), ngx_string("org/project/"), ALL },
    { ngx_string("**"), ngx_string("org/project/"), ALL },
    { ngx_string("org/*"), ngx_string("org/project/"), ALL },
    { ngx_string("org*"), ngx_string("org/project/"), ALL },
    { ngx_string("org/project/*"), ngx_string("org/project/"), ALL },
    { ngx_string("org/project*"), ngx_string("org/project/"), ALL },
    { ngx_string("*/project/*"), ngx_string("org/project/"), ALL },
    { ngx_string("*/*"), ngx_string("org/project/"), ALL },
    { ngx_string("*/*/*"), ngx_string("org/project/"), ALL },
    { ngx_string("org/*/*"), ngx_string("org/project/"), ALL },
    { ngx_string("x,org/project/*"), ngx_string("org/project/"), ALL },
    { ngx_string("org/project/q,*"), ngx_string("org/project/"), ALL },
    { ngx_string("*"), ngx_string(""), ALL },
    { ngx_string("org/project/q"), ngx_string("org/project/"), SOME },
    { ngx_string("org/project/q*"), ngx_string("org/project/"), SOME },
    { ngx_string("org/project/"), ngx_string("org/project/"), SOME },
    { ngx_string("*q"), ngx_string("org/project/"), SOME },
    { ngx_string("*/q*"), ngx_string("org/project/"), SOME },
    { ngx_string("org/*/q"), ngx_string("org/project/"), SOME },
    { ngx_string("o*z"), ngx_string("org/project/"), SOME },
    { ngx_string("*/*/*/*"), ngx_string("org/project/"), SOME },
    { ngx_string("other/*/x*"), ngx_string("org/project/"), NONE },
    { ngx_string("*x*"), ngx_string("org/project/"), SOME },
    { ngx_string("x,y,org/project/a"), ngx_string("org/project/"), SOME },
    { ngx_string("q"), ngx_string(""), SOME },
    { ngx_string("org/project"), ngx_string("org/project/"), NONE },
    { ngx_string("org/project2/*"), ngx_string("org/project/"), NONE },
    { ngx_string("org/projec/*"), ngx_string("org/project/"), NONE },
    { ngx_string("org2/*"), ngx_string("org/project/"), NONE },
    { ngx_string("or/*"), ngx_string("org/project/"), NONE },
    { ngx_string("Org/*"), ngx_string("org/project/"), NONE },
    { ngx_string("x,y,org/projects"), ngx_string("org/project/"), NONE },
    { ngx_string(""), ngx_string("org/project/"), NONE },
    { ngx_string(""), ngx_string(""), SOME }
};


static ngx_uint_t
unit_call(ngx_uint_t which, ngx_str_t *list, ngx_str_t *text)
{
    switch (which) {

    case 0:
        return ngx_queues_base_glob_match(list, text);

    case 1:
        return ngx_queues_base_glob_list(list, text);

    default:
        return ngx_queues_base_glob_scope(list, text);
    }
}


static void
unit_table(unit_glob_t *rows, ngx_uint_t n, ngx_uint_t which,
    const char *what)
{
    char        name[200];
    ngx_str_t   list, text, s;
    ngx_uint_t  i;

    for (i = 0; i < n; i++) {
        list = unit_copy(&rows[i].list);
        text = unit_copy(&rows[i].text);

        s.data = (u_char *) name;
        s.len = snprintf(name, sizeof(name), "%.*s on %.*s is %u",
                         (int) list.len, list.data, (int) text.len, text.data,
                         (unsigned) rows[i].expected);

        unit_ok(unit_call(which, &list, &text) == rows[i].expected, what, &s);

        free(list.data);
        free(text.data);
    }
}


/* the definition itself, exponential */

static ngx_uint_t
unit_naive(char *g, char *t)
{
    if (*g == '\0') {
        return *t == '\0';
    }

    if (*g == '*') {
        return unit_naive(g + 1, t) || (*t && unit_naive(g, t + 1));
    }

    return *g == *t && unit_naive(g + 1, t + 1);
}


/* a text of the n-th number in base 3 */

static ngx_uint_t
unit_spell(char *text, ngx_uint_t n, const char *alphabet)
{
    ngx_uint_t  len;

    for (len = 0; n; len++) {
        text[len] = alphabet[(n - 1) % 3];
        n = (n - 1) / 3;
    }

    text[len] = '\0';

    return len;
}


/*
 * All globs and prefixes of at most four and three of a few characters,
 * against all texts behind the prefix of at most four.
 */

static void
unit_exhaustive(void)
{
    char        glob[16], text[16];
    ngx_str_t   g, t;
    ngx_uint_t  i, j, k, len, bad, all, some;

    bad = 0;
    g.data = (u_char *) glob;
    t.data = (u_char *) text;

    for (i = 0; i < 121; i++) {
        g.len = unit_spell(glob, i, "*ab");

        for (j = 0; j < 40; j++) {
            len = unit_spell(text, j, "abc");
            all = 1;
            some = 0;

            for (k = 0; k < 121; k++) {
                t.len = len + unit_spell(text + len, k, "abc");

                if (unit_naive(glob, text)) {
                    some = 1;
                    bad += !ngx_queues_base_glob_match(&g, &t);

                } else {
                    all = 0;
                    bad += ngx_queues_base_glob_match(&g, &t);
                }
            }

            t.len = len;
            bad += (ngx_queues_base_glob_scope(&g, &t)
                    != (all ? ALL : some ? SOME : NONE));
        }
    }

    unit_ok(bad == 0, "all small globs on all small texts", NULL);
}


int
main(void)
{
    ngx_str_t  null = ngx_null_string, text = ngx_string("a");

    unit_table(unit_globs, UNIT_ROWS(unit_globs), 0, "glob");
    unit_table(unit_lists, UNIT_ROWS(unit_lists), 1, "list");
    unit_table(unit_scopes, UNIT_ROWS(unit_scopes), 2, "scope");

    unit_ok(!ngx_queues_base_glob_list(&null, &text), "no list", NULL);
    unit_ok(ngx_queues_base_glob_scope(&null, &text) == NONE,
            "no list has no scope", NULL);

    unit_exhaustive();

    return unit_done();
}
