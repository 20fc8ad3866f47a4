/*
 * result.c - the result of a run, as text and as JSON. All numbers come from the shared page and
 * from wait4; only ratios are computed here.
 */
#include "results/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/sys.h"
#include "base/units.h"
#include "net/net.h"
#include "platform/read.h"
#include "program/host.h"
#include "results/emulated.h"
#include "run/share.h"

#define SHORT_SLICE_S 1e-6
/* Others disturb the measurement if ranks had no processor for this long and for this fraction of
 * the time. */
#define BUSY_S 0.01
#define BUSY_PART 0.05

static const char *const cause_names[] = {
    [RUN_CAUSE_NONE] = "died",
    [RUN_CAUSE_DONE] = "done",
    [RUN_CAUSE_ABORT] = "abort",
    [RUN_CAUSE_STUCK] = "stuck",
    [RUN_CAUSE_CRASH] = "crash",
    [RUN_CAUSE_INTERNAL] = "internal",
    [RUN_CAUSE_SIGNAL] = "stopped",
    [RUN_CAUSE_INPUT] = "wrong input",
    [RUN_CAUSE_MEMORY] = "out of memory",
};
#define LARGE_SWAP ((uint64_t)64 << 10)

static const char *cause_name(int cause)
{
    int known = cause >= 0 && cause < (int)(sizeof cause_names / sizeof cause_names[0]);
    return known ? cause_names[cause] : "unknown";
}

/* Host seconds per virtual second; NaN if no virtual time passed. */
static double ratio(const struct run_page *page, const struct run_outcome *outcome)
{
    double virtual_s = vtime_to_seconds(page->end.virtual_time);
    return virtual_s > 0 ? outcome->wall_s / virtual_s : NAN;
}

/* For all processes together. */
static uint64_t peak_memory(const struct run_page *page, const struct run_outcome *outcome)
{
    return page->end.peak_rss_bytes ? page->end.peak_rss_bytes : outcome->peak_rss_bytes;
}

/* Each scheduler has one process that starts the ranks' processes. */
static uint64_t processes(const struct run_page *page, const struct results_program *programs)
{
    uint64_t sum = 0, procs = page->opt.procs;
    if (page->opt.app_count <= 1)
        return run_host_kind(page->opt.host)->processes
                   ? page->opt.ranks + page->end.spawned + 2 * procs
                   : procs;
    for (uint32_t i = 0; i < page->opt.app_count; i++)
        sum += run_host_kind(programs[i].host)->processes
                   ? programs[i].ranks + 2 * (uint64_t)programs[i].procs
                   : programs[i].procs;
    return sum;
}

/* Has any program a process for each rank? */
static int has_processes(const struct run_page *page, const struct results_program *programs)
{
    for (uint32_t i = 0; page->opt.app_count > 1 && i < page->opt.app_count; i++)
        if (run_host_kind(programs[i].host)->processes)
            return 1;
    return run_host_kind(page->opt.host)->processes;
}

/* The work that one process had to do for all. */
static const char *serial(const struct run_page *page)
{
    switch ((enum net_split)page->end.net_split) {
    case NET_SPLIT_NONE:
        return "the network, on process 0";
    case NET_SPLIT_FREE:
    case NET_SPLIT_MEDIA:
        break;
    }
    return "nothing";
}

/* ---- status ---- */

void results_complete(struct run_page *page, const struct run_outcome *outcome)
{
    if (page->end.cause != RUN_CAUSE_NONE || !outcome->signal)
        return;
    if (!page->opt.live)
        log_error(RUN_SIGNAL_TEXT, outcome->signal, strsignal(outcome->signal));
    page->end.virtual_time = page->now.clock;
    page->end.messages = page->now.messages;
    page->end.bytes = page->now.bytes;
    page->end.switches = page->now.switches;
    page->end.exit_status = 128 + outcome->signal;
    page->end.cause = RUN_CAUSE_SIGNAL;
}

