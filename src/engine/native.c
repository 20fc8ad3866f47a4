/*
 * native.c - a link over the native MPI.
 *
 * The library is opened with RTLD_LOCAL, so that its names do not become those of the program, and
 * RTLD_DEEPBIND, so that what it calls in libc is libc's and not a virtual version. mpi.h gives
 * its types and constants; every function is called through a pointer.
 *
 * Messages are sent in units of UNIT bytes, so that their count fits an int up to 128 GiB; the first
 * word is their length:
 *
 *     | length | data ... | up to a whole unit |
 *              ^ what native_alloc returns
 */
#include "engine/native.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/mem.h"

#define UNIT 64
#define FINISHED_MAX 16 /* completed sends looked for at a time */

#define FUNCTIONS(X)                                                                               \
    X(Init_thread) X(Comm_rank) X(Comm_size) X(Comm_split_type) X(Comm_free) \
    X(Type_contiguous) X(Type_commit) X(Type_free) X(Isend) X(Iprobe) X(Get_count) X(Recv) X(Test) \
    X(Finalize)

#define DECLARE(name) static __typeof__(MPI_##name) *native_##name;
FUNCTIONS(DECLARE)
#undef DECLARE

/* A send that is not known to be complete. */
struct pending {
    struct pending *next;
    MPI_Request request;
    void *data;
};

static struct {
    MPI_Datatype unit;
    struct pending *first, **last; /* oldest first */
} state;

static size_t units_of(size_t bytes)
{
    return (bytes + sizeof(uint64_t) + UNIT - 1) / UNIT;
}

static uint64_t *head_of(void *data)
{
    return (uint64_t *)data - 1;
}

void *native_alloc(size_t bytes)
{
    return (uint64_t *)mem_alloc(units_of(bytes) * UNIT) + 1;
}

void *native_copy(const void *from, size_t bytes)
{
    return memcpy(native_alloc(bytes), from, bytes);
}

void native_free(void *data)
{
    mem_free(data ? head_of(data) : NULL);
}

static int bind_functions(void *library, struct err *err)
{
    const char *missing = NULL;

#define BIND(name)                                                         \
    native_##name = (__typeof__(native_##name))dlsym(library, "MPI_" #name); \
    if (!native_##name)                                                      \
        missing = "MPI_" #name;
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
        native_free(p->data);
        mem_free(p);
    }
}

static void link_send(void *owner, uint32_t to, int tag, void *data, size_t bytes)
{
    struct pending *p = mem_alloc(sizeof *p);

    (void)owner;
    *p = (struct pending){.data = data};
    *head_of(data) = bytes;
    native_Isend(head_of(data), (int)units_of(bytes), state.unit, (int)to, tag, MPI_COMM_WORLD,
                 &p->request);
    *state.last = p;
    state.last = &p->next;
    collect(0);
}

static int link_recv(void *owner, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    MPI_Status status;
    int there = 0, units = 0;

    (void)owner;
    native_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) {
        collect(0);
        return 0;
    }
    native_Get_count(&status, state.unit, &units);
    *data = native_alloc((size_t)units * UNIT - sizeof(uint64_t));
    native_Recv(head_of(*data), units, state.unit, status.MPI_SOURCE, status.MPI_TAG,
                MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *from = (uint32_t)status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    *bytes = *head_of(*data);
    return 1;
}

static void link_close(void *owner)
{
    (void)owner;
    collect(1);
    native_Type_free(&state.unit);
    native_Finalize();
}

/* Are there more processes on this machine than processors for them? */
static int is_crowded(void)
{
    MPI_Comm here;
    cpu_set_t set;
    int procs = 1;

    native_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    native_Comm_size(here, &procs);
    native_Comm_free(&here);
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return procs > sysconf(_SC_NPROCESSORS_ONLN);
    return procs > CPU_COUNT(&set);
}

/* UCX, under MPICH, would catch the signals by which a rank's crash is found, watch memory being mapped,
 * of which there is a lot, and complain on standard output of messages that nobody wants when a run ends
 * early. What the user has set stays. */
static void set_up_environment(int set)
{
    static const char *const names[][2] = {{"UCX_HANDLE_ERRORS", "none"},
                                           {"UCX_MEM_EVENTS", "no"},
                                           {"UCX_LOG_LEVEL", "error"},
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

/* What the launcher has put there is not for the program to see. */
static void clean_environment(void)
{
    static const char *const starts[] = {"PMI_", "PMIX_", "MPI_LOCAL", "HYDI_", "HYDRA_",
                                         "MPICH_INTERFACE_HOSTNAME", ENV_TEAM, ENV_PLACEMENT,
                                         ENV_MACHINE};
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
        unsetenv(name); /* moves the others up */
    }
}

int native_open(struct native_link *link, const char *path, struct err *err)
{
    int proc, procs, level, rc;
    void *library;

    set_up_environment(1);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library)
        return err_set(err, ERR_SYSTEM, "cannot open the native MPI '%s': %s", path, dlerror());
    rc = bind_functions(library, err);
    if (rc)
        return rc;
    native_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &level);
    set_up_environment(0);
    native_Comm_rank(MPI_COMM_WORLD, &proc);
    native_Comm_size(MPI_COMM_WORLD, &procs);
    native_Type_contiguous(UNIT, MPI_BYTE, &state.unit);
    native_Type_commit(&state.unit);
    state.last = &state.first;
    *link = (struct native_link){.proc = (uint32_t)proc, .procs = (uint32_t)procs,
                                 .crowded = is_crowded(), .send = link_send, .recv = link_recv,
                                 .close = link_close};
    clean_environment();
    return ERR_OK;
}
