/*
 * buf_file.c - writes a buffer to a file. A regular file is replaced by rename, so that neither a
 * reader nor a full disk leaves half of it; everything else is written directly.
 *
 * The new file belongs to us, whoever owned the old one. So it gets the old file's permissions only
 * if we owned that, too, and never the set-user-ID or set-group-ID bits.
 */
#include "base/buf.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"

#define NAME_TRIES 100

static int fail(struct err *err, const char *path, int cause)
{
    return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path, strerror(cause));
}

/* Writes and closes; 0 or an errno. Errors of close count: some file systems report them there. */
static int write_and_close(const struct buf *buf, int fd)
{
    int cause = sys_write_all(fd, buf_str(buf), buf->len) < 0 ? errno : 0;
    if (sys_close(fd) < 0 && !cause && errno != EINTR)
        cause = errno;
    return cause;
}

static int write_through(const struct buf *buf, const struct path_entry *entry)
{
    int fd = path_open(entry, O_TRUNC, 0666);
    return fd < 0 ? -fd : write_and_close(buf, fd);
}

/* Creates a new file in the same folder and stores its name in `beside`. Returns the descriptor or
 * -errno. Nobody else may open it before its permissions are set. */
static int open_beside(const struct path_entry *entry, struct path_entry *beside)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        struct buf name;
        buf_init(&name);
        buf_addf(&name, "%s.%d-%d.tmp", entry->name, (int)sys_getpid(), i);
        size_t length = name.len;
        *beside = (struct path_entry){.folder = entry->folder};
        if (length < sizeof beside->name)
            memcpy(beside->name, buf_str(&name), length + 1);
        buf_fini(&name);
        if (length >= sizeof beside->name)
            return -ENAMETOOLONG;
        int fd = path_open(beside, 0, entry->exists ? 0600 : 0666);
        if (fd != -EEXIST)
            return fd;
    }
    return -EEXIST;
}

/* Copies the permissions of the file to be replaced, as far as they apply to the new one. */
static void take_over(int fd, const struct stat *old)
{
    struct stat st;
    mode_t mode = old->st_mode & 0777;
    if (sys_fstat(fd, &st) < 0)
        return;
    if (st.st_gid != old->st_gid && sys_fchown(fd, (uid_t)-1, old->st_gid) < 0)
        mode &= ~(mode_t)070; /* they apply to another group */
    if (st.st_uid != old->st_uid) {
        mode_t mask = sys_umask(0);
        sys_umask(mask);
        mode = 0666 & ~mask;
    }
    (void)sys_fchmod(fd, mode);
}

/* Returns 0 or an errno. */
static int write_and_rename(const struct buf *buf, const struct path_entry *entry)
{
    struct path_entry beside;
    int fd = open_beside(entry, &beside);
    if (fd < 0) {
        /* No new file can be created here, but the old one may still be writable. */
        int try_old = entry->exists && (fd == -EACCES || fd == -EPERM || fd == -EROFS);
        return try_old || fd == -ENAMETOOLONG ? write_through(buf, entry) : -fd;
    }
    if (entry->exists)
        take_over(fd, &entry->st);
    int cause = write_and_close(buf, fd);
    if (!cause && sys_renameat(entry->folder, beside.name, entry->name) < 0)
        cause = errno;
    if (cause)
        sys_unlinkat(entry->folder, beside.name);
    return cause;
}

int buf_write_file(const struct buf *buf, const char *path, struct err *err)
{
    struct path_entry entry;
    int cause;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        cause = sys_write_all(1, buf_str(buf), buf->len) < 0 ? errno : 0;
        return cause ? fail(err, path, cause) : 0;
    }
    cause = path_resolve(path, &entry);
    if (cause == EACCES)
        return err_set(err, ERR_SYSTEM,
                       "cannot write '%s': %s (links and pipes of other users are not used in "
                       "world-writable folders)",
                       path, strerror(cause));
    if (cause)
        return fail(err, path, cause);
    if (!entry.is_magic && (!entry.exists || S_ISREG(entry.st.st_mode)))
        cause = write_and_rename(buf, &entry);
    else
        cause = write_through(buf, &entry);
    path_close(&entry);
    return cause ? fail(err, path, cause) : 0;
}
