/*
 * Every collective algorithm against a naive reference, on 1 to 17 ranks.
 *
 * Ranks are coroutines over the message layer of mock_ranks.h, with a limit of eager messages that
 * varies. Buffers are compared whole, gaps of datatypes included; every message must have been
 * received at the end. Seeded, the seed is printed.
 */
#include <stdlib.h>

#include "coll_case.h"

/* ---- collectives that move blocks: block (s, d) is a stream of bytes known to all ---- */

static int nbytes[MAX_RANKS][MAX_RANKS]; /* of the block from s to d */

static void block_fill(int s, int d, char *out)
{
    for (int i = 0; i < nbytes[s][d]; i++)
        out[i] = (char)(s * 31 + d * 17 + i * 3 + 5);
}

static void block_put(int s, int d, struct mpi_type *type, char *to)
{
    char *stream = (char *)mem_alloc((size_t)nbytes[s][d]);
    block_fill(s, d, stream);
    mpi_type_unpack(type, (uint64_t)nbytes[s][d] / type->size, to, stream, (uint64_t)nbytes[s][d]);
    mem_free(stream);
}

static int is_rooted(void)
{
    return now.op_id == MPI_COLL_gather || now.op_id == MPI_COLL_gatherv ||
           now.op_id == MPI_COLL_scatter || now.op_id == MPI_COLL_scatterv;
}
static int is_gather(void)
{
    return now.op_id == MPI_COLL_gather || now.op_id == MPI_COLL_gatherv;
}
static int is_scatter(void)
{
    return now.op_id == MPI_COLL_scatter || now.op_id == MPI_COLL_scatterv;
}
static int is_allgather(void)
{
    return now.op_id == MPI_COLL_allgather || now.op_id == MPI_COLL_allgatherv;
}
static int is_vector(void)
{
    return now.op_id == MPI_COLL_gatherv || now.op_id == MPI_COLL_scatterv ||
           now.op_id == MPI_COLL_allgatherv || now.op_id == MPI_COLL_alltoallv ||
           now.op_id == MPI_COLL_alltoallw;
}

static void choose_bytes(void)
{
    int equal = 24 * (int)(rnd(4) + (rnd(6) == 0 ? 20 : 0));

    for (int s = 0; s < now.size; s++)
        for (int d = 0; d < now.size; d++) {
            nbytes[s][d] = is_vector() ? 24 * (int)rnd(4) : equal;
            if (now.in_place && d < s)
                nbytes[s][d] = nbytes[d][s];
        }
    if (is_allgather() || is_gather()) /* the same block to all */
        for (int s = 0; s < now.size; s++)
            for (int d = 0; d < now.size; d++)
                nbytes[s][d] = nbytes[s][0];
}

/* Lays out a side: block i has nb(i) bytes; returns the buffer, all of it untouched. */
static struct buffer side_make(struct mpi_type *type, int n, int (*nb)(int me, int i), int me,
                               int **counts, int **displs, MPI_Datatype **types)
{
    int items = 0, gap = is_vector() ? (int)rnd(3) : 0;

    *counts = (int *)mem_alloc(sizeof(int) * (size_t)n);
    *displs = (int *)mem_alloc(sizeof(int) * (size_t)n);
    *types = (MPI_Datatype *)mem_alloc(sizeof(MPI_Datatype) * (size_t)n);
    for (int j = 0; j < n; j++) {
        int i = is_vector() ? n - 1 - j : j;
        (*counts)[i] = nb(me, i) / (int)type->size;
        (*displs)[i] = items * (now.op_id == MPI_COLL_alltoallw ? (int)type->extent : 1);
        (*types)[i] = (*counts)[i] ? type->handle : MPI_DATATYPE_NULL;
        items += (*counts)[i] + gap;
    }
    return buffer_make(type, (uint64_t)items);
}

static char *place(const struct buffer *b, const int *displs, int i, const struct mpi_type *type)
{
    return b->at + (int64_t)displs[i] * (now.op_id == MPI_COLL_alltoallw ? 1 : type->extent);
}

