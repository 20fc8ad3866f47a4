/*
 * table.h - statistics as tables, which can be written, read again and compared. Tables and their
 * columns have names, so that readers use what they know and ignore the rest. Tables of one group
 * belong together.
 *
 * As XML, with one entry for each group:
 *
 *     <orrery-statistics version="1">                        of kind "statistics"
 *       <meta ranks="4" program="./app"/>
 *       <entry name="functions">
 *         <table name="functions">
 *           <column name="function" role="key"/>
 *           <column name="time" role="time" unit="s"/>
 *           <row function="MPI_Send" time="0.25"/>
 */
#ifndef ANALYSIS_TABLE_H
#define ANALYSIS_TABLE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* What a column is for. */
enum table_role {
    TABLE_KEY,   /* a text that names the row; there may be several */
    TABLE_COUNT, /* how many, how much: traffic and structure */
    TABLE_TIME,
    TABLE_RATIO,  /* follows from times */
    TABLE_TIMES,  /* a list of times */
    TABLE_NOTE,   /* a text that is not compared */
    TABLE_SERIES, /* a list of values over time, which is not compared */
    TABLE_ROLES,
};
const char *table_role_name(enum table_role);
static inline int table_role_is_list(enum table_role role)
{
    return role == TABLE_TIMES || role == TABLE_SERIES;
}

struct table_column {
    const char *name, *unit; /* unit: "s", "B" or "" */
    enum table_role role;
};

struct table_list {
    size_t count;
    double items[];
};

union table_cell {
    double number; /* NAN: none */
    const char *text;
    const struct table_list *list; /* NULL: none */
};

struct table {
    const char *name, *group;
    struct table_column *columns;
    size_t column_count;
    union table_cell *cells; /* row by row */
    size_t row_count;
};

struct tables {
    const char *kind; /* such as "statistics" */
    struct table *items;
    size_t count;
    struct tables_meta {
        const char *key, *value;
    } * meta;
    size_t meta_count;
    void *memory; /* a list of all memory that the above points to */
};

void tables_init(struct tables *);
void tables_fini(struct tables *);

/* Texts are copied. Tables and rows are added at the end; the address of a table is valid until the
 * next one is added. */
void tables_add_meta(struct tables *, const char *key, const char *value);
struct table *tables_add(struct tables *, const char *group, const char *name);
void table_add_column(struct tables *, struct table *, const char *name, const char *unit,
                      enum table_role);
/* A row of empty cells, after all columns: numbers NAN, texts "", no lists. */
union table_cell *table_add_row(struct table *);
const char *tables_keep_text(struct tables *, const char *);
struct table_list *tables_keep_list(struct tables *, size_t count);

const struct table *tables_find(const struct tables *, const char *group, const char *name);
const char *tables_meta(const struct tables *, const char *key); /* "" if there is none */
void tables_set_meta(struct tables *, const char *key, const char *value);

/* All tables as XML, JSON or CSV. */
void tables_write_xml(const struct tables *, struct buf *out);
void tables_write_json(const struct tables *, struct buf *out);
void tables_write_csv(const struct tables *, struct buf *out);

/* Reads statistics as XML; skips what it does not know. ERR_INPUT names the line. */
int tables_read_xml(struct tables *, const char *path, struct err *);

#endif
