
/*
 * Names of fields as Google's APIs have them: each has two spellings,
 * "ackDeadlineSeconds" and "ack_deadline_seconds", in bodies and in field
 * masks, and no mixture of them.  Tables have the first.
 */

#ifndef _NGX_QUEUES_BASE_MASK_H_INCLUDED_
#define _NGX_QUEUES_BASE_MASK_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


typedef struct {
    ngx_str_t                     name;     /* lowerCamelCase; of masks perhaps
                                               with dots, "a.bC"; a null string
                                               ends a table */
    uint64_t                      bit;
    ngx_uint_t                    message;  /* of masks: paths below it that
                                               have no name of their own count
                                               as this field */
} ngx_queues_base_field_t;


#pragma GCC visibility push(hidden)


/*
 * 1 if a raw key of a checked JSON document is the field of this name in either
 * spelling, else 0.
 */
ngx_uint_t ngx_queues_base_field_equal(ngx_str_t *raw, ngx_str_t *name);

/*
 * Parses a FieldMask, the decoded text of its one string: paths with commas
 * between them, of names with dots between them, each in either spelling.
 * NGX_OK with the bits of all fields that it has, some perhaps more than once.
 * NGX_ERROR with *path, the one that is wrong: unknown ("*" too, or with
 * blanks), empty (so an empty text), or below a field that is no message.
 */
ngx_int_t ngx_queues_base_mask_parse(ngx_str_t *text,
    ngx_queues_base_field_t *fields, uint64_t *bits, ngx_str_t *path);


#pragma GCC visibility pop


#endif /* _NGX_QUEUES_BASE_MASK_H_INCLUDED_ */
