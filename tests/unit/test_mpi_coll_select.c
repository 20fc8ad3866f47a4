/*
 * Which algorithm a collective uses: what MPICH 4.0 and Open MPI 4.1 choose at and beside the
 * points where they change, rules that go before them, algorithms that do not apply, and the time
 * of the cost model against closed forms.
 */
#include "mock_ranks.h"
#include "mpi/coll/coll_internal.h"
#include "mpi_impl.h"
#include "tap.h"

enum { P = 8192 };

/* Of operations: predefined, a user's that commutes, a user's that does not. */
enum { BUILT_IN, COMMUTES, ORDERED };

static struct mpi_op ops[] = {{.kind = !MPI_OP_USER, .commute = 1},
                              {.kind = MPI_OP_USER, .commute = 1},
                              {.kind = MPI_OP_USER, .commute = 0}};

static const char *choice(int op_id, int ranks, uint64_t bytes, int op, const void *sbuf)
{
    static int counts[P];
    struct mpi_coll_args a = {.sbuf = sbuf,
                              .rcount = bytes,
                              .rtype = coll_byte(),
                              .stype = coll_byte(),
                              .rank = 1,
                              .size = ranks,
                              .op_id = (uint16_t)op_id};

    if (op_id == MPI_COLL_allgatherv || op_id == MPI_COLL_reduce_scatter) {
        for (int i = 0; i < ranks; i++)
            counts[i] = (int)bytes;
        a.rcounts = counts;
    }
    if (op_id == MPI_COLL_gather)
        a.scount = bytes;
    if (op_id >= MPI_COLL_reduce)
        a.op = &ops[op];
    if (group.nodes)
        group.nodes->drop(group.nodes);
    group = (struct mpi_group){.size = (uint32_t)ranks, .stride = 1};
    comm_object = (struct mpi_comm){.handle = MPI_COMM_WORLD, .group = &group};
    return mpi_coll_choose(&comm_object, &a)->name;
}

#define KB *1024

