/*
 * bell.c - a futex per process, in memory that the processes of a machine share.
 *
 * No ring is missed: the sleeper sets `asleep` and then reads the count; the ringer increments the
 * count and then reads `asleep`. At least one of them sees the other's write.
 *
 * The memory file has no name. Others open it through /proc while its creator keeps it open, so
 * nothing can be left behind.
 */
#include "engine/bell.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "base/sys.h"

_Static_assert(sizeof(struct bell) == 64, "a bell fills a cache line");

static size_t size(uint32_t count, size_t room)
{
    return count * sizeof(struct bell) + room;
}

static int map(struct bells *b, int fd, uint32_t count, uint32_t mine, size_t room)
{
    void *at = mmap(NULL, size(count, room), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        return 0;
    *b = (struct bells){at, count, mine, (char *)at + count * sizeof(struct bell), room};
    return 1;
}

/* Growing a file beyond its limit would raise a signal. */
static int may_grow(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

void bells_make(struct bells *b, uint32_t count, size_t room, struct bell_address *address)
{
    size_t bytes = size(count, room);
    int fd = may_grow(bytes) ? memfd_create("orrery-bells", MFD_CLOEXEC) : -1;

    *b = (struct bells){0};
    *address = (struct bell_address){sys_getpid(), fd};
    if (fd < 0 || (sys_ftruncate(fd, (off_t)bytes) == 0 && map(b, fd, count, 0, room)))
        return;
    sys_close(fd);
    address->fd = -1;
}

int bells_join(struct bells *b, uint32_t count, uint32_t mine, size_t room,
               const struct bell_address *address)
{
    char path[64];
    int fd, joined;

    *b = (struct bells){0};
    if (address->fd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)address->pid, (int)address->fd);
    fd = sys_open(path, O_RDWR, 0);
    if (fd < 0)
        return 0;
    joined = map(b, fd, count, mine, room);
    sys_close(fd);
    return joined;
}

void bells_leave(struct bells *b)
{
    if (b->at)
        munmap(b->at, size(b->count, b->room_bytes));
    *b = (struct bells){0};
}

void bells_ring(struct bells *b, uint32_t which)
{
    struct bell *bell = &b->at[which];

    __atomic_add_fetch(&bell->rings, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bell->asleep, __ATOMIC_SEQ_CST) &&
        __atomic_exchange_n(&bell->asleep, 0, __ATOMIC_SEQ_CST)) /* one wake for each sleep */
        syscall(SYS_futex, &bell->rings, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void bells_sleep(struct bells *b, uint32_t heard, uint64_t ns)
{
    struct timespec limit = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    struct bell *bell = &b->at[b->mine];
    int saved = errno; /* the program's errno: the last rank's data is still loaded */

    __atomic_store_n(&bell->asleep, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&bell->rings, __ATOMIC_SEQ_CST) == heard)
        syscall(SYS_futex, &bell->rings, FUTEX_WAIT, heard, &limit, NULL, 0);
    __atomic_store_n(&bell->asleep, 0, __ATOMIC_RELAXED);
    errno = saved;
}
