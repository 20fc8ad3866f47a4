/*
 * proc_link.c - the link over the native MPI, and over shared memory within a machine.
 *
 * The library is opened with RTLD_LOCAL, so that its names are hidden from the program, and with
 * RTLD_DEEPBIND, so that it calls the real libc and not our shims. mpi.h provides its types and
 * constants; every function is called through a pointer.
 *
 * Messages are sent in units of UNIT bytes, so that their count fits an int up to 128 GiB; the
 * first word is their length:
 *
 *     | room | length | data ... | up to a whole unit |
 *            ^ sent   ^ what proc_link_alloc returns
 *
 * Large blocks are cached when they are freed: malloc would return them to the system and fault
 * them in again, page by page, for every batch.
 *
 * Processes on the same machine use the library only to find each other. Their messages go through
 * shared memory (conduit.h), which takes a tenth of the time and wakes a sleeping receiver. The
 * library carries messages to other machines. A pending send may need calls into the library to
 * progress, so until it is complete the sender sleeps only for short times.
 */
#include "engine/proc_link.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/mem.h"
#include "base/sys.h"
#include "engine/conduit.h"
#include "engine/meet.h"

#define UNIT 64
#define FINISHED_MAX 16   /* completed sends to look for at a time */
#define PENDING_NS 200000 /* the longest sleep while sends are not complete */
#define ELSEWHERE UINT32_MAX
#define MEET_S 5                   /* how long to wait for other machines at the end */
#define KEPT_COUNT 8               /* blocks that are cached */
#define KEPT_MIN ((size_t)8 << 10) /* smaller blocks are not cached */
#define KEPT_MAX ((size_t)1 << 20) /* nor are larger ones */

// clang-format off
#define FUNCTIONS(X)                                                                               \
    X(Init_thread) X(Comm_rank) X(Comm_size) X(Comm_split_type) X(Comm_free) \
    X(Bcast) X(Allreduce) X(Allgather) \
    X(Type_contiguous) X(Type_commit) X(Type_free) X(Isend) X(Iprobe) X(Get_count) X(Recv) X(Test) \
    X(Finalize)
// clang-format on

#define DECLARE(name) static __typeof__(MPI_##name) *native_##name;
FUNCTIONS(DECLARE)
#undef DECLARE

/* A send that may not be complete yet. */
struct pending {
    struct pending *next;
    MPI_Request request;
    void *data;
};

static struct {
    MPI_Datatype unit;
    struct pending *first, **last;        /* oldest first */
    _Atomic(uint64_t *) kept[KEPT_COUNT]; /* whoever takes a block out owns it */
    atomic_uint kept_next;                /* the next to replace */
    struct conduits conduits;             /* between the processes on this machine, or none */
    uint32_t *conduit_of; /* for each process: its index in `conduits`, or ELSEWHERE */
    uint32_t *proc_of;    /* the inverse */
    int all_here;         /* there is no other machine */
    cpu_set_t all;        /* processors that this process may run on */
    int one;              /* a processor that all processes here may use; -1: none */
    int is_guest;         /* the program's own MPI, which it finalises itself */
} state;

static size_t units_of(size_t bytes)
{
    return (bytes + sizeof(uint64_t) + UNIT - 1) / UNIT;
}

static uint64_t *head_of(void *data)
{
    return (uint64_t *)data - 1;
}

/* A cached block with room for that many bytes and not much more, or NULL. */
static uint64_t *take_kept(size_t room)
{
    for (unsigned i = 0; room >= KEPT_MIN && i < KEPT_COUNT; i++) {
        uint64_t *block = atomic_load(&state.kept[i]) ? atomic_exchange(&state.kept[i], NULL)
                                                      : NULL;

        if (block && block[0] >= room && block[0] / 4 <= room)
            return block;
        if (block)
            mem_free(atomic_exchange(&state.kept[i], block));
    }
    return NULL;
}

