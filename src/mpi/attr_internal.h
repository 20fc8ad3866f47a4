/*
 * attr_internal.h - between attr_table.c (keys and values) and the MPI calls on them.
 */
#ifndef MPI_ATTR_INTERNAL_H
#define MPI_ATTR_INTERNAL_H

#include <stdint.h>

#include "mpi_abi.h"

struct mpi_rank;

/* The kind of object that a key is for: bits 22 to 25 of its handle, as in MPICH. */
enum attr_kind { ATTR_COMM = 1, ATTR_TYPE = 3, ATTR_WIN = 8 };

/* The form of a value in MPICH's language bindings: C uses pointers, Fortran an address-sized
 * integer or an INTEGER (MPI-4.0 19.3.7). */
enum attr_form { ATTR_POINTER = 0, ATTR_AINT = 1, ATTR_INT = 3 };

/* The program's functions; they are the same for all kinds of object, except for the type of the
 * handle. */
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
/* Does the rank have such a key of this kind? A freed key counts as long as attributes use it. */
int attr_key_valid(struct mpi_rank *, enum attr_kind, int keyval);
/* The rank frees a valid key. */
void attr_key_free(struct mpi_rank *, int keyval);
/* Makes the functions of a valid key be called through the binding. */
void attr_key_proxy(struct mpi_rank *, int keyval, attr_copy_proxy *, attr_delete_proxy *);

/* Sets the attribute of a valid key, after deleting the old one; returns the code of a delete
 * function that failed, or MPI_SUCCESS. May switch. */
int attr_set(struct mpi_rank *, int handle, int keyval, void *value, int form);
/* Stores its value in the requested form in *value (C gets the address of what Fortran has set); 0:
 * not set. */
int attr_get(struct mpi_rank *, int handle, int keyval, int form, void *value);
/* Deletes it, if it is set. Returns as attr_set. */
int attr_delete(struct mpi_rank *, int handle, int keyval);

#endif
