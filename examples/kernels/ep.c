/*
 * ep.c - embarrassingly parallel: pairs of Gaussian random numbers, counted by how large they
 * are.
 *
 * Numbers are made in blocks, each from a seed of its own, so the result does not depend on who
 * makes which block. The only communication is a sum in the end. Any number of ranks.
 */
#include <math.h>

#include "kernel.h"

#define BLOCK 4096 /* pairs */
#define BINS 10
#define FIXED 0x1p32 /* sums are kept as integers, which add up exactly */

static const int64_t blocks_of_class[] = {16, 256, 2048, 8192, 32768};

struct tally {
    int64_t bins[BINS];
    int64_t pairs,
        blocks; /* accepted pairs, and the sum of the numbers of blocks: nobody left one out */
    int64_t x, y;
};
#define WORDS (int)(sizeof(struct tally) / sizeof(int64_t))

static void add_pair(struct tally *t, double u, double v)
{
    double square = u * u + v * v;
    if (square > 1 || square == 0)
        return;
    double scale = sqrt(-2 * log(square) / square), x = u * scale, y = v * scale;
    double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    t->bins[larger < BINS ? (int)larger : BINS - 1]++;
    t->pairs++;
    t->x += (int64_t)(x * FIXED);
    t->y += (int64_t)(y * FIXED);
}

static void add_block(struct tally *t, int64_t block)
{
    uint64_t seed = kernel_hash((uint64_t)block);
    for (int i = 0; i < BLOCK; i++) {
        double u = 2 * kernel_uniform(seed + 2 * (uint64_t)i) - 1;
        double v = 2 * kernel_uniform(seed + 2 * (uint64_t)i + 1) - 1;
        add_pair(t, u, v);
    }
    t->blocks += block + 1;
}

/* Sums of independent numbers with mean 0 and variance 1 stay within five standard deviations. */
static int is_right(const struct tally *t, int64_t blocks)
{
    int64_t counted = 0;
    double most = 5 * sqrt((double)t->pairs);
    for (int i = 0; i < BINS; i++)
        counted += t->bins[i];
    double accepted = (double)t->pairs / (double)(blocks * BLOCK);
    return counted == t->pairs && t->blocks == blocks * (blocks + 1) / 2 &&
           fabs((double)t->x / FIXED) < most && fabs((double)t->y / FIXED) < most &&
           fabs(accepted - acos(-1) / 4) < 0.01;
}

int main(int argc, char **argv)
{
    struct kernel k = kernel_init("ep", &argc, &argv);
    int64_t blocks = blocks_of_class[k.class];
    struct tally own = {0}, all;
    uint64_t checksum = 0;

    kernel_start(&k);
    for (int64_t b = k.rank; b < blocks; b += k.size)
        add_block(&own, b);
    MPI_Allreduce(&own, &all, WORDS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    kernel_stop(&k);

    for (int i = 0; i < WORDS && k.rank == 0; i++)
        checksum += kernel_hash((uint64_t)i) * (uint64_t)((int64_t *)&all)[i];
    return kernel_finish(&k, checksum, is_right(&all, blocks));
}
