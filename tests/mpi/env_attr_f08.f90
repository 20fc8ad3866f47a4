! test: n=1,2 native=2
! use mpi_f08: attribute functions, error handlers and operations with handles as derived types.
module callbacks
    use mpi_f08
    implicit none
    integer :: copies = 0, deletes = 0, calls = 0, class_seen = -1
    type(MPI_Comm) :: where_seen
contains
    subroutine on_copy(comm, key, extra, val, newval, flag, ierr)
        type(MPI_Comm) :: comm
        integer :: key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: extra, val, newval
        logical :: flag
        copies = copies + 1
        newval = val + extra
        flag = .true.
        ierr = MPI_SUCCESS
    end subroutine

    subroutine on_delete(comm, key, val, extra, ierr)
        type(MPI_Comm) :: comm
        integer :: key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: val, extra
        deletes = deletes + 1
        ierr = MPI_SUCCESS
    end subroutine

    subroutine on_error(comm, code)
        type(MPI_Comm) :: comm
        integer :: code
        calls = calls + 1
        where_seen = comm
        call MPI_Error_class(code, class_seen)
    end subroutine

    subroutine add(in, inout, n, typ)
        use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
        type(c_ptr), value :: in, inout
        integer :: n
        type(MPI_Datatype) :: typ
        integer, pointer :: a(:), b(:)
        call c_f_pointer(in, a, [n])
        call c_f_pointer(inout, b, [n])
        b = a + b
    end subroutine

    subroutine must(cond, what)
        logical, intent(in) :: cond
        character(len=*), intent(in) :: what
        if (.not. cond) then
            print *, 'failed: ', what
            call MPI_Abort(MPI_COMM_WORLD, 1)
        end if
    end subroutine
end module

program env_attr_f08
    use mpi_f08
    use callbacks
    implicit none
    integer :: key, rank, size, ierr, ones(3), sums(3)
    integer(kind=MPI_ADDRESS_KIND) :: extra, val
    logical :: flag
    type(MPI_Comm) :: dup, dup2
    type(MPI_Errhandler) :: handler
    type(MPI_Op) :: op

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    extra = 100
    call MPI_Comm_create_keyval(on_copy, on_delete, key, extra)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup)
    val = -1
    call MPI_Comm_set_attr(dup, key, val)
    call MPI_Comm_dup(dup, dup2)
    call MPI_Comm_get_attr(dup2, key, val, flag)
    call must(flag .and. val == 99 .and. copies == 1, 'copied')
    call MPI_Comm_free(dup2)
    call must(deletes == 1, 'freed')
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_create_errhandler(on_error, handler)
    call MPI_Comm_set_errhandler(dup, handler)
    call MPI_Errhandler_free(handler)
    call MPI_Send(ones, -1, MPI_INTEGER, 0, 0, dup, ierr)
    call must(calls == 1 .and. where_seen == dup .and. class_seen == MPI_ERR_COUNT, 'handler')
    call MPI_Comm_free(dup)
    call must(deletes == 2, 'freed with its key gone')
    call MPI_Op_create(add, .true., op)
    ones = [1, 2, 3]
    call MPI_Allreduce(ones, sums, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
    call must(all(sums == ones * size), 'operation')
    call MPI_Op_free(op)
    if (rank == 0) print *, 'ok'
    call MPI_Finalize()
end program
