! test: n=1,2 native=2
! use mpi: attribute functions of communicators and types, a failing delete function, error handlers,
! hints, the predefined copy and delete functions.
module callbacks
    use mpi
    implicit none
    integer :: copies = 0, deletes = 0, calls = 0, failing = MPI_SUCCESS, class_seen = -1
    integer(kind=MPI_ADDRESS_KIND) :: seen = 0
contains
    subroutine on_copy(comm, key, extra, val, newval, flag, ierr)
        integer :: comm, key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: extra, val, newval
        logical :: flag
        copies = copies + 1
        newval = val * 2 + extra
        flag = val /= 13
        ierr = MPI_SUCCESS
    end subroutine

    subroutine on_delete(comm, key, val, extra, ierr)
        integer :: comm, key, ierr
        integer(kind=MPI_ADDRESS_KIND) :: extra, val
        deletes = deletes + 1
        seen = val
        ierr = failing
    end subroutine

    subroutine on_error(comm, code)
        integer :: comm, code, ierr
        calls = calls + 1
        call MPI_Error_class(code, class_seen, ierr)
    end subroutine

    subroutine must(cond, what)
        logical, intent(in) :: cond
        character(len=*), intent(in) :: what
        integer :: ierr
        if (.not. cond) then
            print *, 'failed: ', what
            call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
        end if
    end subroutine
end module

program env_attr_f90
    use mpi
    use callbacks
    implicit none
    integer :: key, plain, dup, dup2, ierr, rank, handler, got, info, typ, typ2
    integer(kind=MPI_ADDRESS_KIND) :: extra, val
    logical :: flag
    character(len=64) :: text

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    extra = 7
    call MPI_Comm_create_keyval(on_copy, on_delete, key, extra, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, extra, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
    call MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN, ierr)
    val = -5
    call MPI_Comm_set_attr(dup, key, val, ierr)
    val = 1234567890123_MPI_ADDRESS_KIND
    call MPI_Comm_set_attr(dup, plain, val, ierr)
    call MPI_Comm_dup(dup, dup2, ierr)
    call MPI_Comm_get_attr(dup2, key, val, flag, ierr)
    call must(flag .and. val == -3, 'copied')
    call MPI_Comm_get_attr(dup2, plain, val, flag, ierr)
    call must(flag .and. val == 1234567890123_MPI_ADDRESS_KIND, 'duplicated')
    val = 13
    call MPI_Comm_set_attr(dup2, key, val, ierr)
    call must(deletes == 1 .and. seen == -3, 'replaced')
    call MPI_Comm_free(dup2, ierr)
    call must(deletes == 2 .and. seen == 13, 'freed')
    failing = MPI_ERR_TOPOLOGY
    call MPI_Comm_delete_attr(dup, key, ierr)
    call must(ierr == MPI_ERR_TOPOLOGY, 'code of the delete function')
    failing = MPI_SUCCESS
    call MPI_Comm_get_attr(dup, key, val, flag, ierr)
    call must(flag .and. val == -5, 'kept')
    call MPI_Comm_free(dup, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_free_keyval(plain, ierr)

    deletes = 0
    call MPI_Type_create_keyval(on_copy, on_delete, key, extra, ierr)
    call MPI_Type_vector(2, 1, 3, MPI_REAL, typ, ierr)
    val = 4
    call MPI_Type_set_attr(typ, key, val, ierr)
    call MPI_Type_dup(typ, typ2, ierr)
    call MPI_Type_get_attr(typ2, key, val, flag, ierr)
    call must(flag .and. val == 15, 'type copied')
    call MPI_Type_free(typ2, ierr)
    call must(deletes == 1 .and. seen == 15, 'type freed')
    call MPI_Type_free(typ, ierr)
    call MPI_Type_free_keyval(key, ierr)

    call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
    call MPI_Comm_create_errhandler(on_error, handler, ierr)
    call MPI_Comm_set_errhandler(dup, handler, ierr)
    call MPI_Comm_get_errhandler(dup, got, ierr)
    call must(got == handler, 'handler')
    call MPI_Errhandler_free(got, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Comm_call_errhandler(dup, MPI_ERR_RANK, ierr)
    call must(calls == 1 .and. class_seen == MPI_ERR_RANK, 'handler called')
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'mpi_assert_no_any_tag', 'true', ierr)
    call MPI_Comm_set_info(dup, info, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Comm_get_info(dup, info, ierr)
    call MPI_Info_get(info, 'mpi_assert_no_any_tag', 64, text, flag, ierr)
    call must(flag .and. text == 'true', 'hint')
    call MPI_Info_free(info, ierr)
    call MPI_Comm_free(dup, ierr)
    if (rank == 0) print *, 'ok'
    call MPI_Finalize(ierr)
end program
