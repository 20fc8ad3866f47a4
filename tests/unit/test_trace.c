/* Traces: streams, parts, merging, reading, and files that are cut off or damaged. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"
#include "trace/copy.h"
#include "trace/merge.h"
#include "trace/part.h"

#define RANKS 3

static char folder[] = "/tmp/orrery-trace-XXXXXX";

static char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* ---- recording ---- */

static void record_call(struct trace_stream *s, const struct trace_schema *schema, const char *name,
                        int64_t enter, int64_t leave)
{
    int fn = trace_schema_find(schema, name);
    ok(fn >= 0, "%s is known", name);
    trace_call_begin(s, (unsigned)fn, enter, leave);
}

/* The stream starts in `lent` bytes of the test's memory, if any. */
static void record_rank(struct trace_part *part, const struct trace_schema *schema, unsigned rank,
                        size_t lent)
{
    struct trace_stream s, local;
    uint8_t memory[64];
    int64_t requests[] = {7, 8, 9, 10, -1}, t = 1000;
    struct trace_status statuses[5] = {{1, 5, 800, 1, 0}, {0}, {2, 6, 0, 1, 1}, {0}, {0}};
    trace_stream_init(&local, &part->sink, rank, 0, TRACE_PIECE_DEFINITIONS);
    trace_other(&local, TRACE_DEFINE_NAME, 0, "\x05solve", 6);
    trace_stream_init(&s, &part->sink, rank, 0, 0);
    if (lent)
        trace_stream_lend(&s, memory, lent);
    trace_other(&s, TRACE_REGION_ENTER, t, "\x05", 1);
    for (int i = 0; i < 3; i++) {
        record_call(&s, schema, "MPI_Isend", t + 10,
                    t + 20); /* count datatype dest tag comm request */
        trace_put_number(&s, 100);
        trace_put_varint(&s, 1 + 4);
        trace_put_number(&s, (rank + 1) % RANKS);
        trace_put_number(&s, -1);
        trace_put_varint(&s, 1);
        trace_put_request(&s, 7 + i);
        trace_record_end(&s);
        t += 20;
        if (i == (int)rank)
            trace_stream_spill(&s);
    }
    record_call(&s, schema, "MPI_Waitall", t, t + 1000000000000);
    trace_put_number(&s, 5);
    trace_put_array(&s, requests, 5);
    trace_put_statuses(&s, statuses, 5);
    trace_record_end(&s);
    t += 1000000000000;
    trace_other(&s, TRACE_FAILED, t, "\x1e", 1);
    record_call(&s, schema, "MPI_Comm_set_name", t, t);
    trace_put_varint(&s, 0);
    trace_put_text(&s, "rows", 4);
    trace_record_end(&s);
    trace_stream_fini(&s);
    trace_stream_fini(&local);
}

static void record(const char *path, unsigned first, unsigned last, size_t lent)
{
    struct trace_header header;
    struct trace_part part;
    struct err err = {0};
    trace_header_init(&header, RANKS);
    header.block = 40; /* several blocks */
    trace_header_add(&header, "program", "./app \\ two\nlines");
    is_int(trace_part_open(&part, path, &header, &err), 0, "a part");
    trace_part_define(&part, TRACE_SITE, "\1\2\3\4\5\6\7\10main", 12);
    trace_part_define(&part, TRACE_NODES, "\3\7\0", 3); /* three ranks, differences 0 */
    for (unsigned rank = first; rank <= last; rank++)
        record_rank(&part, header.schema, rank, lent);
    is_int(trace_part_close(&part, &err), 0, "is closed");
    trace_header_fini(&header);
}

/* ---- reading ---- */

