/*
 * errhandler.c - error handlers, and the one place where MPI errors are raised.
 *
 * A communicator is created with a handler; what a rank sets later on it holds for that rank alone
 * and lives in a map from (rank, communicator) to handler, which costs nothing for ranks that set
 * nothing. Handlers are interned by function: all ranks that create a handler from the same
 * function share the object and its handle. Objects are never freed (there are as many as error
 * functions in the program); a handle is valid while some rank has created it more often than
 * freed it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi_impl.h"
#include "mpi/user.h"

#define ERRHANDLER_HANDLE 0x94000000u
#define HANDLE_CLASS 0xfc000000u
#define HANDLE_INDEX 0x03ffffffu
#define RAISE_TEXT_MAX 512

struct errhandler {
    MPI_Comm_errhandler_function *function;
    uint64_t handles;
};

static struct {
    struct errhandler *at;
    uint32_t count;
    struct map by_rank; /* rank << 32 | communicator -> handler */
} table;

static uint64_t own_key(uint32_t rank, MPI_Comm comm)
{
    return (uint64_t)rank << 32 | (uint32_t)comm;
}

MPI_Errhandler mpi_errhandler_of(const struct mpi_rank *r, const struct mpi_comm *c)
{
    uint64_t *own = map_find(&table.by_rank, own_key(mpi_rank_id(r), c->handle));

    return own ? (MPI_Errhandler)*own : c->errhandler;
}

void mpi_errhandler_set_for(const struct mpi_rank *r, const struct mpi_comm *c, MPI_Errhandler h)
{
    if (h == c->errhandler)
        mpi_errhandler_forget(mpi_rank_id(r), c->handle);
    else
        *map_insert(&table.by_rank, own_key(mpi_rank_id(r), c->handle), NULL) = (uint32_t)h;
}

void mpi_errhandler_forget(uint32_t rank, MPI_Comm comm)
{
    map_remove(&table.by_rank, own_key(rank, comm));
}

/* ---- raising ---- */

/* "MPI_Send: rank 17 is not in MPI_COMM_WORLD (size 4)", on the heap; the run is ending. */
static _Noreturn void die(struct mpi_rank *self, int code, const char *fmt, va_list args)
{
    char *text = mem_alloc(RAISE_TEXT_MAX);
    int n = snprintf(text, RAISE_TEXT_MAX, "%s: ", mpi_fn_name[self->fn]);

    vsnprintf(text + n, (size_t)(RAISE_TEXT_MAX - n), fmt, args);
    mpi_abort_run(self, code, text);
}

static _Noreturn __attribute__((format(printf, 3, 4))) void die_with(struct mpi_rank *self,
                                                                     int code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    die(self, code, fmt, args);
}

static int is_fatal(MPI_Errhandler h)
{
    return h == MPI_ERRORS_ARE_FATAL || h == MPI_ERRORS_ABORT;
}

/* Calls a handler that is not fatal. The program's function may make MPI calls of its own. */
static void call(struct mpi_rank *self, struct mpi_comm *c, MPI_Errhandler h, int code)
{
    MPI_Comm comm = c->handle;
    uint16_t fn = self->fn;

    if (h == MPI_ERRORS_RETURN)
        return;
    mpi_user_begin();
    table.at[(uint32_t)h & HANDLE_INDEX].function(&comm, &code);
    mpi_user_end();
    self->fn = fn;
}

int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    MPI_Errhandler h;

    if (!c)
        c = mpi_comm_get(MPI_COMM_WORLD);
    h = mpi_errhandler_of(self, c);
    if (is_fatal(h)) {
        va_list args;

        va_start(args, fmt);
        die(self, error_class, fmt, args);
    }
    call(self, c, h, error_class);
    return error_class;
}

int mpi_comm_call_errhandler(struct mpi_rank *self, MPI_Comm comm, int errorcode)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);
    MPI_Errhandler h;

    if (rc)
        return rc;
    h = mpi_errhandler_of(self, c);
    if (is_fatal(h))
        die_with(self, errorcode, "the program raised error %d", errorcode);
    call(self, c, h, errorcode);
    return MPI_SUCCESS;
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
    return h == MPI_ERRORS_RETURN || is_fatal(h);
}

static int check_handler(struct mpi_rank *self, MPI_Comm comm, MPI_Errhandler h)
{
    if (is_predefined(h) || get(h))
        return MPI_SUCCESS;
    if (h == MPIR_ERRORS_THROW_EXCEPTIONS)
        return mpi_raise(self, comm, MPI_ERR_UNSUPPORTED_OPERATION,
                         "MPI::ERRORS_THROW_EXCEPTIONS is not supported");
    return mpi_raise(self, comm, MPI_ERR_ARG, "0x%08x is not an error handler", (unsigned)h);
}

static MPI_Errhandler intern(MPI_Comm_errhandler_function *function)
{
    uint32_t i = 0;

    while (i < table.count && table.at[i].function != function)
        i++;
    if (i == table.count) {
        table.at = mem_realloc(table.at, (table.count + 1) * sizeof *table.at);
        table.at[table.count++] = (struct errhandler){function, 0};
    }
    table.at[i].handles++;
    return (MPI_Errhandler)(ERRHANDLER_HANDLE | i);
}

int mpi_comm_create_errhandler(struct mpi_rank *self,
                               MPI_Comm_errhandler_function *comm_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    int rc = mpi_check_ptr(self, MPI_COMM_NULL, (const void *)comm_errhandler_fn,
                           "comm_errhandler_fn");

    if (!rc)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, errhandler, "errhandler");
    if (!rc)
        *errhandler = intern(comm_errhandler_fn);
    return rc;
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
        rc = check_handler(self, comm, errhandler);
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

    if (!rc)
        rc = mpi_check_ptr(self, comm, errhandler, "errhandler");
    if (rc)
        return rc;
    *errhandler = mpi_errhandler_of(self, c);
    if (!is_predefined(*errhandler))
        table.at[(uint32_t)*errhandler & HANDLE_INDEX].handles++;
    return MPI_SUCCESS;
}

int mpi_errhandler_get(struct mpi_rank *self, MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return mpi_comm_get_errhandler(self, comm, errhandler);
}

int mpi_errhandler_free(struct mpi_rank *self, MPI_Errhandler *errhandler)
{
    struct errhandler *h;
    int rc = mpi_check_ptr(self, MPI_COMM_NULL, errhandler, "errhandler");

    if (!rc)
        rc = check_handler(self, MPI_COMM_NULL, *errhandler);
    if (rc)
        return rc;
    h = get(*errhandler);
    if (h)
        h->handles--;
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}
