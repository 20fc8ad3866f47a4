/* Writing files: replacement, modes, links, devices, and the texts of failures. */
#include "base/buf.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/tap.h"

static char dir[] = "/tmp/orrery-buf-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static int count_files(void)
{
    int count = 0;
    DIR *handle = opendir(dir);
    for (struct dirent *entry; handle && (entry = readdir(handle));)
        count += entry->d_name[0] != '.';
    if (handle)
        closedir(handle);
    return count;
}

static void is_file(const char *path, const char *want, const char *name)
{
    char text[64] = "";
    sys_read_text(path, text, sizeof text);
    is_str(text, want, name);
}

static void test_regular(const struct buf *buf)
{
    struct stat st;
    struct err err = {0};
    const char *path = in_dir("a");
    is_int(buf_write_file(buf, path, &err), 0, "a new file");
    is_file(path, "hello\n", "has the content");
    chmod(path, 0640);
    truncate(path, 3);
    is_int(buf_write_file(buf, path, &err), 0, "an old file");
    is_file(path, "hello\n", "is replaced");
    stat(path, &st);
    is_int(st.st_mode & 0777, 0640, "and keeps its mode");
    is_int(count_files(), 1, "no temporary file stays");
    is_int(err.code, 0, "success leaves err untouched");
}

