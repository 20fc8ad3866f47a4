/*
 * errhandler.c - error handlers, and the one place where MPI errors are raised.
 *
 * A communicator is created with a handler; what a rank sets on it later applies only to that rank:
 * its state maps a handle to the handler. Windows and sessions are in the same map
 * (errhandler_kinds.c). Handlers are interned by function and kind: all ranks that create a handler
 * from the same function share the object and its handle. Objects are never freed (there are as
 * many as error functions in the program); a handle is valid while some rank has created it more
 * often than freed it.
 *
 * A handler written in Fortran needs nothing special: handles are integers there, too, and are
 * passed by reference. A handler of the C++ binding is called through the binding
 * (MPII_Errhandler_set_cxx).
 */
#include "mpi/comm/errhandler_internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "mpi/comm/errhandler.h"
#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/state.h"
#include "mpi/user.h"
#include "mpi_impl.h"

#define ERRHANDLER_HANDLE 0x94000000u
#define HANDLE_CLASS 0xfc000000u
#define HANDLE_INDEX 0x03ffffffu
#define RAISE_TEXT_MAX 512
#define WHERE_MAX 160

typedef void any_function(void *handle, int *code, ...);
typedef void cxx_function(int kind, int *handle, int *code, void (*function)(void));

struct errhandler {
    void (*function)(void);
    cxx_function *cxx; /* NULL: call the function itself */
    uint8_t kind;      /* enum errhandler_kind */
    uint64_t handles;
};

/* An error that was raised, and the code that its handler has left. */
struct mpi_raised {
    int32_t failed, handled;
};

static struct {
    struct errhandler *at;
    uint32_t count;
} table;

MPI_Errhandler errhandler_own(const struct mpi_rank *r, int handle, MPI_Errhandler otherwise)
{
    const uint64_t *own = mpi_state_find(r, MPI_STATE_errhandlers, (uint32_t)handle);

    return own ? (MPI_Errhandler)*own : otherwise;
}

void errhandler_set_own(struct mpi_rank *r, int handle, MPI_Errhandler h)
{
    *mpi_state_insert(r, MPI_STATE_errhandlers, (uint32_t)handle) = (uint32_t)h;
}

MPI_Errhandler mpi_errhandler_given(const struct mpi_rank *r, const struct mpi_comm *c)
{
    return errhandler_own(r, c->handle, c->errhandler);
}

/* As in MPICH. */
MPI_Errhandler mpi_errhandler_of(const struct mpi_rank *r, const struct mpi_comm *c)
{
    MPI_Errhandler h = mpi_errhandler_given(r, c);

    if (h == MPI_ERRHANDLER_NULL)
        h = mpi_errhandler_given(r, mpi_comm_get(MPI_COMM_WORLD));
    return h == MPI_ERRHANDLER_NULL ? MPI_ERRORS_ARE_FATAL : h;
}

void mpi_errhandler_set_for(struct mpi_rank *r, const struct mpi_comm *c, MPI_Errhandler h)
{
    if (h == c->errhandler)
        mpi_errhandler_forget(r, c->handle);
    else
        errhandler_set_own(r, c->handle, h);
}

void mpi_errhandler_forget(struct mpi_rank *self, MPI_Comm comm)
{
    mpi_state_remove(self, MPI_STATE_errhandlers, (uint32_t)comm);
}

/* ---- raising ---- */

/* "rank 3, MPI_COMM_WORLD"; ranks are those in the communicator, else in MPI_COMM_WORLD. */
static void describe_where(const struct mpi_rank *self, enum errhandler_kind kind,
                           const void *handle, char *out, size_t n)
{
    char label[WHERE_MAX];

    switch (kind) {
    case FOR_COMM:
        snprintf(out, n, "rank %d, %s",
                 mpi_comm_my_rank(mpi_comm_get(*(const MPI_Comm *)handle), self),
                 mpi_comm_label(*(const MPI_Comm *)handle, label, sizeof label));
        break;
    case FOR_WIN:
    case FOR_SESSION:
        snprintf(out, n, "rank %u, %s 0x%08x", mpi_rank_id(self),
                 kind == FOR_WIN ? "window" : "session", *(const unsigned *)handle);
        break;
    default:
        snprintf(out, n, "rank %u", mpi_rank_id(self));
    }
}

