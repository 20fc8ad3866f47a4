// test: n=1,2,5,16,300 native=4 output=free args="{tmp}"
// test: lines="rank \w+ pi [\d.]+ number (255|0xff)|\*+\w+|ok streams"
// Formatting state of cout, string streams and file streams belongs to the rank.
#include "check.h"

#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank();
    std::ostringstream built;
    std::cout << std::setprecision(2 + rank % 5) << std::fixed;
    built << std::setprecision(2 + rank % 5) << std::fixed;
    if (rank % 2)
        std::cout << std::hex << std::showbase;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(std::cout.precision() == 2 + rank % 5);
    CHECK(static_cast<bool>(std::cout.flags() & std::ios::hex) == (rank % 2 == 1));
    std::cout << "rank " << rank;
    MPI_Barrier(MPI_COMM_WORLD);
    std::cout << " pi " << 3.14159265358979 << " number " << 255 << std::endl;
    built << 3.14159265358979;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(built.str().size() == 4u + rank % 5);
    std::cout << std::setw(10) << std::setfill('*');
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(std::cout.width() == 10 && std::cout.fill() == '*');
    std::cout << rank << '\n';
    CHECK(argc == 2);
    std::string path = std::string(argv[1]) + "/stream" + std::to_string(rank);
    std::ofstream out(path.c_str());
    out << rank << ' ';
    MPI_Barrier(MPI_COMM_WORLD);
    out << "word" << std::endl;
    out.close();
    std::ifstream in(path.c_str());
    int number = -1;
    std::string word;
    in >> number;
    MPI_Barrier(MPI_COMM_WORLD);
    in >> word;
    CHECK(number == rank && word == "word");
    check_ok("streams");
    MPI_Finalize();
    return 0;
}
