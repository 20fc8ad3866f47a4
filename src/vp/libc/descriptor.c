/*
 * Descriptors 0, 1 and 2 of a rank: what C++ streams of their own, libgfortran and programs use
 * below stdio. Output goes to the hook, input exists for rank 0 only, and closing or replacing
 * a descriptor that all ranks share is a no-op or refused. Other descriptors are the kernel's. A rank
 * that is a process may replace its own; they are the kernel's then, too.
 */
#include "vp/libc/libc.h"

#include <sys/uio.h>
#include <unistd.h>

static int is_output(int fd)
{
    return (fd == 1 || fd == 2) && !vp_private.owns[fd];
}

VP_EXPORT ssize_t write(int fd, const void *data, size_t n)
{
    struct vp_fibre *f = vp_current();

    if (!f || !is_output(fd))
        return REAL(write)(fd, data, n);
    vp_hooks->write(f, fd, data, n);
    return (ssize_t)n;
}
ALIAS(__write, write);

VP_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    struct vp_fibre *f = vp_current();
    ssize_t total = 0;

    if (!f || !is_output(fd))
        return REAL(writev)(fd, parts, count);
    for (int i = 0; i < count; i++) {
        vp_hooks->write(f, fd, parts[i].iov_base, parts[i].iov_len);
        total += (ssize_t)parts[i].iov_len;
    }
    return total;
}

/* Whether a read of the running rank finds the end of the input at once. */
static int is_empty_input(int fd)
{
    struct vp_fibre *f = vp_current();

    return f && fd == 0 && !vp_private.owns[0] && vp_hooks->rank(f) != 0;
}

VP_EXPORT ssize_t read(int fd, void *out, size_t n)
{
    if (libc_entropy_is(fd))
        return libc_entropy_read(out, n);
    return is_empty_input(fd) ? 0 : REAL(read)(fd, out, n);
}
ALIAS(__read, read);

VP_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    ssize_t total = 0;

    if (libc_entropy_is(fd)) {
        for (int i = 0; i < count; i++)
            total += libc_entropy_read(parts[i].iov_base, parts[i].iov_len);
        return total;
    }
    return is_empty_input(fd) ? 0 : REAL(readv)(fd, parts, count);
}

/* The checked form; `room` is the size of the caller's array. */
ssize_t __read_chk(int, void *, size_t, size_t);
VP_EXPORT ssize_t __read_chk(int fd, void *out, size_t n, size_t room)
{
    if (n <= room && libc_entropy_is(fd))
        return libc_entropy_read(out, n);
    return is_empty_input(fd) ? 0 : REAL(__read_chk)(fd, out, n, room);
}

VP_EXPORT int isatty(int fd)
{
    if (!vp_current() || fd < 0 || fd > 2 || vp_private.owns[fd])
        return REAL(isatty)(fd);
    errno = ENOTTY;
    return 0;
}

VP_EXPORT int close(int fd)
{
    if (vp_current() && fd >= 0 && fd <= 2 && !vp_private.owns[fd])
        return 0;
    return REAL(close)(fd);
}
ALIAS(__close, close);

static int refuse(const char *what)
{
    vp_refuse(what, "open a file of its own, or run it with --host process");
    errno = ENOTSUP;
    return -1;
}

/* A rank that is a process puts its own in the place of a standard descriptor. */
static int replaced(int to)
{
    if (vp_is_process_host && vp_current() && to >= 0 && to <= 2)
        vp_private.owns[to] = 1;
    return to;
}

/* Replacing a descriptor by itself changes nothing and is allowed. */
VP_EXPORT int dup2(int from, int to)
{
    if (vp_fibre_only() && to >= 0 && to <= 2 && from != to)
        return refuse("dup2() onto a standard descriptor");
    return from == to ? REAL(dup2)(from, to) : replaced(REAL(dup2)(from, to));
}
ALIAS(__dup2, dup2);

VP_EXPORT int dup3(int from, int to, int flags)
{
    if (vp_fibre_only() && to >= 0 && to <= 2)
        return refuse("dup3() onto a standard descriptor");
    return replaced(REAL(dup3)(from, to, flags));
}
