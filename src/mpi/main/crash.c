/*
 * crash.c - reports a rank that crashed, whose process died, or that does not return to MPI.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/sys.h"
#include "base/units.h"
#include "mpi/main/run.h"
#include "mpi/main/memory_watch.h"
#include "mpi/main/backtrace.h"

static char where_text[MPI_WHERE_MAX];
static volatile int where_known; /* where_text holds where the running rank is */

void mpi_crash_start_failed(struct vp_rank *f, int error)
{
    static char text[sizeof((struct mpi_procs_stop *)0)->text];

    snprintf(text, sizeof text,
             "cannot start a process for rank %u: %s; see 'ulimit -u', or use fewer "
             "ranks, or --host fibre",
             mpi_rank_id(mpi_rank_of(f)), strerror(error));
    mpi_end_early(RUN_CAUSE_INTERNAL, 3, text);
}

void mpi_crash_died(struct vp_rank *f, int status)
{
    static char text[sizeof((struct mpi_procs_stop *)0)->text];
    const struct mpi_rank *r = mpi_rank_of(f);
    char when[UNITS_TEXT_MAX];

    units_format_time(when, sizeof when, r->ent.clock);
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text,
                 "rank %u: its process was ended by signal %d (%s) at virtual "
                 "time %s",
                 mpi_rank_id(r), WTERMSIG(status), strsignal(WTERMSIG(status)), when);
    else
        snprintf(text, sizeof text,
                 "rank %u: its process ended by itself, with status %d, at "
                 "virtual time %s",
                 mpi_rank_id(r), WEXITSTATUS(status), when);
    mpi_end_early(RUN_CAUSE_CRASH, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 3, text);
}

void mpi_crash_lost(struct vp_rank *f, const char *why)
{
    static char text[sizeof((struct mpi_procs_stop *)0)->text];
    const struct mpi_rank *r = mpi_rank_of(f);
    char when[UNITS_TEXT_MAX];

    units_format_time(when, sizeof when, r->ent.clock);
    snprintf(text, sizeof text, "rank %u at virtual time %s: %s", mpi_rank_id(r), when, why);
    mpi_end_early(RUN_CAUSE_INTERNAL, 3, text);
}

/* The library other than libc in which the context is, if it is not ours: the native MPI, or what
 * that uses. Libraries end the process by abort() if memory or descriptors do not suffice. */
static const char *foreign_library(const void *context)
{
    struct vp_backtrace backtrace;
    Dl_info self, at;

    vp_backtrace_take(context, &backtrace);
    if (!dladdr((void *)(uintptr_t)&foreign_library, &self))
        return NULL;
    for (size_t i = 0; i < backtrace.count; i++) {
        const char *name, *slash;

        if (!dladdr(backtrace.frames[i], &at) || !at.dli_fname)
            return NULL;
        slash = strrchr(at.dli_fname, '/');
        name = slash ? slash + 1 : at.dli_fname;
        if (strncmp(name, "libc.so", 7) != 0)
            return at.dli_fbase != self.dli_fbase && strstr(name, ".so") ? name : NULL;
    }
    return NULL;
}

/* The first line of a crash report. */
static void describe_crash(struct vp_rank *f, int sig, void *addr, const void *context, char *out,
                           size_t n)
{
    const char *library = f ? NULL : foreign_library(context);
    const struct mpi_rank *r = f ? mpi_rank_of(f) : NULL;
    char when[UNITS_TEXT_MAX];

    if (r)
        units_format_time(when, sizeof when, r->ent.clock);
    if (library && sig == SIGABRT)
        snprintf(out, n,
                 "the library '%s' has ended the simulator; what it said is above. It may have "
                 "too little memory or too few descriptors: see 'ulimit -a'",
                 library);
    else if (!r)
        snprintf(out, n,
                 "%s in the simulator itself (address %p); this is a bug in Orrery, or the "
                 "program has overwritten its memory",
                 strsignal(sig), addr);
    else if (sig == SIGABRT)
        snprintf(out, n, "rank %u aborted at virtual time %s", mpi_rank_id(r), when);
    else if (!addr && sig != SIGSEGV && sig != SIGBUS)
        snprintf(out, n, "rank %u: %s at virtual time %s", mpi_rank_id(r), strsignal(sig), when);
    else
        snprintf(out, n, "rank %u: %s%s at virtual time %s (address %p)", mpi_rank_id(r),
                 strsignal(sig),
                 vp_stack_overflowed(f, addr) ? ", stack overflow (see --stack)," : "", when, addr);
}

/* Appends the call stack of the context to the text. */
static void add_backtrace(const void *context, char *text, size_t size)
{
    struct vp_backtrace backtrace;
    size_t n = strlen(text);

    vp_backtrace_take(context, &backtrace);
    if (backtrace.count == 0 || n + 2 > size)
        return;
    text[n++] = '\n';
    n += mpi_backtrace_text(&backtrace, text + n, size - n - 1);
    text[text[n - 1] == '\n' ? n - 1 : n] = '\0';
}

/* This report survives even if the memory is too damaged for the run to end in an orderly way. */
void mpi_crash(struct vp_rank *f, int sig, void *addr, const void *context)
{
    static char text[sizeof((struct mpi_procs_stop *)0)->text];
    struct run_page *page = mpi_world.page;
    int status = f ? 128 + sig : 3, error = errno;

    describe_crash(f, sig, addr, context, text, sizeof text);
    mpi_memory_explain(error, text, sizeof text);
    snprintf(page->dying.text, sizeof page->dying.text, "%s", text);
    page->dying.status = status;
    add_backtrace(context, text, sizeof text);
    snprintf(page->dying.text, sizeof page->dying.text, "%s", text);
    mpi_end_early(f ? RUN_CAUSE_CRASH : RUN_CAUSE_INTERNAL, status, text);
}

void mpi_crash_where(const void *context)
{
    add_backtrace(context, where_text, sizeof where_text);
    where_known = 1;
}

const char *mpi_where_text(void)
{
    return where_text;
}

void mpi_where_find(const void *context, int seconds)
{
    static const struct timespec pause = {.tv_nsec = 10000000};
    const struct mpi_rank *r = mpi_run.last;
    char when[UNITS_TEXT_MAX];

    if (!r)
        return;
    units_format_time(when, sizeof when, r->ent.clock);
    snprintf(where_text, sizeof where_text, "rank %u was running outside MPI at virtual time %s",
             mpi_rank_id(r), when);
    if (!vp_ask_where(&r->vp)) {
        add_backtrace(context, where_text, sizeof where_text);
        return;
    }
    for (int i = 0; i < 100 * seconds && !where_known; i++)
        syscall(SYS_nanosleep, &pause, NULL);
}
