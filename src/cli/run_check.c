/*
 * run_check.c - checks an `orrery run` before anything starts (see run_check.h).
 */
#include "cli/run_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/collectives.h"
#include "cli/outputs.h"
#include "cli/parts.h"
#include "cli/uses.h"
#include "cli/webpage.h"
#include "launch/launch.h"
#include "launch/workers.h"
#include "net/net.h"
#include "program/host.h"
#include "run/counter.h"
#include "run/tape.h"
#include "run/times.h"
#include "trace/format.h"

/* The least memory of a rank, and what the simulator needs in addition. */
#define RANK_BYTES 300 /* of a waiting rank in a small C program */
#define FIXED_BYTES ((uint64_t)64 << 20)
#define NAMES_SHOWN 5
#define PCAP_AT "n*"                  /* where packets are captured: at all hosts */
#define VECTORS_AT "*"                /* which values over time are recorded: all */
enum { STACKS_AUTO = 0, STACKS_OWN }; /* of run_options.stacks */

static int check_memory(uint64_t ranks, struct err *err)
{
    uint64_t free_bytes = mem_available(), need = ranks * RANK_BYTES + FIXED_BYTES;
    char count[UNITS_TEXT_MAX], needed[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX], fit[UNITS_TEXT_MAX];
    if (free_bytes == 0 || need <= free_bytes)
        return 0;
    uint64_t most = free_bytes > FIXED_BYTES ? (free_bytes - FIXED_BYTES) / RANK_BYTES : 0;
    return err_set(err, ERR_INPUT,
                   "not enough memory for %s ranks: they need at least %s and %s are free; at "
                   "most %s ranks fit",
                   units_format_count(count, sizeof count, ranks),
                   units_format_bytes(needed, sizeof needed, need),
                   units_format_bytes(have, sizeof have, free_bytes),
                   units_format_count(fit, sizeof fit, most));
}

/* Static data is private only as far as a rank changes it, which is not known beforehand. */
static void warn_private(uint64_t ranks, const struct program *program)
{
    uint64_t free_bytes = mem_available();
    char each[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX];
    if (free_bytes == 0 || program->private_bytes <= free_bytes / ranks)
        return;
    log_warn("%s of static data per rank will not fit into the %s of free memory if the ranks "
             "change all of it",
             units_format_bytes(each, sizeof each, program->private_bytes),
             units_format_bytes(have, sizeof have, free_bytes));
}

static int check_program(struct program *program, const char *given, const struct cli_run *run,
                         struct err *err)
{
    int rc = program_inspect(program, given, err);
    if (rc)
        return rc;
    if (program->refused)
        return err_set(err, ERR_INPUT, "cannot simulate '%s': it %s", given, program->why.text);
    if (program->unsupported.count) {
        char names[400] = "";
        size_t used = 0, count = program->unsupported.count;
        for (size_t i = 0; i < count && i < NAMES_SHOWN && used < sizeof names; i++)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                     program->unsupported.items[i]);
        if (count > NAMES_SHOWN && used < sizeof names)
            snprintf(names + used, sizeof names - used, " and %zu more", count - NAMES_SHOWN);
        return err_set(err, ERR_INPUT,
                       "cannot simulate '%s': it refers to MPI calls that are not supported yet: "
                       "%s",
                       given, names);
    }
    int is_quiet = run->job.quiet || run->job.worker || run->job.opt.live;
    for (size_t i = 0; i < program->warnings.count && !is_quiet; i++)
        log_warn("%s", program->warnings.items[i]);
    return 0;
}

/* The library may run in another directory. */
static int absolute_path(const char *path, char *out, size_t size, struct err *err)
{
    return path_absolute(strcmp(path, "-") ? path : "/dev/stdout", out, size, err);
}

/* What a trace says of the machine, so that it can be replayed there. Files get a path that is
 * good elsewhere. */
static void note_machine(struct cli_run *run)
{
    const struct cli_machine *given = &run->given;
    struct run_options *o = &run->job.opt;
    char path[PATH_MAX];
    size_t used = 0;
    if (given->platform)
        snprintf(o->platform_given, sizeof o->platform_given, "%.255s",
                 strchr(given->platform, '.') && realpath(given->platform, path) ? path
                                                                                 : given->platform);
    for (size_t i = 0; i < given->set_count && used < sizeof o->settings_given; i++)
        used += (size_t)snprintf(o->settings_given + used, sizeof o->settings_given - used, "%s%s",
                                 i ? "," : "", given->sets[i]);
    if (used >= sizeof o->settings_given)
        o->settings_given[0] = '\0'; /* half of them would be another machine */
}

/* Makes the machine for all processes of the run, and what the library and the summary see of
 * it. */
