
/*
 * Globs: the first line is a list, the second a text.  The matching is
 * compared with the set of all places in the glob where one may stand.
 */

#include "fuzz.h"
#include "ngx_queues_base_glob.h"


#define FUZZ_MAX  256


/*
 * Marks the places of the glob where one may stand behind the text, with
 * stars at hand passed over; at[glob->len]: it matches.
 */

static void
fuzz_places(ngx_str_t *glob, ngx_str_t *text, u_char *at)
{
    u_char  next[FUZZ_MAX + 1];
    size_t  i, k;

    memset(at, 0, FUZZ_MAX + 1);
    at[0] = 1;

    for (k = 0; ; k++) {

        for (i = 0; i < glob->len; i++) {
            if (at[i] && glob->data[i] == '*') {
                at[i + 1] = 1;
            }
        }

        if (k == text->len) {
            return;
        }

        memset(next, 0, sizeof(next));

        for (i = 0; i < glob->len; i++) {
            if (!at[i]) {
                continue;
            }

            if (glob->data[i] == '*') {
                next[i] = 1;

            } else if (glob->data[i] == text->data[k]) {
                next[i + 1] = 1;
            }
        }

        memcpy(at, next, sizeof(next));
    }
}


static ngx_uint_t
fuzz_matches(ngx_str_t *glob, ngx_str_t *text)
{
    u_char  at[FUZZ_MAX + 1];

    fuzz_places(glob, text, at);

    return at[glob->len];
}


/*
 * Wherever one may stand the rest of the glob can follow.  It matches all if
 * it matches the text with and without a byte that the glob does not have.
 */

static ngx_queues_base_glob_scope_e
fuzz_scope(ngx_str_t *glob, ngx_str_t *text)
{
    u_char      at[FUZZ_MAX + 1];
    ngx_str_t   longer;
    ngx_uint_t  c, all;

    fuzz_places(glob, text, at);

    if (memchr(at, 1, glob->len + 1) == NULL) {
        return NGX_QUEUES_BASE_GLOB_NONE;
    }

    for (c = 0; c < 255 && memchr(glob->data, c, glob->len); c++) {
        /* void */
    }

    longer = fuzz_copy(text->data, text->len + 1);
    longer.data[text->len] = (u_char) c;

    all = at[glob->len] && fuzz_matches(glob, &longer);

    free(longer.data);

    return all ? NGX_QUEUES_BASE_GLOB_ALL : NGX_QUEUES_BASE_GLOB_SOME;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t                        len;
    ngx_str_t                     rest, list, line, text, globs, glob;
    ngx_uint_t                    matches, any;
    ngx_queues_base_glob_scope_e  scope, best;

    rest.data = (u_char *) data;
    rest.len = size;

    list = fuzz_take(&rest, '\n');
    line = fuzz_take(&rest, '\n');

    if (list.len >= FUZZ_MAX || line.len >= FUZZ_MAX) {
        goto done;
    }

    /* with a byte more behind it, for fuzz_scope() */

    text.len = line.len;
    text.data = fuzz_alloc(line.len + 1);
    memcpy(text.data, line.data, line.len);
    text.data[line.len] = '\0';

    globs = list;
    any = 0;
    best = NGX_QUEUES_BASE_GLOB_NONE;

    do {
        len = globs.len;
        glob = fuzz_take(&globs, ',');
        len -= glob.len;        /* 0: no comma was taken */

        matches = fuzz_matches(&glob, &text);
        scope = fuzz_scope(&glob, &text);

        fuzz_assert(ngx_queues_base_glob_match(&glob, &line) == matches);
        fuzz_assert(ngx_queues_base_glob_list(&glob, &line) == matches);
        fuzz_assert(ngx_queues_base_glob_scope(&glob, &line) == scope);

        any |= matches;
        best = ngx_max(best, scope);

        free(glob.data);

    } while (len);

    fuzz_assert(ngx_queues_base_glob_list(&list, &line) == any);
    fuzz_assert(ngx_queues_base_glob_scope(&list, &line) == best);

    free(text.data);

done:

    free(line.data);
    free(list.data);

    return 0;
}
