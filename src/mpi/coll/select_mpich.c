/*
 * select_mpich.c - the choices of MPICH 4.0, from the tuning files that it is built with
 * (generic.json of its collectives and of device ch4).
 *
 * Where ranks share nodes, barrier, broadcast, reduce, allreduce and scan use two levels: between
 * nodes the algorithm chosen here for that many ranks, inside nodes trees, where MPICH may use
 * shared memory. Its names: brucks is bruck, scattered is spread, reduce_scatter_allgather and
 * reduce_scatter_gather are rabenseifner, noncommutative is ordered_halving,
 * pairwise_sendrecv_replace is replace.
 */
#include "mpi/coll/coll_select.h"

#define STEPS(operation) static const struct coll_step operation##_steps[]
#define TO(operation, name) COLL_ID_##operation##_##name
#define ANY COLL_ANY
#define ANY_BYTES COLL_ANY_BYTES
#define ONLY(operation, name) STEPS(operation) = {{ANY, ANY_BYTES, TO(operation, name), 0}}

/* {ranks below, bytes below, algorithm, when}; "up to n bytes" is below n + 1 */
STEPS(barrier) = {
    {ANY, ANY_BYTES, TO(barrier, two_level), COLL_IF_NODES},
    {ANY, ANY_BYTES, TO(barrier, dissemination), 0},
};
STEPS(bcast) = {
    {8, ANY_BYTES, TO(bcast, two_level), COLL_IF_NODES},
    {ANY, 12288, TO(bcast, two_level), COLL_IF_NODES},
    {ANY, 524288, TO(bcast, two_level), COLL_IF_NODES | COLL_IF_POW2},
    {8, ANY_BYTES, TO(bcast, binomial), 0},
    {ANY, 12288 + 1, TO(bcast, binomial), 0},
    {ANY, 524288 + 1, TO(bcast, scatter_allgather), COLL_IF_POW2},
    {ANY, ANY_BYTES, TO(bcast, scatter_ring_allgather), 0},
};
ONLY(gather, binomial);
ONLY(gatherv, linear);
ONLY(scatter, binomial);
ONLY(scatterv, linear);
STEPS(allgather) = {
    {ANY, 524288, TO(allgather, recursive_doubling), COLL_IF_POW2},
    {ANY, ANY_BYTES, TO(allgather, ring), COLL_IF_POW2},
    {ANY, 81920, TO(allgather, bruck), 0},
    {ANY, ANY_BYTES, TO(allgather, ring), 0},
};
STEPS(allgatherv) = {
    {ANY, 524288, TO(allgatherv, recursive_doubling), COLL_IF_POW2},
    {ANY, ANY_BYTES, TO(allgatherv, ring), COLL_IF_POW2},
    {ANY, 81920, TO(allgatherv, bruck), 0},
    {ANY, ANY_BYTES, TO(allgatherv, ring), 0},
};
STEPS(alltoall) = {
    {ANY, ANY_BYTES, TO(alltoall, replace), 0}, {8, 32768 + 1, TO(alltoall, spread), 0},
    {8, ANY_BYTES, TO(alltoall, pairwise), 0},  {ANY, 256 + 1, TO(alltoall, bruck), 0},
    {ANY, 32768 + 1, TO(alltoall, spread), 0},  {ANY, ANY_BYTES, TO(alltoall, pairwise), 0},
};
STEPS(alltoallv) = {
    {ANY, ANY_BYTES, TO(alltoallv, replace), 0},
    {ANY, ANY_BYTES, TO(alltoallv, spread), 0},
};
STEPS(alltoallw) = {
    {ANY, ANY_BYTES, TO(alltoallw, replace), 0},
    {ANY, ANY_BYTES, TO(alltoallw, spread), 0},
};
STEPS(reduce) = {
    {ANY, ANY_BYTES, TO(reduce, two_level), COLL_IF_NODES | COLL_IF_COMMUTE},
    {ANY, 2048 + 1, TO(reduce, binomial), 0},
    {ANY, ANY_BYTES, TO(reduce, rabenseifner), COLL_IF_CUT},
    {ANY, ANY_BYTES, TO(reduce, binomial), 0},
};
STEPS(allreduce) = {
    {ANY, ANY_BYTES, TO(allreduce, two_level), COLL_IF_NODES | COLL_IF_COMMUTE},
    {ANY, 8 + 1, TO(allreduce, recursive_doubling), 0},
    {ANY, ANY_BYTES, TO(allreduce, rabenseifner), COLL_IF_CUT},
    {ANY, ANY_BYTES, TO(allreduce, recursive_doubling), 0},
};
STEPS(reduce_scatter) = {
    {ANY, 524288, TO(reduce_scatter, recursive_halving), COLL_IF_COMMUTE},
    {ANY, ANY_BYTES, TO(reduce_scatter, pairwise), COLL_IF_COMMUTE},
    {ANY, ANY_BYTES, TO(reduce_scatter, ordered_halving), COLL_IF_POW2 | COLL_IF_REGULAR},
    {ANY, ANY_BYTES, TO(reduce_scatter, recursive_doubling), 0},
};
STEPS(reduce_scatter_block) = {
    {ANY, 524288, TO(reduce_scatter_block, recursive_halving), COLL_IF_COMMUTE},
    {ANY, ANY_BYTES, TO(reduce_scatter_block, pairwise), COLL_IF_COMMUTE},
    {ANY, ANY_BYTES, TO(reduce_scatter_block, ordered_halving), COLL_IF_POW2},
    {ANY, ANY_BYTES, TO(reduce_scatter_block, recursive_doubling), 0},
};
STEPS(scan) = {
    {ANY, ANY_BYTES, TO(scan, two_level), COLL_IF_NODES},
    {ANY, ANY_BYTES, TO(scan, recursive_doubling), 0},
};
ONLY(exscan, recursive_doubling);

#define OF(operation, how) [MPI_COLL_##operation] = {operation##_steps, how}

const struct coll_selector coll_select_mpich = {
    .name = "mpich",
    .of = {OF(barrier, COLL_BLOCK), OF(bcast, COLL_BLOCK), OF(gather, COLL_BLOCK),
           OF(gatherv, COLL_BLOCK), OF(scatter, COLL_BLOCK), OF(scatterv, COLL_BLOCK),
           OF(allgather, COLL_TOTAL), OF(allgatherv, COLL_TOTAL), OF(alltoall, COLL_BLOCK),
           OF(alltoallv, COLL_BLOCK), OF(alltoallw, COLL_BLOCK), OF(reduce, COLL_BLOCK),
           OF(allreduce, COLL_BLOCK), OF(reduce_scatter, COLL_TOTAL),
           OF(reduce_scatter_block, COLL_TOTAL), OF(scan, COLL_BLOCK), OF(exscan, COLL_BLOCK)},
};
