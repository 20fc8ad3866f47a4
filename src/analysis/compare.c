/*
 * compare.c - compares rows with the same keys, in the order of the keys.
 */
#include "analysis/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

const char *compare_metric_name(enum compare_metric metric)
{
    static const char *const names[COMPARE_METRICS] = {
        [COMPARE_SYMMETRIC] = "symmetric",
        [COMPARE_LOG] = "log",
        [COMPARE_RELATIVE] = "relative",
    };
    return names[metric];
}

double compare_error(enum compare_metric metric, double a, double b)
{
    double difference = fabs(a - b);
    if (difference == 0)
        return 0;
    switch (metric) {
    case COMPARE_SYMMETRIC:
        return difference / (fabs(a) / 2 + fabs(b) / 2);
    case COMPARE_LOG:
        if (a <= 0 || b <= 0)
            return COMPARE_LOG_MOST;
        return fmin(fabs(log(a) - log(b)), COMPARE_LOG_MOST);
    default:
        return a == 0 ? 1 : difference / fabs(a);
    }
}

/* ---- rows by key ---- */

struct keyed {
    const char *key;
    size_t row;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *p = a, *q = b;
    int order = strcmp(p->key, q->key);
    return order ? order : (p->row > q->row) - (p->row < q->row);
}

/* All keys of a row, separated by spaces. */
static const char *row_key(struct tables *memory, const struct table *t, size_t row)
{
    struct buf key;
    buf_init(&key);
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].role == TABLE_KEY) {
            if (key.len)
                buf_addc(&key, ' ');
            buf_adds(&key, t->cells[row * t->column_count + i].text);
        }
    const char *text = tables_keep_text(memory, buf_str(&key));
    buf_fini(&key);
    return text;
}

static struct keyed *sort_rows(struct tables *memory, const struct table *t)
{
    struct keyed *rows = mem_alloc((t->row_count + 1) * sizeof *rows);
    for (size_t i = 0; i < t->row_count; i++)
        rows[i] = (struct keyed){row_key(memory, t, i), i};
    if (t->row_count)
        qsort(rows, t->row_count, sizeof *rows, by_key);
    return rows;
}

/* ---- one pair of tables ---- */

struct errors {
    uint64_t count;
    double mean, squares, max;
};

struct side {
    const struct table *table;
    struct keyed *rows;
};

struct joining {
    struct comparison *c;
    struct compare_group *group;
    struct errors *errors;
    struct side a, b;
    const struct table_column *column; /* that is compared */
    size_t at_a, at_b;                 /* its number */
    double total;                      /* of the column: sum of the larger values of both sides */
    int has_structure;
};

static void add_error(struct errors *e, double error)
{
    double from_mean = error - e->mean;
    e->mean += from_mean / (double)++e->count;
    e->squares += from_mean * (error - e->mean);
    e->max = error > e->max ? error : e->max;
}

static int is_before(const struct compare_difference *a, const struct compare_difference *b)
{
    int order;
    if (a->weight != b->weight)
        return a->weight > b->weight;
    if ((order = strcmp(a->table, b->table)) || (order = strcmp(a->row, b->row)))
        return order < 0;
    return strcmp(a->column, b->column) < 0;
}

static void keep_difference(struct comparison *c, struct compare_difference d)
{
    size_t at = c->difference_count;
    if (d.weight <= 0 || (at == COMPARE_DIFFERENCES && !is_before(&d, &c->differences[at - 1])))
        return;
    while (at > 0 && is_before(&d, &c->differences[at - 1])) {
        c->differences[at] = c->differences[at - 1];
        at--;
    }
    c->differences[at] = d;
    if (c->difference_count < COMPARE_DIFFERENCES)
        c->difference_count++;
}

