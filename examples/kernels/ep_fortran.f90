! ep_fortran.f90 - ep.c in Fortran, with mpi_f08: the same numbers, and the same checksum.
module tallies
    use, intrinsic :: iso_fortran_env, only: int64, real64
    implicit none
    integer, parameter :: pairs_of_block = 4096, bins = 10
    ! bins, accepted pairs, numbers of blocks, and two sums as integers, which add up exactly
    integer, parameter :: at_pairs = bins + 1, at_blocks = bins + 2, at_x = bins + 3, at_y = bins + 4, words = bins + 4
    real(real64), parameter :: fixed = 2.0_real64**32
contains
    ! A mixed number for each index, as kernel_hash: the arithmetic wraps.
    pure function hash(i) result(x)
        integer(int64), intent(in) :: i
        integer(int64) :: x
        x = (i - 7046029254386353131_int64) * (-4658895280553007687_int64)
        x = ieor(x, shiftr(x, 29)) * (-7723592293110705685_int64)
        x = ieor(x, shiftr(x, 32))
    end function

    pure function uniform(i) result(u)
        integer(int64), intent(in) :: i
        real(real64) :: u
        u = real(shiftr(hash(i), 11), real64) * 2.0_real64**(-53)
    end function

    pure subroutine add_pair(t, u, v)
        integer(int64), intent(inout) :: t(words)
        real(real64), intent(in) :: u, v
        real(real64) :: square, scale, x, y, larger
        integer :: bin
        square = u * u + v * v
        if (square > 1 .or. square == 0) return
        scale = sqrt(-2 * log(square) / square)
        x = u * scale
        y = v * scale
        larger = max(abs(x), abs(y))
        bin = bins
        if (larger < bins) bin = int(larger) + 1
        t(bin) = t(bin) + 1
        t(at_pairs) = t(at_pairs) + 1
        t(at_x) = t(at_x) + int(x * fixed, int64)
        t(at_y) = t(at_y) + int(y * fixed, int64)
    end subroutine

    pure subroutine add_block(t, block)
        integer(int64), intent(inout) :: t(words)
        integer(int64), intent(in) :: block
        integer(int64) :: seed, i
        seed = hash(block)
        do i = 0, pairs_of_block - 1
            call add_pair(t, 2 * uniform(seed + 2 * i) - 1, 2 * uniform(seed + 2 * i + 1) - 1)
        end do
        t(at_blocks) = t(at_blocks) + block + 1
    end subroutine

    ! Sums of independent numbers with mean 0 and variance 1 stay within five standard deviations.
    pure function is_right(t, blocks)
        integer(int64), intent(in) :: t(words), blocks
        logical :: is_right
        real(real64) :: most, accepted
        most = 5 * sqrt(real(t(at_pairs), real64))
        accepted = real(t(at_pairs), real64) / real(blocks * pairs_of_block, real64)
        is_right = sum(t(1:bins)) == t(at_pairs) .and. t(at_blocks) == blocks * (blocks + 1) / 2 .and. &
            abs(t(at_x) / fixed) < most .and. abs(t(at_y) / fixed) < most .and. &
            abs(accepted - acos(-1.0_real64) / 4) < 0.01
    end function
end module

program ep
    use mpi_f08
    use tallies
    implicit none
    character(len=*), parameter :: classes = 'TSWAB'
    integer(int64), parameter :: blocks_of_class(5) = [16, 256, 2048, 8192, 32768]
    integer(int64) :: own(words), all(words), block, blocks, checksum, i
    integer :: rank, ranks, class
    character(len=8) :: argument
    real(real64) :: start, seconds, longest
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    argument = 'T'
    if (command_argument_count() > 0) call get_command_argument(1, argument)
    class = index(classes, trim(argument))
    if (class == 0 .or. len_trim(argument) /= 1) then
        if (rank == 0) print '(a)', 'ep: expected one argument, a class: T (tiny), S, W, A or B'
        call MPI_Finalize()
        stop 2
    end if
    blocks = blocks_of_class(class)
    own = 0
    call MPI_Barrier(MPI_COMM_WORLD)
    start = MPI_Wtime()
    do block = rank, blocks - 1, ranks
        call add_block(own, block)
    end do
    call MPI_Allreduce(own, all, words, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    seconds = MPI_Wtime() - start
    call MPI_Reduce(seconds, longest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD)
    checksum = 0
    do i = 1, words
        checksum = checksum + hash(i - 1) * all(i)
    end do
    if (rank == 0) then
        print '(a,i0,a)', 'ep class ' // classes(class:class) // ', ', ranks, &
            ' ranks: ' // trim(merge('verified', 'WRONG   ', is_right(all, blocks)))
        print '(a,z16.16)', 'checksum ', checksum
        print '(a,f0.6,a)', 'time ', longest, ' s'
    end if
    call MPI_Finalize()
    if (.not. is_right(all, blocks)) stop 1
end program
