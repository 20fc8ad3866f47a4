/*
 * The standard streams of the ranks.
 *
 * `stdout` and `stderr` are unbuffered streams of our own: what a rank prints reaches the hook at
 * once, in the rank's context, where it is split into lines. Everything in libc that prints uses
 * these two variables (printf, perror, assert, C++ streams). Descriptors 1 and 2 of a rank lead to
 * the same hook (descriptor.c).
 *
 * `stdin` of rank 0 is the real input; that of all other ranks is empty, as under mpiexec. Its
 * stream is unbuffered, too, so that all its state (end of file, a character pushed back) is in the
 * FILE itself, which is private data: each rank has its own. What was read ahead for rank 0 is kept
 * here. Reading input takes host time, not virtual time.
 *
 * A rank cannot take these streams away from other ranks: closing succeeds and does nothing, and
 * changes to buffering are ignored. A stream that a rank reopens (per-rank log files) refers to
 * that rank's file from then on, through a stream of its own (struct vp_extra).
 */
#include "vp/libc/libc.h"

#include <stdarg.h>
#include <string.h>

#include "base/sys.h"

static VP_OWN FILE *streams[3]; /* NULL until vp_libc_early */

static struct {
    size_t at, end;
    char data[8192];
} input;

/* 0, 1, 2 if the stream is one of them, else -1. */
static int standard_fd(const FILE *stream)
{
    for (int fd = 0; fd < 3; fd++)
        if (stream == streams[fd] && stream)
            return fd;
    return -1;
}

FILE *libc_stdio_own(int fd)
{
    const struct vp_rank *f = vp_current();

    return f && f->extra ? f->extra->streams[fd] : NULL;
}

/* The rank's own stream behind a standard stream; NULL if it has none, or if this is not a standard
 * stream. */
static FILE *behind(const FILE *stream)
{
    int fd = standard_fd(stream);

    return fd >= 0 ? libc_stdio_own(fd) : NULL;
}

/* ---- the streams ---- */

static ssize_t write_stream(void *cookie, const char *text, size_t n)
{
    struct vp_rank *f = vp_current();
    int fd = (int)(intptr_t)cookie;
    FILE *own = libc_stdio_own(fd);

    if (own)
        return (ssize_t)fwrite(text, 1, n, own);
    if (f && !vp_private.owns[fd])
        vp_hooks->write(f, fd, text, n);
    else if (sys_write_all(fd, text, n) != 0)
        return 0;
    return (ssize_t)n;
}

static ssize_t read_stream(void *cookie, char *out, size_t n)
{
    struct vp_rank *f = vp_current();
    FILE *own = libc_stdio_own(0);

    (void)cookie;
    if (own)
        return (ssize_t)fread(out, 1, n, own);
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

static int seek_stream(void *cookie, off64_t *at, int whence)
{
    FILE *own = libc_stdio_own((int)(intptr_t)cookie);

    if (own && fseeko64(own, *at, whence) == 0) {
        *at = ftello64(own);
        return 0;
    }
    if (!own)
        errno = ESPIPE;
    return -1;
}

static FILE *open_stream(int fd)
{
    cookie_io_functions_t io = {.read = fd == 0 ? read_stream : NULL,
                                .write = fd == 0 ? NULL : write_stream,
                                .seek = seek_stream};
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

/* ---- functions on streams ---- */

VP_EXPORT int fileno(FILE *stream)
{
    FILE *own = behind(stream);
    int fd = own ? -1 : standard_fd(stream);

    return fd >= 0 ? fd : REAL(fileno)(own ? own : stream);
}
ALIAS(fileno_unlocked, fileno);

VP_EXPORT int setvbuf(FILE *restrict stream, char *restrict buffer, int mode, size_t size)
{
    FILE *own = behind(stream);

    if (!own && standard_fd(stream) >= 0)
        return 0;
    return REAL(setvbuf)(own ? own : stream, buffer, mode, size);
}

VP_EXPORT void setbuf(FILE *restrict stream, char *restrict buffer)
{
    setvbuf(stream, buffer, buffer ? _IOFBF : _IONBF, BUFSIZ);
}

VP_EXPORT void setbuffer(FILE *restrict stream, char *restrict buffer, size_t size)
{
    setvbuf(stream, buffer, buffer ? _IOFBF : _IONBF, size);
}

VP_EXPORT void setlinebuf(FILE *stream)
{
    setvbuf(stream, NULL, _IOLBF, 0);
}

VP_EXPORT int fflush(FILE *stream)
{
    FILE *own = stream ? behind(stream) : NULL;

    return REAL(fflush)(own ? own : stream);
}

VP_EXPORT int fflush_unlocked(FILE *stream)
{
    FILE *own = stream ? behind(stream) : NULL;

    return REAL(fflush_unlocked)(own ? own : stream);
}

static int close_own(int fd)
{
    FILE *own = libc_stdio_own(fd);

    if (!own)
        return 0;
    vp_current()->extra->streams[fd] = NULL;
    return REAL(fclose)(own);
}

void libc_stdio_replaced(int fd)
{
    close_own(fd);
}

VP_EXPORT int fclose(FILE *stream)
{
    int fd = vp_current() ? standard_fd(stream) : -1;

    return fd >= 0 ? close_own(fd) : REAL(fclose)(stream);
}

/* For a rank that is a process the file becomes its descriptor, too, for the processes that it
 * starts. */
static FILE *reopen(int fd, const char *path, const char *mode)
{
    FILE *own;

    if (!path) /* only another mode for the same file: keep the stream */
        return streams[fd];
    fflush(streams[fd]);
    own = REAL(fopen)(path, mode);
    close_own(fd);
    if (!own)
        return NULL;
    if (fd == 2)
        REAL(setvbuf)(own, NULL, _IONBF, 0);
    vp_extra_get()->streams[fd] = own;
    if (!vp_current_sharing())
        libc_descriptor_replace(REAL(fileno)(own), fd);
    clearerr(streams[fd]);
    return streams[fd];
}

VP_EXPORT FILE *freopen(const char *restrict path, const char *restrict mode, FILE *restrict stream)
{
    int fd = vp_current() ? standard_fd(stream) : -1;

    return fd >= 0 ? reopen(fd, path, mode) : REAL(freopen)(path, mode, stream);
}

VP_EXPORT FILE *freopen64(const char *restrict path, const char *restrict mode,
                          FILE *restrict stream)
{
    int fd = vp_current() ? standard_fd(stream) : -1;

    return fd >= 0 ? reopen(fd, path, mode) : REAL(freopen64)(path, mode, stream);
}

/* Flushes the rank's files, as exit() does. */
void vp_streams_end(void)
{
    for (int fd = 0; fd < 3; fd++)
        close_own(fd);
    if (vp_current_sharing())
        libc_commands_end();
    REAL(fflush)(NULL);
}

void libc_streams_drop(FILE **own)
{
    for (int fd = 0; fd < 3; fd++)
        if (own[fd])
            REAL(fclose)(own[fd]);
}

VP_EXPORT FILE *fdopen(int fd, const char *mode)
{
    if (vp_current() && fd >= 0 && fd < 3 && streams[fd] && !vp_private.owns[fd])
        return streams[fd];
    if (mode && libc_entropy_is(fd)) {
        sys_close(fd);
        return libc_entropy_stream(mode);
    }
    return REAL(fdopen)(fd, mode);
}

/* ---- printing to a descriptor: libc would not use our write() ---- */

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

/* The checked forms, which fortified programs call. */
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
