/*
 * caller.c - finds where in the program a call into the library was made.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "vp/vp.h"

#define FRAMES 24 /* frames inside the library, and one of the program */

/* Our library and the MPI bindings of other languages, which call it. */
static int is_between(const char *file)
{
    return strstr(file, "liborrery") || strstr(file, "libmpichfort") || strstr(file, "libmpichcxx");
}

int vp_caller(char *out, size_t n)
{
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);

    for (int i = 0; i < count; i++) {
        const struct link_map *map = NULL;
        const char *slash;
        Dl_info where;

        if (!dladdr1(frames[i], &where, (void **)&map, RTLD_DL_LINKMAP) || !where.dli_fname ||
            is_between(where.dli_fname))
            continue;
        slash = strrchr(where.dli_fname, '/');
        snprintf(out, n, "0x%llx in %s",
                 (unsigned long long)((uintptr_t)frames[i] - 1 - (map ? map->l_addr : 0)),
                 slash ? slash + 1 : where.dli_fname);
        return 1;
    }
    return 0;
}
