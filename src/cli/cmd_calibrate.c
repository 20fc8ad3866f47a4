/*
 * cmd_calibrate.c - `orrery calibrate`: measures this machine, fits a platform to
 * it, and says how well that predicts.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/units.h"
#include "calibrate/report.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/outputs.h"
#include "cli/shared.h"
#include "cli/uses.h"
#include "experiment/measure.h"
#include "platform/read.h"

#define OUTPUT "machine.yaml"
#define RAW_MAX ((size_t)64 << 20)
#define RANKS_MAX 65536

struct request {
    struct experiment_measure how;
    const char *output, *raw, *plot, *from, *verify, *name, *date, *json;
    int quiet;
    int signal; /* that ended the measurement */
    int again;  /* --verify: measure again, even if there are measurements */
};

/* ---- options ---- */

static int set_number(unsigned *into, const char *value, uint64_t least, uint64_t most,
                      struct err *err)
{
    uint64_t number;
    int rc = units_parse_count(value, &number, err);
    if (rc == 0 && (number < least || number > most))
        rc = err_set(err, ERR_INPUT, "'%s' is not between %llu and %llu", value,
                     (unsigned long long)least, (unsigned long long)most);
    if (rc == 0)
        *into = (unsigned)number;
    return rc;
}

static int set_ranks(void *q, const char *value, struct err *err)
{
    return set_number(&((struct request *)q)->how.ranks, value, 2, RANKS_MAX, err);
}

static int set_samples(void *q, const char *value, struct err *err)
{
    return set_number(&((struct request *)q)->how.samples, value, 3, 1000, err);
}

static int set_quick(void *q, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)q)->how.quick = 1;
    return 0;
}

static int set_launcher(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->how.launcher, value, err);
}

static int set_output(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->output, value, err);
}

static int set_raw(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->raw, value, err);
}

static int set_plot(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->plot, value, err);
}

static int set_from(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->from, value, err);
}

static int set_again(void *q, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)q)->again = 1;
    return 0;
}

static int set_verify(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->verify, value, err);
}

static int set_name(void *q, const char *value, struct err *err)
{
    if (strlen(value) >= PLATFORM_NAME_MAX)
        return err_set(err, ERR_INPUT, "'%s' is longer than %d characters", value,
                       PLATFORM_NAME_MAX - 1);
    return cli_options_text(&((struct request *)q)->name, value, err);
}

static int set_date(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->date, value, err);
}

static int set_json(void *q, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)q)->json, value, err);
}

static int set_quiet(void *q, const char *value, struct err *err)
{
    ((struct request *)q)->quiet = 1;
    return cli_shared_quiet(q, value, err);
}

#define FLAG(function, number)                                       \
    static int function(void *q, const char *value, struct err *err) \
    {                                                                \
        (void)value, (void)err;                                      \
        ((struct request *)q)->how.progress = number;                \
        return 0;                                                    \
    }
FLAG(set_progress, 1)
FLAG(set_no_progress, 0)
#undef FLAG

