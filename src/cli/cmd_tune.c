/*
 * `orrery tune`: searches settings of the machine with which a program behaves as a reference trace says.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tables.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/groups.h"
#include "cli/notes.h"
#include "cli/outputs.h"
#include "cli/run_options.h"
#include "cli/sweep_range.h"
#include "cli/tune_run.h"
#include "cli/uses.h"
#include "cli/watch.h"

#define EVALUATIONS 80     /* for each parameter, and as many more */
#define TOLERANCE_PART 0.1 /* of the least error ... */
#define TOLERANCE_LEAST 0.002
#define GROUPS                                                                  \
    (1u << ANALYSIS_OVERALL | 1u << ANALYSIS_RANKS | 1u << ANALYSIS_FUNCTIONS | \
     1u << ANALYSIS_PHASES | 1u << ANALYSIS_PAIRS)

struct tune {
    struct cli_run run; /* what all runs have in common */
    const char *reference_path, *log_path, *output;
    struct tables reference;
    struct tune_setting settings[TUNE_PARAMETERS_MAX];
    struct tune_parameter parameters[TUNE_PARAMETERS_MAX];
    size_t count;
    char **fixed; /* settings with one value */
    size_t fixed_count;
    char **options; /* of every run, NULL at the end */
    size_t option_count;
    unsigned jobs, evaluations, groups;
    double tolerance; /* 0: by the error */
    int quiet, drawn;
    struct tune_run runs;
    atomic_int stop, is_done;
};

/* ---- options ---- */

static struct tune_parameter *find(struct tune *t, const char *key, size_t length)
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
static int add_bounds(struct tune *t, char *key, char *value, char *dots, struct err *err)
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

/* Keys live as long as argv does: the copy is never freed before the end of the process. */
static int set_set(void *into, const char *value, struct err *err)
{
    struct tune *t = into;
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
    struct tune *t = into;
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, ","), key = strcspn(at, "=");
        char text[64];
        const char *unit;
        struct tune_parameter *p = key < length ? find(t, at, key) : NULL;
        if (!p || length - key > sizeof text)
            return err_set(err, ERR_INPUT,
                           "'%.*s' is not KEY=VALUE of a setting with bounds before it",
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

static int read_count(const char *value, unsigned *out, struct err *err)
{
    uint64_t count;
    int rc = units_parse_count(value, &count, err);
    if (rc == 0 && (count < 1 || count > 1000000))
        rc = err_set(err, ERR_INPUT, "bad number '%s': expected 1 to 1000000", value);
    if (rc == 0)
        *out = (unsigned)count;
    return rc;
}

static int set_jobs(void *into, const char *value, struct err *err)
{
    return read_count(value, &((struct tune *)into)->jobs, err);
}

static int set_evaluations(void *into, const char *value, struct err *err)
{
    return read_count(value, &((struct tune *)into)->evaluations, err);
}

static int set_groups(void *into, const char *value, struct err *err)
{
    struct tune *t = into;
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
    ((struct tune *)into)->tolerance = *end ? part / 100 : part;
    return 0;
}

static int set_log(void *into, const char *value, struct err *err)
{
    ((struct tune *)into)->log_path = value;
    return *value ? 0 : err_set(err, ERR_INPUT, "the name is empty");
}

static int set_output(void *into, const char *value, struct err *err)
{
    ((struct tune *)into)->output = value;
    return *value ? 0 : err_set(err, ERR_INPUT, "the name is empty");
}

static int set_quiet(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct tune *)into)->quiet = 1;
    return 0;
}

