/*
 * cmd_sweep.c - `orrery sweep`: runs a program on a grid of machines, and reports.
 *
 * The options of `orrery run` after the word "run" are parsed here, too: those that choose the
 * machine or the number of ranks are dimensions of the grid, the others are passed to every run.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cli/cli.h"
#include "cli/outputs.h"
#include "cli/replay_command.h"
#include "cli/runs.h"
#include "cli/shared.h"
#include "cli/uses.h"
#include "experiment/sweep_report.h"
#include "program/program.h"
#include "whatif/whatif.h"

struct sweep {
    struct cli_runs runs;
    struct sweep_grid grid;
    const char *csv, *plot, *json, *keep, *x, *baseline;
    unsigned jobs; /* 0: not given */
    int quiet;
    int progress;      /* 1 yes, 0 no, -1: if standard error is a terminal */
    int to_error;      /* standard output is for results; the table goes to standard error */
    unsigned declares; /* how the program declares compute time */
    struct sweep_result *results;
    struct sweep_report report;
    size_t next, rows; /* the next point of the table, and how many rows were written */
    size_t plot_dim;
};

/* ---- options ---- */

static int set_sets(void *into, const char *value, struct err *err)
{
    return sweep_grid_add_sets(&((struct sweep *)into)->grid, value, err);
}

static int set_ranks(void *into, const char *value, struct err *err)
{
    return sweep_grid_add(&((struct sweep *)into)->grid, SWEEP_RANKS, value, err);
}

static int set_platforms(void *into, const char *value, struct err *err)
{
    return sweep_grid_add(&((struct sweep *)into)->grid, SWEEP_PLATFORM, value, err);
}

static int set_collectives(void *into, const char *value, struct err *err)
{
    return sweep_grid_add(&((struct sweep *)into)->grid, "mpi.collectives", value, err);
}

static int set_what_if(void *into, const char *value, struct err *err)
{
    struct whatif_list list = {0};
    int rc = strcmp(value, SWEEP_NO_CHANGE) == 0 ? 0 : whatif_parse(&list, value, err);
    whatif_fini(&list);
    return rc ? rc : sweep_grid_add_value(&((struct sweep *)into)->grid, SWEEP_WHAT_IF, value, err);
}

static int set_jobs(void *into, const char *value, struct err *err)
{
    return cli_runs_parse_jobs(value, &((struct sweep *)into)->jobs, err);
}

#define TEXT(function, member)                                                \
    static int function(void *into, const char *value, struct err *err)       \
    {                                                                         \
        return cli_options_text(&((struct sweep *)into)->member, value, err); \
    }
TEXT(set_csv, csv)
TEXT(set_plot, plot)
TEXT(set_json, json)
TEXT(set_keep, keep)
TEXT(set_x, x)
TEXT(set_baseline, baseline)
#undef TEXT

static int set_quiet(void *into, const char *value, struct err *err)
{
    ((struct sweep *)into)->quiet = 1;
    return cli_shared_quiet(into, value, err);
}

#define FLAG(function, number)                                          \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        (void)value, (void)err;                                         \
        ((struct sweep *)into)->progress = number;                      \
        return 0;                                                       \
    }
FLAG(set_progress, 1)
FLAG(set_no_progress, 0)
#undef FLAG

static const struct cli_option options[] = {
    {CLI_NAMED_SET, "KEY=LIST", "values of a setting; may be repeated", set_sets},
    {CLI_NAMED_RANKS, "LIST", "numbers of ranks", set_ranks},
    {CLI_NAMED_PLATFORM, "LIST", "machines: presets or files that end in .yaml", set_platforms},
    {CLI_NAMED_COLLECTIVES, "LIST",
     "how collectives are carried out; short for --set mpi.collectives=LIST", set_collectives},
    {CLI_NAMED_WHAT_IF, "WHAT",
     "a hypothesis for 'replay', as in 'orrery replay', or 'nothing'; may be repeated, each is a point",
     set_what_if},
    {CLI_SHARED_JOBS, set_jobs},
    {"baseline", 0, NULL, "KEY=VALUE",
     "the point, or several KEY=VALUE with commas, that ratios refer to (default: the first)",
     set_baseline},
    {CLI_NAMED_OUTPUT, "FILE", "write the table as CSV", set_csv},
    {CLI_SHARED_PLOT, set_plot},
    {"x", 0, NULL, "KEY", "what the plot is drawn over (default: the first with several values)",
     set_x},
    {CLI_SHARED_JSON, set_json},
    {"keep", 0, NULL, "DIR", "keep output and summary of each point in a folder", set_keep},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static void lists_help(struct buf *out)
{
    buf_adds(out,
             "\nLists:\n"
             "  A,B,C           values with commas between them\n"
             "  1us..1ms*10     1us, 10us, 100us, 1ms\n"
             "  0..1+0.25       0, 0.25, 0.5, 0.75, 1\n"
             "\nExample:\n"
             "  orrery sweep --set net.latency=1us,10us --set net.bandwidth=1Gbps,10Gbps \\\n"
             "      -o out.csv --plot out.svg run -n 64 --compute none ./app\n"
             "\n'orrery help settings' lists the settings, 'orrery run --help' the options that\n"
             "may follow 'run'.\n");
}

static const struct cli_usage usage = {
    .command = "sweep",
    .synopsis = "[options] run [run options] [--] program [arguments...]",
    .about =
        "Runs a program for every combination of values, several at a time, and prints a table. "
        "The "
        "program's own output is not shown. --set, -n, --platform and --collectives may also "
        "follow 'run'. 'replay TRACE' in place of 'run' and a program replays a trace. "
        "Exit status: 0, 1 if a run failed, 2 for wrong usage or input, 3 for an internal failure.",
    .options = options,
    .more = lists_help,
    .arguments = CLI_ARGUMENTS_RUN,
};

/* ---- options of the runs ---- */

static int is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return 1;
    return 0;
}

