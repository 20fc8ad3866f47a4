/*
 * table.c - tables in memory.
 */
#include "analysis/table.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

struct kept {
    struct kept *next;
    max_align_t data[];
};

static void *keep(struct tables *t, size_t bytes)
{
    struct kept *kept = mem_alloc(sizeof *kept + bytes);
    kept->next = t->memory;
    t->memory = kept;
    return kept->data;
}

const char *table_role_name(enum table_role role)
{
    static const char *const names[TABLE_ROLES] = {
        [TABLE_KEY] = "key",       [TABLE_COUNT] = "count", [TABLE_TIME] = "time",
        [TABLE_RATIO] = "ratio",   [TABLE_TIMES] = "times", [TABLE_NOTE] = "note",
        [TABLE_SERIES] = "series",
    };
    return names[role];
}

void tables_init(struct tables *t)
{
    *t = (struct tables){.kind = "statistics"};
}

void tables_fini(struct tables *t)
{
    for (size_t i = 0; i < t->count; i++) {
        mem_free(t->items[i].columns);
        mem_free(t->items[i].cells);
    }
    for (struct kept *kept = t->memory, *next; kept; kept = next) {
        next = kept->next;
        mem_free(kept);
    }
    mem_free(t->items);
    mem_free(t->meta);
    *t = (struct tables){0};
}

const char *tables_keep_text(struct tables *t, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(keep(t, bytes), text, bytes);
}

struct table_list *tables_keep_list(struct tables *t, size_t count)
{
    struct table_list *list = keep(t, sizeof *list + count * sizeof *list->items);
    list->count = count;
    return list;
}

void tables_add_meta(struct tables *t, const char *key, const char *value)
{
    ARRAY_EXTEND(t->meta, t->meta_count);
    t->meta[t->meta_count++] = (struct tables_meta){tables_keep_text(t, key),
                                                    tables_keep_text(t, value)};
}

const char *tables_meta(const struct tables *t, const char *key)
{
    for (size_t i = 0; i < t->meta_count; i++)
        if (strcmp(t->meta[i].key, key) == 0)
            return t->meta[i].value;
    return "";
}

void tables_set_meta(struct tables *t, const char *key, const char *value)
{
    for (size_t i = 0; i < t->meta_count; i++)
        if (strcmp(t->meta[i].key, key) == 0) {
            t->meta[i].value = tables_keep_text(t, value);
            return;
        }
    tables_add_meta(t, key, value);
}

struct table *tables_add(struct tables *t, const char *group, const char *name)
{
    ARRAY_EXTEND(t->items, t->count);
    struct table *table = &t->items[t->count++];
    *table = (struct table){.name = tables_keep_text(t, name), .group = tables_keep_text(t, group)};
    return table;
}

void table_add_column(struct tables *t, struct table *table, const char *name, const char *unit,
                      enum table_role role)
{
    ARRAY_EXTEND(table->columns, table->column_count);
    table->columns[table->column_count++] = (struct table_column){tables_keep_text(t, name),
                                                                  tables_keep_text(t, unit), role};
}

union table_cell *table_add_row(struct table *table)
{
    size_t rows = table->row_count, width = table->column_count;
    if ((rows & (rows - 1)) == 0)
        table->cells = mem_realloc(table->cells,
                                   (rows ? 2 * rows : 1) * (width + 1) * sizeof *table->cells);
    union table_cell *row = table->cells + rows * width;
    for (size_t i = 0; i < width; i++) {
        enum table_role role = table->columns[i].role;
        if (table_role_is_list(role))
            row[i].list = NULL;
        else if (role == TABLE_KEY || role == TABLE_NOTE)
            row[i].text = "";
        else
            row[i].number = NAN;
    }
    table->row_count++;
    return row;
}

const struct table *tables_find(const struct tables *t, const char *group, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->items[i].name, name) == 0 && strcmp(t->items[i].group, group) == 0)
            return &t->items[i];
    return NULL;
}
