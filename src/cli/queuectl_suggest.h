
/* What was meant, perhaps, where a word is not known. */

#ifndef QUEUECTL_SUGGEST_H_INCLUDED_
#define QUEUECTL_SUGGEST_H_INCLUDED_


#include <stddef.h>


/* begins with the word and all else zero; best is NULL where nothing is near */

typedef struct {
    const char  *word;
    const char  *best;
    size_t       distance;
} queuectl_suggest_t;


void queuectl_suggest(queuectl_suggest_t *s, const char *candidate);


#endif /* QUEUECTL_SUGGEST_H_INCLUDED_ */