/* Options that choose the machine or the number of ranks are dimensions. */
static int take_dimension(void *owner, const struct cli_option *option, const char *value,
                          struct err *err)
{
    static const char *const dimensions[] = {"set", "ranks", "platform", "collectives", NULL};
    if (!is_one_of(option->name, dimensions))
        return 0;
    const struct cli_option *own = options;
    while (strcmp(own->name, option->name) != 0)
        own++;
    return own->set(owner, value, err) ? err_prefix(err, "--%s", own->name) : 1;
}

/* ---- checks before anything runs ---- */

/* Reports settings that points do not use, once. */
static int check_uses(const struct sweep *s, const struct cli_machine *given,
                      const struct platform *p, struct buf *notes, struct err *err)
{
    struct buf text;
    buf_init(&text);
    int rc = cli_uses_check(given, p, &text, err);
    if (rc == 0)
        rc = cli_uses_check_compute(given, &s->runs.common, s->declares, err);
    if (rc == 0 && text.len && !(notes->len && strstr(buf_str(notes), buf_str(&text))))
        buf_adds(notes, buf_str(&text));
    buf_fini(&text);
    return rc;
}

/* The machine of a point. */
static int check_machine(const struct sweep *s, size_t point, struct buf *notes, struct err *err)
{
    const struct sweep_grid *g = &s->grid;
    struct cli_machine given = {0};
    struct cli_size size;
    struct platform p;
    struct buf *texts = mem_zalloc((g->count + 1) * sizeof *texts);
    for (size_t i = 0; i < g->count; i++) {
        const char *value = sweep_grid_value(g, point, i)->text;
        if (strcmp(g->dims[i].key, SWEEP_PLATFORM) == 0) {
            given.platform = value;
        } else if (strcmp(g->dims[i].key, SWEEP_RANKS) != 0 &&
                   strcmp(g->dims[i].key, SWEEP_WHAT_IF) != 0) {
            buf_addf(&texts[i], "%s=%s", g->dims[i].key, value);
            cli_machine_add(&given, buf_str(&texts[i]));
        }
    }
    int rc = cli_machine_make(&given, &p, err);
    if (rc == 0) {
        rc = cli_machine_check(&given, &p, &size, err);
        if (rc == 0)
            rc = check_uses(s, &given, &p, notes, err);
        platform_fini(&p);
    }
    cli_machine_fini(&given);
    for (size_t i = 0; i < g->count; i++)
        buf_fini(&texts[i]);
    mem_free(texts);
    return rc;
}

static int check_ranks(struct sweep *s, struct err *err)
{
    const struct sweep_dim *dim = sweep_grid_find(&s->grid, SWEEP_RANKS);
    const struct cli_option *option = cli_run_usage.options;
    int rc = 0;
    if (!dim)
        return err_set(err, ERR_INPUT,
                       "how many ranks? give -n N, as in: orrery sweep -n 4,16,64 run ./app");
    while (strcmp(option->name, "ranks") != 0)
        option++;
    for (size_t i = 0; i < dim->count && rc == 0; i++)
        rc = option->set(&s->runs.common, dim->values[i].text, err);
    return rc ? err_prefix(err, "--ranks") : 0;
}

/* Checks every value together with the first values of the other dimensions. Impossible
 * combinations are found when they run. */
