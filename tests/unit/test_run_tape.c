/*
 * Recorded compute times: numbers of every length, and files that are cut, damaged or of other
 * runs.
 */
#include "run/tape.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "tap.h"

static unsigned char file[512];
static size_t length;
static size_t spares[8]; /* where the word of a block's head is that means nothing */
static int blocks;
static char path[64];
static struct err err;

static void add(const void *data, size_t size)
{
    memcpy(file + length, data, size);
    length += size;
}

static void add_block(uint32_t rank, const char *data, size_t size)
{
    struct tape_block b = {rank, (uint32_t)size,
                           tape_checksum(rank, (const unsigned char *)data, size), 0};

    add(&b, sizeof b);
    spares[blocks++] = length - sizeof b.spare;
    add(data, size);
}

/* A good file of 4 ranks. */
static void make(void)
{
    struct tape_head head = {TAPE_MAGIC, 4};

    length = 0;
    blocks = 0;
    add(&head, sizeof head);
    add_block(TAPE_NAMES, "MPI_Send\0MPI_Recv", 18);
    add_block(2, "abc", 3);
    add_block(0, "", 0);
    add_block(2, "de", 2);
    add_block(TAPE_END, "", 0);
}

static int open_file(uint64_t ranks)
{
    struct tape_file f;
    FILE *out = fopen(path, "w");
    int rc;

    fwrite(file, 1, length, out);
    fclose(out);
    rc = tape_open(&f, path, ranks, &err);
    if (rc == 0)
        tape_close(&f);
    return rc;
}

static void test_numbers(uint64_t seed)
{
    unsigned char text[TAPE_VARINT_MAX];
    struct rng rng;
    int good = 1;

    rng_seed(&rng, seed);
    for (int i = 0; i < 10000 && good; i++) {
        uint64_t value = i < 2 ? -(uint64_t)i : rng_next(&rng) >> rng_below(&rng, 64), got = 1;
        unsigned n = tape_put(text, value);
        uint32_t at = 0;

        good = n <= sizeof text && tape_get(text, n, &at, &got) && got == value && at == n;
        at = 0;
        good = good && !tape_get(text, n - 1, &at, &got);
    }
    ok(good, "numbers read back, and cut ones do not");
}

static void test_blocks(void)
{
    struct tape_file f;
    struct tape_block b;
    const unsigned char *data;
    size_t at = 0, bytes;

    make();
    is_int(open_file(4), 0, "a good file");
    is_int(tape_open(&f, path, 4, &err), 0, "opens");
    is_str(tape_names(&f, &bytes), "MPI_Send", "the first name");
    is_int(bytes, 18, "all names");
    ok(tape_next(&f, &at, &b, &data) && b.rank == TAPE_NAMES, "their block");
    ok(tape_next(&f, &at, &b, &data) && b.rank == 2 && b.bytes == 3 && memcmp(data, "abc", 3) == 0,
       "the first block");
    ok(tape_next(&f, &at, &b, &data) && b.rank == 0 && b.bytes == 0, "an empty one");
    ok(tape_next(&f, &at, &b, &data) && b.rank == 2 && memcmp(data, "de", 2) == 0,
       "the next of rank 2");
    ok(tape_next(&f, &at, &b, &data) && b.rank == TAPE_END, "the end");
    ok(!tape_next(&f, &at, &b, &data), "no more");
    tape_close(&f);
}

static int is_spare(size_t at)
{
    for (int i = 0; i < blocks; i++)
        if (at >= spares[i] && at < spares[i] + 4)
            return 1;
    return 0;
}

static void test_unnamed(void)
{
    struct tape_head head = {TAPE_MAGIC, 4};

    make();
    length = sizeof head;
    add_block(TAPE_END, "", 0);
    is_int(open_file(4), ERR_INPUT, "without names");
    length = sizeof head;
    add_block(TAPE_NAMES, "MPI_Send", 8);
    add_block(TAPE_END, "", 0);
    is_int(open_file(4), ERR_INPUT, "the last name does not end");
    ok(strstr(err.text, "names of functions"), "says so");
}

static void test_bad(void)
{
    size_t whole;
    int good = 1;

    make();
    is_int(open_file(5), ERR_INPUT, "of another number of ranks");
    ok(strstr(err.text, "it is of 4 ranks, this run has 5"), "says so");
    whole = length;
    for (length = 0; length < whole && good; length++)
        good = open_file(4) == ERR_INPUT;
    ok(good, "cut off anywhere it is refused");
    for (size_t i = 0; i < whole && good; i++) {
        make();
        file[i] ^= 0x40;
        if (open_file(4) == 0)
            good = is_spare(i);
    }
    ok(good, "damaged anywhere it is refused");
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/orrery-tape-%d", (int)getpid());
    plan_auto();
    test_numbers(3);
    test_blocks();
    test_unnamed();
    test_bad();
    unlink(path);
    return done_testing();
}
