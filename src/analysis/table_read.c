/*
 * table_read.c - statistics from XML. Expat reads it as a stream of elements.
 */
#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"
#include "base/mem.h"
#include "base/sys.h"
#include "library/library.h"

#define COLUMNS_MOST 1000
#define SLICE 65536 /* bytes that are read at a time */

struct reading {
    struct tables *tables;
    XML_Parser parser;
    const char *path;
    struct table *table; /* that is open, or NULL */
    const char *group;   /* that is open, or NULL; kept in the tables */
    struct err *err;
    int failed;
    int is_ours; /* the root element is ours */
};

static int fail(struct reading *r, const char *what, const char *about)
{
    if (r->failed)
        return ERR_INPUT;
    err_set(r->err, ERR_INPUT, "cannot read '%s': line %lu: %s%s%s", r->path,
            (unsigned long)XML_GetCurrentLineNumber(r->parser), what, *about ? " " : "", about);
    r->failed = 1;
    XML_StopParser(r->parser, XML_FALSE);
    return ERR_INPUT;
}

/* An attribute of an element; NULL: it has none. Names and values alternate, and a NULL follows. */
static const char *attribute(const char *const *attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static int read_meta(struct reading *r, const char *const *attributes)
{
    for (; *attributes; attributes += 2)
        tables_add_meta(r->tables, attributes[0], attributes[1]);
    return 0;
}

static int read_table(struct reading *r, const char *const *attributes)
{
    const char *name = attribute(attributes, "name");
    if (!name || !r->group)
        return fail(r, r->group ? "a table without a name" : "a table outside of an entry", "");
    if (tables_find(r->tables, r->group, name))
        return fail(r, "a table that is there twice:", name);
    r->table = tables_add(r->tables, r->group, name);
    return 0;
}

static int read_column(struct reading *r, const char *const *attributes)
{
    const char *name = attribute(attributes, "name"), *role = attribute(attributes, "role"),
               *unit = attribute(attributes, "unit");
    int number = -1;
    for (int i = 0; role && i < TABLE_ROLES; i++)
        if (strcmp(role, table_role_name(i)) == 0)
            number = i;
    if (!name || !r->table || r->table->row_count || r->table->column_count == COLUMNS_MOST)
        return fail(r, "a column that does not belong here", "");
    for (size_t i = 0; i < r->table->column_count; i++)
        if (strcmp(r->table->columns[i].name, name) == 0)
            return fail(r, "a column that is there twice:", name);
    if (number >= 0) /* others are of later versions */
        table_add_column(r->tables, r->table, name, unit ? unit : "", number);
    return 0;
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

static int read_row(struct reading *r, const char *const *attributes)
{
    if (!r->table)
        return fail(r, "a row outside of a table", "");
    union table_cell *row = table_add_row(r->table);
    for (size_t i = 0; i < r->table->column_count; i++) {
        const struct table_column *c = &r->table->columns[i];
        const char *text = attribute(attributes, c->name);
        int rc = 0;
        if (!text)
            continue;
        if (c->role == TABLE_KEY || c->role == TABLE_NOTE)
            row[i].text = tables_keep_text(r->tables, text);
        else if (table_role_is_list(c->role))
            rc = read_list(r, text, &row[i]);
        else
            rc = read_number(r, text, &row[i].number);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int read_entry(struct reading *r, const char *const *attributes)
{
    const char *name = attribute(attributes, "name");
    if (!name)
        return fail(r, "an entry without a name", "");
    r->group = tables_keep_text(r->tables, name);
    r->table = NULL;
    return 0;
}

static const struct {
    const char *name;
    int (*read)(struct reading *, const char *const *attributes);
} elements[] = {
    {"meta", read_meta},     {"entry", read_entry}, {"table", read_table},
    {"column", read_column}, {"row", read_row},
};

static void on_element(void *context, const char *name, const char **attributes)
{
    struct reading *r = context;
    const char *colon = strrchr(name, ':');
    if (colon) /* a namespace that the writer has added */
        name = colon + 1;
    if (!r->is_ours && strcmp(name, "orrery-statistics") != 0) {
        fail(r, "expected <orrery-statistics>, as 'orrery analyze --format xml' writes it, not",
             name);
        return;
    }
    r->is_ours = 1;
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (strcmp(elements[i].name, name) == 0)
            elements[i].read(r, (const char *const *)attributes);
}

/* Reads the next bytes; 0 at the end of the file. */
static int read_slice(struct reading *r, int fd)
{
    void *slice = XML_GetBuffer(r->parser, SLICE);
    ssize_t n;
    if (!slice) {
        fail(r, "no memory", "");
        return 0;
    }
    do
        n = sys_read(fd, slice, SLICE);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        fail(r, strerror(errno), "");
    else if (XML_ParseBuffer(r->parser, (int)n, n == 0) != XML_STATUS_OK)
        fail(r, XML_ErrorString(XML_GetErrorCode(r->parser)), "");
    return n > 0 && !r->failed;
}

int tables_read_xml(struct tables *t, const char *path, struct err *err)
{
    struct reading r = {.tables = t, .path = path, .err = err};
    tables_init(t);
    if (library_load(LIBRARY_expat, err) != 0)
        return ERR_SYSTEM;
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return err_set(err, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    r.parser = XML_ParserCreate(NULL);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_element, NULL);
    while (read_slice(&r, fd))
        ;
    XML_ParserFree(r.parser);
    sys_close(fd);
    if (r.failed)
        tables_fini(t);
    return r.failed ? ERR_INPUT : 0;
}
