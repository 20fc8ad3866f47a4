/* test: n=1,2,5,16,300 native=4
 * The hidden state of libc belongs to the rank: strtok, rand, random, drand48, the environment,
 * errno. Sequences are compared with references computed afterwards, from the definitions. */
#include "check.h"

#include <errno.h>
#include <stdint.h>

enum { DRAWS = 40 };

static void test_strtok(int rank)
{
    char line[64];
    snprintf(line, sizeof line, "a%d,b%d;c%d,,d%d", rank, rank + 1, rank + 2, rank + 3);
    char *part = strtok(line, ",;");
    for (int i = 0; i < 4; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "%c%d", 'a' + i, rank + i);
        CHECK(part && strcmp(part, expected) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        part = strtok(0, ",;");
    }
    CHECK(!part);
    check_ok("strtok");
}

/* The additive feedback generator behind rand and random: degree 31, separation 3. */
static void reference_random(unsigned seed, int count, long *out)
{
    static uint32_t r[310 + 4 * DRAWS + 34];
    int32_t word = seed ? (int32_t)seed : 1;
    r[0] = (uint32_t)word;
    for (int i = 1; i < 31; i++) {
        word = (int32_t)((16807LL * word) % 2147483647);
        if (word < 0)
            word += 2147483647;
        r[i] = (uint32_t)word;
    }
    for (int i = 31; i < 34; i++)
        r[i] = r[i - 31];
    for (int i = 34; i < 344 + count; i++)
        r[i] = r[i - 31] + r[i - 3];
    for (int i = 0; i < count; i++)
        out[i] = r[344 + i] >> 1;
}

static void test_rand(int rank)
{
    long drawn[2 * DRAWS], expected[2 * DRAWS];
    for (int i = 0; i < DRAWS; i++) {
        drawn[i] = i % 2 ? rand() : random();
        if (i % 4 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    reference_random(1, DRAWS, expected);
    CHECK(memcmp(drawn, expected, DRAWS * sizeof(long)) == 0);
    check_ok("rand unseeded");
    srand((unsigned)rank * 7 + 3);
    for (int i = 0; i < DRAWS; i++) {
        drawn[i] = rand();
        if (i % 3 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    reference_random((unsigned)rank * 7 + 3, DRAWS, expected);
    CHECK(memcmp(drawn, expected, DRAWS * sizeof(long)) == 0);
    check_ok("rand seeded");
}

static uint64_t step48(uint64_t *x)
{
    *x = (*x * 0x5DEECE66DULL + 0xB) & 0xFFFFFFFFFFFFULL;
    return *x;
}

static void test_drand48(int rank)
{
    uint64_t x = 0;
    CHECK(drand48() == (double)step48(&x) / 281474976710656.0);
    MPI_Barrier(MPI_COMM_WORLD);
    srand48(rank + 5);
    x = ((uint64_t)(rank + 5) << 16) + 0x330E;
    for (int i = 0; i < DRAWS; i++) {
        CHECK(drand48() == (double)step48(&x) / 281474976710656.0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(lrand48() == (long)(step48(&x) >> 17));
        CHECK(mrand48() == (long)(int32_t)(step48(&x) >> 16));
    }
    check_ok("drand48");
}

static void test_environment(int rank)
{
    char value[32], put[32];
    snprintf(value, sizeof value, "value-%d", rank);
    snprintf(put, sizeof put, "ORRERY_TEST_PUT=%d", rank * 3);
    CHECK(getenv("ORRERY_TEST_SET") == 0 && getenv("PATH") != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(setenv("ORRERY_TEST_SET", value, 1) == 0 && putenv(put) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(strcmp(getenv("ORRERY_TEST_SET"), value) == 0);
    CHECK(atoi(getenv("ORRERY_TEST_PUT")) == rank * 3);
    CHECK(setenv("ORRERY_TEST_SET", "other", 0) == 0);
    if (rank % 2)
        CHECK(unsetenv("ORRERY_TEST_SET") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rank % 2 ? !getenv("ORRERY_TEST_SET") : !strcmp(getenv("ORRERY_TEST_SET"), value));
    CHECK(unsetenv("ORRERY_TEST_PUT") == 0);
    check_ok("environment");
}

/* Real MPI libraries may change errno; the simulator promises to keep it. */
static void test_errno(int rank)
{
    for (int i = 0; i < 5; i++) {
        errno = 1000 + rank;
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(check_virtual() ? errno == 1000 + rank : errno < 1000 || errno == 1000 + rank);
    }
    check_ok("errno");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank();
    test_strtok(rank);
    test_rand(rank);
    test_drand48(rank);
    test_environment(rank);
    test_errno(rank);
    MPI_Finalize();
    return 0;
}
