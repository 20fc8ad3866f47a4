/* The queue of submitted messages, against a search of all that are in it. */
#include "net/submissions.h"

#include "base/rng.h"
#include "tests/tap.h"

enum { MOST = 4000, ROUNDS = 600 };

static struct rng rng;
static struct submission model[MOST]; /* in order of submission */
static uint32_t count;
static char items[MOST * ROUNDS];
static size_t submitted;

static uint32_t first_of_model(void)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i < count; i++) {
        const struct submission *a = &model[i], *b = &model[first];

        if (a->t != b->t)
            first = a->t < b->t ? i : first;
        else if (a->src != b->src)
            first = a->src < b->src ? i : first;
        else
            first = a->dst < b->dst ? i : first;
    }
    return first;
}

/* Takes all up to t; whether they came as they should. */
static int take_until(struct submissions *q, vtime t)
{
    struct submission e;
    int same = 1;

    while (submissions_take(q, t, &e)) {
        uint32_t first = first_of_model();

        same &= count > 0 && model[first].item == e.item && model[first].dst == e.dst && e.t <= t;
        for (uint32_t i = first; i + 1 < count; i++)
            model[i] = model[i + 1];
        count -= count > 0;
        same &= submissions_next(q) == (count ? model[first_of_model()].t : VTIME_NEVER);
    }
    return same && (count == 0 || model[first_of_model()].t > t);
}

static void push_some(struct submissions *q, vtime now, uint32_t n, vtime spread)
{
    for (uint32_t i = 0; i < n && count < MOST; i++) {
        struct submission e = {now + (vtime)rng_below(&rng, (uint64_t)spread),
                               (uint32_t)rng_below(&rng, 6), (uint32_t)rng_below(&rng, 3),
                               &items[submitted++]};

        model[count++] = e;
        submissions_push(q, e);
    }
}

/* Batches of very different sizes; some are far ahead of the rest. */
static int test_random(uint64_t seed)
{
    struct submissions q = {0};
    vtime now = 0;
    int same = 1;

    rng_seed(&rng, seed);
    count = 0;
    submitted = 0;
    for (int round = 0; round < ROUNDS && same; round++) {
        push_some(&q, now, (uint32_t)rng_below(&rng, round % 50 ? 12 : 300), round % 7 ? 20 : 2000);
        same = submissions_next(&q) == (count ? model[first_of_model()].t : VTIME_NEVER);
        submissions_sort(&q);
        now += (vtime)rng_below(&rng, 12);
        same &= take_until(&q, now);
    }
    same &= take_until(&q, now + 5000) && count == 0 && q.run_count == 0;
    submissions_fini(&q);
    return same;
}

/* One entry that waits for ever keeps nothing that was taken. */
static void test_room(void)
{
    struct submissions q = {0};
    struct submission e;
    int taken = 0;

    submissions_push(&q, (struct submission){1000000, 1, 2, &items[0]});
    for (int i = 0; i < 100000; i++) {
        submissions_push(&q, (struct submission){i, 1, 2, &items[1]});
        submissions_sort(&q);
        taken += submissions_take(&q, i, &e) && e.item == &items[1];
    }
    is_int(taken, 100000, "messages pass one that is far ahead");
    ok(q.room <= 128, "and leave no room behind");
    submissions_fini(&q);
}

int main(void)
{
    struct submissions none = {0};
    struct submission e;

    is_int(submissions_next(&none), VTIME_NEVER, "an empty queue has no next time");
    is_int(submissions_take(&none, VTIME_NEVER, &e), 0, "and nothing to take");
    submissions_sort(&none);
    submissions_fini(&none);
    for (uint64_t seed = 1; seed <= 10; seed++)
        ok(test_random(seed), "order of time, source, destination and submission, seed %d",
           (int)seed);
    test_room();
    return done_testing();
}
