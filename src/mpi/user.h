/*
 * user.h - functions of the program that are called inside MPI: operations, error handlers.
 *
 * Their time is program time: it is charged to the rank like any other.
 */
#ifndef MPI_USER_H
#define MPI_USER_H

void mpi_user_begin(void);
void mpi_user_end(void);

#endif
