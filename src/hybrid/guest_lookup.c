/*
 * guest_lookup.c - programs that look up functions of the MPI in a library that they have loaded,
 * as those in Python (ctypes) and Julia do, get the wrappers, too. Otherwise the simulator would
 * wait for them for ever.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <string.h>

#include "hybrid/guest.h"

typedef void *(*lookup)(void *restrict handle, const char *restrict name);

static lookup find_real(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    static lookup found;
    for (size_t i = 0; !found && i < sizeof versions / sizeof versions[0]; i++)
        found = (lookup)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}

static int is_mpi(const char *name)
{
    static const char *const prefixes[] = {"MPI", "PMPI", "mpi_", "pmpi_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}

/* Is it in this library? */
static int is_ours(const void *address)
{
    static const char here;
    Dl_info self, other;
    return dladdr(&here, &self) && dladdr(address, &other) && self.dli_fbase == other.dli_fbase;
}

/* The wrapper of a function that the library has, or NULL. This library finds what the MPI has. */
static __attribute__((noinline)) void *find_wrapper(lookup real, void *handle, const char *name,
                                                    const void *caller)
{
    if (handle == RTLD_NEXT || !is_mpi(name) || is_ours(caller) || !real(handle, name))
        return NULL;
    void *found = real(RTLD_DEFAULT, name);
    return found && is_ours(found) ? found : NULL;
}

/* RTLD_NEXT depends on who calls: the real function must be jumped to, not called. */
ORR_EXPORT __attribute__((optimize("O2"))) void *dlsym(void *restrict handle,
                                                       const char *restrict name)
{
    lookup real = find_real();
    void *wrapper = find_wrapper(real, handle, name, __builtin_return_address(0));
    if (wrapper)
        return wrapper;
    return real(handle, name);
}
