/*
 * Paths: made absolute. How files are opened is tested with buf_file.
 */
#include "base/path.h"

#include <limits.h>
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

int main(void)
{
    plan_auto();
    test_absolute();
    return done_testing();
}
