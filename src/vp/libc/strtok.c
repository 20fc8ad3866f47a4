/*
 * strtok with the place of each rank. Its pointer goes into memory of the rank, so it is used
 * only in the rank's own context.
 */
#include "vp/libc/libc.h"

#include <string.h>

VP_EXPORT char *strtok(char *restrict text, const char *restrict separators)
{
    if (!vp_current())
        return REAL(strtok)(text, separators);
    struct vp_extra *x = vp_extra_get();
    if (!text && !x->strtok)
        return NULL;
    return strtok_r(text, separators, &x->strtok);
}
