/*
 * launch.h - starts the program with the simulator's library inside it.
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "run/run.h"

#define CLI_LIBRARY "liborrery-mpi.so"

struct output_book;

/* What is shared with the library, and the descriptors that the program inherits. */
struct cli_page {
    struct run_page *page;
    int fd;
    const struct output_book *book; /* its pending output, or NULL */
    int book_fd;
    off_t book_at; /* offset in the file */
    int is_slot;   /* the file belongs to the starter, which shows what is left in it (books.h) */
    int spill;     /* the file of older output, once the program has announced it; else -1 */
};

/* Creates a zeroed page with magic and size set. Release with cli_page_fini. */
int cli_page_init(struct cli_page *, struct err *);
void cli_page_fini(struct cli_page *);

/*
 * The directory of the library: ORRERY_LIBDIR, else that of the orrery executable (a build tree),
 * else ../lib/<arch>/orrery, ../lib/orrery or ../lib64/orrery beside it (installed).
 */
int cli_launch_libdir(char *out, size_t size, struct err *);

/*
 * Forks and executes path with argv and the environment for a simulation. The child dies with its
 * parent, has address space randomisation off and the signal mask `mask`. Returns 0 with *pid;
 * ERR_SYSTEM if it could not be executed (then there is no child).
 */
int cli_launch_start(const struct cli_page *, const char *libdir, const char *path, char **argv,
                     const sigset_t *mask, pid_t *pid, struct err *);

/* What the child does: becomes the program, with the environment for a simulation and no address
 * space randomisation. Returns only on failure, with errno. */
void cli_launch_become(const struct cli_page *, const struct run_options *, const char *libdir,
                       const char *path, char **argv);

#endif
