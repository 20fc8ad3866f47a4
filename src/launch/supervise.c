/*
 * supervise.c - see supervise.h. The guard tells how the command ended; everything else is found in
 * /proc, some times a second.
 */
#include "launch/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/sys.h"
#include "launch/guard.h"
#include "launch/supervise_tree.h"
#include "launch/watch.h"

#define LINGER_MS 200
#define TICK_MS 500

/* What the child needs. */
struct start {
    const struct launch_argv *argv;
    const sigset_t *mask;
    int out, errors, failed; /* pipes; the first two may be -1; a successful exec closes `failed` */
};

/* A command that runs, and our ends of the pipes. */
struct supervisor {
    const struct launch_supervise_watch *watch; /* or NULL */
    struct launch_guard guard;
    struct supervise_tree tree;
    int out, errors, failed;
    struct buf *text;
    int is_killed; /* the watch says that it is over */
    int is_lost;
};

/* In the child. */
static void become(void *context)
{
    const struct start *s = context;
    int none = s->out < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigprocmask(SIG_SETMASK, s->mask, NULL);
    if (s->out < 0 || (none >= 0 && dup2(none, STDIN_FILENO) >= 0 &&
                       dup2(s->out, STDOUT_FILENO) >= 0 && dup2(s->errors, STDERR_FILENO) >= 0))
        execvp(s->argv->at[0], s->argv->at);
    int code = errno;
    (void)!write(s->failed, &code, sizeof code);
}

/* ---- output ---- */

