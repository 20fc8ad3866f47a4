/*
 * textfile.c - see textfile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"
#include "formats/textfile.h"

#define FLUSH_AT ((size_t)1 << 20)

static int cannot(const char *what, const char *path, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot %s '%s': %s", what, path, strerror(errno));
}

int textfile_open(struct textfile *f, const char *path, struct err *err)
{
    size_t length = strlen(path) + sizeof ".XXXXXX";
    if (path_check_replace(path, err) != 0)
        return ERR_SYSTEM;
    *f = (struct textfile){.path = mem_strdup(path), .temporary = mem_alloc(length)};
    buf_init(&f->text);
    snprintf(f->temporary, length, "%s.XXXXXX", path);
    f->fd = mkostemp(f->temporary, O_CLOEXEC);
    if (f->fd < 0) {
        cannot("write", path, err);
        mem_free(f->path);
        mem_free(f->temporary);
        return ERR_SYSTEM;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(f->fd, 0666 & ~mask);
    return 0;
}

static int drain(struct textfile *f, struct err *err)
{
    int rc = sys_write_all(f->fd, buf_str(&f->text), f->text.len) == 0
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
    if (close(f->fd) != 0 && keep && rc == 0)
        rc = cannot("write", f->path, err);
    if (keep && rc == 0 && rename(f->temporary, f->path) != 0)
        rc = cannot("write", f->path, err);
    if (!keep || rc != 0)
        unlink(f->temporary);
    buf_fini(&f->text);
    mem_free(f->path);
    mem_free(f->temporary);
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