/* "MPI_Send(rank 3, MPI_COMM_WORLD): MPI_ERR_RANK: rank 17 is not in MPI_COMM_WORLD (size 4)", on
 * the heap; the run is ending. */
static _Noreturn void die(struct mpi_rank *self, enum errhandler_kind kind, const void *handle,
                          int code, const char *fmt, va_list args)
{
    char *text = mem_alloc(RAISE_TEXT_MAX), where[WHERE_MAX + 32];
    int n;

    describe_where(self, kind, handle, where, sizeof where);
    n = snprintf(text, RAISE_TEXT_MAX, "%s(%s): %s: ", mpi_fn_name[self->fn], where,
                 mpi_errcode_name(code));
    vsnprintf(text + n, (size_t)(RAISE_TEXT_MAX - n), fmt, args);
    mpi_abort_run(self, code, text);
}

static _Noreturn __attribute__((format(printf, 5, 6))) void die_with(struct mpi_rank *self,
                                                                     enum errhandler_kind kind,
                                                                     const void *handle, int code,
                                                                     const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    die(self, kind, handle, code, fmt, args);
}

static int is_fatal(MPI_Errhandler h)
{
    return h == MPI_ERRORS_ARE_FATAL || h == MPI_ERRORS_ABORT;
}

/* MPI::ERRORS_THROW_EXCEPTIONS returns the code too: the C++ binding throws when it gets one. */
static int returns(MPI_Errhandler h)
{
    return h == MPI_ERRORS_RETURN || h == MPIR_ERRORS_THROW_EXCEPTIONS;
}

/* Calls a function of the program, which may make MPI calls; returns the code that it sets, which
 * the C++ binding ignores. */
static int call_function(struct mpi_rank *self, const struct errhandler *e, void *handle, int code)
{
    uint16_t fn = self->fn;

    mpi_user_begin();
    if (e->cxx)
        e->cxx(e->kind, handle, &code, e->function);
    else
        ((any_function *)e->function)(handle, &code);
    mpi_user_end();
    self->fn = fn;
    return e->cxx ? MPI_SUCCESS : code;
}

/* Calls a handler that is not fatal. */
static void call(struct mpi_rank *self, MPI_Errhandler h, void *handle, int code)
{
    struct mpi_raised *x = mpi_state_make(self, MPI_STATE_raised, sizeof *x);

    x->handled = returns(h)
                     ? code
                     : call_function(self, &table.at[(uint32_t)h & HANDLE_INDEX], handle, code);
    x->failed = code;
}

int mpi_error_handled(struct mpi_rank *self, int code)
{
    struct mpi_raised *x = mpi_state_raised(self);

    if (!x || x->failed != code)
        return code;
    x->failed = MPI_SUCCESS;
    return x->handled;
}

void errhandler_call(struct mpi_rank *self, MPI_Errhandler h, enum errhandler_kind kind,
                     void *handle, int code, const char *fmt, va_list args)
{
    if (is_fatal(h))
        die(self, kind, handle, code, fmt, args);
    call(self, h, handle, code);
}

void errhandler_invoke(struct mpi_rank *self, MPI_Errhandler h, enum errhandler_kind kind,
                       void *handle, int code)
{
    if (is_fatal(h))
        die_with(self, kind, handle, code, "the program raised error %d", code);
    call(self, h, handle, code);
}

int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    struct mpi_comm *given = mpi_comm_get(comm);
    struct mpi_comm *c = given ? given : mpi_comm_get(MPI_COMM_WORLD);
    va_list args;

    comm = c->handle;
    va_start(args, fmt);
    errhandler_call(self, mpi_errhandler_of(self, c), given ? FOR_COMM : FOR_NOTHING, &comm,
                    error_class, fmt, args);
    va_end(args);
    return error_class;
}

int mpi_comm_call_errhandler(struct mpi_rank *self, MPI_Comm comm, int errorcode)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        errhandler_invoke(self, mpi_errhandler_of(self, c), FOR_COMM, &comm, errorcode);
    return rc;
}

/* ---- handles ---- */

