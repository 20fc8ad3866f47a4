/*
 * cmd_run.c - `orrery run`: checks everything before anything starts, then starts the program,
 * watches it and reports.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sys.h"
#include "cli/cli.h"
#include "cli/run_check.h"
#include "cli/run_files.h"
#include "launch/backtrace.h"
#include "launch/books.h"
#include "launch/guard.h"
#include "launch/launch.h"
#include "launch/remote.h"
#include "launch/watch.h"
#include "launch/witness.h"
#include "launch/workers.h"
#include "native/status.h"
#include "results/result.h"

/*
 * What this process is to a run. The simulator of `orrery hybrid` is either of the first two, with
 * its workers; there, opt.live says whose ranks it has.
 */
enum role {
    ROLE_ALONE,   /* starts the program and watches it */
    ROLE_STARTER, /* starts several processes, each of which is a worker */
    ROLE_WORKER,  /* started by a launcher: starts and watches the program of one process */
};

/* Known when the options have been checked, which may choose the number of processes. */
static enum role role_of(const struct cli_run *run)
{
    return run->job.worker ? ROLE_WORKER : run->job.opt.procs > 1 ? ROLE_STARTER : ROLE_ALONE;
}

static int write_json(const struct cli_run *run, const struct run_page *page,
                      const struct run_outcome *outcome, int status)
{
    struct buf text;
    struct err err;
    buf_init(&text);
    results_json(page, run->programs, &run->machine, outcome, status, &text);
    int rc = buf_write_file(&text, run->json, &err);
    buf_fini(&text);
    return rc ? cli_fail(&err) : EXIT_DONE;
}

/* Of a simulator of `orrery hybrid`: names its signal unless that command ends the run, and says
 * so. */
static void say_signal(const struct run_page *page)
{
    int sig = page->end.exit_status - 128;
    if (page->opt.live && page->end.cause == RUN_CAUSE_SIGNAL && sig != SIGPIPE &&
        !native_status_is_interrupted(getenv(NATIVE_STATUS)))
        log_error(RUN_SIGNAL_TEXT, sig, strsignal(sig));
}

static int report(const struct cli_run *run, struct run_page *page,
                  const struct run_outcome *outcome)
{
    results_complete(page, outcome);
    say_signal(page);
    int status = results_status(page, outcome), trouble = EXIT_DONE;
    if (!run->job.quiet && page->end.cause != RUN_CAUSE_NONE) {
        struct buf text;
        buf_init(&text);
        results_text(page, run->programs, outcome, &text);
        cli_tell(&text);
        buf_fini(&text);
    }
    if (page->end.stats_failed) {
        log_error("the statistics could not be written to '%s'", page->opt.stats_path);
        trouble = EXIT_USAGE;
    }
    if (run->json) {
        int rc = write_json(run, page, outcome, status);
        trouble = rc ? rc : trouble;
    }
    return status ? status : trouble;
}

/* A worker's report; its process may not have got far enough to have a number. */
static int report_worker(const struct cli_run *run, struct run_page *page,
                         const struct run_outcome *outcome, pid_t pid)
{
    int status, failed;
    if (page->end.cause == RUN_CAUSE_NONE && page->dying.status && launch_worker_claim()) {
        status = results_status(page, outcome); /* its last message */
        launch_worker_tell(status);
        return status;
    }
    failed = launch_worker_judge(page, outcome, pid);
    if (outcome->signal && !page->now.joined) { /* the starter reports it, once */
        launch_worker_interrupt(outcome->signal);
        return 128 + outcome->signal;
    }
    if (failed)
        status = EXIT_INTERNAL;
    else if (page->now.joined && page->now.proc != 0) {
        status = outcome->signal && page->end.cause == RUN_CAUSE_NONE
                     ? 128 + outcome->signal
                     : results_status(page, outcome);
        if (run->job.opt.live) /* the launcher may kill the others when this one has ended */
            launch_worker_await_report();
        return status;
    } else if (launch_worker_claim())
        status = report(run, page, outcome);
    else
        return EXIT_INTERNAL; /* another one reports the reason */
    launch_worker_tell(status);
    return status;
}

/* With several processes, a signal may end them before any can report. */
static int run_workers(const struct cli_run *run, int next, char **argv,
                       struct run_outcome *outcome, int *status, struct err *err)
{
    static struct run_page page; /* too large for the stack */
    struct launch_books books;
    launch_books_make(&books, run->job.opt.procs);
    int rc = launch_workers_run(&run->job, next, argv, &books, outcome, status, err);
    if (rc == 0) {
        launch_watch_hurry(outcome);
        if (outcome->unreported) {
            page.opt = run->job.opt;
            *status = report(run, &page, outcome);
        }
        launch_books_show(&books, &run->job.opt);
    }
    launch_books_close(&books);
    return rc;
}

