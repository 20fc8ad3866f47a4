/*
 * path.h - opening files for writing where others may have put something in the way.
 *
 * In a folder that everybody may write to, such as /tmp, anybody can make a symbolic link or a pipe by the name that
 * somebody else is about to use. Those of others are not followed there (as Linux does if
 * fs.protected_symlinks is set), in no part of a path.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <sys/stat.h>

/* Where a path leads: `name` in the folder `folder`, which is no symbolic link, or a link of /proc that only
 * the kernel can follow. */
struct path_entry {
    int folder; /* O_PATH descriptor; path_close closes it */
    char name[256];
    int is_magic; /* a link of /proc */
    int exists;   /* then `st` is valid */
    struct stat st;
};

/* Resolves a path without opening its end; 0 or an errno: EACCES if a link of somebody else is in the way. */
int path_resolve(const char *path, struct path_entry *);
void path_close(struct path_entry *);

/*
 * Opens what is there for writing, in place, with these flags besides O_WRONLY; creates it with O_CREAT and
 * `mode` if nothing is there. The descriptor or -errno. Does not follow a link that appears meanwhile.
 */
int path_open(const struct path_entry *, int flags, mode_t mode);

/* Creates or empties the file, to be written in place; the descriptor, or -1 with errno. */
int path_create(const char *path);

#endif
