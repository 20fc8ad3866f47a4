/*
 * workers.c - starts the workers of a run with several processes, and ends them.
 *
 * A launcher is between us and the workers: it has its own conventions for exit codes, signals and
 * messages, and carries the output through its own pipes. If the workers are on this machine, we
 * bypass it: we share a page of memory, and they inherit our standard streams:
 *
 *     starter --- page: status of the job, process ids of workers --- workers
 *        |  \____ standard input, output, error _____________________/
 *        `-- guard -- launcher (what it prints is shown only if nobody else explains)
 *
 * A signal to the starter is passed to the workers, which end the run in an orderly way. A worker
 * on another machine finds neither page nor streams, and uses what the launcher provides.
 *
 * Whatever happens, everything ends within some ten seconds after the end of the run is known: in
 * an orderly way if possible, otherwise by the guard.
 */
#define _GNU_SOURCE 1
#include "launch/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/sys.h"
#include "launch/argv.h"
#include "launch/guard.h"
#include "launch/workers_internal.h"
#include "native/status.h"

#define LINGER_MS 200 /* how long to read the launcher's pipes after its end */
#define TICK_MS 250
/* To end after a signal: less than ten together with the time that a guard may take. */
#define SIGNAL_S 7.0
#define LEAVE_S 3.0   /* for the launcher to end after the run */
#define EXPLAIN_S 1.0 /* for a worker, which knows better, to report why the run cannot continue */

/* ---- the launcher's command line ---- */

/* The options are argv[1] to argv[next - 1]. */
static int command_line(struct launch_argv *w, const struct launch_job *job, int next, char **argv,
                        struct err *err)
{
    char text[32], self[4096];
    struct buf layout;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int rc = launch_argv_split(w, "--launcher",
                               job->launcher ? job->launcher : LAUNCH_WORKERS_LAUNCHER, err);

    if (rc)
        return rc;
    if (n < 0)
        return err_set(err, ERR_SYSTEM, "cannot read '/proc/self/exe': %s", strerror(errno));
    self[n] = 0;
    launch_argv_add(w, "-n");
    snprintf(text, sizeof text, "%u", job->opt.procs);
    launch_argv_add(w, text);
    launch_argv_add(w, self);
    launch_argv_add(w, "run");
    launch_argv_add(w, "--worker");
    launch_argv_add(w, "--procs"); /* the number chosen by auto; the options as given follow */
    launch_argv_add(w, text);
    if (job->progress < 0 && isatty(STDERR_FILENO) && !job->quiet)
        launch_argv_add(w, "--progress");
    buf_init(&layout);
    launch_apps_layout(&job->apps, &layout);
    launch_argv_add_all(w, (const char *const[]){"--layout", buf_str(&layout), NULL});
    buf_fini(&layout);
    for (int i = 1; i < next; i++)
        launch_argv_add(w, argv[i]);
    if (strcmp(argv[next - 1], "--") != 0) /* programs of --app may begin with a dash */
        launch_argv_add(w, "--");
    launch_apps_pack(&job->apps, w);
    return 0;
}

/* ---- shared by starter and workers ---- */

static struct workers_page *page_make(int *fd, struct err *err)
{
    struct workers_page *page = NULL;

    *fd = memfd_create("orrery-workers", MFD_CLOEXEC);
    if (*fd >= 0 && ftruncate(*fd, sizeof *page) == 0)
        page = workers_page_map(*fd);
    if (!page) {
        err_set(err, ERR_SYSTEM, "cannot create a memory file: %s", strerror(errno));
        return NULL;
    }
    page->magic = WORKERS_MAGIC;
    for (int i = 0; i < WORKERS_STREAMS; i++) {
        page->streams[i] = fcntl(i, F_DUPFD, WORKERS_STREAMS);
        if (page->streams[i] >= 0)
            continue;
        err_set(err, ERR_SYSTEM,
                "cannot pass the standard streams on to other processes: %s; see "
                "'ulimit -n'",
                strerror(errno));
        return NULL;
    }
    return page;
}

/* ---- running the launcher ---- */

/* Workers on this machine open our memory files by these names. */
static void name_file(const char *variable, pid_t owner, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)owner, fd);
    if (fd >= 0)
        setenv(variable, path, 1);
    else
        unsetenv(variable);
}

