/*
 * Random bytes of the system: getrandom, getentropy, arc4random, /dev/urandom and /dev/random,
 * AT_RANDOM, and std::random_device, which asks the processor.
 *
 * Two runs of a program must be identical. So by default each rank has its own sequence of bytes,
 * derived from a seed (--entropy), the rank's number and how much it has drawn. Word i is step i of
 * splitmix64, so a rank keeps only one number.
 *
 * A rank that opens the device gets the real one, and the bytes it read()s are replaced. A bit for
 * each descriptor marks these. Since descriptors are closed in many ways, the system is asked
 * whether a marked descriptor is still open on the device.
 */
#include "vp/libc/libc.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sys.h"

#define GETENTROPY_MAX 256
#define GETRANDOM_MAX 33554431 /* bytes in a call, the system's limit */
#define GETRANDOM_FLAGS 7u     /* GRND_NONBLOCK, GRND_RANDOM, GRND_INSECURE */
#define MEMORY_MAJOR 1         /* the devices: 1:8 and 1:9 */
#define FD_MAX (64 * (int)(sizeof vp_private.entropy_fds / sizeof vp_private.entropy_fds[0]))

static struct {
    int real;
    uint64_t seed;
} entropy;

void vp_entropy_init(int real, uint64_t seed)
{
    entropy.real = real;
    entropy.seed = seed;
}

static int is_virtual(void)
{
    return vp_current() && !entropy.real;
}

/* ---- the sequence ---- */

/* Threads of a rank may draw concurrently. */
static uint64_t draw(void)
{
    uint64_t state = entropy.seed, at;

    at = __atomic_fetch_add(&vp_extra_get()->entropy, 1, __ATOMIC_RELAXED);
    state = rng_splitmix(&state) ^ vp_hooks->rank(vp_current());
    state = rng_splitmix(&state) + at * RNG_SPLITMIX_STEP;
    return rng_splitmix(&state);
}

static void fill(void *out, size_t n)
{
    for (size_t done = 0; done < n; done += sizeof(uint64_t)) {
        uint64_t word = draw();

        memcpy((char *)out + done, &word, n - done < sizeof word ? n - done : sizeof word);
    }
}

/* ---- functions ---- */

VP_EXPORT ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    if (!is_virtual() || (flags & ~GETRANDOM_FLAGS))
        return REAL(getrandom)(out, n, flags);
    if (n > GETRANDOM_MAX)
        n = GETRANDOM_MAX;
    fill(out, n);
    return (ssize_t)n;
}

VP_EXPORT int getentropy(void *out, size_t n)
{
    if (!is_virtual() || n > GETENTROPY_MAX)
        return REAL(getentropy)(out, n);
    fill(out, n);
    return 0;
}

/* glibc 2.36 */
uint32_t arc4random(void);
void arc4random_buf(void *, size_t);
uint32_t arc4random_uniform(uint32_t);

VP_EXPORT uint32_t arc4random(void)
{
    return is_virtual() ? (uint32_t)draw() : REAL(arc4random)();
}

VP_EXPORT void arc4random_buf(void *out, size_t n)
{
    if (is_virtual())
        fill(out, n);
    else
        REAL(arc4random_buf)(out, n);
}

/* Uniform below `bound`, without bias: values in the incomplete interval at the low end are
 * rejected. */
VP_EXPORT uint32_t arc4random_uniform(uint32_t bound)
{
    uint32_t value, least = bound ? -bound % bound : 0;

    if (!is_virtual())
        return REAL(arc4random_uniform)(bound);
    if (bound < 2)
        return 0;
    do
        value = (uint32_t)draw();
    while (value < least);
    return value % bound;
}

/* 16 bytes for each process, here for each rank. */
VP_EXPORT unsigned long getauxval(unsigned long type)
{
    if (type != AT_RANDOM || !is_virtual())
        return REAL(getauxval)(type);
    struct libc_extra *x = libc_extra_of(vp_extra_get());
    if (!x->has_at_random)
        fill(x->at_random, sizeof x->at_random);
    x->has_at_random = 1;
    return (uintptr_t)x->at_random;
}

