/*
 * tables.c - from struct analysis to tables. One list has all tables; for most of them it says
 * which members of which structs are the columns and rows.
 */
#include "analysis/tables.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/links.h"
#include "base/units.h"

/* Where a column comes from: a member of a struct, or the number of the row. */
struct field {
    const char *name, *unit;
    enum table_role role;
    enum { FIELD_DOUBLE, FIELD_COUNT, FIELD_INTEGER, FIELD_TEXT, FIELD_ROW } kind;
    size_t offset;
};

#define FIELD(type, member, name, unit, role)                         \
    {                                                                 \
        name, unit, role, FIELD_DOUBLE, offsetof(struct type, member) \
    }
#define COUNT(type, member, name)                                         \
    {                                                                     \
        name, "", TABLE_COUNT, FIELD_COUNT, offsetof(struct type, member) \
    }
/* 64 bits wide; as a note, a negative number is not known. */
#define NUMBER(type, member, name, role)                             \
    {                                                                \
        name, "", role, FIELD_INTEGER, offsetof(struct type, member) \
    }
#define TEXT(type, member, name, role)                            \
    {                                                             \
        name, "", role, FIELD_TEXT, offsetof(struct type, member) \
    }
#define ROW(name)                         \
    {                                     \
        name, "", TABLE_KEY, FIELD_ROW, 0 \
    }

static const struct field overall_fields[] = {
    FIELD(analysis, runtime, "runtime", "s", TABLE_TIME),
    FIELD(analysis, compute, "compute", "s", TABLE_TIME),
    FIELD(analysis, mpi, "mpi", "s", TABLE_TIME),
    FIELD(analysis, communication, "communication", "s", TABLE_TIME),
    FIELD(analysis, file, "file", "s", TABLE_TIME),
    FIELD(analysis, wait, "wait", "s", TABLE_TIME),
    FIELD(analysis, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis, sent, "sent", "B", TABLE_COUNT),
    FIELD(analysis, received, "received", "B", TABLE_COUNT),
    FIELD(analysis, collective_bytes, "collective", "B", TABLE_COUNT),
    FIELD(analysis, rma_bytes, "rma", "B", TABLE_COUNT),
    FIELD(analysis, file_bytes, "file-bytes", "B", TABLE_COUNT),
    FIELD(analysis, calls, "calls", "", TABLE_COUNT),
    FIELD(analysis, bandwidth, "bandwidth", "B/s", TABLE_RATIO),
};
static const struct field rank_fields[] = {
    ROW("rank"),
    FIELD(analysis_rank, start, "start", "s", TABLE_TIME),
    FIELD(analysis_rank, end, "end", "s", TABLE_TIME),
    FIELD(analysis_rank, compute, "compute", "s", TABLE_TIME),
    FIELD(analysis_rank, mpi, "mpi", "s", TABLE_TIME),
    FIELD(analysis_rank, communication, "communication", "s", TABLE_TIME),
    FIELD(analysis_rank, file, "file", "s", TABLE_TIME),
    FIELD(analysis_rank, wait, "wait", "s", TABLE_TIME),
    FIELD(analysis_rank, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis_rank, sent, "sent", "B", TABLE_COUNT),
    FIELD(analysis_rank, received, "received", "B", TABLE_COUNT),
    FIELD(analysis_rank, collective_bytes, "collective", "B", TABLE_COUNT),
    FIELD(analysis_rank, rma_bytes, "rma", "B", TABLE_COUNT),
    FIELD(analysis_rank, file_bytes, "file-bytes", "B", TABLE_COUNT),
    FIELD(analysis_rank, calls, "calls", "", TABLE_COUNT),
    NUMBER(analysis_rank, node, "node", TABLE_NOTE),
};
static const struct field node_fields[] = {
    NUMBER(analysis_node, node, "node", TABLE_KEY),
    FIELD(analysis_node, compute, "compute", "s", TABLE_TIME),
    FIELD(analysis_node, mpi, "mpi", "s", TABLE_TIME),
    FIELD(analysis_node, communication, "communication", "s", TABLE_TIME),
    FIELD(analysis_node, file, "file", "s", TABLE_TIME),
    FIELD(analysis_node, wait, "wait", "s", TABLE_TIME),
    FIELD(analysis_node, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis_node, sent, "sent", "B", TABLE_COUNT),
    FIELD(analysis_node, received, "received", "B", TABLE_COUNT),
    FIELD(analysis_node, collective_bytes, "collective", "B", TABLE_COUNT),
    FIELD(analysis_node, rma_bytes, "rma", "B", TABLE_COUNT),
    FIELD(analysis_node, file_bytes, "file-bytes", "B", TABLE_COUNT),
    COUNT(analysis_node, ranks, "ranks"),
    TEXT(analysis_node, name, "name", TABLE_NOTE),
};
static const struct field function_fields[] = {
    TEXT(analysis_function, name, "function", TABLE_KEY),
    FIELD(analysis_function, calls, "calls", "", TABLE_COUNT),
    FIELD(analysis_function, bytes, "bytes", "B", TABLE_COUNT),
    FIELD(analysis_function, time, "time", "s", TABLE_TIME),
    FIELD(analysis_function, mean, "mean", "s", TABLE_TIME),
    FIELD(analysis_function, rank_mean, "rank-mean", "s", TABLE_TIME),
    FIELD(analysis_function, rank_deviation, "rank-deviation", "s", TABLE_TIME),
    FIELD(analysis_function, rank_min, "rank-min", "s", TABLE_TIME),
    FIELD(analysis_function, rank_max, "rank-max", "s", TABLE_TIME),
    FIELD(analysis_function, waits, "waits", "s", TABLE_TIME),
    TEXT(analysis_function, class, "class", TABLE_NOTE),
};
static const struct field phase_fields[] = {
    FIELD(analysis_phase, mean, "mean", "s", TABLE_TIME),
    FIELD(analysis_phase, deviation, "deviation", "s", TABLE_TIME),
    FIELD(analysis_phase, min, "min", "s", TABLE_TIME),
    FIELD(analysis_phase, max, "max", "s", TABLE_TIME),
    COUNT(analysis_phase, ranks, "ranks"),
    TEXT(analysis_phase, function, "function", TABLE_NOTE),
};
static const struct field pair_fields[] = {
    NUMBER(analysis_pair, from, "from", TABLE_KEY),
    NUMBER(analysis_pair, to, "to", TABLE_KEY),
    FIELD(analysis_pair, messages, "messages", "", TABLE_COUNT),
    FIELD(analysis_pair, bytes, "bytes", "B", TABLE_COUNT),
    FIELD(analysis_pair, time, "time", "s", TABLE_TIME),
};
static const struct field node_pair_fields[] = {
    NUMBER(analysis_node_pair, from, "from", TABLE_KEY),
    NUMBER(analysis_node_pair, to, "to", TABLE_KEY),
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
    FIELD(analysis_efficiency, file, "file", "", TABLE_RATIO),
    FIELD(analysis_efficiency, ideal, "ideal-runtime", "s", TABLE_TIME),
    FIELD(analysis_efficiency, ideal_without_files, "ideal-without-files", "s", TABLE_TIME),
};
/* After the key "what". */
#define PLACE_KEYS                                         \
    TEXT(analysis_place, function, "function", TABLE_KEY), \
        TEXT(analysis_place, region, "region", TABLE_KEY), \
        TEXT(analysis_place, site, "site", TABLE_KEY)
