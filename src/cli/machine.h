/*
 * machine.h - the machine that a command line describes: --platform and --set.
 */
#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include "base/err.h"
#include "platform/read.h"

struct topo;

/* The options as given. Texts are borrowed from argv. All zero: none. */
struct cli_machine {
    const char *platform;    /* preset or file; NULL: the default */
    const char *const *sets; /* assignments, in the order given */
    size_t set_count;
    struct platform_origins origins; /* of what was given; made by cli_machine_make */
};

void cli_machine_fini(struct cli_machine *);

/* Adds the assignments of a --set. */
void cli_machine_add(struct cli_machine *, const char *assignments);

/* Makes the machine: settings are applied last, wherever they appeared. The caller owns it; on
 * failure there is none. */
int cli_machine_make(struct cli_machine *, struct platform *, struct err *);

/* If an error begins with the name of a setting, prepends where it was given. */
void cli_machine_explain(const struct cli_machine *, struct err *);

/* The size of a machine. */
struct cli_size {
    uint64_t nodes; /* 0: as many as the ranks need */
    /* Of a torus or mesh without net.topology.dims, those that were chosen, "4x4x2"; "" of
     * others. Without a number of nodes, they are those for `example` nodes. */
    char dims[64];
    uint32_t example;
};

/* Checks whether it can be simulated: model, topology, routing, placement, links. */
int cli_machine_check(const struct cli_machine *, const struct platform *, struct cli_size *,
                      struct err *);

/* Checks that a text, which a command is about to write to `file`, is a platform file of exactly
 * that machine, and can be simulated. */
int cli_machine_check_text(const char *file, const struct buf *text, const struct platform *meant,
                           struct err *);

/* Is the number of nodes given? Otherwise the machine has as many as the ranks need. */
int cli_machine_is_sized(const struct platform *);

/* Its topology; the caller destroys it. */
int cli_machine_topology(const struct cli_machine *, const struct platform *, struct topo **,
                         struct err *);

/* The i-th value that a setting may have (uses.c); NULL beyond the last, or if any may be.
 * Static. */
const char *cli_machine_choice(const char *key, unsigned i);

/* Creates a memory file with the machine, for processes started from here; the caller closes it. */
int cli_machine_share(const struct platform *, int *fd, struct err *);

/* Reads such a file by its path; the caller owns the machine. Returns 0 if there is none, as on
 * another computer. */
int cli_machine_open(struct platform *, const char *path);

/* The directories of presets: those in ORRERY_PLATFORMS, and those of this program. */
struct cli_preset_dirs {
    char **directories; /* owned */
    struct platform_preset_dirs list;
};
void cli_preset_dirs_init(struct cli_preset_dirs *);
void cli_preset_dirs_fini(struct cli_preset_dirs *);

#endif
