/*
 * Wrong calls: the class that a call raises, and through whose handler. For the err_* programs.
 */
#ifndef TESTS_MPI_RAISES_H
#define TESTS_MPI_RAISES_H

#include "check.h"

enum { BY_NOBODY, BY_WORLD, BY_SELF, BY_COMM };
static MPI_Comm comm;
static int handler_of;

static void on_error(MPI_Comm *where, int *code, ...)
{
    (void)code;
    handler_of = *where == MPI_COMM_WORLD ? BY_WORLD : *where == MPI_COMM_SELF ? BY_SELF : BY_COMM;
}

static int raises(int rc, int error_class, int where)
{
    int got = -1, by = handler_of;

    handler_of = BY_NOBODY;
    MPI_Error_class(rc, &got);
    if (got != error_class || by != where)
        fprintf(stderr, "class %d instead of %d, handler %d instead of %d\n", got, error_class, by,
                where);
    return got == error_class && by == where;
}

#define EXPECT(error_class, where, call) CHECK(raises((call), error_class, where))

static MPI_Comm set_up(void)
{
    MPI_Errhandler handler;
    MPI_Comm freed, copy;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    copy = freed;
    MPI_Comm_free(&copy);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    return freed;
}

#endif