/* Reads what is available into `out`, or passes it on to standard error (NULL); 0 at the end. */
static int take(int fd, struct buf *out)
{
    char text[4096];
    ssize_t n = read(fd, text, sizeof text);
    if (n > 0 && out)
        buf_add(out, text, (size_t)n);
    else if (n > 0)
        sys_write_all(STDERR_FILENO, text, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Passes on what is left when all others have ended; nobody else should have the pipe. */
static void pass_last_errors(int fd)
{
    struct pollfd last = {fd, POLLIN, 0};
    while (poll(&last, 1, LINGER_MS) > 0 && take(fd, NULL))
        ;
}

/* ---- watching ---- */

/* Called some times a second; is the command to be ended? */
static int look(struct supervisor *s)
{
    if (s->watch && s->watch->is_over)
        s->is_killed = s->watch->is_over(s->watch->context);
    s->is_lost = supervise_tree_look(&s->tree, launch_watch_now());
    return s->is_killed || s->is_lost;
}

static int tick_ms(const struct supervisor *s)
{
    int every = s->watch ? s->watch->every_ms : -1;
    return every >= 0 && every < TICK_MS ? every : TICK_MS;
}

/* The first signal that has come, or 0. */
static int take_signals(int fd)
{
    int first = 0;
    for (int got; (got = launch_watch_signal(fd)) != 0;)
        if (got != SIGCHLD && !first)
            first = got;
    return first;
}

/* Waits until the command has closed its output, or ended if we do not read that, or is to be
 * ended, or a signal has come, which is returned. */
static int listen_to(struct supervisor *s)
{
    int fd = s->out < 0 ? s->guard.fd : s->out, signal = 0, more = 1;
    struct pollfd fds[3] = {{fd, POLLIN, 0},
                            {launch_watch_signals(), POLLIN, 0},
                            {s->errors, POLLIN, 0}};
    double next = 0;
    while (more && !signal) {
        int got = poll(fds, 3, tick_ms(s));
        if (got > 0 && fds[1].revents)
            signal = take_signals(fds[1].fd);
        if (got > 0 && fds[0].revents)
            more = s->text && take(fd, s->text);
        if (got > 0 && fds[2].revents && !signal && !take(s->errors, NULL))
            fds[2].fd = -1;
        if (more && !signal && launch_watch_now() >= next) {
            more = !look(s);
            next = launch_watch_now() + tick_ms(s) * 1e-3;
        }
    }
    close(fds[1].fd);
    if (signal && s->watch && s->watch->interrupted)
        s->watch->interrupted(s->watch->context);
    if (signal && s->watch && s->watch->passes_on)
        kill(s->guard.command, signal); /* else the guard ends it by SIGTERM */
    return signal;
}

/* The command has ended, or closed its output: how? */
static int take_status(struct supervisor *s, const char *command, int *is_lost)
{
    int ended = 0;
    if (s->is_killed || s->is_lost)
        return s->is_lost ? EXIT_INTERNAL : EXIT_DONE;
    if (!launch_guard_take(&s->guard, &ended)) {
        log_error("a process of Orrery's (pid %d) was killed: the run ends here",
                  (int)s->guard.pid);
        *is_lost = 1;
        return EXIT_INTERNAL;
    }
    if (!WIFSIGNALED(ended))
        return WEXITSTATUS(ended);
    log_error("'%s' (pid %d) was killed by signal %d (%s): the run ends here", command,
              (int)s->guard.command, WTERMSIG(ended), strsignal(WTERMSIG(ended)));
    *is_lost = 1;
    return EXIT_INTERNAL;
}

static int run(const struct start *start, struct supervisor *s, struct launch_supervise_end *end,
               struct err *err)
{
    int code = 0;
    int rc = launch_guard_start(&s->guard, become, (void *)(uintptr_t)start, err);
    if (start->out >= 0) {
        close(start->out);
        close(start->errors);
    }
    close(start->failed);
    if (rc)
        return rc;
    memset(end, 0, sizeof *end);
    supervise_tree_init(&s->tree, s->guard.pid, s->guard.command);
    s->tree.sees_ranks = s->watch && s->watch->starts_ranks;
    if (read(s->failed, &code, sizeof code) != sizeof code) {
        code = 0;
        end->signal = listen_to(s);
    }
    end->is_lost = s->is_lost;
    if (!end->signal && !code)
        end->status = take_status(s, start->argv->at[0], &end->is_lost);
    launch_guard_end(&s->guard);
    supervise_tree_fini(&s->tree);
    if (s->errors >= 0 && !end->signal)
        pass_last_errors(s->errors);
    return code ? err_set(err, ERR_SYSTEM, "cannot start '%s': %s", start->argv->at[0],
                          strerror(code))
                : 0;
}

/* Until now, copies of a signal that has come were blocked; they must not end us. */
static void unblock(const sigset_t *mask, int has_signal)
{
    if (has_signal)
        launch_watch_drop();
    sigprocmask(SIG_SETMASK, mask, NULL);
}

int launch_supervise_capture(const struct launch_argv *w, struct buf *out,
                             struct launch_supervise_end *end, struct err *err)
{
    int pipes[3][2];
    sigset_t mask;
    for (int i = 0; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC)) {
            int code = errno;
            while (i-- > 0)
                close(pipes[i][0]), close(pipes[i][1]);
            return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(code));
        }
    launch_watch_block(&mask);
    struct start start = {w, &mask, pipes[0][1], pipes[1][1], pipes[2][1]};
    struct supervisor s = {.out = pipes[0][0],
                           .errors = pipes[1][0],
                           .failed = pipes[2][0],
                           .text = out};
    int rc = run(&start, &s, end, err);
    unblock(&mask, rc == 0 && end->signal);
    for (int i = 0; i < 3; i++)
        close(pipes[i][0]);
    return rc;
}

int launch_supervise_run(const struct launch_argv *w, const struct launch_supervise_watch *watch,
                         struct launch_supervise_end *end, struct err *err)
{
    int failed[2];
    sigset_t mask;
    if (pipe2(failed, O_CLOEXEC))
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    launch_watch_block(&mask);
    struct start start = {w, &mask, -1, -1, failed[1]};
    struct supervisor s = {.watch = watch, .out = -1, .errors = -1, .failed = failed[0]};
    int rc = run(&start, &s, end, err);
    unblock(&mask, rc == 0 && end->signal);
    close(failed[0]);
    return rc;
}
