/*
 * stuck.c - in real time, tells the command that the rank waits in a call for long: if all ranks
 * do, none will go on.
 *
 * A thread looks at the rank a few times within the limit. While the rank is in the same call for
 * longer than that, a file beside its part says so (agreed.h). The thread makes no MPI calls.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "replay/replay.h"

#define LOOKS 8 /* within the limit */
#define NS_PER_S 1000000000

struct replay_watch {
    pthread_mutex_t lock; /* while the thread looks at the rank */
    struct replay_rank *rank;
    _Atomic uint64_t steps; /* odd: the rank is in a call */
    int64_t pause;          /* nanoseconds between two looks */
    int is_told;            /* there is a file */
    char *path;             /* of the file */
};

/* "MPI_Recv, source 3, tag 7" */
static void describe(const struct replay_rank *k, char *out, size_t size)
{
    static const char *const shown[] = {"dest", "source", "tag", "sendtag", "recvtag", "root"};
    const struct trace_fn *fn = &k->replay->trace.header.schema->fns[k->event->fn];
    size_t length = (size_t)snprintf(out, size, "%s", fn->name);
    for (unsigned i = 0; i < k->event->argc; i++)
        for (size_t j = 0; j < sizeof shown / sizeof shown[0]; j++)
            if (length < size && strcmp(fn->args[i].name, shown[j]) == 0)
                length += (size_t)snprintf(out + length, size - length, ", %s %lld", shown[j],
                                           (long long)k->event->args[i].number);
}

static void tell(struct replay_watch *w, uint64_t steps)
{
    char text[200];
    const struct replay_rank *k = w->rank;
    const struct replay_counts *n = &k->replay->counts;
    describe(k, text, sizeof text);
    struct err err;
    int fd = path_create(w->path, NULL, &err);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return;
    fprintf(file, REPLAY_STUCK_FORMAT "%s\n", (unsigned long long)k->rank,
            (unsigned long long)steps, (long long)k->last,
            (unsigned long long)(n->remapped + n->drawn + n->forced), text);
    fclose(file);
    w->is_told = 1;
}

static void untell(struct replay_watch *w)
{
    if (w->is_told)
        unlink(w->path);
    w->is_told = 0;
}

static void *look(void *context)
{
    struct replay_watch *w = context;
    const struct timespec pause = {w->pause / NS_PER_S, w->pause % NS_PER_S};
    uint64_t seen = 0;
    for (int times = 0, is_over = 0; !is_over;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&w->lock);
        uint64_t steps = atomic_load(&w->steps);
        is_over = !w->rank;
        times = steps == seen && steps % 2 ? times + 1 : 0;
        seen = steps;
        if (!is_over && times == LOOKS)
            tell(w, steps);
        else if (times == 0)
            untell(w);
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

void replay_stuck_begin(struct replay_rank *k)
{
    /* a program that imports it would not be simulated by fibres, and there it is not called */
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                  void *) = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                                     void *))dlsym(RTLD_DEFAULT, "pthread_create");
    const struct replay_options *o = &k->replay->options;
    pthread_t thread;
    if (!create || !o->idle_limit || !k->replay->is_open)
        return;
    struct replay_watch *w = mem_zalloc(sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    w->rank = k;
    w->pause = o->idle_limit / 1000 / LOOKS; /* of picoseconds */
    size_t room = strlen(k->replay->part.path) + sizeof REPLAY_STUCK;
    w->path = mem_alloc(room);
    snprintf(w->path, room, "%s" REPLAY_STUCK, k->replay->part.path);
    if (create(&thread, NULL, look, w) == 0)
        k->watch = w; /* as long as the process: the thread ends when it will */
}

void replay_stuck_end(struct replay_rank *k)
{
    struct replay_watch *w = k->watch;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->rank = NULL;
    untell(w);
    pthread_mutex_unlock(&w->lock);
    k->watch = NULL;
}

void replay_stuck_step(struct replay_rank *k)
{
    atomic_fetch_add_explicit(&k->watch->steps, 1, memory_order_relaxed);
}
