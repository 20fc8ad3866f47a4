/*
 * native.c - programs that run natively, with a library in them.
 */
#include "cli/native.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "program/program.h"

#define RANKS_MAX 1000000

int cli_native_ranks(uint64_t *ranks, const char *value, struct err *err)
{
    int rc = units_parse_count(value, ranks, err);
    if (rc == 0 && (*ranks < 1 || *ranks > RANKS_MAX))
        rc = err_set(err, ERR_INPUT, "bad number of ranks '%s': expected 1 to %d", value,
                     RANKS_MAX);
    return rc;
}

int cli_native_check(const char *given, uint32_t *needs, struct err *err)
{
    struct program p;
    int rc = program_inspect(&p, given, err);
    if (rc == 0 && access(p.path, X_OK) != 0)
        rc = err_set(err, ERR_SYSTEM, "cannot execute '%s': %s", given, strerror(errno));
    else if (rc == 0 && p.static_program)
        rc = err_set(
            err, ERR_INPUT,
            "'%s' is linked statically, and no library can be loaded into it: link it dynamically",
            given);
    else if (rc == 0 && p.mpi_kind && strcmp(p.mpi_kind, "Open MPI") == 0)
        rc = err_set(
            err, ERR_INPUT,
            "'%s' is linked with Open MPI, which has another ABI: build it with mpicc.mpich",
            given);
    *needs = p.needs;
    program_fini(&p);
    return rc;
}
