/*
 * Text for terminals: control characters and broken UTF-8 are replaced, the rest stays.
 */
#include "base/printable.h"

#include <string.h>

#include "tap.h"

static void check(const char *text, size_t length, int lines, const char *expected)
{
    char copy[64];
    memcpy(copy, text, length);
    copy[length] = 0;
    printable(copy, length, lines);
    is_str(copy, expected, expected);
}
#define CHECK(text, lines, expected) check(text, sizeof text - 1, lines, expected)

int main(void)
{
    plan_auto();
    CHECK("plain text", 0, "plain text");
    CHECK("a\033]0;title\007b", 0, "a?]0;title?b");
    CHECK("one\ntwo\tthree\r", 1, "one\ntwo\tthree?");
    CHECK("one\ntwo", 0, "one?two");
    CHECK("\177", 1, "?");
    CHECK("K\303\266ln \342\202\254 \360\237\230\200", 1,
          "K\303\266ln \342\202\254 \360\237\230\200");
    CHECK("\302\233"
          "31m",
          1, "??31m");
    CHECK("\302\240", 1, "\302\240");
    CHECK("\233"
          "31m",
          1, "?31m");
    CHECK("end \342\202", 1, "end ??");
    CHECK("a\0b", 1, "a?b");
    CHECK("", 1, "");
    return done_testing();
}