static int died_of_signal(const struct run_page *page, const struct run_outcome *outcome, int sig)
{
    char left[UNITS_TEXT_MAX];

    if (outcome->is_lost)
        return 3;
    if (outcome->memory_left)
        log_error("the program was killed because memory was running out (%s left), with %llu of "
                  "%llu ranks started; use fewer ranks",
                  units_format_bytes(left, sizeof left, outcome->memory_left),
                  (unsigned long long)page->now.ranks_started, (unsigned long long)page->opt.ranks);
    else if (sig == SIGKILL)
        log_error(
            "the program was killed (SIGKILL): by somebody, or because memory ran out; then use "
            "fewer ranks");
    else
        log_error("the program died of signal %d (%s) while rank %llu ran, without a report", sig,
                  strsignal(sig), (unsigned long long)page->now.current_rank);
    return 3;
}

/* Prints the report that the program could not print itself. */
static int last_words(const struct run_page *page)
{
    const char *text = page->dying.text;
    size_t size = strnlen(text, sizeof page->dying.text), first = 0;
    while (first < size && text[first] != '\n')
        first++;
    log_error("%.*s", (int)first, text);
    if (first + 1 < size) {
        struct buf rest;
        buf_init(&rest);
        buf_add(&rest, text + first + 1, size - first - 1);
        printable(rest.data, rest.len, 1);
        buf_addc(&rest, '\n');
        sys_write_all(STDERR_FILENO, buf_str(&rest), rest.len);
        buf_fini(&rest);
    }
    log_error("after that the run could not end properly: there is no summary");
    return page->dying.status & 0xff;
}

int results_status(const struct run_page *page, const struct run_outcome *outcome)
{
    if (page->end.cause != RUN_CAUSE_NONE)
        return page->end.exit_status & 0xff;
    if (page->dying.status)
        return last_words(page);
    if (WIFSIGNALED(outcome->status))
        return died_of_signal(page, outcome, WTERMSIG(outcome->status));
    int code = WEXITSTATUS(outcome->status);
    if (code == 127 && page->now.ranks_started == 0) {
        log_error("cannot start '%s': the dynamic linker refused it, see above", page->opt.program);
        return 2;
    }
    if (page->now.ranks_started == 0)
        log_error("'%s' ended with status %d before the simulator took over: nothing was "
                  "simulated",
                  page->opt.program, code);
    else
        log_error("'%s' ended with status %d without a report: the results are not complete",
                  page->opt.program, code);
    return 3;
}

/* ---- summary ---- */

/* Rates are rounded to three digits: "2,345,678 (1.2 M/s)" reads badly. */
static void add_rate(struct buf *out, double per_second)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    size_t p = 0;
    for (; per_second >= 999.5 && p < 4; p++)
        per_second /= 1000;
    buf_addf(out, " (%.3g%s%s/s)", per_second, p ? " " : "", prefixes[p]);
}

/* Ranks that start later reuse stacks, so there may be fewer stacks than ranks. */
static void add_stacks(const struct run_page *page, struct buf *out)
{
    char count[UNITS_TEXT_MAX];
    if (page->end.own_stacks == 0)
        buf_adds(out, "shared stack");
    else
        buf_addf(out, "%s own stack%s",
                 units_format_count(count, sizeof count, page->end.own_stacks),
                 page->end.own_stacks == 1 ? "" : "s");
}

/* The measured compute time, and what was left out of it. */
static void add_computed(const struct run_page *page, struct buf *out)
{
    if (page->end.computed_s + page->end.left_out_s > 0)
        buf_addf(out,
                 "  compute time  %.3f s on this computer; left out: %.3f s without a processor\n",
                 page->end.computed_s, page->end.left_out_s);
}

/* Would more processes have helped? */
static void add_hint(const struct run_page *page, const struct run_outcome *outcome,
                     struct buf *out)
{
    unsigned cores = run_share_cores();

    if (page->opt.procs == 1 &&
        run_share_is_hint(outcome->wall_s, run_share_idle(cores),
                          run_share_choose(page->opt.ranks, cores, mem_available())))
        buf_addf(
            out,
            "  hint          the run used one of %u cores: --procs auto shares it between them\n",
            cores);
}

