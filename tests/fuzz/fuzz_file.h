/* Bytes of a fuzz target as a file, for readers that want a name. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_PATH_MAX 40

/* The caller closes the descriptor. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH_MAX])
{
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
        abort();
    snprintf(path, FUZZ_PATH_MAX, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