struct launcher {
    char **argv;
    int workers, placement, machine, books; /* memory files */
    int out[2], err[2];                     /* pipes for what it prints */
    int report[2];                          /* errno, if it cannot be executed */
    int is_live; /* it starts a program, too, whose input and output it carries (mpi/main/live.h) */
    pid_t starter;
    const sigset_t *mask;
    struct launch_guard guard;
};

static void become(void *context)
{
    const struct launcher *l = context;
    int error, null = l->is_live ? -1 : open("/dev/null", O_RDONLY);

    if (null >= 0) {
        dup2(null, 0);
        close(null);
    }
    dup2(l->out[1], 1);
    dup2(l->err[1], 2);
    sigprocmask(SIG_SETMASK, l->mask, NULL);
    name_file(ENV_WORKERS, l->starter, l->workers);
    name_file(ENV_PLACEMENT, l->starter, l->placement);
    name_file(ENV_MACHINE, l->starter, l->machine);
    name_file(ENV_BOOKS, l->starter, l->books);
    execvp(l->argv[0], l->argv);
    error = errno;
    sys_write_all(l->report[1], &error, sizeof error);
    sys_exit(2);
}

static int start(struct launcher *l, struct err *err)
{
    int error = 0, rc;

    if (pipe2(l->report, O_CLOEXEC) != 0 || pipe2(l->out, O_CLOEXEC) != 0 ||
        pipe2(l->err, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s; see 'ulimit -n'",
                       strerror(errno));
    l->starter = getpid();
    rc = launch_guard_start(&l->guard, become, l, err);
    close(l->report[1]);
    close(l->out[1]);
    close(l->err[1]);
    if (rc == 0 && !launch_guard_await(&l->guard, l->report[0])) {
        launch_guard_end(&l->guard);
        rc = err_set(err, ERR_INTERNAL,
                     "the launcher '%s' (pid %d) does not respond, it was stopped by a "
                     "signal: the run ends here",
                     l->argv[0], (int)l->guard.command);
    } else if (rc == 0 && TEMP_FAILURE_RETRY(read(l->report[0], &error, sizeof error)) > 0) {
        launch_guard_end(&l->guard);
        rc = err_set(err, ERR_SYSTEM,
                     "cannot start the launcher '%s': %s; install mpich, or see --launcher",
                     l->argv[0], strerror(error));
    }
    close(l->report[0]);
    return rc;
}

/* ---- watching the launcher ---- */

struct starter {
    struct launcher l;
    struct workers_page *page;
    struct workers_health health;
    struct workers_launcher launcher;
    struct launch_books *books;
    struct run_outcome *outcome;
    int ended;          /* the launcher has ended */
    int lost;           /* the guard has died, so the launcher's state is unknown */
    int is_interrupted; /* a signal came from outside, not from workers that the launcher ends */
    double signal_at;
    double deadline; /* when everything is killed; 0: no deadline yet */
};

/* Sets the deadline to that many seconds from now, unless it is earlier. */
static void end_within(struct starter *s, double seconds)
{
    double at = launch_watch_now() + seconds;

    if (s->deadline == 0 || at < s->deadline)
        s->deadline = at;
}

/* Passes a signal on to the workers, or, if none is here, asks the launcher to end them: mpiexec
 * would comment on other signals in the output of the run. */
static void pass_on(struct starter *s, int sig)
{
    s->signal_at = launch_watch_now();
    end_within(s, SIGNAL_S);
    s->outcome->signal = s->page->ending = sig;
    for (int i = 0; i < workers_watched(s->page); i++)
        if (s->page->workers[i].pid && !s->page->workers[i].left) {
            kill(s->page->workers[i].pid, sig);
            kill(s->page->workers[i].pid, SIGCONT);
        }
    if (workers_watched(s->page) == 0)
        kill(s->l.guard.command, SIGTERM);
}

/* A second signal kills all. */
static void take_signals(struct starter *s, int fd)
{
    int sig;

    while ((sig = launch_watch_signal(fd)) != 0) {
        if (sig == SIGCHLD)
            continue;
        s->is_interrupted = 1;
        if (!s->outcome->signal)
            pass_on(s, sig);
        else if (launch_watch_now() - s->signal_at > LAUNCH_WATCH_AGAIN_S)
            end_within(s, 0);
    }
}

/* Opens the workers' files of older output for the books. */
static void open_spills(struct starter *s)
{
    for (int i = 0; i < workers_watched(s->page); i++) {
        struct workers_one *w = &s->page->workers[i];

        if (!w->spill || w->spill_seen)
            continue;
        launch_books_spill(s->books, (uint32_t)i, w->pid, w->spill - 1);
        w->spill_seen = 1;
    }
}

static void look_around(struct starter *s)
{
    open_spills(s);
    if (s->page->ending && !s->outcome->signal)
        pass_on(s, s->page->ending); /* a worker got the signal */
    if (s->page->set || s->launcher.told) {
        /* The run is over: the others only have to leave. But a program may have much to do. */
        if (!s->l.is_live || s->page->status)
            end_within(s, LEAVE_S);
    } else if (!s->outcome->signal && s->deadline == 0 &&
               workers_health_check(&s->health, launch_watch_now()))
        end_within(s, s->l.is_live ? LEAVE_S : EXPLAIN_S);
}

/* Whether the launcher's text waits until we know what it is. When the run ends early, a launcher
 * that has not yet started anyone may complain about its own end, which explains nothing. */
static int keeps(const struct starter *s, int to)
{
    return (s->page->joined && !s->l.is_live) ||
           (to == STDERR_FILENO && (s->outcome->signal || s->deadline > 0));
}

/* A pipe of the launcher is readable, or its destination is writable again. */
static void serve(struct starter *s, struct pollfd *fd, int to)
{
    int pipe = to == STDOUT_FILENO ? s->l.out[0] : s->l.err[0];

    if (fd->events == POLLOUT)
        *fd = (struct pollfd){pipe, POLLIN, 0};
    else if (!keeps(s, to) && !workers_launcher_fit(to))
        *fd = (struct pollfd){to, POLLOUT, 0};
    else if (!workers_launcher_take(&s->launcher, pipe, to, keeps(s, to)))
        fd->fd = -1;
}

/* Waits until the launcher has ended and all its output has been read, or the deadline has
 * passed. */
static void watch(struct starter *s)
{
    struct pollfd fds[4] = {{s->l.out[0], POLLIN, 0},
                            {s->l.err[0], POLLIN, 0},
                            {launch_watch_signals(), POLLIN, 0},
                            {s->l.guard.fd, POLLIN, 0}};

    while (!s->ended || fds[0].fd >= 0 || fds[1].fd >= 0) {
        int ready = poll(fds, 4, s->ended ? LINGER_MS : TICK_MS);

        if (s->ended && ready == 0)
            break; /* another process has inherited the pipe and keeps it open */
        for (int i = 0; i < 2; i++)
            if (fds[i].revents)
                serve(s, &fds[i], i + 1);
        if (fds[2].revents)
            take_signals(s, fds[2].fd);
        if (fds[3].revents && !s->ended) {
            s->lost = !launch_guard_take(&s->l.guard, &s->outcome->status);
            s->ended = 1;
            fds[3].fd = -1;
        }
        look_around(s);
        if (s->deadline > 0 && launch_watch_now() >= s->deadline)
            break;
    }
    close(fds[2].fd);
}

/* The run cannot continue. We report why unless a worker has done so: what workers and programs say
 * when they are ended is not the reason. The launcher's helper goes first: it would pass the signal
 * that ends it on to programs, which outlive a killed worker until that is next scheduled. */
static void silence(struct starter *s)
{
    if (!workers_claim(s->page)) {
        s->health.why[0] = 0;
        return;
    }
    workers_health_end_helpers(&s->health);
    for (int i = 0; i < workers_watched(s->page); i++)
        if (s->page->workers[i].pid && !s->page->workers[i].left)
            kill(s->page->workers[i].pid, SIGKILL);
}

/* The status of the job, from process 0 or else from the launcher. */
static int judge(struct starter *s)
{
    int status = s->outcome->status, code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    if (s->lost && !s->is_interrupted) {
        log_error("a process of Orrery's (pid %d) was killed: the run ends here",
                  (int)s->l.guard.pid);
        return WORKERS_FAILED;
    }
    if (s->page->set && !*s->health.why) {
        if (s->l.is_live)
            sys_write_all(STDERR_FILENO, buf_str(&s->launcher.kept), s->launcher.kept.len);
        if (!s->l.is_live || s->page->status)
            return s->page->status;
        s->outcome->is_launchers = code >= 0; /* that of the program */
        return code >= 0 ? code : WORKERS_FAILED;
    }
    if (s->launcher.told && !*s->health.why && s->launcher.status != 128 + SIGTERM) {
        /* a worker elsewhere has said why, or what came after a signal was kept */
        if (s->launcher.status == WORKERS_FAILED || !s->page->joined)
            sys_write_all(STDERR_FILENO, buf_str(&s->launcher.kept), s->launcher.kept.len);
        return s->launcher.status;
    }
    if (s->outcome->signal) {
        if (s->launcher.told && !s->page->joined)
            sys_write_all(STDERR_FILENO, buf_str(&s->launcher.kept), s->launcher.kept.len);
        return 128 + s->outcome->signal;
    }
    if (s->launcher.told && !*s->health.why) /* somebody else has sent them a signal */
        return s->launcher.status;
    if (*s->health.why && s->l.is_live && s->ended && code > WORKERS_FAILED) {
        /* a rank may be the reason, which `orrery hybrid` knows */
        s->outcome->is_launchers = 1;
        return code;
    }
    if (*s->health.why) {
        log_error("%s", s->health.why);
        return WORKERS_FAILED;
    }
    sys_write_all(STDERR_FILENO, buf_str(&s->launcher.kept), s->launcher.kept.len);
    if (s->l.is_live && native_status_is_left(getenv(NATIVE_STATUS)))
        return WORKERS_FAILED; /* `orrery hybrid` says why */
    if (code == 2 || code == WORKERS_FAILED || (code > 0 && s->l.is_live)) {
        s->outcome->is_launchers = code > WORKERS_FAILED;
        return code; /* who ended has said why: a worker, or the program and the launcher */
    } else if (code < 0)
        log_error("the launcher died of signal %d (%s): the run is not complete", WTERMSIG(status),
                  strsignal(WTERMSIG(status)));
    else if (code == 0 && !s->page->joined)
        log_error(
            "the launcher '%s' ended with status 0, and no process reported the end of the run: it "
            "started none, or does not pass their standard error on; see --launcher",
            s->l.argv[0]);
    else
        log_error(
            "the launcher ended with status %d, and no process reported the end of the run: one "
            "of them was killed, or could not be started; see above",
            code);
    return WORKERS_FAILED;
}

int launch_workers_run(const struct launch_job *job, int next, char **argv,
                       struct launch_books *books, struct run_outcome *outcome, int *status,
                       struct err *err)
{
    struct starter s = {.l = {.workers = -1,
                              .placement = job->opt.rank_map_fd,
                              .machine = job->opt.machine_fd,
                              .is_live = job->opt.live != 0,
                              .books = books->fd},
                        .books = books,
                        .outcome = outcome};
    struct launch_argv w = {0};
    double start_time = launch_watch_now();
    sigset_t mask;
    int rc = command_line(&w, job, next, argv, err);

    memset(outcome, 0, sizeof *outcome);
    s.page = rc ? NULL : page_make(&s.l.workers, err);
    if (rc == 0 && !s.page)
        rc = ERR_SYSTEM;
    workers_launcher_init(&s.launcher);
    if (rc == 0) {
        launch_watch_block(&mask);
        s.l.argv = w.at;
        s.l.mask = &mask;
        rc = start(&s.l, err);
    }
    if (rc == 0) {
        s.health = (struct workers_health){.page = s.page,
                                           .guard = s.l.guard.pid,
                                           .launcher = s.l.guard.command,
                                           .procs = job->opt.procs};
        watch(&s);
        if (*s.health.why)
            silence(&s);
        launch_guard_end(&s.l.guard);
        if (!outcome->signal)
            sigprocmask(SIG_SETMASK, &mask, NULL);
        outcome->wall_s = launch_watch_now() - start_time;
        *status = judge(&s);
        outcome->unreported = outcome->signal && !s.page->set && !s.launcher.told;
    }
    workers_launcher_fini(&s.launcher);
    launch_argv_fini(&w);
    return rc;
}
