/*
 * textfile.c - writes a text file that gets its name when it is complete (see textfile.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "formats/textfile.h"

#define FLUSH_AT ((size_t)1 << 20)

static int cannot(const char *what, const char *path, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot %s '%s': %s", what, path, strerror(errno));
}

int textfile_open(struct textfile *f, const char *path, struct err *err)
{
    *f = (struct textfile){0};
    if (!(f->file = newfile_open(path, err)))
        return ERR_SYSTEM;
    f->path = mem_strdup(path);
    buf_init(&f->text);
    return 0;
}

static int drain(struct textfile *f, struct err *err)
{
    int rc = sys_write_all(newfile_fd(f->file), buf_str(&f->text), f->text.len) == 0
                 ? 0
                 : cannot("write", f->path, err);
    buf_clear(&f->text);
    return rc;
}

int textfile_flush(struct textfile *f, struct err *err)
{
    return f->text.len < FLUSH_AT ? 0 : drain(f, err);
}

int textfile_close(struct textfile *f, int keep, struct err *err)
{
    int rc = keep ? drain(f, err) : 0;
    errno = newfile_close(f->file, keep && rc == 0);
    if (errno)
        rc = cannot("write", f->path, err);
    buf_fini(&f->text);
    mem_free(f->path);
    f->path = NULL;
    return rc;
}

int textfile_read(const char *path, size_t most, struct buf *out, struct err *err)
{
    char piece[1 << 16];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    buf_init(out);
    if (fd < 0)
        return cannot("read", path, err);
    while ((n = read(fd, piece, sizeof piece)) > 0 && out->len + (size_t)n <= most)
        buf_add(out, piece, (size_t)n);
    int failed = n < 0 ? errno : 0;
    close(fd);
    errno = failed;
    if (n == 0)
        return 0;
    buf_fini(out);
    return n < 0 ? cannot("read", path, err)
                 : err_set(err, ERR_INPUT, "cannot read '%s': it has more than %zu bytes", path,
                           most);
}
