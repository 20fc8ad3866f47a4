! native=2: the binding mpi.
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, number) integer :: name(MPI_STATUS_SIZE, number)
program every
   use mpi
   implicit none
#include "every_fortran.inc"
end program