static void check_rank(struct trace *t, unsigned rank)
{
    struct trace_cursor c;
    struct trace_event e = {0};
    struct err err;
    const struct trace_fn *fns = t->header.schema->fns;
    trace_cursor_open(&c, t, rank, 0, TRACE_LOCAL_DEFINITIONS);
    is_int(trace_cursor_next(&c, &e, &err), 1, "a local definition");
    ok(e.head == TRACE_DEFINE_NAME && e.bytes == 6 && memcmp(e.payload, "\x05solve", 6) == 0,
       "a name");
    is_int(trace_cursor_next(&c, &e, &err), 0, "and no more");
    trace_cursor_close(&c);
    trace_cursor_open(&c, t, rank, 0, TRACE_RECORDS);
    is_int(trace_cursor_next(&c, &e, &err), 1, "a region");
    ok(e.head == TRACE_REGION_ENTER && e.leave == 1000, "is entered");
    for (int i = 0; i < 3; i++) {
        is_int(trace_cursor_next(&c, &e, &err), 1, "a send");
        is_str(fns[e.fn].name, "MPI_Isend", "its name");
        ok(e.enter == 1010 + 20 * i && e.leave == 1020 + 20 * i, "its times");
        ok(e.args[0].number == 100 && e.args[1].number == 4 &&
               e.args[2].number == (rank + 1) % RANKS && e.args[3].number == -1 &&
               e.args[4].number == 0 && e.args[5].number == 7 + i,
           "its arguments");
    }
    is_int(trace_cursor_next(&c, &e, &err), 1, "a wait");
    ok(e.leave - e.enter == 1000000000000 && e.args[1].count == 5, "of five, for a second");
    ok(e.args[1].items[0] == 7 && e.args[1].items[3] == 10 && e.args[1].items[4] == -1,
       "its requests");
    ok(e.args[2].count == 5 && e.args[2].statuses[0].bytes == 800 &&
           e.args[2].statuses[0].source == 1 && !e.args[2].statuses[1].is_set &&
           e.args[2].statuses[2].is_cancelled,
       "its statuses");
    is_int(trace_cursor_next(&c, &e, &err), 1, "a call that failed");
    ok(e.failed == 15 && e.args[0].number == -1 && e.args[1].count == 4 &&
           memcmp(e.args[1].text, "rows", 4) == 0,
       "class and arguments");
    is_int(trace_cursor_next(&c, &e, &err), 0, "the end");
    trace_cursor_close(&c);
}

static void check(const char *path, int is_complete)
{
    struct trace t;
    struct err err = {0};
    if (!is_int(trace_open(&t, path, &err), 0, "is opened"))
        diag("%s", err.text);
    is_int(t.is_complete, is_complete, "is a complete file or a part");
    is_int(t.missing.code, 0, "nothing is missing");
    is_str(trace_header_get(&t.header, "program"), "./app \\ two\nlines", "property");
    is_str(trace_definitions_site(&t.definitions, 0x0807060504030201u), "main", "call site");
    ok(t.definitions.nodes && t.definitions.node_count == 1, "nodes");
    is_int((long long)t.records, 7 * RANKS, "number of records");
    is_int(trace_threads(&t, 1), 1, "threads");
    for (unsigned rank = 0; rank < RANKS; rank++)
        check_rank(&t, rank);
    trace_close(&t);
}

/* ---- files ---- */

static char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    if (fread(data, 1, *size, file) != *size)
        *size = 0;
    fclose(file);
    return data;
}

static void put_contents(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    fwrite(data, 1, size, file);
    fclose(file);
}

static int is_same(const char *a, const char *b)
{
    size_t sizes[2];
    char *data[2] = {contents(a, &sizes[0]), contents(b, &sizes[1])};
    int same = sizes[0] == sizes[1] && memcmp(data[0], data[1], sizes[0]) == 0;
    free(data[0]);
    free(data[1]);
    return same;
}

/* Reads everything that can be read. Returns the number of records, or -1 if the file cannot be
 * opened. */
static long read_all(const char *path)
{
    struct trace t;
    struct trace_event e;
    struct err err;
    long count = 0;
    if (trace_open(&t, path, &err) != 0)
        return -1;
    for (uint64_t rank = 0; rank < t.header.ranks && rank < 100; rank++) {
        struct trace_cursor c;
        trace_cursor_open(&c, &t, rank, 0, TRACE_RECORDS);
        while (trace_cursor_next(&c, &e, &err) == 1)
            count++;
        trace_cursor_close(&c);
    }
    trace_close(&t);
    return count;
}

