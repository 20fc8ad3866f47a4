/*
 * argv.c - command lines of other programs, and running them to capture their output.
 */
#include "cli/argv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "cli/guard.h"
#include "cli/watch.h"

#define LINGER_MS 200

void cli_argv_add(struct cli_argv *w, const char *text)
{
    w->at = mem_realloc(w->at, (w->count + 2) * sizeof *w->at);
    w->at[w->count++] = mem_strdup(text);
    w->at[w->count] = NULL;
}

void cli_argv_add_all(struct cli_argv *w, const char *const *words)
{
    for (; *words; words++)
        cli_argv_add(w, *words);
}

void cli_argv_pass(struct cli_argv *w, const char *option, const char *value)
{
    cli_argv_add(w, option);
    if (value)
        cli_argv_add(w, value);
}

void cli_argv_fini(struct cli_argv *w)
{
    for (size_t i = 0; i < w->count; i++)
        mem_free(w->at[i]);
    mem_free(w->at);
}

int cli_argv_split(struct cli_argv *w, const char *option, const char *text, struct err *err)
{
    struct buf word;
    char quote = 0;
    int inside = 0;

    buf_init(&word);
    for (; *text; text++) {
        if (quote ? *text == quote : *text == '"' || *text == '\'') {
            quote = quote ? 0 : *text;
            inside = 1;
        } else if (!quote && (*text == ' ' || *text == '\t')) {
            if (inside)
                cli_argv_add(w, buf_str(&word));
            buf_clear(&word);
            inside = 0;
        } else {
            buf_addc(&word, *text);
            inside = 1;
        }
    }
    if (inside)
        cli_argv_add(w, buf_str(&word));
    buf_fini(&word);
    if (quote)
        return err_set(err, ERR_INPUT, "%s: a quote (%c) is not closed", option, quote);
    return w->count ? 0 : err_set(err, ERR_INPUT, "%s: the command is empty", option);
}

/* ---- running ---- */

/* What the child needs. */
struct start {
    const struct cli_argv *argv;
    const sigset_t *mask;
    int out, errors, failed; /* pipes; the first two may be -1; a successful exec closes `failed` */
    const struct cli_argv_watch *watch; /* or NULL */
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

/* Waits until the command has closed its output, or ended if we do not read that, or is to be
 * killed (*is_killed), or a signal has come, which is returned. */
static int listen_to(int fd, int errors, struct buf *out, const struct cli_argv_watch *watch,
                     int *is_killed)
{
    struct pollfd fds[3] = {{fd, POLLIN, 0}, {cli_watch_signals(), POLLIN, 0}, {errors, POLLIN, 0}};
    int signal = 0, more = 1;
    *is_killed = 0;
    while (more && !signal && !*is_killed) {
        int got = poll(fds, 3, watch ? watch->every_ms : -1);
        if (got == 0)
            *is_killed = watch->is_over(watch->context);
        if (got <= 0)
            continue;
        for (int got; fds[1].revents && (got = cli_watch_signal(fds[1].fd)) != 0;)
            if (got != SIGCHLD && !signal)
                signal = got;
        if (fds[0].revents)
            more = out && take(fd, out);
        if (fds[2].revents && !signal && !take(errors, NULL))
            fds[2].fd = -1;
    }
    close(fds[1].fd);
    if (signal && watch && watch->interrupted)
        watch->interrupted(watch->context);
    return signal;
}

/* The last three: our ends of the pipes. */
static int run(const struct start *s, struct buf *text, int *status, int *signal, struct err *err,
               int out, int errors, int failed)
{
    struct cli_guard guard;
    int code = 0, ended = 0, is_killed = 0;
    int rc = cli_guard_start(&guard, become, (void *)(uintptr_t)s, err);
    if (s->out >= 0) {
        close(s->out);
        close(s->errors);
    }
    close(s->failed);
    if (rc)
        return rc;
    *signal = 0;
    if (read(failed, &code, sizeof code) != sizeof code) {
        code = 0;
        *signal = listen_to(out < 0 ? guard.fd : out, errors, text, s->watch, &is_killed);
    }
    if (!*signal && !is_killed && !cli_guard_take(&guard, &ended))
        ended = SIGKILL; /* the guard was killed, and the command with it */
    cli_guard_end(&guard);
    if (errors >= 0 && !*signal)
        pass_last_errors(errors);
    *status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    return code ? err_set(err, ERR_SYSTEM, "cannot start '%s': %s", s->argv->at[0], strerror(code))
                : 0;
}

int cli_argv_capture(const struct cli_argv *w, struct buf *out, int *status, int *signal,
                     struct err *err)
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
    cli_watch_block(&mask);
    struct start s = {w, &mask, pipes[0][1], pipes[1][1], pipes[2][1], NULL};
    int rc = run(&s, out, status, signal, err, pipes[0][0], pipes[1][0], pipes[2][0]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    for (int i = 0; i < 3; i++)
        close(pipes[i][0]);
    return rc;
}

int cli_argv_run(const struct cli_argv *w, int *status, int *signal, struct err *err)
{
    return cli_argv_run_watched(w, NULL, status, signal, err);
}

int cli_argv_run_watched(const struct cli_argv *w, const struct cli_argv_watch *watch, int *status,
                         int *signal, struct err *err)
{
    int failed[2];
    sigset_t mask;
    if (pipe2(failed, O_CLOEXEC))
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    cli_watch_block(&mask);
    struct start s = {w, &mask, -1, -1, failed[1], watch};
    int rc = run(&s, NULL, status, signal, err, -1, -1, failed[0]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(failed[0]);
    return rc;
}
