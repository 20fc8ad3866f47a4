/*
 * MPI_Dims_create's factors against a search through all products, and some answers of MPICH 4.0.
 */
#include "mpi/comm/comm.h"
#include "mpi/error.h"
#include "mpi/topo/topo.h"
#include "tap.h"

/* dims.c raises errors in its MPI call only, which is not tested here. */
int mpi_raise(struct mpi_rank *self, MPI_Comm comm, int error_class, const char *fmt, ...)
{
    (void)self;
    (void)comm;
    (void)fmt;
    return error_class;
}

#define DIMS_MAX 5

/* Is a (not increasing) better than b? Smaller spread, then larger from the smallest on. */
static int better(const int *a, const int *b, int k)
{
    if (a[0] - a[k - 1] != b[0] - b[k - 1])
        return a[0] - a[k - 1] < b[0] - b[k - 1];
    for (int i = k - 1; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] > b[i];
    return 0;
}

/* Tries every product of `rest` in positions depth.. with factors not above the one before. */
static void try_all(int rest, int depth, int k, int *trial, int *best)
{
    if (depth == k) {
        if (rest == 1 && (best[0] == 0 || better(trial, best, k)))
            memcpy(best, trial, (size_t)k * sizeof *best);
        return;
    }
    for (int d = 1; d <= rest && (depth == 0 || d <= trial[depth - 1]); d++)
        if (rest % d == 0) {
            trial[depth] = d;
            try_all(rest / d, depth + 1, k, trial, best);
        }
}

static void test_exhaustive(void)
{
    for (int k = 1; k <= DIMS_MAX; k++) {
        int wrong = 0;

        for (int n = 1; n <= 400; n++) {
            int got[DIMS_MAX], want[DIMS_MAX] = {0}, trial[DIMS_MAX];

            mpi_dims_balance(n, k, got);
            try_all(n, 0, k, trial, want);
            wrong += memcmp(got, want, (size_t)k * sizeof *got) != 0;
        }
        ok(wrong == 0, "1 to 400 in %d dimensions", k);
    }
}

static void is_dims(int n, int k, const int *want)
{
    int got[8];

    mpi_dims_balance(n, k, got);
    ok(memcmp(got, want, (size_t)k * sizeof *got) == 0, "%d in %d dimensions", n, k);
}

static void test_known(void)
{
    int product = 1, wide[40];

    is_dims(1048576, 2, (int[]){1024, 1024});
    is_dims(27000000, 2, (int[]){5400, 5000});
    is_dims(27000000, 3, (int[]){300, 300, 300});
    is_dims(9699690, 2, (int[]){3135, 3094});
    is_dims(3696, 3, (int[]){22, 14, 12});
    is_dims(5994, 6, (int[]){37, 3, 3, 3, 3, 2});
    is_dims(2147483647, 3, (int[]){2147483647, 1, 1});
    mpi_dims_balance(1 << 20, 40, wide);
    for (int i = 0; i < 40; i++)
        product *= wide[i];
    ok(product == 1 << 20 && wide[19] == 2 && wide[20] == 1, "more dimensions than factors");
}

int main(void)
{
    plan_auto();
    test_exhaustive();
    test_known();
    return done_testing();
}
