! Random numbers of Fortran, which are seeded by the system unless a program does it.
program entropy_fortran
    use mpi
    implicit none
    integer :: rank, ierror, n
    integer, allocatable :: seed(:)
    real(8) :: x(3)

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call random_number(x(1))
    call random_seed()
    call random_seed(size=n)
    allocate (seed(n))
    call random_seed(get=seed)
    call random_number(x(2))
    call random_init(.false., .false.)
    call random_number(x(3))
    print '(a,i0,3f20.16,i12)', 'rank ', rank, x, sum(seed / n)
    call MPI_Finalize(ierror)
end program
