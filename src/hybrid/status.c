/*
 * status.c - see status.h. The file begins with a mark: on another computer, the path may be that
 * of any file.
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

int hybrid_status_make(void)
{
    char path[64];
    int fd = memfd_create("orrery-hybrid-status", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (write(fd, &mark, sizeof mark) != sizeof mark || setenv(HYBRID_STATUS, path, 1) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int hybrid_status_first(int fd)
{
    uint8_t status;
    return fd >= 0 && pread(fd, &status, 1, sizeof mark) == 1 ? status : 0;
}

void hybrid_status_add(const char *path, int status)
{
    uint8_t byte = (uint8_t)status;
    uint64_t found = 0;
    int fd = path && byte ? open(path, O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    if (pread(fd, &found, sizeof found, 0) == sizeof found && found == mark)
        (void)!write(fd, &byte, 1);
    close(fd);
}
