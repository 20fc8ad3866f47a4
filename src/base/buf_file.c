/*
 * Writing a buffer to a file. A regular file is replaced by rename, so that a reader, or a full
 * disk, never sees half of it; everything else is written through.
 */
#include "base/buf.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
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

static int write_through(const struct buf *buf, const char *path)
{
    int fd = sys_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    return fd < 0 ? errno : write_and_close(buf, fd);
}

/* Creates a file beside path that did not exist; its name goes to `name`. The fd or -errno. */
static int open_beside(const char *path, struct buf *name)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        buf_clear(name);
        buf_addf(name, "%s.%d-%d.tmp", path, (int)sys_getpid(), i);
        int fd = sys_open(name->data, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    return -errno;
}

/* `old` is the file to be replaced, or NULL. Returns 0 or an errno. */
static int write_and_rename(const struct buf *buf, const char *path, const struct stat *old)
{
    struct buf name;
    buf_init(&name);
    int fd = open_beside(path, &name);
    if (fd < 0) {
        buf_fini(&name);
        /* No new file may be made here, but the old one may still be writable. */
        int try_old = old && (fd == -EACCES || fd == -EPERM);
        return try_old || fd == -ENAMETOOLONG ? write_through(buf, path) : -fd;
    }
    if (old)
        (void)sys_fchmod(fd, old->st_mode & 07777);
    int cause = write_and_close(buf, fd);
    if (!cause && sys_rename(name.data, path) < 0)
        cause = errno;
    if (cause)
        sys_unlink(name.data);
    buf_fini(&name);
    return cause;
}

int buf_write_file(const struct buf *buf, const char *path, struct err *err)
{
    struct stat st;
    int cause;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        cause = sys_write_all(1, buf_str(buf), buf->len) < 0 ? errno : 0;
    else if (sys_lstat(path, &st) < 0)
        cause = errno == ENOENT ? write_and_rename(buf, path, NULL) : errno;
    else if (S_ISREG(st.st_mode))
        cause = write_and_rename(buf, path, &st);
    else
        cause = write_through(buf, path);
    return cause ? fail(err, path, cause) : 0;
}
