/*
 * Preloaded into `orrery`: whoever opens a part of a trace to read it creates the file `merging` in
 * the folder ORRERY_TEST_GATE, and waits there until there is a file `go`, as if disk and trace
 * were large.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void wait_at_gate(const char *folder)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/merging", folder);
    close(open_file(path, O_CREAT | O_WRONLY, 0666));
    snprintf(path, sizeof path, "%s/go", folder);
    while (access(path, F_OK) != 0)
        usleep(1000);
}

int open(const char *path, int flags, ...)
{
    const char *folder = getenv("ORRERY_TEST_GATE");
    mode_t mode = 0;
    va_list rest;

    va_start(rest, flags);
    if (flags & (O_CREAT | O_TMPFILE))
        mode = va_arg(rest, mode_t);
    va_end(rest);
    if (folder && strstr(path, ".part-") && (flags & O_ACCMODE) == O_RDONLY)
        wait_at_gate(folder);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
