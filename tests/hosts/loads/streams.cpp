// A library in C++: static objects, streams and exceptions of each rank.
#include <iomanip>
#include <iostream>
#include <mpi.h>
#include <stdexcept>
#include <string>

namespace
{
struct text {
    std::string value = "fresh";
    ~text()
    {
        std::cout << "  text ends as " << value << std::endl;
    }
} kept;
} // namespace

extern "C" void streams_call(int rank)
{
    std::cout << (rank % 2 ? std::hex : std::dec);
    kept.value += std::to_string(rank);
    try {
        throw std::runtime_error("thrown by " + std::to_string(rank));
    } catch (const std::exception &e) {
        MPI_Barrier(MPI_COMM_WORLD);
        std::cout << "rank " << rank << ": 255 is " << 255 << ", " << e.what() << ", " << kept.value
                  << std::endl;
    }
}
