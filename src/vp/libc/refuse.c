/*
 * Calls a rank cannot make, mostly one that is a fibre. The run goes on, but its exit status says that
 * it was not all that the program asked for. Each call is reported once, by the first rank that makes it: a
 * million ranks calling fork() are one message.
 */
#include "vp/libc/libc.h"

#include <string.h>

#include "base/log.h"
#include "base/units.h"

enum { KINDS_MAX = 64 }; /* more than there are refused functions */

/* Whether `what` comes for the first time; remembers it. */
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
              vp_host->own_process ? "rank" : "fibre rank", advice ? "; " : "",
              advice ? advice : "");
}
