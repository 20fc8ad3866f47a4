/*
 * Output of several processes that all die: what each had not handed on is in its book, what was on
 * its way in its ledger, what process 0 had taken in its book or written. All of it is shown, once
 * and in order.
 */
#include "engine/output_ledger.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "tap.h"

enum { PROCS = 3 };

/* A process: its output, its slot, and what it has sent that process 0 has not taken. */
struct proc {
    struct output out;
    char *slot;
    struct output_ledger *ledger;
    uint64_t shipped, sent;
    struct proc *leader;
    uint64_t taken[PROCS]; /* leader */
    struct {
        uint64_t rank;
        vtime when;
        int fd;
        char text[40];
    } lines[64]; /* in flight */
};

static struct buf shown;

static int write_shown(void *owner, int fd, const char *text, size_t n)
{
    (void)owner, (void)fd;
    buf_add(&shown, text, n);
    return 0;
}

static void ship(void *owner, uint64_t rank, vtime when, int fd, const char *text, size_t n)
{
    struct proc *p = owner;

    output_ledger_add(p->ledger, p->shipped, rank, when, fd, text, n);
    p->lines[p->shipped].rank = rank;
    p->lines[p->shipped].when = when;
    p->lines[p->shipped].fd = fd;
    snprintf(p->lines[p->shipped].text, sizeof p->lines[0].text, "%.*s", (int)n, text);
    p->shipped++;
}

static void start(struct proc *procs)
{
    buf_clear(&shown);
    memset(procs, 0, PROCS * sizeof *procs);
    for (int i = 0; i < PROCS; i++) {
        struct proc *p = &procs[i];
        struct output_config cfg = {.writer = write_shown, .owner = p};

        p->slot = mmap(NULL, OUTPUT_SLOT_BYTES, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        p->ledger = (struct output_ledger *)(p->slot + OUTPUT_BOOK_BYTES);
        p->ledger->proc = (uint64_t)i + 1;
        p->leader = procs;
        cfg.book = (struct output_book *)p->slot;
        if (i > 0)
            cfg.record = ship;
        output_init(&p->out, &cfg);
    }
}

static void add(struct proc *p, uint64_t rank, vtime when, const char *text)
{
    output_add(&p->out, rank, when, 1, text, strlen(text));
}

/* Process 0 takes the next line of another one; the answer may come later. */
static void take(struct proc *procs, int from)
{
    struct proc *p = &procs[from];

    output_add_line(&procs[0].out, p->lines[p->sent].rank, p->lines[p->sent].when,
                    p->lines[p->sent].fd, p->lines[p->sent].text, strlen(p->lines[p->sent].text));
    procs[0].ledger->taken[from] = ++p->sent;
}

static void all_die(struct proc *procs, const char *expected, const char *what)
{
    struct output_config cfg = {.writer = write_shown};
    char *slots[PROCS] = {procs[2].slot, procs[0].slot, procs[1].slot};
    int spills[PROCS] = {-1, -1, -1};
    struct output heir;

    output_init(&heir, &cfg);
    output_recover_all(slots, spills, PROCS, &heir);
    output_finish(&heir);
    output_fini(&heir);
    is_str(buf_str(&shown), expected, what);
    for (int i = 0; i < PROCS; i++) {
        output_fini(&procs[i].out);
        munmap(procs[i].slot, OUTPUT_SLOT_BYTES);
    }
}

static void test_way(void)
{
    static struct proc procs[PROCS];
    static const char lines[] = "a\nb\nc\nd\ne\nf\ng\nh\n";

    for (int stage = 0; stage < 5; stage++) {
        start(procs);
        add(&procs[0], 0, 1, "a\n");
        add(&procs[1], 1, 2, "b\n");
        add(&procs[1], 1, 2, "c\n");
        add(&procs[1], 1, 5, "f\n");
        add(&procs[2], 2, 3, "d\n");
        add(&procs[2], 2, 4, "e\n");
        add(&procs[2], 2, 9, "h\n");
        add(&procs[0], 0, 6, "g\n");
        if (stage > 0) { /* they hand on what is before 5 */
            output_release(&procs[1].out, 5);
            output_release(&procs[2].out, 5);
        }
        if (stage > 1) { /* some comes */
            take(procs, 1);
            take(procs, 2);
        }
        if (stage > 2) /* and is confirmed */
            output_ledger_drop(procs[1].ledger, 1);
        if (stage > 3) { /* all comes, and is written */
            take(procs, 1);
            take(procs, 2);
            output_release(&procs[0].out, 5);
        }
        all_die(procs, lines, "every line is shown once");
    }
}

static void test_cut(void)
{
    static struct proc procs[PROCS];

    start(procs);
    add(&procs[1], 1, 3, "before\n");
    add(&procs[1], 1, 7, "after\n");
    add(&procs[0], 0, 2, "first\n");
    output_drop_after(&procs[0].out, 5);
    all_die(procs, "first\nbefore\n", "what comes after the end of the run is not shown");
}

static void test_memory(void)
{
    struct output_ledger *l = mmap(NULL, OUTPUT_LEDGER_BYTES, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    static char line[1 << 20];
    unsigned char resident[32 << 8];
    size_t used = 0;

    memset(line, 'x', sizeof line);
    for (uint64_t i = 0; i < 30; i++)
        output_ledger_add(l, i, 0, 0, 1, line, sizeof line);
    output_ledger_drop(l, 20);
    ok(l->range >> 32 > (uint64_t)20 << 20, "some lines are dropped");
    output_ledger_drop(l, 30);
    ok(l->range == 0, "all lines are dropped");
    mincore((char *)l + OUTPUT_LEDGER_HEAD, sizeof resident << 12, resident);
    for (size_t i = 0; i < sizeof resident; i++)
        used += resident[i] & 1;
    ok(used == 0, "and take no memory any more (%zu pages)", used);
    for (uint64_t i = 30; i < 30 + 2048; i++)
        output_ledger_add(l, i, 0, 0, 1, line, (size_t)(i % 2 ? 1 << 20 : 1));
    ok((l->range & UINT32_MAX) <= OUTPUT_LEDGER_DATA, "no more is kept than there is room for");
    munmap(l, OUTPUT_LEDGER_BYTES);
}

static void test_nonsense(void)
{
    static struct proc procs[PROCS];

    start(procs);
    for (int i = 0; i < PROCS; i++) {
        memset(procs[i].ledger, 0x41 + i, 4096);
        memset((char *)procs[i].ledger + OUTPUT_LEDGER_HEAD, 0x41, 4096);
    }
    procs[1].ledger->range = 4096;
    all_die(procs, "", "nonsense is nothing");
}

int main(void)
{
    plan_auto();
    buf_init(&shown);
    test_way();
    test_cut();
    test_memory();
    test_nonsense();
    buf_fini(&shown);
    return done_testing();
}
