// The same as ring.f90, whose ranks it may share an MPI_COMM_WORLD with: other libraries, at other addresses.
#include <mpi.h>
#include <cmath>
#include <iomanip>
#include <unistd.h>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <vector>

int main(int argc, char **argv)
{
    int rank, size, sum = 0, found, *app;
    std::vector<double> x(1);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &found);
    x[0] = rank;
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(MPI_IN_PLACE, x.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        x[0] = std::sqrt(x[0]) + rank;
        try {
            if (i == 3)
                throw std::runtime_error("unwinds the stack");
        } catch (const std::exception &) {
            sum++;
        }
        MPI_Sendrecv_replace(x.data(), 1, MPI_DOUBLE, (rank + 1) % size, 3,
                             (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    std::ostringstream line;
    line << std::fixed << std::setprecision(9) << rank << " of " << size << ", app " << *app << ": "
         << x[0] << " " << (rank ? 0 : sum) << " " << (argc > 1 ? argv[1] : "") << "\n";
    dprintf(STDOUT_FILENO, "%s", line.str().c_str());
    MPI_Finalize();
    return 0;
}
