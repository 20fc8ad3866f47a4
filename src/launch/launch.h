/*
 * launch.h - starts the program with the simulator's library inside it.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "run/run.h"

#define LAUNCH_LIBRARY "liborrery-mpi.so"

struct output_book;

/* What is shared with the library, and the descriptors that the program inherits. */
struct launch_page {
    struct run_page *page;
    int fd;
    const struct output_book *book; /* its pending output, or NULL */
    int book_fd;
    off_t book_at; /* offset in the file */
    int is_slot;   /* the file belongs to the starter, which shows what is left in it (books.h) */
    int spill;     /* the file of older output, once the program has announced it; else -1 */
};

/* Creates a zeroed page with magic and size set. Release with launch_page_fini. */
int launch_page_init(struct launch_page *, struct err *);
void launch_page_fini(struct launch_page *);

/*
 * The directory of the library: ORRERY_LIBDIR, else that of the orrery executable (a build tree),
 * else ../lib/<arch>/orrery, ../lib/orrery or ../lib64/orrery beside it (installed).
 */
int launch_libdir(char *out, size_t size, struct err *);

/*
 * Forks and executes path with argv and the environment for a simulation. The child dies with its
 * parent, has address space randomisation off and the signal mask `mask`. Returns 0 with *pid;
 * ERR_SYSTEM if it could not be executed (then there is no child).
 */
int launch_start(const struct launch_page *, const char *libdir, const char *path, char **argv,
                 const sigset_t *mask, pid_t *pid, struct err *);

/* What the child does: becomes the program, with the environment for a simulation and no address
 * space randomisation. Returns only on failure, with errno. */
void launch_become(const struct launch_page *, const struct run_options *, const char *libdir,
                   const char *path, char **argv);

#endif
