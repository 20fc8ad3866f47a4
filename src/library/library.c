/*
 * library.c - loads a library and fills the slots of its stubs. The first slot is filled last: if
 * it is, all are. Libraries stay loaded.
 */
#include "library/library.h"

#include <dlfcn.h>
#include <string.h>

#define L(name, title)                          \
    extern const char library_##name##_names[]; \
    extern void *library_##name##_slots[];
LIBRARY_LIST(L)
#undef L

static const struct {
    const char *title, *file;
    const char *names; /* each ends with a NUL; an empty one ends the list */
    void **slots;
} libraries[] = {
#define L(name, title) \
    [LIBRARY_##name] = {title, LIBRARY_FILE_##name, library_##name##_names, library_##name##_slots},
    LIBRARY_LIST(L)
#undef L
};

static int fail(enum library_name which, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot load %s: %s; install it", libraries[which].title,
                   dlerror());
}

int library_load(enum library_name which, struct err *err)
{
    const char *name = libraries[which].names;
    void **slots = libraries[which].slots, *first, *library;

    if (__atomic_load_n(&slots[0], __ATOMIC_ACQUIRE))
        return 0;
    library = dlopen(libraries[which].file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(which, err);
    first = dlsym(library, name);
    if (!first)
        return fail(which, err);
    for (size_t i = 1; *(name += strlen(name) + 1); i++) {
        void *function = dlsym(library, name);

        if (!function)
            return fail(which, err);
        __atomic_store_n(&slots[i], function, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&slots[0], first, __ATOMIC_RELEASE);
    return 0;
}
