/*
 * newfile.h - a file that gets its name only when it is complete, so that neither a reader nor a
 * full disk leaves half of it. It is written beside the file that it replaces. Links are followed
 * (path.h): a symbolic link stays, and what it points to is replaced.
 *
 * The new file belongs to us, whoever owned the old one. So it gets the old file's permissions only
 * if we owned that, too, and never the set-user-ID or set-group-ID bits.
 */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include "base/err.h"

struct newfile;
struct path_entry;

/* Creates a file to replace the target, a regular file or none, which becomes part of it. NULL with
 * an errno in *cause; then the target is still the caller's. */
struct newfile *newfile_create(const struct path_entry *target, int *cause);
/* newfile_create for a path; fails if the path is a device or a directory. */
struct newfile *newfile_open(const char *path, struct err *);
/* The descriptor, to be written to. */
int newfile_fd(const struct newfile *);
/* Closes the file and gives it its name, or with `keep` 0 removes it. Returns 0, or an errno; then
 * it is removed. */
int newfile_close(struct newfile *, int keep);

#endif
