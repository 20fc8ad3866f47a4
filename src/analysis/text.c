/*
 * text.c - an analysis as text: at most 80 columns, the largest items first.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/links.h"
#include "analysis/tables.h"
#include "base/mem.h"
#include "base/units.h"

#define ROWS_MOST 10
#define PLACE_WIDTH 46

/* ---- values ---- */

struct texts {
    char at[8][UNITS_TEXT_MAX];
    unsigned next;
};

static char *room(struct texts *t)
{
    return t->at[t->next++ % 8];
}

static const char *time_text(struct texts *t, double seconds)
{
    char exact[UNITS_TEXT_MAX], *out = room(t);
    units_format_time(exact, sizeof exact, vtime_from_seconds(seconds));
    /* four digits are enough to compare, and keep columns narrow */
    double number = strtod(exact, NULL);
    const char *unit = strchr(exact, ' ');
    snprintf(out, UNITS_TEXT_MAX, "%.4g%s", number, unit ? unit : "");
    return out;
}

static const char *bytes_text(struct texts *t, double bytes)
{
    return units_format_bytes(room(t), UNITS_TEXT_MAX, (uint64_t)bytes);
}

static const char *count_text(struct texts *t, double count)
{
    return units_format_count(room(t), UNITS_TEXT_MAX, (uint64_t)count);
}

static double share(double part, double of)
{
    return of > 0 ? 100 * part / of : 0;
}