static void keep(uint64_t *block)
{
    mem_free(
        atomic_exchange(&state.kept[atomic_fetch_add(&state.kept_next, 1) % KEPT_COUNT], block));
}

void *proc_link_alloc(size_t bytes)
{
    size_t room = units_of(bytes) * UNIT;
    uint64_t *block = take_kept(room);

    if (!block) {
        block = mem_alloc(sizeof(uint64_t) + room);
        block[0] = room;
    }
    return block + 2;
}

void *proc_link_copy(const void *from, size_t bytes)
{
    return memcpy(proc_link_alloc(bytes), from, bytes);
}

void proc_link_free(void *data)
{
    uint64_t *block = data ? head_of(data) - 1 : NULL;

    if (block && block[0] >= KEPT_MIN && block[0] <= KEPT_MAX)
        keep(block);
    else
        mem_free(block);
}

static void *library;

static void *find_in_library(const char *symbol)
{
    return dlsym(library, symbol);
}

static int bind_functions(void *(*find)(const char *symbol), struct err *err)
{
    const char *missing = NULL;

#define BIND(name)                                                  \
    native_##name = (__typeof__(native_##name))find("PMPI_" #name); \
    if (!native_##name)                                             \
        missing = "PMPI_" #name;
    FUNCTIONS(BIND)
#undef BIND
    return missing ? err_set(err, ERR_SYSTEM, "the native MPI has no %s", missing) : ERR_OK;
}

/* Frees the data of sends that are complete. */
static void collect(int all)
{
    for (int n = 0; state.first && (all || n < FINISHED_MAX); n++) {
        struct pending *p = state.first;
        int done = 0;

        native_Test(&p->request, &done, MPI_STATUS_IGNORE);
        if (!done && all)
            continue;
        if (!done)
            return;
        state.first = p->next;
        if (!state.first)
            state.last = &state.first;
        proc_link_free(p->data);
        mem_free(p);
    }
}

static void link_send(void *owner, uint32_t to, int tag, void *data, size_t bytes)
{
    struct pending *p;

    (void)owner;
    if (state.conduit_of[to] != ELSEWHERE) {
        conduits_send(&state.conduits, state.conduit_of[to], tag, data, bytes);
        return;
    }
    p = mem_alloc(sizeof *p);
    *p = (struct pending){.data = data};
    *head_of(data) = bytes;
    native_Isend(head_of(data), (int)units_of(bytes), state.unit, (int)to, tag, MPI_COMM_WORLD,
                 &p->request);
    *state.last = p;
    state.last = &p->next;
    collect(0);
}

/* From another machine. */
static int recv_far(uint32_t *from, int *tag, void **data, size_t *bytes)
{
    MPI_Status status;
    int there = 0, units = 0;

    native_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) {
        collect(0);
        return 0;
    }
    native_Get_count(&status, state.unit, &units);
    *data = proc_link_alloc((size_t)units * UNIT - sizeof(uint64_t));
    native_Recv(head_of(*data), units, state.unit, status.MPI_SOURCE, status.MPI_TAG,
                MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *from = (uint32_t)status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    *bytes = *head_of(*data);
    return 1;
}

static int link_recv(void *owner, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    (void)owner;
    if (state.conduits.bells.at && conduits_recv(&state.conduits, from, tag, data, bytes)) {
        *from = state.proc_of[*from];
        return 1;
    }
    return !state.all_here && recv_far(from, tag, data, bytes);
}

static void link_wait(void *owner, uint64_t ns)
{
    struct timespec span;

    (void)owner;
    if (state.first && ns > PENDING_NS)
        ns = PENDING_NS;
    span = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (state.conduits.bells.at)
        conduits_sleep(&state.conduits, ns);
    else
        nanosleep(&span, NULL);
}

/* MPI_Finalize of MPICH over UCX closes connections, for which it needs answers of the other end,
 * and then waits for all others without giving answers. A process that gets its answers from one
 * that has not entered MPI_Finalize yet leaves that one without any, and both hang. So all enter it
 * together: from here on until then none calls the library, which would give answers. */
static void leave_together(void)
{
    struct meet_address address = {0};
    int proc, procs, fd = -1;

    native_Comm_rank(MPI_COMM_WORLD, &proc);
    native_Comm_size(MPI_COMM_WORLD, &procs);
    if (proc == 0)
        fd = meet_open(&address);
    native_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (fd >= 0)
        meet_lead(fd, &address, (uint32_t)procs - 1, MEET_S);
    else if (proc != 0)
        meet_join(&address, MEET_S);
}

static void link_show(void *owner, uint64_t word)
{
    (void)owner;
    if (state.conduits.bells.at)
        conduits_show(&state.conduits, word);
}

static uint64_t link_shown(void *owner, uint32_t which)
{
    (void)owner;
    return state.conduit_of[which] == ELSEWHERE
               ? 1
               : conduits_shown(&state.conduits, state.conduit_of[which]);
}

static void link_close(void *owner)
{
    (void)owner;
    collect(1);
    while (state.conduits.bells.at && conduits_push(&state.conduits))
        conduits_sleep(&state.conduits, PENDING_NS);
    conduits_leave(&state.conduits);
    mem_free(state.conduit_of);
    mem_free(state.proc_of);
    for (unsigned i = 0; i < KEPT_COUNT; i++)
        mem_free(state.kept[i]);
    native_Type_free(&state.unit);
    if (!state.all_here)
        leave_together();
    if (!state.is_guest)
        native_Finalize();
}

/* Does this machine have more processes than processors for them? */
static int is_crowded(int here)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return here > sysconf(_SC_NPROCESSORS_ONLN);
    return here > CPU_COUNT(&set);
}

