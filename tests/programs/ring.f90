! The same as ring.cpp. It uses constants of Fortran, which its binding knows by their addresses.
program ring
    use mpi_f08
    implicit none
    integer :: rank, ranks, i, total
    double precision :: x
    integer(kind=MPI_ADDRESS_KIND) :: app
    logical :: found
    character(len=80) :: argument

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, app, found)
    x = rank
    do i = 1, 20
        call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        x = sqrt(x) + rank
        call MPI_Sendrecv_replace(x, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 3, &
                                  mod(rank + ranks - 1, ranks), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
    total = 0
    call MPI_Reduce(rank, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    call get_command_argument(1, argument)
    print '(i0, a, i0, a, i0, a, f0.9, a, i0, a, a)', rank, ' of ', ranks, ', app ', app, ': ', x, ' ', total, ' ', &
        trim(argument)
    call MPI_Finalize()
end program
