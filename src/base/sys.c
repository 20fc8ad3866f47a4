/*
 * sys.c - loops over raw reads and writes. Interrupted calls are repeated; a write that makes no
 * progress counts as a full device, so no loop here can spin.
 */
#include "base/sys.h"

#include <errno.h>
#include <stdlib.h>

int sys_write_all(int fd, const void *data, size_t size)
{
    const char *next = data;
    while (size > 0) {
        ssize_t n = sys_write(fd, next, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return -1;
        next += n;
        size -= (size_t)n;
    }
    return 0;
}

int sys_random(void *out, size_t size)
{
    char *next = out;
    while (size > 0) {
        ssize_t n = (ssize_t)syscall(SYS_getrandom, next, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        next += n;
        size -= (size_t)n;
    }
    return 0;
}

ssize_t sys_read_text(const char *path, char *text, size_t size)
{
    size_t length = 0;
    int fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return -1;
    while (length < size - 1) {
        ssize_t n = sys_read(fd, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int saved = errno;
            sys_close(fd);
            errno = saved;
            return -1;
        }
        if (n == 0)
            break;
        length += (size_t)n;
    }
    sys_close(fd);
    text[length] = '\0';
    return (ssize_t)length;
}

uint64_t sys_kept_waiting(const char *schedstat)
{
    char text[128], *at;

    if (sys_read_text(schedstat, text, sizeof text) <= 0)
        return 0;
    strtoull(text, &at, 10); /* how long it ran */
    return strtoull(at, NULL, 10);
}
