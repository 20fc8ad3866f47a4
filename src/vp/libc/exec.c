/*
 * The exec family: a rank cannot become another program, on either host. A process that a rank
 * forks can (vp_current() is NULL there).
 *
 * The forms with a variable number of arguments call those with an array.
 */
#include "vp/libc/libc.h"

#include <stdarg.h>
#include <unistd.h>

static int refuse(const char *what)
{
    vp_refuse(what, "a process that it forks can");
    errno = ENOTSUP;
    return -1;
}

VP_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return vp_current() ? refuse("execve()") : REAL(execve)(path, argv, envp);
}

VP_EXPORT int execv(const char *path, char *const argv[])
{
    return vp_current() ? refuse("execv()") : REAL(execv)(path, argv);
}

VP_EXPORT int execvp(const char *file, char *const argv[])
{
    return vp_current() ? refuse("execvp()") : REAL(execvp)(file, argv);
}

VP_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return vp_current() ? refuse("execvpe()") : REAL(execvpe)(file, argv, envp);
}

VP_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    return vp_current() ? refuse("fexecve()") : REAL(fexecve)(fd, argv, envp);
}

VP_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
    return vp_current() ? refuse("execveat()") : REAL(execveat)(fd, path, argv, envp, flags);
}

static size_t count(const char *arg, va_list args)
{
    size_t n = 0;

    for (; arg; arg = va_arg(args, const char *))
        n++;
    return n;
}

/* Fills argv[0..n] from the list, the closing NULL included. */
static void collect(const char *arg, va_list *args, char **argv, size_t n)
{
    for (size_t i = 0; i <= n; i++) {
        argv[i] = (char *)(uintptr_t)arg;
        if (i < n)
            arg = va_arg(*args, const char *);
    }
}

/* Declares argv and fills it with the arguments from `arg` on; args is then behind them. */
#define COLLECT(argv, args, arg)                \
    va_list args;                               \
    va_start(args, arg);                        \
    const size_t argv##_len = count(arg, args); \
    va_end(args);                               \
    char *argv[argv##_len + 1];                 \
    va_start(args, arg);                        \
    collect(arg, &args, argv, argv##_len)

VP_EXPORT int execl(const char *path, const char *arg, ...)
{
    if (vp_current())
        return refuse("execl()");
    COLLECT(argv, args, arg);
    va_end(args);
    return REAL(execv)(path, argv);
}

VP_EXPORT int execlp(const char *file, const char *arg, ...)
{
    if (vp_current())
        return refuse("execlp()");
    COLLECT(argv, args, arg);
    va_end(args);
    return REAL(execvp)(file, argv);
}

VP_EXPORT int execle(const char *path, const char *arg, ...)
{
    if (vp_current())
        return refuse("execle()");
    COLLECT(argv, args, arg);
    char *const *envp = va_arg(args, char *const *);
    va_end(args);
    return REAL(execve)(path, argv, envp);
}
