/*
 * runs.h - locates the data of a type without moving it, for file views (MPI-4.0 14.3).
 *
 * The type is repeated without end: item i lies at i * extent. Positions are in the packed stream.
 * Nothing here switches; nothing is allocated; the recursion goes as deep as the type is nested.
 */
#ifndef MPI_DATATYPE_RUNS_H
#define MPI_DATATYPE_RUNS_H

#include "mpi/datatype/datatype.h"

/* A piece of `n` contiguous bytes at displacement `at`; a value other than 0 ends the walk. */
typedef int mpi_type_run_fn(void *arg, int64_t at, uint64_t n);

/* Calls fn for bytes [skip, skip + n) of the stream, in its order. The type has data. Returns what
 * fn returned last. Cost: the runs, and O(log blocks) per level to find the first. */
int mpi_type_runs(const struct mpi_type *t, uint64_t skip, uint64_t n, mpi_type_run_fn *fn,
                  void *arg);

/* Displacement of stream byte `pos`. The type has data. */
int64_t mpi_type_disp_at(const struct mpi_type *t, uint64_t pos);

/* The first stream byte that lies at `limit` or beyond, in a type whose displacements never
 * decrease. The type has data and a positive extent, limit is not negative. O(log size) times the
 * cost of mpi_type_disp_at. */
uint64_t mpi_type_first_at(const struct mpi_type *t, int64_t limit);

/* Can the type be a filetype? Displacements that are negative or decrease; data that overlaps
 * (allowed for reading); or neither. Cost: the runs. */
enum mpi_type_order { MPI_TYPE_DECREASES, MPI_TYPE_OVERLAPS, MPI_TYPE_ORDERED };
enum mpi_type_order mpi_type_order(const struct mpi_type *t);

#endif