/* Bytes are those of a block, or the message. */
static const struct expected {
    const char *selector;
    int op_id, ranks;
    uint64_t bytes;
    int op;
    const char *name;
} table[] = {
    {"mpich", MPI_COLL_barrier, 2, 0, 0, "dissemination"},
    {"mpich", MPI_COLL_bcast, 7, 1024 KB, 0, "binomial"},
    {"mpich", MPI_COLL_bcast, 8, 12288, 0, "binomial"},
    {"mpich", MPI_COLL_bcast, 8, 12289, 0, "scatter_allgather"},
    {"mpich", MPI_COLL_bcast, 8, 512 KB, 0, "scatter_allgather"},
    {"mpich", MPI_COLL_bcast, 8, 512 KB + 1, 0, "scatter_ring_allgather"},
    {"mpich", MPI_COLL_bcast, 9, 12289, 0, "scatter_ring_allgather"},
    {"mpich", MPI_COLL_gather, 100, 9, 0, "binomial"},
    {"mpich", MPI_COLL_allgather, 16, 32 KB - 1, 0, "recursive_doubling"},
    {"mpich", MPI_COLL_allgather, 16, 32 KB, 0, "ring"},
    {"mpich", MPI_COLL_allgather, 10, 8191, 0, "bruck"},
    {"mpich", MPI_COLL_allgather, 10, 8192, 0, "ring"},
    {"mpich", MPI_COLL_allgatherv, 10, 8191, 0, "bruck"},
    {"mpich", MPI_COLL_allgatherv, 16, 32 KB, 0, "ring"},
    {"mpich", MPI_COLL_alltoall, 8, 256, 0, "bruck"},
    {"mpich", MPI_COLL_alltoall, 7, 256, 0, "spread"},
    {"mpich", MPI_COLL_alltoall, 8, 32 KB, 0, "spread"},
    {"mpich", MPI_COLL_alltoall, 8, 32 KB + 1, 0, "pairwise"},
    {"mpich", MPI_COLL_reduce, 16, 2048, BUILT_IN, "binomial"},
    {"mpich", MPI_COLL_reduce, 16, 2049, BUILT_IN, "rabenseifner"},
    {"mpich", MPI_COLL_reduce, 16, 2049, COMMUTES, "binomial"},
    {"mpich", MPI_COLL_allreduce, 4, 8, BUILT_IN, "recursive_doubling"},
    {"mpich", MPI_COLL_allreduce, 4, 9, BUILT_IN, "rabenseifner"},
    {"mpich", MPI_COLL_allreduce, 16, 15, BUILT_IN, "recursive_doubling"},
    {"mpich", MPI_COLL_allreduce, 17, 16, BUILT_IN, "rabenseifner"},
    {"mpich", MPI_COLL_allreduce, 4, 9, ORDERED, "recursive_doubling"},
    {"mpich", MPI_COLL_reduce_scatter, 8, 64 KB - 1, COMMUTES, "recursive_halving"},
    {"mpich", MPI_COLL_reduce_scatter, 8, 64 KB, COMMUTES, "pairwise"},
    {"mpich", MPI_COLL_reduce_scatter, 8, 64 KB, ORDERED, "ordered_halving"},
    {"mpich", MPI_COLL_reduce_scatter_block, 6, 4, ORDERED, "recursive_doubling"},
    {"mpich", MPI_COLL_scan, 6, 4, ORDERED, "recursive_doubling"},
    {"openmpi", MPI_COLL_barrier, 3, 0, 0, "recursive_doubling"},
    {"openmpi", MPI_COLL_barrier, 4, 0, 0, "linear"},
    {"openmpi", MPI_COLL_barrier, 64, 0, 0, "dissemination"},
    {"openmpi", MPI_COLL_barrier, 256, 0, 0, "binomial"},
    {"openmpi", MPI_COLL_bcast, 3, 31, 0, "chain"},
    {"openmpi", MPI_COLL_bcast, 3, 32, 0, "binary"},
    {"openmpi", MPI_COLL_bcast, 16, 4096, 0, "binomial"},
    {"openmpi", MPI_COLL_bcast, 16, 1024 KB, 0, "scatter_allgather"},
    {"openmpi", MPI_COLL_bcast, 17, 1024 KB, 0, "scatter_ring_allgather"}, /* 17: does not apply */
    {"openmpi", MPI_COLL_bcast, 256, 16 KB, 0, "split_binary"},
    {"openmpi", MPI_COLL_bcast, 5000, 1, 0, "knomial"},
    {"openmpi", MPI_COLL_gather, 7, 1 KB, 0, "linear"},
    {"openmpi", MPI_COLL_gather, 8, 1 KB, 0, "binomial"},
    {"openmpi", MPI_COLL_scatter, 64, 511, 0, "binomial"},
    {"openmpi", MPI_COLL_scatter, 64, 512, 0, "linear"},
    {"openmpi", MPI_COLL_allgather, 31, 4, 0, "bruck"}, /* doubling does not apply */
    {"openmpi", MPI_COLL_allgather, 16, 4, 0, "recursive_doubling"},
    {"openmpi", MPI_COLL_allgather, 32, 1 KB, 0, "neighbor_exchange"},
    {"openmpi", MPI_COLL_allgather, 33, 1 KB, 0, "ring"}, /* odd */
    {"openmpi", MPI_COLL_allgatherv, 8, 1023, 0, "gather_bcast"},
    {"openmpi", MPI_COLL_allgatherv, 8, 1024, 0, "bruck"},
    {"openmpi", MPI_COLL_alltoall, 2, 1, 0, "pairwise"},
    {"openmpi", MPI_COLL_alltoall, 16, 511, 0, "bruck"},
    {"openmpi", MPI_COLL_alltoall, 64, 256 KB, 0, "pairwise"},
    {"openmpi", MPI_COLL_alltoallv, 3, 0, 0, "pairwise"},
    {"openmpi", MPI_COLL_alltoallv, 4, 0, 0, "spread"},
    {"openmpi", MPI_COLL_reduce, 3, 8, BUILT_IN, "binary"},
    {"openmpi", MPI_COLL_reduce, 3, 8, ORDERED, "linear"},
    {"openmpi", MPI_COLL_reduce, 20, 4 KB, BUILT_IN, "binomial"},
    {"openmpi", MPI_COLL_reduce, 20, 4 KB, ORDERED, "in_order_binary"},
    {"openmpi", MPI_COLL_allreduce, 3, 4, BUILT_IN, "ring"},
    {"openmpi", MPI_COLL_allreduce, 3, 2, BUILT_IN,
     "recursive_doubling"}, /* fewer items than ranks */
    {"openmpi", MPI_COLL_allreduce, 8, 8191, BUILT_IN, "recursive_doubling"},
    {"openmpi", MPI_COLL_allreduce, 8, 8192, BUILT_IN, "rabenseifner"},
    {"openmpi", MPI_COLL_allreduce, 3, 128 KB, ORDERED, "linear"},
    {"openmpi", MPI_COLL_allreduce, 4096, 2047, BUILT_IN, "reduce_bcast"},
    {"openmpi", MPI_COLL_reduce_scatter, 8, 32 KB - 1, BUILT_IN, "recursive_halving"},
    {"openmpi", MPI_COLL_reduce_scatter, 8, 32 KB, BUILT_IN, "ring"},
    {"openmpi", MPI_COLL_reduce_scatter, 8, 1, ORDERED, "reduce_scatterv"},
    {"openmpi", MPI_COLL_reduce_scatter_block, 8, 4, BUILT_IN, "recursive_halving"},
    {"openmpi", MPI_COLL_reduce_scatter_block, 8, 32, BUILT_IN, "ordered_halving"},
    {"openmpi", MPI_COLL_scan, 8, 32, BUILT_IN, "linear"},
};

