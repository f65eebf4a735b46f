
#include "queuectl_suggest.h"

#include <string.h>


#define QUEUECTL_SUGGEST_LONGEST   40
#define QUEUECTL_SUGGEST_DISTANCE  2


static size_t queuectl_suggest_distance(const char *a, const char *b);


/* how many letters are to be added, removed or changed */

static size_t
queuectl_suggest_distance(const char *a, const char *b)
{
    size_t  i, k, least, before, above, row[QUEUECTL_SUGGEST_LONGEST + 1];
    size_t  lena, lenb;

    lena = strlen(a);
    lenb = strlen(b);

    if (lena > QUEUECTL_SUGGEST_LONGEST || lenb > QUEUECTL_SUGGEST_LONGEST) {
        return QUEUECTL_SUGGEST_LONGEST;
    }

    for (k = 0; k <= lenb; k++) {
        row[k] = k;
    }

    for (i = 1; i <= lena; i++) {
        before = row[0];
        row[0] = i;

        for (k = 1; k <= lenb; k++) {
            above = row[k];
            least = before + (a[i - 1] != b[k - 1]);
            least = least < above + 1 ? least : above + 1;
            row[k] = least < row[k - 1] + 1 ? least : row[k - 1] + 1;
            before = above;
        }
    }

    return row[lenb];
}


void
queuectl_suggest(queuectl_suggest_t *s, const char *candidate)
{
    size_t  distance;

    distance = queuectl_suggest_distance(s->word, candidate);

    /* of a word of two letters everything is near */

    if (distance > QUEUECTL_SUGGEST_DISTANCE || distance >= strlen(s->word)
        || (s->best && distance >= s->distance))
    {
        return;
    }

    s->best = candidate;
    s->distance = distance;
}
