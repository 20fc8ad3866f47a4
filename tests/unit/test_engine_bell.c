/*
 * Processes that sleep until another one rings: no ring is lost, whoever comes first. A lost one
 * would keep the test until its time limit.
 */
#define _GNU_SOURCE 1
#include "engine/bell.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define LONG_NS 600000000000u /* never over */
#define ROUNDS 20000

/* The other process: joins as number `mine`, and answers each ring of its bell by one for number
 * 0. */
static int answer(const struct bell_address *address, uint32_t mine)
{
    struct bells b;

    if (!bells_join(&b, 3, mine, 0, address))
        return 1;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        while (bells_heard(&b) == i)
            bells_sleep(&b, i, LONG_NS);
        bells_ring(&b, 0);
    }
    bells_leave(&b);
    return 0;
}

static void test_rounds(void)
{
    struct bell_address address;
    struct bells b;
    int status = -1;
    pid_t child;

    bells_make(&b, 3, 0, &address);
    ok(b.at && address.fd >= 0 && address.pid == getpid(), "bells are made");
    child = fork();
    if (child == 0)
        _exit(answer(&address, 2));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        bells_ring(&b, 2);
        while (bells_heard(&b) == i)
            bells_sleep(&b, i, LONG_NS);
    }
    waitpid(child, &status, 0);
    ok(status == 0, "another process finds them and answers every ring");
    ok(b.at[1].rings == 0, "no other bell rings");
    close(address.fd);
    bells_leave(&b);
}

static void test_sleep(void)
{
    struct bell_address address;
    struct bells b;

    bells_make(&b, 1, 0, &address);
    bells_ring(&b, 0);
    bells_sleep(&b, 0, LONG_NS);
    ok(1, "a ring before the sleep is not missed");
    bells_sleep(&b, 1, 1000);
    ok(bells_heard(&b) == 1 && b.at[0].asleep == 0, "without a ring the sleep ends at its limit");
    close(address.fd);
    bells_leave(&b);
}

static void test_unreachable(void)
{
    struct bell_address nowhere = {getpid(), -1}, closed = {getpid(), 1000000};
    struct bells b;

    ok(!bells_join(&b, 2, 1, 0, &nowhere) && !b.at, "bells that were not made");
    ok(!bells_join(&b, 2, 1, 0, &closed) && !b.at, "bells that are out of reach");
    bells_leave(&b);
}

int main(void)
{
    plan_auto();
    test_rounds();
    test_sleep();
    test_unreachable();
    return done_testing();
}