static int out_bytes(int me, int i)
{
    return nbytes[me][i];
}
static int in_bytes(int me, int i)
{
    return nbytes[i][me];
}

static void move_setup(void)
{
    choose_bytes();
    now.scount = nbytes[0][0] / (int)now.stype->size;
    now.rcount = nbytes[0][0] / (int)now.rtype->size;
    for (int r = 0; r < now.size; r++) {
        struct rank_case *k = &ranks[r];
        int sends = is_gather() || is_allgather() ? 1 : now.size;
        int recvs = is_scatter() ? 1 : now.size;

        k->send = side_make(now.stype, sends, out_bytes, r, &k->scounts, &k->sdispls, &k->stypes);
        if (is_scatter()) /* the only block is the one from the root */
            nbytes[0][r] = nbytes[now.root][r];
        k->recv = side_make(now.rtype, recvs, in_bytes, r, &k->rcounts, &k->rdispls, &k->rtypes);
        k->want = buffer_make(now.rtype, 0);
        mem_free(k->want.mem);
        for (int d = 0; d < sends; d++)
            block_put(r, d, now.stype, place(&k->send, k->sdispls, d, now.stype));
    }
}

/* Fills in what in-place calls expect in the receive buffer, and what is wanted at the end. */
static void move_expect(void)
{
    for (int r = 0; r < now.size; r++) {
        struct rank_case *k = &ranks[r];
        int gather_side = is_gather() || is_allgather();

        if (now.in_place && !is_rooted() && !is_allgather())
            for (int d = 0; d < now.size; d++)
                block_put(r, d, now.rtype, place(&k->recv, k->rdispls, d, now.rtype));
        if (now.in_place && (is_allgather() || (is_gather() && r == now.root)))
            block_put(r, 0, now.rtype, place(&k->recv, k->rdispls, r, now.rtype));
        k->want = k->recv;
        k->want.mem = (char *)mem_alloc(k->recv.bytes);
        memcpy(k->want.mem, k->recv.mem, k->recv.bytes);
        k->want.at = k->want.mem + MARGIN;
        if (is_gather() && r != now.root)
            continue;
        if (is_scatter()) {
            if (!(now.in_place && r == now.root))
                block_put(now.root, r, now.rtype, k->want.at);
            continue;
        }
        for (int s = 0; s < now.size; s++)
            block_put(s, gather_side ? 0 : r, now.rtype, place(&k->want, k->rdispls, s, now.rtype));
    }
}

static int check_move(void)
{
    move_setup();
    move_expect();
    return case_passes();
}

static int check_bcast(void)
{
    int bytes = 24 * (int)(rnd(4) + (rnd(4) == 0 ? 40 : 0));

    nbytes[now.root][0] = bytes;
    now.rcount = bytes / (int)now.rtype->size;
    for (int r = 0; r < now.size; r++) {
        ranks[r].recv = buffer_make(now.rtype, (uint64_t)now.rcount);
        ranks[r].want = buffer_make(now.rtype, (uint64_t)now.rcount);
        block_put(now.root, 0, now.rtype, ranks[r].want.at);
        if (r == now.root)
            block_put(now.root, 0, now.rtype, ranks[r].recv.at);
    }
    return case_passes();
}

/* ---- reductions ---- */

/* Where the two words of item i of a pair lie. */
static uint32_t *word(void *buf, int i, MPI_Datatype type, int second)
{
    struct mpi_type *t = mpi_type_get(type);
    int64_t gap = t == pair_type ? 4 : 8;

    return (uint32_t *)((char *)buf + i * t->extent + t->true_lb + second * gap);
}

