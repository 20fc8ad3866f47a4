/*
 * libsearch.h - finds a library where the dynamic linker would, without executing anything.
 */
#ifndef PROGRAM_LIBSEARCH_H
#define PROGRAM_LIBSEARCH_H

#include <stddef.h>

struct program_libsearch {
    char **directories; /* of the system, from ld.so.conf and the built-in list */
    size_t count;
};

/* An object that needs a library. Both strings may be NULL; `path` is the object's path. */
struct program_libsearch_from {
    const char *path, *rpath, *runpath;
};

/* Reads /etc/ld.so.conf and its includes; missing files are not an error. */
void program_libsearch_init(struct program_libsearch *);
void program_libsearch_fini(struct program_libsearch *);

/*
 * Finds `name` for the object `from` of the program `main` in the order of ld.so(8): RPATH (if
 * there is no RUNPATH), LD_LIBRARY_PATH, RUNPATH, system directories. `accept` may refuse a file,
 * for instance of another machine. Returns 1 with the path in out, or 0.
 */
int program_libsearch_find(const struct program_libsearch *, const char *name,
                           const struct program_libsearch_from *from,
                           const struct program_libsearch_from *main,
                           int (*accept)(const char *path), char *out, size_t size);

#endif
