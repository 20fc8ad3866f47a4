/* test: n=1,2,5,16 native=5
 * Collectives on intercommunicators with random counts, types and roots. Every operation is
 * compared with what follows from who owns which numbers: item k that rank w of the world has for
 * peer p is a function of (w, p, k). Sides are uneven and in any order. */
#include <stdint.h>

#include "check.h"

enum { ROUNDS = 12, MOST = 40 };

static int rank, size;
static uint64_t seed = 42;

static int draw(int n) /* the same on all ranks */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

struct sides {
    MPI_Comm comm;
    int side, me, mine, theirs; /* which, my rank in it, sizes */
    int *local, *remote;        /* world ranks */
    int n[2];                   /* sizes of side 0 and 1 */
};

static void ranks_of(MPI_Group group, int n, int *out)
{
    MPI_Group world;
    int *all = malloc((size_t)n * sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, n, all, world, out);
    MPI_Group_free(&world);
    free(all);
}

/* The first `lows` ranks against the others, or by residue. */
static struct sides make(int lows, int turn)
{
    struct sides s = {.side = rank >= lows};
    MPI_Comm local;
    MPI_Group group;
    MPI_Comm_split(MPI_COMM_WORLD, s.side, turn ? -rank : rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD,
                         s.side ? (turn ? lows - 1 : 0) : (turn ? size - 1 : lows), 9, &s.comm);
    MPI_Comm_free(&local);
    MPI_Comm_size(s.comm, &s.mine);
    MPI_Comm_remote_size(s.comm, &s.theirs);
    MPI_Comm_rank(s.comm, &s.me);
    s.n[s.side] = s.mine;
    s.n[!s.side] = s.theirs;
    s.local = malloc((size_t)s.mine * sizeof(int));
    s.remote = malloc((size_t)s.theirs * sizeof(int));
    MPI_Comm_group(s.comm, &group);
    ranks_of(group, s.mine, s.local);
    MPI_Group_free(&group);
    MPI_Comm_remote_group(s.comm, &group);
    ranks_of(group, s.theirs, s.remote);
    MPI_Group_free(&group);
    return s;
}

static void drop(struct sides *s)
{
    MPI_Comm_free(&s->comm);
    free(s->local);
    free(s->remote);
}

static int item(int owner, int peer, int k)
{
    return owner * 10007 + peer * 101 + k;
}

/* Two ints with a hole between them, or an int: count items take the same room. */
static MPI_Datatype types[2];
static int step[2] = {1, 3}, parts[2] = {1, 2};

static int *room(int items)
{
    int *p = malloc(((size_t)items * 3 + 8) * sizeof *p);
    for (int i = 0; i < items * 3 + 8; i++)
        p[i] = -1;
    return p;
}

/* Number i (of count * parts) of a buffer whose items are of type t. */
static int *at(int *buf, int t, int i)
{
    return &buf[i / parts[t] * step[t] + i % parts[t] * 2];
}

static void fill(int *buf, int t, int from, int count, int owner, int peer)
{
    for (int k = 0; k < count * parts[t]; k++)
        *at(buf, t, from * parts[t] + k) = item(owner, peer, k);
}

static void expect(int *buf, int t, int from, int count, int owner, int peer)
{
    for (int k = 0; k < count * parts[t]; k++)
        CHECK(*at(buf, t, from * parts[t] + k) == item(owner, peer, k));
}

/* The root argument of a call whose root is rank r of side w. */
static int root_arg(const struct sides *s, int w, int r)
{
    return s->side != w ? r : s->me == r ? MPI_ROOT : MPI_PROC_NULL;
}

static void bcast(struct sides *s, int t)
{
    int w = draw(2), r = draw(s->n[w]), count = draw(3) ? draw(MOST) : draw(4000);
    int *buf = room(count), root = root_arg(s, w, r);
    if (root == MPI_ROOT)
        fill(buf, t, 0, count, rank, 0);
    MPI_Bcast(buf, count, types[t], root, s->comm);
    if (s->side != w)
        expect(buf, t, 0, count, s->remote[r], 0);
    else if (root == MPI_PROC_NULL)
        CHECK(buf[0] == -1);
    free(buf);
}

static void gather_scatter(struct sides *s, int t)
{
    int w = draw(2), r = draw(s->n[w]), count = draw(2) ? draw(MOST) : draw(400);
    int *one = room(count), *all = room(count * s->theirs), root = root_arg(s, w, r);
    fill(one, t, 0, count, rank, 1);
    MPI_Gather(one, count, types[t], all, count, types[t], root, s->comm);
    for (int i = 0; root == MPI_ROOT && i < s->theirs; i++)
        expect(all, t, i * count, count, s->remote[i], 1);
    for (int i = 0; i < s->theirs; i++)
        fill(all, t, i * count, count, rank, i);
    MPI_Scatter(all, count, types[t], one, count, types[t], root, s->comm);
    if (s->side != w)
        expect(one, t, 0, count, s->remote[r], s->me);
    free(one);
    free(all);
}