static const struct field path_fields[] = {
    PLACE_KEYS,
    FIELD(analysis_place, path, "time", "s", TABLE_TIME),
};
static const struct field delay_fields[] = {
    PLACE_KEYS,
    FIELD(analysis_place, delay_direct, "direct", "s", TABLE_TIME),
    FIELD(analysis_place, delay_indirect, "indirect", "s", TABLE_TIME),
};
static const struct field path_rank_fields[] = {
    ROW("rank"),
    FIELD(analysis_rank, path, "time", "s", TABLE_TIME),
};
static const struct field delay_rank_fields[] = {
    ROW("rank"),
    FIELD(analysis_rank, delay_cost, "cost", "s", TABLE_TIME),
};
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
    ROW("rank"),
    FIELD(analysis_rank, overlapped, "overlapped", "s", TABLE_TIME),
    FIELD(analysis_rank, exposed, "exposed", "s", TABLE_TIME),
};

/* A table: its columns, and the rows. */
struct layout {
    enum analysis_group group;
    const char *name;
    const char *keys; /* of columns before the fields, with spaces between them; NULL: none */
    const struct field *fields;
    size_t field_count;
    /* The rows are the items of an array in struct analysis: offsets of its address and its length,
     * and the size of an item. A length of ONE_ROW: the struct at that offset is the row. */
    size_t items, length, size;
    int needs_nodes; /* there is no table if the nodes are not known */
    /* Adds rows that are not items of an array; `items` and so on are not used. */
    void (*add_rows)(struct tables *, struct table *, const struct analysis *,
                     const struct layout *);
};
#define ONE_ROW SIZE_MAX

/* ---- cells ---- */

static const char *number_text(struct tables *t, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return tables_keep_text(t, text);
}

