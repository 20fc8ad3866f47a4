/*
 * One call of a collective on all ranks of mock_ranks.h, for test_mpi_coll.c: its arguments and
 * buffers, and whether they hold what they should afterwards.
 *
 * One test program is one translation unit that includes this header.
 */
#ifndef COLL_CASE_H
#define COLL_CASE_H

#include <stdlib.h>

#include "mock_ranks.h"
#include "mpi/coll/coll_table.c" /* all algorithms */
#include "mpi/coll/entry_check.h"
#include "mpi_impl.h"
#include "tap.h"

/* Strands are the real ranks'. */
int coll_later(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a, int checked,
               MPI_Request *request)
{
    (void)self, (void)comm, (void)a, (void)request;
    return checked ? checked : MPI_ERR_INTERN;
}
int coll_prepare(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a, MPI_Info info,
                 int checked, MPI_Request *request)
{
    (void)info;
    return coll_later(self, comm, a, checked, request);
}

enum { MARGIN = 1024 };

/* ---- buffers ---- */

struct buffer {
    char *mem;
    size_t bytes;
    char *at; /* what the call gets */
};

static struct buffer buffer_make(const struct mpi_type *type, uint64_t items)
{
    size_t bytes = 2 * MARGIN + (size_t)(items * (uint64_t)type->extent);
    struct buffer b = {(char *)mem_alloc(bytes), bytes, NULL};

    for (size_t i = 0; i < bytes; i++)
        b.mem[i] = (char)(i * 7 + 1);
    b.at = b.mem + MARGIN;
    return b;
}

/* ---- one case ---- */

static struct mpi_type *int_type, *gap_type, *low_type, *pair_type, *gap_pair_type, *low_pair_type;
static struct mpi_type *double_type;
static uint64_t applied; /* calls of user operations */
static MPI_Op affine_op, add_op;

static struct rank_case {
    struct buffer send, recv, want;
    int *scounts, *sdispls, *rcounts, *rdispls;
    MPI_Datatype *stypes, *rtypes;
    int rc;
} ranks[MAX_RANKS];

static struct {
    int op_id, size, root, in_place;
    struct mpi_type *stype, *rtype;
    int scount, rcount;
    MPI_Op op;
} now;

static void call(int r)
{
    struct mpi_rank *self = &mpi_world.ranks[r];
    struct rank_case *k = &ranks[r];
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype st = now.stype->handle, rt = now.rtype->handle;
    int at_root = r == now.root;
    const void *rooted = now.in_place && at_root ? MPI_IN_PLACE : k->send.at;
    void *rooted_recv = now.in_place && at_root ? MPI_IN_PLACE : k->recv.at;
    const void *s = now.in_place ? MPI_IN_PLACE : k->send.at;

    switch (now.op_id) {
    case MPI_COLL_barrier:
        k->rc = mpi_barrier(self, w);
        break;
    case MPI_COLL_bcast:
        k->rc = mpi_bcast_c(self, k->recv.at, now.rcount, rt, now.root, w);
        break;
    case MPI_COLL_gather:
        k->rc = mpi_gather_c(self, rooted, now.scount, st, k->recv.at, now.rcount, rt, now.root, w);
        break;
    case MPI_COLL_gatherv:
        k->rc = mpi_gatherv(self, rooted, k->scounts[0], st, k->recv.at, k->rcounts, k->rdispls, rt,
                            now.root, w);
        break;
    case MPI_COLL_scatter:
        k->rc = mpi_scatter_c(self, k->send.at, now.scount, st, rooted_recv, now.rcount, rt,
                              now.root, w);
        break;
    case MPI_COLL_scatterv:
        k->rc = mpi_scatterv(self, k->send.at, k->scounts, k->sdispls, st, rooted_recv,
                             k->rcounts[0], rt, now.root, w);
        break;
    case MPI_COLL_allgather:
        k->rc = mpi_allgather_c(self, s, now.scount, st, k->recv.at, now.rcount, rt, w);
        break;
    case MPI_COLL_allgatherv:
        k->rc = mpi_allgatherv(self, s, k->scounts[0], st, k->recv.at, k->rcounts, k->rdispls, rt,
                               w);
        break;
    case MPI_COLL_alltoall:
        k->rc = mpi_alltoall_c(self, s, now.scount, st, k->recv.at, now.rcount, rt, w);
        break;
    case MPI_COLL_alltoallv:
        k->rc = mpi_alltoallv(self, s, k->scounts, k->sdispls, st, k->recv.at, k->rcounts,
                              k->rdispls, rt, w);
        break;
    case MPI_COLL_alltoallw:
        k->rc = mpi_alltoallw(self, s, k->scounts, k->sdispls, k->stypes, k->recv.at, k->rcounts,
                              k->rdispls, k->rtypes, w);
        break;
    case MPI_COLL_reduce:
        k->rc = mpi_reduce_c(self, rooted, k->recv.at, now.rcount, rt, now.op, now.root, w);
        break;
    case MPI_COLL_allreduce:
        k->rc = mpi_allreduce_c(self, s, k->recv.at, now.rcount, rt, now.op, w);
        break;
    case MPI_COLL_reduce_scatter:
        k->rc = mpi_reduce_scatter(self, s, k->recv.at, k->rcounts, rt, now.op, w);
        break;
    case MPI_COLL_reduce_scatter_block:
        k->rc = mpi_reduce_scatter_block_c(self, s, k->recv.at, now.rcount, rt, now.op, w);
        break;
    case MPI_COLL_scan:
        k->rc = mpi_scan_c(self, s, k->recv.at, now.rcount, rt, now.op, w);
        break;
    case MPI_COLL_exscan:
        k->rc = mpi_exscan_c(self, s, k->recv.at, now.rcount, rt, now.op, w);
        break;
    }
}

