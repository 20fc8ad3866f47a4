/* Reads a trace of any format, and all of what comes of it. A trace that was read must open; an
 * error must have a text. */
#ifndef FUZZ_FORMAT_H
#define FUZZ_FORMAT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"
#include "trace/verify.h"

static char fuzz_made[] = "/tmp/orrery-fuzz-XXXXXX";

static inline void fuzz_remove(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", fuzz_made);
    if (system(command) != 0)
        abort();
}

/* A folder of its own, made once. */
static inline const char *fuzz_folder(void)
{
    static int is_made;
    if (is_made)
        return fuzz_made;
    if (!mkdtemp(fuzz_made) || atexit(fuzz_remove) != 0)
        abort();
    setenv("TMPDIR", fuzz_made, 1);
    is_made = 1;
    return fuzz_made;
}

/* A file in it. */
static inline const char *fuzz_save(const char *name, const void *data, size_t size)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", fuzz_folder(), name);
    FILE *file = fopen(path[turn], "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    return path[turn];
}

static inline void fuzz_read(const char *path)
{
    struct format_notes notes;
    struct trace t;
    struct err err = {0};
    struct buf out;
    format_notes_init(&notes);
    buf_init(&out);
    if (formats_open(&t, path, &notes, &err) == 0) {
        trace_verify(&t, &out);
        trace_close(&t);
    } else if (err.code >= 0 || !err.text[0]) {
        abort();
    }
    buf_fini(&out);
    format_notes_fini(&notes);
}

#endif
