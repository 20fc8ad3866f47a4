/*
 * panels.c - writes the results of an analysis for the front end.
 */
#include "report/panels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- plain values ---- */

static void write_overall(const struct analysis *a, struct json *json)
{
    const struct {
        const char *key;
        double value;
    } values[] = {
        {"ranks", (double)a->ranks},
        {"nodes", (double)a->nodes},
        {"events", (double)a->events},
        {"lost", a->lost},
        {"runtime", a->runtime},
        {"compute", a->compute},
        {"mpi", a->mpi},
        {"file", a->file},
        {"wait", a->wait},
        {"sent", a->sent},
        {"received", a->received},
        {"messages", a->messages},
        {"collectiveBytes", a->collective_bytes},
        {"rmaBytes", a->rma_bytes},
        {"fileBytes", a->file_bytes},
        {"calls", a->calls},
        {"bandwidth", a->bandwidth},
        {"unmatchedSends", a->unmatched_sends},
        {"unmatchedReceives", a->unmatched_receives},
        {"requests", a->requests},
        {"tested", a->tested},
        {"testsFailed", a->tests_failed},
        {"overlapped", a->overlapped},
        {"exposed", a->exposed},
    };
    json_put_string(json, "source", a->source);
    json_put_string(json, "program", a->program);
    json_put_string(json, "recorder", a->recorder);
    json_put_string(json, "warning", a->warning.code ? a->warning.text : "");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        json_put_double(json, values[i].key, values[i].value);
}

static void write_efficiency(const struct analysis_efficiency *e, struct json *json)
{
    json_key(json, "efficiency");
    json_object_begin(json);
    json_put_double(json, "parallel", e->parallel);
    json_put_double(json, "loadBalance", e->load_balance);
    json_put_double(json, "communication", e->communication);
    json_put_double(json, "serialisation", e->serialisation);
    json_put_double(json, "transfer", e->transfer);
    json_put_double(json, "file", e->file);
    json_put_double(json, "ideal", e->ideal);
    json_put_double(json, "idealWithoutFiles", e->ideal_without_files);
    json_object_end(json);
}

/* ---- functions ---- */

static enum report_kind kind_of_name(const struct trace_schema *schema, const char *name)
{
    int fn = trace_schema_find(schema, name);
    return fn < 0 ? REPORT_OTHER : report_kind_of(&schema->fns[fn]);
}

