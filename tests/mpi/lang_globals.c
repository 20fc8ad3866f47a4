/* test: n=1,2,5,16 native=4
 * Mutable globals, statics, pointers into globals, constructors and a large static array are
 * private to each rank, and keep their values while other ranks run. */
#include "check.h"

static int zeroed;
int initialised = 42;
static int table[64] = {1, 2, 3};
static int *into_table = &table[5];
const char *name = "start";
char text[32] = "text";
static char large[1 << 20] = {7};
static char large_bss[1 << 18];
int (*function)(int);
static int constructed;
struct node {
    struct node *next;
    int value;
};
static struct node second = {0, 2}, first = {&second, 1};

__attribute__((constructor)) static void construct(void)
{
    constructed += 11;
}

static int twice(int x)
{
    return 2 * x;
}

static int thrice(int x)
{
    return 3 * x;
}

static int count_calls(void)
{
    static int calls = 100;
    return ++calls;
}

static void check_start(void)
{
    CHECK(zeroed == 0 && initialised == 42 && table[0] == 1 && table[5] == 0);
    CHECK(strcmp(name, "start") == 0 && strcmp(text, "text") == 0);
    CHECK(large[0] == 7 && large[sizeof large - 1] == 0 && large_bss[0] == 0);
    CHECK(function == 0 && constructed == 11 && first.next == &second && !second.next);
}

static void change(int rank)
{
    static char names[2][8] = {"even", "odd"};
    zeroed = rank + 1;
    initialised = -rank;
    *into_table = 1000 + rank;
    into_table = &table[rank % 64];
    name = names[rank % 2];
    snprintf(text, sizeof text, "rank %d", rank);
    memset(large, rank + 1, sizeof large);
    memset(large_bss, rank + 2, sizeof large_bss);
    function = rank % 2 ? twice : thrice;
    second.next = rank % 2 ? &first : 0;
    second.value = rank;
}

static void check_changed(int rank)
{
    char expected[32];
    snprintf(expected, sizeof expected, "rank %d", rank);
    CHECK(zeroed == rank + 1 && initialised == -rank && into_table == &table[rank % 64]);
    CHECK(rank % 64 == 5 || table[5] == 1000 + rank);
    CHECK(strcmp(name, rank % 2 ? "odd" : "even") == 0 && strcmp(text, expected) == 0);
    for (size_t i = 0; i < sizeof large; i += 4093)
        CHECK(large[i] == (char)(rank + 1));
    CHECK(large[sizeof large - 1] == (char)(rank + 1));
    CHECK(large_bss[0] == (char)(rank + 2) && large_bss[sizeof large_bss - 1] == (char)(rank + 2));
    CHECK(function(5) == (rank % 2 ? 10 : 15));
    CHECK(first.next->value == rank && second.next == (rank % 2 ? &first : 0));
}

int main(int argc, char **argv)
{
    check_start();
    MPI_Init(&argc, &argv);
    check_start();
    int rank = check_rank(), size = check_size();
    change(rank);
    for (int i = 0; i < 4; i++) {
        CHECK(count_calls() == 101 + i);
        int token = rank, left = -1;
        MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, i, &left, 1, MPI_INT,
                     (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(left == (rank + size - 1) % size);
        check_changed(rank);
    }
    check_ok("globals");
    MPI_Finalize();
    check_changed(rank);
    return 0;
}