/* Composition of x -> p x + q, which does not commute. */
static void affine(void *in, void *inout, int *len, MPI_Datatype *type)
{
    applied++;
    for (int i = 0; i < *len; i++) {
        uint32_t p = *word(in, i, *type, 0), q = *word(in, i, *type, 1);
        *word(inout, i, *type, 1) = p * *word(inout, i, *type, 1) + q;
        *word(inout, i, *type, 0) *= p;
    }
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    applied++;
    for (int i = 0; i < *len; i++)
        for (int second = 0; second < 2; second++)
            *word(inout, i, *type, second) += *word(in, i, *type, second);
}

static void items_fill(char *buf, int r, int count)
{
    int words8 = (count * (int)now.rtype->size + 7) / 8;
    char *stream = (char *)mem_alloc(8 * (size_t)words8);

    for (int i = 0; i < words8; i++) {
        double value = (r * 37 + i * 11) % 1000 - 500;
        uint32_t words[2] = {(uint32_t)(r * 7 + i * 3 + 1), (uint32_t)(r * 13 + i + 2)};
        if (now.rtype == double_type)
            memcpy(stream + 8 * i, &value, 8);
        else
            memcpy(stream + 8 * i, words, 8);
    }
    mpi_type_unpack(now.rtype, (uint64_t)count, buf, stream, (uint64_t)count * now.rtype->size);
    mem_free(stream);
}

/* want = source(first) op ... op source(last), item by item from `skip` on. */
static void items_reduce(char *want, int first, int last, int total, int skip, int count)
{
    struct mpi_op *op = mpi_op_get(now.op);
    struct buffer acc = buffer_make(now.rtype, (uint64_t)total);

    items_fill(acc.at, last, total);
    for (int r = last - 1; r >= first; r--) {
        struct buffer in = buffer_make(now.rtype, (uint64_t)total);
        items_fill(in.at, r, total);
        mpi_op_apply(op, in.at, acc.at, (uint64_t)total, now.rtype);
        mem_free(in.mem);
    }
    coll_copy(coll_at(acc.at, skip, now.rtype), want, (uint64_t)count, now.rtype);
    mem_free(acc.mem);
}

static int reduce_counts(struct rank_case *k, int *my_first, int r)
{
    int total = 0;

    if (now.op_id != MPI_COLL_reduce_scatter) {
        *my_first = now.op_id == MPI_COLL_reduce_scatter_block ? r * now.rcount : 0;
        return now.rcount * (now.op_id == MPI_COLL_reduce_scatter_block ? now.size : 1);
    }
    k->rcounts = (int *)mem_alloc(sizeof(int) * (size_t)now.size);
    for (int i = 0; i < now.size; i++) {
        k->rcounts[i] = (i * 5 + now.rcount) % 4;
        if (i == r)
            *my_first = total;
        total += k->rcounts[i];
    }
    return total;
}

static int check_reduce(void)
{
    now.rcount = (int)rnd(rnd(3) ? 6 : 60) * 2;
    for (int r = 0; r < now.size; r++) {
        struct rank_case *k = &ranks[r];
        int first = 0, total = reduce_counts(k, &first, r);
        int count = k->rcounts ? k->rcounts[r] : now.rcount;
        int in_place = now.in_place && (now.op_id != MPI_COLL_reduce || r == now.root);

        k->send = buffer_make(now.rtype, (uint64_t)total);
        items_fill(k->send.at, r, total);
        k->recv = buffer_make(now.rtype, (uint64_t)total);
        if (in_place)
            items_fill(k->recv.at, r, total);
        k->want = buffer_make(now.rtype, (uint64_t)total);
        memcpy(k->want.mem, k->recv.mem, k->recv.bytes);
        if (!count || (now.op_id == MPI_COLL_reduce && r != now.root) ||
            (now.op_id == MPI_COLL_exscan && r == 0))
            continue;
        int last = now.op_id == MPI_COLL_scan     ? r
                   : now.op_id == MPI_COLL_exscan ? r - 1
                                                  : now.size - 1;
        items_reduce(k->want.at, 0, last, total, first, count);
    }
    return case_passes();
}

/* ---- all algorithms ---- */

