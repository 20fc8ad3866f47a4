/*
 * table_format.c - parses --format, and writes tables in that format (see table_format.h).
 */
#include "cli/table_format.h"

#include <string.h>

const char *const cli_formats[] = {"text", "xml", "json", "csv", NULL};

int cli_format_parse(const char *value, enum cli_format *format, struct err *err)
{
    for (int i = 0; cli_formats[i]; i++)
        if (strcmp(value, cli_formats[i]) == 0) {
            *format = (enum cli_format)i;
            return 0;
        }
    return err_set(err, ERR_INPUT, "unknown format '%s': expected text, xml, json or csv", value);
}

void cli_format_write(enum cli_format format, const struct tables *tables, struct buf *out)
{
    static void (*const write[])(const struct tables *, struct buf *) = {
        [CLI_FORMAT_XML] = tables_write_xml,
        [CLI_FORMAT_JSON] = tables_write_json,
        [CLI_FORMAT_CSV] = tables_write_csv,
    };
    write[format](tables, out);
}