static void add_notes(const struct run_page *page, struct buf *out)
{
    double idle = page->end.left_out_s /
                  (page->end.computed_s + page->end.left_out_s); /* may be NaN */

    if (page->opt.compute == RUN_COMPUTE_MEASURED && page->end.median_slice_s > 0 &&
        page->end.median_slice_s < SHORT_SLICE_S)
        buf_addf(out,
                 "  warning       half of all compute time is in slices below %.3g us: cold caches"
                 "\n                dominate the measured times; consider --compute none or"
                 "\n                orrery_compute()\n",
                 page->end.median_slice_s * 1e6);
    if (page->end.left_out_s > BUSY_S && idle > BUSY_PART)
        buf_addf(
            out,
            "  warning       this computer was busy: ranks that computed had no processor for "
            "%.0f%% of"
            "\n                the time. That is left out, but others also took caches and memory"
            "\n                bandwidth, so what is left may be too long: use an idle computer, "
            "fewer"
            "\n                processes or --compute none\n",
            100 * idle);
    if (page->end.swapped_bytes > LARGE_SWAP) {
        char text[UNITS_TEXT_MAX];
        buf_addf(out,
                 "  note          %s of static data is copied at every switch of ranks: allocate "
                 "large\n                arrays on the heap for speed\n",
                 units_format_bytes(text, sizeof text, page->end.swapped_bytes));
    }
    if (page->end.pairs_aggregated)
        buf_adds(out, "  note          too many pairs of ranks: pair statistics are by node\n");
}

/* Files and windows, if the program used any. */
static void add_access(const struct run_access *done, struct buf *out)
{
    static const char *const name[] = {"read", "write"};
    char text[UNITS_TEXT_MAX];

    if (done->io_ops[0] + done->io_ops[1]) {
        buf_addf(out, "  files         ");
        for (int k = 0; k < 2; k++) {
            buf_addf(out, "%s %s%s", units_format_count(text, sizeof text, done->io_ops[k]),
                     name[k], done->io_ops[k] == 1 ? "" : "s");
            buf_addf(out, " of %s, ", units_format_bytes(text, sizeof text, done->io_bytes[k]));
        }
        buf_addf(out, "%s in their calls\n", units_format_time(text, sizeof text, done->io_time));
    }
    if (done->rma_ops) {
        buf_addf(out, "  one-sided     %s operation%s",
                 units_format_count(text, sizeof text, done->rma_ops),
                 done->rma_ops == 1 ? "" : "s");
        buf_addf(out, " of %s\n", units_format_bytes(text, sizeof text, done->rma_bytes));
    }
}

/* How computing counts in the processes outside. */
static const char *counted_name(const struct run_live *l)
{
    switch (l->counted) {
    case RUN_COUNTED_WALL:
        return "wall";
    case RUN_COUNTED_PROCESSOR:
        return "processor";
    case RUN_COUNTED_NONE:
        return "none";
    default:
        return l->counted ? "mixed" : "unknown";
    }
}

/* Has other work on the computer made computing longer, by more than a percent of the run? */
static int is_disturbed(const struct run_page *page)
{
    const struct run_live *l = &page->end.live;

    return l->counted & RUN_COUNTED_WALL && l->kept > page->end.virtual_time / 100;
}

/* How far what processes outside did could differ from the order of virtual time. */
static void add_live(const struct run_page *page, struct buf *out)
{
    const struct run_live *l = &page->end.live;
    char text[UNITS_TEXT_MAX];

    if (!page->opt.live)
        return;
    buf_addf(out, "  inversions    %s", units_format_count(text, sizeof text, l->inversions));
    buf_addf(out, " of messages; %s decision%s forced\n",
             units_format_count(text, sizeof text, l->forced), l->forced == 1 ? "" : "s");
    buf_addf(out, "  compute       %s\n", counted_name(l));
    if (page->end.net_split != NET_SPLIT_FREE) {
        buf_addf(out, "  reordering    within %s",
                 units_format_time(text, sizeof text, l->late_most));
        buf_addf(out, ": %s message%s entered the network late\n",
                 units_format_count(text, sizeof text, l->late), l->late == 1 ? "" : "s");
    }
    if (l->forced)
        buf_adds(out,
                 "  warning       decisions were forced, since all processes waited in the real MPI: "
                 "times may differ\n                from those of 'orrery run'\n");
    if (is_disturbed(page))
        buf_addf(out,
                 "  warning       a process waited for a processor for %s, which may count as "
                 "computing:\n                use --compute processor\n",
                 units_format_time(text, sizeof text, l->kept));
}

/* ---- the network ---- */

static int traffic_of(const struct run_page *page, struct net_traffic *out)
{
    memcpy(out, page->end.traffic, sizeof *out);
    return page->end.has_traffic;
}

