/*
 * text_width.h - the columns that a text takes.
 */
#ifndef TEXT_WIDTH_H
#define TEXT_WIDTH_H

#include <string.h>

static inline size_t text_width(const char *text)
{
    size_t width = 0;

    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");

        width = length > width ? length : width;
        line += length + (line[length] == '\n');
    }
    return width;
}

#endif
