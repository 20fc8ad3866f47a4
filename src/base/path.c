/*
 * path.c - walks a path folder by folder with O_PATH descriptors, so that what was checked is what
 * is used. Symbolic links are expanded as the kernel would.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_PATH */
#endif
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "base/sys.h"

#define LINKS_MAX 40

static int stat_at(int folder, const char *name, struct stat *st)
{
    return syscall(SYS_newfstatat, folder, name, st, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
}

/* Does another user own it, in a sticky folder where everybody may create files? */
static int is_trap(int folder, const struct stat *st)
{
    struct stat of;
    uid_t self = (uid_t)syscall(SYS_geteuid);

    return syscall(SYS_fstat, folder, &of) == 0 && (of.st_mode & S_ISVTX) &&
           (of.st_mode & S_IWOTH) && st->st_uid != self && st->st_uid != of.st_uid;
}

static int is_proc(int folder)
{
    struct statfs fs;

    return syscall(SYS_fstatfs, folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Enters a folder by name; 0 or an errno. */
static int enter(int *folder, const char *name, int flags)
{
    int next = (int)syscall(SYS_openat, *folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags, 0);

    if (next < 0)
        return errno;
    if (*folder >= 0)
        sys_close(*folder);
    *folder = next;
    return 0;
}

/* Removes the first name from a path; 0 at its end. */
static int next_name(char *path, char *name, size_t size)
{
    size_t skip = strspn(path, "/"), n = strcspn(path + skip, "/");

    if (n >= size)
        return -ENAMETOOLONG;
    memcpy(name, path + skip, n);
    name[n] = 0;
    memmove(path, path + skip + n, strlen(path + skip + n) + 1);
    return n > 0;
}

/* Puts the target of a link before the rest of the path, which is moved to the end of its buffer
 * meanwhile; 0 or an errno. */
static int follow(struct path_entry *p, char *rest)
{
    size_t keep = strlen(rest) + 1, room = PATH_MAX - keep;
    ssize_t n;

    memmove(rest + room, rest, keep);
    n = (ssize_t)syscall(SYS_readlinkat, p->folder, p->name, rest, room);
    if (n < 0)
        return errno;
    if ((size_t)n >= room)
        return ENAMETOOLONG;
    memmove(rest + n, rest + room, keep);
    return rest[0] == '/' ? enter(&p->folder, "/", 0) : 0;
}

/* Handles the name in p->name, which `rest` follows; 0, an errno, or -1 if it was the last name. */
static int step(struct path_entry *p, char *rest, int *links)
{
    int is_last = rest[strspn(rest, "/")] == 0, cause = stat_at(p->folder, p->name, &p->st);

    p->exists = cause == 0;
    if (cause && !(cause == ENOENT && is_last && !rest[0]))
        return cause;
    if (p->exists && S_ISLNK(p->st.st_mode)) {
        if (is_trap(p->folder, &p->st))
            return EACCES;
        if (++*links > LINKS_MAX)
            return ELOOP;
        if (!is_proc(p->folder))
            return follow(p, rest);
        p->is_magic = is_last; /* else it is a folder: the kernel resolves it */
        return is_last ? -1 : enter(&p->folder, p->name, 0);
    }
    if (!is_last)
        return enter(&p->folder, p->name, O_NOFOLLOW);
    if (p->exists && S_ISFIFO(p->st.st_mode) && is_trap(p->folder, &p->st))
        return EACCES;
    return -1;
}

int path_resolve(const char *path, struct path_entry *p)
{
    int links = 0, cause, more;
    char *rest;

    memset(p, 0, sizeof *p);
    p->folder = -1;
    if (strlen(path) >= PATH_MAX)
        return ENAMETOOLONG;
    rest = mem_alloc(PATH_MAX); /* the caller may be on the stack of a rank */
    strcpy(rest, path);
    p->folder = AT_FDCWD;
    cause = enter(&p->folder, path[0] == '/' ? "/" : ".", 0);
    while (cause == 0) {
        more = next_name(rest, p->name, sizeof p->name);
        cause = more > 0 ? step(p, rest, &links) : more < 0 ? -more : path[0] ? EISDIR : ENOENT;
    }
    mem_free(rest);
    if (cause < 0)
        return 0;
    path_close(p);
    return cause;
}

int path_cannot_resolve(const char *path, int cause, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot write '%s': %s%s", path, strerror(cause),
                   cause == EACCES ? " (links and pipes of other users are not used in "
                                     "world-writable folders)"
                                   : "");
}

void path_close(struct path_entry *p)
{
    if (p->folder >= 0)
        sys_close(p->folder);
    p->folder = -1;
}

int path_open(const struct path_entry *p, int flags, mode_t mode)
{
    struct stat st;
    int create = p->exists ? 0 : O_CREAT | O_EXCL, fd;

    if (!p->is_magic)
        flags |= O_NOFOLLOW;
    fd = (int)syscall(SYS_openat, p->folder, p->name, O_WRONLY | O_CLOEXEC | create | flags, mode);
    if (fd < 0 || !p->exists || p->is_magic)
        return fd < 0 ? -errno : fd;
    if (sys_fstat(fd, &st) == 0 && st.st_dev == p->st.st_dev && st.st_ino == p->st.st_ino)
        return fd;
    sys_close(fd); /* it was replaced meanwhile */
    return -EAGAIN;
}

int path_create(const char *path)
{
    struct path_entry entry;
    int cause = path_resolve(path, &entry), fd = -cause;

    if (cause == 0) {
        fd = path_open(&entry, O_TRUNC, 0666);
        path_close(&entry);
    }
    if (fd >= 0)
        return fd;
    errno = -fd;
    return -1;
}

int path_absolute(const char *path, char *out, size_t size, struct err *err)
{
    ssize_t here = path[0] == '/' ? 1 : sys_getcwd(out, size); /* with its terminator */

    if (here < 0 && errno != ERANGE)
        return err_set(err, ERR_SYSTEM, "cannot find the current directory: %s", strerror(errno));
    size_t used = here < 0 ? size : (size_t)here - 1;
    if (used + (used > 0) + strlen(path) >= size)
        return err_set(err, ERR_INPUT, "file name '%.40s...' is too long", path);
    snprintf(out + used, size - used, "%s%s", used ? "/" : "", path);
    return 0;
}