static uint64_t dropped(const struct net_traffic *t)
{
    return t->counts[NET_DROPPED_FULL] + t->counts[NET_DROPPED_ERROR] + t->counts[NET_DROPPED_DOWN];
}

/* The part of the time during which a link was busy. */
static double utilisation(const struct run_page *page, const struct net_traffic_link *link)
{
    return page->end.virtual_time > 0 ? (double)link->busy / (double)page->end.virtual_time : 0;
}

static void add_traffic(const struct run_page *page, struct buf *out)
{
    char text[UNITS_TEXT_MAX];
    struct net_traffic t;

    if (!traffic_of(page, &t))
        return;
    buf_addf(out, "  packets       %s",
             units_format_count(text, sizeof text, t.counts[NET_PACKETS]));
    buf_addf(out, ", %s dropped", units_format_count(text, sizeof text, dropped(&t)));
    if (t.counts[NET_MARKED])
        buf_addf(out, ", %s marked", units_format_count(text, sizeof text, t.counts[NET_MARKED]));
    if (t.counts[NET_RETRANSMITTED])
        buf_addf(out, ", %s sent again",
                 units_format_count(text, sizeof text, t.counts[NET_RETRANSMITTED]));
    buf_addf(out, "; longest queue %s\n",
             units_format_bytes(text, sizeof text, t.counts[NET_QUEUE_MAX]));
    if (t.links)
        buf_addf(out, "  busiest link  %.1f%% of the time\n", 100 * utilisation(page, &t.link[0]));
}

static double overcommit_factor(const struct run_overcommit *o)
{
    return (double)o->needs / (double)o->took;
}

static void add_overcommit(const struct run_page *page, struct buf *out)
{
    const struct run_overcommit *o = &page->end.overcommit;
    char at[UNITS_TEXT_MAX], ranks[UNITS_TEXT_MAX];

    if (!o->ranks)
        return;
    buf_addf(out, "  overcommitted up to %.3g x the link of a node (rank %u at %s; %s rank%s):",
             overcommit_factor(o), o->rank, units_format_time(at, sizeof at, o->at),
             units_format_count(ranks, sizeof ranks, o->ranks), o->ranks == 1 ? "" : "s");
    buf_addf(out, "\n                net.model=%s takes this into account\n",
             net_model_instead(page->opt.platform.net_model));
}

static void add_host(const struct run_page *page, struct buf *out)
{
    buf_addf(out, "  host          %s (%s)", run_host_kind(page->opt.host)->word,
             page->opt.host_reason);
    if (!run_host_kind(page->opt.host)->processes) {
        buf_addf(out, ", ");
        add_stacks(page, out);
    }
    buf_addc(out, '\n');
}

/* Of each program: its ranks, and their host. */
static void add_programs(const struct run_page *page, const struct results_program *programs,
                         struct buf *out)
{
    char text[UNITS_TEXT_MAX];
    for (uint32_t i = 0; i < page->opt.app_count; i++) {
        const struct results_program *p = &programs[i];
        buf_addf(out, "  program %-5u %s: %s rank%s", i, p->words[0],
                 units_format_count(text, sizeof text, p->ranks), p->ranks == 1 ? "" : "s");
        if (p->procs > 1)
            buf_addf(out, " in %u processes", p->procs);
        buf_addf(out, ", host %s (%s)\n", run_host_kind(p->host)->word, p->host_reason);
    }
}