/* The largest items of a list of `count`, by a value of each: their numbers, at most ROWS_MOST. */
struct ranked {
    size_t number;
    double value;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;
    if (p->value != q->value)
        return p->value > q->value ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

static size_t largest(struct ranked *items, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(items, count, sizeof *items, by_value);
    while (kept < count && kept < ROWS_MOST && items[kept].value > 0)
        kept++;
    return kept;
}

static void more(struct buf *out, size_t all, size_t shown, const char *what)
{
    if (all > shown)
        buf_addf(out, "  ... %zu %s in all\n", all, what);
}

/* ---- groups ---- */

static void overall(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    double all = a->compute + a->mpi, n = a->ranks ? (double)a->ranks : 1;
    buf_addf(out, "\nOverall\n  run time       %s\n", time_text(&t, a->runtime));
    buf_addf(out, "  computing      %5.1f%%  %s per rank\n", share(a->compute, all),
             time_text(&t, a->compute / n));
    buf_addf(out, "  in MPI         %5.1f%%  %s per rank\n", share(a->mpi, all),
             time_text(&t, a->mpi / n));
    if (a->file > 0)
        buf_addf(out, "  file accesses  %5.1f%%  %s per rank, of that in MPI\n",
                 share(a->file, all), time_text(&t, a->file / n));
    buf_addf(out, "  blocking calls %5.1f%%  %s per rank\n", share(a->wait, all),
             time_text(&t, a->wait / n));
    buf_addf(out, "  messages       %s with %s\n", count_text(&t, a->messages),
             bytes_text(&t, a->sent));
    if (a->collective_bytes > 0)
        buf_addf(out, "  collectives    %s given\n", bytes_text(&t, a->collective_bytes));
    if (a->rma_bytes > 0)
        buf_addf(out, "  one-sided      %s\n", bytes_text(&t, a->rma_bytes));
    if (a->file_bytes > 0)
        buf_addf(out, "  files          %s written or read\n", bytes_text(&t, a->file_bytes));
    buf_addf(out, "  bandwidth      %s sent per second in MPI\n", bytes_text(&t, a->bandwidth));
    if (a->unmatched_sends + a->unmatched_receives > 0)
        buf_addf(out, "  unmatched      %s sends, %s receives\n",
                 count_text(&t, a->unmatched_sends), count_text(&t, a->unmatched_receives));
}

static void efficiency(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    const struct analysis_efficiency *e = &a->efficiency;
    buf_addf(out, "\nEfficiency\n  parallel efficiency  %5.1f%%\n", 100 * e->parallel);
    buf_addf(out, "    load balance       %5.1f%%\n", 100 * e->load_balance);
    buf_addf(out, "    communication      %5.1f%%\n", 100 * e->communication);
    buf_addf(out, "      serialisation    %5.1f%%\n", 100 * e->serialisation);
    buf_addf(out, "      transfer         %5.1f%%  %s on an ideal network\n", 100 * e->transfer,
             time_text(&t, e->ideal));
    if (a->file > 0)
        buf_addf(out, "    file accesses      %5.1f%%  %s if they also took no time\n",
                 100 * e->file, time_text(&t, e->ideal_without_files));
}

/* Minimum, mean and maximum of the ranks, with the rank. */
static void rank_line(const struct analysis *a, struct buf *out, const char *name, size_t offset,
                      int is_time)
{
    struct texts t = {0};
    double sum = 0, least = INFINITY, most = -INFINITY;
    uint64_t least_at = 0, most_at = 0;
    for (uint64_t i = 0; i < a->ranks; i++) {
        double value;
        memcpy(&value, (const char *)&a->rank[i] + offset, sizeof value);
        sum += value;
        if (value < least)
            least = value, least_at = i;
        if (value > most)
            most = value, most_at = i;
    }
    const char *(*text)(struct texts *, double) = is_time ? time_text : bytes_text;
    if (most > 0)
        buf_addf(out, "  %-12s %11s at %-9llu %11s %11s at %llu\n", name, text(&t, least),
                 (unsigned long long)least_at, text(&t, sum / (double)a->ranks), text(&t, most),
                 (unsigned long long)most_at);
}

static void ranks(const struct analysis *a, struct buf *out)
{
    buf_addf(out, "\n%-14s %11s at %-9s %11s %11s at rank\n", "Ranks", "least", "rank", "mean",
             "most");
    rank_line(a, out, "computing", offsetof(struct analysis_rank, compute), 1);
    rank_line(a, out, "in MPI", offsetof(struct analysis_rank, mpi), 1);
    rank_line(a, out, "blocking", offsetof(struct analysis_rank, wait), 1);
    rank_line(a, out, "sent", offsetof(struct analysis_rank, sent), 0);
    rank_line(a, out, "received", offsetof(struct analysis_rank, received), 0);
    rank_line(a, out, "end", offsetof(struct analysis_rank, end), 1);
    if (a->nodes)
        buf_addf(out, "  on %llu node%s\n", (unsigned long long)a->nodes, a->nodes > 1 ? "s" : "");
}

static void functions(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    struct ranked *items = mem_alloc((a->function_count + 1) * sizeof *items);
    for (size_t i = 0; i < a->function_count; i++)
        items[i] = (struct ranked){i, a->function[i].time};
    size_t shown = largest(items, a->function_count);
    buf_addf(out, "\n%-24s %11s %10s %6s %10s %13s\n", "Functions", "calls", "time", "of MPI",
             "per call", "between ranks");
    for (size_t i = 0; i < shown; i++) {
        const struct analysis_function *f = &a->function[items[i].number];
        buf_addf(out, "  %-22.22s %11s %10s %5.1f%% %10s %13s\n", f->name, count_text(&t, f->calls),
                 time_text(&t, f->time), share(f->time, a->mpi), time_text(&t, f->mean),
                 time_text(&t, f->rank_deviation));
    }
    more(out, a->function_count, shown, "functions");
    mem_free(items);
}

/* The phases whose times differ most between ranks. */
static void phases(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    buf_addf(out, "\n%-24s %11s %11s %12s  ended by\n", "Phases", "mean", "deviation", "most");
    for (size_t i = 0; i < a->phases_count && i < ROWS_MOST; i++) {
        const struct analysis_phases *p = &a->phases[i];
        struct ranked *items = mem_alloc((p->count + 1) * sizeof *items);
        for (uint64_t k = 0; k < p->count; k++)
            items[k] = (struct ranked){k, p->phases[k].mean + p->phases[k].deviation};
        size_t shown = largest(items, p->count);
        buf_addf(out, "  %s, %llu ranks", p->comm, (unsigned long long)p->ranks);
        if (p->merged > 1)
            buf_addf(out, ", %llu phases merged into one", (unsigned long long)p->merged);
        buf_addc(out, '\n');
        for (size_t k = 0; k < shown; k++) {
            const struct analysis_phase *s = &p->phases[items[k].number];
            buf_addf(out, "    phase %-14llu %11s %11s %12s  %.20s\n",
                     (unsigned long long)(items[k].number * p->merged), time_text(&t, s->mean),
                     time_text(&t, s->deviation), time_text(&t, s->max), s->function);
        }
        more(out, p->count, shown, "phases");
        mem_free(items);
    }
    more(out, a->phases_count + a->phases_left_out,
         a->phases_count < ROWS_MOST ? a->phases_count : ROWS_MOST, "communicators");
}

static void pairs(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    struct ranked *items = mem_alloc((a->pair_count + 1) * sizeof *items);
    for (size_t i = 0; i < a->pair_count; i++)
        items[i] = (struct ranked){i, a->pair[i].bytes + 1};
    size_t shown = largest(items, a->pair_count);
    buf_addf(out, "\n%-6s %6s %10s %11s %12s %12s\n", "Pairs", "from", "to", "messages", "bytes",
             "mean time");
    if (a->pair_width > 1)
        buf_addf(out, "  %llu ranks are merged into one\n", (unsigned long long)a->pair_width);
    for (size_t i = 0; i < shown; i++) {
        const struct analysis_pair *p = &a->pair[items[i].number];
        buf_addf(out, "  %11llu %10llu %11s %12s %12s\n", (unsigned long long)p->from,
                 (unsigned long long)p->to, count_text(&t, p->messages), bytes_text(&t, p->bytes),
                 time_text(&t, p->messages > 0 ? p->time / p->messages : 0));
    }
    more(out, a->pair_count, shown, "pairs");
    mem_free(items);
}

static void waits(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    double all = a->compute + a->mpi;
    int is_some = 0;
    buf_addf(out, "\n%-18s %13s %12s %7s %11s at rank\n", "Wait states", "times", "time", "of all",
             "most");
    for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++) {
        double most = 0;
        uint64_t at = 0;
        for (uint64_t i = 0; i < a->ranks; i++)
            if (a->rank[i].waits[k] > most)
                most = a->rank[i].waits[k], at = i;
        if (!a->wait_counts[k])
            continue;
        is_some = 1;
        buf_addf(out, "  %-16s %13s %12s %6.1f%% %11s at %llu\n", analysis_wait_name(k),
                 count_text(&t, (double)a->wait_counts[k]), time_text(&t, a->waits[k]),
                 share(a->waits[k], all), time_text(&t, most), (unsigned long long)at);
    }
    if (!is_some)
        buf_adds(out, "  none\n");
}

