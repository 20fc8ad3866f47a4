/*
 * find.c - the functions of the real MPI.
 */
#include <dlfcn.h>

#include "native/native.h"

struct native_functions native_real;

static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12"};

/* A program may have loaded its MPI by itself, so that only its own libraries find it. */
void *native_find(const char *symbol)
{
    void *found = dlsym(RTLD_NEXT, symbol);
    for (size_t i = 0; !found && i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, symbol) : NULL;
        if (library)
            dlclose(library);
    }
    return found;
}

void native_find_all(void)
{
    void **real = (void **)&native_real;
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        real[i] = native_symbols[i] ? native_find(native_symbols[i]) : NULL;
    native.no_arrays[0] = native_find("MPI_UNWEIGHTED");
    native.no_arrays[1] = native_find("MPI_WEIGHTS_EMPTY");
}

int native_load(void)
{
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (dlopen(libraries[i], RTLD_LAZY | RTLD_GLOBAL))
            return 1;
    return 0;
}
