/*
 * guard.c - the guard writes two numbers to a pipe: the process id of the command, then its status.
 *
 * It kills only its children. When one is dead, its children become ours and are killed next. So it
 * never uses a process id that may have been reused, and misses nothing that is forked meanwhile.
 * waitpid, not /proc, tells that no child is left.
 */
#define _GNU_SOURCE 1
#include "launch/guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "launch/leftover.h"
#include "launch/proctree.h"
#include "launch/watch.h"

#define NAME "orrery-guard"
#define GRACE_S LAUNCH_GUARD_GRACE_S /* for the command to end by itself */
#define KILL_S 3.0                   /* until it gives up on a process that cannot be killed */
#define ANSWER_S 5.5                 /* for the guard: more than both take */
#define TICK_MS 100
#define PAUSE_NS 5000000

/* ---- killing ---- */

static void kill_children(void)
{
    pid_t self = getpid();
    struct launch_proc *below;
    size_t count = launch_proc_below(self, &below);
    for (size_t i = 0; i < count; i++)
        if (below[i].parent == self)
            kill(below[i].pid, SIGKILL);
    mem_free(below);
}

/* Reaps what has ended; is a child left? */
static int has_children(void)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return pid == 0 || errno != ECHILD;
}

void launch_guard_end_all(double seconds)
{
    struct timespec pause = {0, PAUSE_NS};
    double soon = launch_watch_now() + seconds, end = soon + KILL_S;
    while (has_children() && launch_watch_now() < soon)
        nanosleep(&pause, NULL);
    if (seconds > 0 && has_children())
        log_warn("what the program has started still runs %g s after its end, and is ended",
                 seconds);
    while (has_children() && launch_watch_now() < end) {
        kill_children();
        nanosleep(&pause, NULL);
    }
}

/* ---- the guard ---- */

static void tell(int fd, int number)
{
    sys_write_all(fd, &number, sizeof number);
}

/* Reaps ended children; is the command among them? */
static int reap(pid_t command, int *status)
{
    int found = 0, one;
    pid_t pid;
    while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
        if (pid == command) {
            *status = one;
            found = 1;
        }
    }
    return found;
}

/* Waits until the command has ended, or its time is up after it was asked to end. */
static int wait_for(pid_t command, pid_t starter, int *status)
{
    struct timespec tick = {0, TICK_MS * 1000000};
    double end = 0;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    while (end == 0 || launch_watch_now() < end) {
        int sig = end == 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &tick);
        if (sig == SIGTERM && end == 0) { /* the starter asks for the end, or is dead */
            kill(command, SIGTERM);
            kill(command, SIGCONT);
            end = launch_watch_now() + (getppid() == starter ? GRACE_S : 0);
        }
        if (reap(command, status))
            return 1;
    }
    return 0;
}

_Noreturn static void stand_guard(pid_t command, pid_t starter, int report)
{
    time_t since = time(NULL);
    int status;
    if (dup2(report, STDERR_FILENO + 1) >= 0)
        report = STDERR_FILENO + 1;
    fcntl(report, F_SETFD, FD_CLOEXEC);
    close_range((unsigned)report + 1, ~0u, 0);
    tell(report, (int)command);
    int ended = wait_for(command, starter, &status);
    if (ended)
        tell(report, status);
    launch_guard_end_all(ended && status == 0 ? LAUNCH_GUARD_GRACE_S : 0);
    launch_leftover_remove(since);
    sys_exit(0);
}

_Noreturn static void become_guard(void (*become)(void *), void *context, pid_t starter, int report,
                                   const sigset_t *mask)
{
    prctl(PR_SET_NAME, NAME);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != starter)
        sys_exit(0);
    signal(SIGCHLD, SIG_DFL);
    setsid(); /* neither we nor the command should get signals of the terminal */
    pid_t guard = getpid(), pid = fork();
    if (pid == 0) {
        close(report); /* only the guard uses it */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == guard) {
            sigprocmask(SIG_SETMASK, mask, NULL);
            become(context);
        }
        sys_exit(127);
    }
    if (pid < 0) {
        tell(report, -errno);
        sys_exit(0);
    }
    stand_guard(pid, starter, report);
}

/* ---- the starter ---- */

/* Reads the next number from the guard; 0 if it is dead. */
static int hear(const struct launch_guard *guard, int *number)
{
    return TEMP_FAILURE_RETRY(read(guard->fd, number, sizeof *number)) == sizeof *number;
}

static int is_stopped(pid_t pid)
{
    struct launch_proc proc;
    return launch_proc_is_stopped(pid, &proc);
}

int launch_guard_await(const struct launch_guard *guard, int fd)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};
    double since = 0;
    for (;;) {
        if (poll(&in, 1, TICK_MS) > 0)
            return 1;
        double now = launch_watch_now();
        if (!is_stopped(guard->pid) && !is_stopped(guard->command))
            since = 0;
        else if (since == 0)
            since = now;
        else if (now - since > LAUNCH_PROC_STOPPED_S)
            return 0;
    }
}

int launch_guard_start(struct launch_guard *guard, void (*become)(void *context), void *context,
                       struct err *err)
{
    int ends[2], command = 0;
    sigset_t all, mask;
    pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    guard->since = time(NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* in case the guard dies */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    guard->pid = fork();
    if (guard->pid == 0)
        become_guard(become, context, self, ends[1], &mask);
    int error = errno;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    guard->fd = ends[0];
    guard->command = 0;
    if (guard->pid > 0 && launch_guard_await(guard, guard->fd) && hear(guard, &command) &&
        command > 0) {
        guard->command = command;
        return 0;
    }
    if (guard->pid > 0) {
        int status = 0;
        kill(guard->pid, SIGKILL); /* it has not answered */
        waitpid(guard->pid, &status, 0);
        if (WIFSIGNALED(status))
            launch_guard_end_all(0);
        error = command < 0 ? -command : EINTR;
    }
    close(guard->fd);
    return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(error));
}

int launch_guard_take(struct launch_guard *guard, int *status)
{
    return hear(guard, status);
}

/* Waits until it has closed its pipe, unless it was stopped. */
static int has_left(const struct launch_guard *guard)
{
    struct pollfd fd = {.fd = guard->fd, .events = POLLIN};
    double end = launch_watch_now() + ANSWER_S;
    int number;
    while (launch_watch_now() < end) {
        if (poll(&fd, 1, TICK_MS) > 0) {
            if (!hear(guard, &number))
                return 1;
        } else if (is_stopped(guard->pid)) {
            return 0;
        }
    }
    return 0;
}

void launch_guard_end(struct launch_guard *guard)
{
    kill(guard->pid, SIGTERM);
    if (!has_left(guard))
        kill(guard->pid, SIGKILL);
    int status = 0;
    while (waitpid(guard->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status)) { /* it was killed: its children are ours now */
        launch_guard_end_all(0);
        launch_leftover_remove(guard->since);
    }
    close(guard->fd);
}
