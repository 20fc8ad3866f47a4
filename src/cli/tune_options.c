/*
 * tune_options.c - parses the options of `orrery tune` (see tune_options.h).
 */
#define _GNU_SOURCE 1
#include "cli/tune_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/groups.h"
#include "cli/shared.h"
#include "experiment/sweep_range.h"

#define EVALUATIONS_MAX 1000000

static struct tune_parameter *find(struct cli_tune *t, const char *key, size_t length)
{
    for (size_t i = 0; i < t->count; i++)
        if (strlen(t->settings[i].key) == length && strncmp(t->settings[i].key, key, length) == 0)
            return &t->parameters[i];
    return NULL;
}

static int is_whole(const char *unit, double low, double high, const char *text)
{
    return strcmp(unit, "B") == 0 ||
           (!*unit && !strchr(text, '.') && low == floor(low) && high - low > 1);
}

/* "1us..1ms" */
static int add_bounds(struct cli_tune *t, char *key, char *value, char *dots, struct err *err)
{
    const char *unit, *other;
    *dots = '\0';
    double low = sweep_number(value, &unit), high = sweep_number(dots + 2, &other);
    if (!isfinite(low) || !isfinite(high) || strcmp(low == 0 && !*unit ? other : unit, other) != 0)
        return err_set(err, ERR_INPUT,
                       "bad bounds '%s..%s' of %s: expected two values with the same unit, such as "
                       "1us..1ms",
                       value, dots + 2, key);
    if (!(low < high))
        return err_set(err, ERR_INPUT,
                       "bad bounds '%s..%s' of %s: the first is not below the second", value,
                       dots + 2, key);
    if (t->count == TUNE_PARAMETERS_MAX)
        return err_set(err, ERR_INPUT, "more than %d parameters", TUNE_PARAMETERS_MAX);
    if (find(t, key, strlen(key)))
        return err_set(err, ERR_INPUT, "%s was given twice", key);
    t->settings[t->count] = (struct tune_setting){key, other};
    t->parameters[t->count++] = (struct tune_parameter){
        .low = low,
        .high = high,
        .is_log = low > 0 && high / low >= 4,
        .is_whole = is_whole(other, low, high, value),
        .start = low > 0 ? sqrt(low * high) : (low + high) / 2,
    };
    return 0;
}

/* Keys live as long as argv: the copy is not freed before the process ends. */
static int set_set(void *into, const char *value, struct err *err)
{
    struct cli_tune *t = into;
    char *copy = mem_strdup(value), *equals = strchr(copy, '='), *dots = strstr(copy, "..");
    if (!equals || equals == copy)
        return err_set(err, ERR_INPUT, "bad setting '%s': expected KEY=LOW..HIGH or KEY=VALUE",
                       value);
    if (dots && dots > equals) {
        *equals = '\0';
        return add_bounds(t, copy, equals + 1, dots, err);
    }
    t->fixed = mem_realloc(t->fixed, (t->fixed_count + 1) * sizeof *t->fixed);
    t->fixed[t->fixed_count++] = copy;
    return 0;
}

static int set_start(void *into, const char *value, struct err *err)
{
    struct cli_tune *t = into;
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, ","), key = strcspn(at, "=");
        char text[64];
        const char *unit;
        struct tune_parameter *p = key < length ? find(t, at, key) : NULL;
        if (!p || length - key > sizeof text)
            return err_set(
                err, ERR_INPUT,
                "bad start '%.*s': expected KEY=VALUE of a setting whose bounds were given before",
                (int)length, at);
        snprintf(text, sizeof text, "%.*s", (int)(length - key - 1), at + key + 1);
        p->start = sweep_number(text, &unit);
        if (!(p->start >= p->low && p->start <= p->high))
            return err_set(err, ERR_INPUT, "'%s' is not within the bounds of %.*s", text, (int)key,
                           at);
        at += length + (at[length] == ',');
    }
    return 0;
}

static int set_jobs(void *into, const char *value, struct err *err)
{
    return cli_runs_parse_jobs(value, &((struct cli_tune *)into)->jobs, err);
}

