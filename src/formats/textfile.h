/*
 * textfile.h - writes a text file piece by piece; it gets its name only when it is complete.
 */
#ifndef FORMATS_TEXTFILE_H
#define FORMATS_TEXTFILE_H

#include "base/buf.h"
#include "base/newfile.h"

struct textfile {
    struct buf text; /* add to it, then call textfile_flush now and then */
    char *path;      /* NULL after it was closed */
    struct newfile *file;
};

int textfile_open(struct textfile *, const char *path, struct err *);
/* Writes the text if it is long enough. */
int textfile_flush(struct textfile *, struct err *);
/* Completes the file, or with `keep` 0 removes it. */
int textfile_close(struct textfile *, int keep, struct err *);

/* Reads a whole file into `buf`, which the caller frees. ERR_INPUT if it cannot be read or is
 * larger than `most`. */
int textfile_read(const char *path, size_t most, struct buf *out, struct err *);

#endif
