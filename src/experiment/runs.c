/*
 * runs.c - decides how many runs start at a time, and makes the command line of each (see runs.h).
 */
#define _GNU_SOURCE 1
#include "experiment/runs.h"

#include <sched.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

unsigned experiment_runs_jobs(const struct experiment_runs *r, unsigned given, size_t most,
                              int quiet)
{
    cpu_set_t set;
    unsigned cores = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    unsigned jobs = given;
    if (given > 1 && r->is_measured && most > 1 && !quiet)
        log_warn("runs side by side disturb compute times, which are measured: use -j 1 or "
                 "--compute none");
    if (!given && r->is_measured && most > 1 && cores > 1 && !quiet)
        log_note("one run at a time, as compute time is measured (-j JOBS or --compute none: "
                 "several)");
    if (!jobs)
        jobs = r->is_measured || !r->procs || cores <= r->procs ? 1 : cores / r->procs;
    return jobs > most ? (unsigned)most : jobs;
}

char **experiment_runs_words(const char *self, char *const *options, char *const *own, size_t count,
                             char *const *program)
{
    static char *const last[] = {"--quiet", "--no-progress", "--"};
    size_t last_count = sizeof last / sizeof last[0], option_count = 0, program_count = 0, n = 2;
    while (options[option_count])
        option_count++;
    while (program[program_count])
        program_count++;
    char **words = mem_alloc((option_count + count + last_count + program_count + 3) *
                             sizeof *words);
    words[0] = (char *)self;
    words[1] = "run";
    memcpy(words + n, options, option_count * sizeof *words);
    n += option_count;
    memcpy(words + n, own, count * sizeof *words);
    n += count;
    memcpy(words + n, last, sizeof last);
    n += last_count;
    memcpy(words + n, program, (program_count + 1) * sizeof *words);
    return words;
}
