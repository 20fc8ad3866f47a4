/*
 * child.c - see child.h.
 */
#define _GNU_SOURCE 1
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"

int cli_child_self(char *path, size_t size, struct err *err)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0)
        return err_set(err, ERR_SYSTEM, "cannot read '/proc/self/exe': %s", strerror(errno));
    path[length] = '\0';
    return 0;
}

static int redirect(const char *path, int flags, int to)
{
    int fd = open(path ? path : "/dev/null", flags, 0666);
    if (fd < 0 || (fd != to && dup2(fd, to) < 0))
        return -1;
    if (fd != to)
        close(fd);
    return 0;
}

/* Never returns. */
_Noreturn static void become(char *const *words, const char *out, const char *errors,
                             const sigset_t *mask, pid_t parent)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(3);
    if (redirect(NULL, O_RDONLY, STDIN_FILENO) == 0 && redirect(out, flags, STDOUT_FILENO) == 0 &&
        redirect(errors, flags, STDERR_FILENO) == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        execv(words[0], words);
    }
    _exit(3);
}

pid_t cli_child_start(char *const *words, const char *out, const char *errors, const sigset_t *mask,
                      struct err *err)
{
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        become(words, out, errors, mask, self);
    if (pid < 0)
        err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    else
        setpgid(pid, pid); /* whoever is first */
    return pid;
}

char *cli_child_reason(const char *errors)
{
    static const char mark[] = "orrery: error: ";
    char text[4096];
    if (sys_read_text(errors, text, sizeof text) <= 0)
        return NULL;
    const char *line = strstr(text, mark);
    line = line ? line + strlen(mark) : text;
    size_t length = strcspn(line, "\n");
    char *copy = mem_alloc(length + 1);
    memcpy(copy, line, length);
    copy[length] = '\0';
    return copy;
}
