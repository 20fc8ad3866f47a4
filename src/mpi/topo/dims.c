/*
 * dims.c - MPI_Dims_create: n as a product of balanced factors.
 *
 * Among all products of k factors equal to n, it finds those with the smallest difference between
 * the largest and the smallest factor, and among those the one whose smallest factor is largest,
 * then whose second smallest is, and so on. MPICH 4.0 gives the same result.
 *
 * The search fixes factors from the smallest up, the largest candidate first. With smallest factor
 * a, the largest is at least the k-th root of the rest, rounded up; once that is no closer to a
 * than the best found, smaller a cannot win either. An int has at most 1536 divisors; the bound
 * leaves few of them to try.
 */
#include "base/mem.h"
#include "mpi/check.h"
#include "mpi/topo/topo.h"
#include "mpi_impl.h"

struct search {
    int *divisors; /* ascending */
    int count;
    int k;      /* factors wanted */
    int *trial; /* ascending */
    int *best;
    int64_t best_spread; /* -1: none yet */
};

/* Does base^k reach n? */
static int power_reaches(int64_t base, int k, int64_t n)
{
    int64_t product = 1;

    for (int i = 0; i < k && product < n; i++)
        product *= base; /* below 2^31 * 2^31 */
    return product >= n;
}

/* Smallest r with r^k >= n. */
static int64_t root_up(int64_t n, int k)
{
    int64_t low = 1, high = n;

    while (low < high) {
        int64_t mid = low + (high - low) / 2;

        if (power_reaches(mid, k, n))
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* Could factors at[0..depth) be completed with `rest` to something better than the best? */
static int hopeful(const struct search *s, int depth, int64_t rest)
{
    return s->best_spread < 0 || root_up(rest, s->k - depth) - s->trial[0] < s->best_spread;
}

static void complete(struct search *s, int rest)
{
    s->trial[s->k - 1] = rest;
    if (s->best_spread >= 0 && rest - s->trial[0] >= s->best_spread)
        return;
    s->best_spread = rest - s->trial[0];
    for (int i = 0; i < s->k; i++)
        s->best[i] = s->trial[s->k - 1 - i];
}

/* Chooses factor `depth` of `rest`; depth is at most 30 where there is a choice. */
static void descend(struct search *s, int depth, int rest)
{
    int least = depth ? s->trial[depth - 1] : 1;

    if (depth == s->k - 1) {
        complete(s, rest);
        return;
    }
    for (int i = s->count - 1; i >= 0 && s->divisors[i] >= least; i--) {
        int d = s->divisors[i];

        /* d is the smallest of the factors left: d^left must not exceed rest. */
        if (rest % d || power_reaches(d, s->k - depth, (int64_t)rest + 1))
            continue;
        s->trial[depth] = d;
        if (hopeful(s, depth + 1, rest / d))
            descend(s, depth + 1, rest / d);
        else if (depth == 0)
            return;
    }
}

static void find_divisors(struct search *s, int n)
{
    int large = 0;

    s->divisors = mem_alloc(2048 * sizeof *s->divisors);
    for (int d = 1; (int64_t)d * d <= n; d++)
        if (n % d == 0)
            s->divisors[s->count++] = d;
    large = s->count;
    for (int i = large - 1; i >= 0; i--)
        if (s->divisors[i] != n / s->divisors[i])
            s->divisors[s->count++] = n / s->divisors[i];
}

void mpi_dims_balance(int n, int ndims, int *out)
{
    struct search s = {.k = ndims < 31 ? ndims : 31, .best_spread = -1};

    /* n has at most 30 prime factors: further dimensions are 1, and the smallest is 1 anyway. */
    for (int i = 0; i < ndims; i++)
        out[i] = 1;
    if (s.k <= 0)
        return;
    find_divisors(&s, n);
    s.trial = mem_alloc((size_t)s.k * sizeof *s.trial);
    s.best = out;
    descend(&s, 0, n);
    mem_free(s.trial);
    mem_free(s.divisors);
}

/* The given dimensions must divide nnodes; *rest: what is left for the free ones. */
static int check_dims(struct mpi_rank *self, int nnodes, int ndims, const int *dims, int *rest,
                      int *free_count)
{
    int64_t product = 1;

    *free_count = 0;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_DIMS, "dimension %d is negative (%d)", i,
                             dims[i]);
        *free_count += dims[i] == 0;
        if (dims[i] && product <= nnodes)
            product *= dims[i];
    }
    if (product > nnodes || nnodes % product || (!*free_count && product != nnodes && ndims))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_DIMS,
                         "%d nodes cannot be laid out in the given dimensions", nnodes);
    *rest = (int)(nnodes / product);
    return MPI_SUCCESS;
}

int mpi_dims_create(struct mpi_rank *self, int nnodes, int ndims, int dims[])
{
    int rc = MPI_SUCCESS, rest = nnodes, free_count = 0, *found;

    if (nnodes <= 0)
        rc = mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the number of nodes is %d", nnodes);
    if (!rc)
        rc = check_dims(self, nnodes, ndims, dims, &rest, &free_count);
    if (rc || !free_count)
        return rc;
    found = mem_alloc((size_t)free_count * sizeof *found);
    mpi_dims_balance(rest, free_count, found);
    for (int i = 0, k = 0; i < ndims; i++)
        if (dims[i] == 0)
            dims[i] = found[k++];
    mem_free(found);
    return MPI_SUCCESS;
}
