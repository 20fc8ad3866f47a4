/*
 * refuse.c - calls with an argument that is invalid whatever the others are (CHECKS in
 * api/mpi_functions.txt). Their entries find the argument; this file says what is wrong with it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "mpi/comm/check.h"
#include "mpi/entry.h"
#include "mpi_roles.h"

/* The object on which the error is raised: a file, if the call has one, else the first
 * communicator, window or session among the arguments. */
struct object {
    unsigned role; /* MPI_ROLES: there is none */
    uint64_t handle;
};

static struct object find_object(const struct mpi_signature *s, const uint64_t *args)
{
    struct object o = {MPI_ROLES, (uint32_t)MPI_COMM_NULL};

    for (unsigned i = s->count; i-- > 0;) {
        const struct mpi_arg *a = &s->args[i];

        if (a->role == MPI_ROLE_FILE)
            return (struct object){a->role, a->pointers ? (uintptr_t)MPI_FILE_NULL : args[i]};
        if (!a->pointers &&
            (a->role == MPI_ROLE_COMM || a->role == MPI_ROLE_WIN || a->role == MPI_ROLE_SESSION))
            o = (struct object){a->role, args[i]};
    }
    return o;
}

__attribute__((format(printf, 4, 5))) static int raise_on(struct mpi_rank *self, struct object o,
                                                          int code, const char *format, ...)
{
    char text[128];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    switch (o.role) {
    case MPI_ROLE_WIN:
        return mpi_raise_win(self, (MPI_Win)o.handle, code, "%s", text);
    case MPI_ROLE_FILE:
        return mpi_raise_file(self, (MPI_File)(uintptr_t)o.handle, code, "%s", text);
    case MPI_ROLE_SESSION:
        return mpi_raise_session(self, (MPI_Session)o.handle, code, "%s", text);
    default:
        return mpi_raise(self, (MPI_Comm)o.handle, code, "%s", text);
    }
}

int mpi_args_refused(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args, int which)
{
    const struct mpi_signature *s = &mpi_fn_signature[fn];
    const struct mpi_arg *arg = &s->args[which];
    struct object o = find_object(s, args);
    struct mpi_comm *c;
    int rc;

    if (o.role == MPI_ROLE_COMM) {
        rc = mpi_check_comm(self, (MPI_Comm)o.handle, &c);
        if (rc)
            return rc;
    }
    if (arg->pointers || arg->role == MPI_ROLE_CALLBACK)
        return raise_on(self, o, MPI_ERR_ARG, "the argument '%s' is a null pointer", arg->name);
    return raise_on(self, o, arg->role == MPI_ROLE_COUNT ? MPI_ERR_COUNT : MPI_ERR_ARG,
                    "the argument '%s' is negative (%lld)", arg->name, (long long)args[which]);
}
