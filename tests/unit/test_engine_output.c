/*
 * Ordered output: lines and partial lines, order, labels, release and drop, failures of the writer
 * and of the temporary file, and random histories against a plain sort with a tiny memory.
 */
#include "engine/output.h"
#include "engine/output_book.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"

#define SEED 31337

/* ---- a writer that collects "1:" or "2:" and the bytes, and can fail ---- */

struct sink {
    struct buf all;     /* both descriptors, as they came */
    struct buf each[3]; /* by descriptor */
    int fail_at;        /* errno after this many calls */
    int fail_errno;
    int calls;
};

static int sink_write(void *owner, int fd, const char *text, size_t n)
{
    struct sink *s = owner;

    if (s->fail_errno && s->calls++ >= s->fail_at) {
        errno = s->fail_errno;
        return -1;
    }
    buf_add(&s->all, text, n);
    buf_add(&s->each[fd], text, n);
    return 0;
}

static void sink_init(struct sink *s)
{
    memset(s, 0, sizeof *s);
    buf_init(&s->all);
    for (int i = 0; i < 3; i++)
        buf_init(&s->each[i]);
}

static void sink_fini(struct sink *s)
{
    buf_fini(&s->all);
    for (int i = 0; i < 3; i++)
        buf_fini(&s->each[i]);
}

static int log_lines;
static char log_last[LOG_LINE_MAX + 1];
static void count_log(const char *line, size_t n)
{
    log_lines++;
    memcpy(log_last, line, n);
    log_last[n] = '\0';
}

static void start(struct output *out, struct sink *s, size_t limit, int labels)
{
    struct output_config cfg = {.labels = labels,
                                .memory_limit = limit,
                                .writer = sink_write,
                                .owner = s};

    sink_init(s);
    output_init(out, &cfg);
}

static void add(struct output *out, uint64_t rank, vtime when, int fd, const char *text)
{
    output_add(out, rank, when, fd, text, strlen(text));
}

static void stop(struct output *out, struct sink *s)
{
    output_fini(out);
    sink_fini(s);
}

/* ---- examples ---- */

static void test_order(void)
{
    struct output out;
    struct sink s;

    start(&out, &s, 0, 0);
    add(&out, 3, 20, 1, "late\n");
    add(&out, 2, 10, 1, "second\n");
    add(&out, 1, 10, 2, "first\n");
    add(&out, 2, 10, 2, "third\nfourth\n");
    output_release(&out, 10);
    is_str(buf_str(&s.all), "", "nothing leaves before its time has passed");
    output_release(&out, 11);
    is_str(buf_str(&s.all), "first\nsecond\nthird\nfourth\n", "time, then rank, then sequence");
    is_str(buf_str(&s.each[2]), "first\nthird\nfourth\n", "each to its descriptor");
    add(&out, 9, 15, 1, "middle\n");
    is_int(output_finish(&out), 0, "finish succeeds");
    is_str(buf_str(&s.all), "first\nsecond\nthird\nfourth\nmiddle\nlate\n",
           "and releases the rest");
    stop(&out, &s);
}

static void test_partial(void)
{
    struct output out;
    struct sink s;

    start(&out, &s, 0, 0);
    add(&out, 0, 1, 1, "a");
    add(&out, 1, 2, 1, "x");
    add(&out, 0, 3, 2, "e");
    add(&out, 0, 4, 1, "b");
    add(&out, 1, 5, 1, "y\nz");
    add(&out, 0, 6, 1, "c\nd");
    add(&out, 0, 7, 1, "");
    output_end_rank(&out, 0, 8);
    output_end_rank(&out, 0, 9);
    add(&out, 1, 10, 1, "!");
    output_finish(&out);
    is_str(buf_str(&s.each[1]), "xy\nabc\ndz!", "lines are put together per rank");
    is_str(buf_str(&s.each[2]), "e", "and per descriptor");
    stop(&out, &s);
}

