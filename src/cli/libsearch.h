/*
 * Where the dynamic linker would find a library: read only, nothing is executed.
 */
#ifndef CLI_LIBSEARCH_H
#define CLI_LIBSEARCH_H

#include <stddef.h>

struct cli_libsearch {
    char **directories; /* of the system, from ld.so.conf and the built-in list */
    size_t count;
};

/* An object that asks for a library. Both strings may be NULL; `path` is the object's own. */
struct cli_libsearch_from {
    const char *path, *rpath, *runpath;
};

/* Reads /etc/ld.so.conf and its includes; missing files are no error. */
void cli_libsearch_init(struct cli_libsearch *);
void cli_libsearch_fini(struct cli_libsearch *);

/*
 * Finds `name` for the object `from` of the program `main` in the order of ld.so(8): RPATH (if
 * there is no RUNPATH), LD_LIBRARY_PATH, RUNPATH, system directories. `accept` may refuse a file,
 * for instance of another machine. Returns 1 with the path in out, or 0.
 */
int cli_libsearch_find(const struct cli_libsearch *, const char *name,
                       const struct cli_libsearch_from *from,
                       const struct cli_libsearch_from *main, int (*accept)(const char *path),
                       char *out, size_t size);

#endif
