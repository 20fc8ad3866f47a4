! A general request from Fortran, for which MPICH has a function of its own.
program general
   use mpi
   implicit none
   external query, let_go, cancel
   integer :: request, ierr, status(MPI_STATUS_SIZE)
   integer(MPI_ADDRESS_KIND) :: state
   state = 0
   call MPI_Init(ierr)
   call MPI_Grequest_start(query, let_go, cancel, state, request, ierr)
   call MPI_Grequest_complete(request, ierr)
   call MPI_Wait(request, status, ierr)
   call MPI_Finalize(ierr)
end program

subroutine query(state, status, ierr)
   use mpi
   implicit none
   integer(MPI_ADDRESS_KIND) :: state
   integer :: status(MPI_STATUS_SIZE), ierr
   call MPI_Status_set_elements(status, MPI_INTEGER, 0, ierr)
   call MPI_Status_set_cancelled(status, .false., ierr)
   status(MPI_SOURCE) = MPI_UNDEFINED
   status(MPI_TAG) = MPI_UNDEFINED
   ierr = MPI_SUCCESS
end subroutine

subroutine let_go(state, ierr)
   use mpi
   implicit none
   integer(MPI_ADDRESS_KIND) :: state
   integer :: ierr
   ierr = MPI_SUCCESS
end subroutine

subroutine cancel(state, complete, ierr)
   use mpi
   implicit none
   integer(MPI_ADDRESS_KIND) :: state
   logical :: complete
   integer :: ierr
   ierr = MPI_SUCCESS
end subroutine