/* ---- sharing one processor ---- */

/* Chooses the processor; none if the launcher has bound the processes to different ones. */
static void choose_processor(MPI_Comm here)
{
    cpu_set_t common;
    int nth = (int)getpid(); /* so that several simulations choose different ones */

    CPU_ZERO(&state.all);
    state.one = -1;
    sched_getaffinity(0, sizeof state.all, &state.all);
    common = state.all;
    native_Allreduce(MPI_IN_PLACE, &common, sizeof common, MPI_BYTE, MPI_BAND, here);
    nth %= CPU_COUNT(&common) + !CPU_COUNT(&common);
    for (int i = 0; i < CPU_SETSIZE && state.one < 0; i++)
        if (CPU_ISSET(i, &common) && nth-- == 0)
            state.one = i;
    native_Bcast(&state.one, 1, MPI_INT, 0, here);
}

static void link_gather(void *owner, int together)
{
    cpu_set_t set = state.all;

    (void)owner;
    if (together) {
        CPU_ZERO(&set);
        CPU_SET(state.one, &set);
    }
    sched_setaffinity(0, sizeof set, &set);
}

/* Creates conduits between the `count` processes of a communicator, if all of them can map the
 * memory. */
static void share_conduits(MPI_Comm here, int mine, int count)
{
    struct bell_address address = {0};
    int ok = 1;

    if (mine == 0)
        conduits_make(&state.conduits, (uint32_t)count, &address);
    native_Bcast(&address, sizeof address, MPI_BYTE, 0, here);
    if (mine != 0)
        ok = conduits_join(&state.conduits, (uint32_t)count, (uint32_t)mine, &address);
    native_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, here);
    if (!ok)
        conduits_leave(&state.conduits);
    if (mine == 0 && address.fd >= 0)
        sys_close(address.fd);
}