static void test_labels(void)
{
    struct output out;
    struct sink s;

    start(&out, &s, 0, 1);
    add(&out, 0, 1, 1, "one\ntwo\n");
    add(&out, 12345678901, 2, 1, "\n");
    add(&out, 7, 3, 1, "open");
    output_end_rank(&out, 7, 3);
    add(&out, 8, 4, 1, "end\n");
    output_finish(&out);
    is_str(buf_str(&s.all), "[0] one\n[0] two\n[12345678901] \n[7] open\n[8] end\n",
           "labels, and a newline where one is missing");
    stop(&out, &s);
}

static void test_bytes(void)
{
    struct output out;
    struct sink s;
    size_t n = OUTPUT_LINE_MAX + 5000;
    char *text = mem_alloc(n);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)(i % 10 == 3 ? 0 : 'a' + i % 26);
    start(&out, &s, 0, 0);
    for (size_t i = 0; i < n; i += 1000)
        output_add(&out, 4, 1, 1, text + i, n - i < 1000 ? n - i : 1000);
    output_finish(&out);
    ok(s.all.len == n && memcmp(s.all.data, text, n) == 0,
       "an endless line with NULs arrives as it was");
    stop(&out, &s);
    mem_free(text);
}

static void test_drop(void)
{
    for (int spill = 0; spill < 2; spill++) {
        struct output out;
        struct sink s;

        start(&out, &s, spill ? 1 : 0, 0);
        add(&out, 0, 5, 1, "five\n");
        add(&out, 1, 9, 1, "nine\n");
        add(&out, 2, 7, 1, "seven\n");
        add(&out, 3, 6, 1, "open6");
        add(&out, 4, 8, 1, "open8");
        output_drop_after(&out, 7);
        add(&out, 5, 20, 1, "twenty\n");
        output_finish(&out);
        is_str(buf_str(&s.all), "five\nopen6seven\ntwenty\n",
               spill ? "drop_after reaches the file" : "drop_after keeps what is not later");
        stop(&out, &s);
    }
}

static void test_failures(void)
{
    struct output out;
    struct sink s;
    struct output_config cfg = {.memory_limit = 100,
                                .temp_dir = "/nonexistent/folder",
                                .writer = sink_write,
                                .owner = &s};

    log_set_writer(count_log);
    start(&out, &s, 0, 0);
    s.fail_errno = ENOSPC;
    s.fail_at = 1;
    for (int i = 0; i < 4; i++) {
        add(&out, 0, i, 1, "x\n");
        output_release(&out, i + 1);
    }
    is_int(output_finish(&out), ENOSPC, "a full disk is told");
    is_str(buf_str(&s.all), "x\n", "what was written before stays");
    is_int(log_lines, 1, "with one message");
    ok(strstr(log_last, "standard output: No space left on device") != NULL, "that says why");
    stop(&out, &s);

    log_lines = 0;
    start(&out, &s, 0, 0);
    s.fail_errno = EPIPE;
    add(&out, 0, 1, 1, "x\n");
    is_int(output_finish(&out), EPIPE, "a reader that left is told");
    is_int(log_lines, 0, "but not reported");
    stop(&out, &s);

    sink_init(&s);
    output_init(&out, &cfg);
    for (int i = 0; i < 50; i++)
        add(&out, (uint64_t)i, 50 - i, 1, i % 2 ? "odd\n" : "even\n");
    output_finish(&out);
    is_int(log_lines, 1, "without a place for the file there is one message");
    is_int(s.all.len, 25 * 4 + 25 * 5, "and all output");
    ok(strncmp(buf_str(&s.all), "odd\neven\nodd\n", 13) == 0, "in order");
    stop(&out, &s);
    log_set_writer(NULL);
}

