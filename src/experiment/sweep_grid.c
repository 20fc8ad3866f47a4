/*
 * sweep_grid.c - the grid: dimensions in the order given, points numbered with the last dimension
 * changing fastest.
 *
 * Invariant: every dimension has a value, and the product of their numbers is at most
 * SWEEP_POINTS_MAX.
 */
#include "experiment/sweep_grid.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "experiment/sweep_range.h"

#define TYPED_MAX 1000

void sweep_grid_init(struct sweep_grid *g)
{
    memset(g, 0, sizeof *g);
}

static void fini_dim(struct sweep_dim *dim)
{
    for (size_t i = 0; i < dim->count; i++)
        mem_free(dim->values[i].text);
    mem_free(dim->values);
    mem_free(dim->key);
}

void sweep_grid_fini(struct sweep_grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        fini_dim(&g->dims[i]);
    mem_free(g->dims);
    memset(g, 0, sizeof *g);
}

const struct sweep_dim *sweep_grid_find(const struct sweep_grid *g, const char *key)
{
    for (size_t i = 0; i < g->count; i++)
        if (strcmp(g->dims[i].key, key) == 0)
            return &g->dims[i];
    return NULL;
}

/* The unit of all values; a bare 0 fits any. */
static const char *common_unit(const struct sweep_dim *dim)
{
    const char *unit = "";
    for (size_t i = 0; i < dim->count; i++) {
        const struct sweep_value *v = &dim->values[i];
        if (isnan(v->number))
            return NULL;
        if (*v->unit)
            unit = v->unit;
    }
    for (size_t i = 0; i < dim->count; i++)
        if (dim->values[i].number != 0 && strcmp(dim->values[i].unit, unit) != 0)
            return "";
    return unit;
}

static int add_items(struct sweep_dim *dim, const char *list, struct err *err)
{
    for (;;) {
        size_t length = strcspn(list, ",");
        char *item = mem_alloc(length + 1);
        memcpy(item, list, length);
        item[length] = 0;
        int rc = sweep_range_add(dim, item, err);
        mem_free(item);
        if (rc || !list[length])
            return rc;
        list += length + 1;
    }
}

/* Finds values given twice; ranges, which may be long, have none. */
static int check_twice(const struct sweep_dim *dim, struct err *err)
{
    for (size_t i = 0; i < dim->count && dim->count <= TYPED_MAX; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(dim->values[i].text, dim->values[k].text) == 0)
                return err_set(err, ERR_INPUT, "value '%s' is given twice", dim->values[i].text);
    return 0;
}

int sweep_grid_add(struct sweep_grid *g, const char *key, const char *list, struct err *err)
{
    struct sweep_dim dim = {.key = mem_strdup(key)};
    int rc = 0;
    if (sweep_grid_find(g, key) && !strchr(key, '['))
        rc = err_set(err, ERR_INPUT, "given twice: write all values in one list, with commas");
    if (rc == 0)
        rc = add_items(&dim, list, err);
    if (rc == 0)
        rc = check_twice(&dim, err);
    if (rc == 0 && sweep_grid_points(g) * dim.count > SWEEP_POINTS_MAX)
        rc = err_set(err, ERR_INPUT, "the grid would have more than %d points", SWEEP_POINTS_MAX);
    if (rc) {
        fini_dim(&dim);
        return rc;
    }
    dim.unit = common_unit(&dim);
    ARRAY_EXTEND(g->dims, g->count);
    g->dims[g->count++] = dim;
    return 0;
}

int sweep_grid_add_value(struct sweep_grid *g, const char *key, const char *text, struct err *err)
{
    struct sweep_dim *dim = (struct sweep_dim *)sweep_grid_find(g, key);
    if (!dim) {
        ARRAY_EXTEND(g->dims, g->count);
        dim = &g->dims[g->count++];
        *dim = (struct sweep_dim){.key = mem_strdup(key)};
    }
    ARRAY_EXTEND(dim->values, dim->count);
    dim->values[dim->count++] = (struct sweep_value){mem_strdup(text), NAN, ""};
    if (sweep_grid_points(g) > SWEEP_POINTS_MAX)
        return err_set(err, ERR_INPUT, "the grid would have more than %d points", SWEEP_POINTS_MAX);
    return check_twice(dim, err);
}

/* The end of the values that begin here: a comma before an item with "=", or the end of the
 * text. */