static int check_one(void)
{
    if (now.op_id == MPI_COLL_barrier)
        return case_passes();
    if (now.op_id == MPI_COLL_bcast)
        return check_bcast();
    return now.op_id < MPI_COLL_reduce ? check_move() : check_reduce();
}

static void choose_case(int op_id, int size)
{
    struct mpi_type *types[] = {int_type, gap_type, low_type};

    memset(&now, 0, sizeof now);
    now.op_id = op_id;
    now.size = size;
    now.root = (int)rnd((uint32_t)size);
    now.in_place = (int)rnd(2);
    now.stype = types[rnd(3)];
    now.rtype = types[rnd(3)];
    if (op_id < MPI_COLL_reduce)
        return;
    switch (rnd(6)) {
    case 0:
        now.rtype = int_type, now.op = MPI_SUM;
        break;
    case 1:
        now.rtype = double_type, now.op = MPI_MAX;
        break;
    case 2:
        now.rtype = gap_pair_type, now.op = add_op;
        break;
    case 3:
        now.rtype = pair_type, now.op = affine_op;
        break;
    case 4:
        now.rtype = gap_pair_type, now.op = affine_op;
        break;
    case 5:
        now.rtype = low_pair_type, now.op = affine_op;
        break;
    }
    now.stype = now.rtype;
}

static void check_algorithm(const struct mpi_coll_algorithm *alg, const char *name)
{
    int failed = 0, cases = 0;

    mpi_coll_force(alg->operation, name);
    for (int size = 1; size <= MAX_RANKS && !failed; size++)
        for (int i = 0; i < 24 && !failed; i++, cases++) {
            uint64_t before = rng_state;
            choose_case(alg->op_id, size);
            if (!check_one()) {
                failed = 1;
                diag("size %d root %d in place %d count %d op %x eager %d, state %llu", size,
                     now.root, now.in_place, now.rcount, (unsigned)now.op, (int)eager,
                     (unsigned long long)before);
            }
        }
    mpi_coll_force(alg->operation, "auto");
    messages = NULL; /* of a failed case; reported above */
    posted = NULL;
    ok(!failed, "%s %s: %d cases", alg->operation, name, cases);
}

static struct mpi_type *committed(struct mpi_type *type)
{
    mpi_type_set_committed(type);
    mpi_type_publish(type);
    mpi_type_set_committed(type);
    return type;
}

static void make_types(void)
{
    struct mpi_type *t, *u32 = mpi_type_get(MPI_UINT32_T);

    int_type = mpi_type_get(MPI_INT);
    double_type = mpi_type_get(MPI_DOUBLE);
    mpi_type_make_vector(false, 2, 1, 2, int_type, &gap_type);
    committed(gap_type);
    mpi_type_make_hindexed(false, 2, (MPI_Count[]){1, 2}, (MPI_Aint[]){-8, 4}, int_type, &t);
    mpi_type_make_resized(false, t, -8, 28, &low_type);
    committed(low_type);
    mpi_type_make_contiguous(false, 2, u32, &pair_type);
    committed(pair_type);
    mpi_type_make_vector(false, 2, 1, 2, u32, &t);
    mpi_type_make_resized(false, t, 0, 16, &gap_pair_type);
    committed(gap_pair_type);
    mpi_type_make_hindexed(false, 2, (MPI_Count[]){1, 1}, (MPI_Aint[]){-600, -592}, u32, &t);
    mpi_type_make_resized(false, t, -600, 16, &low_pair_type);
    committed(low_pair_type);
    mpi_op_create(mpi_world.ranks, affine, 0, &affine_op);
    mpi_op_create(mpi_world.ranks, add, 1, &add_op);
}

/* ---- checks of arguments ---- */

