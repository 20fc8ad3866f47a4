/*
 * state.h - state that only some ranks keep: error handlers, names, attributes, windows and so on.
 *
 *     rank.ext -> [have | kept]      have: a bit for each kind
 *                        '-> [pointer] [pointer] ...   one for each set bit, in order of bits
 *
 * A rank without such state needs no memory for it; one with k kinds of state has an ext of 64
 * bytes and k pointers. A new kind is a line in the list. Everything here is for the rank's own
 * context, and for the end of the run; none of it is on the path of a message. Nothing switches.
 */
#ifndef MPI_STATE_H
#define MPI_STATE_H

#include "base/pairs.h"
#include "mpi/ext.h"

/* Name and struct of each kind, and the file that owns it. `pairs` map a key to what the rank keeps
 * for it. */
#define MPI_STATES(X)                                                                             \
    X(raised, mpi_raised)          /* comm/errhandler.c: the last error that was handled */       \
    X(errhandlers, pairs)          /* comm/errhandler.c: handle of an object -> error handler */  \
    X(file_errhandlers, own_files) /* comm/errhandler_kinds.c */                                  \
    X(error_codes, own_codes)      /* comm/error_codes.c: classes and codes that it has added */  \
    X(names, pairs)                /* comm/comm_names.c: communicator -> text */                  \
    X(hints, pairs)                /* object/hints.c: handle of an object -> info object */       \
    X(attr_keys, own_keys)         /* attr_table.c */                                             \
    X(attrs, pairs)                /* attr_table.c: handle of an object -> the newest one */      \
    X(bsend, mpi_bsend)            /* p2p/send_api.c: the attached buffer */                      \
    X(misfit, misfit)              /* p2p/misfit.c: a message that did not fit */                 \
    X(bindings, bindings)          /* p2p/bind.c: sources that are chosen outside */              \
    X(numbers, pairs)              /* coll/numbers.c: communicator -> next collectives */         \
    X(serials, pairs)              /* check/verify_coll.c: context -> collective calls so far */  \
    X(made, pairs)                 /* check/leaks.c: kind and handle -> count, and who made it */ \
    X(made_at, pairs)              /* check/leaks.c: kind and handle -> text: where that was */   \
    X(ports, mpi_ports)            /* dynamic/ports.c: names and ports that its agent keeps */    \
    X(spawner, mpi_spawner)        /* dynamic/spawn.c: ranks that its agent has started */        \
    X(windows, pairs)              /* rma/win.c: context -> its part of the window */             \
    X(files, pairs)                /* io/file.c: addresses of its open files */                   \
    X(file_numbers, pairs)         /* io/file.c: number in Fortran -> address of the file */      \
    X(datareps, io_datarep)        /* io/datarep.c: the last one that it has registered */        \
    X(tool, mpi_tool)              /* tool/tool_init.c: MPI_T_init_thread was called */           \
    X(sessions, own_sessions)      /* main/session.c */

#define MPI_STATE_ENUM(name, type) MPI_STATE_##name,
enum mpi_state { MPI_STATES(MPI_STATE_ENUM) MPI_STATE_KINDS };
#undef MPI_STATE_ENUM
_Static_assert(MPI_STATE_KINDS <= 32, "have is a word of 32 bits");

/* The rank's state of this kind, or NULL. */
static inline void *mpi_state_get(const struct mpi_rank *self, enum mpi_state kind)
{
    const struct mpi_ext *x = self->ext;

    if (!x || !(x->have >> kind & 1))
        return NULL;
    return x->kept[__builtin_popcount(x->have & ((UINT32_C(1) << kind) - 1))];
}

/* Replaces the rank's state of this kind; NULL: none. Does not free the old state. */
void mpi_state_set(struct mpi_rank *self, enum mpi_state kind, void *state);

/* The state of this kind; allocated with that many zero bytes if there is none. Lives until
 * mpi_state_free. */
void *mpi_state_make(struct mpi_rank *self, enum mpi_state kind, size_t bytes);
void mpi_state_free(struct mpi_rank *self, enum mpi_state kind);

/* A kind that is `pairs`: as pairs_find, pairs_insert, pairs_remove. */
uint64_t *mpi_state_find(const struct mpi_rank *self, enum mpi_state kind, uint64_t key);
uint64_t *mpi_state_insert(struct mpi_rank *self, enum mpi_state kind, uint64_t key);
void mpi_state_remove(struct mpi_rank *self, enum mpi_state kind, uint64_t key);

/* Typed access by name: mpi_state_sessions(self) is a struct own_sessions *. */
#define MPI_STATE_GET(name, type)                                            \
    struct type;                                                             \
    static inline struct type *mpi_state_##name(const struct mpi_rank *self) \
    {                                                                        \
        return mpi_state_get(self, MPI_STATE_##name);                        \
    }
MPI_STATES(MPI_STATE_GET)
#undef MPI_STATE_GET

#endif