static int make_machine(struct cli_run *run, struct err *err)
{
    const char *shared = run->job.worker ? getenv(ENV_MACHINE) : NULL;
    int rc = 0;
    if (!shared || !cli_machine_open(&run->machine, shared))
        rc = cli_machine_make(&run->given, &run->machine, err);
    if (rc)
        return rc;
    note_machine(run);
    run->job.opt.platform = run->machine.config;
    run->job.opt.changed = run->given.set_count > 0;
    return cli_machine_share(&run->machine, &run->job.opt.machine_fd, err);
}

/* Checks that all given settings have an effect. The first process checks for all. */
static int check_uses(const struct cli_run *run, struct err *err)
{
    struct buf notes;
    if (run->job.worker)
        return 0;
    buf_init(&notes);
    int rc = cli_uses_check(&run->given, &run->machine, &notes, err);
    if (rc == 0 && !run->job.quiet)
        cli_uses_say(&notes);
    buf_fini(&notes);
    return rc;
}

/* Checks that there is memory for the ranks, and a node for each. */
static int check_machine(const struct cli_run *run, struct err *err)
{
    const struct run_options *opt = &run->job.opt;
    struct net net;
    int rc;
    if (opt->universe && opt->universe < opt->ranks)
        return err_set(err, ERR_INPUT, "--universe %llu is less than the %llu ranks to start with",
                       (unsigned long long)opt->universe, (unsigned long long)opt->ranks);
    rc = net_init(&net, &run->machine, run_fit(opt), err);
    if (rc == 0) {
        net_fini(&net);
        rc = cli_collectives_check(&run->machine, err);
    }
    if (rc)
        cli_machine_explain(&run->given, err);
    return rc;
}

/* Checks that the program can run on that host. */
static int check_host(const struct run_options *opt, enum run_host host,
                      const struct program *program, struct err *err)
{
    if (program->asan && opt->procs > 1)
        return err_set(err, ERR_INPUT,
                       "%s: '%s' was built with AddressSanitizer, which does not let it "
                       "load a native MPI: use one process%s",
                       opt->app_count > 1 ? "several programs" : "--procs", program->path,
                       opt->app_count > 1 ? " and one program" : "");
    if (program->asan && opt->factor > 0 && opt->app_count > 1)
        return err_set(err, ERR_INPUT,
                       "'%s' was built with AddressSanitizer, which has its memory where several "
                       "programs would share theirs: emulate it alone",
                       program->path);
    if (!program->asan || run_host_kind(host)->processes)
        return 0;
    return err_set(err, ERR_INPUT,
                   "--host fibre: '%s' was built with AddressSanitizer, which watches one "
                   "stack and one set of data: use --host process",
                   program->path);
}

/* A counter counts for one process, so all ranks must be in it. */
static int check_counters(const struct cli_run *run, const struct results_program *p,
                          const struct program *program, struct err *err)
{
    int fd, rc;

    if (run->job.opt.compute != RUN_COMPUTE_COUNTERS)
        return 0;
    if (run_host_kind(p->host)->processes)
        return err_set(err, ERR_INPUT,
                       "--compute counters: needs ranks that are fibres, but those of '%s' "
                       "are processes (%s); use --compute measured%s",
                       program->path, p->host_reason,
                       program->process_reason ? "" : " or --host fibre");
    rc = run_counter_open(run->job.opt.counter, &fd, err);
    if (rc == 0)
        close(fd);
    return rc;
}

/* Checks the files of the processor model. */
static int check_compute(struct cli_run *run, struct err *err)
{
    struct run_options *o = &run->job.opt;
    struct run_times times;
    const char *file = run->compute_file;
    int rc = 0;

    if (o->compute == RUN_COMPUTE_COUNTERS)
        file = run->counter_table;
    else if (run->counter_table)
        return err_set(err, ERR_INPUT, "--counter-table: goes with --compute counters only");
    if (file && strcmp(file, "-") == 0)
        return err_set(err, ERR_INPUT, "--compute: cannot read from standard input");
    if (file)
        rc = absolute_path(file, o->compute_path, sizeof o->compute_path, err);
    if (rc == 0 && file && o->compute != RUN_COMPUTE_REPLAY) {
        rc = run_times_read(&times, o->compute_path,
                            o->compute == RUN_COMPUTE_TABLE ? RUN_TIMES_NAMES : RUN_TIMES_COUNTS,
                            err);
        if (rc == 0)
            run_times_fini(&times);
    }
    if (rc == 0 && o->compute == RUN_COMPUTE_REPLAY) {
        struct tape_file tape;

        rc = tape_open(&tape, o->compute_path, o->ranks, err);
        if (rc == 0)
            tape_close(&tape);
    }
    if (rc == 0 && run->record && o->compute == RUN_COMPUTE_NONE)
        rc = err_set(err, ERR_INPUT,
                     "--record-compute: there is nothing to record with --compute "
                     "none");
    if (rc == 0 && cli_is_stdout(run->record))
        rc = err_set(err, ERR_INPUT,
                     "--record-compute: cannot write to standard output: give a file");
    if (rc == 0 && run->record)
        rc = absolute_path(run->record, o->record_path, sizeof o->record_path, err);
    return rc;
}

