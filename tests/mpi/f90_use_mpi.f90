! test: n=1,2,5,16,300 native=4
! use mpi: module variables, allocatables, derived types, user operations, IN_PLACE, requests.
module state
    implicit none
    integer :: rank = -1, nranks = -1
    integer, allocatable :: values(:)
    real(8) :: matrix(8, 8) = 1.5d0
contains
    subroutine require(ok, what)
        use mpi
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        integer :: ierr
        if (.not. ok) then
            write (0, *) 'check failed on rank', rank, ': ', what
            call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
        end if
    end subroutine

    subroutine larger(a, b, n, datatype)
        integer :: n, datatype
        integer :: a(n), b(n)
        b = max(a, b)
        if (datatype == 0) stop 9
    end subroutine
end module

program f90_use_mpi
    use mpi
    use state
    implicit none
    integer :: ierr, i, left, right, column, op, answer, best(2), mine(2), row_comm, row_rank
    integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
    logical :: flag
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
    right = mod(rank + 1, nranks)
    left = mod(rank + nranks - 1, nranks)
    call require(all(matrix == 1.5d0), 'initial value')
    allocate (values(10 + rank))
    values = rank
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call require(size(values) == 10 + rank .and. all(values == rank), 'allocatable')

    ! A row of a matrix is strided in Fortran.
    matrix = rank
    call MPI_Type_vector(8, 1, 8, MPI_DOUBLE_PRECISION, column, ierr)
    call MPI_Type_commit(column, ierr)
    call MPI_Irecv(matrix(2, 1), 1, column, left, 3, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(matrix(1, 1), 1, column, right, 3, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call MPI_Type_free(column, ierr)
    call require(all(matrix(2, :) == left) .and. all(matrix(1, :) == rank), 'row')
    call require(all(matrix(3:, :) == rank), 'untouched')
    call require(statuses(MPI_SOURCE, 1) == left, 'status')
    if (rank == 0) write (*, '(A)') 'ok f90 vector'

    call MPI_Op_create(larger, .true., op, ierr)
    call MPI_Allreduce(rank, answer, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
    call MPI_Op_free(op, ierr)
    call require(answer == nranks - 1, 'user operation')
    mine = (/mod(rank * 7, nranks), rank/)
    call MPI_Allreduce(mine, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    answer = 0
    do i = 0, nranks - 1
        answer = max(answer, mod(i * 7, nranks))
    end do
    call require(best(1) == answer .and. mod(best(2) * 7, nranks) == answer, 'maxloc')
    if (rank == 0) write (*, '(A)') 'ok f90 operations'

    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, row_comm, ierr)
    call MPI_Comm_rank(row_comm, row_rank, ierr)
    call MPI_Comm_size(row_comm, answer, ierr)
    call require(row_rank == answer - 1 - rank / 2, 'split')
    call MPI_Comm_free(row_comm, ierr)
    call require(row_comm == MPI_COMM_NULL, 'freed')
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    call require(.not. flag, 'nothing to probe')
    call require(MPI_Wtime() >= 0d0, 'wtime')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) write (*, '(A)') 'ok f90 communicators'
    call MPI_Finalize(ierr)
end program
