/*
 * Command lines of other programs, and running them for what they print.
 */
#include "cli/words.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

void cli_words_add(struct cli_words *w, const char *text)
{
    w->at = mem_realloc(w->at, (w->count + 2) * sizeof *w->at);
    w->at[w->count++] = mem_strdup(text);
    w->at[w->count] = NULL;
}

void cli_words_fini(struct cli_words *w)
{
    for (size_t i = 0; i < w->count; i++)
        mem_free(w->at[i]);
    mem_free(w->at);
}

int cli_words_split(struct cli_words *w, const char *option, const char *text, struct err *err)
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
                cli_words_add(w, buf_str(&word));
            buf_clear(&word);
            inside = 0;
        } else {
            buf_addc(&word, *text);
            inside = 1;
        }
    }
    if (inside)
        cli_words_add(w, buf_str(&word));
    buf_fini(&word);
    if (quote)
        return err_set(err, ERR_INPUT, "%s: a quote (%c) is not closed", option, quote);
    return w->count ? 0 : err_set(err, ERR_INPUT, "%s: the command is empty", option);
}

/* ---- running ---- */

/* In the child: `failed` is closed by a successful exec. */
_Noreturn static void become(const struct cli_words *w, int out, int failed)
{
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (none >= 0 && dup2(none, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execvp(w->at[0], w->at);
    int code = errno;
    (void)!write(failed, &code, sizeof code);
    _exit(127);
}

static int take_output(int fd, struct buf *out)
{
    char text[4096];
    for (;;) {
        ssize_t n = read(fd, text, sizeof text);
        if (n > 0)
            buf_add(out, text, (size_t)n);
        else if (n == 0 || errno != EINTR)
            return n < 0 ? -1 : 0;
    }
}

static int finish(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int cli_words_capture(const struct cli_words *w, struct buf *out, int *status, struct err *err)
{
    int pipes[2][2], code = 0;
    if (pipe2(pipes[0], O_CLOEXEC))
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(pipes[1], O_CLOEXEC)) {
        code = errno;
        close(pipes[0][0]);
        close(pipes[0][1]);
        return err_set(err, ERR_SYSTEM, "cannot make a pipe: %s", strerror(code));
    }
    pid_t pid = fork();
    if (pid == 0)
        become(w, pipes[0][1], pipes[1][1]);
    code = pid < 0 ? errno : 0;
    close(pipes[0][1]);
    close(pipes[1][1]);
    if (pid > 0) {
        if (read(pipes[1][0], &code, sizeof code) != sizeof code)
            code = take_output(pipes[0][0], out) ? errno : 0;
        *status = finish(pid);
    }
    close(pipes[0][0]);
    close(pipes[1][0]);
    return code ? err_set(err, ERR_SYSTEM, "cannot start '%s': %s", w->at[0], strerror(code)) : 0;
}
