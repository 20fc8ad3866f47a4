/* Bytes of a fuzz target as text. */
#ifndef FUZZ_LINE_H
#define FUZZ_LINE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The caller frees it. */
static inline char *fuzz_line(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1);
    if (!line)
        abort();
    memcpy(line, data, size);
    line[size] = 0;
    return line;
}

#endif
