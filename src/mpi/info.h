/*
 * info.h - info objects and hints inside the virtual MPI.
 *
 * Nothing here raises errors or switches.
 */
#ifndef MPI_INFO_H
#define MPI_INFO_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct mpi_rank;

/* Creates an empty object, owned by the caller or handed to the program; sets a pair in an object;
 * frees an object. */
MPI_Info mpi_info_make(void);
void mpi_info_put(MPI_Info info, const char *key, const char *value);
void mpi_info_drop(MPI_Info info);
/* Value of a key in an info object (borrowed), or NULL. */
const char *mpi_info_lookup(MPI_Info, const char *key);
/* Is it an info object? */
int mpi_info_exists(MPI_Info info);

/* A hint known for some kind of object, and its default value. A default of "true" or "false" can
 * only be set to one of these. */
struct mpi_hint {
    const char *key, *value;
};

/*
 * MPI_X_set_info and MPI_X_get_info for a kind of object with n known hints. keep stores the known
 * ones in *kept (MPI_INFO_NULL at first, created when needed, owned by the caller) and ignores all
 * others. tell creates an object for the program with all known hints. Given MPI_INFO_NULL, keep
 * does nothing.
 */
void mpi_hints_keep(MPI_Info *kept, MPI_Info given, const struct mpi_hint *known, size_t n);
MPI_Info mpi_hints_tell(MPI_Info kept, const struct mpi_hint *known, size_t n);

/* The same for objects with an integer handle, separately for each rank: nothing is kept for a rank
 * that sets no hint. Call forget when the rank frees the object. */
void mpi_hints_set(struct mpi_rank *self, int handle, MPI_Info given, const struct mpi_hint *known,
                   size_t n);
MPI_Info mpi_hints_get(const struct mpi_rank *self, int handle, const struct mpi_hint *known,
                       size_t n);
void mpi_hints_forget(struct mpi_rank *self, int handle);

/* Copies the hints of an info object that communicators know to a new object, owned by the caller
 * (MPI_INFO_NULL: there are none); gives them to a new communicator of the rank, which takes
 * ownership. */
MPI_Info mpi_comm_hints_take(MPI_Info given);
void mpi_comm_hints_give(struct mpi_rank *self, MPI_Comm comm, MPI_Info hints);

#endif
