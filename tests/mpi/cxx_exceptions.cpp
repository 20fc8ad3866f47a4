// test: n=1,2,5,16,300 native=4
// Exceptions in flight belong to the rank: blocking calls inside catch blocks, destructors during
// unwinding, nested and rethrown exceptions, and ranks in different states of all this.
#include "check.h"

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

struct Custom {
    int rank;
    std::vector<int> data;
};

// Blocks while the exception passes through.
struct Blocker {
    int *unwinding;
    ~Blocker()
    {
        *unwinding += std::uncaught_exceptions();
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(std::uncaught_exceptions() > 0);
    }
};

void thrower(int depth, int rank, int *unwinding)
{
    std::string frame(100, static_cast<char>('a' + depth));
    MPI_Barrier(MPI_COMM_WORLD);
    Blocker blocker{unwinding};
    if (depth == 0)
        throw std::runtime_error("rank " + std::to_string(rank));
    thrower(depth - 1, rank, unwinding);
}

void test_unwinding(int rank)
{
    int unwinding = 0;
    bool caught = false;
    try {
        thrower(4, rank, &unwinding);
    } catch (const std::runtime_error &error) {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(error.what() == "rank " + std::to_string(rank));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(std::uncaught_exceptions() == 0 && std::current_exception());
        caught = true;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(caught && unwinding == 5 && !std::current_exception());
}

// Half of the ranks are inside a catch block while the others throw.
void test_crossed(int rank)
{
    for (int round = 0; round < 4; round++) {
        if ((rank + round) % 2) {
            try {
                throw Custom{rank, std::vector<int>(50, rank)};
            } catch (Custom &custom) {
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Barrier(MPI_COMM_WORLD);
                CHECK(custom.rank == rank && custom.data == std::vector<int>(50, rank));
                CHECK(std::current_exception());
            }
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK(!std::current_exception());
            try {
                throw rank;
            } catch (int value) {
                CHECK(value == rank);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    CHECK(!std::current_exception());
}

void test_nested(int rank)
{
    int steps = 0;
    try {
        try {
            throw std::out_of_range("inner " + std::to_string(rank));
        } catch (...) {
            MPI_Barrier(MPI_COMM_WORLD);
            try {
                throw Custom{rank, {}};
            } catch (const Custom &custom) {
                MPI_Barrier(MPI_COMM_WORLD);
                CHECK(custom.rank == rank);
                steps++;
            }
            MPI_Barrier(MPI_COMM_WORLD);
            throw;
        }
    } catch (const std::out_of_range &error) {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(error.what() == "inner " + std::to_string(rank));
        steps++;
    }
    CHECK(steps == 2);
}

// An exception kept alive outside of its catch block.
void test_pointer(int rank)
{
    std::exception_ptr kept;
    try {
        throw std::invalid_argument(std::to_string(rank));
    } catch (...) {
        kept = std::current_exception();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    try {
        std::rethrow_exception(kept);
    } catch (const std::invalid_argument &error) {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(error.what() == std::to_string(rank));
    }
    bool refused = false;
    try {
        std::vector<char> much;
        much.resize(much.max_size() - 1);
    } catch (const std::bad_alloc &) {
        refused = true;
    }
    CHECK(refused);
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank();
    test_unwinding(rank);
    check_ok("unwinding");
    test_crossed(rank);
    check_ok("crossed");
    test_nested(rank);
    check_ok("nested");
    test_pointer(rank);
    check_ok("pointers");
    MPI_Finalize();
    return 0;
}
