/*
 * uses.h - which settings a machine uses.
 *
 * Some settings choose a variant (net.model, net.topology.kind, nodes.placement, mpi.collectives).
 * Each variant names the settings that only some variants use. A setting that the chosen variant
 * does not use is
 *
 *   an error    if it was given together with the choice or after it: on the command line, or in
 *               the same platform file, preset or not
 *   ignored     if the choice was made after it, as by --set net.model=constant on a platform with
 *               a topology: a note says so
 */
#ifndef CLI_USES_H
#define CLI_USES_H

#include "cli/machine.h"

/* Checks all given settings; appends a line without "orrery: " for each choice that ignores some.
 * ERR_INPUT: a setting was given that the machine does not use; the text names the variants that
 * do. */
int cli_uses_check(const struct cli_machine *, const struct platform *, struct buf *notes,
                   struct err *);

/* Checks settings of the command line that only some values of --compute use (a file describes a
 * machine, independently of --compute). `declares`: enum program_declares of the program
 * (program.h). */
struct cli_run;
int cli_uses_check_compute(const struct cli_machine *, const struct cli_run *, unsigned declares,
                           struct err *);

/* Writes these lines to standard error. */
void cli_uses_say(const struct buf *notes);

/* Does the machine use this setting, or list? */
int cli_uses_setting(const struct platform *, const char *name);

/* Appends "net.model loggops, flow" if only these variants use the setting; nothing if all do. */
void cli_uses_who(const char *name, struct buf *out);

#endif