static void test_link(const struct buf *buf)
{
    struct stat st;
    const char *target = in_dir("target"), *link = in_dir("link");
    ok(symlink(target, link) == 0, "a symbolic link");
    is_int(buf_write_file(buf, link, NULL), 0, "is written through");
    ok(lstat(link, &st) == 0 && S_ISLNK(st.st_mode), "and stays a link");
    is_file(target, "hello\n", "to the new file");
    unlink(link);
    unlink(target);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* A file of ours keeps its permissions, but not what makes a program run as its owner. */
static void test_own_mode(const struct buf *buf)
{
    const char *path = in_dir("own");
    mode_t before = umask(022);
    buf_write_file(buf, path, NULL);
    is_int(mode_of(path), 0644, "a new file goes by umask");
    chmod(path, 06750);
    is_int(buf_write_file(buf, path, NULL), 0, "a file of ours that runs as its owner");
    is_int(mode_of(path), 0750, "does not any more");
    unlink(path);
    umask(before);
}

/* Needs root, who alone can make files of others. */
static void test_others(const struct buf *buf)
{
    enum { OTHER = 65533 };
    const char *path = in_dir("other");
    struct stat st;
    struct err err = {0};
    mode_t before = umask(022);
    if (geteuid() != 0) {
        diag("not root: files of others are not tested");
        umask(before);
        return;
    }
    buf_write_file(buf, path, NULL);
    ok(chown(path, OTHER, OTHER) == 0 && chmod(path, 04777) == 0, "a file of somebody else");
    is_int(buf_write_file(buf, path, NULL), 0, "is replaced");
    stat(path, &st);
    is_int(st.st_uid, 0, "by one of ours");
    is_int(st.st_mode & 07777, 0644, "with permissions of ours");
    unlink(path);

    const char *target = in_dir("target"), *link = in_dir("trap");
    chmod(dir, 01777);
    ok(symlink(target, link) == 0 && lchown(link, OTHER, OTHER) == 0,
       "a link of somebody else where all may write");
    is_int(buf_write_file(buf, link, &err), ERR_SYSTEM, "is not followed");
    ok(access(target, F_OK) != 0, "nothing is written");
    ok(strstr(err.text, "of other users are not used") != NULL, "the reason is said");
    unlink(link);

    const char *folder = in_dir("folder");
    char inside[256];
    ok(symlink("/tmp", folder) == 0 && lchown(folder, OTHER, OTHER) == 0,
       "nor in the middle of a path");
    snprintf(inside, sizeof inside, "%s/folder/orrery-never", dir);
    is_int(buf_write_file(buf, inside, &err), ERR_SYSTEM, "it is refused");
    unlink(folder);

    const char *fifo = in_dir("fifo");
    ok(mkfifo(fifo, 0666) == 0 && chown(fifo, OTHER, OTHER) == 0, "a pipe of somebody else");
    is_int(buf_write_file(buf, fifo, &err), ERR_SYSTEM, "is not used");
    unlink(fifo);

    const char *file = in_dir("planted");
    buf_write_file(buf, file, NULL);
    ok(chmod(file, 0666) == 0 && chown(file, OTHER, OTHER) == 0, "a file of somebody else");
    is_int(buf_write_file(buf, file, &err), ERR_SYSTEM, "is not written");
    unlink(file);
    chmod(dir, 0700);
    umask(before);
}

/* Both names of a file lead to what was there before, except the one that was written. */
static void test_hard_link(const struct buf *buf)
{
    struct buf old;
    const char *one = in_dir("one"), *two = in_dir("two");
    buf_init(&old);
    buf_adds(&old, "old\n");
    buf_write_file(&old, one, NULL);
    ok(link(one, two) == 0, "a second name");
    is_int(buf_write_file(buf, one, NULL), 0, "is not written through");
    is_file(two, "old\n", "it has the old content");
    unlink(one);
    unlink(two);
    buf_fini(&old);
}

/* What a shell makes of >(command). */
static void test_descriptor(const struct buf *buf)
{
    char path[64], text[16] = "";
    int ends[2];
    ok(pipe(ends) == 0, "a pipe");
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    is_int(buf_write_file(buf, path, NULL), 0, "by the name of its descriptor");
    ok(read(ends[0], text, sizeof text - 1) == 6, "is written to");
    close(ends[0]);
    close(ends[1]);
}

static void test_failures(const struct buf *buf)
{
    struct err err = {0};
    char want[256];
    is_int(buf_write_file(buf, "/dev/null", &err), 0, "a device is written");
    is_int(buf_write_file(buf, "/dev/full", &err), ERR_SYSTEM, "a full device fails");
    is_str(err.text, "cannot write '/dev/full': No space left on device", "with its reason");
    const char *path = in_dir("none/x");
    is_int(buf_write_file(buf, path, &err), ERR_SYSTEM, "a missing directory fails");
    snprintf(want, sizeof want, "cannot write '%s': No such file or directory", path);
    is_str(err.text, want, "with its reason");
    is_int(buf_write_file(buf, dir, &err), ERR_SYSTEM, "a directory fails");
    snprintf(want, sizeof want, "cannot write '%s': Is a directory", dir);
    is_str(err.text, want, "with its reason");
}

/* A write that fails half-way leaves the old file as it was, and nothing beside it. */
static void test_half_written(const struct buf *buf)
{
    struct err err = {0};
    struct rlimit saved, small;
    struct buf longer;
    const char *path = in_dir("a");
    buf_init(&longer);
    buf_addf(&longer, "%s%s", buf_str(buf), buf_str(buf));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &saved);
    small = (struct rlimit){.rlim_cur = 8, .rlim_max = saved.rlim_max};
    fflush(stdout);
    setrlimit(RLIMIT_FSIZE, &small);
    int rc = buf_write_file(&longer, path, &err);
    setrlimit(RLIMIT_FSIZE, &saved);
    is_int(rc, ERR_SYSTEM, "a write beyond the size limit fails");
    ok(strstr(err.text, "File too large") != NULL, "with its reason");
    is_file(path, "hello\n", "the old file is untouched");
    is_int(count_files(), 1, "no temporary file stays");
    buf_fini(&longer);
}

/* Standard output is written where it stands, not truncated. */
static void test_stdout(const struct buf *buf, const char *name)
{
    const char *path = in_dir("out");
    fflush(stdout);
    int saved = dup(1), fd = sys_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 1);
    sys_write_all(1, "> ", 2);
    int rc = buf_write_file(buf, name, NULL);
    dup2(saved, 1);
    close(saved);
    close(fd);
    is_int(rc, 0, name);
    is_file(path, "> hello\n", "continues standard output");
    unlink(path);
}

int main(void)
{
    struct buf buf;
    plan_auto();
    ok(mkdtemp(dir) != NULL, "temporary directory");
    buf_init(&buf);
    buf_adds(&buf, "hello\n");
    test_regular(&buf);
    test_half_written(&buf);
    test_link(&buf);
    test_own_mode(&buf);
    test_others(&buf);
    test_hard_link(&buf);
    test_descriptor(&buf);
    test_failures(&buf);
    test_stdout(&buf, "-");
    test_stdout(&buf, "/dev/stdout");
    unlink(in_dir("a"));
    is_int(rmdir(dir), 0, "nothing else was left behind");
    buf_fini(&buf);
    return done_testing();
}
