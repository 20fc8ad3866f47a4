/*
 * native.c - programs that run natively, with a library in them.
 */
#include "launch/native.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/units.h"
#include "native/status.h"
#include "program/program.h"
#include "run/run.h"

int launch_native_ranks(uint64_t *ranks, const char *value, struct err *err)
{
    int rc = units_parse_count(value, ranks, err);
    if (rc == 0 && (*ranks < 1 || *ranks > LAUNCH_NATIVE_RANKS_MAX))
        rc = err_set(err, ERR_INPUT, "bad number of ranks '%s': expected 1 to %d", value,
                     LAUNCH_NATIVE_RANKS_MAX);
    return rc;
}

int launch_native_number(void)
{
    static const char *const names[] = {LAUNCH_NATIVE_NUMBERS};

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

int launch_native_check(const struct launch_apps *apps, uint32_t *needs, struct err *err)
{
    int rc = 0;
    *needs = 0;
    for (size_t i = 0; i < apps->count && rc == 0; i++)
        rc = check(apps->at[i].words.at[0], needs, err);
    return rc;
}

int launch_native_killed(const struct launch_supervise_end *end)
{
    return !end->signal && !end->is_lost && end->status == SIGKILL ? SIGKILL : 0;
}

/* A launcher returns the number of the signal that has killed a rank. All ranks are on this
 * computer, and say how they end unless they are killed. */
static int judge_cut_off(int status)
{
    if (status >= SIGRTMIN) {
        log_error("the launcher returned status %d, and a rank ended without a word", status);
        return status;
    }
    log_error(LAUNCH_NATIVE_KILLED, status, strsignal(status));
    return 128 + status;
}

/* Whether launchers then end the others, and whether that counts as success, is chance. */
static int judge_left(const struct native_status *ranks, int needs_finalize)
{
    if (needs_finalize)
        log_error("a rank ended without MPI_Finalize: the run ends here");
    else if (ranks->cut_off > 0)
        log_warn("a rank ended without MPI_Finalize, and the launcher ended %d others",
                 ranks->cut_off);
    return needs_finalize ? EXIT_FINDING : EXIT_DONE;
}

/* Returns the status of a run that nobody has interrupted. */
static int judge_ranks(const struct native_status *ranks, int status, uint64_t count,
                       int needs_finalize)
{
    if (ranks->is_left_first && needs_finalize)
        return judge_left(ranks, 1);
    if (status && ranks->first)
        return ranks->first;
    if (ranks->killed) {
        log_error("a simulator (pid %d) was killed: the run ends here", ranks->killed);
        return EXIT_INTERNAL;
    }
    if (ranks->left)
        return judge_left(ranks, needs_finalize);
    if (status && ranks->cut_off > 0 && (uint64_t)(ranks->cut_off + ranks->ended) >= count)
        return judge_cut_off(status);
    if (status == 0 && ranks->cut_off > 0 && ranks->ended == 0) {
        log_error("%d ranks did not end by themselves: they, or the launcher, were terminated",
                  ranks->cut_off);
        return EXIT_INTERNAL;
    }
    return status;
}

int launch_native_judge(const struct launch_supervise_end *end, int fd, uint64_t count,
                        int needs_finalize)
{
    struct native_status ranks;
    native_status_read(fd, &ranks);
    if (end->signal) {
        log_error(RUN_SIGNAL_TEXT, end->signal, strsignal(end->signal));
        return 128 + end->signal;
    }
    return end->is_lost ? EXIT_INTERNAL : judge_ranks(&ranks, end->status, count, needs_finalize);
}
