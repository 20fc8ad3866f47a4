/*
 * native.h - programs that run natively, with a library in them: `orrery record`, `orrery hybrid`.
 */
#ifndef CLI_NATIVE_H
#define CLI_NATIVE_H

#include <stdint.h>

#include "base/err.h"
#include "cli/supervise.h"

#define CLI_NATIVE_LAUNCHER "mpiexec.mpich" /* starts processes, unless --launcher is given */

/* The value of --ranks. */
int cli_native_ranks(uint64_t *ranks, const char *value, struct err *);
/* Checks what can be known before it runs; scripts are not inspected. *needs: bits of enum mpi_need
 * that its imports ask for. */
int cli_native_check(const char *given, uint32_t *needs, struct err *);

/* The exit status of a program that has run natively under a launcher: its own, 128 + a signal that
 * has interrupted us, what the launcher returns, or 3. Reports what nobody else has. `fd`: the file
 * in which ranks say how they end (native/status.h). */
int cli_native_judge(const struct cli_supervise_end *, int fd);

#endif
