/*
 * abi_mpich.c - the ABI of the virtual MPI (api/mpi_abi.txt) is MPICH's: this file compiles only if
 * types, constants and functions are those of MPICH's mpi.h. It has no code.
 */
#include <mpi.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "mpi_abi_asserts.h"