static const char *end_of_values(const char *text)
{
    for (const char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
        if (comma[1 + strcspn(comma + 1, ",=")] == '=')
            return comma;
    return text + strlen(text);
}

int sweep_grid_add_sets(struct sweep_grid *g, const char *text, struct err *err)
{
    for (;;) {
        size_t length = strcspn(text, "=,");
        if (length == 0 || text[length] != '=')
            return err_set(err, ERR_INPUT,
                           "bad setting '%s': expected KEY=VALUE,VALUE..., such as "
                           "net.latency=1us,10us",
                           text);
        const char *values = text + length + 1, *end = end_of_values(values);
        char *copy = mem_alloc((size_t)(end - text) + 1);
        memcpy(copy, text, (size_t)(end - text));
        copy[end - text] = 0;
        copy[length] = 0;
        int rc = sweep_grid_add(g, copy, copy + length + 1, err);
        if (rc)
            err_prefix(err, "%s", copy);
        mem_free(copy);
        if (rc || !*end)
            return rc;
        text = end + 1;
    }
}

/* ---- points ---- */

size_t sweep_grid_points(const struct sweep_grid *g)
{
    size_t points = 1;
    for (size_t i = 0; i < g->count; i++)
        points *= g->dims[i].count;
    return points;
}

size_t sweep_grid_index(const struct sweep_grid *g, size_t point, size_t dim)
{
    for (size_t i = g->count; i-- > dim + 1;)
        point /= g->dims[i].count;
    return point % g->dims[dim].count;
}

const struct sweep_value *sweep_grid_value(const struct sweep_grid *g, size_t point, size_t dim)
{
    return &g->dims[dim].values[sweep_grid_index(g, point, dim)];
}

void sweep_grid_name(const struct sweep_grid *g, size_t point, const struct sweep_dim *without,
                     struct buf *out)
{
    const char *separator = "";
    for (size_t i = 0; i < g->count; i++) {
        if (!sweep_dim_varies(&g->dims[i]) || &g->dims[i] == without)
            continue;
        buf_addf(out, "%s%s=%s", separator, g->dims[i].key, sweep_grid_value(g, point, i)->text);
        separator = ", ";
    }
}

/* ---- points by name ---- */

/* The index of a value: the same text, or the same number with another unit ("1ms", "1000us"). */
static int find_value(const struct sweep_dim *dim, const char *text, size_t *out)
{
    const char *unit;
    double number = sweep_number(text, &unit);
    for (size_t i = 0; i < dim->count; i++) {
        const struct sweep_value *v = &dim->values[i];
        if (strcmp(v->text, text) == 0 || (v->number == number && strcmp(v->unit, unit) == 0)) {
            *out = i;
            return 1;
        }
    }
    return 0;
}

static int no_dimension(const struct sweep_grid *g, const char *key, struct err *err)
{
    struct nearest nearest = {.word = key};
    for (size_t i = 0; i < g->count; i++)
        nearest_offer(&nearest, g->dims[i].key);
    return nearest.best
               ? err_set(err, ERR_INPUT, "'%s' is not given: did you mean '%s'?", key, nearest.best)
               : err_set(err, ERR_INPUT, "'%s' is not given in this sweep", key);
}

static int locate_one(const struct sweep_grid *g, char *item, size_t *index, struct err *err)
{
    char *equals = strchr(item, '=');
    if (!equals)
        return err_set(err, ERR_INPUT, "bad point '%s': expected KEY=VALUE", item);
    *equals = 0;
    const struct sweep_dim *dim = sweep_grid_find(g, item);
    if (!dim)
        return no_dimension(g, item, err);
    if (!find_value(dim, equals + 1, &index[dim - g->dims]))
        return err_set(err, ERR_INPUT, "'%s' is not one of the values of %s", equals + 1, item);
    return 0;
}

int sweep_grid_locate(const struct sweep_grid *g, const char *text, size_t *point, struct err *err)
{
    size_t *index = mem_zalloc((g->count + 1) * sizeof *index), found = 0;
    char *copy = mem_strdup(text), *save = NULL;
    int rc = 0;
    for (char *item = strtok_r(copy, ",", &save); item && rc == 0;
         item = strtok_r(NULL, ",", &save))
        rc = locate_one(g, item, index, err);
    for (size_t i = 0; i < g->count; i++)
        found = found * g->dims[i].count + index[i];
    if (rc == 0)
        *point = found;
    mem_free(copy);
    mem_free(index);
    return rc;
}
