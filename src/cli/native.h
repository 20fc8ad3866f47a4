/*
 * native.h - programs that run natively, with a library in them: `orrery record`, `orrery hybrid`.
 */
#ifndef CLI_NATIVE_H
#define CLI_NATIVE_H

#include <stdint.h>

#include "base/err.h"

#define CLI_NATIVE_LAUNCHER "mpiexec.mpich" /* starts processes, unless --launcher is given */

/* The value of --ranks. */
int cli_native_ranks(uint64_t *ranks, const char *value, struct err *);
/* Checks what can be known before it runs; scripts are not inspected. *needs: bits of enum mpi_need
 * that its imports ask for. */
int cli_native_check(const char *given, uint32_t *needs, struct err *);

#endif
