/*
 * path.h - opens files for writing, safely in folders that other users can write to.
 *
 * In a world-writable folder such as /tmp, anybody can create a symbolic link or a pipe under the
 * name that somebody else is about to use. Links and pipes of other users are not followed there,
 * in any part of a path (as Linux does if fs.protected_symlinks is set).
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/err.h"

/* What a path resolves to: `name` in `folder`. It is not a symbolic link, unless it is a link of
 * /proc that only the kernel can follow. */
struct path_entry {
    int folder; /* O_PATH descriptor; path_close closes it */
    char name[256];
    int is_magic; /* a link of /proc */
    int exists;   /* then `st` is valid */
    struct stat st;
};

/* Resolves a path without opening its last component; 0 or an errno: EACCES if a link of another
 * user is in the path. */
int path_resolve(const char *path, struct path_entry *);
/* The error of a path to be written for which that has failed. */
int path_cannot_resolve(const char *path, int cause, struct err *);
void path_close(struct path_entry *);

/*
 * Opens the file for writing in place, with these flags and O_WRONLY; with O_CREAT and `mode`,
 * creates it if it does not exist. Returns the descriptor or -errno. Does not follow a link that
 * appears meanwhile.
 */
int path_open(const struct path_entry *, int flags, mode_t mode);

/* The path from the root, for a path from the current folder; ERR_INPUT if it is too long. */
int path_absolute(const char *path, char *out, size_t size, struct err *);

/* Creates or truncates the file, to be written in place; the descriptor, or -1 with errno. */
int path_create(const char *path);

#endif