/* A page is made from a trace: the one requested, or a temporary one next to the page. All
 * processes of a run must find the same name for it. */
static int check_report(struct cli_run *run, struct err *err)
{
    char template[PATH_MAX], trace[PATH_MAX];
    if (cli_is_stdout(run->report))
        return err_set(err, ERR_INPUT, "--report: cannot write to standard output: give a file");
    int rc = cli_webpage_find(template, sizeof template, err);
    if (rc || run->trace)
        return rc;
    if ((size_t)snprintf(trace, sizeof trace, "%s.tmp" TRACE_SUFFIX, run->report) >= sizeof trace)
        return err_set(err, ERR_INPUT, "file name '%.40s...' is too long", run->report);
    return absolute_path(trace, run->job.opt.trace_path, sizeof run->job.opt.trace_path, err);
}

/* Checks the files that tracing writes, and the options that need one. */
static int check_trace(struct cli_run *run, struct err *err)
{
    int rc = cli_outputs_check_trace("--trace", run->trace, err);
    if (rc == 0 && run->trace)
        rc = absolute_path(run->trace, run->job.opt.trace_path, sizeof run->job.opt.trace_path,
                           err);
    if (rc == 0 && run->report)
        rc = check_report(run, err);
    if (rc == 0 && *run->job.opt.trace_path &&
        !run->job.worker) /* other workers may have begun theirs */
        rc = cli_parts_check_none(run->job.opt.trace_path, err);
    if (rc == 0 && (run->job.opt.trace_sites || run->job.opt.trace_profile) && !run->trace &&
        !run->report)
        rc = err_set(err, ERR_INPUT, "--%s: nothing is recorded: give --trace FILE, too",
                     run->job.opt.trace_sites ? "call-sites" : "profile-only");
    if (rc == 0 && run->job.opt.trace_profile && run->report)
        rc = err_set(err, ERR_INPUT,
                     "--profile-only: a report needs every call: leave out one of the two");
    return rc;
}

/* Makes the folder of captured packets if there is none; checks that files can be made in it. */
static int check_pcap(struct cli_run *run, struct err *err)
{
    const char *at = run->pcap_at ? run->pcap_at : PCAP_AT;
    if (!run->pcap)
        return run->pcap_at
                   ? err_set(err, ERR_INPUT, "--pcap-at: nothing is captured: give --pcap DIR, too")
                   : 0;
    if (strcmp(run->job.opt.platform.net_model, "packet") != 0)
        return err_set(err, ERR_INPUT,
                       "--pcap: net.model '%s' has no packets: use --set net.model=packet",
                       run->job.opt.platform.net_model);
    if (strlen(at) >= sizeof run->job.opt.pcap_at)
        return err_set(err, ERR_INPUT, "--pcap-at: the list is too long");
    snprintf(run->job.opt.pcap_at, sizeof run->job.opt.pcap_at, "%s", at);
    int rc = path_make_folder(run->pcap, err);
    if (rc == 0 && access(run->pcap, W_OK | X_OK) != 0)
        rc = err_set(err, ERR_SYSTEM, "cannot write files in '%s': %s", run->pcap, strerror(errno));
    if (rc)
        return err_prefix(err, "--pcap");
    return absolute_path(run->pcap, run->job.opt.pcap_path, sizeof run->job.opt.pcap_path, err);
}

/* Values over time are kept for their file and for the trace. */
static int check_vectors(struct cli_run *run, struct err *err)
{
    const char *at = run->vectors_at ? run->vectors_at : VECTORS_AT;
    int has_packets = strcmp(run->job.opt.platform.net_model, "packet") == 0;
    if (!has_packets && (run->vectors || run->vectors_at))
        return err_set(err, ERR_INPUT,
                       "--vectors: net.model '%s' has no packets: use --set net.model=packet",
                       run->job.opt.platform.net_model);
    if (!run->vectors && !run->job.opt.trace_path[0])
        return run->vectors_at ? err_set(err, ERR_INPUT,
                                         "--vectors-at: nothing is recorded: give --vectors FILE, "
                                         "--trace FILE or --report FILE, too")
                               : 0;
    if (strlen(at) >= sizeof run->job.opt.vectors_at)
        return err_set(err, ERR_INPUT, "--vectors-at: the list is too long");
    if (has_packets)
        snprintf(run->job.opt.vectors_at, sizeof run->job.opt.vectors_at, "%s", at);
    return run->vectors ? absolute_path(run->vectors, run->job.opt.vectors_path,
                                        sizeof run->job.opt.vectors_path, err)
                        : 0;
}

