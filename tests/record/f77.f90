! native=2: the binding mpif.h.
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, number) integer :: name(MPI_STATUS_SIZE, number)
program every
   implicit none
   include 'mpif.h'
#include "every_fortran.inc"
end program