static int check_values(const struct sweep *s, struct buf *notes, struct err *err)
{
    const struct sweep_grid *g = &s->grid;
    size_t stride = sweep_grid_points(g);
    int rc = check_machine(s, 0, notes, err);
    for (size_t i = 0; i < g->count; i++) {
        stride /= g->dims[i].count;
        for (size_t k = 1; k < g->dims[i].count && rc == 0; k++)
            if (strcmp(g->dims[i].key, SWEEP_RANKS) != 0)
                rc = check_machine(s, k * stride, notes, err);
    }
    return rc;
}

static int check_settings(const struct sweep *s, struct err *err)
{
    struct buf notes;
    buf_init(&notes);
    int rc = check_values(s, &notes, err);
    if (rc == 0 && !s->quiet)
        cli_uses_say(&notes);
    buf_fini(&notes);
    return rc;
}

static int check_program(const char *given, unsigned *declares, struct err *err)
{
    struct program program = {0};
    int rc = program_inspect(&program, given, err);
    if (rc)
        return rc;
    *declares |= program.declares;
    if (program.refused)
        rc = err_set(err, ERR_INPUT, "cannot simulate '%s': it %s", given, program.why.text);
    program_fini(&program);
    return rc;
}

static int choose_x(struct sweep *s, struct err *err)
{
    const struct sweep_dim *dim = s->x ? sweep_grid_find(&s->grid, s->x) : NULL;
    if (s->x && (!dim || !sweep_dim_varies(dim)))
        return err_set(err, ERR_INPUT, "--x: '%s' has only one value in this sweep", s->x);
    for (size_t i = 0; i < s->grid.count && !dim; i++)
        if (sweep_dim_varies(&s->grid.dims[i]))
            dim = &s->grid.dims[i];
    if (s->plot && !dim)
        return err_set(err, ERR_INPUT,
                       "--plot: there is only one point: give a setting several values");
    s->plot_dim = dim ? (size_t)(dim - s->grid.dims) : 0;
    return 0;
}

static int check(struct sweep *s, struct err *err)
{
    const struct cli_output outputs[] = {{"--output", s->csv},
                                         {"--plot", s->plot},
                                         {"--json", s->json}};
    int rc = check_ranks(s, err);
    for (size_t i = 0; i < s->runs.common.job.apps.count && rc == 0; i++)
        rc = check_program(s->runs.common.job.apps.at[i].words.at[0], &s->declares, err);
    if (rc == 0)
        rc = check_settings(s, err);
    if (rc == 0)
        rc = choose_x(s, err);
    if (rc == 0 && s->baseline &&
        (rc = sweep_grid_locate(&s->grid, s->baseline, &s->report.baseline, err)))
        err_prefix(err, "--baseline");
    if (rc == 0)
        rc = cli_outputs_check_svg("--plot", s->plot, err);
    s->to_error = cli_is_stdout(s->csv) || cli_is_stdout(s->plot) || cli_is_stdout(s->json);
    return rc ? rc : cli_outputs_check(outputs, sizeof outputs / sizeof outputs[0], err);
}

/* ---- results ---- */

/* Writes the rows before the first point that is not done; at the end all rows. */
static void write_rows(struct sweep *s, int end)
{
    struct buf text;
    size_t points = sweep_grid_points(&s->grid);
    buf_init(&text);
    for (; s->next < points && (end || s->results[s->report.baseline].done); s->next++) {
        if (!s->results[s->next].done && !end)
            break;
        if (!s->results[s->next].done)
            continue;
        if (s->rows++ == 0)
            sweep_table_head(&s->report, &text);
        sweep_table_row(&s->report, s->next, &text);
    }
    if (text.len && s->to_error)
        cli_tell(&text);
    else if (text.len)
        cli_print(&text);
    buf_fini(&text);
}

static void on_done(void *context, size_t point)
{
    (void)point;
    write_rows(context, 0);
}

static int write_one(const struct sweep *s, const char *path,
                     void (*make)(const struct sweep_report *, struct buf *))
{
    struct err err;
    struct buf text;
    if (!path)
        return 0;
    buf_init(&text);
    if (make)
        make(&s->report, &text);
    else
        sweep_plot(&s->report, s->plot_dim, &text);
    int rc = buf_write_file(&text, path, &err);
    buf_fini(&text);
    return rc ? cli_fail(&err) : EXIT_DONE;
}