/* Thousands of damaged files: in memory, since disks are slow. */
struct copy {
    int fd;
    char path[64];
};

static void copy_make(struct copy *c)
{
    c->fd = memfd_create("broken", 0);
    snprintf(c->path, sizeof c->path, "/proc/self/fd/%d", c->fd);
}

static long read_copy(struct copy *c, const char *data, size_t size)
{
    if (ftruncate(c->fd, 0) != 0 || pwrite(c->fd, data, size, 0) != (ssize_t)size)
        return -2;
    return read_all(c->path);
}

static void check_damage(const char *path)
{
    size_t size;
    char *data = contents(path, &size);
    struct copy broken;
    copy_make(&broken);
    long last = -1, all = read_all(path);
    int grows = 1, same = 1;
    for (size_t n = 0; n < size; n++) {
        long count = read_copy(&broken, data, n);
        grows &= count >= last && count <= all;
        last = count;
    }
    ok(grows, "the more of a file is there, the more can be read");
    struct rng rng;
    rng_seed(&rng, 1);
    for (int i = 0; i < 2000; i++) {
        size_t at = rng_next(&rng) % size;
        data[at] ^= (char)(1 << (rng_next(&rng) % 8));
        same &= read_copy(&broken, data, size) <= all;
        if (i % 3 == 0) { /* now and then a file with one fault only */
            free(data);
            data = contents(path, &size);
        }
    }
    ok(same, "damage takes records away and adds none");
    close(broken.fd);
    free(data);
}

/* ---- copies ---- */

/* Keeps all bytes, and where blocks begin. */
struct heap_sink {
    struct trace_sink sink;
    struct buf out;
};

static void take_piece(struct trace_sink *sink, const struct trace_piece *piece)
{
    struct heap_sink *h = (struct heap_sink *)sink;
    buf_addf(&h->out, "%u %lld ", piece->flags, (long long)piece->base);
    buf_add(&h->out, piece->data, piece->bytes);
}

/* A rank's records with other times, copied as values or, where that is possible, as bytes. */
static void copy_rank(struct trace *t, uint64_t rank, size_t block, int is_unchanged,
                      struct buf *out)
{
    struct heap_sink h = {.sink = {.take = take_piece, .block = block, .piece = block}};
    struct trace_cursor c;
    struct trace_stream s;
    struct trace_event e;
    struct err err;
    buf_init(&h.out);
    trace_stream_init(&s, &h.sink, rank, 0, 0);
    trace_cursor_open(&c, t, rank, 0, TRACE_RECORDS);
    while (trace_cursor_next(&c, &e, &err) == 1) {
        e.enter += 3;
        e.leave += 5;
        (is_unchanged ? trace_copy_unchanged : trace_copy_event)(&s, &t->header, &e);
    }
    trace_cursor_close(&c);
    trace_stream_fini(&s);
    *out = h.out;
}

static void test_copies(const char *path)
{
    struct trace t;
    struct err err;
    int same = 1;
    is_int(trace_open(&t, path, &err), 0, "a trace to copy");
    for (uint64_t rank = 0; rank < RANKS; rank++)
        for (size_t block = 8; block < 200; block += 8) {
            struct buf values, bytes;
            copy_rank(&t, rank, block, 0, &values);
            copy_rank(&t, rank, block, 1, &bytes);
            same &= values.len == bytes.len && memcmp(values.data, bytes.data, bytes.len) == 0;
            buf_fini(&values);
            buf_fini(&bytes);
        }
    ok(same, "records copied as bytes are those copied by their values, wherever blocks begin");
    trace_close(&t);
}