static struct errhandler *get(MPI_Errhandler h)
{
    uint32_t bits = (uint32_t)h, index = bits & HANDLE_INDEX;

    if ((bits & HANDLE_CLASS) != ERRHANDLER_HANDLE || index >= table.count)
        return NULL;
    return table.at[index].handles ? &table.at[index] : NULL;
}

static int is_predefined(MPI_Errhandler h)
{
    return returns(h) || is_fatal(h);
}

int errhandler_check(struct mpi_rank *self, MPI_Comm comm, MPI_Errhandler h,
                     enum errhandler_kind kind)
{
    struct errhandler *e = get(h);

    if (is_predefined(h) || (e && e->kind == kind))
        return MPI_SUCCESS;
    if (e)
        return mpi_raise(self, comm, MPI_ERR_ARG,
                         "the error handler is for another kind of object");
    return mpi_raise(self, comm, MPI_ERR_ARG, "0x%08x is not an error handler", (unsigned)h);
}

MPI_Errhandler errhandler_share(MPI_Errhandler h)
{
    if (!is_predefined(h))
        table.at[(uint32_t)h & HANDLE_INDEX].handles++;
    return h;
}

static MPI_Errhandler intern(enum errhandler_kind kind, void (*function)(void))
{
    uint32_t i = 0;

    while (i < table.count && (table.at[i].function != function || table.at[i].kind != kind))
        i++;
    if (i == table.count) {
        table.at = mem_realloc(table.at, (table.count + 1) * sizeof *table.at);
        table.at[table.count++] = (struct errhandler){.function = function, .kind = (uint8_t)kind};
    }
    table.at[i].handles++;
    return (MPI_Errhandler)(ERRHANDLER_HANDLE | i);
}

int errhandler_create(enum errhandler_kind kind, void (*function)(void), MPI_Errhandler *out)
{
    *out = intern(kind, function);
    return MPI_SUCCESS;
}

/* The C++ binding created the handler, which must be called through the binding. */
void mpii_errhandler_set_cxx(struct mpi_rank *self, MPI_Errhandler errhandler,
                             void (*call_cxx)(void))
{
    struct errhandler *e = get(errhandler);

    (void)self;
    if (e)
        e->cxx = (cxx_function *)call_cxx;
}

int mpi_comm_create_errhandler(struct mpi_rank *self,
                               MPI_Comm_errhandler_function *comm_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    (void)self;
    return errhandler_create(FOR_COMM, (void (*)(void))comm_errhandler_fn, errhandler);
}

int mpi_errhandler_create(struct mpi_rank *self, MPI_Comm_errhandler_function *comm_errhandler_fn,
                          MPI_Errhandler *errhandler)
{
    return mpi_comm_create_errhandler(self, comm_errhandler_fn, errhandler);
}

int mpi_comm_set_errhandler(struct mpi_rank *self, MPI_Comm comm, MPI_Errhandler errhandler)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        rc = errhandler_check(self, comm, errhandler, FOR_COMM);
    if (!rc)
        mpi_errhandler_set_for(self, c, errhandler);
    return rc;
}

int mpi_errhandler_set(struct mpi_rank *self, MPI_Comm comm, MPI_Errhandler errhandler)
{
    return mpi_comm_set_errhandler(self, comm, errhandler);
}

int mpi_comm_get_errhandler(struct mpi_rank *self, MPI_Comm comm, MPI_Errhandler *errhandler)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (rc)
        return rc;
    *errhandler = mpi_errhandler_given(self, c);
    *errhandler = *errhandler == MPI_ERRHANDLER_NULL ? MPI_ERRORS_ARE_FATAL
                                                     : errhandler_share(*errhandler);
    return MPI_SUCCESS;
}

int mpi_errhandler_get(struct mpi_rank *self, MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return mpi_comm_get_errhandler(self, comm, errhandler);
}

int mpi_errhandler_free(struct mpi_rank *self, MPI_Errhandler *errhandler)
{
    struct errhandler *h;

    h = get(*errhandler);
    if (!h && !is_predefined(*errhandler))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "0x%08x is not an error handler",
                         (unsigned)*errhandler);
    if (h)
        h->handles--;
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}
