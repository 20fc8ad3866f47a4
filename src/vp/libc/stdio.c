/*
 * The standard streams of the ranks.
 *
 * `stdout` and `stderr` are streams of our own without a buffer: what a rank prints reaches the
 * hook at once, in its context, and is made into lines there. Everything in libc that prints
 * goes through these two variables (printf, perror, assert, C++ streams). Descriptors 1 and 2
 * of a rank lead to the same hook (descriptor.c).
 *
 * `stdin` of rank 0 is the real input, that of all others is empty, as under mpiexec. Its stream
 * has no buffer either, so that all it knows (end of file, a character pushed back) is in the
 * FILE itself, which is private data: each rank has its own. What was read ahead for rank 0 is kept
 * here. Reading input takes host time, not virtual time.
 *
 * A rank cannot take these streams away from the others: closing succeeds and does nothing,
 * buffering is left as it is, reopening is refused.
 */
#include "vp/libc/libc.h"

#include <stdarg.h>
#include <string.h>

#include "base/sys.h"

static FILE *streams[3]; /* NULL until vp_libc_early */

static struct {
    size_t at, end;
    char data[8192];
} input;

int libc_stdio_fd(const FILE *stream)
{
    for (int fd = 0; fd < 3; fd++)
        if (stream == streams[fd] && stream && !vp_private.reopened[fd])
            return fd;
    return -1;
}

/* ---- the streams ---- */

static ssize_t write_stream(void *cookie, const char *text, size_t n)
{
    struct vp_fibre *f = vp_current();
    int fd = (int)(intptr_t)cookie;

    if (f && !vp_private.owns[fd])
        vp_hooks->write(f, fd, text, n);
    else if (sys_write_all(fd, text, n) != 0)
        return 0;
    return (ssize_t)n;
}

static ssize_t read_stream(void *cookie, char *out, size_t n)
{
    struct vp_fibre *f = vp_current();

    (void)cookie;
    if (f && vp_hooks->rank(f) != 0)
        return 0;
    if (input.at == input.end) {
        ssize_t got = sys_read(0, input.data, sizeof input.data);
        if (got <= 0)
            return got;
        input.at = 0;
        input.end = (size_t)got;
    }
    if (n > input.end - input.at)
        n = input.end - input.at;
    memcpy(out, input.data + input.at, n);
    input.at += n;
    return (ssize_t)n;
}

static FILE *open_stream(int fd)
{
    cookie_io_functions_t io = {.read = fd == 0 ? read_stream : NULL,
                                .write = fd == 0 ? NULL : write_stream};
    FILE *stream = fopencookie((void *)(intptr_t)fd, fd == 0 ? "r" : "w", io);

    if (stream)
        REAL(setvbuf)(stream, NULL, _IONBF, 0);
    return stream;
}

void libc_stdio_early(void)
{
    for (int fd = 0; fd < 3; fd++) {
        streams[fd] = open_stream(fd);
        if (!streams[fd])
            return;
    }
    stdin = streams[0];
    stdout = streams[1];
    stderr = streams[2];
}

void libc_stdio_init(void)
{
    if (streams[0])
        vp_image_add(streams[0], sizeof *streams[0]);
}

/* ---- what programs do to streams ---- */

VP_EXPORT int fileno(FILE *stream)
{
    int fd = libc_stdio_fd(stream);

    return fd >= 0 ? fd : REAL(fileno)(stream);
}
ALIAS(fileno_unlocked, fileno);

VP_EXPORT int setvbuf(FILE *restrict stream, char *restrict buffer, int mode, size_t size)
{
    return libc_stdio_fd(stream) >= 0 ? 0 : REAL(setvbuf)(stream, buffer, mode, size);
}

VP_EXPORT void setbuf(FILE *restrict stream, char *restrict buffer)
{
    if (libc_stdio_fd(stream) < 0)
        REAL(setbuf)(stream, buffer);
}

VP_EXPORT void setbuffer(FILE *restrict stream, char *restrict buffer, size_t size)
{
    if (libc_stdio_fd(stream) < 0)
        REAL(setbuffer)(stream, buffer, size);
}

VP_EXPORT void setlinebuf(FILE *stream)
{
    if (libc_stdio_fd(stream) < 0)
        REAL(setlinebuf)(stream);
}

VP_EXPORT int fclose(FILE *stream)
{
    if (vp_current() && libc_stdio_fd(stream) >= 0)
        return 0;
    return REAL(fclose)(stream);
}

static const char *const reopen_name[3] = {"freopen() of stdin", "freopen() of stdout",
                                           "freopen() of stderr"};

static FILE *refuse_reopen(int fd)
{
    vp_refuse(reopen_name[fd], "open a file of its own, or run it with --host process");
    errno = ENOTSUP;
    return NULL;
}

VP_EXPORT FILE *freopen(const char *restrict path, const char *restrict mode, FILE *restrict stream)
{
    int fd = vp_current() ? libc_stdio_fd(stream) : -1;

    if (fd >= 0 && !vp_is_process_host)
        return refuse_reopen(fd);
    if (fd >= 0)
        vp_private.reopened[fd] = 1; /* a file of this rank from now on */
    return REAL(freopen)(path, mode, stream);
}

VP_EXPORT FILE *freopen64(const char *restrict path, const char *restrict mode,
                          FILE *restrict stream)
{
    int fd = vp_current() ? libc_stdio_fd(stream) : -1;

    if (fd >= 0 && !vp_is_process_host)
        return refuse_reopen(fd);
    if (fd >= 0)
        vp_private.reopened[fd] = 1; /* a file of this rank from now on */
    return REAL(freopen64)(path, mode, stream);
}

VP_EXPORT FILE *fdopen(int fd, const char *mode)
{
    if (vp_current() && fd >= 0 && fd < 3 && streams[fd])
        return streams[fd];
    if (mode && libc_entropy_is(fd)) {
        sys_close(fd);
        return libc_entropy_stream(mode);
    }
    return REAL(fdopen)(fd, mode);
}

/* ---- printing to a descriptor: libc would write without asking us ---- */

VP_EXPORT int vdprintf(int fd, const char *restrict format, va_list args)
{
    if (vp_current() && (fd == 1 || fd == 2) && streams[fd])
        return vfprintf(streams[fd], format, args);
    return REAL(vdprintf)(fd, format, args);
}

VP_EXPORT int dprintf(int fd, const char *restrict format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = vdprintf(fd, format, args);
    va_end(args);
    return rc;
}

/* The checked forms, as fortified programs call them. */
int __vdprintf_chk(int, int, const char *, va_list);
int __dprintf_chk(int, int, const char *, ...);
int __vfprintf_chk(FILE *, int, const char *, va_list);

VP_EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list args)
{
    if (vp_current() && (fd == 1 || fd == 2) && streams[fd])
        return __vfprintf_chk(streams[fd], flag, format, args);
    return REAL(__vdprintf_chk)(fd, flag, format, args);
}

VP_EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int rc = __vdprintf_chk(fd, flag, format, args);
    va_end(args);
    return rc;
}
