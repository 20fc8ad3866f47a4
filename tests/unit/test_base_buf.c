/* The text buffer: growth, formatting, ownership. */
#include "base/buf.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/tap.h"

static void test_add(void)
{
    struct buf buf;
    buf_init(&buf);
    is_str(buf_str(&buf), "", "an empty buffer is an empty string");
    buf_add(&buf, NULL, 0);
    is_str(buf_str(&buf), "", "adding nothing");
    buf_add(&buf, "abc", 2);
    buf_addc(&buf, '-');
    buf_adds(&buf, "def");
    buf_addf(&buf, "%d", 42);
    is_str(buf_str(&buf), "ab-def42", "pieces");
    is_int(buf.len, 8, "length");
    buf_clear(&buf);
    is_str(buf_str(&buf), "", "cleared");
    buf_fini(&buf);
}

static void test_growth(void)
{
    struct buf buf;
    int good = 1;
    buf_init(&buf);
    for (int i = 0; i < 20000; i++)
        buf_addc(&buf, (char)('a' + i % 26));
    for (int i = 0; i < 20000; i++)
        good &= buf.data[i] == 'a' + i % 26;
    ok(good && buf.len == 20000 && buf.data[20000] == '\0', "20000 single bytes");
    buf_fini(&buf);
}

/* Every length around the buffer's first sizes, so each boundary of addf is hit. */
static void test_format_lengths(void)
{
    int good = 1;
    for (int n = 0; n < 300; n++) {
        struct buf buf;
        buf_init(&buf);
        buf_addf(&buf, "%*s", n, "");
        buf_addf(&buf, "%*s|", n, "");
        good &= buf.len == (size_t)(2 * n + 1) && strlen(buf.data) == buf.len;
        buf_fini(&buf);
    }
    ok(good, "formatted text of every length");
}

static void test_take(void)
{
    struct buf buf;
    buf_init(&buf);
    char *text = buf_take(&buf);
    is_str(text, "", "taking nothing gives an empty string");
    mem_free(text);
    buf_adds(&buf, "mine");
    text = buf_take(&buf);
    is_str(text, "mine", "take moves the text");
    ok(buf.data == NULL && buf.len == 0, "and leaves nothing");
    mem_free(text);
}

static void test_csv(void)
{
    static const char *const cases[][2] = {{"plain text", "plain text"},
                                           {"", ""},
                                           {"a,b", "\"a,b\""},
                                           {"say \"so\"", "\"say \"\"so\"\"\""},
                                           {"two\r\nlines", "\"two\r\nlines\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf buf;
        buf_init(&buf);
        buf_add_csv(&buf, cases[i][0]);
        is_str(buf_str(&buf), cases[i][1], "a field of CSV");
        buf_fini(&buf);
    }
}

int main(void)
{
    plan_auto();
    test_add();
    test_growth();
    test_format_lengths();
    test_take();
    test_csv();
    return done_testing();
}
