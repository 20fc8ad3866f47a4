! native=2: the binding mpi_f08.
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, number) type(MPI_Status) :: name(number)
program every
   use mpi_f08
   implicit none
#include "every_fortran.inc"
end program