/* What compresses too well is stored longer, and a frame that claims more than that is damaged. */
static void test_ratio(void)
{
    enum { BYTES = 4 << 20 };
    struct trace_out out;
    struct trace_file f;
    struct trace_frame head;
    struct err err = {0};
    char *zeros = mem_zalloc(BYTES), *room = mem_alloc(BYTES);
    char path[] = "/tmp/orrery-ratio-XXXXXX";
    int fd = mkstemp(path);
    ok(fd >= 0 && trace_out_open(&out, path, &err) == 0, "a file");
    ok(trace_out_frame(&out, TRACE_FRAME_RECORDS, zeros, BYTES, &err) == 0 &&
           trace_out_close(&out, 1, &err) == 0,
       "a frame of zeros");
    close(fd);
    ok(trace_file_open(&f, path, &err) == 0 && trace_file_frame(&f, 0, &head, &err) == 0,
       "is read");
    ok(head.raw == BYTES && head.stored >= BYTES / 300 && head.stored < BYTES / 200,
       "stored in %u bytes", head.stored);
    ok(trace_file_payload(&f, 0, &head, room) && memcmp(room, zeros, BYTES) == 0, "it is the same");
    struct trace_frame more = head;
    more.raw *= 2;
    more.check = trace_check(&more, f.data + sizeof head);
    fd = open(path, O_WRONLY);
    ok(pwrite(fd, &more, sizeof more, 0) == sizeof more, "one that claims more");
    close(fd);
    trace_file_close(&f);
    ok(trace_file_open(&f, path, &err) == 0 && trace_file_frame(&f, 0, &head, &err) == ERR_INPUT,
       "is damaged");
    trace_file_close(&f);
    unlink(path);
    mem_free(zeros);
    mem_free(room);
}

static void test_header(void)
{
    struct trace_header h;
    struct err err = {0};
    struct buf out;
    buf_init(&out);
    trace_header_init(&h, 65536);
    is_int((long long)h.block, 4096, "small blocks for many ranks");
    trace_header_write(&h, &out);
    trace_header_fini(&h);
    is_int(trace_header_read(&h, buf_str(&out), &err), 0, "is read again");
    is_int(h.schema->fns[trace_schema_find(h.schema, "MPI_Waitany")].number >= 0, 1,
           "a known function");
    trace_header_fini(&h);
    buf_fini(&out);
    is_int(trace_header_read(&h, "orrery trace 2\n", &err), ERR_INPUT, "a newer version");
    ok(strstr(err.text, "use a newer orrery") != NULL, "says so");
    is_int(trace_header_read(&h, "orrery trace 1\nranks 0\nfunctions\n", &err), ERR_INPUT,
           "no ranks");
    is_int(trace_header_read(&h, "orrery trace 1\nranks 4\nblock 9\n", &err), ERR_INPUT,
           "no functions");
    is_int(trace_header_read(
               &h, "orrery trace 1\nranks 4\nblock 9\nlater words\nfunctions\nMPI_New count[]:n\n",
               &err),
           0, "unknown words and functions");
    ok(h.schema->count == 1 && h.schema->fns[0].number == -1 && h.schema->fns[0].args[0].is_array,
       "are kept");
    trace_header_fini(&h);
    is_int(trace_header_read(&h, "orrery trace 1\nranks 4\nblock 9\nfunctions\nMPI_New shape:n\n",
                             &err),
           ERR_INPUT, "an unknown role");
}

/* A rank records regions until the disk, of so many bytes, is full. Its name comes last, as that of
 * simulated ranks. */
static void test_full(size_t room)
{
    struct trace_header header;
    struct trace_part part;
    struct trace_stream s, local;
    struct trace_cursor c;
    struct trace_event e;
    struct trace t;
    struct err err = {0};
    struct rlimit old, small;
    char *path = in_folder("full");
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){room, old.rlim_max};
    trace_header_init(&header, 1);
    trace_part_open(&part, path, &header, &err);
    part.flush_at = 2000;
    setrlimit(RLIMIT_FSIZE, &small);
    trace_stream_init(&local, &part.sink, 0, 0, TRACE_PIECE_DEFINITIONS);
    trace_stream_init(&s, &part.sink, 0, 0, 0);
    for (int i = 0; i < 20000 && !part.err.code; i++) {
        trace_other(&s, TRACE_REGION_ENTER, i, "\x05", 1);
        if (i % 100 == 0)
            trace_stream_spill(&s);
    }
    trace_other(&local, TRACE_DEFINE_NAME, 0, "\x05solve", 6);
    trace_part_define(&part, TRACE_SITE, "\1\2\3\4\5\6\7\10main", 12);
    trace_stream_fini(&s);
    trace_stream_fini(&local);
    ok(trace_part_close(&part, &err) == ERR_SYSTEM, "%zu bytes are not enough", room);
    setrlimit(RLIMIT_FSIZE, &old);
    ok(part.lost > 0, "records are lost");
    is_int(trace_open(&t, path, &err), 0, "what was written is readable");
    ok(t.missing.code == 0 && t.records > 0, "%d records", (int)t.records);
    is_str(trace_definitions_site(&t.definitions, 0x0807060504030201u), "main", "and a call site");
    trace_cursor_open(&c, &t, 0, 0, TRACE_LOCAL_DEFINITIONS);
    ok(trace_cursor_next(&c, &e, &err) == 1 && e.head == TRACE_DEFINE_NAME, "and the name");
    trace_cursor_close(&c);
    trace_close(&t);
    trace_header_fini(&header);
}

