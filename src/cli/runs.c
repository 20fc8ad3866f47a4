/*
 * runs.c - reads the command line of the runs of `orrery sweep` and `orrery tune` (see runs.h).
 */
#include "cli/runs.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/apps_read.h"
#include "cli/cli.h"
#include "experiment/runs.h"

#define JOBS_MAX 4096

void cli_runs_init(struct cli_runs *r)
{
    memset(r, 0, sizeof *r);
    cli_run_init(&r->common);
    r->options = mem_zalloc(sizeof *r->options);
}

void cli_runs_fini(struct cli_runs *r)
{
    mem_free(r->options);
    launch_argv_fini(&r->words);
    launch_apps_fini(&r->common.job.apps);
}

void cli_runs_add(struct cli_runs *r, char *const *words, size_t count)
{
    r->options = mem_realloc(r->options, (r->option_count + count + 1) * sizeof *r->options);
    memcpy(r->options + r->option_count, words, count * sizeof *words);
    r->option_count += count;
    r->options[r->option_count] = NULL;
}

/* An option that all runs share; its words are argv[start] to argv[*i]. */
static int take_option(struct cli_runs *r, const struct cli_option *option, const char *value,
                       int argc, char **argv, int start, int *i, const char *instead,
                       struct err *err)
{
    static const char *const refused[] = {"json",   "stats",  "record-compute", "trace",
                                          "report", "worker", "pcap",           "vectors"};
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++)
        if (strcmp(option->name, refused[k]) == 0)
            return err_set(err, ERR_INPUT, "--%s: all runs would write the same file%s%s",
                           option->name, instead ? ": " : "", instead ? instead : "");
    int rc = cli_options_apply(option, value, argc, argv, i, &r->common, err);
    if (strcmp(option->name, "app") != 0) /* its programs are passed as words */
        cli_runs_add(r, argv + start, (size_t)(*i - start));
    return rc;
}

static const struct cli_option *find_ranks(void)
{
    const struct cli_option *option = cli_run_usage.options;
    while (strcmp(option->name, "ranks") != 0)
        option++;
    return option;
}

/* The programs of a file, as if they had been given as words. */
static int take_file(struct cli_runs *r, cli_runs_own *own, void *owner, struct err *err)
{
    struct launch_apps *apps = &r->common.job.apps;
    char ranks[32];
    int rc = cli_run_read_apps(&r->common, 0, NULL, err);
    if (rc)
        return rc;
    r->common.app_file = NULL;
    snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)apps->at[0].ranks);
    launch_argv_add_all(&r->words, (const char *const[]){"-n", ranks, NULL});
    launch_apps_add_words(apps, &r->words);
    r->program = r->words.at + 2;
    int is_own = own ? own(owner, find_ranks(), r->words.at[1], err) : 0;
    if (is_own == 0)
        cli_runs_add(r, r->words.at, 2);
    return is_own < 0 ? is_own : 0;
}

int cli_runs_read(struct cli_runs *r, int argc, char **argv, cli_runs_own *own, void *owner,
                  const char *instead, const char *example, struct err *err)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0) {
        const struct cli_option *option;
        const char *value;
        int start = i, rc = cli_options_next(&cli_run_usage, argc, argv, &i, &option, &value, err);
        if (rc)
            return rc;
        int is_own = own ? own(owner, option, value, err) : 0;
        if (is_own < 0)
            return is_own;
        if (!is_own)
            rc = take_option(r, option, value, argc, argv, start, &i, instead, err);
        if (rc)
            return rc;
    }
    i += i < argc && strcmp(argv[i], "--") == 0;
    if (r->common.app_file && i >= argc)
        return take_file(r, own, owner, err);
    if (i >= argc)
        return err_set(err, ERR_INPUT, "no program given, as in: %s", example);
    r->program = argv + i;
    /* the ranks of the first program may vary */
    return cli_apps_read(&r->common.job.apps, "run", r->common.app_file, 1, RUN_RANKS_MAX, argc - i,
                         r->program, err);
}

int cli_runs_help(void)
{
    struct buf text;
    buf_init(&text);
    cli_options_help(&cli_run_usage, &text);
    int status = cli_print(&text);
    buf_fini(&text);
    return status;
}

int cli_runs_parse_jobs(const char *value, unsigned *jobs, struct err *err)
{
    uint64_t count;
    int rc = units_parse_count(value, &count, err);
    if (rc == 0 && (count < 1 || count > JOBS_MAX))
        rc = err_set(err, ERR_INPUT, "bad number of jobs '%s': expected 1 to %d", value, JOBS_MAX);
    if (rc == 0)
        *jobs = (unsigned)count;
    return rc;
}

unsigned cli_runs_jobs(const struct cli_runs *r, unsigned given, size_t most, int quiet)
{
    const struct launch_job *job = &r->common.job;
    const struct experiment_runs runs = {
        .is_measured = job->opt.compute == RUN_COMPUTE_MEASURED,
        .procs = job->procs_auto ? 0 : job->opt.procs,
    };
    return experiment_runs_jobs(&runs, given, most, quiet);
}
