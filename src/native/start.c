/*
 * start.c - starts and ends recording in a process.
 *
 * The library is loaded into every program that the launcher starts, including shells. It does
 * nothing until the first MPI call; the part, which is named after the rank, is created when
 * MPI_Init returns. Calls before that stay in memory.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/err.h"
#include "base/log.h"
#include "base/log_module.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"
#include "native/native.h"
#include "native/options.h"
#include "native/status.h"

static struct recorder_mpi mpi; /* the table of this MPI */

/* How the process ends. */
static struct {
    char path[64]; /* of the file that wants to know (status.h), or empty */
    int is_over;
    int has_sessions; /* it may end without MPI_Finalize if all of them are closed */
} ending;

static void __attribute__((constructor)) load(void)
{
    native.began = native_now();
    native_ends_watch(native_say_end, native_say_end);
}

int native_prepare(void)
{
    pthread_mutex_lock(&native.lock);
    if (!native.is_ready) {
        const char *how = getenv(NATIVE_VARIABLE);
        struct err err;
        if (log_modules_init(&err))
            log_warn("%s", err.text);
        native_find_all();
        native.pid = sys_getpid();
        native.path = how ? strchr(how, ':') : NULL;
        native.is_failed = !native.path;
        for (; native.path && *how != ':'; how++) {
            native.keeps_sites |= *how == NATIVE_SITES;
            native.is_profile |= *how == NATIVE_PROFILE;
            native.stops_on_full |= *how == NATIVE_STOP;
        }
        native.path += native.path != NULL;
        native.part.sink.block = native.part.sink
                                     .piece = SIZE_MAX; /* calls before MPI_Init stay in memory */
        trace_header_init(&native.header, 1);
        native.header.tick = 1000;
        native.header.has_sites = native.keeps_sites;
        native.header.is_profile = native.is_profile;
        native.header.has_local_clocks = 1;
        mpi = native_objects(native_define);
        recorder_init(&native.header, &mpi);
        __atomic_store_n(&native.is_ready, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&native.lock);
    return !native.is_failed;
}

/* ---- MPI has been initialised ---- */

/* Processes that were spawned get the next free ranks in the trace. A file counts them. */
static int64_t take_ranks(int count)
{
    char path[PATH_MAX], text[32] = "";
    int64_t first = native.size;
    struct err err;
    snprintf(path, sizeof path, "%s" NATIVE_COUNTER, native.path);
    int fd = path_open_shared(path, &err);
    if (fd < 0) {
        log_warn("ranks of processes that are spawned are wrong: %s", err.text);
        return first;
    }
    flock(fd, LOCK_EX);
    if (sys_pread(fd, text, sizeof text - 1, 0) > 0)
        first = strtoll(text, NULL, 10);
    snprintf(text, sizeof text, "%lld\n", (long long)(first + count));
    if (sys_pwrite(fd, text, strlen(text), 0) < 0)
        log_warn("cannot write '%s': %s", path, strerror(errno));
    sys_close(fd);
    return first;
}

/* Objects do not outlive the last session: the first one after that has another world. */
void native_session_begin(MPI_Session session)
{
    int is_initialised = 0, is_finalised = 0;
    MPI_Group world;
    native_real.MPI_Initialized(&is_initialised);
    native_real.MPI_Finalized(&is_finalised);
    pthread_mutex_lock(&native.lock);
    ending.has_sessions = 1;
    int is_first = native.sessions++ == 0 && (!is_initialised || is_finalised);
    pthread_mutex_unlock(&native.lock);
    if (is_first &&
        native_real.MPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS)
        native.world = world;
}

/* Finds the rank of this process. Sessions have no MPI_COMM_WORLD. */
static void find_self(void)
{
    int is_initialised = 0;
    MPI_Comm parent = MPI_COMM_NULL;
    native_real.MPI_Initialized(&is_initialised);
    if (!is_initialised) {
        native_real.MPI_Group_rank(native.world, &native.self);
        native_real.MPI_Group_size(native.world, &native.size);
        if (native.self == 0)
            take_ranks(0);
        return;
    }
    native_real.MPI_Comm_rank(MPI_COMM_WORLD, &native.self);
    native_real.MPI_Comm_size(MPI_COMM_WORLD, &native.size);
    native_real.MPI_Comm_group(MPI_COMM_WORLD, &native.world);
    native_real.MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        if (native.self == 0)
            native.base = take_ranks(native.size);
        native_real.MPI_Bcast(&native.base, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        native.may_ask = 1;
        native_comm_created((uint32_t)MPI_COMM_WORLD);
        recorder_world(&native.rank, NULL, native_now());
        native_comm_created((uint32_t)parent);
    } else if (native.self == 0) {
        take_ranks(0);
    }
}

static void *beat(void *unused)
{
    struct timespec rest = {.tv_nsec = NATIVE_WRITE_AFTER};
    (void)unused;
    while (!native.is_over) {
        nanosleep(&rest, NULL);
        pthread_mutex_lock(&native.lock);
        if (!native.is_over && native_now() - native.written > NATIVE_WRITE_AFTER)
            native_write(native_now());
        pthread_mutex_unlock(&native.lock);
    }
    return NULL;
}

/* This thread must not receive the program's signals. */
static void start_beat(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, (size_t)256 << 10);
    pthread_create(&thread, &attr, beat, NULL);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void describe(void)
{
    char text[4096] = "";
    trace_header_add(&native.header, "recorder", "orrery record");
    if (getenv(ENV_PROGRAMS)) {
        trace_header_add(&native.header, "program", getenv(ENV_PROGRAMS));
        return;
    }
    ssize_t n = sys_read_text("/proc/self/cmdline", text, sizeof text);
    for (ssize_t i = 0; i + 1 < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    trace_header_add(&native.header, "program", text);
}

static void open_part(void)
{
    char path[PATH_MAX];
    struct err err;
    struct trace_part before = native.part;
    int64_t self = native.base + native.self;
    native.header.ranks = (uint64_t)(native.base + native.size);
    trace_header_block(&native.header);
    describe();
    snprintf(path, sizeof path, "%s" TRACE_PART_SUFFIX "%lld", native.path, (long long)self);
    if (trace_part_open(&native.part, path, &native.header, &err) != 0) {
        log_warn("rank %lld is not recorded: %s", (long long)self, err.text);
        native.is_failed = native.is_over = 1;
        return;
    }
    native.part.sink.buffered = before.sink.buffered;
    native.part.define = before.define; /* call sites */
    recorder_rank_rename(&native.rank, (uint64_t)self);
    native.is_open = 1;
}

/* ---- how the process ends ---- */

void native_say_end(int status)
{
    if (native.pid != sys_getpid() || !ending.path[0])
        return;
    native_status_add(ending.path, status);
    if (ending.is_over)
        return;
    ending.is_over = 1;
    if (status == 0 && !native.is_finalized && (!ending.has_sessions || native.sessions))
        native_status_leave(ending.path);
    native_status_end(ending.path);
}

static void watch_end(void)
{
    const char *path = getenv(NATIVE_STATUS);
    snprintf(ending.path, sizeof ending.path, "%s", path ? path : "");
    native_status_begin(ending.path);
}

void native_begin(void)
{
    find_self();
    watch_end();
    pthread_mutex_lock(&native.lock);
    open_part();
    pthread_mutex_unlock(&native.lock);
    if (!native.is_open)
        return;
    native_clocks_begin();
    native.written = native_now();
    start_beat();
}

/* ---- writing ---- */

void native_write(int64_t now)
{
    recorder_rank_spill(&native.rank);
    trace_part_flush(&native.part);
    native.written = now;
}

void native_end(void)
{
    struct err err;
    if (native.is_over || !native.is_open || native.pid != sys_getpid())
        return;
    native.is_over = 1;
    recorder_rank_end(&native.rank, native_now());
    if (trace_part_close(&native.part, &err) == 0)
        return;
    log_warn("rank %lld: %s: %llu records are lost", (long long)(native.base + native.self),
             err.text, (unsigned long long)native.part.lost);
    if (native.stops_on_full)
        log_error("rank %lld: the program ends with status 1, as --on-full stop requests",
                  (long long)(native.base + native.self));
    native.is_cut = native.stops_on_full;
}

static void end_recording(void)
{
    if (native.pid !=
        sys_getpid()) /* a child: the lock may be held by a thread that does not exist in it */
        return;
    pthread_mutex_lock(&native.lock);
    native_end();
    pthread_mutex_unlock(&native.lock);
}

_Noreturn static void end_process(int status)
{
    native_say_end(status);
    for (;;)
        sys_exit(status);
}

/* Runs after everything the program does at its end, but before libc writes buffered output. */
static void __attribute__((destructor)) unload(void)
{
    end_recording();
    if (!native.is_cut || native.pid != sys_getpid())
        return;
    fflush(NULL);
    end_process(1);
}

/* Skips all of that. */
ORR_EXPORT void _exit(int status)
{
    end_recording();
    end_process(status == 0 && native.is_cut && native.pid == sys_getpid() ? 1 : status);
}

extern __typeof__(_exit) _Exit ORR_EXPORT __attribute__((alias("_exit")));

void native_check_disk(void)
{
    if (!native.stops_on_full || native.is_over || native.is_finalized)
        return; /* after MPI_Finalize, the end of the process reports it */
    log_error("rank %lld: %s: ending the program, as --on-full stop requests",
              (long long)(native.base + native.self), native.part.err.text);
    native.stops_on_full = 0; /* it is ending */
    native_real.MPI_Abort(MPI_COMM_WORLD, 1);
}
