! test: n=1,2,5,16,300 native=4
! use mpi_f08: typed handles, optional ierror, callbacks, statuses by component.
module checks
    use mpi_f08
    implicit none
    integer, save :: called = 0
contains
    subroutine require(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        if (.not. ok) then
            write (0, *) 'check failed: ', what
            call MPI_Abort(MPI_COMM_WORLD, 1)
        end if
    end subroutine

    subroutine add(invec, inoutvec, length, datatype)
        use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
        type(c_ptr), value :: invec, inoutvec
        integer :: length
        type(MPI_Datatype) :: datatype
        integer, pointer :: a(:), b(:)
        call c_f_pointer(invec, a, [length])
        call c_f_pointer(inoutvec, b, [length])
        b = a + b
        called = called + 1
        if (datatype == MPI_DATATYPE_NULL) stop 9
    end subroutine
end module

program f08_use_mpi
    use mpi_f08
    use checks
    implicit none
    type(MPI_Comm) :: copy
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    type(MPI_Op) :: op
    type(MPI_Datatype) :: part
    integer :: rank, nranks, left, right, count, i, sums(4), ours(4)
    real(8) :: grid(6, 6)
    character(len=20) :: word
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks)
    right = mod(rank + 1, nranks)
    left = mod(rank + nranks - 1, nranks)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    call require(copy /= MPI_COMM_WORLD, 'dup')

    write (word, '(A,I0)') 'from ', rank
    call MPI_Isend(word, len(word), MPI_CHARACTER, right, 11, copy, request)
    block_receive: block
        character(len=20) :: got, expected
        call MPI_Recv(got, len(got), MPI_CHARACTER, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, status)
        write (expected, '(A,I0)') 'from ', left
        call require(got == expected, 'word')
    end block block_receive
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call require(status%MPI_SOURCE == left .and. status%MPI_TAG == 11, 'status')
    call MPI_Get_count(status, MPI_CHARACTER, count)
    call require(count == 20, 'count')
    if (rank == 0) write (*, '(A)') 'ok f08 messages'

    grid = -1
    grid(2:5, 2:5) = rank
    call MPI_Type_create_subarray(2, [6, 6], [4, 1], [1, 1], MPI_ORDER_FORTRAN, &
                                  MPI_DOUBLE_PRECISION, part)
    call MPI_Type_commit(part)
    call MPI_Sendrecv(grid, 1, part, right, 1, grid(2, 6), 4, MPI_DOUBLE_PRECISION, left, 1, &
                      copy, MPI_STATUS_IGNORE)
    call MPI_Type_free(part)
    call require(all(grid(2:5, 6) == left) .and. all(grid(:, 1) == -1), 'subarray')
    if (rank == 0) write (*, '(A)') 'ok f08 subarray'

    call MPI_Op_create(add, .true., op)
    ours = [(rank * i, i = 1, 4)]
    call MPI_Allreduce(ours, sums, 4, MPI_INTEGER, op, copy)
    call MPI_Op_free(op)
    call require(all(sums == [(i * nranks * (nranks - 1) / 2, i = 1, 4)]), 'sum')
    call MPI_Allreduce(MPI_IN_PLACE, called, 1, MPI_INTEGER, MPI_SUM, copy)
    call require(called > 0 .or. nranks == 1, 'callback')
    call MPI_Bcast(sums, 4, MPI_INTEGER, nranks - 1, copy)
    call MPI_Comm_free(copy)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) write (*, '(A)') 'ok f08 operations'
    call MPI_Finalize()
end program
