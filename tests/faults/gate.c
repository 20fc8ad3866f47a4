/*
 * Preloaded into `orrery` and all that it starts. In the folder ORRERY_TEST_GATE,
 *
 *   - whoever opens a part of a trace to read it creates the file `merging`, and waits until there
 *     is a file `go`, as if disk and trace were large;
 *   - a program whose name is that of ORRERY_TEST_HOLD creates a file `started.PID`, and waits in
 *     the same way before it does anything, as if its work took long.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int open_file(const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void create(const char *path)
{
    syscall(SYS_close, open_file(path, O_CREAT | O_WRONLY, 0666));
}

/* Not the time of a simulator. */
static void wait_at_gate(const char *folder)
{
    const struct timespec pause = {0, 5000000};
    char path[4096];

    snprintf(path, sizeof path, "%s/go", folder);
    while (syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0)
        syscall(SYS_nanosleep, &pause, NULL);
}

static void __attribute__((constructor)) hold(void)
{
    const char *folder = getenv("ORRERY_TEST_GATE"), *name = getenv("ORRERY_TEST_HOLD");
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    path[n > 0 ? n : 0] = 0;
    if (!folder || !name || !strrchr(path, '/') || strcmp(strrchr(path, '/') + 1, name) != 0)
        return;
    snprintf(path, sizeof path, "%s/started.%d", folder, (int)getpid());
    create(path);
    wait_at_gate(folder);
}

int open(const char *path, int flags, ...)
{
    const char *folder = getenv("ORRERY_TEST_GATE");
    char merging[4096];
    mode_t mode = 0;
    va_list rest;

    va_start(rest, flags);
    if (flags & (O_CREAT | O_TMPFILE))
        mode = va_arg(rest, mode_t);
    va_end(rest);
    if (folder && strstr(path, ".part-") && (flags & O_ACCMODE) == O_RDONLY) {
        snprintf(merging, sizeof merging, "%s/merging", folder);
        create(merging);
        wait_at_gate(folder);
    }
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