static const struct cli_option options[] = {
    {CLI_NAMED_RANKS, "N", "measure with N ranks (default: as many as there are cores, at least 2)",
     set_ranks},
    {CLI_NAMED_LAUNCHER, "COMMAND",
     "starts the ranks; \"-n N\" and a program follow (default mpiexec.mpich)", set_launcher},
    {"quick", 0, NULL, NULL, "few samples per point, some seconds in all", set_quick},
    {"samples", 0, NULL, "N", "at most N samples per point (default 1000)", set_samples},
    {CLI_NAMED_OUTPUT, "FILE", "the platform file to write (default machine.yaml)", set_output},
    {"raw", 0, NULL, "FILE", "where to keep the measurements (default: the platform file, as .csv)",
     set_raw},
    {CLI_SHARED_PLOT, set_plot},
    {"from", 0, NULL, "FILE", "use the measurements kept in FILE, measure nothing", set_from},
    {"verify", 0, NULL, "PLATFORM",
     "fit nothing: simulate the ping-pong on PLATFORM, compare it with the measurements that "
     "PLATFORM "
     "was made from (the same file as .csv, if it exists, or --from) or else with new ones; "
     "exit 1 "
     "if it is off",
     set_verify},
    {"again", 0, NULL, NULL, "with --verify: measure anew", set_again},
    {"name", 0, NULL, "NAME", "name of the machine in the file (default measured)", set_name},
    {"date", 0, NULL, "TEXT", "date in the file (default: that of the measurement)", set_date},
    {CLI_SHARED_JSON, set_json},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static const struct cli_usage usage = {
    .command = "calibrate",
    .synopsis = "[options]",
    .about =
        "Measures this machine with its native MPI (clock, overheads, half round trips, gap, eager "
        "limit, collectives), fits the model loggops in pieces, writes a platform file for 'orrery "
        "run "
        "--platform', and prints parameters and residuals. Leave the machine idle meanwhile. Exit "
        "status: 0; "
        "1 if --verify finds fewer than 90% of the sizes within 10% or the quartiles; 2 for "
        "errors.",
    .options = options,
};

/* ---- raw data ---- */

static int read_file(const char *path, struct buf *out, struct err *err)
{
    char block[65536];
    int fd = sys_open(path, O_RDONLY, 0), rc = 0;
    ssize_t n = -1;
    while (fd >= 0 && out->len <= RAW_MAX && (n = sys_read(fd, block, sizeof block)) > 0)
        buf_add(out, block, (size_t)n);
    if (n < 0)
        rc = err_set(err, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    else if (out->len > RAW_MAX)
        rc = err_set(err, ERR_INPUT, "cannot read '%s': it is larger than 64 MiB", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* The file for the measurements: machine.csv for machine.yaml. */
static void raw_name(const struct request *q, struct buf *out)
{
    const char *output = q->output ? q->output : OUTPUT, *dot = strrchr(output, '.');
    int is_yaml = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    if (q->raw)
        buf_adds(out, q->raw);
    else
        buf_addf(out, "%.*s.csv", is_yaml ? (int)(dot - output) : (int)strlen(output), output);
}

static int fail(const struct request *q, const struct err *err)
{
    int status = cli_fail(err);
    return q->signal ? 128 + q->signal : status;
}

/* Reads measurements from the file or from the machine; keeps those to be fitted. */
static int get_raw(struct request *q, struct calibrate_raw *raw, struct err *err)
{
    struct buf text, name;
    buf_init(&text);
    buf_init(&name);
    int rc = q->from ? read_file(q->from, &text, err)
                     : experiment_measure_native(&q->how, &text, &q->signal, err);
    if (rc == 0 && !q->from && (!q->verify || q->raw)) {
        raw_name(q, &name);
        rc = buf_write_file(&text, buf_str(&name), err);
    }
    if (rc == 0)
        rc = calibrate_raw_read(raw, q->from ? q->from : "output of the measurement",
                                buf_str(&text), text.len, err);
    buf_fini(&name);
    buf_fini(&text);
    return rc;
}

/* ---- summary ---- */

/* How many sizes are predicted well: of a fit in all, within a node and between nodes. */
struct good {
    size_t good, all;
};

static void put_good(struct json *j, const char *key, const struct good *good)
{
    json_key(j, key);
    json_object_begin(j);
    json_key(j, "good");
    json_uint(j, good->good);
    json_key(j, "all");
    json_uint(j, good->all);
    json_object_end(j);
}

/* The summary of --json, with a platform that was made or (NULL) verified. Returns the status, or
 * that of a failure here. */
static int write_json(const struct request *q, const struct good *good, const struct platform *made,
                      int status)
{
    struct json j;
    struct buf text;
    struct err err;
    if (!q->json)
        return status;
    buf_init(&text);
    json_init(&j, &text);
    json_object_begin(&j);
    json_put_string(&j, "output", made ? q->output ? q->output : OUTPUT : NULL);
    json_put_string(&j, "verified", q->verify);
    json_put_string(&j, "measurements", q->from);
    json_key(&j, "sizes");
    json_object_begin(&j);
    put_good(&j, "within_node", &good[CALIBRATE_INTRA]);
    put_good(&j, "between_nodes", &good[CALIBRATE_INTER]);
    json_object_end(&j);
    json_key(&j, "exit_status");
    json_int(&j, status);
    if (made) {
        json_key(&j, "platform");
        platform_json(made, &j);
    }
    json_object_end(&j);
    json_fini(&j);
    int rc = buf_write_file(&text, q->json, &err);
    buf_fini(&text);
    rc = rc ? cli_fail(&err) : EXIT_DONE;
    return status ? status : rc;
}

/* ---- fit ---- */

/* Writes the platform file only if `orrery platform check` would accept it. */
static int write_platform(const struct request *q, const struct calibrate_machine *m,
                          const struct calibrate_raw *raw, struct platform *p, struct err *err)
{
    const char *path = q->output ? q->output : OUTPUT;
    struct buf text;
    buf_init(&text);
    calibrate_machine_comments(m, raw, q->date, &text);
    calibrate_machine_settings(m, raw, q->name ? q->name : "measured", p);
    platform_write(p, cli_uses_setting, &text);
    int rc = cli_machine_check_text(path, &text, p, err);
    if (rc)
        err_prefix(err,
                   "the result is not a valid platform, and '%s' was not written: this is a bug of "
                   "Orrery, please report it with the measurements",
                   path);
    else
        rc = buf_write_file(&text, path, err);
    buf_fini(&text);
    return rc;
}

static int write_plot(const struct request *q, const struct calibrate_machine *m,
                      const struct calibrate_raw *raw, struct err *err)
{
    struct buf text;
    if (!q->plot)
        return 0;
    buf_init(&text);
    calibrate_report_svg(m, raw, &text);
    int rc = buf_write_file(&text, q->plot, err);
    buf_fini(&text);
    return rc;
}

/* Warns about a poor fit. */
static void warn_of_poor_fit(const struct calibrate_machine *m, const struct calibrate_raw *raw)
{
    for (int i = 0; i < 2; i++) {
        size_t good, all;
        calibrate_fit_count(m, raw, (enum calibrate_where)i, &good, &all);
        if (calibrate_fit_is_poor(good, all))
            log_warn("a poor fit: the model is right at only %zu of %zu sizes %s; do not rely on "
                     "the "
                     "platform, and measure again when the machine is idle",
                     good, all, i ? "between nodes" : "within a node");
    }
}

static int fit(const struct request *q, const struct calibrate_raw *raw)
{
    struct calibrate_machine *m = mem_alloc(sizeof *m);
    struct platform p;
    struct good good[2];
    struct buf text;
    struct err err;
    int status;
    buf_init(&text);
    platform_init(&p);
    if (calibrate_machine_fit(m, raw, &err) || write_platform(q, m, raw, &p, &err) ||
        write_plot(q, m, raw, &err)) {
        status = cli_fail(&err);
    } else {
        warn_of_poor_fit(m, raw);
        calibrate_report_text(m, raw, &text);
        buf_addf(&text, "\nThe machine is in '%s'; check it with: orrery calibrate --verify %s\n",
                 q->output ? q->output : OUTPUT, q->output ? q->output : OUTPUT);
        status = cli_print(&text);
        for (int i = 0; i < 2; i++)
            calibrate_fit_count(m, raw, (enum calibrate_where)i, &good[i].good, &good[i].all);
        status = write_json(q, good, &p, status);
    }
    platform_fini(&p);
    buf_fini(&text);
    mem_free(m);
    return status;
}

/* ---- verify ---- */

static int verify_place(struct request *q, const struct calibrate_raw *raw,
                        enum calibrate_where where, struct good *good, struct buf *out,
                        struct err *err)
{
    struct calibrate_raw simulated;
    if (!calibrate_raw_find(raw, "pingpong", where))
        return 0;
    int rc = experiment_measure_simulated(q->verify, raw, where, &simulated, &q->signal, err);
    if (rc)
        return rc;
    rc = calibrate_verify(raw, &simulated, &good->good, &good->all, out, err);
    calibrate_raw_fini(&simulated);
    return rc;
}

static int verify(struct request *q, const struct calibrate_raw *raw)
{
    struct good place[2] = {0};
    struct buf text;
    struct err err;
    buf_init(&text);
    int rc = verify_place(q, raw, CALIBRATE_INTRA, &place[CALIBRATE_INTRA], &text, &err);
    if (rc == 0)
        rc = verify_place(q, raw, CALIBRATE_INTER, &place[CALIBRATE_INTER], &text, &err);
    size_t good = place[0].good + place[1].good, all = place[0].all + place[1].all;
    if (rc == 0 && all == 0)
        rc = err_set(&err, ERR_INPUT, "nothing to compare: there is no record of kind 'pingpong'");
    int status = rc ? fail(q, &err) : EXIT_DONE;
    if (rc == 0) {
        int enough = (double)good >= CALIBRATE_GOOD_PART * (double)all;
        buf_addf(&text, "\nMeasured: %s\n", q->from ? q->from : "just now");
        if (q->from && !q->again)
            buf_adds(&text, "(--again measures anew)\n");
        buf_addf(&text, "%zu of %zu sizes within 10%% or the quartile range: the platform %s\n",
                 good, all, enough ? "predicts this machine" : "does not predict this machine");
        status = cli_print(&text);
        if (status == EXIT_DONE && !enough)
            status = EXIT_FINDING;
        status = write_json(q, place, NULL, status);
    }
    buf_fini(&text);
    return status;
}

/* Checks both before a measurement, which takes minutes. */
static int check_platform(const struct request *q, struct err *err)
{
    struct cli_machine given = {.platform = q->verify};
    struct platform p;
    int rc = cli_machine_make(&given, &p, err);
    if (rc == 0)
        platform_fini(&p);
    cli_machine_fini(&given);
    return rc ? err_prefix(err, "--verify") : 0;
}

static int check_outputs(const struct request *q, struct err *err)
{
    const struct cli_output outputs[] = {
        {"--output", q->verify   ? NULL
                     : q->output ? q->output
                                 : OUTPUT},
        {"--raw", q->raw},
        {"--plot", q->plot},
        {"--json", q->json},
    };
    int rc = cli_outputs_check_svg("--plot", q->plot, err);
    return rc ? rc : cli_outputs_check(outputs, sizeof outputs / sizeof outputs[0], err);
}

static int check(const struct request *q, int next, int argc, char **argv, struct err *err)
{
    if (next < argc)
        return err_set(err, ERR_INPUT, "calibrate takes no argument, but '%s' was given",
                       argv[next]);
    if (q->verify && (q->output || q->plot || q->name))
        return err_set(err, ERR_INPUT,
                       "--verify writes no platform and no plot: leave out --output, --plot "
                       "and --name");
    if (q->again && (!q->verify || q->from))
        return err_set(err, ERR_INPUT, "--again: goes with --verify, and not with --from");
    if (q->from && (q->raw || q->how.launcher || q->how.ranks))
        return err_set(err, ERR_INPUT,
                       "--from measures nothing: leave out --raw, --launcher and --ranks");
    int rc = q->verify ? check_platform(q, err) : 0;
    return rc ? rc : check_outputs(q, err);
}

/* By default a platform is compared with the measurements that it was made from, if they exist. */
static void find_measurements(struct request *q, struct buf *name)
{
    const char *end;
    if (!q->verify || q->from || q->again || q->raw || q->how.launcher || q->how.ranks)
        return;
    end = strrchr(q->verify, '.');
    if (!end || (strcmp(end, ".yaml") != 0 && strcmp(end, ".yml") != 0))
        return;
    buf_add(name, q->verify, (size_t)(end - q->verify));
    buf_adds(name, ".csv");
    if (access(buf_str(name), R_OK) == 0)
        q->from = buf_str(name);
}

static int calibrate_main(int argc, char **argv)
{
    struct request q = {.how.progress = -1};
    struct calibrate_raw raw;
    struct buf beside;
    struct err err;
    int next, status;
    if (cli_begin(&usage, argc, argv, &q, &next, &status))
        return status;
    q.how.pingpong_only = q.verify != NULL;
    q.how.progress = cli_shared_progress(q.how.progress, q.quiet);
    if (check(&q, next, argc, argv, &err))
        return cli_fail(&err);
    buf_init(&beside);
    find_measurements(&q, &beside);
    if (get_raw(&q, &raw, &err)) {
        buf_fini(&beside);
        return fail(&q, &err);
    }
    status = q.verify ? verify(&q, &raw) : fit(&q, &raw);
    calibrate_raw_fini(&raw);
    buf_fini(&beside);
    return status;
}

const struct cli_command cli_cmd_calibrate = {
    .summary = "measure this machine and make a platform of it",
    .usage = &usage,
    .starts = 1,
    .main = calibrate_main,
};
