/*
 * path.h - opens files for writing, safely in folders that other users can write to.
 *
 * In a world-writable folder such as /tmp, anybody can create a symbolic link, a pipe or a file
 * under the name that somebody else is about to use. Those of other users are not used there, links
 * in any part of a path (as Linux does if fs.protected_symlinks, _fifos and _regular are set).
 *
 * All files that a command or the library writes by name are created by this module: outputs that
 * users name by path_open, also for devices, pipes and their own links; what Orrery writes beside
 * them, and reads again, by path_create, which takes regular files only.
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
 * Opens the file for writing in place, with these flags and O_WRONLY or O_RDWR; with O_CREAT and
 * `mode`, creates it if it does not exist. Returns the descriptor or -errno. Does not follow a link
 * that appears meanwhile.
 */
int path_open(const struct path_entry *, int flags, mode_t mode);

/* The path from the root, for a path from the current folder; ERR_INPUT if it is too long. */
int path_absolute(const char *path, char *out, size_t size, struct err *);

/* Which file it is, whatever its name. */
struct path_file {
    dev_t device;
    ino_t number;
};

/* Creates or truncates a regular file, to be written in place. Returns the descriptor, or -1 with
 * an error; *made, if it is not NULL, says which file it is. */
int path_create(const char *path, struct path_file *made, struct err *);

/* Opens a regular file that was created so, to be written with these flags and O_WRONLY or O_RDWR;
 * if `made` is not NULL, only that one. Returns the descriptor, or -1 with errno: ESTALE if it is
 * another one. */
int path_reopen(const char *path, const struct path_file *made, int flags);

/* Opens a regular file to be read and written, which is created if it does not exist. Several
 * processes may do so at the same time. Returns the descriptor, or -1 with an error. */
int path_open_shared(const char *path, struct err *);

/* Creates a folder for files, unless it exists. Fails if it exists and is another user's, in a
 * world-writable folder. */
int path_make_folder(const char *path, struct err *);

#endif
