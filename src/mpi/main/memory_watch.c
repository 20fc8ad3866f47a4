/*
 * memory_watch.c - ends the run before the memory is used up (see memory_watch.h).
 *
 * If ranks share the process, its use is that of the ranks. If they are processes, the first few
 * are measured one by one. The forecast is only a warning: the first ranks need not be like the
 * others.
 *
 * A rank may use up the memory within one turn. Then the watcher notices it (launch/watch.c).
 */
#include "mpi/main/memory_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "mpi/main/run.h"
#include "run/memory_need.h"

#define MEASURED 16 /* processes of ranks */
#define EARLY 16    /* ranks whose first turn is followed by a check */
#define ADVICE "use fewer ranks, more memory, or buffers without content (orrery_hollow)"

static struct {
    uint64_t reserve;
    uint64_t at_start;           /* free bytes */
    struct mem_use base;         /* of this process, before the first rank */
    struct run_forecast use;     /* memory */
    struct run_forecast limited; /* what a limit of this process limits */
    int said;
} memory;

void mpi_memory_init(void)
{
    memory.at_start = mem_available();
    memory.reserve = run_memory_reserve(mpi_world.opt->memory_reserve, memory.at_start);
    mem_use_of(0, &memory.base);
}

static uint64_t started(void)
{
    return engine_started(&mpi_world.engine);
}

static uint64_t here(void)
{
    return mpi_rank_map()->count;
}

int mpi_memory_is_early(void)
{
    return started() < EARLY && started() < here();
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* What ranks use, and how many of them. */
static uint64_t measure(uint64_t *ranks)
{
    struct mem_use now = memory.base, of;
    uint64_t bytes, most = started();

    mem_use_of(0, &now);
    bytes = minus(now.resident, memory.base.resident);
    *ranks = most;
    if (!vp_ranks_are_processes())
        return bytes;
    bytes = 0;
    for (*ranks = 0; *ranks < most && *ranks < MEASURED; (*ranks)++) {
        int32_t pid = vp_rank_pid(&mpi_world.ranks[*ranks].vp);

        if (pid <= 0 || mem_use_of(pid, &of) != 0)
            break;
        bytes += minus(of.resident, of.shared);
    }
    if (*ranks)
        mpi_world.page->now.memory_use = bytes / *ranks * most;
    return bytes;
}

/* ---- the forecast ---- */

/* The first of them may use much more than the others: `before`. */
static void warn(uint64_t before, uint64_t total, uint64_t each, uint64_t all, const char *have)
{
    char first[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX], one[UNITS_TEXT_MAX], sum[UNITS_TEXT_MAX];

    memory.said = 1;
    log_warn("the first ranks use %s each%s%s; if the others need as much, memory will run out: "
             "%s%s x %s = %s, and %s; " ADVICE,
             units_format_bytes(one, sizeof one, each),
             before > 2 * each ? ", after the first " : "",
             before > 2 * each ? units_format_bytes(first, sizeof first, before) : "",
             before > 2 * each ? "with it, " : "", units_format_count(count, sizeof count, total),
             one, units_format_bytes(sum, sizeof sum, all), have);
}

static void foresee_use(uint64_t ranks, uint64_t bytes)
{
    const struct run_options *o = mpi_world.opt;
    uint64_t total = o->spread ? here() : mpi_world.size, each, all;
    uint64_t least = vp_ranks_are_processes() ? 0 : run_forecast_least(memory.at_start);
    char free_text[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX + 20];

    if (!run_forecast_add(&memory.use, ranks, bytes, least, total, &each, &all) ||
        memory.at_start == 0 || all <= memory.at_start)
        return;
    snprintf(have, sizeof have, "%s were free at the start",
             units_format_bytes(free_text, sizeof free_text, memory.at_start));
    warn(memory.use.bytes / memory.use.ranks, total, each, all, have);
}

/* Ranks in one process share its limit. */
static void foresee_limit(void)
{
    struct mem_limit l;
    uint64_t each, all, base, room;
    char limit[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX + 40];

    if (memory.said || vp_ranks_are_processes() || !mem_limit_find(&l))
        return;
    base = strcmp(l.name, "ulimit -v") == 0 ? memory.base.mapped : memory.base.data;
    room = minus(l.limit, base);
    if (!run_forecast_add(&memory.limited, started(), minus(l.used, base), run_forecast_least(room),
                          here(), &each, &all) ||
        all <= room)
        return;
    snprintf(have, sizeof have, "'%s' allows %s", l.name,
             units_format_bytes(limit, sizeof limit, l.limit));
    warn(memory.limited.bytes / memory.limited.ranks, here(), each, all, have);
}

/* ---- the end ---- */

void mpi_memory_end(uint64_t left)
{
    static char text[400];
    char size[UNITS_TEXT_MAX], use[UNITS_TEXT_MAX];
    struct mem_use now = {0}, rank = {0};
    int is_asked = mpi_world.opt->memory_reserve != RUN_MEMORY_AUTO;

    mpi_world.page->now.memory_left = left; /* so that the watcher does not ask for it, too */
    mem_use_of(0, &now);
    if (mpi_world.page->now.current_pid > 0 && mpi_world.page->now.memory_use == 0)
        mem_use_of(mpi_world.page->now.current_pid, &rank);
    snprintf(
        text, sizeof text,
        "memory is running out: %s left%s, %s used by the run, with %llu of %llu ranks started; " ADVICE
        ", or let the run go on with --memory-reserve 0",
        units_format_bytes(size, sizeof size, left), is_asked ? ", less than --memory-reserve" : "",
        units_format_bytes(use, sizeof use,
                           now.resident + rank.resident + mpi_world.page->now.memory_use),
        (unsigned long long)started(),
        (unsigned long long)here() + engine_spares_started(&mpi_world.engine));
    mpi_end_early(RUN_CAUSE_MEMORY, 3, text);
}

void mpi_memory_check(void)
{
    uint64_t left, ranks, bytes = measure(&ranks);

    if (!memory.said && !mpi_world.opt->quiet && started() < here()) {
        if (mpi_world.opt->spread || mpi_rank_map()->proc == 0) /* one says it for all */
            foresee_use(ranks, bytes);
        foresee_limit();
    }
    if (memory.reserve == 0)
        return;
    left = mem_available();
    if (left &&
        run_memory_is_short(mpi_world.opt->memory_reserve, memory.reserve, left,
                            vp_ranks_are_processes() ? mpi_world.page->now.memory_use : bytes))
        mpi_memory_end(left);
}

void mpi_memory_explain(int error, char *text, size_t size)
{
    char used[UNITS_TEXT_MAX], of[UNITS_TEXT_MAX], state[160] = "";
    size_t n = strlen(text);
    struct mem_limit l;
    uint64_t left = mem_available();

    if (error != ENOMEM)
        return;
    if (mem_limit_find(&l))
        snprintf(state, sizeof state, "%s of the %s are in use that '%s' allows a process",
                 units_format_bytes(used, sizeof used, l.used),
                 units_format_bytes(of, sizeof of, l.limit), l.name);
    else
        snprintf(state, sizeof state, "%s are free", units_format_bytes(used, sizeof used, left));
    snprintf(text + n, size - n,
             "\n    memory ran out: an allocation had failed (ENOMEM); %s, and %llu of %llu ranks "
             "have started; " ADVICE,
             state, (unsigned long long)started(), (unsigned long long)here());
}
