/*
 * Looks up the libc functions behind the shims.
 *
 * May run before any constructor: it uses only dlsym, which allocates only to report an error.
 * RTLD_NEXT starts after the object that holds this function, hence skips our own shims.
 */
#include "vp/libc/libc.h"

#include <dlfcn.h>

#include "base/log.h"

void *vp_real(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);

    if (!address)
        log_fatal("no function '%s' in the C library of this system", name);
    return address;
}
