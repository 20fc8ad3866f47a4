/*
 * native.c - programs that run natively, with a library in them.
 */
#include "cli/native.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cli/cli.h"
#include "native/status.h"
#include "program/program.h"
#include "run/run.h"

int cli_native_ranks(uint64_t *ranks, const char *value, struct err *err)
{
    int rc = units_parse_count(value, ranks, err);
    if (rc == 0 && (*ranks < 1 || *ranks > CLI_NATIVE_RANKS_MAX))
        rc = err_set(err, ERR_INPUT, "bad number of ranks '%s': expected 1 to %d", value,
                     CLI_NATIVE_RANKS_MAX);
    return rc;
}

int cli_native_number(void)
{
    static const char *const names[] = {CLI_NATIVE_NUMBERS};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return -1;
}

static int check(const char *given, uint32_t *needs, struct err *err)
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
    *needs |= p.needs;
    program_fini(&p);
    return rc;
}

int cli_native_check(const struct cli_apps *apps, uint32_t *needs, struct err *err)
{
    int rc = 0;
    *needs = 0;
    for (size_t i = 0; i < apps->count && rc == 0; i++)
        rc = check(apps->at[i].words.at[0], needs, err);
    return rc;
}

/* A launcher returns the number of the signal that killed a rank. But MPI ends a program after an
 * error in the same way with the class of the error, before the rank can say so. */
static void explain(int status)
{
    if (status < SIGRTMIN)
        log_error(
            "the launcher returned status %d, and a rank ended without a word: signal %d (%s) has "
            "killed it, or MPI has aborted it",
            status, status, strsignal(status));
    else
        log_error("the launcher returned status %d, and a rank ended without a word", status);
}

int cli_native_judge(const struct cli_supervise_end *end, int fd)
{
    int ended, first = native_status_first(fd), cut_off = native_status_cut_off(fd, &ended);
    if (end->signal) {
        log_error(RUN_SIGNAL_TEXT, end->signal, strsignal(end->signal));
        return 128 + end->signal;
    }
    if (end->is_lost)
        return CLI_INTERNAL;
    if (end->status && first)
        return first;
    if (end->status && cut_off > 0)
        explain(end->status);
    /* When a rank ends without MPI_Finalize, launchers end the others, which may count as
     * success. */
    if (end->status == 0 && cut_off > 0 && ended == 0) {
        log_error("%d ranks did not end by themselves: they, or the launcher, were terminated",
                  cut_off);
        return CLI_INTERNAL;
    }
    return end->status;
}
