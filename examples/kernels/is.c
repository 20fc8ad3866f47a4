/*
 * is.c - integer sort: keys are sent to the rank that holds their range, and sorted there.
 *
 * Each round changes some keys, counts all of them in buckets (MPI_Allreduce), divides buckets
 * among ranks so that each gets about as many keys, and sends keys where they belong
 * (MPI_Alltoall, MPI_Alltoallv). Any number of ranks up to the number of buckets.
 */
#include "kernel.h"

#define ROUNDS 10
#define BUCKETS 1024
#define KEY_BITS 20
#define BUCKET_BITS 10 /* bits of keys that fall into one bucket */
#define BUCKET_OF(key) ((key) >> BUCKET_BITS)

static const int64_t keys_of_class[] = {1 << 12, 1 << 16, 1 << 20, 1 << 22, 1 << 24};

struct sorting {
    struct kernel *k;
    int64_t first, count; /* own keys among all */
    int32_t *keys, *by_rank, *arrived, *sorted;
    int64_t room, held; /* keys that fit into, and are in, `arrived` */
    int64_t local[BUCKETS], global[BUCKETS];
    int owner[BUCKETS];
    int *send, *receive, *send_at, *receive_at; /* counts and displacements for each rank */
};

/* The sum of four uniform numbers: keys in the middle are frequent, as in a real sort they may
 * be. */
static int32_t make_key(int64_t i, int round)
{
    int is_changed = i % 97 == round;
    uint64_t bits = kernel_hash((uint64_t)i * 16 + (uint64_t)(is_changed ? round + 1 : 0)), sum = 0;
    for (int part = 0; part < 4; part++)
        sum += bits >> (16 * part) & 0xffff;
    return (int32_t)(sum << (KEY_BITS - 18));
}

static void count_keys(struct sorting *s)
{
    memset(s->local, 0, sizeof s->local);
    for (int64_t i = 0; i < s->count; i++)
        s->local[BUCKET_OF(s->keys[i])]++;
    MPI_Allreduce(s->local, s->global, BUCKETS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* Consecutive buckets to consecutive ranks, an equal share of keys to each as far as buckets
 * allow. */
static void divide(struct sorting *s, int64_t total)
{
    int64_t before = 0;
    for (int b = 0; b < BUCKETS; b++) {
        s->owner[b] = (int)((before + s->global[b] / 2) * s->k->size / (total + 1));
        before += s->global[b];
    }
}

static int64_t displace(const int *counts, int *at, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        at[i] = (int)sum;
        sum += counts[i];
    }
    return sum;
}

static void exchange(struct sorting *s)
{
    int n = s->k->size;
    memset(s->send, 0, (size_t)n * sizeof *s->send);
    for (int b = 0; b < BUCKETS; b++)
        s->send[s->owner[b]] += (int)s->local[b];
    MPI_Alltoall(s->send, 1, MPI_INT, s->receive, 1, MPI_INT, MPI_COMM_WORLD);
    displace(s->send, s->send_at, n);
    s->held = displace(s->receive, s->receive_at, n);
    if (s->held > s->room) {
        s->room = s->held + s->held / 8;
        free(s->arrived);
        free(s->sorted);
        s->arrived = kernel_alloc((size_t)s->room, sizeof *s->arrived);
        s->sorted = kernel_alloc((size_t)s->room, sizeof *s->sorted);
    }
    for (int64_t i = 0; i < s->count; i++)
        s->by_rank[s->send_at[s->owner[BUCKET_OF(s->keys[i])]]++] = s->keys[i];
    displace(s->send, s->send_at, n);
    MPI_Alltoallv(s->by_rank, s->send, s->send_at, MPI_INT32_T, s->arrived, s->receive,
                  s->receive_at, MPI_INT32_T, MPI_COMM_WORLD);
}

/* Sorts what has arrived by counting each key of own buckets. */
static void sort_own(struct sorting *s, int32_t *counts)
{
    int64_t at = 0;
    int first = 0, end = BUCKETS;
    while (first < end && s->owner[first] != s->k->rank)
        first++;
    while (end > first && s->owner[end - 1] != s->k->rank)
        end--;
    memset(counts + (first << BUCKET_BITS), 0,
           sizeof *counts * (size_t)((end - first) << BUCKET_BITS));
    for (int64_t i = 0; i < s->held; i++)
        counts[s->arrived[i]]++;
    for (int32_t key = first << BUCKET_BITS; at < s->held; key++)
        for (int32_t n = counts[key]; n > 0; n--)
            s->sorted[at++] = key;
}

/* Sorted within each rank, and across neighbours; ranks without keys hand on what they were told.
 * */
static int is_sorted(const struct sorting *s)
{
    int32_t before = -1, last;
    int right = 1;
    if (s->k->rank > 0)
        MPI_Recv(&before, 1, MPI_INT32_T, s->k->rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    last = before;
    for (int64_t i = 0; i < s->held; last = s->sorted[i++])
        right &= s->sorted[i] >= last;
    if (s->k->rank + 1 < s->k->size)
        MPI_Send(&last, 1, MPI_INT32_T, s->k->rank + 1, 0, MPI_COMM_WORLD);
    return right;
}

/* What the keys add up to, whoever holds them. */
static uint64_t sum_of(const int32_t *keys, int64_t count)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += kernel_hash((uint64_t)keys[i]);
    return sum;
}

/* All keys must be there: none lost, none twice. */
static int is_complete(const struct sorting *s)
{
    uint64_t sums[2] = {sum_of(s->keys, s->count), sum_of(s->sorted, s->held)}, all[2];
    MPI_Allreduce(sums, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all[0] == all[1];
}

static uint64_t checksum_of(const struct sorting *s)
{
    int64_t before = 0;
    uint64_t sum = 0;
    MPI_Exscan(&s->held, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (s->k->rank == 0)
        before = 0;
    for (int64_t i = 0; i < s->held; i++)
        sum += kernel_mark((uint64_t)(before + i), s->sorted[i]);
    return sum;
}

int main(int argc, char **argv)
{
    struct kernel k = kernel_init("is", &argc, &argv);
    int64_t total = keys_of_class[k.class];
    struct sorting s = {.k = &k, .first = kernel_cut(total, k.size, k.rank)};
    if (k.size > BUCKETS)
        kernel_refuse(&k, "more ranks than buckets: at most 1024");
    s.count = kernel_cut(total, k.size, k.rank + 1) - s.first;
    s.keys = kernel_alloc((size_t)s.count, sizeof *s.keys);
    s.by_rank = kernel_alloc((size_t)s.count, sizeof *s.by_rank);
    int *table = kernel_alloc(4 * (size_t)k.size, sizeof *table);
    s.send = table, s.receive = table + k.size, s.send_at = table + 2 * k.size,
    s.receive_at = table + 3 * k.size;
    int32_t *counts = kernel_alloc((size_t)1 << KEY_BITS, sizeof *counts);
    int right = 1;
    uint64_t checksum = 0;

    kernel_start(&k);
    for (int round = 0; round < ROUNDS; round++) {
        for (int64_t i = 0; i < s.count; i++)
            s.keys[i] = make_key(s.first + i, round);
        count_keys(&s);
        divide(&s, total);
        exchange(&s);
        sort_own(&s, counts);
    }
    kernel_stop(&k);

    right = is_sorted(&s) & is_complete(&s);
    checksum = checksum_of(&s);
    free(s.keys);
    free(s.by_rank);
    free(s.arrived);
    free(s.sorted);
    free(table);
    free(counts);
    return kernel_finish(&k, checksum, right);
}