static union table_cell make_cell(struct tables *t, const struct field *f, const void *item,
                                  uint64_t row)
{
    union table_cell cell = {.text = NULL};
    uint64_t number;
    memcpy(&number, (const char *)item + f->offset, sizeof number);
    switch (f->kind) {
    case FIELD_DOUBLE:
        memcpy(&cell.number, &number, sizeof cell.number);
        break;
    case FIELD_COUNT:
        cell.number = (double)number;
        break;
    case FIELD_INTEGER:
        cell.text = f->role == TABLE_NOTE && (int64_t)number < 0 ? ""
                                                                 : number_text(t, (int64_t)number);
        break;
    case FIELD_TEXT:
        cell.text = tables_keep_text(t, *(const char *const *)((const char *)item + f->offset));
        break;
    case FIELD_ROW:
        cell.text = number_text(t, (int64_t)row);
        break;
    }
    return cell;
}

static void put_fields(struct tables *t, union table_cell *cells, const struct layout *l,
                       const void *item, uint64_t row)
{
    for (size_t i = 0; i < l->field_count; i++)
        cells[i] = make_cell(t, &l->fields[i], item, row);
}

/* ---- rows that are no items of an array ---- */

static void add_phases(struct tables *t, struct table *table, const struct analysis *a,
                       const struct layout *l)
{
    for (size_t i = 0; i < a->phases_count; i++) {
        const struct analysis_phases *p = &a->phases[i];
        const char *comm = tables_keep_text(t, p->comm);
        for (uint64_t k = 0; k < p->count; k++) {
            union table_cell *row = table_add_row(table);
            row[0].text = comm;
            row[1].text = number_text(t, (int64_t)(k * p->merged));
            put_fields(t, row + 2, l, &p->phases[k], k);
        }
    }
}

static void add_phase_times(struct tables *t, struct table *table, const struct analysis *a,
                            const struct layout *l)
{
    (void)l;
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

static void add_waits(struct tables *t, struct table *table, const struct analysis *a,
                      const struct layout *l)
{
    (void)l;
    table_add_column(t, table, "count", "", TABLE_RATIO);
    table_add_column(t, table, "time", "s", TABLE_TIME);
    for (unsigned i = 0; i < ANALYSIS_WAIT_KINDS; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = tables_keep_text(t, analysis_wait_name(i));
        row[1].number = (double)a->wait_counts[i];
        row[2].number = a->waits[i];
    }
}

static void add_rank_waits(struct tables *t, struct table *table, const struct analysis *a,
                           const struct layout *l)
{
    (void)l;
    for (unsigned i = 0; i < ANALYSIS_WAIT_KINDS; i++)
        table_add_column(t, table, analysis_wait_name(i), "s", TABLE_TIME);
    for (uint64_t i = 0; i < a->ranks; i++) {
        union table_cell *row = table_add_row(table);
        row[0].text = number_text(t, (int64_t)i);
        for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++)
            row[1 + k].number = a->rank[i].waits[k];
    }
}

static double sum_of_times(const struct layout *l, const struct analysis_place *p)
{
    double sum = 0, value;
    for (size_t i = 0; i < l->field_count; i++)
        if (l->fields[i].kind == FIELD_DOUBLE) {
            memcpy(&value, (const char *)p + l->fields[i].offset, sizeof value);
            sum += value;
        }
    return sum;
}

/* Places where at least one time is not 0. */
static void add_places(struct tables *t, struct table *table, const struct analysis *a,
                       const struct layout *l)
{
    for (size_t i = 0; i < a->place_count; i++) {
        const struct analysis_place *p = &a->place[i];
        if (sum_of_times(l, p) <= 0)
            continue;
        union table_cell *row = table_add_row(table);
        row[0].text = i < 2 ? "unknown" : p->is_compute ? "compute" : p->is_file ? "file" : "mpi";
        put_fields(t, row + 1, l, p, i);
    }
}

/* The bytes include those of the machine's protocols and algorithms, so they are not the program's
 * structure. */
static void add_links(struct tables *t, struct table *table, const struct analysis *a,
                      const struct layout *l)
{
    const struct analysis_links *links = &a->links;
    (void)l;
    table_add_column(t, table, "bytes", "B", TABLE_RATIO);
    table_add_column(t, table, "busy", "", TABLE_RATIO);
    table_add_column(t, table, "peak", "", TABLE_RATIO);
    table_add_column(t, table, "load", "", TABLE_SERIES);
    for (size_t i = 0; i < links->used; i++) {
        const struct analysis_link *link = &links->link[i];
        struct table_list *list = tables_keep_list(t, links->bins);
        union table_cell *row = table_add_row(table);
        for (size_t k = 0; k < links->bins; k++)
            list->items[k] = analysis_link_load(links, link, k);
        row[0].text = tables_keep_text(t, link->name);
        row[1].number = link->bytes;
        row[2].number = analysis_link_busy(a, link);
        row[3].number = analysis_link_load(links, link, analysis_link_peak(links, link));
        row[4].list = list;
    }
}

