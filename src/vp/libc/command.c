/*
 * Commands that a rank starts: system, popen and pclose, and what libgfortran starts for
 * execute_command_line.
 *
 * A fibre rank shares its process, but while it runs, working directory, umask and environment of
 * the process are the rank's. What else a command inherits is set between the start of its process
 * and the start of the shell:
 *
 *     signals      those that the rank ignores are ignored; the simulator's handlers are gone
 *     descriptors  0, 1 and 2 are the rank's: the streams that it has reopened, and an empty input
 *                  for all ranks except rank 0, as under mpiexec
 *
 * The new process borrows our memory until it becomes the shell (CLONE_VM, CLONE_VFORK): so it
 * costs the same however large the simulation is, and no process has to be kept for it.
 *
 * All ranks wait while a rank waits for a command. Its time is host time, not virtual time, on both
 * hosts: a slice is what the rank itself computes.
 */
#include "vp/libc/libc.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/sys.h"

#define SHELL "/bin/sh"
#define CANNOT_EXECUTE 127
#define SIGNAL_WORDS 8 /* bytes of a mask, as the system counts */

/* sigaction as the system knows it; all zero is the default action. */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

struct start {
    const char *path;
    char *const *argv, *const *envp;
    int std[3];       /* its standard descriptors */
    int dies_with_us; /* nobody is left to wait for it */
    uint64_t mask;    /* of blocked signals */
    int error;        /* why it could not be executed */
};

static struct stream {
    struct stream *next;
    FILE *file;
    pid_t pid;
    struct vp_rank *owner;
} * streams; /* of popen */

/* ---- in the new process, which shares our memory but nothing else ---- */

static void set_signals(const struct start *s)
{
    const struct kernel_action none = {.handler = SIG_DFL}, ignored = {.handler = SIG_IGN};

    for (int sig = 1; sig < NSIG; sig++)
        plain_call(SYS_rt_sigaction, sig, (long)(libc_signal_is_ignored(sig) ? &ignored : &none), 0,
                   SIGNAL_WORDS);
    plain_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&s->mask, 0, SIGNAL_WORDS);
}

/* The sources are above 2, or where they should be. */
static void set_descriptors(const struct start *s)
{
    for (int fd = 0; fd < 3; fd++)
        if (s->std[fd] != fd)
            plain_call(SYS_dup3, s->std[fd], fd, 0, 0);
}

static int child(void *given)
{
    struct start *s = given;

    if (s->dies_with_us)
        plain_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    set_descriptors(s);
    set_signals(s);
    s->error = (int)-plain_call(SYS_execve, (long)s->path, (long)s->argv, (long)s->envp, 0);
    plain_call(SYS_exit_group, CANNOT_EXECUTE, 0, 0, 0);
    return 0;
}

/* ---- in the rank ---- */

/* Starts the program, and returns its process id; or a negative error. No handler may run in the
 * new process, whose memory is ours. */
static pid_t start(struct start *s)
{
    static char stack[32768] __attribute__((aligned(16)));
    const uint64_t all = ~(uint64_t)0;
    pid_t pid;

    s->error = 0;
    plain_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&s->mask, SIGNAL_WORDS);
    pid = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
    if (pid < 0)
        s->error = errno;
    plain_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&s->mask, 0, SIGNAL_WORDS);
    if (s->error && pid > 0)
        plain_call(SYS_wait4, pid, 0, 0, 0);
    return s->error ? -s->error : pid;
}

/* The rank's own standard descriptors. Returns one to close afterwards, or -1. */
static int find_std(int std[3])
{
    int empty = -1;

    for (int fd = 0; fd < 3; fd++) {
        FILE *own = libc_stdio_own(fd);

        std[fd] = own ? REAL(fileno)(own) : fd;
    }
    if (std[0] == 0 && vp_hooks->rank(vp_current()) != 0)
        empty = sys_open("/dev/null", O_RDONLY, 0);
    if (empty >= 0)
        std[0] = empty;
    return empty;
}

static pid_t start_shell(struct start *s, const char *command)
{
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)command, NULL};

    s->path = SHELL;
    s->argv = argv;
    s->envp = environ;
    return start(s);
}

/* Other threads of a rank may compute meanwhile. */
static void outside(int begins)
{
    struct vp_rank *f = vp_current();

    if (f && !vp_private.threaded)
        vp_hooks->outside(f, begins);
}