static void check_errors(void)
{
    struct mpi_rank *self = mpi_world.ranks;
    int x[4] = {0}, y[4] = {0};
    MPI_Comm w = MPI_COMM_WORLD;

    group_make(1);
    comm_object = (struct mpi_comm){.handle = w, .group = &group};
    running = 0;
    is_int(mpi_barrier(self, MPI_COMM_NULL), MPI_ERR_COMM, "null communicator");
    is_int(mpi_bcast_c(self, x, 1, MPI_DATATYPE_NULL, 0, w), MPI_ERR_TYPE, "null datatype");
    is_int(mpi_bcast_c(self, NULL, 1, MPI_INT, 0, w), MPI_ERR_BUFFER, "null buffer");
    is_int(mpi_bcast_c(self, NULL, 0, MPI_INT, 0, w), MPI_SUCCESS, "null buffer of nothing");
    is_int(mpi_allreduce_c(self, x, y, 1, MPI_INT, MPI_OP_NULL, w), MPI_ERR_OP, "null operation");
    is_int(mpi_allreduce_c(self, x, y, 1, MPI_LOGICAL, MPI_SUM, w), MPI_ERR_OP, "sum of logicals");
    is_int(mpi_allreduce_c(self, x, y, 1, MPI_INT, MPI_REPLACE, w), MPI_ERR_OP, "replace");
    is_int(mpi_allreduce_c(self, x, x, 1, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER, "same buffers");
    is_int(mpi_allreduce_c(self, x, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER,
           "receive in place");
    is_int(mpi_allgather_c(self, x, 4, MPI_INT, y, 1, MPI_INT, w), MPI_ERR_TRUNCATE,
           "more sent than received");
    comm_object.remote = &group;
    is_int(mpi_scan_c(self, x, y, 1, MPI_INT, MPI_SUM, w), MPI_ERR_COMM, "scan between groups");
    is_int(last_class, MPI_ERR_COMM, "errors are raised");
    is_int(mpi_coll_force("bcast", "nonsense"), -1, "unknown algorithm");
    is_int(mpi_coll_force("nonsense", "auto"), -1, "unknown operation");
}

int main(int argc, char **argv)
{
    rank_map_init(&mpi_world.engine.cfg.map, RANK_MAP_BLOCK, 1u << 20, 1, 0, NULL);
    static struct mpi_rank rank_table[MAX_RANKS];

    plan_auto();
    rng_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20;
    diag("seed %llu", (unsigned long long)rng_state);
    mpi_world.ranks = rank_table;
    pool_init(&mpi_world.pool, "extras");
    for (int i = 0; i < MAX_RANKS; i++)
        stacks[i] = (char *)mem_alloc(STACK);
    make_types();
    for (uint32_t i = 0; i < COLL_ID_COUNT; i++) {
        const struct mpi_coll_algorithm *alg = &algorithms[i];
        check_algorithm(alg, alg->name);
        if (!i || alg->op_id != alg[-1].op_id)
            check_algorithm(alg, "auto");
    }
    mpi_coll_select("model");
    mpi_coll_model(0, 0,
                   0); /* free messages are messages here; the data must be right all the same */
    for (uint32_t i = 0; i < COLL_ID_COUNT; i++)
        if (!i || algorithms[i].op_id != algorithms[i - 1].op_id)
            check_algorithm(&algorithms[i], "auto");
    mpi_coll_select("openmpi");
    mpi_world.free_collectives = 0;
    for (uint32_t i = 0; i < COLL_ID_COUNT; i++)
        if (!i || algorithms[i].op_id != algorithms[i - 1].op_id)
            check_algorithm(&algorithms[i], "auto");
    mpi_coll_select("mpich");
    now.op_id = MPI_COLL_barrier;
    now.size = 17;
    sent = 0;
    mpi_coll_force("barrier", "dissemination");
    ok(case_passes(), "barrier");
    mpi_coll_force("barrier", "auto");
    is_int((long long)sent, 17 * 5, "a barrier takes ceil(log2 P) messages per rank");
    check_errors();
    for (int i = 0; i < MAX_RANKS; i++)
        mem_free(stacks[i]);
    pool_fini(&mpi_world.pool);
    return done_testing();
}
