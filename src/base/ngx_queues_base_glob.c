
#include "ngx_queues_base_glob.h"


static ngx_queues_base_glob_scope_e ngx_queues_base_glob_scope_one(
    ngx_str_t *glob, ngx_str_t *prefix);
static ngx_uint_t ngx_queues_base_glob_next(ngx_str_t *rest, ngx_str_t *glob);


ngx_uint_t
ngx_queues_base_glob_match(ngx_str_t *glob, ngx_str_t *text)
{
    u_char  *g, *g_last, *t, *t_last, *star, *mark;

    g = glob->data;
    g_last = g + glob->len;
    t = text->data;
    t_last = t + text->len;

    star = NULL;            /* behind the last star that was met */
    mark = NULL;            /* the text that it has not swallowed */

    while (t < t_last) {

        if (g < g_last && *g == '*') {
            star = ++g;
            mark = t;
            continue;
        }

        if (g < g_last && *g == *t) {
            g++;
            t++;
            continue;
        }

        if (star == NULL) {
            return 0;
        }

        g = star;
        t = ++mark;
    }

    while (g < g_last && *g == '*') {
        g++;
    }

    return g == g_last;
}


ngx_uint_t
ngx_queues_base_glob_list(ngx_str_t *list, ngx_str_t *text)
{
    ngx_str_t  rest, glob;

    rest = *list;

    while (ngx_queues_base_glob_next(&rest, &glob)) {
        if (ngx_queues_base_glob_match(&glob, text)) {
            return 1;
        }
    }

    return 0;
}


ngx_queues_base_glob_scope_e
ngx_queues_base_glob_scope(ngx_str_t *list, ngx_str_t *prefix)
{
    ngx_str_t                     rest, glob;
    ngx_queues_base_glob_scope_e  scope, best;

    rest = *list;
    best = NGX_QUEUES_BASE_GLOB_NONE;

    while (ngx_queues_base_glob_next(&rest, &glob)) {
        scope = ngx_queues_base_glob_scope_one(&glob, prefix);
        best = ngx_max(best, scope);
    }

    return best;
}


/*
 * A glob matches everything behind the prefix exactly if it matches the prefix
 * alone and ends in a star: without one, a text with another last byte fails.
 * It matches something there exactly if its bytes up to the first star and
 * the prefix agree as far as both go, and a star takes what the prefix has
 * more.
 */

static ngx_queues_base_glob_scope_e
ngx_queues_base_glob_scope_one(ngx_str_t *glob, ngx_str_t *prefix)
{
    size_t   len;
    u_char  *star;

    if (glob->len && glob->data[glob->len - 1] == '*'
        && ngx_queues_base_glob_match(glob, prefix))
    {
        return NGX_QUEUES_BASE_GLOB_ALL;
    }

    star = glob->len ? memchr(glob->data, '*', glob->len) : NULL;
    len = star ? (size_t) (star - glob->data) : glob->len;

    if (len < prefix->len && star == NULL) {
        return NGX_QUEUES_BASE_GLOB_NONE;
    }

    len = ngx_min(len, prefix->len);

    if (len && ngx_memcmp(glob->data, prefix->data, len) != 0) {
        return NGX_QUEUES_BASE_GLOB_NONE;
    }

    return NGX_QUEUES_BASE_GLOB_SOME;
}


/* takes the first glob off a list; 0 at the end, where rest->data is NULL */

static ngx_uint_t
ngx_queues_base_glob_next(ngx_str_t *rest, ngx_str_t *glob)
{
    u_char  *comma;

    if (rest->data == NULL) {
        return 0;
    }

    *glob = *rest;
    comma = memchr(rest->data, ',', rest->len);

    if (comma == NULL) {
        ngx_str_null(rest);
        return 1;
    }

    glob->len = comma - rest->data;
    rest->data = comma + 1;
    rest->len -= glob->len + 1;

    return 1;
}
