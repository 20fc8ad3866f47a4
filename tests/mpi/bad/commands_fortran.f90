! Ranks run commands: one that they wait for, and one in the background.
program commands
  use mpi
  implicit none
  integer :: ierr, rank, status, code, waited
  character(80) :: name
  logical :: there

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  write (name, '(a,i0)') 'made.', rank
  call execute_command_line('mkdir ' // trim(name) // '; exit 3', exitstat=status, cmdstat=code)
  inquire (file=trim(name) // '/.', exist=there)
  print '(a,i0,a,i0,a,i0,a,l1)', 'rank ', rank, ': ', status, ', ', code, ', ', there
  call execute_command_line('echo later >' // trim(name) // '/file', wait=.false., cmdstat=code)
  there = code == 0
  waited = 0
  do while (there .and. waited < 600)
    inquire (file=trim(name) // '/file', exist=there)
    if (there) exit
    there = .true.
    call execute_command_line('sleep 0.1')
    waited = waited + 1
  end do
  print '(a,i0,a,l1)', 'rank ', rank, ': in the background ', there .and. waited < 600
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
