/*
 * guest_top.c - the first process of a rank, which the launcher started.
 *
 * It may be a script that starts the program. If it ends, and no process of the rank has called
 * MPI_Init, the simulator and the other ranks would wait for it for ever. So the first process has
 * an empty file without a name, its path is in the environment of all that it starts, and the one
 * that calls MPI_Init writes to it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hybrid/guest.h"

#define TOP_VARIABLE "ORRERY_HYBRID_TOP"

static struct {
    char path[64];
    pid_t pid; /* of the first process, if this is it */
} top;

static void __attribute__((constructor)) load(void)
{
    const char *before = getenv(TOP_VARIABLE);
    int fd;
    if (before) {
        snprintf(top.path, sizeof top.path, "%s", before);
        if (atoi(top.path + sizeof "/proc/" - 1) == getpid())
            top.pid = getpid(); /* another program took the place of the first one */
        return;
    }
    fd = memfd_create("orrery-hybrid", 0);
    if (fd < 0)
        return;
    top.pid = getpid();
    snprintf(top.path, sizeof top.path, "/proc/%d/fd/%d", (int)top.pid, fd);
    setenv(TOP_VARIABLE, top.path, 1);
}

void guest_top_mark(void)
{
    int fd = open(top.path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, "1", 1) != 1)
        top.pid = 0; /* not known: says nothing at the end */
    close(fd);
}

int guest_top_is_unmarked(void)
{
    struct stat st;
    return top.pid == getpid() && stat(top.path, &st) == 0 && st.st_size == 0;
}