/* Checks all files that the run writes. */
static int check_outputs(struct cli_run *run, struct err *err)
{
    const struct cli_output outputs[] = {{"--record-compute", run->record}, {"--trace", run->trace},
                                         {"--report", run->report},         {"--stats", run->stats},
                                         {"--vectors", run->vectors},       {"--json", run->json}};
    int rc = cli_outputs_check(outputs, sizeof outputs / sizeof outputs[0], err);
    if (rc == 0)
        rc = check_trace(run, err);
    if (rc == 0)
        rc = check_pcap(run, err);
    if (rc == 0)
        rc = check_vectors(run, err);
    run->job.opt.only_error = cli_is_stdout(run->stats) || cli_is_stdout(run->json) ||
                              cli_is_stdout(run->vectors);
    if (rc == 0 && run->stats) {
        run->job.opt.detail = 1;
        rc = absolute_path(run->stats, run->job.opt.stats_path, sizeof run->job.opt.stats_path,
                           err);
    }
    return rc;
}

/* Inspects one of the programs, and chooses its host. */
static int check_app(struct cli_run *run, size_t i, struct program *program, struct err *err)
{
    struct launch_app *app = &run->job.apps.at[i];
    struct results_program *p = &run->programs[i];
    int rc = check_program(program, app->words.at[0], run, err);

    *p = (struct results_program){.words = app->words.at, .ranks = app->ranks};
    p->procs = run->job.opt.app_count > 1 ? run->job.opt.apps[i].procs : run->job.opt.procs;
    if (rc)
        return rc;
    mem_free(app->path);
    app->path = mem_strdup(program->path);
    p->host = (int32_t)program_host_choose(program, (enum run_host)run->job.opt.host, app->ranks,
                                           &p->host_reason);
    rc = check_host(&run->job.opt, (enum run_host)p->host, program, err);
    if (rc == 0)
        rc = check_counters(run, p, program, err);
    if (rc == 0 && !run->job.launcher && !run->job.worker && !run->job.quiet)
        warn_private(app->ranks, program);
    return rc;
}

/* Of the program that this process runs. */
static void use_program(struct run_options *opt, const struct results_program *p,
                        const struct program *program)
{
    opt->host = p->host;
    snprintf(opt->host_reason, sizeof opt->host_reason, "%s", p->host_reason);
    opt->asan = program->asan;
    if (program->stacks && opt->stacks == STACKS_AUTO)
        opt->stacks = STACKS_OWN;
}

/* All programs; *program is the one of this process, *declares what any of them declares. */
static int check_apps(struct cli_run *run, struct program *program, unsigned *declares,
                      struct err *err)
{
    int rc = 0;

    *declares = 0;
    for (size_t i = 0; i < run->job.apps.count && rc == 0; i++) {
        struct program other = {0}, *p = i == run->job.opt.app ? program : &other;

        rc = check_app(run, i, p, err);
        run->job.opt.needs |= p->needs;
        *declares |= p->declares;
        if (p == &other)
            program_fini(&other);
    }
    if (rc == 0)
        use_program(&run->job.opt, &run->programs[run->job.opt.app], program);
    return rc;
}

int cli_run_check(struct cli_run *run, struct program *program, char *libdir, size_t libdir_size,
                  struct err *err)
{
    unsigned declares;
    int rc = make_machine(run, err);

    if (rc == 0)
        rc = check_machine(run, err);
    if (rc == 0)
        rc = check_uses(run, err);
    if (rc == 0)
        rc = launch_workers_assign(&run->job, err);
    run->job.opt.spread = run->job.launcher != NULL;
    if (rc == 0 && !run->job.launcher && !run->job.worker) /* all processes run on this computer */
        rc = check_memory(run->job.opt.ranks, err);
    if (rc == 0)
        rc = check_apps(run, program, &declares, err);
    if (rc == 0)
        rc = run->job.worker || run->job.opt.live /* time is computed outside */
                 ? 0
                 : cli_uses_check_compute(&run->given, run, declares, err);
    if (rc == 0)
        rc = launch_workers_prepare(&run->job, err);
    if (rc == 0)
        rc = check_compute(run, err);
    if (rc == 0)
        rc = check_outputs(run, err);
    return rc ? rc : launch_libdir(libdir, libdir_size, err);
}
