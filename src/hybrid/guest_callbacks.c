/*
 * guest_callbacks.c - functions of the program that the MPI calls with a communicator: error
 * handlers, and those that copy and delete attributes.
 *
 * The program's MPI_COMM_WORLD is another communicator for the real MPI, which passes that one to
 * them. So the MPI gets a function of ours in place of each, which passes on the program's handle.
 * The MPI passes nothing else that would tell them apart: there is one of ours for each of theirs.
 */
#include "base/log.h"
#include "hybrid/guest.h"

/* m(00) to m(77): in octal. */
#define EIGHT(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define ALL(m) \
    EIGHT(m, 0) EIGHT(m, 1) EIGHT(m, 2) EIGHT(m, 3) EIGHT(m, 4) EIGHT(m, 5) EIGHT(m, 6) EIGHT(m, 7)
#define MOST 64 /* functions of a kind */

/* Functions in Fortran have addresses where those in C have values, and one argument more. */
typedef int copy_function(uintptr_t comm, uintptr_t key, uintptr_t extra, uintptr_t in,
                          uintptr_t out, uintptr_t flag, uintptr_t error);
typedef int delete_function(uintptr_t comm, uintptr_t key, uintptr_t value, uintptr_t extra,
                            uintptr_t error);

enum kind { HANDLERS, COPIERS, DELETERS, KINDS };

static struct {
    uintptr_t program[KINDS][MOST]; /* the program's functions */
    int count[KINDS];
} functions;

/* ---- what the MPI calls ---- */

static void call_handler(int which, MPI_Comm *comm, int *code)
{
    MPI_Comm_errhandler_function *handler = (MPI_Comm_errhandler_function *)
                                                functions.program[HANDLERS][which];
    MPI_Comm world = MPI_COMM_WORLD;
    handler(*comm == native.world_comm ? &world : comm, code);
}

/* The program's handle, or its address: this is on a stack, and such an address is no handle. */
static uintptr_t comm_word(uintptr_t word, MPI_Comm *world)
{
    int is_address = word >> 32 && word >> 32 != UINT32_MAX;
    *world = MPI_COMM_WORLD;
    if (is_address)
        return *(const MPI_Comm *)word == native.world_comm ? (uintptr_t)world : word;
    return (MPI_Comm)word == native.world_comm ? (uintptr_t)MPI_COMM_WORLD : word;
}

#define CALLED(n)                                                                           \
    static void handler_##n(MPI_Comm *comm, int *code, ...)                                 \
    {                                                                                       \
        call_handler(0##n, comm, code);                                                     \
    }                                                                                       \
    static int copier_##n(uintptr_t comm, uintptr_t key, uintptr_t extra, uintptr_t in,     \
                          uintptr_t out, uintptr_t flag, uintptr_t error)                   \
    {                                                                                       \
        copy_function *copy = (copy_function *)functions.program[COPIERS][0##n];            \
        MPI_Comm world;                                                                     \
        return copy(comm_word(comm, &world), key, extra, in, out, flag, error);             \
    }                                                                                       \
    static int deleter_##n(uintptr_t comm, uintptr_t key, uintptr_t value, uintptr_t extra, \
                           uintptr_t error)                                                 \
    {                                                                                       \
        delete_function *delete = (delete_function *)functions.program[DELETERS][0##n];     \
        MPI_Comm world;                                                                     \
        return delete (comm_word(comm, &world), key, value, extra, error);                  \
    }
ALL(CALLED)

#define HANDLER(n) (uintptr_t) handler_##n,
#define COPIER(n) (uintptr_t) copier_##n,
#define DELETER(n) (uintptr_t) deleter_##n,

/* ---- what it gets ---- */

/* The function of ours for one of the program; none for none. */
static uintptr_t ours(enum kind kind, uint64_t program)
{
    static const uintptr_t all[KINDS][MOST] = {{ALL(HANDLER)}, {ALL(COPIER)}, {ALL(DELETER)}};
    int i = 0, *count = &functions.count[kind];
    if (!program)
        return 0;
    while (i < *count && functions.program[kind][i] != program)
        i++;
    if (i == MOST)
        log_fatal("the program has more than %d different functions for errors or attributes: "
                  "'orrery hybrid' supports no more, 'orrery run' does",
                  MOST);
    if (i == *count)
        functions.program[kind][(*count)++] = program;
    return all[kind][i];
}

int guest_callbacks(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    MPI_Comm_errhandler_function *handler;
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *delete;
    int *key = (int *)(uintptr_t)a[2];
    void *extra = (void *)(uintptr_t)a[3];
    switch (g->call.fn) {
    case MPI_FN_COMM_CREATE_ERRHANDLER:
    case MPI_FN_ERRHANDLER_CREATE:
        handler = (MPI_Comm_errhandler_function *)ours(HANDLERS, a[0]);
        g->rc = native_real.MPI_Comm_create_errhandler(handler, (MPI_Errhandler *)(uintptr_t)a[1]);
        return 1;
    default:
        copy = (MPI_Comm_copy_attr_function *)ours(COPIERS, a[0]);
        delete = (MPI_Comm_delete_attr_function *)ours(DELETERS, a[1]);
        g->rc = native_real.MPI_Comm_create_keyval(copy, delete, key, extra);
        return 1;
    }
}
