/*
 * Descriptors 0, 1 and 2 of a rank, which libgfortran, C++ streams and programs use below stdio.
 * Output goes to the hook, only rank 0 has input, and closing or replacing a descriptor that all
 * ranks share does nothing or is refused. Other descriptors are left to the kernel. A rank that is
 * a process may replace its own descriptors; the kernel handles them, too, until the rank restores
 * the original ones. If a rank has reopened a standard stream (stdio.c), the descriptor refers to
 * the new file, too.
 */
#include "vp/libc/libc.h"

#include <sys/uio.h>
#include <unistd.h>

#include "base/sys.h"

#define ALL_DESCRIPTORS 65536u /* a program that closes up to here means all open descriptors */

static VP_OWN struct {
    dev_t device;
    ino_t inode;
} first[3]; /* the files at the start of the run */

void libc_descriptor_init(void)
{
    struct stat st;

    for (int fd = 0; fd < 3; fd++)
        if (sys_fstat(fd, &st) == 0) {
            first[fd].device = st.st_dev;
            first[fd].inode = st.st_ino;
        }
}

/* Is it a standard descriptor that the rank has not replaced? */
static int is_shared(int fd)
{
    return fd >= 0 && fd <= 2 && vp_current() && !vp_private.owns[fd] && !libc_stdio_own(fd);
}

static int is_output(int fd)
{
    return (fd == 1 || fd == 2) && is_shared(fd);
}

/* The kernel's descriptor for it. */
static int real_fd(int fd)
{
    FILE *own = fd >= 0 && fd <= 2 ? libc_stdio_own(fd) : NULL;

    return own ? fileno(own) : fd;
}

VP_EXPORT ssize_t write(int fd, const void *data, size_t n)
{
    struct vp_rank *f = vp_current();

    if (!f || !is_output(fd))
        return REAL(write)(real_fd(fd), data, n);
    vp_hooks->write(f, fd, data, n);
    return (ssize_t)n;
}
ALIAS(__write, write);

VP_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    struct vp_rank *f = vp_current();
    ssize_t total = 0;

    if (!f || !is_output(fd))
        return REAL(writev)(real_fd(fd), parts, count);
    for (int i = 0; i < count; i++) {
        vp_hooks->write(f, fd, parts[i].iov_base, parts[i].iov_len);
        total += (ssize_t)parts[i].iov_len;
    }
    return total;
}

/* Does a read by the running rank find the end of the input at once? */
static int is_empty_input(int fd)
{
    struct vp_rank *f = vp_current();

    return fd == 0 && is_shared(0) && vp_hooks->rank(f) != 0;
}

VP_EXPORT ssize_t read(int fd, void *out, size_t n)
{
    if (libc_entropy_is(fd))
        return libc_entropy_read(out, n);
    return is_empty_input(fd) ? 0 : REAL(read)(real_fd(fd), out, n);
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
    return is_empty_input(fd) ? 0 : REAL(readv)(real_fd(fd), parts, count);
}

/* The checked form; `room` is the size of the caller's array. */
ssize_t __read_chk(int, void *, size_t, size_t);
VP_EXPORT ssize_t __read_chk(int fd, void *out, size_t n, size_t room)
{
    if (n <= room && libc_entropy_is(fd))
        return libc_entropy_read(out, n);
    return is_empty_input(fd) ? 0 : REAL(__read_chk)(real_fd(fd), out, n, room);
}

VP_EXPORT int isatty(int fd)
{
    if (!is_shared(fd))
        return REAL(isatty)(real_fd(fd));
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

/* Fibres share descriptors with each other and with the simulator, so none may close them all. */
VP_EXPORT int close_range(unsigned from, unsigned to, int flags)
{
    if (!vp_current() || from > to || flags != 0)
        return REAL(close_range)(from, to, flags);
    for (; from <= 2 && from <= to; from++)
        close((int)from);
    if (from > to || (vp_current_sharing() && to >= ALL_DESCRIPTORS))
        return 0;
    return REAL(close_range)(from, to, flags);
}

VP_EXPORT void closefrom(int from)
{
    if (vp_current())
        close_range(from < 0 ? 0 : (unsigned)from, ~0u, 0);
    else
        REAL(closefrom)(from);
}

static int refuse(const char *what)
{
    vp_refuse(what, "run it with --host process, or reopen the stream with freopen()");
    errno = ENOTSUP;
    return -1;
}

/* A rank that is a process has replaced a standard descriptor, or has restored the original one. */
static int replaced(int to)
{
    struct stat st;

    if (!vp_current() || vp_current_sharing() || to < 0 || to > 2)
        return to;
    libc_stdio_replaced(to);
    vp_private.owns[to] = !(sys_fstat(to, &st) == 0 && st.st_dev == first[to].device &&
                            st.st_ino == first[to].inode);
    return to;
}

int libc_descriptor_replace(int from, int to)
{
    int rc = REAL(dup2)(from, to);

    if (rc >= 0)
        vp_private.owns[to] = 1;
    return rc;
}

/* Replacing a descriptor by itself changes nothing, so it is allowed. */
VP_EXPORT int dup2(int from, int to)
{
    if (vp_current_sharing() && to >= 0 && to <= 2 && from != to)
        return refuse("dup2() onto a standard descriptor");
    return from == to ? REAL(dup2)(from, to) : replaced(REAL(dup2)(from, to));
}
ALIAS(__dup2, dup2);

VP_EXPORT int dup3(int from, int to, int flags)
{
    if (vp_current_sharing() && to >= 0 && to <= 2)
        return refuse("dup3() onto a standard descriptor");
    return replaced(REAL(dup3)(from, to, flags));
}
