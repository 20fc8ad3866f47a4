/*
 * Converts random traces to every format that can be read and written, and back: what the format
 * can express stays the same. With an argument, files are kept in that folder.
 */
#include <stdlib.h>
#include <unistd.h>

#include "formats/dumpi.h"
#include "formats/formats.h"
#include "formats/walk.h"
#include "prop/random_trace.h"
#include "tap.h"
#include "trace/text.h"
#include "trace/verify.h"

#define RANKS 4
#define CALLS 150
#define SEEDS 8

static char folder[256];

static const char *in_folder(const char *name, uint64_t seed, const char *suffix)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s-%llu%s", folder, name, (unsigned long long)seed,
             suffix);
    return path[turn];
}

/* ---- traces as text ---- */

static void add_rank(struct buf *out, struct trace *t, uint64_t rank)
{
    struct trace_local local;
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    trace_local_read(&local, t, rank);
    trace_cursor_open(&c, t, rank, 0, TRACE_RECORDS);
    while (trace_cursor_next(&c, &e, &err) > 0)
        trace_text_event(out, t, &local, rank, 1, &e);
    trace_cursor_close(&c);
    trace_local_fini(&local);
}

static char *as_text(const char *path)
{
    struct trace t;
    struct err err;
    struct buf out;
    buf_init(&out);
    if (trace_open(&t, path, &err) != 0) {
        diag("%s", err.text);
        return buf_take(&out);
    }
    for (uint64_t rank = 0; rank < t.header.ranks; rank++)
        add_rank(&out, &t, rank);
    trace_close(&t);
    return buf_take(&out);
}

static int same(const char *a, const char *b, const char *what)
{
    char *p = as_text(a), *q = as_text(b);
    int equal = p && q && strcmp(p, q) == 0;
    ok(equal, "%s", what);
    for (char *x = p, *y = q; !equal && x && y && *x && *y;) {
        size_t n = strcspn(x, "\n"), m = strcspn(y, "\n");
        if (n != m || strncmp(x, y, n) != 0) {
            diag("first difference:\n# %.*s\n# %.*s", (int)n, x, (int)m, y);
            break;
        }
        x += n + (x[n] != '\0');
        y += m + (y[m] != '\0');
    }
    mem_free(p);
    mem_free(q);
    return equal;
}

/* ---- what a rank sends, for formats that have only messages ---- */

static int add_sends(void *state, struct walk *w, const struct trace_event *e, struct err *err)
{
    struct buf *out = state;
    (void)e, (void)err;
    for (size_t i = 0; i < w->actions.count; i++) {
        const struct action *a = &w->actions.list[i];
        if ((a->kind == ACTION_SEND || a->kind == ACTION_ISEND) && a->world >= 0 &&
            a->tag < 1 << 30)
            buf_addf(out, "%llu to %lld tag %lld %llu B\n", (unsigned long long)w->rank,
                     (long long)a->world, (long long)a->tag, (unsigned long long)a->bytes);
    }
    return 0;
}

static char *sends_of(const char *path)
{
    static const struct walk_visitor visitor = {.event = add_sends};
    struct trace t;
    struct err err;
    struct buf out;
    buf_init(&out);
    if (trace_open(&t, path, &err) == 0) {
        walk_trace(&t, &visitor, &out, NULL, &err);
        trace_close(&t);
    }
    return buf_take(&out);
}

/* ---- conversions ---- */

static int convert(const char *from, const char *to)
{
    struct err err = {0};
    int rc = formats_convert(from, to, NULL, NULL, &err);
    if (rc != 0)
        diag("%s to %s: %s", from, to, err.text);
    return ok(rc == 0, "converted");
}

static void verify(const char *path)
{
    struct trace t;
    struct err err;
    struct buf out;
    buf_init(&out);
    if (ok(trace_open(&t, path, &err) == 0, "opened")) {
        is_int((long long)trace_verify(&t, &out), 0, "nothing is wrong with it");
        if (out.len)
            diag("%s", buf_str(&out));
        trace_close(&t);
    }
    buf_fini(&out);
}

static int is_of_dumpi(const struct trace_fn *fn)
{
    static const char *const unlike[] = {"MPI_Pcontrol", "MPI_Group_range_incl",
                                         "MPI_Group_range_excl"};
    char name[64];
    for (size_t i = 0; i < sizeof unlike / sizeof unlike[0]; i++)
        if (strcmp(fn->name, unlike[i]) == 0)
            return 0; /* DUMPI keeps nothing, or less, of their arguments */
    for (unsigned i = 0; i < dumpi_functions(); i++)
        if (strcmp(dumpi_function_name(i, name, sizeof name), fn->name) == 0)
            return 1;
    return 0;
}

static void try_otf2(uint64_t seed)
{
    struct random_trace spec = {.seed = seed, .ranks = RANKS, .calls = CALLS};
    struct err err;
    const char *orr = in_folder("all", seed, ".orr"), *there = in_folder("all", seed, ".otf2"),
               *back = in_folder("all-back", seed, ".orr");
    is_int(random_trace_write(&spec, orr, &err), 0, "a trace of all functions");
    if (convert(orr, there) && convert(there, back))
        same(orr, back, "OTF2 keeps everything");
}

static void try_dumpi(uint64_t seed)
{
    struct random_trace spec = {.seed = seed,
                                .ranks = RANKS,
                                .calls = CALLS,
                                .allows = is_of_dumpi,
                                .is_plain = 1};
    struct err err;
    const char *orr = in_folder("mpi2", seed, ".orr"), *there = in_folder("mpi2", seed, ".meta"),
               *back = in_folder("mpi2-back", seed, ".orr");
    is_int(random_trace_write(&spec, orr, &err), 0, "a trace of what DUMPI knows");
    if (convert(orr, there) && convert(there, back) && same(orr, back, "DUMPI keeps it"))
        verify(back);
}

static void try_messages(uint64_t seed, const char *name, const char *suffix)
{
    char second[32];
    snprintf(second, sizeof second, "-again%s", suffix);
    const char *orr = in_folder("mpi2", seed, ".orr"), *there = in_folder(name, seed, suffix),
               *back = in_folder(name, seed, "-back.orr"), *again = in_folder(name, seed, second),
               *once_more = in_folder(name, seed, "-again.orr");
    if (!convert(orr, there) || !convert(there, back) || !convert(back, again) ||
        !convert(again, once_more))
        return;
    verify(back);
    same(back, once_more, "the second time changes nothing");
    char *sent = sends_of(orr), *kept = sends_of(back);
    ok(sent && kept && strlen(sent) > 100 && strcmp(sent, kept) == 0, "%s keeps all messages",
       name);
    mem_free(sent);
    mem_free(kept);
}

int main(int argc, char **argv)
{
    char command[300];
    plan_auto();
    if (argc > 1)
        snprintf(folder, sizeof folder, "%s", argv[1]);
    else
        snprintf(folder, sizeof folder, "/tmp/orrery-formats-XXXXXX");
    if (argc <= 1 && !mkdtemp(folder))
        return 1;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        diag("seed %llu", (unsigned long long)seed);
        try_otf2(seed);
        try_dumpi(seed);
        try_messages(seed, "ti", ".ti");
        try_messages(seed, "goal", ".goal");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (argc <= 1 && system(command) != 0)
        diag("cannot remove %s", folder);
    return done_testing();
}