static void case_free(void)
{
    for (int r = 0; r < now.size; r++) {
        struct rank_case *k = &ranks[r];
        mem_free(k->send.mem);
        mem_free(k->recv.mem);
        mem_free(k->want.mem);
        mem_free(k->scounts);
        mem_free(k->sdispls);
        mem_free(k->rcounts);
        mem_free(k->rdispls);
        mem_free(k->stypes);
        mem_free(k->rtypes);
        memset(k, 0, sizeof *k);
    }
}

/* Ranks share nodes, in order or mixed: to the message layer a list of world ranks is the identity,
 * so it only says who is on which node. */
static void group_make(int size)
{
    static uint32_t list[MAX_RANKS];

    if (group.nodes)
        group.nodes->drop(group.nodes);
    group = (struct mpi_group){.size = (uint32_t)size, .stride = 1, .list = list};
    mpi_world.net.nodes = (struct platform_nodes){.per_node = 1 + rnd(4), .count = MAX_RANKS};
    if (rnd(3))
        return;
    group.kind = MPI_GROUP_LIST;
    for (uint32_t i = 0; i < MAX_RANKS; i++) {
        uint32_t other = rnd(i + 1);
        list[i] = list[other];
        list[other] = i;
    }
}

/* Runs the case with hollow buffers: they send the same messages, which carry nothing, and no
 * operation is called. Returns what depends on the messages. */
static uint64_t run_hollow(int *good)
{
    struct rank_case real[MAX_RANKS];
    uint64_t before = sent;

    memcpy(real, ranks, sizeof real);
    for (int r = 0; r < now.size; r++) {
        ranks[r].send.at = (char *)MPI_HOLLOW - 8 * r;
        ranks[r].recv.at = (char *)MPI_HOLLOW + 8 * r;
    }
    traffic = carried = applied = 0;
    *good = run_ranks(now.size, call) && !carried && !applied;
    sent = before;
    for (int r = 0; r < now.size; r++) {
        *good &= ranks[r].rc == MPI_SUCCESS;
        ranks[r] = real[r];
    }
    return traffic;
}

/* Runs the case that is set up; 1 if all ranks return success and hold what is wanted. */
static int case_passes(void)
{
    uint64_t without;
    int good, hollow_good;

    eager = rnd(3) ? rnd(200) : 1 << 20;
    group_make(now.size);
    comm_object = (struct mpi_comm){.handle = MPI_COMM_WORLD, .group = &group};
    without = run_hollow(&hollow_good);
    traffic = 0;
    good = run_ranks(now.size, call) && hollow_good && traffic == without;
    for (int r = 0; r < now.size && good; r++) {
        struct rank_case *k = &ranks[r];
        good = k->rc == MPI_SUCCESS &&
               (!k->want.mem || !memcmp(k->want.mem, k->recv.mem, k->want.bytes));
    }
    case_free();
    return good;
}

#endif
