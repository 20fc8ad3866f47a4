/* A tool that wants to be called between the program and MPI (QMPI), which MPICH has. */
#include <mpi.h>
#include <stddef.h>

int QMPI_Register_tool_name(const char *name, void (*init)(int));

int main(int argc, char **argv)
{
    QMPI_Register_tool_name("tool", NULL);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