void results_text(const struct run_page *page, const struct results_program *programs,
                  const struct run_outcome *outcome, struct buf *out)
{
    char text[UNITS_TEXT_MAX];
    double times = ratio(page, outcome);
    buf_addf(out, "orrery: %s rank%s", units_format_count(text, sizeof text, page->opt.ranks),
             page->opt.ranks == 1 ? "" : "s");
    if (page->end.spawned)
        buf_addf(out, " and %s spawned", units_format_count(text, sizeof text, page->end.spawned));
    buf_addf(out, ", %s", cause_name(page->end.cause));
    if (page->end.findings)
        buf_addf(out, ", %u finding%s", page->end.findings, page->end.findings == 1 ? "" : "s");
    if (page->end.leaks)
        buf_addf(out, ", %u leak%s", page->end.leaks, page->end.leaks == 1 ? "" : "s");
    else if (!page->end.findings && page->end.cause == RUN_CAUSE_DONE && page->end.exit_status != 0)
        buf_addf(out, ", exit status %d (rank %llu)", page->end.exit_status,
                 (unsigned long long)page->end.bad_rank);
    buf_addc(out, '\n');
    if (*page->opt.platform.name)
        buf_addf(out, "  platform      %s%s\n", page->opt.platform.name,
                 page->opt.changed ? ", with settings of --set" : "");
    buf_addf(out, "  virtual time  %s\n",
             units_format_time(text, sizeof text, page->end.virtual_time));
    buf_addf(out, "  wall time     %.3f s", outcome->wall_s);
    if (!isnan(times))
        buf_addf(out, " (%.3g x virtual time)", times);
    buf_addc(out, '\n');
    add_computed(page, out);
    buf_addf(out, "  messages      %s", units_format_count(text, sizeof text, page->end.messages));
    if (outcome->wall_s > 0)
        add_rate(out, (double)page->end.messages / outcome->wall_s);
    buf_addf(out, "\n  bytes         %s\n", units_format_bytes(text, sizeof text, page->end.bytes));
    add_access(&page->end.access, out);
    results_emulated_text(page, out);
    add_live(page, out);
    add_traffic(page, out);
    add_overcommit(page, out);
    buf_addf(out, "  peak memory   %s",
             units_format_bytes(text, sizeof text, peak_memory(page, outcome)));
    if (has_processes(page, programs))
        buf_addf(out, " in %s processes",
                 units_format_count(text, sizeof text, processes(page, programs)));
    else if (page->opt.procs > 1)
        buf_addf(out, " in %u processes, at most %s in one", page->opt.procs,
                 units_format_bytes(text, sizeof text, page->end.peak_rss_max));
    buf_addc(out, '\n');
    if (page->opt.procs > 1) {
        buf_addf(out, "  synchronised  %s times",
                 units_format_count(text, sizeof text, page->end.rounds));
        buf_addf(out, ", %s batches of messages\n",
                 units_format_count(text, sizeof text, page->end.batches));
        buf_addf(out, "  serial        %s\n", serial(page));
    }
    if (page->opt.app_count > 1)
        add_programs(page, programs, out);
    else
        add_host(page, out);
    add_notes(page, out);
    add_hint(page, outcome, out);
}

/* ---- JSON ---- */

static void put_link(struct json *json, const struct run_page *page,
                     const struct net_traffic_link *link)
{
    json_object_begin(json);
    json_put_uint(json, "from", link->from);
    json_put_uint(json, "to", link->to);
    json_put_uint(json, "bytes", link->bytes);
    json_put_uint(json, "dropped", link->dropped);
    json_put_uint(json, "queue_max_bytes", link->queue_max);
    json_put_double(json, "utilisation", utilisation(page, link));
    json_object_end(json);
}

/* What a network of packets counted, and its busiest links. */
static void put_traffic(struct json *json, const struct run_page *page)
{
    struct net_traffic t;

    if (!traffic_of(page, &t))
        return;
    json_key(json, "network");
    json_object_begin(json);
    for (enum net_count i = 0; i < NET_COUNTS; i++)
        json_put_uint(json, net_count_key(i), t.counts[i]);
    json_key(json, "busiest_links");
    json_array_begin(json);
    for (uint32_t i = 0; i < t.links; i++)
        put_link(json, page, &t.link[i]);
    json_array_end(json);
    json_object_end(json);
}

static void put_overcommit(struct json *json, const struct run_page *page)
{
    const struct run_overcommit *o = &page->end.overcommit;

    if (!o->ranks)
        return;
    json_put_double(json, "overcommitted", overcommit_factor(o));
    json_put_uint(json, "overcommitted_ranks", o->ranks);
    json_put_uint(json, "overcommitted_rank", o->rank);
    json_key(json, "overcommitted_at_s");
    json_decimal(json, (uint64_t)o->at, 12);
}

static void put_live(struct json *json, const struct run_live *l)
{
    json_put_uint(json, "inversions", l->inversions);
    json_put_uint(json, "forced_decisions", l->forced);
    json_put_uint(json, "late_messages", l->late);
    json_key(json, "reorder_window_s");
    json_decimal(json, (uint64_t)l->late_most, 12);
    json_key(json, "processor_wait_s");
    json_decimal(json, (uint64_t)l->kept, 12);
}

