/*
 * cmd_run.c - `orrery run`: checks everything before anything starts, then starts the program,
 * watches it and reports.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sys.h"
#include "cli/cli.h"
#include "cli/launch.h"
#include "cli/books.h"
#include "cli/remote.h"
#include "cli/run_check.h"
#include "cli/run_files.h"
#include "cli/team.h"
#include "cli/backtrace.h"
#include "cli/watch.h"
#include "native/status.h"
#include "results/result.h"

static int write_json(const struct cli_run *run, const struct run_page *page,
                      const struct run_outcome *outcome, int status)
{
    struct buf text;
    struct err err;
    buf_init(&text);
    results_json(page, run->programs, &run->machine, outcome, status, &text);
    int rc = buf_write_file(&text, run->json, &err);
    buf_fini(&text);
    return rc ? cli_fail(&err) : CLI_DONE;
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
    int status = results_status(page, outcome), trouble = CLI_DONE;
    if (!run->quiet && page->end.cause != RUN_CAUSE_NONE) {
        struct buf text;
        buf_init(&text);
        results_text(page, run->programs, outcome, &text);
        cli_tell(&text);
        buf_fini(&text);
    }
    if (page->end.stats_failed) {
        log_error("the statistics could not be written to '%s'", page->opt.stats_path);
        trouble = CLI_USAGE;
    }
    if (run->json) {
        int rc = write_json(run, page, outcome, status);
        trouble = rc ? rc : trouble;
    }
    return status ? status : trouble;
}

/* A worker's report; its process may not have got far enough to have a number. */
static int report_part(const struct cli_run *run, struct run_page *page,
                       const struct run_outcome *outcome, pid_t pid)
{
    int status, failed;
    if (page->end.cause == RUN_CAUSE_NONE && page->dying.status && cli_team_claim()) {
        status = results_status(page, outcome); /* its last message */
        cli_team_tell(status);
        return status;
    }
    failed = cli_team_judge(page, outcome, pid);
    if (outcome->signal && !page->now.joined) { /* the starter reports it, once */
        cli_team_interrupt(outcome->signal);
        return 128 + outcome->signal;
    }
    if (failed)
        status = CLI_INTERNAL;
    else if (page->now.joined && page->now.proc != 0) {
        status = outcome->signal && page->end.cause == RUN_CAUSE_NONE
                     ? 128 + outcome->signal
                     : results_status(page, outcome);
        if (run->opt.live) /* the launcher may kill the others when this one has ended */
            cli_team_await_report();
        return status;
    } else if (cli_team_claim())
        status = report(run, page, outcome);
    else
        return CLI_INTERNAL; /* another one reports the reason */
    cli_team_tell(status);
    return status;
}

/* With several processes, a signal may end them before any can report. */
static int run_team(const struct cli_run *run, int next, char **argv, struct run_outcome *outcome,
                    int *status, struct err *err)
{
    static struct run_page page; /* too large for the stack */
    struct cli_books books;
    cli_books_make(&books, run->opt.procs);
    int rc = cli_team_run(run, next, argv, &books, outcome, status, err);
    if (rc == 0) {
        cli_watch_hurry(outcome);
        if (outcome->unreported) {
            page.opt = run->opt;
            *status = report(run, &page, outcome);
        }
        cli_books_show(&books, &run->opt);
    }
    cli_books_close(&books);
    return rc;
}

/* *joined: the simulator has started, together with all other processes. */
static int start_and_watch(struct cli_run *run, const char *path, char **argv, const char *libdir,
                           struct run_outcome *outcome, int *status, int *joined, struct err *err)
{
    struct cli_remote remote = {.said = -1};
    struct cli_page page;
    sigset_t mask;
    pid_t pid;
    int rc = cli_page_init(&page, err);
    if (rc)
        return rc;
    snprintf(run->opt.program, sizeof run->opt.program, "%s", run->outside ? run->outside : path);
    if (run->progress < 0)
        run->progress = isatty(STDERR_FILENO) && !run->quiet;
    run->opt.progress = run->progress;
    run->opt.quiet = run->quiet;
    run->opt.book_fd = page.book ? page.book_fd : -1;
    run->opt.book_at = page.book_at;
    page.page->opt = run->opt;
    if (!run->opt.live) /* else the command that started us has named them */
        cli_apps_publish(&run->apps);
    cli_watch_block(&mask);
    if (run->opt.remote_count) {
        int sig;
        rc = cli_remote_start(&remote, run, &page, libdir, path, argv, &sig, err);
        if (rc && sig) {
            *status = 128 + sig;
            cli_page_fini(&page);
            return 0;
        }
    }
    double start = cli_watch_now();
    if (rc == 0)
        rc = cli_launch_start(&page, libdir, path, argv, &mask, &pid, err);
    if (remote.is_started)
        cli_remote_close(&page);
    if (rc == 0) {
        cli_watch_wait(pid, &page, run->progress, start, outcome);
        cli_watch_hurry(outcome);
        if (!outcome->signal)
            sigprocmask(SIG_SETMASK, &mask, NULL);
        *joined = (int)page.page->now.joined;
        int is_lost = page.page->end.cause == RUN_CAUSE_NONE;
        if (is_lost && !outcome->signal)
            cli_backtrace_recover(&page);
        *status = run->worker ? report_part(run, page.page, outcome, pid)
                              : report(run, page.page, outcome);
        /* Last, because perhaps nobody reads it, and time is short. */
        if (is_lost && outcome->signal)
            cli_backtrace_recover(&page);
    }
    cli_remote_end(&remote);
    cli_page_fini(&page);
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
    if (run.worker)
        cli_team_join();
    memset(&program, 0, sizeof program);
    int rc = cli_run_read_apps(&run, argc - next, argv + next, &err);
    if (rc == 0)
        rc = cli_run_check(&run, &program, libdir, sizeof libdir, &err);
    if (rc == 0 && run.opt.procs > 1 && !run.worker)
        rc = run_team(&run, next, argv, &outcome, &status, &err);
    else if (rc == 0)
        rc = start_and_watch(&run, program.path, run.apps.at[run.opt.app].words.at, libdir,
                             &outcome, &status, &joined, &err);
    program_fini(&program);
    if (rc)
        status = cli_fail(&err);
    else if (!run.worker && !(run.opt.live && native_status_is_here(getenv(NATIVE_STATUS))))
        status = cli_run_files(&run, outcome.signal, status);
    if (rc && run.worker)
        cli_team_tell(status);
    if (run.worker)
        cli_team_leave();
    else if (run.opt.live)
        leave_program(status, joined || run.opt.procs > 1);
    return status;
}

const struct cli_command cli_cmd_run = {
    .summary = "run an MPI program in virtual time",
    .usage = &cli_run_usage,
    .starts = 1,
    .cleans_up = 1,
    .main = run_main,
};