/* "computing in 'solve'", "computing before MPI_Send", "MPI_Send in 'solve' at solve.c:3" */
static void place_text(const struct analysis_place *p, size_t number, struct buf *out)
{
    if (number < 2)
        buf_adds(out, "unknown");
    else if (!p->is_compute)
        buf_adds(out, p->function);
    else
        buf_addf(out, "computing%s%s", *p->function ? " before " : "", p->function);
    if (*p->region)
        buf_addf(out, " in '%s'", p->region);
    if (*p->site)
        buf_addf(out, " at %s", p->site);
}

static void place_line(const struct analysis *a, size_t number, struct buf *out)
{
    struct buf name;
    buf_init(&name);
    place_text(&a->place[number], number, &name);
    if (name.len > PLACE_WIDTH)
        memcpy(name.data + PLACE_WIDTH - 3, "...", 4);
    buf_addf(out, "  %-*s", PLACE_WIDTH, buf_str(&name));
    buf_fini(&name);
}

static void path(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    struct ranked *items = mem_alloc((a->place_count + a->ranks + 1) * sizeof *items);
    for (size_t i = 0; i < a->place_count; i++)
        items[i] = (struct ranked){i, a->place[i].path};
    size_t shown = largest(items, a->place_count);
    buf_addf(out, "\n%-*s %12s %7s\n", PLACE_WIDTH + 2, "Critical path", "time", "share");
    for (size_t i = 0; i < shown; i++) {
        place_line(a, items[i].number, out);
        buf_addf(out, " %12s %6.1f%%\n", time_text(&t, items[i].value),
                 share(items[i].value, a->runtime));
    }
    for (uint64_t i = 0; i < a->ranks; i++)
        items[i] = (struct ranked){i, a->rank[i].path};
    shown = largest(items, a->ranks);
    buf_addf(out, "  %s hops between ranks%s", count_text(&t, (double)a->path_hops),
             shown ? "; ranks with most of it:" : "");
    for (size_t i = 0; i < shown && i < 3; i++)
        buf_addf(out, "%s %zu (%.0f%%)", i ? "," : "", items[i].number,
                 share(items[i].value, a->runtime));
    buf_addc(out, '\n');
    mem_free(items);
}

