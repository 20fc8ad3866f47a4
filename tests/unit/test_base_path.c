/*
 * Paths: made absolute; regular files that are created, opened again and shared; folders. How files
 * that users name are opened is tested with buf_file.
 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static void test_absolute(void)
{
    char here[PATH_MAX], expected[PATH_MAX + 16], out[PATH_MAX];
    struct err err;

    ok(getcwd(here, sizeof here) != NULL, "there is a current directory");
    ok(path_absolute("/a/../b", out, sizeof out, &err) == 0, "a path from the root");
    is_str(out, "/a/../b", "stays as it is");
    ok(path_absolute("a/b", out, sizeof out, &err) == 0, "a path from here");
    snprintf(expected, sizeof expected, "%s/a/b", here);
    is_str(out, expected, "begins with the current directory");
    ok(path_absolute("/12345", out, 7, &err) == 0, "one that just fits");
    is_int(path_absolute("/123456", out, 7, &err), ERR_INPUT, "one that is too long");
    ok(strstr(err.text, "too long") != NULL, "says so");
}

enum { OTHER = 65533 };

static char dir[] = "/tmp/orrery-path-XXXXXX";

/* Valid until the fourth call after it. */
static const char *in_dir(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static int is_closed(int fd)
{
    return fd >= 0 && close(fd) == 0;
}

static void test_regular(void)
{
    struct path_file made;
    struct err err = {0};
    const char *path = in_dir("file"), *link = in_dir("link"), *other = in_dir("other");
    ok(is_closed(path_create(path, &made, &err)), "a file is created");
    ok(is_closed(path_reopen(path, &made, 0)), "and opened again");
    ok(symlink("file", link) == 0 && is_closed(path_reopen(link, &made, O_APPEND)),
       "by a link of ours, too");
    ok(rename(path, other) == 0 && is_closed(path_create(path, NULL, &err)),
       "another is there now");
    ok(path_reopen(path, &made, 0) < 0 && errno == ESTALE, "which is not opened");
    ok(path_reopen(in_dir("none"), NULL, 0) < 0 && errno == ENOENT,
       "one that is gone is not created");
    ok(is_closed(path_open_shared(other, &err)) && is_closed(path_open_shared(in_dir("new"), &err)),
       "shared ones are opened and created");
    const char *fifo = in_dir("fifo");
    ok(mkfifo(fifo, 0600) == 0, "a pipe");
    ok(path_create(fifo, NULL, &err) < 0, "is no file to be created");
    ok(strstr(err.text, "it is not a regular file: remove it") != NULL, "the reason is said");
    ok(path_open_shared(fifo, &err) < 0, "nor to be shared");
    ok(path_reopen(fifo, NULL, 0) < 0, "nor to be opened again");
}

static void test_folder(void)
{
    struct err err = {0};
    struct stat st;
    ok(path_make_folder(in_dir("folder/"), &err) == 0 && stat(in_dir("folder"), &st) == 0 &&
           S_ISDIR(st.st_mode),
       "a folder is created");
    ok(path_make_folder(in_dir("folder"), &err) == 0, "or is there");
    ok(symlink("folder", in_dir("to-folder")) == 0 &&
           path_make_folder(in_dir("to-folder"), &err) == 0,
       "or a link of ours to it");
    ok(path_make_folder(".", &err) == 0 && path_make_folder("/", &err) == 0, "as these are");
    ok(path_make_folder(in_dir("file"), &err) != 0, "not a file");
    ok(path_make_folder(in_dir("none/folder"), &err) != 0, "not several at once");
}

/* Needs root, who alone can make files of others. */
static void test_others(void)
{
    struct err err = {0};
    if (geteuid() != 0) {
        diag("not root: files of others are not tested");
        return;
    }
    chmod(dir, 01777);
    const char *file = in_dir("file"), *link = in_dir("trap"), *folder = in_dir("folder");
    ok(chown(file, OTHER, OTHER) == 0, "a file of somebody else where all may write");
    ok(path_create(file, NULL, &err) < 0 && strstr(err.text, "of other users"), "is not written");
    ok(path_open_shared(file, &err) < 0, "nor shared");
    ok(symlink("target", link) == 0 && lchown(link, OTHER, OTHER) == 0, "a link");
    ok(path_create(link, NULL, &err) < 0 && path_open_shared(link, &err) < 0 &&
           path_make_folder(link, &err) != 0,
       "is not followed");
    ok(access(in_dir("target"), F_OK) != 0, "nothing is written");
    ok(chown(folder, OTHER, OTHER) == 0 && path_make_folder(folder, &err) != 0 &&
           strstr(err.text, "of other users"),
       "a folder is not used");
    chmod(dir, 0700);
    ok(path_make_folder(folder, &err) == 0, "it is where only we may write");
}

int main(void)
{
    plan_auto();
    test_absolute();
    if (!mkdtemp(dir))
        return 1;
    test_regular();
    test_folder();
    test_others();
    static const char *const names[] = {"file", "link",      "other", "new",
                                        "fifo", "to-folder", "trap"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(in_dir(names[i]));
    rmdir(in_dir("folder"));
    rmdir(dir);
    return done_testing();
}