/* The file fills up in the middle: what it holds and what follows in memory still come out. */
static void test_file_full(void)
{
    struct rlimit old, small;
    struct output out;
    struct sink s;
    struct buf want;

    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 3000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    log_set_writer(count_log);
    log_lines = 0;
    start(&out, &s, 1000, 0);
    buf_init(&want);
    for (int i = 0; i < 200; i++) {
        char text[32];
        snprintf(text, sizeof text, "line %d\n", i);
        buf_adds(&want, text);
        add(&out, (uint64_t)i % 7, i, 1, text);
    }
    setrlimit(RLIMIT_FSIZE, &old);
    output_finish(&out);
    ok(out.spilled > 0 && log_lines == 1, "a file that fills up is one message");
    is_str(buf_str(&s.all), buf_str(&want), "and loses nothing");
    log_set_writer(NULL);
    buf_fini(&want);
    stop(&out, &s);
}

/* ---- random histories ---- */

struct line {
    vtime when;
    uint64_t rank, seq;
    int fd;
    char text[24];
};

struct history {
    struct line *lines;
    size_t count;
    struct buf want;
};

static int compare_lines(const void *pa, const void *pb)
{
    const struct line *a = pa, *b = pb;

    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* The oracle's release: sorts all, takes those before the bound. */
static void naive_release(struct history *h, vtime bound)
{
    size_t n = 0;

    qsort(h->lines, h->count, sizeof *h->lines, compare_lines);
    while (n < h->count && h->lines[n].when < bound)
        buf_adds(&h->want, h->lines[n++].text);
    memmove(h->lines, h->lines + n, (h->count - n) * sizeof *h->lines);
    h->count -= n;
}

static void naive_drop(struct history *h, vtime t)
{
    size_t kept = 0;

    for (size_t i = 0; i < h->count; i++)
        if (h->lines[i].when <= t)
            h->lines[kept++] = h->lines[i];
    h->count = kept;
}

enum { RANKS = 12, STEPS = 3000 };

/* One line of a random rank, in one or two pieces; clocks of ranks differ but never go back. */
static void random_line(struct rng *rng, struct output *out, struct history *h, vtime *clock,
                        uint64_t seq)
{
    struct line *l = &h->lines[h->count++];
    uint64_t who = rng_below(rng, RANKS);
    size_t cut, n;

    l->rank = who * 1000003; /* several digits of a radix sort */
    l->when = clock[who] += (vtime)rng_below(rng, 4) * 12345;
    l->seq = seq;
    l->fd = 1 + (int)rng_below(rng, 2);
    n = (size_t)snprintf(l->text, sizeof l->text, "%llu:%llu:%.*s\n", (unsigned long long)l->rank,
                         (unsigned long long)seq, (int)rng_below(rng, 9), "abcdefgh");
    cut = rng_below(rng, 3) ? n : rng_below(rng, n);
    output_add(out, l->rank, l->when, l->fd, l->text, cut);
    output_add(out, l->rank, l->when, l->fd, l->text + cut, n - cut);
}

static vtime least(const vtime *clock)
{
    vtime t = clock[0];

    for (int i = 1; i < RANKS; i++)
        t = clock[i] < t ? clock[i] : t;
    return t;
}

/* The process dies: what its book holds is all there is. */
static void die(struct output *out, struct sink *s, struct history *h)
{
    struct output_config cfg = {.writer = sink_write, .owner = s};
    struct output heir;

    add(out, 5, VTIME_LIMIT, 1, "the last ");
    add(out, 6, VTIME_LIMIT, 2, "no end");
    add(out, 5, VTIME_LIMIT, 1, "line");
    output_init(&heir, &cfg);
    output_recover(out->book, OUTPUT_BOOK_BYTES, out->spill_fd, &heir);
    output_finish(&heir);
    output_fini(&heir);
    naive_release(h, VTIME_NEVER);
    buf_adds(&h->want, "the last lineno end");
}

/* A release follows a line with probability 1 / seldom. */
static int random_history(struct rng *rng, size_t limit, uint64_t seldom, int dies,
                          uint64_t *spilled)
{
    struct output out;
    struct sink s;
    struct history h = {.lines = mem_alloc(STEPS * sizeof(struct line))};
    vtime clock[RANKS] = {0};
    void *book = dies ? mmap(NULL, OUTPUT_BOOK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                      : NULL;

    start(&out, &s, limit, 0);
    out.book = book;
    for (uint64_t seq = 0; seq < STEPS; seq++) {
        uint64_t what = rng_below(rng, seldom);
        random_line(rng, &out, &h, clock, seq);
        if (what == 0) {
            output_release(&out, least(clock));
            naive_release(&h, least(clock));
        } else if (what == 1 && rng_below(rng, 4) == 0) {
            vtime t = least(clock) + (vtime)rng_below(rng, 50 * 12345);
            output_drop_after(&out, t);
            naive_drop(&h, t);
        }
    }
    if (dies)
        die(&out, &s, &h);
    else
        output_finish(&out);
    naive_release(&h, VTIME_NEVER);
    *spilled += out.spilled;
    int same = s.all.len == h.want.len && memcmp(s.all.data, h.want.data, h.want.len) == 0;
    buf_fini(&h.want);
    mem_free(h.lines);
    stop(&out, &s);
    if (dies)
        munmap(book, OUTPUT_BOOK_BYTES);
    return same;
}

/* The heir goes on where the other was when it died, in the middle of a release. */
static void test_heir(void)
{
    struct output_config cfg;
    struct output out, heir;
    struct sink s;
    void *book = mmap(NULL, OUTPUT_BOOK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    start(&out, &s, 0, 0);
    out.book = book;
    add(&out, 1, 10, 1, "a\n");
    add(&out, 1, 10, 2, "b\n");
    add(&out, 1, 10, 1, "c\n");
    add(&out, 2, 10, 1, "d\n");
    s.fail_errno = EPIPE; /* the first two were written */
    s.fail_at = 2;
    struct output_book at_death;
    output_release(&out, 11);
    is_str(buf_str(&s.all), "a\nb\n", "some were written");
    memcpy(&at_death, book, sizeof at_death);
    at_death.bound = 0; /* the release did not end */
    at_death.current = 4 * (sizeof(vtime) + 16 + 2) << 1;
    at_death.written[at_death.which] = (struct output_position){10, 1, 2};
    memcpy(book, &at_death, sizeof at_death);
    s.fail_errno = 0;
    cfg = (struct output_config){.writer = sink_write, .owner = &s};
    output_init(&heir, &cfg);
    is_int((int)output_recover(book, OUTPUT_BOOK_BYTES, -1, &heir), 2, "two are left");
    output_finish(&heir);
    is_str(buf_str(&s.all), "a\nb\nc\nd\n", "and are written");
    output_fini(&heir);
    memset(book, 0x41, OUTPUT_BOOK_HEAD);
    output_init(&heir, &cfg);
    is_int((int)output_recover(book, OUTPUT_BOOK_BYTES, 0, &heir), 0, "nonsense is nothing");
    output_fini(&heir);
    stop(&out, &s);
    munmap(book, OUTPUT_BOOK_BYTES);
}

static void test_random(void)
{
    static const size_t limits[] = {1, 200, 3000, 40000, 0};
    struct rng rng;
    int bad = 0;

    diag("seed %d", SEED);
    rng_seed(&rng, SEED);
    for (int i = 0; i < 5; i++) {
        uint64_t spilled = 0;
        for (int round = 0; round < 8; round++)
            bad += !random_history(&rng, limits[i], round % 2 ? 200 : 100000, round % 4 > 1,
                                   &spilled);
        ok(limits[i] == 0 ? spilled == 0 : spilled > 0, "limit %zu spills %s", limits[i],
           limits[i] ? "to the file" : "nothing");
    }
    is_int(bad, 0, "40 random histories of 3000 lines come out as sorted plainly, whoever lives");
}

int main(void)
{
    plan_auto();
    test_order();
    test_partial();
    test_labels();
    test_bytes();
    test_drop();
    test_failures();
    test_file_full();
    test_heir();
    test_random();
    return done_testing();
}
