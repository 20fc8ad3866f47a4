/*
 * apps.h - the programs of a run: one, or several that share an MPI_COMM_WORLD, as in
 *
 *     orrery run -n 4 ./ocean coarse : -n 8 ./atmosphere
 *
 * or from a file (--app) with a line for each. Ranks are in the order of programs.
 */
#ifndef CLI_APPS_H
#define CLI_APPS_H

#include <stdint.h>

#include "base/err.h"
#include "cli/argv.h"
#include "run/run.h"

struct cli_app {
    uint64_t ranks;
    struct cli_argv words; /* the program and its arguments */
};

struct cli_apps {
    struct cli_app at[RUN_APPS_MAX];
    size_t count;
    uint64_t ranks; /* of all */
};

/*
 * Reads programs from words, which follow the options of `command`, or from `file` (NULL: none).
 * `ranks` is the -n among the options, 0 if there was none; each further program has its own.
 * `most` limits the ranks of all. Finish with cli_apps_fini on failure, too.
 */
int cli_apps_read(struct cli_apps *, const char *command, const char *file, uint64_t ranks,
                  uint64_t most, int argc, char **argv, struct err *);
void cli_apps_fini(struct cli_apps *);

/* For a worker, whose launcher would take ':' for its own: the words of all programs one after the
 * other, and where each ends, as "RANKS/WORDS,...". */
void cli_apps_pack(const struct cli_apps *, struct cli_argv *);
void cli_apps_layout(const struct cli_apps *, struct buf *out);
/* In the worker. Finish with cli_apps_fini on failure, too. */
int cli_apps_unpack(struct cli_apps *, const char *layout, int argc, char **argv, struct err *);

/* Adds the words "program arguments... : -n N -- program arguments...", for a command line that has
 * the ranks of the first program among its options. */
void cli_apps_add_words(const struct cli_apps *, struct cli_argv *);

/* Adds what starts all programs natively: "-n N program arguments...", and ':' between programs.
 * The words `before` (or NULL), which end with NULL, precede each program. */
void cli_apps_add_native(const struct cli_apps *, const char *const *before, struct cli_argv *);

/* Appends the programs without their arguments, ':' between them. */
void cli_apps_names(const struct cli_apps *, struct buf *out);

/* Names the programs in the environment (ENV_PROGRAMS) if there are several. */
void cli_apps_publish(const struct cli_apps *);

#endif
