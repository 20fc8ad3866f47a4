/*
 * guest_rest.c - do threads compute that are not in a call, or do they wait for others?
 *
 * While one thread is in a call, the simulator must know whether another one may still do
 * something at the present virtual time. Threads in calls and those that wait for the end of
 * another are counted (guest_threads.c). What else a thread may wait for, only the system knows: a
 * thread of ours asks it. A thread that slept at two looks, and was not scheduled in between, slept
 * all the time. One that runs for longer than PATIENCE_NS while no call begins or ends is assumed
 * to spin until another thread gets its message.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hybrid/guest.h"

#define LOOK_NS 1000000
#define PATIENCE_NS 20000000
#define STACK_BYTES ((size_t)256 << 10)

/* What was seen of the threads that are not in calls. */
struct look {
    uint64_t serial; /* guest.serial then */
    uint64_t ran;    /* nanoseconds of processor time */
    uint64_t turns;  /* how often they were scheduled */
    uint32_t count;  /* of them */
    int is_asleep;   /* all are */
};

static int read_text(pid_t tid, const char *name, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

static void add(struct look *look, pid_t tid)
{
    char text[512];
    unsigned long long ran = 0, waited = 0, turns = 0;
    if (!read_text(tid, "schedstat", text, sizeof text))
        return; /* it has ended */
    sscanf(text, "%llu %llu %llu", &ran, &waited, &turns);
    look->ran += ran;
    look->turns += turns;
    look->count++;
    if (!read_text(tid, "stat", text, sizeof text))
        return;
    const char *state = strrchr(text, ')');
    look->is_asleep &= !state || (state[2] != 'R' && state[2] != 'D');
}

static int is_in_call(pid_t tid)
{
    for (const struct guest_thread *t = guest.threads; t; t = t->next)
        if (t->is_used && t->is_counted && t->tid == tid)
            return 1;
    return 0;
}

/* With the lock. */
static struct look take_look(pid_t self)
{
    struct look look = {.serial = guest.serial, .is_asleep = 1};
    DIR *all = opendir("/proc/self/task");
    for (const struct dirent *e; all && (e = readdir(all)) != NULL;) {
        pid_t tid = (pid_t)atoi(e->d_name);
        if (tid && tid != self && !is_in_call(tid))
            add(&look, tid);
    }
    if (all)
        closedir(all);
    return look;
}

static void compare(const struct look *last, const struct look *now, uint64_t *since)
{
    int is_same = last->serial == now->serial && last->count == now->count;
    if (!is_same)
        *since = now->ran;
    if (guest.rests || !is_same || atomic_load(&guest.arriving))
        return;
    if ((now->is_asleep && last->is_asleep && now->turns == last->turns) ||
        now->ran - *since > PATIENCE_NS)
        guest_say(HYBRID_RESTS, 0);
}

/* It makes no calls. */
static struct guest_thread watcher = {.number = UINT32_MAX};

static void *watch(void *unused)
{
    const struct timespec rest = {.tv_nsec = LOOK_NS};
    pid_t self = (pid_t)syscall(SYS_gettid);
    struct look last = {0};
    uint64_t since = 0;
    (void)unused;
    for (int is_over = 0; !is_over;) {
        syscall(SYS_nanosleep, &rest, NULL);
        pthread_mutex_lock(&guest.lock);
        guest.me = &watcher;
        is_over = guest.is_over;
        if (!is_over && guest.is_open && guest.inside_count && !guest.rests) {
            struct look now = take_look(self);
            compare(&last, &now, &since);
            last = now;
        }
        pthread_mutex_unlock(&guest.lock);
    }
    return NULL;
}

/* It must not receive the program's signals. */
void guest_rest_begin(void)
{
    int (*start)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, before;
    start = (__typeof__(start))dlsym(RTLD_NEXT, "pthread_create");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    start(&thread, &attr, watch, NULL);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
