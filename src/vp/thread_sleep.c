/*
 * thread_sleep.c - asks the system whether all threads of this process sleep.
 *
 * Only a running thread can wake a sleeping one. Each thread is examined twice: if it slept both
 * times and was not scheduled in between, it slept all the time. If that holds for all threads,
 * there was a moment between the two looks when all of them slept, and none was left to wake
 * another. The first look may be that of an earlier call.
 *
 * A look reads two files of /proc for each thread, which stay open.
 *
 * This state is private to each process.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sys.h"
#include "vp/carrier.h"
#include "vp/vp_internal.h"

#define FD_MIN 200 /* above the descriptors that programs use */
#define TASKS "/proc/self/task"

/* A thread, and what the last look at it found. */
struct seen {
    long tid;
    uint64_t runs;       /* how often it was scheduled; NEVER: it was not asleep */
    int stat, schedstat; /* descriptors, or -1 */
};
#define NEVER UINT64_MAX

/* All threads of the process at the time of the last look. */
struct vp_threads_seen {
    uint32_t changes; /* vp_private.thread_changes then */
    uint32_t count, room;
    struct seen *all;
};

static int open_one(long tid, const char *name)
{
    char path[64];
    int fd, high;

    snprintf(path, sizeof path, TASKS "/%ld/%s", tid, name);
    fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return -1;
    high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FD_MIN);
    if (high < 0)
        return fd;
    sys_close(fd);
    return high;
}

static void forget(struct vp_threads_seen *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->all[i].stat >= 0)
            sys_close(r->all[i].stat);
        if (r->all[i].schedstat >= 0)
            sys_close(r->all[i].schedstat);
    }
    r->count = 0;
}

static void add(struct vp_threads_seen *r, long tid)
{
    if (r->count == r->room) {
        r->room = (uint32_t)array_room(r->room, r->count + 1, 8);
        r->all = realloc(r->all, r->room * sizeof *r->all); /* not of the memory that all share */
        if (!r->all)
            abort();
    }
    r->all[r->count++] = (struct seen){tid, NEVER, open_one(tid, "stat"),
                                       open_one(tid, "schedstat")};
}

/* Lists all threads again if any has started or ended since the last look. */
static int refresh(struct vp_threads_seen *r)
{
    uint32_t changes = __atomic_load_n(&vp_private.thread_changes, __ATOMIC_ACQUIRE);
    DIR *dir;

    if (r->count == vp_thread_count() && r->changes == changes)
        return 1;
    forget(r);
    dir = opendir(TASKS);
    if (!dir)
        return 0;
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            add(r, atol(e->d_name));
    closedir(dir);
    r->changes = changes;
    return 1;
}

static ssize_t read_text(int fd, char *text, size_t room)
{
    ssize_t n = fd >= 0 ? sys_pread(fd, text, room - 1, 0) : -1;

    text[n > 0 ? n : 0] = 0;
    return n;
}

/* Examines a thread; returns 0 if it is not asleep. *same: it has not run since the last look. */
static int look(struct seen *s, int *same)
{
    char text[400], state;
    const char *at;
    unsigned long long runs = 0;

    if (read_text(s->stat, text, sizeof text) < 0 && errno == ESRCH)
        return 1; /* it has ended */
    at = strrchr(text, ')');
    state = at && at[1] ? at[2] : 'R';
    if (state == 'Z' || state == 'X')
        return 1;
    if (state != 'S' || read_text(s->schedstat, text, sizeof text) <= 0 ||
        sscanf(text, "%*u %*u %llu", &runs) != 1) {
        s->runs = NEVER;
        return 0;
    }
    *same &= s->runs == runs;
    s->runs = runs;
    return 1;
}

/* Examines all threads but those known to sleep; returns 1 if all sleep. */
static int look_at_all(struct vp_threads_seen *r, int (*skip)(const void *, long), const void *arg,
                       int *same)
{
    *same = 1;
    for (uint32_t i = 0; i < r->count; i++)
        if (!skip(arg, r->all[i].tid) && !vp_carrier_is_idle(r->all[i].tid) &&
            !look(&r->all[i], same))
            return 0;
    return 1;
}

int vp_threads_sleep(int (*skip)(const void *arg, long tid), const void *arg)
{
    struct vp_threads_seen *r = vp_private.seen;
    int same;

    if (!r && !(r = vp_private.seen = calloc(1, sizeof *r)))
        return 0;
    if (!refresh(r) || !look_at_all(r, skip, arg, &same))
        return 0;
    return same || (look_at_all(r, skip, arg, &same) && same);
}
