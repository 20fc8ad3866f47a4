c test: n=1,2,5,16,300 native=4
c Fixed form with mpif.h: COMMON, SAVE, DATA and BLOCK DATA are private to each rank.
      program f77com
      implicit none
      include 'mpif.h'
      integer rank, size, ierr, i, left, right, got
      integer status(MPI_STATUS_SIZE)
      integer counter, grid(100)
      double precision total
      common /shared/ total, counter, grid
      integer tick
      external tick
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      if (counter .ne. 17) call fail('block data', ierr)
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      counter = 100 + rank
      do 10 i = 1, 100
         grid(i) = rank * 1000 + i
   10 continue
      total = 0.5d0 * rank
      do 20 i = 1, 5
         call MPI_BARRIER(MPI_COMM_WORLD, ierr)
         if (tick() .ne. 30 + i) call fail('save', i)
         if (counter .ne. 100 + rank) call fail('common', counter)
         if (total .ne. 0.5d0 * rank) call fail('total', i)
   20 continue
      call MPI_SENDRECV(grid, 50, MPI_INTEGER, right, 5, grid(51), 50,
     &     MPI_INTEGER, left, 5, MPI_COMM_WORLD, status, ierr)
      do 30 i = 1, 50
         if (grid(i) .ne. rank * 1000 + i) call fail('sent', i)
         if (grid(50 + i) .ne. left * 1000 + i) call fail('got', i)
   30 continue
      if (status(MPI_SOURCE) .ne. left) call fail('source', left)
      if (status(MPI_TAG) .ne. 5) call fail('tag', status(MPI_TAG))
      call MPI_GET_COUNT(status, MPI_INTEGER, got, ierr)
      if (got .ne. 50) call fail('count', got)
      call MPI_ALLREDUCE(MPI_IN_PLACE, counter, 1, MPI_INTEGER,
     &     MPI_SUM, MPI_COMM_WORLD, ierr)
      if (counter .ne. 100 * size + size * (size - 1) / 2)
     &     call fail('sum', counter)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) write (6, '(A)') 'ok f77 common'
      call MPI_FINALIZE(ierr)
      end

      integer function tick()
      implicit none
      integer calls, start
      save calls, start
      data calls /0/, start /30/
      calls = calls + 1
      tick = start + calls
      end

      subroutine fail(what, number)
      implicit none
      include 'mpif.h'
      character*(*) what
      integer number, ierr
      write (0, *) 'check failed: ', what, number
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end

      block data
      implicit none
      integer counter, grid(100)
      double precision total
      common /shared/ total, counter, grid
      data counter /17/
      end
