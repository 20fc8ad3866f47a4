/*
 * links.c - writes the load of links over time as data of a report (see links.h).
 */
#include "report/links.h"

#include <string.h>

#include "analysis/links.h"
#include "base/mem.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void write_count(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

static void write_most(const struct analysis *a, struct json *json)
{
    const struct analysis_links *l = &a->links;
    json_key(json, "most");
    json_array_begin(json);
    for (size_t i = 0; i < least(l->used, LINKS_LISTED); i++) {
        const struct analysis_link *link = &l->link[i];
        size_t peak = analysis_link_peak(l, link);
        json_object_begin(json);
        json_key(json, "name");
        json_string(json, link->name);
        json_key(json, "bytes");
        json_double(json, link->bytes);
        json_key(json, "busy");
        json_double(json, analysis_link_busy(a, link));
        json_key(json, "peak");
        json_double(json, analysis_link_load(l, link, peak));
        write_count(json, "peakBin", peak);
        json_object_end(json);
    }
    json_array_end(json);
}

/* Number, x and y of each vertex. */
static void write_vertices(const struct analysis_links *l, struct chunks *chunks, struct json *json)
{
    double *places = mem_alloc((3 * l->vertex_count + 1) * sizeof *places);
    for (size_t i = 0; i < l->vertex_count; i++) {
        places[3 * i] = (double)l->vertex[i].number;
        places[3 * i + 1] = l->vertex[i].x;
        places[3 * i + 2] = l->vertex[i].y;
    }
    write_count(json, "places", chunks_add_floats(chunks, places, 3 * l->vertex_count));
    mem_free(places);
}

/* From, to, bytes and rate of each link. */
static void write_ends(const struct analysis_links *l, struct chunks *chunks, struct json *json)
{
    size_t count = least(l->count, LINKS_DRAWN);
    double *ends = mem_alloc((4 * count + 1) * sizeof *ends), *end = ends;
    for (size_t i = 0; i < count; i++, end += 4) {
        end[0] = (double)l->link[i].from;
        end[1] = (double)l->link[i].to;
        end[2] = l->link[i].bytes;
        end[3] = l->link[i].rate;
    }
    write_count(json, "ends", chunks_add_floats(chunks, ends, 4 * count));
    mem_free(ends);
}

/* Bytes in each bin, link by link. */
static void write_series(const struct analysis_links *l, struct chunks *chunks, struct json *json)
{
    size_t count = least(l->used, LINKS_SERIES);
    double *series = mem_alloc((count * l->bins + 1) * sizeof *series), *at = series;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < l->bins; k++)
            *at++ = l->link[i].bins[k];
    write_count(json, "series", chunks_add_floats(chunks, series, count * l->bins));
    write_count(json, "seriesCount", count);
    mem_free(series);
}

/* Time since the start of the timeline, least and greatest value of each sample. */
static void write_vectors(const struct analysis *a, struct chunks *chunks, struct json *json)
{
    const struct analysis_links *l = &a->links;
    json_key(json, "vectors");
    json_array_begin(json);
    for (size_t i = 0, same = 0; i < l->vector_count; i++) {
        const struct analysis_vector *v = &l->vector[i];
        same = i && strncmp(v->name, v[-1].name, strcspn(v->name, ".") + 1) == 0 ? same + 1 : 0;
        if (same >= LINKS_VECTORS)
            continue;
        double *rows = mem_alloc((3 * v->count + 1) * sizeof *rows);
        for (size_t k = 0; k < 3 * v->count; k++)
            rows[k] = v->rows[k] - (k % 3 == 0 ? a->begin : 0);
        json_object_begin(json);
        json_key(json, "name");
        json_string(json, v->name);
        json_key(json, "isTime");
        json_bool(json, v->is_time);
        write_count(json, "rows", chunks_add_floats(chunks, rows, 3 * v->count));
        json_object_end(json);
        mem_free(rows);
    }
    json_array_end(json);
}

void links_write(const struct analysis *a, struct chunks *chunks, struct json *json)
{
    const struct analysis_links *l = &a->links;
    if (!l->kind)
        return;
    json_key(json, "links");
    json_object_begin(json);
    json_key(json, "kind");
    json_string(json, l->kind);
    write_count(json, "nodes", l->nodes);
    write_count(json, "vertices", l->vertices);
    write_count(json, "all", l->all);
    write_count(json, "used", l->used);
    write_count(json, "bins", l->bins);
    json_key(json, "interval");
    json_double(json, l->interval);
    json_key(json, "begin"); /* since the start of the timeline */
    json_double(json, l->begin - a->begin);
    write_most(a, json);
    write_vertices(l, chunks, json);
    write_ends(l, chunks, json);
    write_series(l, chunks, json);
    write_vectors(a, chunks, json);
    json_object_end(json);
}
