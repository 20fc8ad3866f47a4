/*
 * errhandler_kinds.c - errors of windows, files and sessions (MPI-4.0 9.3), and handlers of the
 * last two.
 *
 * What a rank sets applies only to that rank. A window starts with MPI_ERRORS_ARE_FATAL, which as
 * in MPICH means MPI_COMM_WORLD's handler until one is set; a session with the argument of
 * MPI_Session_init. A file starts with the rank's handler of MPI_FILE_NULL, which starts as
 * MPI_ERRORS_RETURN. So every open session and file of a rank has a handler here, and one without
 * is not open.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/comm/errhandler_internal.h"
#include "mpi/state.h"
#include "mpi_impl.h"

/* ---- files: what is set ---- */

struct own_file {
    MPI_File file;
    MPI_Errhandler errhandler;
};

/* The files that a rank has open, and MPI_FILE_NULL if it has set a handler on it. */
struct own_files {
    uint32_t count;
    struct own_file *at;
};

static struct own_file *file_find(const struct own_files *own, MPI_File file)
{
    for (uint32_t i = 0; own && i < own->count; i++)
        if (own->at[i].file == file)
            return &own->at[i];
    return NULL;
}

static MPI_Errhandler file_errhandler(const struct mpi_rank *self, MPI_File file)
{
    struct own_file *f = file_find(mpi_state_file_errhandlers(self), file);

    return f ? f->errhandler : MPI_ERRORS_RETURN;
}

static void file_set(struct mpi_rank *self, MPI_File file, MPI_Errhandler h)
{
    struct own_files *own = mpi_state_file_errhandlers(self);
    struct own_file *f = file_find(own, file);

    if (!f) {
        own = mpi_state_make(self, MPI_STATE_file_errhandlers, sizeof *own);
        own->at = mem_realloc(own->at, (own->count + 1) * sizeof *own->at);
        f = &own->at[own->count++];
    }
    *f = (struct own_file){file, h};
}

void mpi_errhandler_file_opened(struct mpi_rank *self, MPI_File file)
{
    file_set(self, file, file_errhandler(self, MPI_FILE_NULL));
}

void mpi_errhandler_file_closed(struct mpi_rank *self, MPI_File file)
{
    struct own_files *own = mpi_state_file_errhandlers(self);
    struct own_file *f = file_find(own, file);

    if (f)
        *f = own->at[--own->count];
}

void mpi_errhandler_win_freed(struct mpi_rank *self, MPI_Win win)
{
    mpi_errhandler_forget(self, win);
}

void mpi_errhandler_session_freed(struct mpi_rank *self, MPI_Session session)
{
    mpi_errhandler_forget(self, session);
}

/* ---- raising ---- */

/* For an object that does not exist or has no handler: the error goes to MPI_COMM_WORLD. */
static void raise_world(struct mpi_rank *self, int code, const char *fmt, va_list args)
{
    MPI_Comm world = MPI_COMM_WORLD;

    errhandler_call(self, mpi_errhandler_of(self, mpi_comm_get(world)), FOR_NOTHING, &world, code,
                    fmt, args);
}

int mpi_raise_win(struct mpi_rank *self, MPI_Win win, int error_class, const char *fmt, ...)
{
    MPI_Errhandler own = errhandler_own(self, win, MPI_ERRHANDLER_NULL);
    va_list args;

    va_start(args, fmt);
    if (own != MPI_ERRHANDLER_NULL)
        errhandler_call(self, own, FOR_WIN, &win, error_class, fmt, args);
    else
        raise_world(self, error_class, fmt, args);
    va_end(args);
    return error_class;
}

int mpi_raise_file(struct mpi_rank *self, MPI_File file, int error_class, const char *fmt, ...)
{
    va_list args;

    if (!file_find(mpi_state_file_errhandlers(self), file))
        file = MPI_FILE_NULL;
    va_start(args, fmt);
    errhandler_call(self, file_errhandler(self, file), FOR_FILE, &file, error_class, fmt, args);
    va_end(args);
    return error_class;
}

