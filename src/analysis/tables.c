/*
 * tables.c - from struct analysis to tables. Columns of numbers are lists of where they are in the struct.
 */
#include "analysis/tables.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A column that is a double in a struct. */
struct field {
    const char *name, *unit;
    enum table_role role;
    size_t offset;
};

#define FIELD(type, member, name, unit, role)           \
    {                                                   \
        name, unit, role, offsetof(struct type, member) \
    }
#define FIELDS(list) list, sizeof list / sizeof list[0]

static const struct field overall_fields[] = {
    FIELD(analysis, runtime, "runtime", "s", TABLE_TIME),
    FIELD(analysis, compute, "compute", "s", TABLE_TIME),
    FIELD(analysis, mpi, "mpi", "s", TABLE_TIME),
    FIELD(analysis, wait, "wait", "s", TABLE_TIME),
    FIELD(analysis, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis, sent, "sent", "B", TABLE_COUNT),
    FIELD(analysis, received, "received", "B", TABLE_COUNT),
    FIELD(analysis, collective_bytes, "collective", "B", TABLE_COUNT),
    FIELD(analysis, rma_bytes, "rma", "B", TABLE_COUNT),
    FIELD(analysis, calls, "calls", "", TABLE_COUNT),
    FIELD(analysis, bandwidth, "bandwidth", "B/s", TABLE_RATIO),
};
static const struct field rank_fields[] = {
    FIELD(analysis_rank, end, "end", "s", TABLE_TIME),
    FIELD(analysis_rank, compute, "compute", "s", TABLE_TIME),
    FIELD(analysis_rank, mpi, "mpi", "s", TABLE_TIME),
    FIELD(analysis_rank, wait, "wait", "s", TABLE_TIME),
    FIELD(analysis_rank, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis_rank, sent, "sent", "B", TABLE_COUNT),
    FIELD(analysis_rank, received, "received", "B", TABLE_COUNT),
    FIELD(analysis_rank, collective_bytes, "collective", "B", TABLE_COUNT),
    FIELD(analysis_rank, rma_bytes, "rma", "B", TABLE_COUNT),
    FIELD(analysis_rank, calls, "calls", "", TABLE_COUNT),
};
static const struct field node_fields[] = {
    FIELD(analysis_node, compute, "compute", "s", TABLE_TIME),
    FIELD(analysis_node, mpi, "mpi", "s", TABLE_TIME),
    FIELD(analysis_node, wait, "wait", "s", TABLE_TIME),
    FIELD(analysis_node, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis_node, sent, "sent", "B", TABLE_COUNT),
    FIELD(analysis_node, received, "received", "B", TABLE_COUNT),
    FIELD(analysis_node, collective_bytes, "collective", "B", TABLE_COUNT),
    FIELD(analysis_node, rma_bytes, "rma", "B", TABLE_COUNT),
};
static const struct field function_fields[] = {
    FIELD(analysis_function, calls, "calls", "", TABLE_COUNT),
    FIELD(analysis_function, bytes, "bytes", "B", TABLE_COUNT),
    FIELD(analysis_function, time, "time", "s", TABLE_TIME),
    FIELD(analysis_function, mean, "mean", "s", TABLE_TIME),
    FIELD(analysis_function, rank_mean, "rank-mean", "s", TABLE_TIME),
    FIELD(analysis_function, rank_deviation, "rank-deviation", "s", TABLE_TIME),
    FIELD(analysis_function, rank_min, "rank-min", "s", TABLE_TIME),
    FIELD(analysis_function, rank_max, "rank-max", "s", TABLE_TIME),
    FIELD(analysis_function, waits, "waits", "s", TABLE_TIME),
};
static const struct field phase_fields[] = {
    FIELD(analysis_phase, mean, "mean", "s", TABLE_TIME),
    FIELD(analysis_phase, deviation, "deviation", "s", TABLE_TIME),
    FIELD(analysis_phase, min, "min", "s", TABLE_TIME),
    FIELD(analysis_phase, max, "max", "s", TABLE_TIME),
};
static const struct field pair_fields[] = {
    FIELD(analysis_pair, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis_pair, bytes, "bytes", "B", TABLE_COUNT),
    FIELD(analysis_pair, time, "time", "s", TABLE_TIME),
};
static const struct field node_pair_fields[] = {
    FIELD(analysis_node_pair, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis_node_pair, bytes, "bytes", "B", TABLE_COUNT),
    FIELD(analysis_node_pair, time, "time", "s", TABLE_TIME),
};
static const struct field efficiency_fields[] = {
    FIELD(analysis_efficiency, parallel, "parallel", "", TABLE_RATIO),
    FIELD(analysis_efficiency, load_balance, "load-balance", "", TABLE_RATIO),
    FIELD(analysis_efficiency, communication, "communication", "", TABLE_RATIO),
    FIELD(analysis_efficiency, serialisation, "serialisation", "", TABLE_RATIO),
    FIELD(analysis_efficiency, transfer, "transfer", "", TABLE_RATIO),
    FIELD(analysis_efficiency, ideal, "ideal-runtime", "s", TABLE_TIME),
};
static const struct field path_fields[] = {FIELD(analysis_place, path, "time", "s", TABLE_TIME)};
static const struct field delay_fields[] = {
    FIELD(analysis_place, delay_direct, "direct", "s", TABLE_TIME),
    FIELD(analysis_place, delay_indirect, "indirect", "s", TABLE_TIME),
};
static const struct field path_rank_fields[] = {
    FIELD(analysis_rank, path, "time", "s", TABLE_TIME)};
