/* Error values: setting, prefixing, truncation, NULL. */
#include "base/err.h"

#include "tests/tap.h"

static void test_set(void)
{
    struct err err = {0};
    is_int(err_set(&err, ERR_SYSTEM, "cannot read '%s'", "a"), ERR_SYSTEM, "set returns the code");
    is_int(err.code, ERR_SYSTEM, "set stores the code");
    is_str(err.text, "cannot read 'a'", "set formats the text");
    err_set(&err, ERR_INPUT, "again: %s", err.text);
    is_str(err.text, "again: cannot read 'a'", "an argument may be the old text");
    is_int(err_set(NULL, ERR_MEMORY, "x"), ERR_MEMORY, "NULL is allowed");
}

static void test_prefix(void)
{
    struct err err = {0};
    err_set(&err, ERR_MEMORY, "why");
    is_int(err_prefix(&err, "line %d", 12), ERR_MEMORY, "prefix returns the stored code");
    is_str(err.text, "line 12: why", "prefix is put before the text");
    is_int(err_prefix(NULL, "x"), ERR_INPUT, "prefix of NULL is negative");
}

static void test_long(void)
{
    struct err err = {0};
    char big[3000];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    err_set(&err, ERR_INPUT, "%s", big);
    is_int(strlen(err.text), sizeof err.text - 1, "a long text is cut");
    err_prefix(&err, "b");
    is_int(strlen(err.text), sizeof err.text - 1, "a prefix of a full text still fits");
    ok(strncmp(err.text, "b: aaa", 6) == 0, "the prefix stands first");
    for (size_t n = sizeof err.text - 4; n <= sizeof err.text; n++) {
        err_set(&err, ERR_INPUT, "why");
        err_prefix(&err, "%.*s", (int)n, big);
        ok(strlen(err.text) < sizeof err.text, "prefix of %zu bytes stays in the buffer", n);
    }
}

int main(void)
{
    plan_auto();
    test_set();
    test_prefix();
    test_long();
    return done_testing();
}
