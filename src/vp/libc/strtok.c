/*
 * strtok with per-rank state. Its pointer points into the rank's memory, so it is used only in the
 * rank's own context.
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
