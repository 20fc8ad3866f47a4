/*
 * vectors.c - records values of the network over time (see vectors.h).
 */
#include "net/vectors.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/json.h"
#include "base/mem.h"

static const struct {
    const char *name, *unit;
    int is_time;
} kinds[NET_VECTOR_KIND_COUNT] = {
#define KIND(name, text, unit, is_time) [NET_VECTOR_##name] = {(text), (unit), (is_time)},
    NET_VECTOR_KINDS(KIND)
#undef KIND
};

int net_vector_is_time(enum net_vector_kind kind)
{
    return kinds[kind].is_time;
}

void net_vectors_init(struct net_vectors *v, const char *pattern)
{
    *v = (struct net_vectors){.pattern = pattern};
}

void net_vectors_fini(struct net_vectors *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        mem_free(v->list[i]->at);
        mem_free(v->list[i]);
    }
    mem_free(v->list);
}

struct net_vector *net_vectors_add(struct net_vectors *v, enum net_vector_kind kind,
                                   const char *place)
{
    char name[2 * NET_NAME_MAX];
    struct net_vector *new;

    snprintf(name, sizeof name, "%s.%s", kinds[kind].name, place);
    if (!net_name_matches(v->pattern, name))
        return NULL;
    if (v->count == NET_VECTORS_MOST) {
        v->left_out++;
        return NULL;
    }
    new = mem_zalloc(sizeof *new);
    snprintf(new->name, sizeof new->name, "%.*s", NET_NAME_MAX - 1, name);
    new->kind = kind;
    ARRAY_RESERVE(v->list, v->room, v->count + 1, 16);
    v->list[v->count++] = new;
    return new;
}

/* ---- samples ---- */

static void merge(struct net_sample *to, const struct net_sample *from)
{
    to->least = from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->last = from->last;
}

/* Merges what is closer together than twice the spacing; at least every second sample goes if it
 * began with the mean distance. */
static void thin_out(struct net_vector *v)
{
    while (v->count == NET_VECTOR_SAMPLES) {
        uint32_t kept = 0;

        v->spacing = v->spacing ? 2 * v->spacing
                                : 1 + 2 * (v->at[v->count - 1].t - v->at[0].t) / v->count;
        for (uint32_t i = 1; i < v->count; i++)
            if (v->at[i].t - v->at[kept].t < v->spacing)
                merge(&v->at[kept], &v->at[i]);
            else
                v->at[++kept] = v->at[i];
        v->count = kept + 1;
    }
}

void net_vector_put(struct net_vector *v, vtime t, uint64_t value)
{
    const struct net_sample new = {t, value, value, value};
    struct net_sample *last = v->count ? &v->at[v->count - 1] : NULL;

    if (last && (t - last->t < v->spacing || t == last->t)) {
        merge(last, &new);
        return;
    }
    ARRAY_RESERVE(v->at, v->room, v->count + 1, 16);
    v->at[v->count++] = new;
    if (v->count == NET_VECTOR_SAMPLES)
        thin_out(v);
}

/* ---- files ---- */

static void put_value(struct json *j, const struct net_vector *v, uint64_t value)
{
    if (kinds[v->kind].is_time)
        json_decimal(j, value, 12);
    else
        json_uint(j, value);
}

static void put_row(struct json *j, const struct net_vector *v, const struct net_sample *s)
{
    json_array_begin(j);
    json_decimal(j, (uint64_t)s->t, 12);
    put_value(j, v, s->least);
    put_value(j, v, s->most);
    put_value(j, v, s->last);
    json_array_end(j);
}

static void put_vector(struct json *j, const struct net_vector *v)
{
    json_object_begin(j);
    json_key(j, "name");
    json_string(j, v->name);
    json_key(j, "unit");
    json_string(j, kinds[v->kind].unit);
    json_key(j, "spacing_s");
    json_decimal(j, (uint64_t)v->spacing, 12);
    json_key(j, "rows");
    json_array_begin(j);
    for (uint32_t i = 0; i < v->count; i++)
        put_row(j, v, &v->at[i]);
    json_array_end(j);
    json_object_end(j);
}

void net_vectors_json(const struct net_vectors *v, struct buf *out)
{
    static const char *const columns[] = {"time_s", "least", "most", "last"};
    struct json j;

    json_init(&j, out);
    json_object_begin(&j);
    json_key(&j, "columns");
    json_array_begin(&j);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        json_string(&j, columns[i]);
    json_array_end(&j);
    json_key(&j, "left_out");
    json_uint(&j, v->left_out);
    json_key(&j, "vectors");
    json_array_begin(&j);
    for (uint32_t i = 0; i < v->count; i++)
        put_vector(&j, v->list[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_fini(&j);
}

static void add_value(struct buf *out, const struct net_vector *v, uint64_t value)
{
    if (kinds[v->kind].is_time)
        buf_addf(out, ",%" PRIu64 ".%012" PRIu64, value / (uint64_t)VTIME_S,
                 value % (uint64_t)VTIME_S);
    else
        buf_addf(out, ",%" PRIu64, value);
}

void net_vectors_csv(const struct net_vectors *v, struct buf *out)
{
    buf_adds(out, "vector,unit,time_s,least,most,last\n");
    for (uint32_t i = 0; i < v->count; i++)
        for (uint32_t k = 0; k < v->list[i]->count; k++) {
            const struct net_vector *one = v->list[i];
            const struct net_sample *s = &one->at[k];

            buf_addf(out, "%s,%s,%" PRId64 ".%012" PRId64, one->name, kinds[one->kind].unit,
                     s->t / VTIME_S, s->t % VTIME_S);
            add_value(out, one, s->least);
            add_value(out, one, s->most);
            add_value(out, one, s->last);
            buf_addc(out, '\n');
        }
}