static void check_tables(void)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct expected *e = &table[i];
        mpi_coll_select(e->selector);
        const char *got = choice(e->op_id, e->ranks, e->bytes, e->op, NULL);
        ok(strcmp(got, e->name) == 0, "%s: operation %d, %d ranks, %llu bytes: %s, not %s",
           e->selector, e->op_id, e->ranks, (unsigned long long)e->bytes, e->name, got);
        if (e->op_id == MPI_COLL_alltoall)
            is_str(choice(e->op_id, e->ranks, e->bytes, e->op, MPI_IN_PLACE), "replace",
                   "in place");
    }
    is_int(mpi_coll_select("nonsense"), -1, "unknown selector");
}

/* Four ranks on each node: in two levels, as far as MPICH does. */
static void check_nodes(void)
{
    mpi_coll_select("mpich");
    mpi_world.net.nodes = (struct platform_nodes){.per_node = 4, .count = P};
    is_str(choice(MPI_COLL_barrier, 16, 0, 0, NULL), "two_level", "barrier on nodes");
    is_str(choice(MPI_COLL_barrier, 4, 0, 0, NULL), "dissemination", "barrier of one node");
    is_str(choice(MPI_COLL_bcast, 16, 12287, 0, NULL), "two_level", "short bcast on nodes");
    is_str(choice(MPI_COLL_bcast, 15, 12288, 0, NULL), "binomial", "bcast of 12288 bytes");
    is_str(choice(MPI_COLL_bcast, 16, 12288, 0, NULL), "two_level", "long bcast, 16 ranks");
    is_str(choice(MPI_COLL_bcast, 16, 524288, 0, NULL), "scatter_allgather", "very long bcast");
    is_str(choice(MPI_COLL_allreduce, 9, 64, COMMUTES, NULL), "two_level", "allreduce on nodes");
    is_str(choice(MPI_COLL_allreduce, 9, 64, ORDERED, NULL), "recursive_doubling",
           "an ordered one");
    is_str(choice(MPI_COLL_scan, 9, 64, ORDERED, NULL), "two_level", "scan on nodes");
    mpi_world.net.nodes.placement = PLATFORM_CYCLIC;
    mpi_world.net.nodes.count = 3;
    is_str(choice(MPI_COLL_scan, 9, 64, COMMUTES, NULL), "recursive_doubling", "scan, ranks mixed");
    is_str(choice(MPI_COLL_reduce, 9, 64, COMMUTES, NULL), "two_level", "reduce, ranks mixed");
    is_str(choice(MPI_COLL_reduce, 9, 64, ORDERED, NULL), "binomial", "an ordered one, mixed");
    mpi_world.net.nodes = (struct platform_nodes){.per_node = 1, .count = P};
    is_str(choice(MPI_COLL_barrier, 16, 0, 0, NULL), "dissemination", "a rank on each node");
}

