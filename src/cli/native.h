/*
 * native.h - programs that run natively, with a library in them: `orrery record`, `orrery hybrid`.
 */
#ifndef CLI_NATIVE_H
#define CLI_NATIVE_H

#include <stdint.h>

#include "base/err.h"
#include "cli/apps.h"
#include "cli/supervise.h"

#define CLI_NATIVE_LAUNCHER "mpiexec.mpich" /* starts processes, unless --launcher is given */

/* Variables in which launchers number processes. */
#define CLI_NATIVE_NUMBERS "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"

#define CLI_NATIVE_RANKS_MAX 1000000

/* The value of --ranks. */
int cli_native_ranks(uint64_t *ranks, const char *value, struct err *);
/* Checks what can be known of programs before they run; scripts are not inspected. *needs: bits of
 * enum mpi_need that their imports ask for. */
int cli_native_check(const struct cli_apps *, uint32_t *needs, struct err *);

/* The number of this process among those of its launcher, which says it before the native MPI does;
 * -1: it does not. */
int cli_native_number(void);

/* The exit status of a program that has run natively under a launcher: its own, 128 + a signal that
 * has interrupted us, what the launcher returns, or 3. Reports what nobody else has. `fd`: the file
 * in which ranks say how they end (native/status.h). */
int cli_native_judge(const struct cli_supervise_end *, int fd);

#endif
