/*
 * Processes that send each other messages through shared memory: all come, in order and unharmed,
 * short ones and those that are longer than a conduit, whoever sleeps. A ring that is lost would
 * keep the test until its time limit.
 */
#define _GNU_SOURCE 1
#include "engine/conduit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "engine/proc_link.h"
#include "tap.h"

enum { PROCS = 3, MESSAGES = 3000 };
#define LONG_NS 600000000000u         /* never over */
#define EXCEEDING ((size_t)700 << 10) /* of the longest message: more than a conduit */

static struct rng stream(uint32_t from, uint32_t to)
{
    struct rng r;

    rng_seed(&r, 100 * from + to);
    return r;
}

static size_t next_length(struct rng *r)
{
    uint64_t kind = rng_below(r, 100);

    return (size_t)rng_below(r, kind < 80 ? 200 : kind < 98 ? 20000 : EXCEEDING);
}

static unsigned char byte_at(size_t i, size_t length)
{
    return (unsigned char)(i * 7 + length);
}

static void send_next(struct conduits *l, uint32_t to, int tag, struct rng *r)
{
    size_t n = next_length(r);
    unsigned char *data = proc_link_alloc(n);

    for (size_t i = 0; i < n; i++)
        data[i] = byte_at(i, n);
    conduits_send(l, to, tag, data, n);
}

static int is_next(const unsigned char *data, size_t bytes, struct rng *r)
{
    if (bytes != next_length(r))
        return 0;
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != byte_at(i, bytes))
            return 0;
    return 1;
}

/* Receives all there is; returns the number of messages that are not what they should be. */
static int receive(struct conduits *l, struct rng *from, int *counts)
{
    int bad = 0, tag;
    uint32_t q;
    size_t bytes;
    void *data;

    while (conduits_recv(l, &q, &tag, &data, &bytes)) {
        bad += tag != counts[q]++ || !is_next(data, bytes, &from[q]);
        proc_link_free(data);
    }
    return bad;
}

/* Sends to all others in turn, and receives from them. */
static int exchange(struct conduits *l)
{
    uint32_t mine = l->bells.mine;
    struct rng to[PROCS], from[PROCS], own = stream(mine, mine);
    int counts[PROCS] = {0}, sent = 0, bad = 0;

    for (uint32_t q = 0; q < PROCS; q++) {
        to[q] = stream(mine, q);
        from[q] = stream(q, mine);
    }
    counts[mine] = MESSAGES;
    for (;;) {
        int all = 1;

        for (uint64_t n = rng_below(&own, 20); n > 0 && sent < MESSAGES; n--, sent++)
            for (uint32_t q = 0; q < PROCS; q++)
                if (q != mine)
                    send_next(l, q, sent, &to[q]);
        bad += receive(l, from, counts);
        for (uint32_t q = 0; q < PROCS; q++)
            all &= counts[q] >= MESSAGES;
        if (all && sent == MESSAGES && !conduits_push(l))
            return bad;
        if (sent == MESSAGES)
            conduits_sleep(l, LONG_NS);
    }
}

static void test_exchange(void)
{
    struct bell_address address;
    struct conduits l;
    pid_t children[PROCS];
    int status, failed = 0;

    conduits_make(&l, PROCS, &address);
    ok(l.bells.at && address.fd >= 0, "conduits are made");
    for (uint32_t q = 1; q < PROCS; q++) {
        children[q] = fork();
        if (children[q] == 0) {
            conduits_leave(&l);
            _exit(!conduits_join(&l, PROCS, q, &address) || exchange(&l) != 0);
        }
    }
    ok(exchange(&l) == 0, "all messages come in order and unharmed");
    for (uint32_t q = 1; q < PROCS; q++) {
        waitpid(children[q], &status, 0);
        failed += status != 0;
    }
    ok(failed == 0, "in the other processes, too");
    close(address.fd);
    conduits_leave(&l);
}

/* What the receiver has no room for waits, and is freed if nobody takes it. */
static void test_full(void)
{
    struct bell_address address;
    struct conduits l;

    conduits_make(&l, 2, &address);
    conduits_send(&l, 1, 0, proc_link_alloc(10 * EXCEEDING), 10 * EXCEEDING);
    conduits_send(&l, 1, 1, proc_link_alloc(1), 1);
    ok(conduits_push(&l), "a message without room waits");
    conduits_sleep(&l, LONG_NS);
    ok(1, "nobody sleeps for long while one does");
    close(address.fd);
    conduits_leave(&l);
    ok(!l.bells.at, "it can be left behind");
}

/* Many processes share bits. */
static void test_many(void)
{
    enum { COUNT = 64 * BELL_WORDS + 2 };
    struct bell_address address;
    struct conduits a, b, c;
    uint32_t from[2];
    size_t bytes;
    void *data;
    int tag;

    conduits_make(&a, COUNT, &address);
    ok(conduits_join(&b, COUNT, 1, &address) && conduits_join(&c, COUNT, COUNT - 1, &address),
       "%d processes", COUNT);
    conduits_send(&c, 0, 5, proc_link_alloc(0), 0);
    conduits_send(&b, 0, 5, proc_link_alloc(0), 0);
    for (int i = 0; i < 2; i++) {
        ok(conduits_recv(&a, &from[i], &tag, &data, &bytes) && tag == 5 && bytes == 0, "message %d",
           i);
        proc_link_free(data);
    }
    ok(from[0] + from[1] == COUNT && !conduits_recv(&a, from, &tag, &data, &bytes), "from both");
    close(address.fd);
    conduits_leave(&a);
    conduits_leave(&b);
    conduits_leave(&c);
}

static void test_limit(void)
{
    struct rlimit old, small;
    struct bell_address address;
    struct conduits l;

    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){1000, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    conduits_make(&l, 2, &address);
    setrlimit(RLIMIT_FSIZE, &old);
    ok(!l.bells.at && address.fd < 0, "no conduits where files must be small, and no signal");
    conduits_leave(&l);
}

int main(void)
{
    plan_auto();
    test_exchange();
    test_full();
    test_many();
    test_limit();
    return done_testing();
}
