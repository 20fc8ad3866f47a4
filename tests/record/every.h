/*
 * every.h - what the programs of this folder share. Together they make every call of the API list,
 * each with results that do not depend on the MPI or on time, so that a native run and a simulated
 * one have the same records.
 *
 * Functions with a large-count form are called by a header that is included twice: with F(Send)
 * for MPI_Send, and then for MPI_Send_c.
 */
#ifndef TESTS_RECORD_EVERY_H
#define TESTS_RECORD_EVERY_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

__attribute__((unused)) static void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

__attribute__((unused)) static void finish(void)
{
    MPI_Finalize();
    if (rank == 0)
        printf("ok\n");
}

#endif
