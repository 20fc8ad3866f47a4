/*
 * sys.h - raw system calls. The names of libc (open, write, _exit, getpid...) may be interposed by
 * the preloaded library and mean something virtual inside a rank; these reach the kernel. All
 * return -1 and set errno on failure, like the libc functions they replace. None switches.
 */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Always close-on-exec. `mode` matters only with O_CREAT. */
static inline int sys_open(const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline ssize_t sys_read(int fd, void *data, size_t size)
{
    return (ssize_t)syscall(SYS_read, fd, data, size);
}

static inline ssize_t sys_write(int fd, const void *data, size_t size)
{
    return (ssize_t)syscall(SYS_write, fd, data, size);
}

static inline ssize_t sys_pread(int fd, void *data, size_t size, off_t at)
{
    return (ssize_t)syscall(SYS_pread64, fd, data, size, at);
}

static inline ssize_t sys_pwrite(int fd, const void *data, size_t size, off_t at)
{
    return (ssize_t)syscall(SYS_pwrite64, fd, data, size, at);
}

static inline int sys_fstat(int fd, struct stat *st)
{
    return (int)syscall(SYS_fstat, fd, st);
}

static inline int sys_ftruncate(int fd, off_t size)
{
    return (int)syscall(SYS_ftruncate, fd, size);
}

/* Allocates space; the file grows to `size` if it is smaller. */
static inline int sys_fallocate(int fd, off_t size)
{
    return (int)syscall(SYS_fallocate, fd, 0, (off_t)0, size);
}

static inline int sys_fsync(int fd)
{
    return (int)syscall(SYS_fsync, fd);
}

/* The working directory, terminated; its length with the terminator. */
static inline ssize_t sys_getcwd(char *text, size_t size)
{
    return (ssize_t)syscall(SYS_getcwd, text, size);
}

static inline int sys_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

static inline int sys_stat(const char *path, struct stat *st)
{
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

static inline int sys_may_execute(const char *path)
{
    return syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0;
}

static inline int sys_fchmod(int fd, mode_t mode)
{
    return (int)syscall(SYS_fchmod, fd, mode);
}

static inline int sys_fchown(int fd, uid_t user, gid_t group)
{
    return (int)syscall(SYS_fchown, fd, user, group);
}

static inline mode_t sys_umask(mode_t mask)
{
    return (mode_t)syscall(SYS_umask, mask);
}

/* Both names are relative to the folder of that descriptor. */
static inline int sys_renameat(int folder, const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, folder, from, folder, to, 0);
}

static inline int sys_unlinkat(int folder, const char *name)
{
    return (int)syscall(SYS_unlinkat, folder, name, 0);
}

static inline int sys_unlink(const char *path)
{
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static inline pid_t sys_getpid(void)
{
    return (pid_t)syscall(SYS_getpid);
}

/* Random bytes of the system, all of them: 0, or -1 with errno. Keys have no other source. */
int sys_random(void *out, size_t size);

/* SIGALRM after so many seconds of host time. */
static inline void sys_alarm(unsigned seconds)
{
    struct itimerval in = {.it_value = {.tv_sec = (time_t)seconds}};

    syscall(SYS_setitimer, ITIMER_REAL, &in, NULL);
}

/* Sleeps for so many microseconds of host time. */
static inline void sys_pause(unsigned long us)
{
    struct timespec span = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};

    syscall(SYS_nanosleep, &span, NULL);
}

/* Ends the process with all threads, without exit handlers. */
_Noreturn static inline void sys_exit(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

/* Writes all bytes, across short writes and EINTR; 0, or -1 with errno. */
int sys_write_all(int fd, const void *data, size_t size);

/*
 * Reads a small text file (at most size - 1 bytes) into `text` and terminates it; returns its
 * length, or -1 with errno. Meant for files of /proc and /sys.
 */
ssize_t sys_read_text(const char *path, char *text, size_t size);

/* For how many nanoseconds a process or thread was runnable but did not run, by its file schedstat
 * in /proc; 0 if the kernel does not say. */
uint64_t sys_kept_waiting(const char *schedstat);

#endif