static void compare_values(struct joining *j, const char *key, double a, double b)
{
    if (isnan(a) || isnan(b))
        return;
    j->group->is_compared = 1;
    if (a == 0 && b == 0)
        return; /* it would only dilute the mean */
    double error = compare_error(j->c->options.metric, a, b);
    add_error(j->errors, error);
    if (j->total > 0 && error > 0)
        keep_difference(j->c, (struct compare_difference){.table = j->a.table->name,
                                                          .row = key,
                                                          .column = j->column->name,
                                                          .unit = j->column->unit,
                                                          .a = a,
                                                          .b = b,
                                                          .error = error,
                                                          .weight = fabs(a - b) / j->total});
}

static const union table_cell *cell(const struct side *s, const struct keyed *row, size_t column)
{
    return row ? &s->table->cells[row->row * s->table->column_count + column] : NULL;
}

static void compare_lists(struct joining *j, const char *key, const struct table_list *a,
                          const struct table_list *b)
{
    size_t count = !a || !b ? 0 : a->count < b->count ? a->count : b->count;
    for (size_t i = 0; i < count; i++)
        compare_values(j, key, a->items[i], b->items[i]);
}

/* A missing row counts as 0, unless the tables have a structure. */
static double number_of(const union table_cell *c)
{
    return c ? c->number : 0;
}

static double larger_of(const union table_cell *a, const union table_cell *b, int is_list)
{
    double sum = 0;
    if (!is_list)
        return fmax(fabs(number_of(a)), fabs(number_of(b)));
    for (size_t i = 0; a && b && a->list && b->list && i < a->list->count && i < b->list->count;
         i++)
        if (!isnan(a->list->items[i]) && !isnan(b->list->items[i]))
            sum += fmax(a->list->items[i], b->list->items[i]);
    return sum;
}

/* Calls `take` for the rows of both sides in pairs, with NULL for a row that one side lacks. */
static void join(struct joining *j,
                 void (*take)(struct joining *, const struct keyed *, const struct keyed *))
{
    size_t a = 0, b = 0;
    while (a < j->a.table->row_count || b < j->b.table->row_count) {
        const struct keyed *row_a = a < j->a.table->row_count ? &j->a.rows[a] : NULL;
        const struct keyed *row_b = b < j->b.table->row_count ? &j->b.rows[b] : NULL;
        int order = !row_a ? 1 : !row_b ? -1 : strcmp(row_a->key, row_b->key);
        take(j, order <= 0 ? row_a : NULL, order >= 0 ? row_b : NULL);
        a += order <= 0;
        b += order >= 0;
    }
}

static void sum_row(struct joining *j, const struct keyed *a, const struct keyed *b)
{
    double larger = larger_of(cell(&j->a, a, j->at_a), cell(&j->b, b, j->at_b),
                              j->column->role == TABLE_TIMES);
    if (!isnan(larger))
        j->total += larger;
}

static void compare_row(struct joining *j, const struct keyed *a, const struct keyed *b)
{
    const union table_cell *x = cell(&j->a, a, j->at_a), *y = cell(&j->b, b, j->at_b);
    const char *key = a ? a->key : b->key;
    if (j->has_structure && !(a && b))
        return;
    if (j->column->role == TABLE_TIMES)
        compare_lists(j, key, x ? x->list : NULL, y ? y->list : NULL);
    else
        compare_values(j, key, number_of(x), number_of(y));
}

static void structure_row(struct joining *j, const struct keyed *a, const struct keyed *b)
{
    j->group->rows++;
    j->group->only_a += !b;
    j->group->only_b += !a;
    if ((a && b) || j->c->only_count == COMPARE_ONLY)
        return;
    j->c->only[j->c->only_count++] = (struct compare_only){j->a.table->name, a ? a->key : b->key,
                                                           !a};
}

static const struct table_column *same_column(const struct table *t, const struct table_column *c,
                                              size_t *at)
{
    for (*at = 0; *at < t->column_count; ++*at)
        if (strcmp(t->columns[*at].name, c->name) == 0 && t->columns[*at].role == c->role)
            return &t->columns[*at];
    return NULL;
}

static int is_compared(const struct comparison *c, const struct table_column *column)
{
    if (c->options.skeleton)
        return column->role == TABLE_COUNT;
    return column->role != TABLE_KEY && column->role != TABLE_NOTE && column->role != TABLE_SERIES;
}