static const struct field delay_rank_fields[] = {
    FIELD(analysis_rank, delay_cost, "cost", "s", TABLE_TIME)};
static const struct field request_fields[] = {
    FIELD(analysis, requests, "requests", "", TABLE_COUNT),
    FIELD(analysis, tested, "tested", "", TABLE_RATIO),
    FIELD(analysis, tests_failed, "failed-tests", "", TABLE_RATIO),
};
static const struct field overlap_fields[] = {
    FIELD(analysis, overlapped, "overlapped", "s", TABLE_TIME),
    FIELD(analysis, exposed, "exposed", "s", TABLE_TIME),
};
static const struct field rank_overlap_fields[] = {
    FIELD(analysis_rank, overlapped, "overlapped", "s", TABLE_TIME),
    FIELD(analysis_rank, exposed, "exposed", "s", TABLE_TIME),
};

/* ---- rows ---- */

/* A table whose first columns are keys (names with spaces between them), and whose others are fields. */
static struct table *add_table(struct tables *t, enum analysis_group group, const char *name,
                               const char *keys, const struct field *fields, size_t count)
{
    struct table *table = tables_add(t, analysis_groups[group].name, name);
    for (const char *at = keys; *at; at += strspn(at, " ")) {
        char key[32];
        size_t length = strcspn(at, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        table_add_column(t, table, key, "", TABLE_KEY);
        at += length;
    }
    for (size_t i = 0; i < count; i++)
        table_add_column(t, table, fields[i].name, fields[i].unit, fields[i].role);
    return table;
}

static void put_fields(union table_cell *cells, const struct field *fields, size_t count,
                       const void *from)
{
    for (size_t i = 0; i < count; i++)
        memcpy(&cells[i].number, (const char *)from + fields[i].offset, sizeof(double));
}

static const char *number_text(struct tables *t, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return tables_keep_text(t, text);
}

static void add_overall(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_OVERALL, "overall", "", FIELDS(overall_fields));
    put_fields(table_add_row(table), FIELDS(overall_fields), a);
}

static void add_ranks(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_RANKS, "ranks", "rank", FIELDS(rank_fields));
    table_add_column(t, table, "node", "", TABLE_NOTE);
    for (uint64_t i = 0; i < a->ranks; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = number_text(t, (int64_t)i);
        put_fields(row + 1, FIELDS(rank_fields), &a->rank[i]);
        row[table->column_count - 1].text = a->rank[i].node < 0 ? ""
                                                                : number_text(t, a->rank[i].node);
    }
    if (!a->nodes)
        return;
    table = add_table(t, ANALYSIS_RANKS, "nodes", "node", FIELDS(node_fields));
    table_add_column(t, table, "ranks", "", TABLE_COUNT);
    table_add_column(t, table, "name", "", TABLE_NOTE);
    for (uint64_t i = 0; i < a->nodes; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = number_text(t, a->node[i].node);
        put_fields(row + 1, FIELDS(node_fields), &a->node[i]);
        row[table->column_count - 2].number = (double)a->node[i].ranks;
        row[table->column_count - 1].text = tables_keep_text(t, a->node[i].name);
    }
}

static void add_functions(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_FUNCTIONS, "functions", "function",
                                    FIELDS(function_fields));
    for (size_t i = 0; i < a->function_count; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = tables_keep_text(t, a->function[i].name);
        put_fields(row + 1, FIELDS(function_fields), &a->function[i]);
    }
}

