/*
 * emulated.c - what an emulation measured, as text and as JSON (see emulated.h).
 */
#include "results/emulated.h"

#include "base/units.h"

#define LOST_PART 50 /* of the time of the run: so much may be lost by late calls */
#define MUCH 2       /* a part of the run differs from another if it is this many times as late */

/* The latest event among some intervals. */
static vtime latest(const struct run_emulated *e, uint32_t from, uint32_t to)
{
    vtime most = 0;

    for (uint32_t i = from; i < to; i++)
        if (e->trend[i] > most)
            most = e->trend[i];
    return most;
}

/* Do events get later and later? Compares the first and the last third of the run. */
static const char *trend(const struct run_emulated *e)
{
    uint32_t third = e->trend_bins / 3;
    vtime first = latest(e, 0, third), last = latest(e, e->trend_bins - third, e->trend_bins);

    if (third == 0 || (last <= e->tolerance && first <= e->tolerance))
        return "steady";
    return last > MUCH * first ? "rising" : first > MUCH * last ? "falling" : "steady";
}

static void add_factor(const struct run_emulated *e, struct buf *out)
{
    buf_addf(out, "  factor        %.4g", e->factor);
    if (e->factor_least < e->factor_most)
        buf_addf(out, " on average, from %.4g to %.4g", e->factor_least, e->factor_most);
    buf_addf(out, "; overhead of %.0f us per call compensated\n", (double)e->overhead_ns / 1000);
}

static void add_behind(const struct run_emulated *e, struct buf *out)
{
    char text[UNITS_TEXT_MAX], late[UNITS_TEXT_MAX];

    buf_addf(out, "  max behind    %s, %s", units_format_time(text, sizeof text, e->max_behind),
             trend(e));
    buf_addf(out, "; %s calls late", units_format_count(text, sizeof text, e->late_calls));
    if (e->late_calls)
        buf_addf(out, ", by up to %s", units_format_time(late, sizeof late, e->max_late));
    buf_addc(out, '\n');
}

/* Can the time of the run be relied on? Late calls make it longer by what they are late, at most.
 * Late events in themselves do not, unless a process waits for them. */
static int is_sure(const struct run_page *page)
{
    const struct run_emulated *e = &page->end.emulated;

    return e->max_behind <= e->tolerance && e->lost <= page->end.virtual_time / LOST_PART;
}

void results_emulated_text(const struct run_page *page, struct buf *out)
{
    const struct run_emulated *e = &page->end.emulated;
    char text[UNITS_TEXT_MAX], other[UNITS_TEXT_MAX];

    if (!page->opt.factor || !e->factor)
        return;
    buf_addf(out, "  matched       %s expected and %s unexpected messages\n",
             units_format_count(text, sizeof text, e->expected),
             units_format_count(other, sizeof other, e->unexpected));
    add_factor(e, out);
    add_behind(e, out);
    if (e->max_behind > e->tolerance)
        buf_addf(out, "  warning       events were late by more than this network's %s\n",
                 units_format_time(text, sizeof text, e->tolerance));
    if (!is_sure(page))
        buf_addf(
            out,
            "  warning       the time is not sure: calls were late by %s in all, by which it may"
            "\n                be too long; use a larger --factor, or a computer with less to do\n",
            units_format_time(other, sizeof other, e->lost));
    if (page->opt.ranks + 1 > e->cores)
        buf_addf(out,
                 "  note          %llu processes and the simulator share %u cores: the factor must be"
                 "\n                larger than with a core for each\n",
                 (unsigned long long)page->opt.ranks, e->cores);
}

/* ---- JSON ---- */

static void put_seconds(struct json *json, const char *key, vtime t)
{
    json_key(json, key);
    json_decimal(json, (uint64_t)t, 12);
}

static void put_count(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

/* The latest event in each interval of the run. */
static void put_trend(struct json *json, const struct run_emulated *e)
{
    json_key(json, "behind_trend");
    json_object_begin(json);
    json_key(json, "is");
    json_string(json, trend(e));
    put_seconds(json, "interval_s", e->trend_width);
    json_key(json, "max_behind_s");
    json_array_begin(json);
    for (uint32_t i = 0; i < e->trend_bins; i++)
        json_decimal(json, (uint64_t)e->trend[i], 12);
    json_array_end(json);
    json_object_end(json);
}

void results_emulated_json(const struct run_page *page, struct json *json)
{
    const struct run_emulated *e = &page->end.emulated;

    if (!page->opt.factor)
        return;
    json_put_double(json, "factor", e->factor);
    json_put_double(json, "factor_least", e->factor_least);
    json_put_double(json, "factor_most", e->factor_most);
    put_seconds(json, "scaled_run_time_s", page->end.virtual_time);
    put_seconds(json, "max_behind_s", e->max_behind);
    put_seconds(json, "tolerance_s", e->tolerance);
    put_seconds(json, "lost_s", e->lost);
    json_key(json, "is_sure");
    json_bool(json, is_sure(page));
    put_trend(json, e);
    put_count(json, "expected", e->expected);
    put_count(json, "unexpected", e->unexpected);
    put_count(json, "late_calls", e->late_calls);
    put_seconds(json, "max_late_s", e->max_late);
    json_put_double(json, "call_overhead_s", (double)e->overhead_ns * 1e-9);
    put_count(json, "events", e->events);
    put_count(json, "cores", e->cores);
}
