/*
 * cmd_compare.c - `orrery compare`: how much two traces, or statistics of them, differ.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/tables.h"
#include "base/array.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/groups.h"
#include "cli/notes.h"
#include "cli/shared.h"
#include "cli/table_format.h"

/* A limit on the mean error of a group, of all groups, or on structure. */
struct threshold {
    char group[32]; /* "": of all groups */
    double most;
};

struct request {
    enum cli_format format;
    struct compare_options compare;
    const char *output;
    struct threshold *thresholds;
    size_t threshold_count;
};

static const char *const metrics[] = {"symmetric", "log", "relative", NULL};

/* The index of a word in a list, or -1. */
static int find_word(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static int set_format(void *into, const char *value, struct err *err)
{
    return cli_format_parse(value, &((struct request *)into)->format, err);
}

static int set_metric(void *into, const char *value, struct err *err)
{
    int found = find_word(metrics, value);
    if (found < 0)
        return err_set(err, ERR_INPUT, "unknown metric '%s': expected symmetric, log or relative",
                       value);
    ((struct request *)into)->compare.metric = (enum compare_metric)found;
    return 0;
}

static int set_skeleton(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->compare.skeleton = 1;
    return 0;
}

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->output, value, err);
}

static int check_group(const char *name, struct err *err)
{
    if (!*name || strcmp(name, "structure") == 0)
        return 0;
    return cli_group_find(name, "structure", err) ? 0 : err->code;
}

/* "5%" or "0.05" */
static int parse_share(const char *text, double *share, struct err *err)
{
    char number[32];
    size_t length = strlen(text);
    int is_percent = length > 0 && text[length - 1] == '%';
    if (length >= sizeof number)
        return err_set(err, ERR_INPUT, "bad share '%s': expected a number such as 5%% or 0.05",
                       text);
    snprintf(number, sizeof number, "%.*s", (int)(length - (size_t)is_percent), text);
    if (units_parse_double(number, share, err) != 0)
        return err->code;
    if (is_percent)
        *share /= 100;
    return 0;
}

/* GROUP=SHARE,... or SHARE for all. */
static int set_threshold(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    while (*value) {
        struct threshold t = {0};
        char item[80];
        size_t length = strcspn(value, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, value);
        char *is = strchr(item, '='), *share = is ? is + 1 : item;
        snprintf(t.group, sizeof t.group, "%.*s", is ? (int)(is - item) : 0, item);
        if (check_group(t.group, err) != 0 || parse_share(share, &t.most, err) != 0)
            return err->code;
        ARRAY_EXTEND(q->thresholds, q->threshold_count);
        q->thresholds[q->threshold_count++] = t;
        value += length + (value[length] == ',');
    }
    return 0;
}

static const struct cli_option options[] = {
    {"metric", 0, NULL, "METRIC", "symmetric (default), log or relative", set_metric},
    {"threshold", 0, NULL, "GROUP=SHARE",
     "exit with 1 above this mean error\n"
     "the largest mean error allowed for a group, such as functions=5%, or for each of them, such as 5%; "
     "'structure=0' is for rows that only one side has; several are separated by commas. If one is "
     "exceeded, an error says so, and the exit status is 1",
     set_threshold},
    {"skeleton", 0, NULL, NULL, "compare traffic and structure, no times", set_skeleton},
    {CLI_SHARED_FORMAT, set_format},
    {CLI_SHARED_OUTPUT, set_output},
    {CLI_SHARED_QUIET, cli_shared_quiet},
    {0},
};

static const struct cli_values values[] = {{"format", cli_formats}, {"metric", metrics}, {0}};

static const struct cli_usage usage = {
    .command = "compare",
    .synopsis = "[options] A B",
    .about = "Compares two traces, or what 'orrery analyze --format xml' has written of them, group "
             "by group: mean, largest value and variance of the errors of all values, what only "
             "one of them has, and what differs most. Exit status: 0; 1 if a threshold is "
             "exceeded; 2 for errors.",
    .options = options,
    .values = values,
    .arguments = CLI_ARGUMENTS_TRACES,
};

static void write_result(const struct comparison *c, enum cli_format format, struct buf *out)
{
    struct tables tables;
    if (format == CLI_FORMAT_TEXT) {
        compare_text(c, out);
        return;
    }
    compare_tables(c, &tables);
    cli_format_write(format, &tables, out);
    tables_fini(&tables);
}

/* Reports thresholds that are exceeded. Returns the exit status. */
static int judge(const struct request *q, const struct comparison *c)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < q->threshold_count; i++) {
        const struct threshold *t = &q->thresholds[i];
        int of_structure = strcmp(t->group, "structure") == 0;
        for (size_t k = 0; k < c->group_count; k++) {
            const struct compare_group *g = &c->groups[k];
            double value = of_structure ? g->structure : g->mean;
            if ((*t->group && !of_structure && strcmp(t->group, g->name) != 0) || value <= t->most)
                continue;
            log_warn("%s: %s is %.4g%%, more than %.4g%%", g->name,
                     of_structure ? "what only one side has" : "the mean error", 100 * value,
                     100 * t->most);
            status = EXIT_FINDING;
        }
    }
    return status;
}

static int open_side(struct tables *t, const char *path)
{
    struct err err, warning;
    char *temporary;
    int status = cli_trace_as_orr(path, &temporary);
    if (status)
        return status;
    int rc = tables_from_file(t, temporary ? temporary : path, 0, &warning, &err);
    if (rc == 0 && temporary)
        tables_set_meta(t, "source", path);
    formats_forget(temporary);
    if (rc != 0)
        return cli_fail(&err);
    if (warning.code)
        log_warn("%s: the intact part is compared", warning.text);
    return 0;
}

static int compare(const struct request *q, const char *const paths[2])
{
    struct tables sides[2];
    struct comparison c;
    struct err err;
    int status = open_side(&sides[0], paths[0]);
    if (status)
        return status;
    status = open_side(&sides[1], paths[1]);
    if (status) {
        tables_fini(&sides[0]);
        return status;
    }
    int rc = compare_run(&c, &sides[0], &sides[1], &q->compare, &err);
    tables_fini(&sides[0]);
    tables_fini(&sides[1]);
    if (rc != 0)
        return cli_fail(&err);
    struct buf out;
    buf_init(&out);
    write_result(&c, q->format, &out);
    if (q->output && buf_write_file(&out, q->output, &err) != 0)
        status = cli_fail(&err);
    else if (!q->output)
        status = cli_print(&out);
    if (status == EXIT_DONE)
        status = judge(q, &c);
    buf_fini(&out);
    compare_fini(&c);
    return status;
}

static int compare_main(int argc, char **argv)
{
    struct request q = {0};
    const char *paths[2] = {NULL, NULL}, *word;
    struct err err;
    int status, count = 0;
    for (;;) {
        if (cli_next(&usage, &argc, &argv, &q, &word, &status))
            return status;
        if (!word)
            break;
        if (count < 2)
            paths[count] = word;
        count++;
    }
    if (count != 2) {
        err_set(&err, ERR_INPUT,
                "compare takes two files, not %d, as in: orrery compare real.orr simulated.orr",
                count);
        return cli_fail(&err);
    }
    status = compare(&q, paths);
    mem_free(q.thresholds);
    return status;
}

const struct cli_command cli_cmd_compare = {
    .summary = "how much two traces or their statistics differ",
    .usage = &usage,
    .main = compare_main,
};
