/*
 * table_write.c - tables as XML, JSON and CSV. Numbers are written as the shortest text that reads
 * back as the same value.
 */
#include <math.h>
#include <string.h>

#include "analysis/table.h"
#include "base/json.h"
#include "base/units.h"
#include "base/xml.h"

static int is_text(const struct table_column *c)
{
    return c->role == TABLE_KEY || c->role == TABLE_NOTE;
}

static void add_number(struct buf *out, double number)
{
    char text[UNITS_TEXT_MAX];
    if (!isnan(number))
        buf_adds(out, units_format_double(text, sizeof text, number));
}

static void add_list(struct buf *out, const struct table_list *list, char between)
{
    for (size_t i = 0; list && i < list->count; i++) {
        if (i)
            buf_addc(out, between);
        if (isnan(list->items[i]))
            buf_addc(out, '-');
        else
            add_number(out, list->items[i]);
    }
}

/* ---- XML ---- */

static void xml_attribute(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, " %s=\"", name);
    xml_add_text(out, value);
    buf_addc(out, '"');
}

static void xml_columns(const struct table *t, struct buf *out)
{
    for (size_t i = 0; i < t->column_count; i++) {
        buf_adds(out, "      <column");
        xml_attribute(out, "name", t->columns[i].name);
        xml_attribute(out, "role", table_role_name(t->columns[i].role));
        if (*t->columns[i].unit)
            xml_attribute(out, "unit", t->columns[i].unit);
        buf_adds(out, "/>\n");
    }
}

static void xml_row(const struct table *t, const union table_cell *row, struct buf *out)
{
    buf_adds(out, "      <row");
    for (size_t i = 0; i < t->column_count; i++) {
        const struct table_column *c = &t->columns[i];
        if (is_text(c)) {
            xml_attribute(out, c->name, row[i].text);
        } else if (table_role_is_list(c->role)) {
            buf_addf(out, " %s=\"", c->name);
            add_list(out, row[i].list, ' ');
            buf_addc(out, '"');
        } else if (!isnan(row[i].number)) {
            buf_addf(out, " %s=\"", c->name);
            add_number(out, row[i].number);
            buf_addc(out, '"');
        }
    }
    buf_adds(out, "/>\n");
}

void tables_write_xml(const struct tables *t, struct buf *out)
{
    const char *group = NULL;
    buf_addf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<orrery-%s version=\"1\">\n  <meta",
             t->kind);
    for (size_t i = 0; i < t->meta_count; i++)
        xml_attribute(out, t->meta[i].key, t->meta[i].value);
    buf_adds(out, "/>\n");
    for (size_t i = 0; i < t->count; i++) {
        const struct table *table = &t->items[i];
        if (!group || strcmp(group, table->group) != 0) {
            buf_addf(out, "%s  <entry", group ? "  </entry>\n" : "");
            xml_attribute(out, "name", table->group);
            buf_adds(out, ">\n");
        }
        group = table->group;
        buf_adds(out, "    <table");
        xml_attribute(out, "name", table->name);
        buf_adds(out, ">\n");
        xml_columns(table, out);
        for (size_t k = 0; k < table->row_count; k++)
            xml_row(table, table->cells + k * table->column_count, out);
        buf_adds(out, "    </table>\n");
    }
    buf_addf(out, "%s</orrery-%s>\n", group ? "  </entry>\n" : "", t->kind);
}

/* ---- JSON ---- */

static void json_cell(struct json *j, const struct table_column *c, const union table_cell *cell)
{
    json_key(j, c->name);
    if (is_text(c)) {
        json_string(j, cell->text);
    } else if (!table_role_is_list(c->role)) {
        json_double(j, cell->number);
    } else {
        json_array_begin(j);
        for (size_t i = 0; cell->list && i < cell->list->count; i++)
            json_double(j, cell->list->items[i]);
        json_array_end(j);
    }
}

static void json_table(struct json *j, const struct table *t)
{
    json_key(j, t->name);
    json_array_begin(j);
    for (size_t i = 0; i < t->row_count; i++) {
        json_object_begin(j);
        for (size_t k = 0; k < t->column_count; k++)
            json_cell(j, &t->columns[k], &t->cells[i * t->column_count + k]);
        json_object_end(j);
    }
    json_array_end(j);
}

void tables_write_json(const struct tables *t, struct buf *out)
{
    struct json j;
    const char *group = NULL;
    json_init(&j, out);
    json_object_begin(&j);
    json_key(&j, "kind");
    json_string(&j, t->kind);
    json_key(&j, "version");
    json_uint(&j, 1);
    for (size_t i = 0; i < t->meta_count; i++) {
        json_key(&j, t->meta[i].key);
        json_string(&j, t->meta[i].value);
    }
    json_key(&j, "groups");
    json_object_begin(&j);
    for (size_t i = 0; i < t->count; i++) {
        if (!group || strcmp(group, t->items[i].group) != 0) {
            if (group)
                json_object_end(&j);
            json_key(&j, t->items[i].group);
            json_object_begin(&j);
        }
        group = t->items[i].group;
        json_table(&j, &t->items[i]);
    }
    if (group)
        json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    json_fini(&j);
}

/* ---- CSV ---- */

static void csv_row(const struct table *t, const union table_cell *row, struct buf *out)
{
    buf_add_csv(out, t->name);
    for (size_t i = 0; i < t->column_count; i++) {
        buf_addc(out, ',');
        if (is_text(&t->columns[i]))
            buf_add_csv(out, row[i].text);
        else if (table_role_is_list(t->columns[i].role))
            add_list(out, row[i].list, ';');
        else
            add_number(out, row[i].number);
    }
    buf_addc(out, '\n');
}

/* Every row begins with the name of its table. Each table starts with an empty line and a line with
 * the names of its columns. */
void tables_write_csv(const struct tables *t, struct buf *out)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct table *table = &t->items[i];
        buf_adds(out, i ? "\ntable" : "table");
        for (size_t k = 0; k < table->column_count; k++) {
            buf_addc(out, ',');
            buf_add_csv(out, table->columns[k].name);
        }
        buf_addc(out, '\n');
        for (size_t k = 0; k < table->row_count; k++)
            csv_row(table, table->cells + k * table->column_count, out);
    }
}