/* Counts that both sides of a pair can compute: of what a sends to b. */
static int pair_count(int a, int b, int salt)
{
    return (a * 7 + b * 5 + salt) % 9;
}

static void vectors(struct sides *s, int t)
{
    int w = draw(2), r = draw(s->n[w]), salt = draw(100), root = root_arg(s, w, r), total = 0;
    int mine = pair_count(rank, 0, salt), *one = room(mine);
    int *counts = malloc((size_t)s->theirs * sizeof(int)),
        *displs = malloc((size_t)s->theirs * sizeof(int));
    for (int i = 0; i < s->theirs; i++) {
        counts[i] = pair_count(s->remote[i], 0, salt);
        displs[i] = total + i % 2;
        total += counts[i] + 1;
    }
    int *all = room(total + 1);
    fill(one, t, 0, mine, rank, 3);
    MPI_Gatherv(one, mine, types[t], all, counts, displs, types[t], root, s->comm);
    for (int i = 0; root == MPI_ROOT && i < s->theirs; i++)
        expect(all, t, displs[i], counts[i], s->remote[i], 3);
    for (int i = 0; i < s->theirs; i++)
        fill(all, t, displs[i], counts[i], rank, i);
    MPI_Scatterv(all, counts, displs, types[t], one, mine, types[t], root, s->comm);
    if (s->side != w)
        expect(one, t, 0, mine, s->remote[r], s->me);
    fill(one, t, 0, mine, rank, 4);
    memset(all, 0, (size_t)total * 3 * sizeof(int));
    MPI_Allgatherv(one, mine, types[t], all, counts, displs, types[t], s->comm);
    for (int i = 0; i < s->theirs; i++)
        expect(all, t, displs[i], counts[i], s->remote[i], 4);
    free(one);
    free(all);
    free(counts);
    free(displs);
}

static void equal_blocks(struct sides *s, int t)
{
    int n[2] = {draw(4) ? draw(MOST) : 0, draw(MOST)}; /* what a side gives */
    int give = n[s->side], take = n[!s->side];
    int *out = room(give * s->theirs), *in = room(take * s->theirs);
    fill(out, t, 0, give, rank, 0);
    MPI_Allgather(out, give, types[t], in, take, types[t], s->comm);
    for (int i = 0; i < s->theirs; i++)
        expect(in, t, i * take, take, s->remote[i], 0);
    for (int i = 0; i < s->theirs; i++)
        fill(out, t, i * give, give, rank, i);
    MPI_Alltoall(out, give, types[t], in, take, types[t], s->comm);
    for (int i = 0; i < s->theirs; i++)
        expect(in, t, i * take, take, s->remote[i], s->me);
    free(out);
    free(in);
}

static void all_to_all(struct sides *s)
{
    size_t n = (size_t)s->theirs;
    int *numbers = malloc(6 * n * sizeof(int)), salt = draw(100);
    int *sc = numbers, *sd = sc + n, *rc = sd + n, *rd = rc + n, *sb = rd + n, *rb = sb + n;
    MPI_Datatype *st = malloc(2 * n * sizeof *st), *rt = st + n;
    int souts = 0, sins = 0;
    for (size_t i = 0; i < n; i++) {
        sc[i] = pair_count(rank, s->remote[i], salt);
        rc[i] = pair_count(s->remote[i], rank, salt);
        sd[i] = souts;
        rd[i] = sins;
        sb[i] = souts * (int)sizeof(int) * 3;
        rb[i] = sins * (int)sizeof(int) * 3;
        souts += sc[i];
        sins += rc[i];
        st[i] = types[(rank + s->remote[i]) % 2];
        rt[i] = types[(rank + s->remote[i]) % 2];
    }
    int *out = room(souts), *in = room(sins);
    for (size_t i = 0; i < n; i++)
        fill(out, 1, sd[i], sc[i], rank, s->remote[i]);
    MPI_Alltoallv(out, sc, sd, types[1], in, rc, rd, types[1], s->comm);
    for (size_t i = 0; i < n; i++)
        expect(in, 1, rd[i], rc[i], s->remote[i], rank);
    for (size_t i = 0; i < n; i++)
        fill(out + sd[i] * 3, (rank + s->remote[i]) % 2, 0, sc[i], rank, s->remote[i]);
    MPI_Alltoallw(out, sc, sb, st, in, rc, rb, rt, s->comm);
    for (size_t i = 0; i < n; i++)
        expect(in + rd[i] * 3, (rank + s->remote[i]) % 2, 0, rc[i], s->remote[i], rank);
    free(out);
    free(in);
    free(st);
    free(numbers);
}