static void delays(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    struct ranked *items = mem_alloc((a->place_count + a->ranks + 1) * sizeof *items);
    for (size_t i = 0; i < a->place_count; i++)
        items[i] = (struct ranked){i, a->place[i].delay_direct + a->place[i].delay_indirect};
    size_t shown = largest(items, a->place_count);
    if (!shown)
        goto done;
    buf_addf(out, "\n%-*s %11s %11s %6s\n", PLACE_WIDTH + 2, "Delays", "direct", "indirect",
             "share");
    for (size_t i = 0; i < shown; i++) {
        const struct analysis_place *p = &a->place[items[i].number];
        place_line(a, items[i].number, out);
        buf_addf(out, " %11s %11s %5.1f%%\n", time_text(&t, p->delay_direct),
                 time_text(&t, p->delay_indirect),
                 share(items[i].value, a->delay_known + a->delay_unknown));
    }
    for (uint64_t i = 0; i < a->ranks; i++)
        items[i] = (struct ranked){i, a->rank[i].delay_cost};
    shown = largest(items, a->ranks);
    buf_adds(out, "  ranks that others waited for:");
    for (size_t i = 0; i < shown && i < 3; i++)
        buf_addf(out, "%s %zu (%s)", i ? "," : "", items[i].number, time_text(&t, items[i].value));
    buf_addc(out, '\n');
done:
    mem_free(items);
}

static void requests(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    buf_addf(out, "\nRequests\n  %s completed, %s of them by tests; %s tests found nothing\n",
             count_text(&t, a->requests), count_text(&t, a->tested),
             count_text(&t, a->tests_failed));
    for (unsigned i = 0; i < ANALYSIS_TESTS_BINS; i++) {
        char range[48];
        if (!a->tests[i])
            continue;
        if (i == 0)
            snprintf(range, sizeof range, "1 test");
        else
            snprintf(range, sizeof range, "%llu-%llu tests", 1ull << i, (2ull << i) - 1);
        buf_addf(out, "  %-20s %12s requests\n", range, count_text(&t, (double)a->tests[i]));
    }
}

static void overlap(const struct analysis *a, struct buf *out)
{
    struct texts t = {0};
    double n = a->ranks ? (double)a->ranks : 1, all = a->overlapped + a->exposed;
    buf_addf(out,
             "\nOverlap\n  %.1f%%: a rank computes %s while operations are in flight,\n"
             "  and is %s in calls that complete them\n",
             share(a->overlapped, all), time_text(&t, a->overlapped / n),
             time_text(&t, a->exposed / n));
}

static void links(const struct analysis *a, struct buf *out)
{
    const struct analysis_links *links = &a->links;
    struct texts t = {0};
    size_t shown = links->used < ROWS_MOST ? links->used : ROWS_MOST;
    if (!links->kind)
        return;
    buf_addf(out, "\n%-22s %14s %8s %8s at\n", "Links", "bytes", "busy", "most");
    for (size_t i = 0; i < shown; i++) {
        const struct analysis_link *link = &links->link[i];
        size_t peak = analysis_link_peak(links, link);
        buf_addf(out, "  %-20s %14s %7.1f%% %7.1f%% %s\n", link->name, bytes_text(&t, link->bytes),
                 100 * analysis_link_busy(a, link), 100 * analysis_link_load(links, link, peak),
                 time_text(&t, fmax(0, links->begin + (double)peak * links->interval - a->begin)));
    }
    more(out, links->used, shown, "links");
    buf_addf(out, "  %s of %s links of the %s carried something; intervals of %s\n",
             count_text(&t, (double)links->used), count_text(&t, (double)links->all), links->kind,
             time_text(&t, links->interval));
}

void tables_text(const struct analysis *a, struct buf *out)
{
    static void (*const group[ANALYSIS_GROUPS])(const struct analysis *, struct buf *) = {
        [ANALYSIS_OVERALL] = overall,
        [ANALYSIS_RANKS] = ranks,
        [ANALYSIS_FUNCTIONS] = functions,
        [ANALYSIS_PHASES] = phases,
        [ANALYSIS_PAIRS] = pairs,
        [ANALYSIS_WAITS] = waits,
        [ANALYSIS_PATH] = path,
        [ANALYSIS_DELAYS] = delays,
        [ANALYSIS_EFFICIENCY] = efficiency,
        [ANALYSIS_REQUESTS] = requests,
        [ANALYSIS_OVERLAP] = overlap,
        [ANALYSIS_LINKS] = links,
    };
    struct texts t = {0};
    buf_addf(out, "trace          %s\n", a->source);
    if (*a->program)
        buf_addf(out, "program        %s\n", a->program);
    buf_addf(out, "ranks          %s", count_text(&t, (double)a->ranks));
    if (a->nodes)
        buf_addf(out, " on %s node%s", count_text(&t, (double)a->nodes), a->nodes > 1 ? "s" : "");
    buf_addf(out, "; %s records\n", count_text(&t, (double)a->events));
    for (unsigned i = 0; i < ANALYSIS_GROUPS; i++)
        if (a->groups & 1u << i)
            group[i](a, out);
}
