/*
 * child.c - starts and ends `orrery run` as a child process (see child.h).
 */
#define _GNU_SOURCE 1
#include "launch/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "launch/guard.h"
#include "launch/supervise_tree.h"
#include "launch/watch.h"

#define LOOK_MS 200

int launch_child_self(char *path, size_t size, struct err *err)
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

pid_t launch_child_start(char *const *words, const char *out, const char *errors,
                         const sigset_t *mask, struct err *err)
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

static char *read_reason(const char *errors)
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

char *launch_child_reason(int status, const char *errors)
{
    char text[128];
    if (!WIFSIGNALED(status))
        return read_reason(errors);
    snprintf(text, sizeof text, "the run was killed by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    return mem_strdup(text);
}

/* ---- ending ---- */

void launch_child_ask(pid_t pid)
{
    kill(pid, SIGTERM);
    kill(pid, SIGCONT); /* a stopped process handles no signals */
}

void launch_child_kill(pid_t pid)
{
    kill(-pid, SIGKILL);
}

int launch_child_wait(pid_t pid, int *signal)
{
    struct supervise_tree tree;
    struct pollfd signals = {.fd = launch_watch_signals(), .events = POLLIN};
    int status = 0;
    double asked = 0;
    *signal = 0;
    supervise_tree_init(&tree, 0, 0);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        poll(&signals, 1, LOOK_MS);
        for (int got; (got = launch_watch_signal(signals.fd)) != 0;)
            if (got != SIGCHLD && !*signal)
                *signal = got;
        if (*signal && asked == 0) {
            launch_child_ask(pid);
            asked = launch_watch_now();
        } else if (asked > 0 && launch_watch_now() - asked > LAUNCH_CHILD_GRACE_S) {
            launch_child_kill(pid);
        }
        supervise_tree_look(&tree, launch_watch_now());
    }
    supervise_tree_fini(&tree);
    close(signals.fd);
    return status;
}

/* ---- files ---- */

int launch_child_begin(const char *name, char *folder, size_t size, struct err *err)
{
    const char *top = getenv("TMPDIR");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int n = snprintf(folder, size, "%s/%s-XXXXXX", top && *top ? top : "/tmp", name);
    if (n < 0 || (size_t)n >= size)
        return err_set(err, ERR_INPUT, "the name of the folder for temporary files is too long");
    return mkdtemp(folder)
               ? 0
               : err_set(err, ERR_SYSTEM, "cannot create folder '%s': %s", folder, strerror(errno));
}

/* A run that was killed may have left files of its own beside those that were asked for. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}

void launch_child_end(const char *folder)
{
    launch_guard_end_all(0);
    if (folder)
        remove_folder(folder);
}
