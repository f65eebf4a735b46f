
/* Bytes in JSON, as proto3 has them: base64. */

#ifndef QUEUECTL_BYTES_H_INCLUDED_
#define QUEUECTL_BYTES_H_INCLUDED_


#include "queuectl_text.h"


void queuectl_bytes_write(queuectl_buf_t *b, queuectl_span_t bytes);

/* 0 and the bytes, added; or -1: that is no base64, padded */

int queuectl_bytes_read(queuectl_buf_t *b, queuectl_span_t text);


#endif /* QUEUECTL_BYTES_H_INCLUDED_ */
