/*
 * functions.c - what the recorder needs to know of each function, derived from the roles of its
 * arguments.
 */
#include <string.h>

#include "mpi_roles.h"
#include "native/native.h"

struct want {
    unsigned role;
    int pointers;   /* -1: any */
    int directions; /* bits of enum mpi_direction */
};

#define IS_IN (1 << MPI_DIRECTION_IN)
#define IS_OUT (1 << MPI_DIRECTION_OUT)
#define IS_BOTH (1 << MPI_DIRECTION_BOTH)

static int8_t find(const struct mpi_signature *s, struct want w)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->args[i].role == w.role && (w.pointers < 0 || s->args[i].pointers == w.pointers) &&
            w.directions >> s->args[i].direction & 1)
            return (int8_t)i;
    return -1;
}

static int8_t find_name(const struct mpi_signature *s, const char *name)
{
    for (unsigned i = 0; i < s->count; i++)
        if (strcmp(s->args[i].name, name) == 0)
            return (int8_t)i;
    return -1;
}

static struct native_fn learn(enum mpi_fn fn)
{
    const struct mpi_signature *s = &mpi_fn_signature[fn];
    struct native_fn f = {
        .request = find(s, (struct want){MPI_ROLE_REQUEST, -1, IS_IN | IS_BOTH}),
        .made = find(s, (struct want){MPI_ROLE_REQUEST, 1, IS_OUT}),
        .comm = find(s, (struct want){MPI_ROLE_COMM, 0, IS_IN}),
        .message = find(s, (struct want){MPI_ROLE_MESSAGE, 1, IS_BOTH}),
        .probed = find(s, (struct want){MPI_ROLE_MESSAGE, 1, IS_OUT}),
        .status = find(s, (struct want){MPI_ROLE_STATUS, 1, IS_OUT}),
        .flag = find(s, (struct want){MPI_ROLE_FLAG, 1, IS_OUT}),
        .index = find(s, (struct want){MPI_ROLE_INDEX, 1, IS_OUT}),
        .source = find_name(s, fn == MPI_FN_PRECV_INIT ? "dest" : "source"),
    };
    int is_receive = f.source >= 0 && find(s, (struct want){MPI_ROLE_TAG, 0, IS_IN}) >= 0;
    int8_t buffer = find(s, (struct want){MPI_ROLE_BUFFER, 1, IS_OUT | IS_BOTH});
    f.ends = f.request >= 0 && f.status >= 0 && s->args[f.request].direction == MPI_DIRECTION_BOTH;
    f.gets = f.request < 0 && f.made < 0 && f.status >= 0 && buffer >= 0 &&
             (is_receive || f.message >= 0);
    /* MPICH 4.0 does not fill in the status of MPI_Isendrecv. */
    f.awaits = f.made >= 0 && (is_receive || f.message >= 0) &&
               (find_name(s, "dest") < 0 || fn == MPI_FN_PRECV_INIT);
    f.creates = f.made < 0 && find(s, (struct want){MPI_ROLE_COMM, 1, IS_OUT}) >= 0;
    return f;
}

void native_learn_functions(void)
{
    for (unsigned i = 0; i < MPI_FN_COUNT; i++)
        native.fns[i] = learn((enum mpi_fn)i);
}
