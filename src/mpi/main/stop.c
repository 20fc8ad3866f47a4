/*
 * stop.c - ends a run before its ranks end: by a signal, an abort, a limit, or an internal failure.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/sys.h"
#include "base/units.h"
#include "mpi/entry.h"
#include "mpi/main/memory_watch.h"
#include "mpi/main/run.h"
#include "mpi/p2p/p2p_internal.h"

#define STOP_SECONDS 1   /* how long a signal waits for the running rank to call MPI */
#define END_SECONDS 4    /* how long ending may take then: nobody may read the output */
#define CRASH_SECONDS 15 /* how long ending may take after a crash */

static struct {
    volatile sig_atomic_t signal;  /* asks the run to end */
    volatile sig_atomic_t overdue; /* the run was aborted, and a rank does not end */
    volatile sig_atomic_t memory;  /* too little is left */
    int dying;                     /* an internal failure is being reported */
} asked;

static struct mpi_procs_stop early;

static void finish_early(void)
{
    if (early.cause == RUN_CAUSE_CRASH || early.cause == RUN_CAUSE_INTERNAL ||
        early.cause == RUN_CAUSE_MEMORY)
        signal(SIGALRM, SIG_DFL); /* memory may be damaged, so this may never end */
    if (early.cause != RUN_CAUSE_SIGNAL)
        sys_alarm(CRASH_SECONDS);
    if (early.cause == RUN_CAUSE_ABORT)
        output_drop_after(&mpi_world.output, engine_ended_by(&mpi_world.engine).due);
    mpi_procs_end_early(&early);
    mpi_run_progress();
    mpi_end(&mpi_run.end, ENGINE_END_STOPPED);
}

void mpi_end_early(enum run_cause cause, int status, const char *text)
{
    early.cause = cause;
    early.status = status;
    snprintf(early.text, sizeof early.text, "%s", text);
    vp_leave(finish_early);
}

/* ---- signals that ask the run to end ---- */

/* The run ends as if by the signal, or because nobody reads its output. */
static void stopped(void) __attribute__((noreturn));
static void stopped(void)
{
    static char text[MPI_WHERE_MAX + 200];
    const char *where = mpi_where_text();

    text[0] = '\0';
    if (asked.signal && !mpi_world.opt->live) { /* else the command reports it */
        int n = snprintf(text, sizeof text, RUN_SIGNAL_TEXT, (int)asked.signal,
                         strsignal(asked.signal));

        snprintf(text + n, sizeof text - (size_t)n, "%s%s", where[0] ? "\n    " : "", where);
    }
    if (asked.signal) {
        signal(SIGALRM, SIG_DFL); /* kills us: `orrery run` then reports why */
        sys_alarm(END_SECONDS);
    }
    mpi_end_early(RUN_CAUSE_SIGNAL, asked.signal ? 128 + asked.signal : 128 + SIGPIPE, text);
}

/* The run was aborted some time ago. */
static void aborted(void) __attribute__((noreturn));
static void aborted(void)
{
    static char text[sizeof mpi_run.end.abort_text + 100];
    char when[UNITS_TEXT_MAX];

    units_format_time(when, sizeof when, engine_ended_by(&mpi_world.engine).due);
    snprintf(text, sizeof text, "rank %u at virtual time %s: %s", mpi_run.end.abort_rank, when,
             mpi_run.end.abort_text);
    mpi_end_early((enum run_cause)mpi_run.end.abort_cause, mpi_run.end.abort_status, text);
}

void mpi_stop(void)
{
    if (asked.memory && !asked.signal)
        mpi_memory_end(mpi_world.page->now.memory_left);
    if (asked.overdue && !asked.signal)
        aborted();
    stopped();
}

/* The watcher reports that a rank keeps computing although the run was aborted. */
static void on_overdue(int in_rank)
{
    if (asked.overdue || !mpi_run.end.abort_status)
        return;
    asked.overdue = 1;
    engine_stop(&mpi_world.engine);
    if (in_rank && !mpi_run.writing) {
        vp_private.current = NULL;
        aborted();
    }
}

/* The watcher reports that memory is running out. */
static void on_short(int in_rank)
{
    if (asked.memory)
        return;
    asked.memory = 1;
    engine_stop(&mpi_world.engine);
    if (in_rank && !mpi_run.writing) {
        vp_private.current = NULL;
        mpi_memory_end(mpi_world.page->now.memory_left);
    }
}

