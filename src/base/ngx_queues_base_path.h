
/*
 * Raw request paths and queries.  A path is split before it is decoded, so
 * that "a%2Fb" is one segment, and everything is decoded exactly once.
 */

#ifndef _NGX_QUEUES_BASE_PATH_H_INCLUDED_
#define _NGX_QUEUES_BASE_PATH_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#define NGX_QUEUES_BASE_PATH_SEGMENTS  16


typedef struct {
    ngx_uint_t                    nsegments;
    ngx_str_t                     segments[NGX_QUEUES_BASE_PATH_SEGMENTS];
    ssize_t                       verb;    /* where in the last one, once
                                              decoded, its last ':' is that was
                                              not escaped; -1: nowhere */
} ngx_queues_base_path_t;


typedef struct {
    u_char                       *pos;
    u_char                       *last;
    u_char                       *buf;     /* where the next one is decoded */
    ngx_uint_t                    controls;
} ngx_queues_base_query_t;


#pragma GCC visibility push(hidden)


/*
 * Splits a path as it was on the wire (r->unparsed_uri: what follows '?' or
 * '#' is left alone) and decodes its segments into buf, which has at least
 * raw->len bytes and lives as long as the path.  '+' is an ordinary
 * character; segments may be empty ("//", a trailing slash), "." and ".." mean
 * nothing.  NGX_ERROR for a bad escape, decoded text that is not UTF-8 or,
 * unless controls are allowed, has a control character; NGX_DECLINED if it is
 * no path of ours: it does not start with a slash or has more than
 * NGX_QUEUES_BASE_PATH_SEGMENTS segments.
 */
ngx_int_t ngx_queues_base_path_split(ngx_str_t *raw, ngx_uint_t controls,
    u_char *buf, ngx_queues_base_path_t *path);

/*
 * Matches a path against a template, "/v1/projects/{project}/topics/{topic}".
 * A template's segment is a literal or a capture in braces, which may have a
 * literal after it, "{topic}:publish": then the segment ends in that and the
 * capture is what stands before.  The ':' with which such a literal begins is
 * the last one of the last segment, and not an escaped one, which is part of a
 * name.  Empty segments and captures match nothing.
 * NGX_OK with the captures in their order, or NGX_DECLINED; captures has as
 * many elements as the template has braces and is undefined after
 * NGX_DECLINED.
 */
ngx_int_t ngx_queues_base_path_match(ngx_queues_base_path_t *path,
    ngx_str_t *template, ngx_str_t *captures);

/*
 * Begins a walk over a raw query (r->args).  buf has at least args->len bytes
 * and must live as long as the names and values.
 */
void ngx_queues_base_query_open(ngx_queues_base_query_t *query,
    ngx_str_t *args, ngx_uint_t controls, u_char *buf);

/*
 * NGX_OK with the next parameter, decoded ('+' is a blank); one without '='
 * has an empty value, empty ones ("&&") are skipped.  NGX_DONE at the end.
 * NGX_ERROR as for paths; the walk is over then.
 */
ngx_int_t ngx_queues_base_query_next(ngx_queues_base_query_t *query,
    ngx_str_t *name, ngx_str_t *value);

/* NGX_OK if the name is [A-Za-z0-9_-]{1,max}, else NGX_ERROR. */
ngx_int_t ngx_queues_base_name_check(ngx_str_t *name, size_t max);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_PATH_H_INCLUDED_ */
