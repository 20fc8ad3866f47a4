/*
 * table_read.c - statistics from XML. libxml2 reads it as a stream of elements.
 */
#include <libxml/xmlreader.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"
#include "base/mem.h"

#define COLUMNS_MOST 1000

struct reading {
    struct tables *tables;
    xmlTextReaderPtr reader;
    const char *path;
    struct table *table; /* that is open, or NULL */
    char *group;
    struct err *err;
    int failed;
    int is_ours; /* the root element is ours */
};

static int fail(struct reading *r, const char *what, const char *about)
{
    if (!r->failed)
        err_set(r->err, ERR_INPUT, "cannot read '%s': line %d: %s%s%s", r->path,
                (int)xmlGetLineNo(xmlTextReaderCurrentNode(r->reader)), what, *about ? " " : "",
                about);
    r->failed = 1;
    return ERR_INPUT;
}

/* libxml2 tells of the first mistake in the file. */
static void told(void *into, const char *message, xmlParserSeverities severity,
                 xmlTextReaderLocatorPtr locator)
{
    struct reading *r = into;
    if (r->failed || severity == XML_PARSER_SEVERITY_WARNING ||
        severity == XML_PARSER_SEVERITY_VALIDITY_WARNING)
        return;
    size_t length = strcspn(message, "\n");
    err_set(r->err, ERR_INPUT, "cannot read '%s': line %d: %.*s", r->path,
            xmlTextReaderLocatorLineNumber(locator), (int)length, message);
    r->failed = 1;
}

/* An attribute of the current element, for the caller to free with xmlFree; NULL: it has none. */
static char *attribute(struct reading *r, const char *name)
{
    return (char *)xmlTextReaderGetAttribute(r->reader, (const xmlChar *)name);
}

static void read_meta(struct reading *r)
{
    while (xmlTextReaderMoveToNextAttribute(r->reader) == 1)
        tables_add_meta(r->tables, (const char *)xmlTextReaderConstName(r->reader),
                        (const char *)xmlTextReaderConstValue(r->reader));
}

static int read_table(struct reading *r)
{
    char *name = attribute(r, "name");
    if (!name || !r->group) {
        xmlFree(name);
        return fail(r, r->group ? "a table without a name" : "a table outside of an entry", "");
    }
    r->table = tables_add(r->tables, r->group, name);
    xmlFree(name);
    return 0;
}

static int read_column(struct reading *r)
{
    char *name = attribute(r, "name"), *role = attribute(r, "role"), *unit = attribute(r, "unit");
    int number = -1, rc = 0;
    for (int i = 0; role && i < TABLE_ROLES; i++)
        if (strcmp(role, table_role_name(i)) == 0)
            number = i;
    if (!name || !r->table || r->table->row_count || r->table->column_count == COLUMNS_MOST)
        rc = fail(r, "a column that is not at its place", "");
    else if (number >= 0) /* others are of later versions */
        table_add_column(r->tables, r->table, name, unit ? unit : "", number);
    xmlFree(name);
    xmlFree(role);
    xmlFree(unit);
    return rc;
}

static int read_number(struct reading *r, const char *text, double *number)
{
    char *end;
    if (strcmp(text, "-") == 0) {
        *number = NAN;
        return 0;
    }
    *number = strtod(text, &end);
    return end == text || *end || !isfinite(*number) ? fail(r, "expected a number, not", text) : 0;
}

static int read_list(struct reading *r, const char *text, union table_cell *cell)
{
    size_t count = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " "), count++)
        at += strcspn(at, " ");
    struct table_list *list = tables_keep_list(r->tables, count);
    const char *at = text + strspn(text, " ");
    for (size_t i = 0; i < count; i++) {
        char word[64];
        size_t length = strcspn(at, " ");
        if (length >= sizeof word)
            return fail(r, "a number that is too long", "");
        memcpy(word, at, length);
        word[length] = '\0';
        if (read_number(r, word, &list->items[i]) != 0)
            return ERR_INPUT;
        at += length + strspn(at + length, " ");
    }
    cell->list = list;
    return 0;
}

static int read_row(struct reading *r)
{
    if (!r->table)
        return fail(r, "a row outside of a table", "");
    union table_cell *row = table_add_row(r->table);
    for (size_t i = 0; i < r->table->column_count; i++) {
        const struct table_column *c = &r->table->columns[i];
        char *text = attribute(r, c->name);
        int rc = 0;
        if (!text)
            continue;
        if (c->role == TABLE_KEY || c->role == TABLE_NOTE)
            row[i].text = tables_keep_text(r->tables, text);
        else if (c->role == TABLE_TIMES)
            rc = read_list(r, text, &row[i]);
        else
            rc = read_number(r, text, &row[i].number);
        xmlFree(text);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int read_entry(struct reading *r)
{
    xmlFree(r->group);
    r->group = attribute(r, "name");
    r->table = NULL;
    return r->group ? 0 : fail(r, "an entry without a name", "");
}

static int read_element(struct reading *r)
{
    const char *name = (const char *)xmlTextReaderConstLocalName(r->reader);
    if (!r->is_ours && strcmp(name, "orrery-statistics") != 0)
        return fail(r,
                    "expected <orrery-statistics>, as 'orrery analyze --format xml' writes it, not",
                    name);
    r->is_ours = 1;
    if (strcmp(name, "meta") == 0)
        read_meta(r);
    else if (strcmp(name, "entry") == 0)
        return read_entry(r);
    else if (strcmp(name, "table") == 0)
        return read_table(r);
    else if (strcmp(name, "column") == 0)
        return read_column(r);
    else if (strcmp(name, "row") == 0)
        return read_row(r);
    return 0;
}

int tables_read_xml(struct tables *t, const char *path, struct err *err)
{
    struct reading r = {.tables = t, .path = path, .err = err};
    int more;
    tables_init(t);
    r.reader = xmlReaderForFile(path, NULL, XML_PARSE_NONET);
    if (!r.reader)
        return err_set(err, ERR_INPUT, "cannot read '%s'", path);
    xmlTextReaderSetErrorHandler(r.reader, told, &r);
    while (!r.failed && (more = xmlTextReaderRead(r.reader)) == 1)
        if (xmlTextReaderNodeType(r.reader) == XML_READER_TYPE_ELEMENT)
            read_element(&r);
    if (!r.failed && !r.is_ours)
        err_set(err, ERR_INPUT, "'%s' has no statistics", path), r.failed = 1;
    xmlFree(r.group);
    xmlFreeTextReader(r.reader);
    if (r.failed)
        tables_fini(t);
    return r.failed ? err->code : 0;
}
