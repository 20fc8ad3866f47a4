/* test: n=1,2,5,16,300 native=4 output=sorted
 * atexit handlers run per rank in reverse order, after them the destructors, and exit() inside a
 * called function ends this rank only. */
#include "check.h"

#include <unistd.h>

static int rank = -1;
static int handlers;

static void last(void)
{
    if (handlers++ != 1)
        _exit(3);
    printf("rank %d: second handler\n", rank);
}

static void first(void)
{
    if (handlers++ != 0)
        _exit(3);
    printf("rank %d: first handler\n", rank);
}

__attribute__((destructor)) static void destroy(void)
{
    if (rank < 0 || handlers != 2)
        _exit(4);
}

static void leave(void)
{
    exit(0);
}

int main(int argc, char **argv)
{
    atexit(last);
    MPI_Init(&argc, &argv);
    rank = check_rank();
    atexit(first);
    MPI_Barrier(MPI_COMM_WORLD);
    check_ok("exit");
    MPI_Finalize();
    if (rank % 2)
        leave();
    return 0;
}
