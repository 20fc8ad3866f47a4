/*
 * user.h - functions of the program that are called inside MPI: operations, error handlers.
 *
 * Their time is program time: it is charged to the rank like any other.
 *
 * Each kind is called in one place, which gives it the handles of mpi_abi.h. For programs of
 * another ABI these are the places to translate them, as they are for Fortran and C++ already:
 *
 *     operations              call_user in op/op.c
 *     functions of attributes call_copy and call_delete in attr_table.c
 *     error handlers          call_function in comm/errhandler.c
 *     generalized requests    mpi_greq_query, mpi_greq_release, mpi_greq_cancel and poll in
 *                             p2p/greq_api.c
 *     data representations    io_datarep_extent and call_user in io/datarep.c
 */
#ifndef MPI_USER_H
#define MPI_USER_H

void mpi_user_begin(void);
void mpi_user_end(void);

#endif