static const struct cli_option options[] = {
    {"set", 0, NULL, "KEY=LOW..HIGH",
     "a setting to search, with its bounds; or KEY=VALUE: one that stays; may be repeated",
     set_set},
    {"start", 0, NULL, "KEY=VALUE", "where to begin, several with commas (default: the middle)",
     set_start},
    {"groups", 0, NULL, "LIST",
     "groups of statistics to compare (default overall,ranks,functions,phases,pairs)", set_groups},
    {"evaluations", 0, NULL, "N",
     "runs that the search may take (default 80 for each setting, and 80)", set_evaluations},
    {"tolerance", 0, NULL, "E",
     "errors that differ by less are as good as each other (default: a tenth of the least error, 0.2% at least)",
     set_tolerance},
    {"jobs", 'j', NULL, "JOBS",
     "runs at a time (default: cores; 1 if compute time is measured, which runs side by side would disturb)",
     set_jobs},
    {"log", 0, NULL, "FILE",
     "keep all evaluations there; a search that was interrupted goes on from it", set_log},
    {"output", 'o', NULL, "FILE", "write the machine that was found as a platform file",
     set_output},
    {"quiet", 'q', NULL, NULL, "no notes and no progress line", set_quiet},
    {0},
};

static void example(struct buf *out)
{
    buf_adds(
        out,
        "\nExample:\n"
        "  orrery record -n 4 -o real.orr ./app\n"
        "  orrery tune real.orr --set net.latency=1us..1ms --set net.bandwidth=100Mbps..100Gbps \\\n"
        "      -o found.yaml run -n 4 ./app\n");
}

static const struct cli_usage usage = {
    .command = "tune",
    .synopsis = "reference [options] run [run options] [--] program [arguments...]",
    .about =
        "Searches settings of the machine with which a program behaves as the reference says, which is a trace "
        "or statistics as XML: the least mean error of the groups of 'orrery compare'. Says how well each "
        "setting is determined. Exit status: 0, 2 for wrong usage or input, 3 for an internal failure, "
        "128 + signal if it was interrupted.",
    .options = options,
    .more = example,
    .arguments = CLI_ARGUMENTS_RUN,
};

/* ---- the runs' options ---- */

static void keep_words(struct tune *t, char *const *words, size_t count)
{
    t->options = mem_realloc(t->options, (t->option_count + count + 1) * sizeof *t->options);
    memcpy(t->options + t->option_count, words, count * sizeof *words);
    t->option_count += count;
    t->options[t->option_count] = NULL;
}

/* argv[0] is "run". */
static int read_run(struct tune *t, int argc, char **argv, struct err *err)
{
    static const char *const refused[] = {"json",  "stats",  "record-compute",
                                          "trace", "report", "worker"};
    int i = 1;
    keep_words(t, NULL, 0);
    while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0) {
        const struct cli_option *option;
        const char *value;
        int start = i, rc = cli_options_next(&cli_run_usage, argc, argv, &i, &option, &value, err);
        if (rc == 0)
            rc = cli_options_apply(option, value, argc, argv, &i, &t->run, err);
        for (size_t k = 0; rc == 0 && k < sizeof refused / sizeof refused[0]; k++)
            if (strcmp(option->name, refused[k]) == 0)
                rc = err_set(err, ERR_INPUT, "--%s: all runs would write the same file",
                             option->name);
        if (rc)
            return rc;
        keep_words(t, argv + start, (size_t)(i - start));
    }
    i += i < argc && strcmp(argv[i], "--") == 0;
    if (i >= argc)
        return err_set(
            err, ERR_INPUT,
            "no program given, as in: orrery tune REFERENCE --set net.latency=1us..1ms run "
            "-n 4 ./app");
    t->runs.program = argv + i;
    for (size_t k = 0; k < t->fixed_count; k++)
        keep_words(t, (char *[]){"--set", t->fixed[k]}, 2);
    return 0;
}

/* ---- the machine ---- */

/* That of some values, if it can be simulated and uses them all. */
static int make_machine(struct tune *t, const double *values, struct platform *out, struct err *err)
{
    struct cli_machine given = {.platform = t->run.given.platform};
    struct cli_size size;
    struct buf notes;
    char *sets = tune_run_text(&t->runs, values);
    for (size_t i = 0; i < t->run.given.set_count; i++)
        cli_machine_add(&given, t->run.given.sets[i]);
    for (size_t i = 0; i < t->fixed_count; i++)
        cli_machine_add(&given, t->fixed[i]);
    cli_machine_add(&given, sets);
    int rc = cli_machine_make(&given, out, err);
    if (rc == 0) {
        buf_init(&notes);
        rc = cli_machine_check(&given, out, &size, err);
        if (rc == 0)
            rc = cli_uses_check(&given, out, &notes, err);
        buf_fini(&notes);
        if (rc)
            platform_fini(out);
    }
    cli_machine_fini(&given);
    mem_free(sets);
    return rc;
}