static void add_tests(struct tables *t, struct table *table, const struct analysis *a,
                      const struct layout *l)
{
    (void)l;
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

/* ---- all tables ---- */

#define FIELDS(list) .fields = (list), .field_count = sizeof(list) / sizeof(list)[0]
#define ROWS(member, count)                                                                 \
    .items = offsetof(struct analysis, member), .length = offsetof(struct analysis, count), \
    .size = sizeof *((struct analysis *)NULL)->member
#define ONE(member) .items = (member), .length = ONE_ROW

static const struct layout layouts[] = {
    {ANALYSIS_OVERALL, "overall", FIELDS(overall_fields), ONE(0)},
    {ANALYSIS_RANKS, "ranks", FIELDS(rank_fields), ROWS(rank, ranks)},
    {ANALYSIS_RANKS, "nodes", FIELDS(node_fields), ROWS(node, nodes), .needs_nodes = 1},
    {ANALYSIS_FUNCTIONS, "functions", FIELDS(function_fields), ROWS(function, function_count)},
    {ANALYSIS_PHASES, "phases", .keys = "communicator phase", FIELDS(phase_fields),
     .add_rows = add_phases},
    {ANALYSIS_PHASES, "phase-times", .keys = "communicator rank", .add_rows = add_phase_times},
    {ANALYSIS_PAIRS, "pairs", FIELDS(pair_fields), ROWS(pair, pair_count)},
    {ANALYSIS_PAIRS, "node-pairs", FIELDS(node_pair_fields), ROWS(node_pair, node_pair_count),
     .needs_nodes = 1},
    {ANALYSIS_WAITS, "waits", .keys = "wait-state", .add_rows = add_waits},
    {ANALYSIS_WAITS, "rank-waits", .keys = "rank", .add_rows = add_rank_waits},
    {ANALYSIS_PATH, "path", .keys = "what", FIELDS(path_fields), .add_rows = add_places},
    {ANALYSIS_PATH, "path-ranks", FIELDS(path_rank_fields), ROWS(rank, ranks)},
    {ANALYSIS_DELAYS, "delays", .keys = "what", FIELDS(delay_fields), .add_rows = add_places},
    {ANALYSIS_DELAYS, "delay-ranks", FIELDS(delay_rank_fields), ROWS(rank, ranks)},
    {ANALYSIS_EFFICIENCY, "efficiency", FIELDS(efficiency_fields),
     ONE(offsetof(struct analysis, efficiency))},
    {ANALYSIS_REQUESTS, "requests", FIELDS(request_fields), ONE(0)},
    {ANALYSIS_REQUESTS, "tests", .keys = "tests", .add_rows = add_tests},
    {ANALYSIS_OVERLAP, "overlap", FIELDS(overlap_fields), ONE(0)},
    {ANALYSIS_OVERLAP, "rank-overlap", FIELDS(rank_overlap_fields), ROWS(rank, ranks)},
    {ANALYSIS_LINKS, "links", .keys = "link", .add_rows = add_links},
};

static struct table *add_table(struct tables *t, const struct layout *l)
{
    struct table *table = tables_add(t, analysis_groups[l->group].name, l->name);
    for (const char *at = l->keys; at && *at; at += strspn(at, " ")) {
        char key[32];
        size_t length = strcspn(at, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        table_add_column(t, table, key, "", TABLE_KEY);
        at += length;
    }
    for (size_t i = 0; i < l->field_count; i++)
        table_add_column(t, table, l->fields[i].name, l->fields[i].unit, l->fields[i].role);
    return table;
}

static void add_items(struct tables *t, struct table *table, const struct analysis *a,
                      const struct layout *l)
{
    const char *items = (const char *)a + l->items;
    uint64_t count = 1;
    if (l->length != ONE_ROW) {
        memcpy(&count, (const char *)a + l->length, sizeof count);
        items = *(const char *const *)items;
    }
    for (uint64_t i = 0; i < count; i++)
        put_fields(t, table_add_row(table), l, items + i * l->size, i);
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
    if (a->groups & 1u << ANALYSIS_LINKS && a->links.kind) {
        char text[UNITS_TEXT_MAX];
        tables_add_meta(t, "link-interval",
                        units_format_double(text, sizeof text, a->links.interval));
        tables_add_meta(t, "link-begin", units_format_double(text, sizeof text, a->links.begin));
    }
    if (a->warning.code)
        tables_add_meta(t, "warning", a->warning.text);
}

void tables_from_analysis(struct tables *t, const struct analysis *a)
{
    tables_init(t);
    add_meta(t, a);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        const struct layout *l = &layouts[i];
        if (!(a->groups & 1u << l->group) || (l->needs_nodes && !a->nodes) ||
            (l->group == ANALYSIS_LINKS && !a->links.kind))
            continue;
        (l->add_rows ? l->add_rows : add_items)(t, add_table(t, l), a, l);
    }
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
