
#ifndef _NGX_QUEUES_CONF_LIBRARY_H_INCLUDED_
#define _NGX_QUEUES_CONF_LIBRARY_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>


#pragma GCC visibility push(hidden)

/* the text of all the .lua files of redis/ in name order; read-only, for ever */
void ngx_queues_conf_library_text(ngx_str_t *text);

#pragma GCC visibility pop


#endif /* _NGX_QUEUES_CONF_LIBRARY_H_INCLUDED_ */