static int check_bounds(struct tune *t, struct err *err)
{
    int rc = t->count ? 0
                      : err_set(err, ERR_INPUT,
                                "nothing to search: give bounds, as in --set net.latency=1us..1ms");
    for (int high = 0; high < 2 && rc == 0; high++) {
        double values[TUNE_PARAMETERS_MAX];
        struct platform p;
        for (size_t i = 0; i < t->count; i++)
            values[i] = high ? t->parameters[i].high : t->parameters[i].low;
        rc = make_machine(t, values, &p, err);
        if (rc == 0)
            platform_fini(&p);
    }
    return rc;
}

static int write_machine(struct tune *t, const double *values, struct err *err)
{
    struct platform p;
    struct buf text;
    if (!t->output)
        return 0;
    int rc = make_machine(t, values, &p, err);
    if (rc)
        return rc;
    buf_init(&text);
    platform_write(&p, cli_uses_setting, &text);
    rc = buf_write_file(&text, t->output, err);
    buf_fini(&text);
    platform_fini(&p);
    return rc;
}

/* ---- the search ---- */

static void erase(struct tune *t)
{
    if (t->drawn)
        sys_write_all(STDERR_FILENO, "\r\033[K", 4);
    t->drawn = 0;
}

static void progress(void *owner, unsigned done, unsigned most, double least)
{
    struct tune *t = (struct tune *)((char *)owner - offsetof(struct tune, runs));
    char line[128];
    if (t->quiet || !isatty(STDERR_FILENO))
        return;
    int length = done <= most
                     ? snprintf(line, sizeof line, "\r%u of %u runs, least error %.3g%%\033[K  ",
                                done, most, 100 * least)
                     : snprintf(line, sizeof line,
                                "\r%u runs, how well the settings are determined\033[K  ", done);
    sys_write_all(STDERR_FILENO, line, (size_t)length);
    t->drawn = 1;
}

/* Signals end the search. */
static void *watch(void *argument)
{
    struct tune *t = argument;
    int signals = cli_watch_signals();
    struct pollfd readable = {.fd = signals, .events = POLLIN};
    while (!atomic_load(&t->is_done)) {
        poll(&readable, 1, 100);
        for (int number; (number = cli_watch_signal(signals)) != 0;)
            if (number != SIGCHLD)
                atomic_store(&t->stop, number);
    }
    close(signals);
    return NULL;
}

static void choose_jobs(struct tune *t)
{
    cpu_set_t set;
    int measured = t->run.opt.compute == RUN_COMPUTE_MEASURED;
    if (t->jobs && t->jobs > 1 && measured && !t->quiet)
        log_warn(
            "runs side by side disturb compute times, which are measured: use -j 1 or --compute none");
    if (!t->jobs && sched_getaffinity(0, sizeof set, &set) == 0)
        t->jobs = measured ? 1 : (unsigned)CPU_COUNT(&set);
    if (!t->jobs)
        t->jobs = 1;
}

/* What the log is about: another search must not go on from it. */
static char *describe(const struct tune *t)
{
    struct buf text;
    buf_init(&text);
    buf_adds(&text, t->reference_path);
    for (size_t i = 0; i < t->count; i++)
        buf_addf(&text, " %s=%g..%g", t->settings[i].key, t->parameters[i].low,
                 t->parameters[i].high);
    buf_addf(&text, " groups=%x run", t->groups);
    for (size_t i = 0; t->options[i]; i++)
        buf_addf(&text, " %s", t->options[i]);
    for (char *const *word = t->runs.program; *word; word++)
        buf_addf(&text, " %s", *word);
    char *copy = mem_strdup(buf_str(&text));
    for (char *at = copy; *at; at++)
        if (*at == '\n')
            *at = ' ';
    buf_fini(&text);
    return copy;
}

