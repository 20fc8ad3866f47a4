/*
 * Arrays that grow: their room doubles, what is in them stays, and types of counts do not matter.
 */
#include "base/array.h"

#include "tap.h"

static void test_room(void)
{
    is_int(array_doubled(0, 1, 16), 16, "the first room");
    is_int(array_doubled(0, 33, 16), 64, "a first room that is too small is doubled");
    is_int(array_doubled(16, 17, 16), 32, "twice as much");
    is_int(array_doubled(3, 13, 16), 24, "from whatever there was");
    is_int(array_room(64, 5, 16), 64, "enough stays as it is");
    is_int(array_room(16, 17, 16), HOSTILE(18, 32), "the hostile build adds little");
}

static void test_reserve(void)
{
    struct {
        double *at;
        uint32_t count, room;
    } a = {0};
    struct {
        short *items;
        size_t n, cap;
    } b = {0};
    int same = 1, moves = 0;

    for (int i = 0; i < 1000; i++) {
        uint32_t before = a.room;

        ARRAY_RESERVE(a.at, a.room, a.count + 1, 4);
        a.at[a.count++] = i;
        moves += a.room != before;
    }
    for (int i = 0; i < 1000; i++)
        same &= a.at[i] == i;
    ok(same && a.count == 1000, "what was put in is there");
    ok(HOSTILE(moves > 50, a.room == 1024 && moves == 9), "and was moved 9 times, or often");
    ARRAY_RESERVE(b.items, b.cap, 3000, 8);
    is_int((long long)b.cap, HOSTILE(3187, 4096), "many at once");
    ARRAY_RESERVE(b.items, b.cap, b.n, 8);
    is_int((long long)b.cap, HOSTILE(3187, 4096), "it never shrinks");
    mem_free(a.at);
    mem_free(b.items);
}

static void test_reserve_zero(void)
{
    uint16_t room = 0, before = 0;
    long *at = NULL;
    int same = 1;

    for (uint16_t i = 1; i < 1000; i = (uint16_t)(3 * i)) {
        ARRAY_RESERVE_ZERO(at, room, (size_t)i + 1, 4);
        for (; before < room; before++)
            same &= at[before] == 0;
        for (uint16_t k = 0; k < room; k++)
            at[k] = -1;
    }
    ok(same && room >= 730 && room <= 1024, "new items are zero");
    mem_free(at);
}

static void test_extend(void)
{
    int *at = NULL, same = 1;
    unsigned count = 0;

    for (int i = 0; i < 1000; i++) {
        ARRAY_EXTEND(at, count);
        at[count++] = 7 * i;
    }
    for (int i = 0; i < 1000; i++)
        same &= at[i] == 7 * i;
    ok(same, "an array without a room of its own");
    mem_free(at);
}

static void test_few(void)
{
    struct {
        long few[4], *at;
        uint16_t count, room;
    } a = {0};
    int same = 1;

    for (int i = 0; i < 4; i++) {
        ARRAY_RESERVE_FEW(a.at, a.room, a.count + 1, a.few);
        a.at[a.count++] = i;
    }
    ok(a.at == a.few && a.room == 4, "the first few items are in their owner");
    for (int i = 4; i < 1000; i++) {
        ARRAY_RESERVE_FEW(a.at, a.room, a.count + 1, a.few);
        a.at[a.count++] = i;
    }
    for (int i = 0; i < 1000; i++)
        same &= a.at[i] == i;
    ok(same && a.at != a.few, "more of them are elsewhere, with the first");
    ok(a.room == HOSTILE(a.room, 1024), "the room doubles");
    mem_free(a.at);
    a.at = NULL;
    a.room = 0;
    ARRAY_RESERVE_FEW(a.at, a.room, 9, a.few);
    ok(a.at != a.few && a.room == HOSTILE(9, 16), "many at once");
    mem_free(a.at);
}

static void test_ring(void)
{
    int *at = NULL, same = 1, next = 0, taken = 0;
    uint32_t room = 0;
    uint64_t head = UINT32_MAX - 7, tail = head; /* numbers that only grow */

    for (int turn = 0; turn < 2000; turn++) {
        ARRAY_RING_RESERVE(at, room, head, tail - head, 4);
        at[tail++ & (room - 1)] = next++;
        if (turn % 3 == 2)
            same &= at[head++ & (room - 1)] == taken++;
    }
    while (head < tail)
        same &= at[head++ & (room - 1)] == taken++;
    ok(same && taken == 2000, "a ring keeps its order while it grows");
    is_int(room, 2048, "and has room for those that were in it at once");
    mem_free(at);
}

int main(void)
{
    plan_auto();
    test_room();
    test_reserve();
    test_reserve_zero();
    test_extend();
    test_few();
    test_ring();
    return done_testing();
}
