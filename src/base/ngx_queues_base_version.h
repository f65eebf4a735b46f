
/*
 * The version, of the module, queuectl and the packages: it is here only. No
 * other header is needed.
 */

#ifndef _NGX_QUEUES_BASE_VERSION_H_INCLUDED_
#define _NGX_QUEUES_BASE_VERSION_H_INCLUDED_


#define NGX_QUEUES_VERSION  "0.1.0"


#endif /* _NGX_QUEUES_BASE_VERSION_H_INCLUDED_ */