/* Returns how many points failed, and reports why. */
static size_t tell_failures(const struct sweep *s)
{
    size_t failed = 0;
    for (size_t i = 0; i < sweep_grid_points(&s->grid); i++) {
        const struct sweep_result *r = &s->results[i];
        struct buf name;
        if (!r->done || (r->status == 0 && r->has_summary))
            continue;
        buf_init(&name);
        sweep_grid_name(&s->grid, i, NULL, &name);
        log_error("%s%sexit status %d%s%s", buf_str(&name), name.len ? ": " : "", r->status,
                  r->why ? ": " : "", r->why ? r->why : "");
        buf_fini(&name);
        failed++;
    }
    return failed;
}

static int run_all(struct sweep *s)
{
    struct sweep_plan plan = {.grid = &s->grid,
                              .options = s->runs.options,
                              .program = s->runs.program,
                              .keep = s->keep,
                              .baseline = s->report.baseline,
                              .jobs = s->jobs,
                              .progress = cli_shared_progress(s->progress, s->quiet),
                              .on_done = on_done,
                              .context = s};
    struct err err;
    size_t points = sweep_grid_points(&s->grid), done = 0;
    int interrupted;
    if (sweep_run(&plan, s->results, &interrupted, &err))
        return cli_fail(&err);
    write_rows(s, 1);
    for (size_t i = 0; i < points; i++)
        done += (size_t)s->results[i].done;
    size_t failed = tell_failures(s);
    int status = failed ? EXIT_FINDING : EXIT_DONE;
    if (interrupted) {
        log_error("interrupted by signal %d (%s): %zu of %zu points are done", interrupted,
                  strsignal(interrupted), done, points);
        status = 128 + interrupted;
    }
    int trouble = write_one(s, s->csv, sweep_csv) | write_one(s, s->json, sweep_json) |
                  write_one(s, s->plot, NULL);
    return status ? status : trouble;
}

#define REPLAY_EXAMPLE "orrery sweep -w nothing -w 'balance foo' replay run.orr"

static int is_dimension(const void *grid, const char *key)
{
    return sweep_grid_find(grid, key) != NULL;
}

/* A replay is a run of the replayer. */
static int read_replay(struct sweep *s, struct launch_argv *words, int argc, char **argv,
                       struct err *err)
{
    const struct cli_replay_machine machine = {is_dimension(&s->grid, SWEEP_PLATFORM), is_dimension,
                                               &s->grid};
    int rc = is_dimension(&s->grid, SWEEP_RANKS)
                 ? err_set(err, ERR_INPUT, "--ranks: a replay has as many ranks as its trace")
                 : cli_replay_command(words, argc, argv, &machine, err);
    return rc ? rc
              : cli_runs_read(&s->runs, (int)words->count - 1, words->at + 1, take_dimension, s,
                              "'orrery replay' writes a trace", REPLAY_EXAMPLE, err);
}

static int sweep_main(int argc, char **argv)
{
    static const char example[] = "orrery sweep -n 4,16,64 run ./app";
    static struct sweep s; /* large, and there is only one */
    struct launch_argv words = {0};
    struct err err;
    int next, status, rc;
    s.progress = -1;
    cli_runs_init(&s.runs);
    sweep_grid_init(&s.grid);
    if (cli_begin(&usage, argc, argv, &s, &next, &status))
        goto done;
    rc = next < argc && strcmp(argv[next], "replay") == 0
             ? read_replay(&s, &words, argc - next, argv + next, &err)
         : sweep_grid_find(&s.grid, SWEEP_WHAT_IF)
             ? err_set(&err, ERR_INPUT, "--what-if: hypotheses are about traces, as in: %s",
                       REPLAY_EXAMPLE)
         : next < argc && strcmp(argv[next], "run") == 0
             ? cli_runs_read(&s.runs, argc - next, argv + next, take_dimension, &s,
                             "--keep DIR before 'run' keeps a summary of each", example, &err)
             : err_set(&err, ERR_INPUT, "expected 'run' before the program, as in: %s", example);
    if (rc == CLI_OPTIONS_HELP) {
        status = cli_runs_help();
        goto done;
    }
    if (rc == 0)
        rc = check(&s, &err);
    if (rc) {
        status = cli_fail(&err);
        goto done;
    }
    size_t points = sweep_grid_points(&s.grid);
    s.jobs = cli_runs_jobs(&s.runs, s.jobs, points, s.quiet);
    s.results = mem_zalloc(points * sizeof *s.results);
    s.report.grid = &s.grid;
    s.report.results = s.results;
    s.report.program = s.runs.program;
    status = run_all(&s);
    sweep_results_fini(s.results, points);
done:
    cli_runs_fini(&s.runs);
    sweep_grid_fini(&s.grid);
    launch_argv_fini(&words);
    return status;
}

const struct cli_command cli_cmd_sweep = {
    .summary = "run a program on a grid of machines",
    .usage = &usage,
    .starts = 1,
    .main = sweep_main,
};
