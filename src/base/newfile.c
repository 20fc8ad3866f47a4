/*
 * newfile.c - a file that gets its name only when it is complete (see newfile.h).
 */
#include "base/newfile.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"

#define NAME_TRIES 100

struct newfile {
    int fd;
    struct path_entry target; /* what it becomes */
    struct path_entry beside; /* what it is until then, in the same folder */
};

/* Nobody else may open it before its permissions are set. Returns the descriptor or -errno. */
static int open_beside(const struct path_entry *target, struct path_entry *beside)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        struct buf name;
        buf_init(&name);
        buf_addf(&name, "%s.%d-%d.tmp", target->name, (int)sys_getpid(), i);
        size_t length = name.len;
        *beside = (struct path_entry){.folder = target->folder};
        if (length < sizeof beside->name)
            memcpy(beside->name, buf_str(&name), length + 1);
        buf_fini(&name);
        if (length >= sizeof beside->name)
            return -ENAMETOOLONG;
        int fd = path_open(beside, 0, target->exists ? 0600 : 0666);
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

struct newfile *newfile_create(const struct path_entry *target, int *cause)
{
    struct newfile *f = mem_alloc(sizeof *f);
    f->fd = open_beside(target, &f->beside);
    if (f->fd < 0) {
        *cause = -f->fd;
        mem_free(f);
        return NULL;
    }
    f->target = *target;
    if (target->exists)
        take_over(f->fd, &target->st);
    return f;
}

static struct newfile *fail(struct path_entry *target, const char *path, const char *why,
                            struct err *err)
{
    path_close(target);
    err_set(err, ERR_SYSTEM, "cannot write '%s': %s", path, why);
    return NULL;
}

struct newfile *newfile_open(const char *path, struct err *err)
{
    struct path_entry target;
    int cause = path_resolve(path, &target);
    if (cause) {
        path_cannot_resolve(path, cause, err);
        return NULL;
    }
    if (!target.is_magic && target.exists && S_ISDIR(target.st.st_mode))
        return fail(&target, path, strerror(EISDIR), err);
    if (target.is_magic || (target.exists && !S_ISREG(target.st.st_mode)))
        return fail(&target, path, "it is not a regular file", err);
    struct newfile *f = newfile_create(&target, &cause);
    return f ? f : fail(&target, path, strerror(cause), err);
}

int newfile_fd(const struct newfile *f)
{
    return f->fd;
}

/* Errors of close count: some file systems report them there. */
int newfile_close(struct newfile *f, int keep)
{
    int cause = sys_close(f->fd) < 0 && errno != EINTR ? errno : 0;
    if (keep && !cause && sys_renameat(f->target.folder, f->beside.name, f->target.name) < 0)
        cause = errno;
    if (!keep || cause)
        sys_unlinkat(f->target.folder, f->beside.name);
    path_close(&f->target);
    mem_free(f);
    return keep ? cause : 0;
}
