/*
 * attr_internal.h - between attr_table.c (keys and values) and the MPI calls on them.
 */
#ifndef MPI_ATTR_INTERNAL_H
#define MPI_ATTR_INTERNAL_H

#include <mpi.h>
#include <stdint.h>

struct mpi_rank;

/* What a key is for: bits 22 to 25 of its handle, as MPICH has them. */
enum attr_kind { ATTR_COMM = 1, ATTR_TYPE = 3, ATTR_WIN = 8 };

/* How MPICH's language bindings give and want a value: C has pointers, Fortran an integer as wide as
 * an address or an INTEGER (MPI-4.0 19.3.7). */
enum attr_form { ATTR_POINTER = 0, ATTR_AINT = 1, ATTR_INT = 3 };

/* The program's functions; all kinds of object have the same ones, but for the name of the handle. */
typedef int attr_copy_fn(int handle, int keyval, void *extra, void *value, void *copy, int *flag);
typedef int attr_delete_fn(int handle, int keyval, void *value, void *extra);
/* How a language binding calls a function written in its language. */
typedef int attr_copy_proxy(void (*function)(void), int handle, int keyval, void *extra, int form,
                            void *value, void **copy, int *flag);
typedef int attr_delete_proxy(void (*function)(void), int handle, int keyval, int form, void *value,
                              void *extra);

/* A new key of the rank; the functions may be NULL. */
int attr_key_create(struct mpi_rank *, enum attr_kind, void (*copy)(void), void (*delete)(void),
                    void *extra);
/* Has the rank such a key of this kind? One that was freed is one as long as attributes use it. */
int attr_key_valid(struct mpi_rank *, enum attr_kind, int keyval);
/* The rank frees a valid key. */
void attr_key_free(struct mpi_rank *, int keyval);
/* Functions of a valid key are to be called through the binding. */
void attr_key_proxy(struct mpi_rank *, int keyval, attr_copy_proxy *, attr_delete_proxy *);

/* Sets the attribute of a valid key, having deleted the one there is; the code of the delete
 * function that failed, or MPI_SUCCESS. May switch. */
int attr_set(struct mpi_rank *, int handle, int keyval, void *value, int form);
/* Its value as asked for in *value (C asking for what Fortran has set gets its address); 0: not set. */
int attr_get(struct mpi_rank *, int handle, int keyval, int form, void *value);
/* Deletes it, if it is set. Like attr_set. */
int attr_delete(struct mpi_rank *, int handle, int keyval);

#endif
