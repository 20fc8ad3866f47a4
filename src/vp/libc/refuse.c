/*
 * Calls that a rank, mostly a fibre rank, cannot make. The run continues, but its exit status shows
 * that a call was refused. Each call is reported once, for the first rank that makes it: a million
 * ranks calling fork() give one message.
 */
#include "vp/libc/libc.h"

#include <string.h>

#include "base/log.h"
#include "base/units.h"

enum { KINDS_MAX = 64 }; /* more than there are refused functions */

/* Is this the first time for `what`? Remembers it. */
static int is_first(const char *what)
{
    static const char *seen[KINDS_MAX];
    static int count;

    for (int i = 0; i < count; i++)
        if (strcmp(seen[i], what) == 0)
            return 0;
    if (count == KINDS_MAX)
        return 0;
    seen[count++] = what;
    return 1;
}

__attribute__((noinline)) void vp_refuse(const char *what, const char *advice)
{
    struct vp_rank *f = vp_current();
    char when[UNITS_TEXT_MAX];

    if (f && vp_hooks->refused)
        vp_hooks->refused(f);
    if (!is_first(what))
        return;
    if (!f) {
        log_error("%s was called, which a fibre rank cannot do%s%s", what, advice ? "; " : "",
                  advice ? advice : "");
        return;
    }
    units_format_time(when, sizeof when, vp_hooks->now(f));
    log_error("rank %llu called %s at %s, which a %s cannot do%s%s",
              (unsigned long long)vp_hooks->rank(f), what, when,
              vp_private.host->own_process ? "rank" : "fibre rank", advice ? "; " : "",
              advice ? advice : "");
}