/* *joined: the simulator has started, together with all other processes. */
static int start_and_watch(struct cli_run *run, const char *path, char **argv, const char *libdir,
                           struct run_outcome *outcome, int *status, int *joined, struct err *err)
{
    struct launch_remote remote = {.said = -1};
    struct launch_page page;
    sigset_t mask;
    pid_t pid;
    int rc = launch_page_init(&page, err);
    if (rc)
        return rc;
    snprintf(run->job.opt.program, sizeof run->job.opt.program, "%s",
             run->outside ? run->outside : path);
    if (run->job.progress < 0)
        run->job.progress = isatty(STDERR_FILENO) && !run->job.quiet;
    run->job.opt.progress = run->job.progress;
    run->job.opt.quiet = run->job.quiet;
    run->job.opt.book_fd = page.book ? page.book_fd : -1;
    run->job.opt.book_at = page.book_at;
    page.page->opt = run->job.opt;
    if (!run->job.opt.live) /* else the command that started us has named them */
        launch_apps_publish(&run->job.apps);
    launch_watch_block(&mask);
    if (run->job.opt.remote_count) {
        int sig;
        rc = launch_remote_start(&remote, &run->job, &page, libdir, &sig, err);
        if (rc && sig) {
            *status = 128 + sig;
            launch_page_fini(&page);
            return 0;
        }
    }
    double start = launch_watch_now();
    pid_t witness = run->job.opt.live ? launch_witness_start() : 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* for commands that ranks start */
    if (rc == 0)
        rc = launch_start(&page, libdir, path, argv, &mask, &pid, err);
    if (remote.is_started)
        launch_remote_close(&page);
    if (rc == 0) {
        launch_watch_wait(pid, &page, remote.is_started ? &remote.guard : NULL, witness,
                          run->job.progress, start, outcome);
        launch_watch_hurry(outcome);
        if (!outcome->signal)
            sigprocmask(SIG_SETMASK, &mask, NULL);
        *joined = (int)page.page->now.joined;
        int is_lost = page.page->end.cause == RUN_CAUSE_NONE;
        if (is_lost && !outcome->signal)
            launch_backtrace_recover(&page);
        *status = role_of(run) == ROLE_WORKER ? report_worker(run, page.page, outcome, pid)
                                              : report(run, page.page, outcome);
        /* Last, because perhaps nobody reads it, and time is short. */
        if (is_lost && outcome->signal)
            launch_backtrace_recover(&page);
    }
    launch_remote_end(&remote);
    launch_witness_end(witness);
    if (rc == 0) /* commands that ranks have started */
        launch_guard_end_all(page.page->end.cause == RUN_CAUSE_DONE ? LAUNCH_GUARD_GRACE_S : 0);
    launch_page_fini(&page);
    return rc;
}

/* A simulator of `orrery hybrid` has ended. If it never joined the program, that would wait for it
 * in MPI_Init: a launcher ends the others only when a process dies of a signal. */
static void leave_program(int status, int joined)
{
    native_status_add(getenv(NATIVE_STATUS), status);
    if (status && !joined)
        raise(SIGKILL);
}

/* The process that the user, or `orrery hybrid`, started writes the files of the run. */
static int end_command(struct cli_run *run, const struct run_outcome *outcome, int failed,
                       int status, int joined)
{
    int is_live = run->job.opt.live;
    if (!failed && !(is_live && native_status_is_here(getenv(NATIVE_STATUS))))
        status = cli_run_files(run, outcome->signal, status);
    if (is_live && !outcome->is_launchers)
        leave_program(status, joined);
    return status;
}

static int end_worker(int failed, int status)
{
    if (failed)
        launch_worker_tell(status);
    launch_worker_leave();
    return status;
}

static int run_main(int argc, char **argv)
{
    /* large, and there is only one */
    static struct cli_run run;
    struct program program;
    struct err err;
    char libdir[PATH_MAX];
    struct run_outcome outcome = {0};
    int next, status, joined = 0;
    cli_run_init(&run);
    if (cli_begin(&cli_run_usage, argc, argv, &run, &next, &status))
        return status;
    if (run.job.worker)
        launch_worker_join();
    memset(&program, 0, sizeof program);
    int rc = cli_run_read_apps(&run, argc - next, argv + next, &err);
    if (rc == 0)
        rc = cli_run_check(&run, &program, libdir, sizeof libdir, &err);
    enum role role = role_of(&run);
    if (rc == 0 && role == ROLE_STARTER)
        rc = run_workers(&run, next, argv, &outcome, &status, &err);
    else if (rc == 0)
        rc = start_and_watch(&run, program.path, run.job.apps.at[run.job.opt.app].words.at, libdir,
                             &outcome, &status, &joined, &err);
    program_fini(&program);
    if (rc)
        status = cli_fail(&err);
    return role == ROLE_WORKER
               ? end_worker(rc, status)
               : end_command(&run, &outcome, rc, status, joined || role == ROLE_STARTER);
}

const struct cli_command cli_cmd_run = {
    .summary = "run an MPI program in virtual time",
    .usage = &cli_run_usage,
    .starts = 1,
    .cleans_up = 1,
    .main = run_main,
};
