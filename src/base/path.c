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

/* Folders are refused where files are to be; devices only root creates. */
static int may_be_planted(const struct stat *st)
{
    return S_ISFIFO(st->st_mode) || S_ISREG(st->st_mode) || S_ISSOCK(st->st_mode);
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
    if (p->exists && may_be_planted(&p->st) && is_trap(p->folder, &p->st))
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
                   cause == EACCES ? " (links, pipes and files of other users are not used in "
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
    if ((flags & O_ACCMODE) == 0)
        flags |= O_WRONLY;
    fd = (int)syscall(SYS_openat, p->folder, p->name, O_CLOEXEC | create | flags, mode);
    if (fd < 0 || !p->exists || p->is_magic)
        return fd < 0 ? -errno : fd;
    if (sys_fstat(fd, &st) == 0 && st.st_dev == p->st.st_dev && st.st_ino == p->st.st_ino)
        return fd;
    sys_close(fd); /* it was replaced meanwhile */
    return -EAGAIN;
}

/* ---- regular files ---- */

/* Opens a regular file; the descriptor or -errno: ENOTSUP if it is something else, of which not
 * even opening can be waited for. */
static int open_regular(const char *path, const struct path_file *made, int flags, int may_create)
{
    struct path_entry entry;
    int cause = path_resolve(path, &entry), fd;

    if (cause)
        return -cause;
    if (!entry.exists && !may_create)
        fd = -ENOENT;
    else if (entry.is_magic || (entry.exists && !S_ISREG(entry.st.st_mode)))
        fd = -ENOTSUP;
    else if (made && (entry.st.st_dev != made->device || entry.st.st_ino != made->number))
        fd = -ESTALE;
    else
        fd = path_open(&entry, flags | O_NONBLOCK, 0666);
    path_close(&entry);
    return fd;
}

static int fail(const char *path, int cause, struct err *err)
{
    if (cause == ENOTSUP)
        err_set(err, ERR_SYSTEM, "cannot write '%s': it is not a regular file: remove it", path);
    else
        path_cannot_resolve(path, cause, err);
    return -1;
}

int path_create(const char *path, struct path_file *made, struct err *err)
{
    struct stat st;
    int fd = open_regular(path, NULL, O_TRUNC, 1);

    if (fd < 0)
        return fail(path, -fd, err);
    if (made && sys_fstat(fd, &st) == 0)
        *made = (struct path_file){st.st_dev, st.st_ino};
    return fd;
}

int path_reopen(const char *path, const struct path_file *made, int flags)
{
    int fd = open_regular(path, made, flags, 0);

    if (fd >= 0)
        return fd;
    errno = -fd;
    return -1;
}

int path_open_shared(const char *path, struct err *err)
{
    int fd;

    do
        fd = open_regular(path, NULL, O_RDWR, 1);
    while (fd == -EEXIST); /* another one has created it just now */
    return fd >= 0 ? fd : fail(path, -fd, err);
}

/* ---- folders ---- */

int path_make_folder(const char *path, struct err *err)
{
    struct path_entry entry;
    char *plain = mem_strdup(path);
    size_t length = strlen(plain);
    int cause;

    while (length > 1 && plain[length - 1] == '/')
        plain[--length] = 0;
    cause = path_resolve(plain, &entry);
    if (cause == 0) {
        if (!entry.exists)
            cause = syscall(SYS_mkdirat, entry.folder, entry.name, 0777) == 0 ? 0 : errno;
        else if (is_trap(entry.folder, &entry.st))
            cause = EACCES;
        else if (!entry.is_magic && !S_ISDIR(entry.st.st_mode))
            cause = ENOTDIR;
        path_close(&entry);
    }
    mem_free(plain);
    if (cause == 0 || cause == EISDIR) /* the latter: the root */
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot write files in '%s': %s%s", path, strerror(cause),
                   cause == EACCES ? " (links and folders of other users are not used in "
                                     "world-writable folders)"
                                   : "");
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