static void check_rules(void)
{
    struct platform_rule small = {"bcast", "linear", 0, 100, 0, UINT64_MAX},
                         few = {"bcast", "chain", 0, UINT64_MAX, 2, 4},
                         even = {"allgather", "neighbor_exchange", 0, UINT64_MAX, 0, UINT64_MAX},
                         bad = {"bcast", "ring", 0, 0, 0, 0};

    mpi_coll_select("mpich");
    is_int(mpi_coll_rule(&small) | mpi_coll_rule(&few) | mpi_coll_rule(&even), 0,
           "rules are taken");
    is_int(mpi_coll_rule(&bad), -1, "unknown algorithm");
    is_str(choice(MPI_COLL_bcast, 8, 100, 0, NULL), "linear", "within the bytes of a rule");
    is_str(choice(MPI_COLL_bcast, 8, 101, 0, NULL), "binomial", "beyond them");
    is_str(choice(MPI_COLL_bcast, 4, 100, 0, NULL), "chain", "the later rule goes first");
    is_str(choice(MPI_COLL_bcast, 5, 101, 0, NULL), "binomial", "beyond its ranks");
    is_str(choice(MPI_COLL_allgather, 6, 8, 0, NULL), "neighbor_exchange", "where it works");
    is_str(choice(MPI_COLL_allgather, 7, 8, 0, NULL), "bruck", "where it does not");
    is_int(mpi_coll_force("bcast", "auto") | mpi_coll_force("allgather", "auto"), 0, "rules go");
    is_str(choice(MPI_COLL_bcast, 4, 100, 0, NULL), "binomial", "as before");
}

static vtime cost(int op_id, int ranks, uint64_t bytes)
{
    struct mpi_coll_args a = {.rcount = bytes,
                              .rtype = coll_byte(),
                              .scount = bytes,
                              .stype = coll_byte(),
                              .size = ranks,
                              .op_id = (uint16_t)op_id};
    return coll_model_time(&a);
}

static void check_model(void)
{
    mpi_coll_model(1000, 2, 1);
    is_int(cost(MPI_COLL_barrier, 2, 0), 1000, "barrier of 2");
    is_int(cost(MPI_COLL_barrier, 17, 0), 5000, "barrier of 17");
    is_int(cost(MPI_COLL_bcast, 16, 10), 4 * (1000 + 20), "bcast of 16");
    is_int(cost(MPI_COLL_allgather, 16, 10), 4 * 1000 + 15 * 20, "allgather of 16");
    is_int(cost(MPI_COLL_alltoall, 5, 10), 3 * 1000 + 4 * 20, "alltoall of 5");
    mpi_coll_model(1000, 0.5, 2.5);
    is_int(cost(MPI_COLL_allreduce, 4, 3), 5008, "a factor; rounded to a picosecond");
    mpi_coll_model(1000, 0.5, 0);
    is_int(cost(MPI_COLL_alltoall, P, 1 << 20), 0, "nothing");
}

int main(void)
{
    mpi_world.net.nodes = (struct platform_nodes){.per_node = 1, .count = P};
    check_tables();
    check_nodes();
    check_rules();
    check_model();
    if (group.nodes)
        group.nodes->drop(group.nodes);
    return done_testing();
}