/* The functions of the timeline, by their numbers there. */
static void write_names(const struct timeline *t, struct json *json)
{
    const struct trace_schema *schema = t->trace->header.schema;
    json_key(json, "names");
    json_array_begin(json);
    for (unsigned i = 0; i < t->function_count; i++) {
        const struct trace_fn *fn = &schema->fns[t->function[i]];
        json_object_begin(json);
        json_put_string(json, "name", fn->name);
        json_put_double(json, "kind", report_kind_of(fn));
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_functions(const struct analysis *a, const struct trace_schema *schema,
                            struct json *json)
{
    json_key(json, "functions");
    json_array_begin(json);
    for (size_t i = 0; i < a->function_count; i++) {
        const struct analysis_function *f = &a->function[i];
        json_object_begin(json);
        json_put_string(json, "name", f->name);
        json_put_double(json, "kind", kind_of_name(schema, f->name));
        json_put_double(json, "calls", f->calls);
        json_put_double(json, "time", f->time);
        json_put_double(json, "mean", f->mean);
        json_put_double(json, "rankMean", f->rank_mean);
        json_put_double(json, "rankDeviation", f->rank_deviation);
        json_put_double(json, "rankMin", f->rank_min);
        json_put_double(json, "rankMax", f->rank_max);
        json_put_double(json, "bytes", f->bytes);
        json_put_double(json, "waits", f->waits);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- ranks ---- */

/* A value of every rank that is a member of struct analysis_rank. */
static void write_member(const struct analysis *a, const char *key, size_t offset,
                         struct chunks *chunks, struct json *json)
{
    double *values = mem_alloc(a->ranks * sizeof *values);
    for (uint64_t i = 0; i < a->ranks; i++)
        memcpy(&values[i], (const char *)&a->rank[i] + offset, sizeof values[i]);
    json_key(json, key);
    json_uint(json, chunks_add_floats(chunks, values, a->ranks));
    mem_free(values);
}

static void write_kinds(const struct timeline *t, uint64_t ranks, struct chunks *chunks,
                        struct json *json)
{
    double *values = mem_alloc(ranks * sizeof *values);
    json_key(json, "kinds");
    json_array_begin(json);
    for (unsigned k = 0; k < REPORT_KINDS; k++) {
        for (uint64_t i = 0; i < ranks; i++)
            values[i] = t->kinds[i * REPORT_KINDS + k];
        json_uint(json, chunks_add_floats(chunks, values, ranks));
    }
    json_array_end(json);
    mem_free(values);
}

static void write_ranks(const struct analysis *a, const struct timeline *t, struct chunks *chunks,
                        struct json *json)
{
    static const struct {
        const char *key;
        size_t offset;
    } members[] = {
        {"wait", offsetof(struct analysis_rank, wait)},
        {"sent", offsetof(struct analysis_rank, sent)},
        {"received", offsetof(struct analysis_rank, received)},
        {"messages", offsetof(struct analysis_rank, messages)},
        {"path", offsetof(struct analysis_rank, path)},
        {"delayCost", offsetof(struct analysis_rank, delay_cost)},
    };
    json_key(json, "perRank");
    json_object_begin(json);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        write_member(a, members[i].key, members[i].offset, chunks, json);
    double *waits = mem_zalloc(a->ranks * sizeof *waits);
    for (uint64_t i = 0; i < a->ranks; i++)
        for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++)
            waits[i] += a->rank[i].waits[k];
    json_key(json, "waitStates");
    json_uint(json, chunks_add_floats(chunks, waits, a->ranks));
    mem_free(waits);
    write_kinds(t, a->ranks, chunks, json);
    json_object_end(json);
}

/* ---- matrix ---- */

void panels_matrix_init(struct panels_matrix *m, const struct analysis *a)
{
    uint64_t ranks = a->ranks ? a->ranks : 1;
    m->width = a->pair_width ? a->pair_width : 1;
    while ((ranks + m->width - 1) / m->width > PANELS_MATRIX_MOST)
        m->width *= 2;
    m->size = (ranks + m->width - 1) / m->width;
    size_t cells = (size_t)(m->size * m->size);
    m->bytes = mem_zalloc(cells * sizeof *m->bytes);
    m->messages = mem_zalloc(cells * sizeof *m->messages);
    m->time = mem_zalloc(cells * sizeof *m->time);
    for (size_t i = 0; i < a->pair_count; i++) {
        const struct analysis_pair *p = &a->pair[i];
        if (p->from >= ranks || p->to >= ranks)
            continue;
        size_t cell = (size_t)(p->from / m->width * m->size + p->to / m->width);
        m->bytes[cell] += p->bytes;
        m->messages[cell] += p->messages;
        m->time[cell] += p->time;
    }
}

void panels_matrix_fini(struct panels_matrix *m)
{
    mem_free(m->bytes);
    mem_free(m->messages);
    mem_free(m->time);
}

static void write_matrix(const struct analysis *a, struct chunks *chunks, struct json *json)
{
    struct panels_matrix m;
    panels_matrix_init(&m, a);
    size_t cells = (size_t)(m.size * m.size);
    json_key(json, "matrix");
    json_object_begin(json);
    json_key(json, "size");
    json_uint(json, m.size);
    json_key(json, "width");
    json_uint(json, m.width);
    json_key(json, "bytes");
    json_uint(json, chunks_add_floats(chunks, m.bytes, cells));
    json_key(json, "messages");
    json_uint(json, chunks_add_floats(chunks, m.messages, cells));
    json_key(json, "time");
    json_uint(json, chunks_add_floats(chunks, m.time, cells));
    json_object_end(json);
    panels_matrix_fini(&m);
}

/* ---- phases ---- */

void panels_phases_init(struct panels_phases *p, const struct analysis_phases *from)
{
    p->row_width = (from->ranks + PANELS_PHASE_ROWS - 1) / PANELS_PHASE_ROWS;
    p->column_width = (from->count + PANELS_PHASE_COLUMNS - 1) / PANELS_PHASE_COLUMNS;
    p->rows = p->row_width ? (from->ranks + p->row_width - 1) / p->row_width : 0;
    p->columns = p->column_width ? (from->count + p->column_width - 1) / p->column_width : 0;
    size_t cells = (size_t)(p->rows * p->columns);
    double *counts = mem_zalloc(cells * sizeof *counts);
    p->times = mem_zalloc(cells * sizeof *p->times);
    for (uint64_t i = 0; i < from->ranks; i++)
        for (uint64_t k = 0; k < from->count; k++) {
            size_t cell = (size_t)(i / p->row_width * p->columns + k / p->column_width);
            float time = from->times[i * from->count + k];
            if (!isnan(time)) {
                p->times[cell] += (double)time;
                counts[cell]++;
            }
        }
    for (size_t i = 0; i < cells; i++)
        p->times[i] = counts[i] > 0 ? p->times[i] / counts[i] : (double)NAN;
    mem_free(counts);
}

void panels_phases_fini(struct panels_phases *p)
{
    mem_free(p->times);
}

static void write_some_phases(const struct analysis_phases *from, struct chunks *chunks,
                              struct json *json)
{
    struct panels_phases p;
    panels_phases_init(&p, from);
    json_object_begin(json);
    json_put_string(json, "comm", from->comm);
    json_put_double(json, "ranks", (double)from->ranks);
    json_put_double(json, "count", (double)from->count);
    json_put_double(json, "merged", (double)from->merged);
    json_put_double(json, "rows", (double)p.rows);
    json_put_double(json, "columns", (double)p.columns);
    json_put_double(json, "rowWidth", (double)p.row_width);
    json_put_double(json, "columnWidth", (double)p.column_width);
    json_key(json, "times");
    json_uint(json, chunks_add_floats(chunks, p.times, (size_t)(p.rows * p.columns)));
    json_key(json, "functions");
    json_array_begin(json);
    for (uint64_t i = 0; i < from->count; i += p.column_width)
        json_string(json, from->phases[i].function);
    json_array_end(json);
    json_object_end(json);
    panels_phases_fini(&p);
}

static void write_phases(const struct analysis *a, struct chunks *chunks, struct json *json)
{
    json_key(json, "phases");
    json_array_begin(json);
    for (size_t i = 0; i < a->phases_count && i < PANELS_PHASES; i++)
        if (a->phases[i].count && a->phases[i].ranks)
            write_some_phases(&a->phases[i], chunks, json);
    json_array_end(json);
}

/* ---- waiting, and its causes ---- */

static void write_waits(const struct analysis *a, struct json *json)
{
    json_key(json, "waits");
    json_array_begin(json);
    for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++) {
        json_object_begin(json);
        json_put_string(json, "name", analysis_wait_name(k));
        json_put_double(json, "time", a->waits[k]);
        json_put_double(json, "count", (double)a->wait_counts[k]);
        json_object_end(json);
    }
    json_array_end(json);
}

static double path_of(const struct analysis_place *p)
{
    return p->path;
}

static double delay_of(const struct analysis_place *p)
{
    return p->delay_direct + p->delay_indirect;
}

static double waits_of(const struct analysis_place *p)
{
    double sum = 0;
    for (unsigned k = 0; k < ANALYSIS_WAIT_KINDS; k++)
        sum += p->waits[k];
    return sum;
}

static void write_place(const struct analysis_place *p, struct json *json)
{
    json_object_begin(json);
    json_put_string(json, "region", p->region);
    json_put_string(json, "function", p->function);
    json_put_string(json, "site", p->site);
    json_key(json, "isCompute");
    json_bool(json, p->is_compute);
    json_put_double(json, "path", p->path);
    json_put_double(json, "delayDirect", p->delay_direct);
    json_put_double(json, "delayIndirect", p->delay_indirect);
    json_put_double(json, "waits", waits_of(p));
    json_object_end(json);
}

static int most_first(const void *a, const void *b, void *value)
{
    double (*of)(const struct analysis_place *) = *(
        double (**)(const struct analysis_place *))value;
    const struct analysis_place *x = *(const struct analysis_place *const *)a;
    const struct analysis_place *y = *(const struct analysis_place *const *)b;
    double p = of(x), q = of(y);
    return p > q ? -1 : p < q ? 1 : x < y ? -1 : x > y;
}

/* The places with the largest values. */
static void write_places(const struct analysis *a, const char *key,
                         double (*of)(const struct analysis_place *), struct json *json)
{
    const struct analysis_place **places = mem_alloc((a->place_count + 1) * sizeof *places);
    for (size_t i = 0; i < a->place_count; i++)
        places[i] = &a->place[i];
    qsort_r(places, a->place_count, sizeof *places, most_first, &of);
    json_key(json, key);
    json_array_begin(json);
    for (size_t i = 0; i < a->place_count && i < PANELS_PLACES && of(places[i]) > 0; i++)
        write_place(places[i], json);
    json_array_end(json);
    mem_free(places);
}

static void write_path(const struct analysis *a, struct json *json)
{
    json_key(json, "path");
    json_object_begin(json);
    json_put_double(json, "compute", a->path_compute);
    json_put_double(json, "mpi", a->path_mpi);
    json_put_double(json, "file", a->path_file);
    json_put_double(json, "hops", (double)a->path_hops);
    json_put_double(json, "delayKnown", a->delay_known);
    json_put_double(json, "delayUnknown", a->delay_unknown);
    write_places(a, "places", path_of, json);
    write_places(a, "delays", delay_of, json);
    write_places(a, "waits", waits_of, json);
    json_object_end(json);
}

void panels_write(const struct analysis *a, const struct timeline *t, struct chunks *chunks,
                  struct json *json)
{
    write_overall(a, json);
    write_efficiency(&a->efficiency, json);
    write_names(t, json);
    write_functions(a, t->trace->header.schema, json);
    write_ranks(a, t, chunks, json);
    write_matrix(a, chunks, json);
    write_phases(a, chunks, json);
    write_waits(a, json);
    write_path(a, json);
}
