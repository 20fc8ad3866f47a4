/*
 * table_format.h - the formats in which commands print statistics: text, XML, JSON and CSV.
 */
#ifndef CLI_TABLE_FORMAT_H
#define CLI_TABLE_FORMAT_H

#include "analysis/table.h"

enum cli_format { CLI_FORMAT_TEXT, CLI_FORMAT_XML, CLI_FORMAT_JSON, CLI_FORMAT_CSV };

/* Their names; ends with NULL. */
extern const char *const cli_formats[];

/* Reads the value of --format. */
int cli_format_parse(const char *value, enum cli_format *, struct err *);

/* Writes tables in any format but text. */
void cli_format_write(enum cli_format, const struct tables *, struct buf *out);

#endif
