/*
 * The info key "soft" of MPI_Comm_spawn, against a list of all numbers it allows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "mpi/dynamic/spawn.h"
#include "tap.h"

struct mpi_world mpi_world;

static void test_texts(void)
{
    is_int(spawn_soft("", 7, 7), 7, "all, if they are there");
    is_int(spawn_soft("", 7, 6), -1, "all or none without the key");
    is_int(spawn_soft("3", 7, 7), 7, "all are always allowed");
    is_int(spawn_soft("3", 7, 6), 3, "one number");
    is_int(spawn_soft("1:5", 7, 6), 5, "a range");
    is_int(spawn_soft("1:100:4", 50, 12), 9, "a stride");
    is_int(spawn_soft("20:5:-3", 50, 12), 11, "a negative stride");
    is_int(spawn_soft("0,2 , 4:8:2", 50, 7), 6, "several");
    is_int(spawn_soft("0", 50, 7), 0, "none at all is a number, too");
    is_int(spawn_soft("5:1", 50, 7), -1, "an empty range");
    is_int(spawn_soft("60:90", 50, 50), 50, "more than all means nothing");
    ok(spawn_soft_valid("1:2:3,4") && spawn_soft_valid("7") && spawn_soft_valid("1, 2"),
       "good texts");
    ok(!spawn_soft_valid("") && !spawn_soft_valid("x") && !spawn_soft_valid("1:") &&
           !spawn_soft_valid("1,") && !spawn_soft_valid("1:2:0") && !spawn_soft_valid("1;2") &&
           !spawn_soft_valid("1:2:3:4"),
       "bad texts");
}

/* Which of 0 ... most is the largest that a, a + c, ... b has? */
static int naive(int a, int b, int c, int most)
{
    int best = -1;

    for (int x = a; c > 0 ? x <= b : x >= b; x += c)
        if (x >= 0 && x <= most && x > best)
            best = x;
    return best;
}

static void test_triplets(void)
{
    struct rng rng;
    int bad = 0;

    rng_seed(&rng, 5);
    for (int i = 0; i < 20000; i++) {
        int a = (int)rng_below(&rng, 30) - 5, b = (int)rng_below(&rng, 30) - 5;
        int c = (int)rng_below(&rng, 11) - 5, most = (int)rng_below(&rng, 25);
        char text[64];

        c = c ? c : 1;
        snprintf(text, sizeof text, "%d:%d:%d", a, b, c);
        bad += spawn_soft(text, 1000, most) != naive(a, b, c, most);
    }
    is_int(bad, 0, "20000 triplets against a list");
}

int main(void)
{
    plan_auto();
    test_texts();
    test_triplets();
    return done_testing();
}
