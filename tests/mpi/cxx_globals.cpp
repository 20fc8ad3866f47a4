// test: n=1,2,5,16,300 native=4 output=sorted
// Global, static local and thread_local objects with constructors and destructors are each rank's
// own, and are destroyed when the rank ends.
#include "check.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace
{

struct Counter {
    static int alive;
    int id;
    explicit Counter(int n) : id(n)
    {
        alive++;
    }
    ~Counter()
    {
        alive--;
    }
};
int Counter::alive = 0;

struct Base {
    virtual ~Base()
    {
    }
    virtual int kind() const
    {
        return 1;
    }
};

struct Derived : Base {
    int kind() const override
    {
        return 2;
    }
};

// The first object built is the last destroyed: it prints after all others have gone.
struct Witness {
    int rank = -1;
    ~Witness()
    {
        std::printf("rank %d: %d left\n", rank, Counter::alive);
        std::fflush(stdout);
    }
} witness;

std::vector<int> numbers = {1, 2, 3};
std::string text(40, 'x');
std::map<std::string, int> table = {{"a", 1}, {"b", 2}};
Counter global_counter(7);
std::unique_ptr<Base> object(new Derived);
thread_local std::vector<double> local_values(4, 2.5);
thread_local std::string local_text = "thread local text of some length";

Counter &static_local(int n)
{
    static Counter counter(n);
    return counter;
}

void check_start()
{
    CHECK(numbers.size() == 3 && text == std::string(40, 'x') && table.size() == 2);
    CHECK(Counter::alive == 1 && global_counter.id == 7 && object->kind() == 2);
}

void change(int rank)
{
    for (int i = 0; i < 100 + rank; i++)
        numbers.push_back(rank * 1000 + i);
    text = "rank " + std::to_string(rank) + std::string(rank, '!');
    table["rank"] = rank;
    table.erase("a");
    if (rank % 2)
        object.reset(new Base);
    local_values.assign(rank + 1, rank);
    local_text += std::to_string(rank);
    witness.rank = rank;
}

void verify(int rank)
{
    CHECK(numbers.size() == 103u + rank && numbers.back() == rank * 1000 + 99 + rank);
    CHECK(text == "rank " + std::to_string(rank) + std::string(rank, '!'));
    CHECK(table.size() == 2 && table["rank"] == rank && table["b"] == 2);
    CHECK(object->kind() == (rank % 2 ? 1 : 2));
    CHECK(local_values == std::vector<double>(rank + 1, rank));
    CHECK(local_text == "thread local text of some length" + std::to_string(rank));
}

} // namespace

int main(int argc, char **argv)
{
    check_start();
    MPI_Init(&argc, &argv);
    int rank = check_rank(), size = check_size();
    check_start();
    CHECK(local_values == std::vector<double>(4, 2.5));
    change(rank);
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        verify(rank);
        CHECK(static_local(rank + i).id == rank && Counter::alive == 2);
    }
    std::vector<int> gathered(size);
    MPI_Allgather(&numbers[3], 1, MPI_INT, gathered.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(gathered[i] == i * 1000);
    check_ok("objects");
    MPI_Finalize();
    return 0;
}