/* Lets the engine stop between two turns. If the running rank does not return in time, writes what
 * can be written from here. */
static void on_stop_signal(int sig, siginfo_t *info, void *context)
{
    int in_rank = vp_is_rank_running();

    (void)info;
    if (sig == SIGALRM && !asked.signal) {
        if (mpi_world.page->now.memory_left)
            on_short(in_rank);
        else
            on_overdue(in_rank);
        return;
    }
    if (sig != SIGALRM) { /* it often comes twice: to the process group, and passed on */
        if (asked.signal)
            return;
        asked.signal = sig;
        engine_stop(&mpi_world.engine);
        sys_alarm(STOP_SECONDS);
        return;
    }
    vp_private.current = NULL;
    if (!in_rank || mpi_run.writing) /* the scheduler or the output may be inconsistent */
        sys_exit(128 + asked.signal);
    mpi_where_find(context, STOP_SECONDS);
    stopped();
}

/* The write that exceeds the limit fails; the writer learns that, but may not report it. */
static void on_too_large(int sig)
{
    static volatile sig_atomic_t said;
    int saved = errno;

    (void)sig;
    if (!said)
        log_warn("a file has reached the size that 'ulimit -f' allows: writing more to it fails");
    said = 1;
    errno = saved;
}

/* ---- aborts ---- */

/* The rank stops here; its network interface serves the others until the run ends. */
void mpi_serve(struct mpi_rank *self)
{
    vtime t = self->ent.clock, due;

    for (;;) {
        mpi_drain(self);
        if (!mpi_decide(self, t, &due))
            mpi_block(self, due <= t ? due : VTIME_NEVER, 1, NULL);
    }
}

/*
 * Everything before the abort's virtual time must happen, in whatever order ranks are run; so the
 * rank only records the abort here and waits for the engine to end the run. If others do not end by
 * themselves, those that get beyond that time wait, too (mpi_enter).
 */
_Noreturn static void abort_at(struct mpi_rank *self, vtime when, enum run_cause cause, int code,
                               const char *why)
{
    if (engine_abort(&mpi_world.engine, mpi_rank_index(self), when)) {
        mpi_run.end.abort_cause = (int32_t)cause;
        mpi_run.end.abort_status = code & 0xff ? code & 0xff : 1;
        mpi_run.end.abort_rank = mpi_rank_id(self);
        snprintf(mpi_run.end.abort_text, sizeof mpi_run.end.abort_text, "%s", why);
        mpi_procs_abort(engine_ended_by(&mpi_world.engine));
        mpi_world.page->now.aborting = 1;
    }
    mpi_serve(self);
}

_Noreturn static void abort_run(struct mpi_rank *self, enum run_cause cause, int code,
                                const char *why)
{
    abort_at(self, self->ent.clock, cause, code, why);
}

void run_abort(struct mpi_rank *self, int code, const char *why)
{
    abort_run(self, RUN_CAUSE_ABORT, code, why);
}

void mpi_unsupported(int fn)
{
    struct mpi_rank *self = mpi_self();
    char text[200];

    snprintf(text, sizeof text, "%s is not supported yet; 'orrery check' lists such calls",
             mpi_fn_name[fn]);
    if (!self)
        mpi_end_early(RUN_CAUSE_INTERNAL, 3, text);
    abort_run(self, RUN_CAUSE_INTERNAL, 3, text);
}

/* ---- set-up ---- */

/* After log_fatal and log_fatal_input: still writes the output of the ranks so far, if possible. */
static void fatal_end(int status)
{
    static char text[400];
    int error = errno;

    if (asked.dying++)
        sys_exit(status);
    mpi_memory_explain(error, text, sizeof text);
    if (text[0])
        log_error("%s", text + strspn(text, " \n"));
    mpi_end_early(status == 2 ? RUN_CAUSE_INPUT
                  : text[0]   ? RUN_CAUSE_MEMORY
                              : RUN_CAUSE_INTERNAL,
                  status, "");
}

void mpi_stop_init(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction act = {.sa_sigaction = on_stop_signal,
                            .sa_flags = SA_RESTART | SA_ONSTACK | SA_SIGINFO};
    struct sigaction large = {.sa_handler = on_too_large, .sa_flags = SA_RESTART | SA_ONSTACK};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &act, NULL);
    sigaction(SIGXFSZ, &large, NULL);
    signal(SIGPIPE, SIG_IGN);
    log_set_exit(fatal_end);
}
