/*
 * Shared memory of processes on other computers: which pages one has, and the words that change. A
 * second region stands for the memory of the other computer.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"
#include "vp/remote.h"
#include "vp/vp_internal.h"

enum { PAGES = 16 };

static char *memory; /* shared by the simulator's processes */
static struct remote_pages here, there;
static unsigned dropped;

/* ---- what the rest of vp would do ---- */

struct vp_program vp_program;
static char *stack_top(const struct vp_rank *f)
{
    (void)f;
    return (char *)64;
}
const struct vp_host vp_process_host = {.stack_top = stack_top};

/* ---- pages ---- */

static void drop(struct remote_pages *p, struct remote_slot *s)
{
    dropped++;
    remote_remove(p, s);
}

/* The other one has the page, as it is. */
static void fetch(int page)
{
    struct remote_slot *s = remote_add(&here, memory + page * REMOTE_PAGE);
    struct remote_slot *t = remote_add(&there, s->page);

    memcpy(remote_copy(&here, s), s->page, REMOTE_PAGE);
    memcpy(remote_copy(&there, t), s->page, REMOTE_PAGE);
    memcpy(remote_view(&there, s->page), s->page, REMOTE_PAGE);
}

static void send_changes(struct remote_pages *from, struct remote_pages *to)
{
    struct remote_bytes b = {0};

    for (uint32_t i = 0; i < from->top; i++)
        if (from->slots[i].page)
            remote_add_changes(from, &from->slots[i], &b);
    remote_apply(to, &b, drop);
}

static int is_same(int page)
{
    char *at = memory + page * REMOTE_PAGE;

    return memcmp(at, remote_view(&there, at), REMOTE_PAGE) == 0;
}

static void test_regions(void)
{
    struct remote_region *r;

    memory = mmap(NULL, PAGES * REMOTE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                  0);
    remote_pages_open(&here);
    remote_pages_open(&there);
    r = remote_region_of(&here, memory);
    ok(r && r->start <= memory && r->end >= memory + PAGES * REMOTE_PAGE,
       "memory that is shared by fork is found");
    ok(!remote_region_of(&here, (char *)&here) && !remote_region_of(&here, (char *)&r),
       "variables and the stack are private");
    r = remote_region_of(&there, memory);
    r->view = remote_map((size_t)(r->end - r->start));
}

static void test_changes(void)
{
    struct remote_bytes none = {0};
    long *mine = (long *)memory, *theirs = (long *)remote_view(&there, memory);

    memset(memory, 1, PAGES * REMOTE_PAGE);
    ok(!remote_find(&here, memory), "at first the other one has no page");
    fetch(0);
    fetch(3);
    ok(remote_find(&here, memory) && !remote_find(&here, memory + REMOTE_PAGE), "then some");
    remote_add_changes(&here, remote_find(&here, memory), &none);
    ok(none.len == 0, "nothing has changed");
    mine[0] = 5, mine[17] = 6, mine[511] = 7;
    memset(memory + 3 * REMOTE_PAGE, 2, REMOTE_PAGE);
    memset(memory + REMOTE_PAGE, 2, REMOTE_PAGE);
    send_changes(&here, &there);
    ok(is_same(0) && is_same(3) && !is_same(1), "changes of pages that it has arrive");
    theirs[1] = 8;
    mine[2] = 9; /* meanwhile, by a process that does not have the turn */
    send_changes(&there, &here);
    ok(mine[1] == 8 && mine[2] == 9, "its changes leave other words alone");
    send_changes(&here, &there);
    ok(is_same(0) && theirs[2] == 9, "which arrive the next time");
    remote_add_changes(&there, remote_find(&there, memory), &none);
    ok(none.len == 0, "and are no changes of its own");
}

static void test_drop(void)
{
    struct remote_bytes b = {0};
    struct remote_slot *s = remote_find(&here, memory);

    remote_add_drop(s, &b);
    remote_remove(&here, s);
    remote_apply(&there, &b, drop);
    ok(dropped == 1 && !remote_find(&there, memory) && there.in_use == 1, "a page goes");
    fetch(0);
    ok(there.in_use == 2 && there.top == 2 && is_same(0), "its place is used again");
}

static void test_random(void)
{
    int good = 1;

    srandom(4711);
    for (int i = 4; i < PAGES; i++)
        fetch(i);
    for (int round = 0; round < 200; round++) {
        struct remote_pages *from = random() % 2 ? &here : &there;

        for (int i = 0; i < 100; i++) {
            char *at = memory + (4 + random() % (PAGES - 4)) * (long)REMOTE_PAGE + random() % 4089;

            memset(remote_view(from, at), (int)(random() % 256), (size_t)(random() % 8));
        }
        send_changes(from, from == &here ? &there : &here);
        for (int i = 4; i < PAGES; i++)
            good &= is_same(i);
    }
    ok(good, "both are always the same after random changes");
}

/* ---- the rest ---- */

static void test_check(void)
{
    struct remote_bytes theirs = {0};
    char why[512], *at;

    remote_describe(&theirs);
    ok(remote_agrees(&theirs, 0, why, sizeof why), "a process agrees with itself");
    theirs.data[0]++;
    ok(remote_agrees(&theirs, 0, why, sizeof why), "the name of the computer does not matter");
    at = memmem(theirs.data, theirs.len, "'libc.so.6' at ", 15);
    ok(at != NULL, "libraries are described");
    at[15] = 'x';
    ok(!remote_agrees(&theirs, 0, why, sizeof why) && strstr(why, "it has ''libc.so.6' at x"),
       "another address is named: %s", why);
    ok(remote_agrees(&theirs, 1, why, sizeof why), "another program may have it elsewhere");
    at = memmem(theirs.data, theirs.len, "shared memory at ", 17);
    ok(at != NULL, "shared memory is described");
    at[17] = 'x';
    ok(!remote_agrees(&theirs, 1, why, sizeof why) && strstr(why, "it has 'shared memory at x"),
       "but shared memory in the same place: %s", why);
    remote_describe(&theirs);
    at = memmem(theirs.data, theirs.len, "arguments at", 12);
    theirs.len = (size_t)(at - theirs.data);
    ok(!remote_agrees(&theirs, 0, why, sizeof why) && strstr(why, "arguments at"),
       "what is missing is named");
}

static void test_wire(void)
{
    struct remote_bytes out = {0}, in = {0};
    struct remote_head head = {.op = REMOTE_CALL, .arg = 42};
    int ends[2];

    memset(remote_extend(&out, 300000), 3, 300000);
    ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a connection");
    if (fork() == 0)
        _exit(remote_send(ends[1], head, &out) == 0 && remote_send(ends[1], head, NULL) == 0 ? 0
                                                                                             : 1);
    close(ends[1]);
    ok(remote_receive(ends[0], &head, &in) == 0 && head.op == REMOTE_CALL && head.arg == 42 &&
           in.len == 300000 && in.data[299999] == 3,
       "a long message");
    ok(remote_receive(ends[0], &head, &in) == 0 && in.len == 0, "a short one");
    ok(remote_receive(ends[0], &head, &in) != 0, "the end");
}

int main(void)
{
    plan_auto();
    test_regions();
    test_changes();
    test_drop();
    test_random();
    test_check();
    test_wire();
    return done_testing();
}
