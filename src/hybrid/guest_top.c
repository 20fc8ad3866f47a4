/*
 * guest_top.c - the first process of a rank, which the launcher started.
 *
 * It may be a script that starts the program. If it ends, and no process of the rank has called
 * MPI_Init, the simulator and the other ranks would wait for it for ever. So the first process has
 * an empty file without a name, its path is in the environment of all that it starts, and the one
 * that calls MPI_Init writes to it.
 *
 * If it fails, by a status or a signal, it says so to `orrery hybrid` (status.h).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hybrid/guest.h"
#include "native/status.h"

#define TOP_VARIABLE "ORRERY_HYBRID_TOP"

static struct {
    char path[64];
    pid_t pid;       /* of the first process, if this is it */
    char status[64]; /* path of the file for statuses, or empty */
    int is_over;     /* it has said how it ends */
    pid_t joined;    /* the process of the rank that has called MPI_Init, if this is it */
} top;

void guest_top_fail(int status)
{
    if (top.status[0])
        native_status_add(top.status, status);
}

/* Has this process joined the simulator, and ends without leaving it? */
static void note_leaving(int status)
{
    if (status || top.joined != getpid() || !guest.is_open || guest.is_over)
        return;
    top.joined = 0;
    native_status_leave(top.status);
}

void guest_top_end(int status)
{
    if (top.status[0])
        note_leaving(status);
    if (top.pid != getpid() || top.is_over)
        return;
    top.is_over = 1;
    guest_top_fail(status);
    native_status_end(top.status);
}

static void __attribute__((constructor)) load(void)
{
    const char *before = getenv(TOP_VARIABLE), *status = getenv(NATIVE_STATUS);
    int fd;
    native_ends_watch(guest_top_end, guest_top_fail);
    snprintf(top.status, sizeof top.status, "%s", status ? status : "");
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
    native_status_begin(top.status);
}

void guest_top_mark(void)
{
    int fd = open(top.path, O_WRONLY | O_CLOEXEC);
    top.joined = getpid();
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
