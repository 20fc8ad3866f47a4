/*
 * machine.h - the machine that a command line asks for: --platform and --set.
 */
#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include "base/err.h"
#include "platform/lists.h"

/* What the options said. Texts are borrowed from argv. All zero: nothing. */
struct cli_machine {
    const char *const *sets; /* assignments, in the order given */
    size_t set_count;
};

void cli_machine_fini(struct cli_machine *);

/* Notes the assignments of a --set. */
void cli_machine_add(struct cli_machine *, const char *assignments);

/* Makes the machine: the settings are applied last, wherever they stood. The caller owns it; on failure
 * there is none. */
int cli_machine_make(const struct cli_machine *, struct platform *, struct err *);

/* A memory file with the machine, for processes started from here; the caller closes it. */
int cli_machine_share(const struct platform *, int *fd, struct err *);

/* Reads such a file by its path; the caller owns the machine. Returns 0 if there is none, which is so on
 * another computer. */
int cli_machine_open(struct platform *, const char *path);

#endif
