! test: n=1,2,5,16,300 native=4 output=free args="{tmp}"
! test: lines="rank +\d+ writes in two parts| *[\d.]+ +[\d.E+-]+ +[TF]|ok fortran io"
! Units belong to the rank: all open unit 20 on their own file, write with blocking calls in
! between, and read back. Internal writes, non-advancing output, random_number and timers.
program fortran_io
    use mpi
    implicit none
    integer :: rank, nranks, ierr, i, number, seed_size
    integer(8) :: ticks, ticks_after, rate
    integer, allocatable :: seed(:)
    real(8) :: first(10), again(10)
    real :: cpu, cpu_after
    character(len=200) :: folder, path, line, expected
    logical :: opened
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
    call require(command_argument_count() == 1, 'one argument')
    call get_command_argument(1, folder)

    inquire (unit=20, opened=opened)
    call require(.not. opened, 'unit 20 is free')
    write (path, '(A,A,I0)') trim(folder), '/unit20.', rank
    open (unit=20, file=path, form='formatted', status='replace', action='readwrite')
    do i = 1, 10
        write (20, '(A,I6,A,I4)') 'rank', rank, ' line', i
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    rewind (20)
    do i = 1, 10
        read (20, '(A)') line
        write (expected, '(A,I6,A,I4)') 'rank', rank, ' line', i
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call require(line == expected, 'line read back')
    end do
    close (20)
    open (unit=21, file=path, form='formatted', status='old', action='read')
    read (21, '(A4,I6)') line, number
    call require(number == rank, 'number read back')
    close (21, status='delete')

    write (6, '(A,I4,A)', advance='no') 'rank', rank, ' writes'
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    write (6, '(A)') ' in two parts'
    call flush(6)
    write (*, '(F8.3,2X,ES12.4,2X,L1)') rank * 1.5, rank * 1d-3, rank > 1

    call random_seed(size=seed_size)
    allocate (seed(seed_size))
    seed = rank * 100 + (/(i, i=1, seed_size)/)
    call random_seed(put=seed)
    do i = 1, 10
        call random_number(first(i))
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    call random_seed(put=seed)
    call random_number(again)
    call require(all(first == again), 'random sequence')

    call cpu_time(cpu)
    call system_clock(ticks, rate)
    do i = 1, 20
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call cpu_time(cpu_after)
        call system_clock(ticks_after)
        call require(cpu_after >= cpu .and. ticks_after >= ticks .and. rate > 0, 'timers')
        cpu = cpu_after
        ticks = ticks_after
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) write (*, '(A)') 'ok fortran io'
    call MPI_Finalize(ierr)
contains
    subroutine require(ok, what)
        logical, intent(in) :: ok
        character(*), intent(in) :: what
        if (.not. ok) then
            write (0, *) 'check failed on rank', rank, ': ', what
            call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
        end if
    end subroutine
end program
