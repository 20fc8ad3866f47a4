/*
 * refuse.c - calls with an argument that is invalid whatever the others are (CHECKS in
 * api/mpi_functions.txt). Their entries find the argument; this file says what is wrong with it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "mpi/comm/check.h"
#include "mpi/comm/topology.h"
#include "mpi/entry.h"
#include "mpi_roles.h"

/* ---- what the checks ask ---- */

int mpi_arg_size(const struct mpi_rank *self, MPI_Comm comm)
{
    const struct mpi_comm *c = mpi_comm_get(comm);

    (void)self;
    return c ? (int)c->group->size : 0;
}

int mpi_arg_peers(const struct mpi_rank *self, MPI_Comm comm)
{
    const struct mpi_comm *c = mpi_comm_get(comm);

    (void)self;
    return c ? (int)mpi_comm_peers(c) : 0;
}

static struct mpi_degrees degrees(const struct mpi_rank *self, MPI_Comm comm)
{
    const struct mpi_comm *c = mpi_comm_get(comm);

    return c && !c->remote && c->topo ? mpi_topo_degrees(self, c) : (struct mpi_degrees){0, 0};
}

int mpi_arg_indegree(const struct mpi_rank *self, MPI_Comm comm)
{
    return degrees(self, comm).in;
}

int mpi_arg_outdegree(const struct mpi_rank *self, MPI_Comm comm)
{
    return degrees(self, comm).out;
}

int mpi_arg_is_no_root(MPI_Comm comm, int root)
{
    const struct mpi_comm *c = mpi_comm_get(comm);

    return c && (root < 0 || (uint32_t)root >= mpi_comm_peers(c)) &&
           !(c->remote && (root == MPI_ROOT || root == MPI_PROC_NULL));
}

int mpi_arg_is_root(const struct mpi_rank *self, MPI_Comm comm, int root)
{
    const struct mpi_comm *c = mpi_comm_get(comm);

    return c && (c->remote ? root == MPI_ROOT : mpi_comm_my_rank(c, self) == root);
}

int64_t mpi_arg_negative_int(const int *at, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (at[i] < 0)
            return i;
    return -1;
}

int64_t mpi_arg_negative_count(const MPI_Count *at, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (at[i] < 0)
            return i;
    return -1;
}

/* ---- what is wrong ---- */

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

static int refuse_root(struct mpi_rank *self, MPI_Comm comm, int root)
{
    const struct mpi_comm *c = mpi_comm_get(comm);

    return mpi_raise(self, comm, MPI_ERR_ROOT, "root %d is not in the %s (size %u)", root,
                     c->remote ? "remote group" : "communicator", mpi_comm_peers(c));
}

/* Says which item is negative. `arg` is an array, of int or MPI_Count, that has one. */
static int refuse_item(struct mpi_rank *self, struct object o, int code, const struct mpi_arg *arg,
                       uint64_t word)
{
    const void *at = (const void *)(uintptr_t)word;
    int is_int = arg->bytes == sizeof(int);
    int64_t i = is_int ? mpi_arg_negative_int(at, INT64_MAX)
                       : mpi_arg_negative_count(at, INT64_MAX);
    int64_t value = is_int ? ((const int *)at)[i] : ((const MPI_Count *)at)[i];

    return raise_on(self, o, code, "item %lld of the argument '%s' is negative (%lld)",
                    (long long)i, arg->name, (long long)value);
}

int mpi_args_refused(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args, int which)
{
    const struct mpi_signature *s = &mpi_fn_signature[fn];
    const struct mpi_arg *arg = &s->args[which];
    struct object o = find_object(s, args);
    int is_count = arg->role == MPI_ROLE_COUNT || arg->role == MPI_ROLE_SIZE; /* as MPICH does */
    int code = is_count ? MPI_ERR_COUNT : MPI_ERR_ARG, rc;
    struct mpi_comm *c;

    if (o.role == MPI_ROLE_COMM) {
        rc = mpi_check_comm(self, (MPI_Comm)o.handle, &c);
        if (rc)
            return rc;
    }
    if (arg->role == MPI_ROLE_ROOT)
        return refuse_root(self, (MPI_Comm)o.handle, (int)args[which]);
    if (arg->role == MPI_ROLE_CALLBACK || (arg->pointers && !args[which]))
        return raise_on(self, o, MPI_ERR_ARG, "the argument '%s' is a null pointer", arg->name);
    if (arg->pointers)
        return refuse_item(self, o, code, arg, args[which]);
    return raise_on(self, o, code, "the argument '%s' is negative (%lld)", arg->name,
                    (long long)args[which]);
}
