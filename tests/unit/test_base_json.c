/* The JSON writer: layout, escapes, numbers. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tap.h"

#define SEED 4242

static void test_layout(void)
{
    struct buf out;
    struct json json;
    buf_init(&out);
    json_init(&json, &out);
    json_object_begin(&json);
    json_key(&json, "name");
    json_string(&json, "ring");
    json_key(&json, "sizes");
    json_array_begin(&json);
    for (int i = 1; i <= 3; i++)
        json_int(&json, -i);
    json_array_end(&json);
    json_key(&json, "none");
    json_array_begin(&json);
    json_array_end(&json);
    json_key(&json, "list");
    json_array_begin(&json);
    json_object_begin(&json);
    json_object_end(&json);
    json_object_begin(&json);
    json_key(&json, "ok");
    json_bool(&json, 1);
    json_object_end(&json);
    json_array_end(&json);
    json_key(&json, "no");
    json_bool(&json, 0);
    json_object_end(&json);
    json_fini(&json);
    is_str(buf_str(&out),
           "{\n"
           "  \"name\": \"ring\",\n"
           "  \"sizes\": [-1, -2, -3],\n"
           "  \"none\": [],\n"
           "  \"list\": [\n"
           "    {},\n"
           "    {\n"
           "      \"ok\": true\n"
           "    }\n"
           "  ],\n"
           "  \"no\": false\n"
           "}\n",
           "a document");
    buf_fini(&out);
}

/* An array of n nines; 3 columns each but for the last, and 2 brackets. */
static int lines_of_array(int n)
{
    struct buf out;
    struct json json;
    int lines = 0;
    buf_init(&out);
    json_init(&json, &out);
    json_array_begin(&json);
    for (int i = 0; i < n; i++)
        json_uint(&json, 9);
    json_array_end(&json);
    json_fini(&json);
    for (size_t i = 0; i < out.len; i++)
        lines += out.data[i] == '\n';
    buf_fini(&out);
    return lines;
}

static void write_string(struct buf *out, const char *text)
{
    struct json json;
    buf_clear(out);
    json_init(&json, out);
    json_string(&json, text);
    json_fini(&json);
}

static void test_strings(void)
{
    static const char *const cases[][2] = {
        {"a\"b\\c", "\"a\\\"b\\\\c\"\n"},
        {"\b\t\n\f\r\v\x01\x7f", "\"\\b\\t\\n\\f\\r\\u000b\\u0001\\u007f\"\n"},
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"\n"},
        {"x\xFFy", "\"x\xEF\xBF\xBDy\"\n"},
        {"\xC3", "\"\xEF\xBF\xBD\"\n"},
        {"\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"\n"},
        {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"\n"},
        {"", "\"\"\n"},
        {NULL, "null\n"},
    };
    struct buf out;
    buf_init(&out);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_string(&out, cases[i][0]);
        is_str(buf_str(&out), cases[i][1], "string");
    }
    buf_fini(&out);
}

static const char *write_double(struct buf *out, double value)
{
    struct json json;
    buf_clear(out);
    json_init(&json, out);
    json_double(&json, value);
    return buf_str(out);
}

static void test_numbers(void)
{
    struct buf out;
    struct json json;
    buf_init(&out);
    is_str(write_double(&out, 0.1), "0.1", "0.1 stays short");
    is_str(write_double(&out, 3), "3", "a whole double");
    is_str(write_double(&out, INFINITY), "null", "infinity is null");
    is_str(write_double(&out, NAN), "null", "NaN is null");
    buf_clear(&out);
    json_init(&json, &out);
    json_array_begin(&json);
    json_int(&json, INT64_MIN);
    json_uint(&json, UINT64_MAX);
    json_array_end(&json);
    is_str(buf_str(&out), "[-9223372036854775808, 18446744073709551615]", "largest integers");
    buf_fini(&out);
}

static void test_round_trip(void)
{
    struct buf out;
    struct rng rng;
    int same = 1;
    diag("seed %d", SEED);
    rng_seed(&rng, SEED);
    buf_init(&out);
    for (int i = 0; i < 20000; i++) {
        union {
            uint64_t bits;
            double value;
        } number = {.bits = rng_next(&rng)};
        if (isfinite(number.value))
            same &= strtod(write_double(&out, number.value), NULL) == number.value;
    }
    ok(same, "random doubles read back the same");
    buf_fini(&out);
}

int main(void)
{
    plan_auto();
    test_layout();
    is_int(lines_of_array(26), 1, "78 columns stand on one line");
    is_int(lines_of_array(27), 29, "81 columns do not");
    is_int(lines_of_array(1000), 1002, "nor does a long array");
    test_strings();
    test_numbers();
    test_round_trip();
    return done_testing();
}
