/*
 * buf_file.c - writes a buffer to a file. A regular file is replaced (newfile.h), everything else
 * is written directly.
 */
#include "base/buf.h"

#include <errno.h>
#include <string.h>

#include "base/newfile.h"
#include "base/path.h"
#include "base/sys.h"

static int fail(struct err *err, const char *path, int cause)
{
    return err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path, strerror(cause));
}

static int write_text(const struct buf *buf, int fd)
{
    return sys_write_all(fd, buf_str(buf), buf->len) < 0 ? errno : 0;
}

/* Returns 0 or an errno. Errors of close count: some file systems report them there. */
static int write_through(const struct buf *buf, const struct path_entry *entry)
{
    int fd = path_open(entry, O_TRUNC, 0666);
    if (fd < 0)
        return -fd;
    int cause = write_text(buf, fd);
    if (sys_close(fd) < 0 && !cause && errno != EINTR)
        cause = errno;
    return cause;
}

/* Returns 0 or an errno; closes the entry. */
static int replace(const struct buf *buf, struct path_entry *entry)
{
    int cause;
    struct newfile *file = newfile_create(entry, &cause);
    if (file) {
        cause = write_text(buf, newfile_fd(file));
        int closed = newfile_close(file, !cause);
        return cause ? cause : closed;
    }
    /* No new file can be created here, but the old one may still be writable. */
    int try_old = entry->exists && (cause == EACCES || cause == EPERM || cause == EROFS);
    if (try_old || cause == ENAMETOOLONG)
        cause = write_through(buf, entry);
    path_close(entry);
    return cause;
}

int buf_write_file(const struct buf *buf, const char *path, struct err *err)
{
    struct path_entry entry;
    int cause;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        cause = write_text(buf, 1);
        return cause ? fail(err, path, cause) : 0;
    }
    cause = path_resolve(path, &entry);
    if (cause)
        return path_cannot_resolve(path, cause, err);
    if (!entry.is_magic && (!entry.exists || S_ISREG(entry.st.st_mode))) {
        cause = replace(buf, &entry);
    } else {
        cause = write_through(buf, &entry);
        path_close(&entry);
    }
    return cause ? fail(err, path, cause) : 0;
}
