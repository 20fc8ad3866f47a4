/*
 * table.h - all formats, for the table of formats.c.
 */
#ifndef FORMATS_TABLE_H
#define FORMATS_TABLE_H

#include "formats/formats.h"

extern const struct trace_format format_orr, format_otf2, format_dumpi, format_ti, format_goal,
    format_chrome, format_paje;

#endif
