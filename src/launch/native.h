/*
 * native.h - programs that run natively, with a library in them: `orrery record`, `orrery hybrid`.
 */
#ifndef LAUNCH_NATIVE_H
#define LAUNCH_NATIVE_H

#include <stdint.h>

#include "base/err.h"
#include "launch/apps.h"
#include "launch/supervise.h"

#define LAUNCH_NATIVE_LAUNCHER "mpiexec.mpich" /* starts processes, unless --launcher is given */

/* Variables in which launchers number processes. */
#define LAUNCH_NATIVE_NUMBER "PMI_RANK"
#define LAUNCH_NATIVE_NUMBERS LAUNCH_NATIVE_NUMBER, "PMIX_RANK", "SLURM_PROCID"

#define LAUNCH_NATIVE_KILLED "a rank was killed by signal %d (%s): the run ends here"

#define LAUNCH_NATIVE_RANKS_MAX 1000000

/* The value of --ranks. */
int launch_native_ranks(uint64_t *ranks, const char *value, struct err *);
/* Checks what can be known of programs before they run; scripts are not inspected. *needs: bits of
 * enum mpi_need that their imports ask for. */
int launch_native_check(const struct launch_apps *, uint32_t *needs, struct err *);

/* The number of this process among those of its launcher, which says it before the native MPI does;
 * -1: it does not. */
int launch_native_number(void);

/* The signal by which a rank of a program of ours was killed, as its launcher tells, or 0. Such
 * programs never end with that status. */
int launch_native_killed(const struct launch_supervise_end *);

/*
 * The exit status of a program that has run natively under a launcher: its own, 128 + a signal that
 * has interrupted us or killed one of its `count` ranks, what the launcher returns if ranks are on
 * other computers, or 3. If a rank has ended without MPI_Finalize, 1 if the run `needs_finalize`,
 * else 0. Reports what nobody else has. `fd`: the file in which ranks say how they end
 * (native/status.h).
 */
int launch_native_judge(const struct launch_supervise_end *, int fd, uint64_t count,
                        int needs_finalize);

#endif
