C test: n=1,2 native=2
C Attributes, error handlers and operations written in Fortran, through mpif.h: the old calls with
C INTEGER values and the newer ones with address-sized values.
      subroutine copy_old(comm, key, extra, val, newval, flag, ierr)
      implicit none
      integer comm, key, extra, val, newval, ierr
      logical flag
      integer copies, deletes, seen
      common /counts/ copies, deletes, seen
      copies = copies + 1
      newval = val + extra
      flag = .true.
      ierr = 0
      end

      subroutine delete_old(comm, key, val, extra, ierr)
      implicit none
      integer comm, key, val, extra, ierr
      integer copies, deletes, seen
      common /counts/ copies, deletes, seen
      deletes = deletes + 1
      seen = val
      ierr = 0
      end

      subroutine copy_new(comm, key, extra, val, newval, flag, ierr)
      implicit none
      include 'mpif.h'
      integer comm, key, ierr
      integer(kind=MPI_ADDRESS_KIND) extra, val, newval
      logical flag
      integer copies, deletes, seen
      common /counts/ copies, deletes, seen
      copies = copies + 1
      newval = val + extra
      flag = .true.
      ierr = MPI_SUCCESS
      end

      subroutine delete_new(comm, key, val, extra, ierr)
      implicit none
      include 'mpif.h'
      integer comm, key, ierr
      integer(kind=MPI_ADDRESS_KIND) extra, val
      integer copies, deletes, seen
      common /counts/ copies, deletes, seen
      deletes = deletes + 1
      seen = int(val - extra)
      ierr = MPI_SUCCESS
      end

      subroutine on_error(comm, code)
      implicit none
      include 'mpif.h'
      integer comm, code, ierr
      integer calls, where, what
      common /errors/ calls, where, what
      calls = calls + 1
      where = comm
      call MPI_Error_class(code, what, ierr)
      end

      subroutine product_plus(in, inout, n, type)
      implicit none
      integer n, type, in(n), inout(n), i
      do i = 1, n
          inout(i) = in(i) * inout(i)
      end do
      end

      subroutine must(cond, what)
      implicit none
      include 'mpif.h'
      logical cond
      character*(*) what
      integer ierr
      if (.not. cond) then
          print *, 'failed: ', what
          call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end if
      end

      subroutine old_calls
      implicit none
      include 'mpif.h'
      external copy_old, delete_old
      integer key, val, dup, ierr
      logical flag
      integer copies, deletes, seen
      common /counts/ copies, deletes, seen
      copies = 0
      deletes = 0
      call MPI_Keyval_create(copy_old, delete_old, key, 5, ierr)
      call MPI_Attr_get(MPI_COMM_WORLD, key, val, flag, ierr)
      call must(.not. flag, 'not set')
      call MPI_Attr_put(MPI_COMM_WORLD, key, -70, ierr)
      call MPI_Attr_get(MPI_COMM_WORLD, key, val, flag, ierr)
      call must(flag .and. val .eq. -70, 'old value')
      call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
      call MPI_Attr_get(dup, key, val, flag, ierr)
      call must(flag .and. val .eq. -65, 'old copy')
      call MPI_Comm_free(dup, ierr)
      call must(copies .eq. 1 .and. deletes .eq. 1, 'old counts')
      call must(seen .eq. -65, 'old delete')
      call MPI_Attr_delete(MPI_COMM_WORLD, key, ierr)
      call must(deletes .eq. 2 .and. seen .eq. -70, 'old delete 2')
      call MPI_Keyval_free(key, ierr)
      call must(key .eq. MPI_KEYVAL_INVALID, 'old key')
      end

      subroutine new_calls
      implicit none
      include 'mpif.h'
      external copy_new, delete_new
      integer key, dup, ierr, type, type2
      logical flag
      integer(kind=MPI_ADDRESS_KIND) val, extra, big
      integer copies, deletes, seen
      common /counts/ copies, deletes, seen
      copies = 0
      deletes = 0
      extra = 3
      big = 1000000000
      big = big * 1000
      call MPI_Comm_create_keyval(copy_new, delete_new, key, extra,
     &                            ierr)
      call MPI_Comm_set_attr(MPI_COMM_WORLD, key, big, ierr)
      call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
      call MPI_Comm_get_attr(dup, key, val, flag, ierr)
      call must(flag .and. val .eq. big + 3, 'new copy')
      val = 44
      call MPI_Comm_set_attr(dup, key, val, ierr)
      call MPI_Comm_free(dup, ierr)
      call must(copies .eq. 1 .and. deletes .eq. 2, 'new counts')
      call must(seen .eq. 41, 'new delete')
      call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
      call MPI_Comm_free_keyval(key, ierr)
      call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_new, key,
     &                            extra, ierr)
      call MPI_Type_contiguous(3, MPI_INTEGER, type, ierr)
      call MPI_Type_set_attr(type, key, big, ierr)
      call MPI_Type_dup(type, type2, ierr)
      call MPI_Type_get_attr(type2, key, val, flag, ierr)
      call must(flag .and. val .eq. big, 'type copy')
      call MPI_Type_free(type2, ierr)
      call must(deletes .eq. 4, 'type delete')
      call MPI_Type_free(type, ierr)
      call must(deletes .eq. 5, 'type delete 2')
      call MPI_Type_free_keyval(key, ierr)
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, val, flag,
     &                       ierr)
      call must(flag .and. val .ge. 32767, 'MPI_TAG_UB')
      end

      program env_attr_f77
      implicit none
      include 'mpif.h'
      external on_error, product_plus
      integer handler, dup, ierr, op, n(2), r(2), rank, size, i, want
      integer calls, where, what
      common /errors/ calls, where, what
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
      call old_calls
      call new_calls
      calls = 0
      call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
      call MPI_Comm_create_errhandler(on_error, handler, ierr)
      call MPI_Comm_set_errhandler(dup, handler, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call MPI_Send(n, -1, MPI_INTEGER, 0, 0, dup, ierr)
      call must(calls .eq. 1 .and. where .eq. dup, 'handler called')
      call must(what .eq. MPI_ERR_COUNT, 'class of the error')
      call MPI_Comm_free(dup, ierr)
      call MPI_Op_create(product_plus, .true., op, ierr)
      n(1) = rank + 1
      n(2) = 2
      call MPI_Allreduce(n, r, 2, MPI_INTEGER, op, MPI_COMM_WORLD,
     &                   ierr)
      want = 1
      do i = 1, size
          want = want * i
      end do
      call must(r(1) .eq. want .and. r(2) .eq. 2**size, 'operation')
      call MPI_Op_free(op, ierr)
      if (rank .eq. 0) print *, 'ok'
      call MPI_Finalize(ierr)
      end
