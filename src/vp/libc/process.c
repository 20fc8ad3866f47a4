/*
 * Process creation, and the identity of a rank (pid, host name).
 *
 * A fibre rank is one of many in a process, so it can neither fork, nor exec, nor start threads
 * (thread.c): those calls fail with ENOTSUP, after one message. It can run commands (command.c).
 * Its process id and host name are virtual and the same in every run. A rank that is a process may
 * fork and start threads.
 */
#include "vp/libc/libc.h"

#include <limits.h>
#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "vp/carrier.h"

#define ADVICE "run it with --host process"

static int refuse(const char *what)
{
    vp_refuse(what, ADVICE);
    errno = ENOTSUP;
    return -1;
}

/* ---- refused ---- */

/* The child of a rank that is a process is not a rank: it uses the real libc. */
static pid_t forked(pid_t pid)
{
    if (pid == 0 && vp_private.current) {
        vp_private.parent = vp_private.current;
        vp_private.current = NULL;
        vp_private.threaded = 0;
        vp_carrier_forked();
    }
    return pid;
}

VP_EXPORT pid_t fork(void)
{
    return vp_current_sharing() ? refuse("fork()") : forked(REAL(fork)());
}
ALIAS(__fork, fork);

VP_EXPORT pid_t _Fork(void)
{
    return vp_current_sharing() ? refuse("_Fork()") : forked(REAL(_Fork)());
}

/* A real vfork cannot be wrapped, since its child would return from this frame. It forks
 * instead. */
VP_EXPORT pid_t vfork(void)
{
    return vp_current_sharing() ? refuse("vfork()") : forked(REAL(fork)());
}
ALIAS(__vfork, vfork);

VP_EXPORT int daemon(int keep_directory, int keep_output)
{
    return vp_current_sharing() ? refuse("daemon()") : REAL(daemon)(keep_directory, keep_output);
}

/* libgfortran starts a command in the background and never asks for its status. A program could ask
 * for that of any of its children, and would get those of other ranks. */
VP_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                          const posix_spawn_file_actions_t *restrict actions,
                          const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                          char *const envp[restrict])
{
    if (!vp_current_sharing())
        return REAL(posix_spawn)(pid, path, actions, attributes, argv, envp);
    if (!actions && !attributes && libc_from_runtime(__builtin_return_address(0)))
        return libc_command_spawn(pid, path, argv, envp);
    refuse("posix_spawn()");
    return ENOTSUP;
}

VP_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                           const posix_spawn_file_actions_t *restrict actions,
                           const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                           char *const envp[restrict])
{
    if (!vp_current_sharing())
        return REAL(posix_spawnp)(pid, file, actions, attributes, argv, envp);
    refuse("posix_spawnp()");
    return ENOTSUP;
}

/* ---- identity ---- */

pid_t libc_pid(struct vp_rank *f)
{
    return (pid_t)(LIBC_PID_BASE + vp_hooks->rank(f));
}

VP_EXPORT pid_t getpid(void)
{
    struct vp_rank *f = vp_current();

    return f ? libc_pid(f) : REAL(getpid)();
}
ALIAS(__getpid, getpid);

VP_EXPORT pid_t gettid(void)
{
    struct vp_rank *f = vp_current();

    return f ? libc_pid(f) : REAL(gettid)();
}

VP_EXPORT pid_t getppid(void)
{
    return vp_current() ? LIBC_PID_BASE - 1 : REAL(getppid)();
}

VP_EXPORT int gethostname(char *out, size_t size)
{
    struct vp_rank *f = vp_current();
    char name[HOST_NAME_MAX + 1];

    if (!f)
        return REAL(gethostname)(out, size);
    vp_hooks->hostname(f, name, sizeof name);
    size_t length = strlen(name) + 1;
    memcpy(out, name, length < size ? length : size);
    if (length <= size)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* The checked form; `room` is the size of the caller's array. */
int __gethostname_chk(char *, size_t, size_t);
VP_EXPORT int __gethostname_chk(char *out, size_t size, size_t room)
{
    if (!vp_current() || size > room)
        return REAL(__gethostname_chk)(out, size, room);
    return gethostname(out, size);
}

VP_EXPORT int uname(struct utsname *out)
{
    struct vp_rank *f = vp_current();
    int rc = REAL(uname)(out);

    if (f && rc == 0)
        vp_hooks->hostname(f, out->nodename, sizeof out->nodename);
    return rc;
}

VP_EXPORT int getcpu(unsigned *cpu, unsigned *node)
{
    if (!vp_current())
        return REAL(getcpu)(cpu, node);
    if (cpu)
        *cpu = 0;
    if (node)
        *node = 0;
    return 0;
}

VP_EXPORT int sched_getcpu(void)
{
    return vp_current() ? 0 : REAL(sched_getcpu)();
}