/* Returns its status, or -1 and sets errno. */
static int await(pid_t pid)
{
    int status;
    long rc;

    outside(1);
    do
        rc = plain_call(SYS_wait4, pid, (long)&status, 0, 0);
    while (rc == -EINTR);
    outside(0);
    if (rc >= 0)
        return status;
    errno = (int)-rc;
    return -1;
}

/* A shell that cannot be executed counts as one that ended with 127. */
static int run(const char *command)
{
    struct start s = {.dies_with_us = 1};
    int empty = find_std(s.std), saved = errno;
    pid_t pid = start_shell(&s, command);

    if (empty >= 0)
        sys_close(empty);
    if (pid > 0) {
        errno = saved;
        return await(pid);
    }
    errno = (int)-pid;
    return pid == -EAGAIN || pid == -ENOMEM ? -1 : CANNOT_EXECUTE << 8;
}

VP_EXPORT int system(const char *command)
{
    int status;

    if (!vp_current_sharing()) {
        outside(1);
        status = REAL(system)(command);
        outside(0);
        return status;
    }
    return command ? run(command) : run("exit 0") == 0;
}

/* ---- streams ---- */

/* Takes the entry out of the list; NULL if the stream is not one of these. */
static struct stream *take(const FILE *file)
{
    for (struct stream **at = &streams; *at; at = &(*at)->next) {
        struct stream *s = *at;

        if (s->file == file) {
            *at = s->next;
            return s;
        }
    }
    return NULL;
}

static void add(FILE *file, pid_t pid)
{
    struct stream *s = take(file); /* of a stream that was closed by fclose */

    if (!s)
        s = libc_alloc(sizeof *s);
    *s = (struct stream){streams, file, pid, vp_current()};
    streams = s;
}

/* "r" or "w", and perhaps "e": the stream is closed in programs that are started later. It always
 * is here, as it belongs to one of many ranks. */
static int is_mode(const char *type)
{
    return (type[0] == 'r' || type[0] == 'w') && type[strspn(type + 1, "e") + 1] == '\0';
}

static FILE *open_command(const char *command, int writes)
{
    struct start s = {0};
    int empty, ends[2], ours = writes ? 1 : 0;
    FILE *file;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    empty = find_std(s.std);
    s.std[writes ? 0 : 1] = ends[!ours];
    pid = start_shell(&s, command);
    sys_close(ends[!ours]);
    if (empty >= 0)
        sys_close(empty);
    file = pid > 0 ? REAL(fdopen)(ends[ours], writes ? "w" : "r") : NULL;
    if (!file) {
        sys_close(ends[ours]);
        if (pid > 0)
            await(pid);
        else
            errno = (int)-pid;
        return NULL;
    }
    add(file, pid);
    return file;
}

VP_EXPORT FILE *popen(const char *command, const char *type)
{
    if (!vp_current_sharing())
        return REAL(popen)(command, type);
    if (is_mode(type))
        return open_command(command, type[0] == 'w');
    errno = EINVAL;
    return NULL;
}

VP_EXPORT int pclose(FILE *file)
{
    struct stream *s = vp_current_sharing() ? take(file) : NULL;
    pid_t pid;
    int status;

    if (!s) {
        outside(1);
        status = REAL(pclose)(file);
        outside(0);
        return status;
    }
    pid = s->pid;
    libc_free(s, sizeof *s);
    REAL(fclose)(file);
    return await(pid);
}

/* The rank ends: the commands see the end of its streams, as if its process had ended. */
void libc_commands_end(void)
{
    struct vp_rank *f = vp_current();

    for (struct stream **at = &streams; *at;) {
        struct stream *s = *at;

        if (s->owner != f) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        REAL(fclose)(s->file);
        libc_free(s, sizeof *s);
    }
}

/* ---- libgfortran ---- */

int libc_command_spawn(pid_t *pid, const char *path, char *const argv[], char *const envp[])
{
    struct start s = {.path = path, .argv = argv, .envp = envp};
    int empty = find_std(s.std);
    pid_t started = start(&s);

    if (empty >= 0)
        sys_close(empty);
    if (started < 0)
        return (int)-started;
    *pid = started;
    return 0;
}
