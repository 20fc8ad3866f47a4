/*
 * buf.h - a growing text buffer. `data` is NULL until something is added, and then always ends with
 * a NUL that `len` does not count; the text itself may hold NULs. Out of memory ends the process.
 * Nothing here switches.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>

#include "base/err.h"

struct buf {
    char *data;
    size_t len, cap;
};

void buf_init(struct buf *buf);
void buf_fini(struct buf *buf);

/* Appends n bytes, a string, a character, or formatted text. Amortised O(bytes added). */
void buf_add(struct buf *buf, const void *data, size_t n);
void buf_adds(struct buf *buf, const char *text);
void buf_addc(struct buf *buf, char c);
/* A field of CSV: in quotes if it contains a comma, a quote or the end of a line. */
void buf_add_csv(struct buf *buf, const char *text);
void buf_addf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the first `len` bytes, which are not more than there are, and all of the memory. */
void buf_cut(struct buf *buf, size_t len);
/* buf_cut to 0. */
void buf_clear(struct buf *buf);

/* The text, borrowed until the next call that adds; "" if nothing was added. Never NULL. */
const char *buf_str(const struct buf *buf);

/* Moves the text to the caller, who frees it with mem_free; the buffer is empty after. */
char *buf_take(struct buf *buf);

/*
 * Writes the buffer to a file. A new or regular file appears whole or not at all: it is written
 * beside `path` and renamed, keeping the permissions (0777) of the file it replaces if that has the
 * same owner. "-" and "/dev/stdout" are standard output, at its current position; devices and pipes
 * are written directly. Symbolic links are followed, but not those that other users own in
 * world-writable folders (base/path.h). ERR_SYSTEM with "cannot write 'x': No space left on device"
 * on failure.
 */
int buf_write_file(const struct buf *buf, const char *path, struct err *err);

#endif
