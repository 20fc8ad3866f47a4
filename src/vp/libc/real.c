/*
 * The libc functions behind the shims.
 *
 * May run before any constructor: it uses nothing but dlsym, and dlsym allocates only to report
 * an error. RTLD_NEXT counts from the object holding this function, hence skips our own shims.
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
