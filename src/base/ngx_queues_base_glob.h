
/*
 * Globs of permissions and resources: '*' stands for any run of bytes, also
 * for none and over '/' and '.'; nothing else is special.  A list has commas
 * between its globs; an empty glob matches the empty text only.
 */

#ifndef _NGX_QUEUES_BASE_GLOB_H_INCLUDED_
#define _NGX_QUEUES_BASE_GLOB_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


typedef enum {
    NGX_QUEUES_BASE_GLOB_NONE = 0,
    NGX_QUEUES_BASE_GLOB_SOME,
    NGX_QUEUES_BASE_GLOB_ALL
} ngx_queues_base_glob_scope_e;


#pragma GCC visibility push(hidden)


/*
 * 1 if the glob matches the whole text, else 0.  It goes back to the last
 * star only, so it costs at most glob->len * text->len steps.
 */
ngx_uint_t ngx_queues_base_glob_match(ngx_str_t *glob, ngx_str_t *text);

/* 1 if any glob of the list matches the whole text, else 0. */
ngx_uint_t ngx_queues_base_glob_list(ngx_str_t *list, ngx_str_t *text);

/*
 * What the list says of the texts that start with the prefix: ALL if one of
 * its globs matches every one of them, SOME if it matches at least one of
 * them, else NONE.  Globs are judged one by one: several that together cover
 * everything are SOME.
 */
ngx_queues_base_glob_scope_e ngx_queues_base_glob_scope(ngx_str_t *list,
    ngx_str_t *prefix);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_GLOB_H_INCLUDED_ */