static void add_phases(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_PHASES, "phases", "communicator phase",
                                    FIELDS(phase_fields));
    table_add_column(t, table, "ranks", "", TABLE_COUNT);
    table_add_column(t, table, "function", "", TABLE_NOTE);
    for (size_t i = 0; i < a->phases_count; i++) {
        const struct analysis_phases *p = &a->phases[i];
        const char *comm = tables_keep_text(t, p->comm);
        for (uint64_t k = 0; k < p->count; k++) {
            union table_cell *row = table_add_row(table);
            row[0].text = comm;
            row[1].text = number_text(t, (int64_t)(k * p->merged));
            put_fields(row + 2, FIELDS(phase_fields), &p->phases[k]);
            row[table->column_count - 2].number = (double)p->phases[k].ranks;
            row[table->column_count - 1].text = tables_keep_text(t, p->phases[k].function);
        }
    }
    table = add_table(t, ANALYSIS_PHASES, "phase-times", "communicator rank", NULL, 0);
    table_add_column(t, table, "times", "s", TABLE_TIMES);
    for (size_t i = 0; i < a->phases_count; i++) {
        const struct analysis_phases *p = &a->phases[i];
        const char *comm = tables_keep_text(t, p->comm);
        for (uint64_t k = 0; k < p->ranks; k++) {
            union table_cell *row = table_add_row(table);
            struct table_list *list = tables_keep_list(t, p->count);
            memcpy(list->items, p->times + k * p->count, p->count * sizeof *list->items);
            row[0].text = comm;
            row[1].text = number_text(t, p->rank[k]);
            row[2].list = list;
        }
    }
}

static void add_pairs(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_PAIRS, "pairs", "from to", FIELDS(pair_fields));
    for (size_t i = 0; i < a->pair_count; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = number_text(t, (int64_t)a->pair[i].from);
        row[1].text = number_text(t, (int64_t)a->pair[i].to);
        put_fields(row + 2, FIELDS(pair_fields), &a->pair[i]);
    }
    if (!a->nodes)
        return;
    table = add_table(t, ANALYSIS_PAIRS, "node-pairs", "from to", FIELDS(node_pair_fields));
    for (size_t i = 0; i < a->node_pair_count; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = number_text(t, a->node_pair[i].from);
        row[1].text = number_text(t, a->node_pair[i].to);
        put_fields(row + 2, FIELDS(node_pair_fields), &a->node_pair[i]);
    }
}

static void add_waits(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_WAITS, "waits", "wait-state", NULL, 0);
    table_add_column(t, table, "count", "", TABLE_RATIO);
    table_add_column(t, table, "time", "s", TABLE_TIME);
    for (unsigned i = 0; i < ANALYSIS_WAIT_KINDS; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = tables_keep_text(t, analysis_wait_name(i));
        row[1].number = (double)a->wait_counts[i];
        row[2].number = a->waits[i];
    }
    table = add_table(t, ANALYSIS_WAITS, "rank-waits", "rank", NULL, 0);
    for (unsigned i = 0; i < ANALYSIS_WAIT_KINDS; i++)
        table_add_column(t, table, analysis_wait_name(i), "s", TABLE_TIME);
    for (uint64_t i = 0; i < a->ranks; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = number_text(t, (int64_t)i);
        for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++)
            row[1 + k].number = a->rank[i].waits[k];
    }
}

/* Places where at least one of the fields is not 0. */
static void add_places(struct tables *t, const struct analysis *a, enum analysis_group group,
                       const char *name, const struct field *fields, size_t count)
{
    struct table *table = add_table(t, group, name, "what function region site", fields, count);
    for (size_t i = 0; i < a->place_count; i++) {
        const struct analysis_place *p = &a->place[i];
        union table_cell values[4];
        double sum = 0;
        put_fields(values, fields, count, p);
        for (size_t k = 0; k < count; k++)
            sum += values[k].number;
        if (sum <= 0)
            continue;
        union table_cell *row = table_add_row(table);
        row[0].text = i < 2 ? "unknown" : p->is_compute ? "compute" : "mpi";
        row[1].text = tables_keep_text(t, p->function);
        row[2].text = tables_keep_text(t, p->region);
        row[3].text = tables_keep_text(t, p->site);
        memcpy(row + 4, values, count * sizeof *values);
    }
}

/* A table with a row for each rank. */
static void add_by_rank(struct tables *t, const struct analysis *a, enum analysis_group group,
                        const char *name, const struct field *fields, size_t count)
{
    struct table *table = add_table(t, group, name, "rank", fields, count);
    for (uint64_t i = 0; i < a->ranks; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = number_text(t, (int64_t)i);
        put_fields(row + 1, fields, count, &a->rank[i]);
    }
}