/* x -> a x + b, composed: does not commute. Two ints each, modulo a prime. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *n; i++, a += 2, b += 2) {
        int64_t p = 10007, slope = (int64_t)a[0] * b[0] % p;
        b[1] = (int)(((int64_t)a[1] * b[0] + b[1]) % p);
        b[0] = (int)slope;
    }
}

/* What the ranks w[0..n) together compute from their items k. */
static void composed(const int *w, int n, int k, int *out)
{
    out[0] = 1;
    out[1] = 0;
    for (int i = 0; i < n; i++) {
        int mine[2] = {1 + w[i] % 50, w[i] + k};
        int64_t p = 10007;
        out[1] = (int)(((int64_t)out[1] * mine[0] + mine[1]) % p);
        out[0] = (int)((int64_t)out[0] * mine[0] % p);
    }
}

static int sum_of(const int *w, int n, int k)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += w[i] * (k + 1);
    return sum;
}

static void reductions(struct sides *s, MPI_Op op, MPI_Datatype pair)
{
    int w = draw(2), r = draw(s->n[w]), count = draw(5) ? draw(MOST) : 1500, want[2];
    int root = root_arg(s, w, r), *in = malloc(2 * sizeof(int) * (size_t)(count + 1)),
        *out = malloc(2 * sizeof(int) * (size_t)(count + 1));
    for (int k = 0; k < count; k++)
        in[k] = rank * (k + 1);
    MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, s->comm);
    for (int k = 0; root == MPI_ROOT && k < count; k++)
        CHECK(out[k] == sum_of(s->remote, s->theirs, k));
    memset(out, 0, (size_t)count * sizeof(int));
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, s->comm);
    for (int k = 0; k < count; k++)
        CHECK(out[k] == sum_of(s->remote, s->theirs, k));
    for (int k = 0; k < count; k++) {
        in[2 * k] = 1 + rank % 50;
        in[2 * k + 1] = rank + k;
    }
    MPI_Allreduce(in, out, count, pair, op, s->comm);
    for (int k = 0; k < count; k++) {
        composed(s->remote, s->theirs, k, want);
        CHECK(out[2 * k] == want[0] && out[2 * k + 1] == want[1]);
    }
    free(in);
    free(out);
}

static void reduce_scatters(struct sides *s, MPI_Op op, MPI_Datatype pair)
{
    /* Both sides share the same number of items. */
    int block = draw(5) + 1, total = s->n[0] * s->n[1] * block, each = total / s->mine, want[2];
    int *in = malloc(2 * sizeof(int) * (size_t)total),
        *out = malloc(2 * sizeof(int) * (size_t)total);
    int *counts = malloc((size_t)s->mine * sizeof(int)), first = 0;
    for (int k = 0; k < total; k++)
        in[k] = rank * (k + 1);
    MPI_Reduce_scatter_block(in, out, each, MPI_INT, MPI_SUM, s->comm);
    for (int k = 0; k < each; k++)
        CHECK(out[k] == sum_of(s->remote, s->theirs, s->me * each + k));
    /* Uneven: the first gets what the last lacks. */
    for (int i = 0; i < s->mine; i++)
        counts[i] = each + (s->mine < 2 ? 0 : i == 0 ? each : i == s->mine - 1 ? -each : 0);
    for (int i = 0; i < s->me; i++)
        first += counts[i];
    for (int k = 0; k < total; k++) {
        in[2 * k] = 1 + rank % 50;
        in[2 * k + 1] = rank + k;
    }
    MPI_Reduce_scatter(in, out, counts, pair, op, s->comm);
    for (int k = 0; k < counts[s->me]; k++) {
        composed(s->remote, s->theirs, first + k, want);
        CHECK(out[2 * k] == want[0] && out[2 * k + 1] == want[1]);
    }
    free(in);
    free(out);
    free(counts);
}

static void refused(struct sides *s)
{
    int x = 1, y;
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, s->comm) != MPI_SUCCESS);
    CHECK(MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, s->comm) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&x, 1, MPI_INT, s->theirs, s->comm) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    MPI_Datatype pair, hole;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_vector(2, 1, 2, MPI_INT, &hole);
    MPI_Type_commit(&hole);
    MPI_Op_create(compose, 0, &op);
    types[0] = MPI_INT;
    types[1] = hole;
    for (int i = 0; size > 1 && i < ROUNDS; i++) {
        struct sides s = make(1 + draw(size - 1), draw(2));
        MPI_Barrier(s.comm);
        for (int t = 0; t < 2; t++) {
            bcast(&s, t);
            gather_scatter(&s, t);
            vectors(&s, t);
            equal_blocks(&s, t);
        }
        all_to_all(&s);
        reductions(&s, op, pair);
        reduce_scatters(&s, op, pair);
        MPI_Barrier(s.comm);
        refused(&s);
        drop(&s);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&hole);
    MPI_Type_free(&pair);
    check_ok("intercommunicator collectives");
    MPI_Finalize();
    return 0;
}
