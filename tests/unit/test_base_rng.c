/* Random numbers: the published reference values, range and evenness of rng_below. */
#include "base/rng.h"

#include "tests/tap.h"

/* First outputs for the state 1, 2, 3, 4, worked out by hand from the definition. */
static void test_reference(void)
{
    struct rng rng = {{1, 2, 3, 4}};
    is_int(rng_next(&rng), 11520, "xoshiro256** output 1");
    is_int(rng_next(&rng), 0, "xoshiro256** output 2");
    is_int(rng_next(&rng), 1509978240, "xoshiro256** output 3");
    is_int(rng_next(&rng), 1215971899390074240, "xoshiro256** output 4");
    uint64_t state = 1234567;
    ok(rng_splitmix(&state) == 6457827717110365317u, "splitmix64 output 1");
    ok(rng_splitmix(&state) == 3203168211198807973u, "splitmix64 output 2");
}

static void test_seed(void)
{
    struct rng a, b, c;
    int same = 1, differ = 0;
    rng_seed(&a, 7);
    rng_seed(&b, 7);
    rng_seed(&c, 8);
    for (int i = 0; i < 100; i++) {
        uint64_t x = rng_next(&a);
        same &= x == rng_next(&b);
        differ |= x != rng_next(&c);
    }
    ok(same, "the same seed gives the same sequence");
    ok(differ, "another seed another");
}

static void test_below(void)
{
    struct rng rng;
    int count[6] = {0}, inside = 1, even = 1;
    rng_seed(&rng, 99);
    for (int i = 0; i < 60000; i++) {
        uint64_t x = rng_below(&rng, 6);
        inside &= x < 6;
        count[x % 6]++;
    }
    for (int i = 0; i < 6; i++)
        even &= count[i] > 9500 && count[i] < 10500;
    ok(inside, "below 6 is below 6");
    ok(even, "and even to five standard deviations");
    is_int(rng_below(&rng, 1), 0, "below 1 is 0");
    uint64_t n = ((uint64_t)1 << 63) + 1;
    int high = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = rng_below(&rng, n);
        inside &= x < n;
        high += x >= n / 2;
    }
    ok(inside && high > 400 && high < 600, "a range that rejects half of all draws");
    double x = rng_double(&rng);
    ok(x >= 0 && x < 1, "a double in [0, 1)");
}

int main(void)
{
    plan_auto();
    test_reference();
    test_seed();
    test_below();
    return done_testing();
}