static void add_path(struct tables *t, const struct analysis *a)
{
    add_places(t, a, ANALYSIS_PATH, "path", FIELDS(path_fields));
    add_by_rank(t, a, ANALYSIS_PATH, "path-ranks", FIELDS(path_rank_fields));
}

static void add_delays(struct tables *t, const struct analysis *a)
{
    add_places(t, a, ANALYSIS_DELAYS, "delays", FIELDS(delay_fields));
    add_by_rank(t, a, ANALYSIS_DELAYS, "delay-ranks", FIELDS(delay_rank_fields));
}

static void add_efficiency(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_EFFICIENCY, "efficiency", "",
                                    FIELDS(efficiency_fields));
    put_fields(table_add_row(table), FIELDS(efficiency_fields), &a->efficiency);
}

static void add_requests(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_REQUESTS, "requests", "", FIELDS(request_fields));
    put_fields(table_add_row(table), FIELDS(request_fields), a);
    table = add_table(t, ANALYSIS_REQUESTS, "tests", "tests", NULL, 0);
    table_add_column(t, table, "requests", "", TABLE_RATIO);
    for (unsigned i = 0; i < ANALYSIS_TESTS_BINS; i++) {
        char range[48];
        if (!a->tests[i])
            continue;
        if (i == 0)
            snprintf(range, sizeof range, "1");
        else
            snprintf(range, sizeof range, "%llu-%llu", 1ull << i, (2ull << i) - 1);
        union table_cell *row = table_add_row(table);
        row[0].text = tables_keep_text(t, range);
        row[1].number = (double)a->tests[i];
    }
}

static void add_overlap(struct tables *t, const struct analysis *a)
{
    struct table *table = add_table(t, ANALYSIS_OVERLAP, "overlap", "", FIELDS(overlap_fields));
    put_fields(table_add_row(table), FIELDS(overlap_fields), a);
    add_by_rank(t, a, ANALYSIS_OVERLAP, "rank-overlap", FIELDS(rank_overlap_fields));
}

static void add_meta(struct tables *t, const struct analysis *a)
{
    tables_add_meta(t, "source", a->source);
    if (*a->program)
        tables_add_meta(t, "program", a->program);
    if (*a->recorder)
        tables_add_meta(t, "recorder", a->recorder);
    tables_add_meta(t, "ranks", number_text(t, (int64_t)a->ranks));
    tables_add_meta(t, "nodes", number_text(t, (int64_t)a->nodes));
    tables_add_meta(t, "records", number_text(t, (int64_t)a->events));
    if (a->pair_width > 1)
        tables_add_meta(t, "ranks-per-pair", number_text(t, (int64_t)a->pair_width));
    if (a->warning.code)
        tables_add_meta(t, "warning", a->warning.text);
}

void tables_from_analysis(struct tables *t, const struct analysis *a)
{
    static void (*const add[ANALYSIS_GROUPS])(struct tables *, const struct analysis *) = {
        [ANALYSIS_OVERALL] = add_overall,
        [ANALYSIS_RANKS] = add_ranks,
        [ANALYSIS_FUNCTIONS] = add_functions,
        [ANALYSIS_PHASES] = add_phases,
        [ANALYSIS_PAIRS] = add_pairs,
        [ANALYSIS_WAITS] = add_waits,
        [ANALYSIS_PATH] = add_path,
        [ANALYSIS_DELAYS] = add_delays,
        [ANALYSIS_EFFICIENCY] = add_efficiency,
        [ANALYSIS_REQUESTS] = add_requests,
        [ANALYSIS_OVERLAP] = add_overlap,
    };
    tables_init(t);
    add_meta(t, a);
    for (unsigned i = 0; i < ANALYSIS_GROUPS; i++)
        if (a->groups & 1u << i)
            add[i](t, a);
}

/* ---- files ---- */

/* XML begins with '<', or with a byte order mark; a trace never does. */
static int is_xml(const char *path)
{
    FILE *file = fopen(path, "rb");
    int first = file ? fgetc(file) : EOF;
    while (first == ' ' || first == '\t' || first == '\n' || first == '\r')
        first = fgetc(file);
    if (file)
        fclose(file);
    return first == '<' || first == 0xEF;
}

int tables_from_file(struct tables *t, const char *path, unsigned groups, struct err *warning,
                     struct err *err)
{
    struct analysis a;
    struct analysis_options o = {.groups = groups};
    warning->code = 0;
    if (is_xml(path))
        return tables_read_xml(t, path, err);
    if (analysis_run(&a, path, &o, err) != 0)
        return err->code;
    *warning = a.warning;
    tables_from_analysis(t, &a);
    analysis_fini(&a);
    return 0;
}