/* Ends a merge when half of it is done. */
struct half {
    struct trace_merge_watch watch;
    uint64_t calls, all;
};

static int is_half(struct trace_merge_watch *watch, uint64_t done, uint64_t all)
{
    struct half *h = (struct half *)watch;
    h->calls++;
    h->all = all;
    return 2 * done >= all;
}

static void test_watch(const char *part)
{
    struct half half = {.watch = {is_half}};
    struct err missing, err;
    const char *parts[] = {part};
    is_int(trace_merge_named(parts, 1, in_folder("half.orr"), NULL, &half.watch, &missing, &err),
           ERR_SYSTEM, "a merge that is to end fails");
    ok(half.calls > 1 && half.calls == (half.all + 1) / 2, "when it is told so: %s", err.text);
    ok(access(in_folder("half.orr"), F_OK) != 0, "and leaves no trace");
}

int main(void)
{
    struct err err = {0}, missing;
    plan_auto();
    ok(mkdtemp(folder) != NULL, "a folder");
    test_header();
    test_ratio();
    signal(SIGXFSZ, SIG_IGN);
    for (size_t room = 60000; room < 64000; room += 501)
        test_full(room);
    record(in_folder("all.part"), 0, 2, 0);
    record(in_folder("a.part"), 0, 0, 16);
    record(in_folder("b.part"), 1, 2, 64);
    check(in_folder("all.part"), 0);
    const char *one[] = {in_folder("all.part")},
               *two[] = {in_folder("b.part"), in_folder("a.part")};
    is_int(trace_merge(one, 1, in_folder("one.orr"), &missing, &err), 0, "merged");
    is_int(missing.code, 0, "as a whole");
    one[0] = in_folder("one.orr");
    check(one[0], 1);
    two[0] = in_folder("b.part"), two[1] = in_folder("a.part");
    is_int(trace_merge(two, 2, in_folder("two.orr"), &missing, &err), 0, "merged from two");
    ok(is_same(in_folder("one.orr"), in_folder("two.orr")), "gives the same file");
    one[0] = in_folder("one.orr");
    is_int(trace_merge(one, 1, in_folder("again.orr"), &missing, &err), 0, "merged again");
    ok(is_same(in_folder("one.orr"), in_folder("again.orr")), "stays the same");
    is_int(read_all(in_folder("one.orr")), 7 * RANKS - RANKS, "records, without those of failures");
    test_copies(in_folder("one.orr"));
    check_damage(in_folder("one.orr"));
    check_damage(in_folder("b.part"));
    put_contents(in_folder("text"), "hello, this is no trace, but a file of some length\n", 50);
    struct trace t;
    is_int(trace_open(&t, in_folder("text"), &err), ERR_INPUT, "another file");
    ok(strstr(err.text, "is not a trace of Orrery") != NULL, "says so: %s", err.text);
    is_int(trace_open(&t, in_folder("none"), &err), ERR_SYSTEM, "no file");
    is_int(trace_open(&t, folder, &err), ERR_INPUT, "a folder is no trace");
    is_int(trace_merge(one, 0, in_folder("x.orr"), &missing, &err), ERR_INPUT, "nothing to merge");
    test_watch(in_folder("all.part"));
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    is_int(system(command), 0, "cleaned up");
    return done_testing();
}
