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
#include <signal.h>
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
} top;

void guest_top_fail(int status)
{
    if (top.status[0])
        native_status_add(top.status, status);
}

void guest_top_end(int status)
{
    if (top.pid != getpid() || top.is_over)
        return;
    top.is_over = 1;
    guest_top_fail(status);
    native_status_end(top.status);
}

static void on_end(int status, void *unused)
{
    (void)unused;
    guest_top_end(status);
}

/* ---- crashes ---- */

static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
#define SIGNALS (sizeof signals / sizeof signals[0])

/* What follows our handler. */
static struct sigaction after[SIGNALS];

/* UCX replaces sigaction(), to keep its own handlers. */
int __sigaction(int, const struct sigaction *, struct sigaction *);

/* The process ends as without this handler: a fault happens again. */
static void on_crash(int signal, siginfo_t *info, void *unused)
{
    (void)unused;
    guest_top_end(128 + signal);
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == signal)
            __sigaction(signal, &after[i], NULL);
    if (info->si_code <= 0) /* sent by a process */
        raise(signal);
}

/* Called before the program, so that a handler is that of a library, and ends the process. The
 * program may replace ours: then the launcher alone knows of a crash. */
static void watch_end(void)
{
    struct sigaction ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER};
    on_exit(on_end, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        if (__sigaction(signals[i], NULL, &after[i]) == 0 && after[i].sa_handler != SIG_IGN)
            __sigaction(signals[i], &ours, NULL);
}

static void __attribute__((constructor)) load(void)
{
    const char *before = getenv(TOP_VARIABLE), *status = getenv(NATIVE_STATUS);
    int fd;
    snprintf(top.status, sizeof top.status, "%s", status ? status : "");
    if (before) {
        snprintf(top.path, sizeof top.path, "%s", before);
        if (atoi(top.path + sizeof "/proc/" - 1) == getpid())
            top.pid = getpid(); /* another program took the place of the first one */
        if (top.pid)
            watch_end();
        return;
    }
    fd = memfd_create("orrery-hybrid", 0);
    if (fd < 0)
        return;
    top.pid = getpid();
    snprintf(top.path, sizeof top.path, "/proc/%d/fd/%d", (int)top.pid, fd);
    setenv(TOP_VARIABLE, top.path, 1);
    native_status_begin(top.status);
    watch_end();
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