/* std::random_device::_M_getval, whatever source the object was made with. */
unsigned _ZNSt13random_device9_M_getvalEv(void *);
VP_EXPORT unsigned _ZNSt13random_device9_M_getvalEv(void *device)
{
    return is_virtual() ? (unsigned)draw() : REAL(_ZNSt13random_device9_M_getvalEv)(device);
}

/* ---- the devices ---- */

static int is_device(const char *path)
{
    return strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0;
}

/* Called after an open, successful or not. */
static int note(int fd, const char *path)
{
    if (fd >= 0 && fd < FD_MAX && is_virtual() && is_device(path))
        vp_private.entropy_fds[fd / 64] |= (uint64_t)1 << fd % 64;
    return fd;
}

int libc_entropy_is(int fd)
{
    struct stat st;

    if (fd < 0 || fd >= FD_MAX || !(vp_private.entropy_fds[fd / 64] >> fd % 64 & 1) ||
        !is_virtual())
        return 0;
    if (sys_fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) == MEMORY_MAJOR &&
        (minor(st.st_rdev) == 8 || minor(st.st_rdev) == 9))
        return 1;
    vp_private.entropy_fds[fd / 64] &= ~((uint64_t)1 << fd % 64); /* closed and reused since */
    return 0;
}

ssize_t libc_entropy_read(void *out, size_t n)
{
    fill(out, n);
    return (ssize_t)n;
}

static ssize_t read_stream(void *cookie, char *out, size_t n)
{
    (void)cookie;
    return libc_entropy_read(out, n);
}

FILE *libc_entropy_stream(const char *mode)
{
    return fopencookie(NULL, mode, (cookie_io_functions_t){.read = read_stream});
}

/* libc does not use our read() for streams. libstdc++ uses only the stream's descriptor, and needs
 * it. */
static FILE *stream_of(FILE *stream, const char *path, const char *mode, const void *caller)
{
    if (!stream || !is_virtual() || !is_device(path) || mode[0] != 'r' || strchr(mode, '+'))
        return stream;
    if (libc_from_runtime(caller)) {
        note(fileno(stream), path);
        return stream;
    }
    REAL(fclose)(stream);
    return libc_entropy_stream(mode);
}

VP_EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
    return stream_of(REAL(fopen)(path, mode), path, mode, __builtin_return_address(0));
}

VP_EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    return stream_of(REAL(fopen64)(path, mode), path, mode, __builtin_return_address(0));
}

/* The mode argument, if the flags say that there is one. */
#define MODE(flags)                                             \
    (__extension__({                                            \
        mode_t mode_ = 0;                                       \
        if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { \
            va_list args_;                                      \
            va_start(args_, flags);                             \
            mode_ = va_arg(args_, mode_t);                      \
            va_end(args_);                                      \
        }                                                       \
        mode_;                                                  \
    }))

VP_EXPORT int open(const char *path, int flags, ...)
{
    return note(REAL(open)(path, flags, MODE(flags)), path);
}
ALIAS(__open, open);

VP_EXPORT int open64(const char *path, int flags, ...)
{
    return note(REAL(open64)(path, flags, MODE(flags)), path);
}
ALIAS(__open64, open64);

VP_EXPORT int openat(int at, const char *path, int flags, ...)
{
    return note(REAL(openat)(at, path, flags, MODE(flags)), path);
}

VP_EXPORT int openat64(int at, const char *path, int flags, ...)
{
    return note(REAL(openat64)(at, path, flags, MODE(flags)), path);
}

/* The checked forms, as fortified programs call them. */
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

VP_EXPORT int __open_2(const char *path, int flags)
{
    return note(REAL(__open_2)(path, flags), path);
}

VP_EXPORT int __open64_2(const char *path, int flags)
{
    return note(REAL(__open64_2)(path, flags), path);
}

VP_EXPORT int __openat_2(int at, const char *path, int flags)
{
    return note(REAL(__openat_2)(at, path, flags), path);
}

VP_EXPORT int __openat64_2(int at, const char *path, int flags)
{
    return note(REAL(__openat64_2)(at, path, flags), path);
}