static int search(struct tune *t, struct tune_result *result, struct err *err)
{
    struct tune_log log;
    char *about = describe(t);
    pthread_t watcher;
    int rc = tune_log_open(&log, t->log_path, about, t->count, err);
    mem_free(about);
    if (rc)
        return rc;
    struct tune_problem p = {.parameters = t->parameters,
                             .count = t->count,
                             .evaluate = tune_run_evaluate,
                             .progress = progress,
                             .owner = &t->runs,
                             .jobs = t->jobs,
                             .evaluations = t->evaluations,
                             .tolerance = t->tolerance,
                             .least_tolerance = TOLERANCE_LEAST,
                             .tolerance_part = TOLERANCE_PART,
                             .stop = &t->stop,
                             .log = &log};
    cli_watch_block(&t->runs.mask);
    int watched = pthread_create(&watcher, NULL, watch, t) == 0;
    rc = tune_search(&p, result, err);
    atomic_store(&t->is_done, 1);
    if (watched)
        pthread_join(watcher, NULL);
    sigprocmask(SIG_SETMASK, &t->runs.mask, NULL);
    erase(t);
    tune_log_close(&log);
    return rc;
}

/* ---- results ---- */

static void add_percent(struct buf *out, double factor)
{
    double percent = 100 * (factor - 1);
    if (fabs(percent) < 100)
        buf_addf(out, "%+.*f%%", fabs(percent) < 9.95, percent);
    else
        buf_addf(out, "x%.3g", factor);
}

static void say_width(const struct tune *t, size_t i, const struct tune_result *r, struct buf *out)
{
    const struct tune_width *w = &r->widths[i];
    const struct tune_parameter *p = &t->parameters[i];
    char low[64], high[64];
    sweep_number_text(w->low, t->settings[i].unit, low, sizeof low);
    sweep_number_text(w->high, t->settings[i].unit, high, sizeof high);
    if (w->low <= p->low && w->high >= p->high) {
        buf_adds(out, "not determined: it has no effect that can be told");
        return;
    }
    if (w->is_open || w->high_factor > 3 * w->low_factor) {
        buf_addf(out, "poorly determined");
        if (w->partner >= 0)
            buf_addf(out, ": %s makes up for it", t->settings[w->partner].key);
        buf_addf(out, "; alone %s to %s", low, high);
        return;
    }
    buf_adds(out, "within ");
    add_percent(out, r->values[i] ? w->low_factor : 1);
    buf_adds(out, " ");
    add_percent(out, r->values[i] ? w->high_factor : 1);
    if (w->partner >= 0)
        buf_addf(out, ", with %s", t->settings[w->partner].key);
}

static void say_result(struct tune *t, const struct tune_result *r, struct buf *out)
{
    double groups[ANALYSIS_GROUPS];
    char number[64];
    buf_addf(out, "%s after %u runs%s: mean error %.3g%%\n\n",
             r->is_stopped ? "interrupted" : "found", r->evaluations + r->repeated,
             r->repeated && !r->evaluations ? ", all in the log" : "", 100 * r->error);
    for (size_t i = 0; i < t->count; i++) {
        sweep_number_text(r->values[i], t->settings[i].unit, number, sizeof number);
        buf_addf(out, "  %-20s %-14s ", t->settings[i].key, number);
        if (!r->is_stopped)
            say_width(t, i, r, out);
        buf_adds(out, "\n");
    }
    for (int g = 0; g < ANALYSIS_GROUPS; g++)
        groups[g] = NAN;
    if (!r->is_stopped && isfinite(tune_run_errors(&t->runs, r->values, groups))) {
        buf_adds(out, "\nerror by group:");
        for (int g = 0; g < ANALYSIS_GROUPS; g++)
            if (isfinite(groups[g]))
                buf_addf(out, " %s %.3g%%", analysis_groups[g].name, 100 * groups[g]);
        buf_adds(out, "\n");
    }
    char *sets = tune_run_text(&t->runs, r->values);
    buf_addf(out, "\nuse it with: --set %s\n", sets);
    mem_free(sets);
}