int mpi_raise_session(struct mpi_rank *self, MPI_Session session, int error_class, const char *fmt,
                      ...)
{
    MPI_Errhandler own = errhandler_own(self, session, MPI_ERRHANDLER_NULL);
    va_list args;

    va_start(args, fmt);
    if (own != MPI_ERRHANDLER_NULL)
        errhandler_call(self, own, FOR_SESSION, &session, error_class, fmt, args);
    else
        raise_world(self, error_class, fmt, args);
    va_end(args);
    return error_class;
}

/* ---- files ---- */

/* MPI_FILE_NULL has a handler too. */
static int check_file(struct mpi_rank *self, MPI_File file)
{
    if (file == MPI_FILE_NULL || file_find(mpi_state_file_errhandlers(self), file))
        return MPI_SUCCESS;
    return mpi_raise_file(self, file, MPI_ERR_FILE, "%p is not an open file of this rank",
                          (void *)file);
}

int mpi_file_create_errhandler(struct mpi_rank *self,
                               MPI_File_errhandler_function *file_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    (void)self;
    return errhandler_create(FOR_FILE, (void (*)(void))file_errhandler_fn, errhandler);
}

int mpi_file_set_errhandler(struct mpi_rank *self, MPI_File file, MPI_Errhandler errhandler)
{
    int rc = check_file(self, file);

    if (!rc)
        rc = errhandler_check(self, MPI_COMM_NULL, errhandler, FOR_FILE);
    if (!rc)
        file_set(self, file, errhandler);
    return rc;
}

int mpi_file_get_errhandler(struct mpi_rank *self, MPI_File file, MPI_Errhandler *errhandler)
{
    int rc = check_file(self, file);

    if (!rc)
        *errhandler = errhandler_share(file_errhandler(self, file));
    return rc;
}

int mpi_file_call_errhandler(struct mpi_rank *self, MPI_File fh, int errorcode)
{
    int rc = check_file(self, fh);

    if (!rc)
        errhandler_invoke(self, file_errhandler(self, fh), FOR_FILE, &fh, errorcode);
    return rc;
}

/* ---- sessions ---- */

static int check_session(struct mpi_rank *self, MPI_Session session)
{
    if (errhandler_own(self, session, MPI_ERRHANDLER_NULL) != MPI_ERRHANDLER_NULL)
        return MPI_SUCCESS;
    return mpi_raise_session(self, session, MPI_ERR_SESSION, "0x%08x is not a session of this rank",
                             (unsigned)session);
}

int mpi_session_create_errhandler(struct mpi_rank *self,
                                  MPI_Session_errhandler_function *session_errhandler_fn,
                                  MPI_Errhandler *errhandler)
{
    (void)self;
    return errhandler_create(FOR_SESSION, (void (*)(void))session_errhandler_fn, errhandler);
}

int mpi_session_set_errhandler(struct mpi_rank *self, MPI_Session session,
                               MPI_Errhandler errhandler)
{
    int rc = check_session(self, session);

    if (!rc)
        rc = errhandler_check(self, MPI_COMM_NULL, errhandler, FOR_SESSION);
    if (!rc)
        errhandler_set_own(self, session, errhandler);
    return rc;
}

int mpi_session_get_errhandler(struct mpi_rank *self, MPI_Session session,
                               MPI_Errhandler *errhandler)
{
    int rc = check_session(self, session);

    if (!rc)
        *errhandler = errhandler_share(errhandler_own(self, session, MPI_ERRORS_ARE_FATAL));
    return rc;
}

int mpi_session_call_errhandler(struct mpi_rank *self, MPI_Session session, int errorcode)
{
    int rc = check_session(self, session);

    if (!rc)
        errhandler_invoke(self, errhandler_own(self, session, MPI_ERRORS_ARE_FATAL), FOR_SESSION,
                          &session, errorcode);
    return rc;
}