static int set_evaluations(void *into, const char *value, struct err *err)
{
    uint64_t count;
    int rc = units_parse_count(value, &count, err);
    if (rc == 0 && (count < 1 || count > EVALUATIONS_MAX))
        rc = err_set(err, ERR_INPUT, "bad number of runs '%s': expected 1 to %d", value,
                     EVALUATIONS_MAX);
    if (rc == 0)
        ((struct cli_tune *)into)->evaluations = (unsigned)count;
    return rc;
}

static int set_groups(void *into, const char *value, struct err *err)
{
    struct cli_tune *t = into;
    char *copy = mem_strdup(value), *rest = copy, *name;
    int rc = 0;
    t->groups = 0;
    while (rc == 0 && (name = strsep(&rest, ","))) {
        unsigned group = cli_group_find(name, NULL, err);
        t->groups |= group;
        rc = group ? 0 : err->code;
    }
    mem_free(copy);
    return rc;
}

static int set_tolerance(void *into, const char *value, struct err *err)
{
    char *end;
    double part = strtod(value, &end);
    if (end == value || (*end && strcmp(end, "%") != 0) || !(part > 0))
        return err_set(err, ERR_INPUT, "bad tolerance '%s': expected a number such as 0.01 or 1%%",
                       value);
    ((struct cli_tune *)into)->tolerance = *end ? part / 100 : part;
    return 0;
}

static int set_log(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_tune *)into)->log_path, value, err);
}

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_tune *)into)->output, value, err);
}

static int set_json(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_tune *)into)->json, value, err);
}

static int set_quiet(void *into, const char *value, struct err *err)
{
    ((struct cli_tune *)into)->quiet = 1;
    return cli_shared_quiet(into, value, err);
}

static int set_platform(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_tune *)into)->platform, value, err);
}

#define FLAG(function, number)                                          \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        (void)value, (void)err;                                         \
        ((struct cli_tune *)into)->progress = number;                   \
        return 0;                                                       \
    }
FLAG(set_progress, 1)
FLAG(set_no_progress, 0)
#undef FLAG

static const struct cli_option options[] = {
    {CLI_SHARED_PLATFORM, set_platform},
    {CLI_NAMED_SET, "KEY=LOW..HIGH",
     "a setting to find, with its bounds; or KEY=VALUE: one that stays the same; may be repeated",
     set_set},
    {"start", 0, NULL, "KEY=VALUE",
     "where to start; several are separated by commas (default: the middle)", set_start},
    {"groups", 0, NULL, "LIST",
     "groups of statistics to compare (default overall,ranks,functions,phases,pairs)", set_groups},
    {"evaluations", 0, NULL, "N",
     "runs that the search may use (default: 80 for each setting, and 80 more)", set_evaluations},
    {"tolerance", 0, NULL, "E",
     "errors that differ by less count as equal (default: a tenth of the least error, at least 0.2%)",
     set_tolerance},
    {CLI_SHARED_JOBS, set_jobs},
    {"log", 0, NULL, "FILE",
     "store all evaluations there; a search that was interrupted continues from it", set_log},
    {CLI_NAMED_OUTPUT, "FILE", "write the machine that was found as a platform file", set_output},
    {CLI_SHARED_JSON, set_json},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static void example(struct buf *out)
{
    buf_adds(out, "\nExample:\n"
                  "  orrery record -n 4 -o real.orr ./app\n"
                  "  orrery tune real.orr --set net.latency=1us..1ms \\\n"
                  "      --set net.bandwidth=100Mbps..100Gbps -o found.yaml run -n 4 ./app\n");
}

const struct cli_usage cli_tune_usage = {
    .command = "tune",
    .synopsis = "reference [options] run [run options] [--] program [arguments...]",
    .about =
        "Finds settings of the machine with which a program behaves as in the reference, which is a trace "
        "or statistics as XML: those with the least mean error of the groups of 'orrery compare'. Tells how well each "
        "setting is determined. 'replay TRACE' in place of 'run' and a program replays a trace. Exit status: 0, 2 for wrong usage or input, 3 for an internal failure, "
        "128 + signal if it was interrupted.",
    .options = options,
    .more = example,
    .arguments = CLI_ARGUMENTS_RUN,
};