static int run_search(struct tune *t)
{
    struct tune_result result;
    struct err err;
    struct buf text;
    int rc = search(t, &result, &err);
    if (rc) {
        if (t->runs.why)
            log_error("%s", t->runs.why);
        return atomic_load(&t->stop) ? 128 + atomic_load(&t->stop) : cli_fail(&err);
    }
    if (t->runs.why && !t->quiet)
        log_warn("some runs failed, such as %s", t->runs.why);
    atomic_int stopped = atomic_load(&t->stop);
    atomic_store(&t->stop, 0);
    buf_init(&text);
    say_result(t, &result, &text);
    int status = cli_print(&text);
    buf_fini(&text);
    rc = write_machine(t, result.values, &err);
    return rc ? cli_fail(&err) : stopped ? 128 + stopped : status;
}

/* A trace, of any format that can be read, or statistics. */
static int read_reference(struct tune *t, struct err *warning, struct err *err)
{
    struct format_notes notes;
    char *temporary;
    format_notes_init(&notes);
    int rc = formats_native(t->reference_path, &temporary, &notes, err);
    cli_say_notes(t->reference_path, &notes);
    if (rc == 0)
        rc = tables_from_file(&t->reference, temporary ? temporary : t->reference_path, t->groups,
                              warning, err);
    formats_forget(temporary);
    return rc;
}

static int check(struct tune *t, struct err *err)
{
    const struct cli_output outputs[] = {{"--output", t->output}};
    struct err warning = {0};
    if (!t->groups)
        t->groups = GROUPS;
    if (!t->evaluations)
        t->evaluations = EVALUATIONS * (unsigned)(t->count + 1);
    int rc = cli_outputs_check(outputs, 1, err);
    if (rc == 0)
        rc = read_reference(t, &warning, err);
    if (rc == 0 && warning.code && !t->quiet)
        log_warn("%s", warning.text);
    return rc;
}

static int print_run_help(void)
{
    struct buf text;
    buf_init(&text);
    cli_options_help(&cli_run_usage, &text);
    int status = cli_print(&text);
    buf_fini(&text);
    return status;
}

static int tune_main(int argc, char **argv)
{
    static struct tune t; /* large, and there is one */
    struct err err = {0};
    int next, status;
    cli_run_init(&t.run);
    /* the reference comes before the options */
    if (argc > 1 && argv[1][0] != '-') {
        t.reference_path = argv[1];
        argv[1] = argv[0];
        argc--, argv++;
    }
    if (cli_begin(&usage, argc, argv, &t, &next, &status))
        return status;
    if (next < argc && !t.reference_path && strcmp(argv[next], "run") != 0)
        t.reference_path = argv[next++];
    int rc = !t.reference_path ? err_set(&err, ERR_INPUT,
                                         "no reference given, as in: orrery tune real.orr --set "
                                         "net.latency=1us..1ms run -n 4 ./app")
             : next >= argc || strcmp(argv[next], "run") != 0
                 ? err_set(&err, ERR_INPUT,
                           "expected 'run' before the program, as in: orrery tune real.orr --set "
                           "net.latency=1us..1ms run -n 4 ./app")
                 : 0;
    t.runs.settings = t.settings;
    t.runs.count = t.count;
    t.runs.stop = &t.stop;
    if (rc == 0)
        rc = read_run(&t, argc - next, argv + next, &err);
    if (rc == CLI_OPTIONS_HELP)
        return print_run_help();
    if (rc == 0)
        rc = check_bounds(&t, &err);
    if (rc == 0)
        rc = check(&t, &err);
    if (rc)
        return cli_fail(&err);
    t.runs.options = t.options;
    t.runs.reference = &t.reference;
    t.runs.groups = t.groups;
    choose_jobs(&t);
    if (tune_run_init(&t.runs, &err) != 0)
        return cli_fail(&err);
    status = run_search(&t);
    tune_run_fini(&t.runs);
    tables_fini(&t.reference);
    return status;
}

const struct cli_command cli_cmd_tune = {
    .summary = "search settings with which a program behaves as a trace says",
    .usage = &usage,
    .main = tune_main,
};
