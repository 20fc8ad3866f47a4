/*
 * status.c - see status.h. The file begins with a mark: on another computer, the path may be that
 * of any file.
 *
 *     | mark | a byte: interrupted | statuses ...
 */
#define _GNU_SOURCE 1
#include "hybrid/status.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t mark = 0x7375746174732e6f;
enum { INTERRUPTED = sizeof mark, FIRST };

int hybrid_status_make(void)
{
    char path[64];
    int fd = memfd_create("orrery-hybrid-status", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (write(fd, &mark, sizeof mark) != sizeof mark || ftruncate(fd, FIRST) != 0 ||
        setenv(HYBRID_STATUS, path, 1) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int read_byte(int fd, off_t at)
{
    uint8_t byte;
    return fd >= 0 && pread(fd, &byte, 1, at) == 1 ? byte : 0;
}

int hybrid_status_first(int fd)
{
    return read_byte(fd, FIRST);
}

void hybrid_status_interrupt(int fd)
{
    uint8_t byte = 1;
    if (fd >= 0)
        (void)!pwrite(fd, &byte, 1, INTERRUPTED);
}

/* Returns -1 if the file is not there, or is another one. */
static int open_file(const char *path)
{
    uint64_t found = 0;
    int fd = path ? open(path, O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0 && pread(fd, &found, sizeof found, 0) == sizeof found && found == mark)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int hybrid_status_is_here(const char *path)
{
    int fd = open_file(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int hybrid_status_is_interrupted(const char *path)
{
    int fd = open_file(path), is_interrupted = read_byte(fd, INTERRUPTED);
    if (fd >= 0)
        close(fd);
    return is_interrupted;
}

void hybrid_status_add(const char *path, int status)
{
    uint8_t byte = (uint8_t)status;
    int fd = byte ? open_file(path) : -1;
    if (fd < 0)
        return;
    (void)!write(fd, &byte, 1);
    close(fd);
}