static const char *compute_name(const struct run_page *page)
{
    static const char *const names[] = {
        [RUN_COMPUTE_MEASURED] = "measured", [RUN_COMPUTE_NONE] = "none",
        [RUN_COMPUTE_COUNTERS] = "counters", [RUN_COMPUTE_TABLE] = "table",
        [RUN_COMPUTE_REPLAY] = "replay",
    };
    return names[page->opt.compute];
}

static void put_programs(struct json *json, const struct run_page *page,
                         const struct results_program *programs)
{
    json_key(json, "programs");
    json_array_begin(json);
    for (uint32_t i = 0; i < page->opt.app_count; i++) {
        const struct results_program *p = &programs[i];
        json_object_begin(json);
        json_key(json, "command");
        json_array_begin(json);
        for (char *const *word = p->words; *word; word++)
            json_string(json, *word);
        json_array_end(json);
        json_put_uint(json, "ranks", p->ranks);
        json_put_uint(json, "procs", p->procs);
        json_put_string(json, "host", run_host_kind(p->host)->word);
        json_put_string(json, "host_reason", p->host_reason);
        json_object_end(json);
    }
    json_array_end(json);
}

void results_json(const struct run_page *page, const struct results_program *programs,
                  const struct platform *machine, const struct run_outcome *outcome,
                  int exit_status, struct buf *out)
{
    struct json json;
    json_init(&json, out);
    json_object_begin(&json);
    json_put_uint(&json, "ranks", page->opt.ranks);
    json_put_uint(&json, "spawned", page->end.spawned);
    json_key(&json, "virtual_time_s");
    json_decimal(&json, (uint64_t)page->end.virtual_time, 12);
    json_put_uint(&json, "virtual_time_ps", (uint64_t)page->end.virtual_time);
    json_put_double(&json, "wall_s", outcome->wall_s);
    json_put_double(&json, "startup_s", page->end.startup_s);
    json_put_double(&json, "ratio", ratio(page, outcome));
    json_put_uint(&json, "peak_rss_bytes", peak_memory(page, outcome));
    json_put_uint(&json, "messages", page->end.messages);
    json_put_uint(&json, "bytes", page->end.bytes);
    json_put_uint(&json, "reads", page->end.access.io_ops[0]);
    json_put_uint(&json, "writes", page->end.access.io_ops[1]);
    json_put_uint(&json, "read_bytes", page->end.access.io_bytes[0]);
    json_put_uint(&json, "written_bytes", page->end.access.io_bytes[1]);
    json_key(&json, "io_time_s");
    json_decimal(&json, (uint64_t)page->end.access.io_time, 12);
    json_put_uint(&json, "one_sided", page->end.access.rma_ops);
    json_put_uint(&json, "one_sided_bytes", page->end.access.rma_bytes);
    if (page->opt.live)
        put_live(&json, &page->end.live);
    json_put_string(&json, "host", run_host_kind(page->opt.host)->word);
    json_put_string(&json, "host_reason", page->opt.host_reason);
    json_put_uint(&json, "procs", page->opt.procs);
    json_put_uint(&json, "processes", processes(page, programs));
    json_put_uint(&json, "rounds", page->end.rounds);
    json_put_uint(&json, "batches", page->end.batches);
    json_put_string(&json, "serial", serial(page));
    json_key(&json, "exit_status");
    json_int(&json, exit_status);
    json_put_string(&json, "cause", cause_name(page->end.cause));
    json_put_string(&json, "compute",
                    page->opt.live ? counted_name(&page->end.live) : compute_name(page));
    json_put_uint(&json, "private_bytes", page->end.private_bytes);
    json_put_uint(&json, "live_stack_max", page->end.live_stack_max);
    json_put_uint(&json, "own_stacks", page->end.own_stacks);
    json_put_double(&json, "median_slice_s", page->end.median_slice_s);
    json_put_double(&json, "computed_s", page->end.computed_s);
    json_put_double(&json, "left_out_s", page->end.left_out_s);
    json_put_uint(&json, "switches", page->end.switches);
    json_put_string(&json, "program", page->opt.program);
    if (page->opt.app_count > 1)
        put_programs(&json, page, programs);
    results_emulated_json(page, &json);
    put_traffic(&json, page);
    put_overcommit(&json, page);
    json_key(&json, "platform");
    platform_json(machine, &json);
    json_object_end(&json);
    json_fini(&json);
}
