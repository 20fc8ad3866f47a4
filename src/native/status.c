/*
 * status.c - how processes failed, in a file that all of them write to (see status.h). It begins
 * with a mark: on another computer, the path may be that of any file.
 *
 *     | mark | a byte: interrupted | entries ...
 */
#define _GNU_SOURCE 1
#include "native/status.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t mark = 0x7375746174732e6f;
enum { INTERRUPTED = sizeof mark, FIRST };

enum kind { BEGUN = 'b', ENDED = 'e', FAILED = 'f', LEFT = 'l', KILLED = 'k' };

struct entry {
    uint8_t kind, status;
    uint16_t unused;
    int32_t pid; /* of one that was killed */
};

int native_status_make(void)
{
    char path[64];
    int fd = memfd_create("orrery-hybrid-status", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (write(fd, &mark, sizeof mark) != sizeof mark || ftruncate(fd, FIRST) != 0 ||
        setenv(NATIVE_STATUS, path, 1) != 0) {
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

static int read_entry(int fd, off_t number, struct entry *out)
{
    return fd >= 0 &&
           pread(fd, out, sizeof *out, FIRST + number * (off_t)sizeof *out) == (ssize_t)sizeof *out;
}

void native_status_read(int fd, struct native_status *out)
{
    struct entry e;
    int begun = 0;
    *out = (struct native_status){0};
    for (off_t i = 0; read_entry(fd, i, &e); i++) {
        begun += e.kind == BEGUN;
        out->ended += e.kind == ENDED;
        out->left += e.kind == LEFT;
        out->is_left_first |= e.kind == LEFT && !out->first;
        if (e.kind == FAILED && !out->first)
            out->first = e.status;
        if (e.kind == KILLED)
            out->killed = e.pid;
    }
    out->cut_off = begun - out->ended;
}

void native_status_interrupt(int fd)
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

int native_status_is_here(const char *path)
{
    int fd = open_file(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int native_status_is_interrupted(const char *path)
{
    int fd = open_file(path), is_interrupted = read_byte(fd, INTERRUPTED);
    if (fd >= 0)
        close(fd);
    return is_interrupted;
}

int native_status_is_left(const char *path)
{
    struct native_status ranks;
    int fd = open_file(path);
    native_status_read(fd, &ranks);
    if (fd >= 0)
        close(fd);
    return ranks.left > 0;
}

static void add(const char *path, enum kind kind, int status, int pid)
{
    struct entry e = {(uint8_t)kind, (uint8_t)status, 0, pid};
    int fd = open_file(path);
    if (fd < 0)
        return;
    (void)!write(fd, &e, sizeof e);
    close(fd);
}

void native_status_add(const char *path, int status)
{
    if (status & 0xff)
        add(path, FAILED, status, 0);
}

void native_status_begin(const char *path)
{
    add(path, BEGUN, 0, 0);
}

void native_status_end(const char *path)
{
    add(path, ENDED, 0, 0);
}

void native_status_leave(const char *path)
{
    add(path, LEFT, 0, 0);
}

void native_status_kill(const char *path, int pid)
{
    add(path, KILLED, 0, pid);
}