/* Finds the processes on this machine, and how to reach them. */
static void meet_neighbours(struct proc_link *link)
{
    int mine, count, proc = (int)link->proc;
    MPI_Comm here;

    native_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    native_Comm_rank(here, &mine);
    native_Comm_size(here, &count);
    share_conduits(here, mine, count);
    choose_processor(here);
    state.proc_of = mem_alloc((size_t)count * sizeof *state.proc_of);
    native_Allgather(&proc, 1, MPI_INT, state.proc_of, 1, MPI_INT, here);
    native_Comm_free(&here);
    state.conduit_of = mem_alloc(link->procs * sizeof *state.conduit_of);
    memset(state.conduit_of, 0xff, link->procs * sizeof *state.conduit_of);
    for (int i = 0; state.conduits.bells.at && i < count; i++)
        state.conduit_of[state.proc_of[i]] = (uint32_t)i;
    link->crowded = is_crowded(count);
    link->gather = state.one >= 0 ? link_gather : NULL;
    link->wakes = state.all_here = state.conduits.bells.at && (uint32_t)count == link->procs;
}

/* UCX, below MPICH, would catch the signals by which we detect a rank's crash, intercept memory
 * mappings, of which there are many, and complain on standard output about unreceived messages when
 * a run ends early. The files by which it shows its objects may make it fail at the end. The user's
 * settings take precedence. */
static void set_up_environment(int set)
{
    static const char *const names[][2] = {{"UCX_HANDLE_ERRORS", "none"},
                                           {"UCX_MEM_EVENTS", "no"},
                                           {"UCX_LOG_LEVEL", "error"},
                                           {"UCX_VFS_ENABLE", "n"},
                                           {"UCX_WARN_UNUSED_ENV_VARS", "n"}};
    static int ours[sizeof names / sizeof names[0]];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (set) {
            ours[i] = getenv(names[i][0]) == NULL;
            setenv(names[i][0], names[i][1], 0);
        } else if (ours[i]) {
            unsetenv(names[i][0]);
        }
    }
}

/* Hides the launcher's variables from the program. */
static void clean_environment(void)
{
    static const char *const starts[] = {"PMI_",      "PMIX_",       "MPI_LOCAL",
                                         "HYDI_",     "HYDRA_",      "MPICH_INTERFACE_HOSTNAME",
                                         ENV_WORKERS, ENV_PLACEMENT, ENV_MACHINE};
    char name[256];

    for (char **at = environ; *at;) {
        size_t n = strcspn(*at, "="), found = 0;

        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
            found |= strncmp(*at, starts[i], strlen(starts[i])) == 0;
        if (!found || n >= sizeof name) {
            at++;
            continue;
        }
        memcpy(name, *at, n);
        name[n] = 0;
        unsetenv(name); /* the others move up */
    }
}

/* The MPI is initialised: finds the other processes. */
static void fill(struct proc_link *link)
{
    int proc, procs;

    native_Comm_rank(MPI_COMM_WORLD, &proc);
    native_Comm_size(MPI_COMM_WORLD, &procs);
    native_Type_contiguous(UNIT, MPI_BYTE, &state.unit);
    native_Type_commit(&state.unit);
    state.last = &state.first;
    *link = (struct proc_link){.proc = (uint32_t)proc,
                               .procs = (uint32_t)procs,
                               .send = link_send,
                               .recv = link_recv,
                               .wait = link_wait,
                               .show = link_show,
                               .shown = link_shown,
                               .close = link_close};
    meet_neighbours(link);
}

int proc_link_open(struct proc_link *link, const char *path, struct err *err)
{
    int level, rc;

    set_up_environment(1);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library)
        return err_set(err, ERR_SYSTEM, "cannot open the native MPI '%s': %s", path, dlerror());
    rc = bind_functions(find_in_library, err);
    if (rc)
        return rc;
    native_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &level);
    set_up_environment(0);
    fill(link);
    clean_environment();
    return ERR_OK;
}

int proc_link_join(struct proc_link *link, void *(*find)(const char *symbol), struct err *err)
{
    int rc = bind_functions(find, err);

    if (rc)
        return rc;
    state.is_guest = 1;
    fill(link);
    return ERR_OK;
}