/* In tables that count something, rows reflect the structure of the program; in others they depend
 * on times. */
static int has_structure(const struct table *t)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].role == TABLE_COUNT)
            return 1;
    return 0;
}

static void compare_tables_of(struct comparison *c, struct compare_group *group,
                              struct errors *errors, const struct table *a, const struct table *b)
{
    struct joining j = {.c = c, .group = group, .errors = errors};
    j.a = (struct side){a, sort_rows(&c->memory, a)};
    j.b = (struct side){b, sort_rows(&c->memory, b)};
    j.has_structure = has_structure(a) || has_structure(b);
    if (j.has_structure)
        join(&j, structure_row);
    for (size_t i = 0; i < a->column_count; i++) {
        j.at_a = i;
        j.column = &a->columns[i];
        if (!is_compared(c, j.column) || !same_column(b, j.column, &j.at_b))
            continue;
        j.total = 0;
        join(&j, sum_row);
        join(&j, compare_row);
    }
    mem_free(j.a.rows);
    mem_free(j.b.rows);
}

/* ---- all tables ---- */

static struct compare_group *group_of(struct comparison *c, const char *name)
{
    for (size_t i = 0; i < c->group_count; i++)
        if (strcmp(c->groups[i].name, name) == 0)
            return &c->groups[i];
    ARRAY_EXTEND(c->groups, c->group_count);
    c->groups[c->group_count] = (struct compare_group){.name = tables_keep_text(&c->memory, name)};
    return &c->groups[c->group_count++];
}

static void compare_group(struct comparison *c, const struct tables *a, const struct tables *b,
                          const char *name)
{
    struct compare_group *group = group_of(c, name);
    struct errors errors = {0};
    for (size_t i = 0; i < a->count; i++) {
        const struct table *other = strcmp(a->items[i].group, name) == 0
                                        ? tables_find(b, name, a->items[i].name)
                                        : NULL;
        if (other)
            compare_tables_of(c, group, &errors, &a->items[i], other);
    }
    group->values = errors.count;
    group->mean = errors.mean;
    group->max = errors.max;
    group->variance = errors.count ? errors.squares / (double)errors.count : 0;
    group->structure = group->rows ? (double)(group->only_a + group->only_b) / (double)group->rows
                                   : 0;
}

/* The sides may be freed: all texts are copied. */
static void own_texts(struct comparison *c)
{
    for (size_t i = 0; i < c->difference_count; i++) {
        struct compare_difference *d = &c->differences[i];
        d->table = tables_keep_text(&c->memory, d->table);
        d->column = tables_keep_text(&c->memory, d->column);
        d->unit = tables_keep_text(&c->memory, d->unit);
    }
    for (size_t i = 0; i < c->only_count; i++)
        c->only[i].table = tables_keep_text(&c->memory, c->only[i].table);
}

int compare_run(struct comparison *c, const struct tables *a, const struct tables *b,
                const struct compare_options *o, struct err *err)
{
    *c = (struct comparison){.options = *o};
    tables_init(&c->memory);
    tables_add_meta(&c->memory, "a", tables_meta(a, "source"));
    tables_add_meta(&c->memory, "b", tables_meta(b, "source"));
    for (size_t i = 0; i < a->count; i++)
        if ((i == 0 || strcmp(a->items[i].group, a->items[i - 1].group) != 0) &&
            tables_find(b, a->items[i].group, a->items[i].name))
            compare_group(c, a, b, a->items[i].group);
    /* without what a skeleton need not have */
    size_t kept = 0;
    for (size_t i = 0; i < c->group_count; i++)
        if (c->groups[i].is_compared || c->groups[i].rows)
            c->groups[kept++] = c->groups[i];
    c->group_count = kept;
    own_texts(c);
    if (kept)
        return 0;
    compare_fini(c);
    return err_set(err, ERR_INPUT, "there is nothing to compare: they have no group in common");
}

void compare_fini(struct comparison *c)
{
    mem_free(c->groups);
    tables_fini(&c->memory);
    *c = (struct comparison){0};
}
