/*
 * apps.h - the programs of a run: one, or several that share an MPI_COMM_WORLD. Ranks are in the
 * order of programs.
 */
#ifndef LAUNCH_APPS_H
#define LAUNCH_APPS_H

#include <stdint.h>

#include "base/err.h"
#include "launch/argv.h"
#include "run/run.h"

#define LAUNCH_APPS_BETWEEN ":" /* programs of a command line */

struct launch_app {
    uint64_t ranks;
    struct launch_argv words; /* the program and its arguments */
    char *path;               /* where the program was found; NULL: nobody has looked */
};

struct launch_apps {
    struct launch_app at[RUN_APPS_MAX];
    size_t count;
    uint64_t ranks; /* of all */
};

/* Adds a program: its words, of which there is at least one. */
int launch_apps_add(struct launch_apps *, uint64_t ranks, int argc, char **argv, struct err *);
void launch_apps_fini(struct launch_apps *);

/* For a worker, whose launcher would take ':' for its own: the words of all programs one after the
 * other, and where each ends, as "RANKS/WORDS,...". */
void launch_apps_pack(const struct launch_apps *, struct launch_argv *);
void launch_apps_layout(const struct launch_apps *, struct buf *out);
/* In the worker. Finish with launch_apps_fini on failure, too. */
int launch_apps_unpack(struct launch_apps *, const char *layout, int argc, char **argv,
                       struct err *);

/* Adds the words "program arguments... : -n N -- program arguments...", for a command line that has
 * the ranks of the first program among its options. */
void launch_apps_add_words(const struct launch_apps *, struct launch_argv *);

/* Adds what starts all programs natively: "-n N program arguments...", and ':' between programs.
 * The words `before` (or NULL), which end with NULL, precede each program. */
void launch_apps_add_native(const struct launch_apps *, const char *const *before,
                            struct launch_argv *);

/* Appends the programs without their arguments, ':' between them. */
void launch_apps_names(const struct launch_apps *, struct buf *out);

/* Names the programs in the environment (ENV_PROGRAMS) if there are several. */
void launch_apps_publish(const struct launch_apps *);

#endif
