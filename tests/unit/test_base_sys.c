/* Raw system calls: whole writes, text files, errno. */
#include "base/sys.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/tap.h"

static void test_files(void)
{
    char path[] = "/tmp/orrery-sys-XXXXXX", text[16];
    int fd = mkstemp(path);
    ok(fd >= 0, "temporary file");
    is_int(sys_write_all(fd, "hello world", 11), 0, "write all");
    is_int(sys_close(fd), 0, "close");
    is_int(sys_read_text(path, text, sizeof text), 11, "read text");
    is_str(text, "hello world", "what was written");
    is_int(sys_read_text(path, text, 6), 5, "a long file is cut");
    is_str(text, "hello", "and terminated");
    is_int(sys_unlink(path), 0, "unlink");
    errno = 0;
    is_int(sys_read_text(path, text, sizeof text), -1, "reading a missing file fails");
    is_int(errno, ENOENT, "with its errno");
}

static void test_write_errors(void)
{
    errno = 0;
    is_int(sys_write_all(-1, "x", 1), -1, "a bad descriptor fails");
    is_int(errno, EBADF, "with its errno");
    int fd = sys_open("/dev/full", O_WRONLY, 0);
    if (fd >= 0) {
        errno = 0;
        is_int(sys_write_all(fd, "x", 1), -1, "a full device fails");
        is_int(errno, ENOSPC, "with its errno");
        sys_close(fd);
    }
}

int main(void)
{
    plan_auto();
    test_files();
    test_write_errors();
    is_int(sys_getpid(), getpid(), "process id");
    return done_testing();
}
