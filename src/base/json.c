/*
 * json.c - the JSON writer.
 *
 * Every value first passes begin_value, which writes the comma and the line break it needs and
 * checks that a value is allowed there. Elements are written one per line; when an array that holds
 * only scalars ends and is short enough, join_lines pulls it onto one line. That is safe because
 * strings never contain raw line breaks.
 */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/utf8.h"

#define LINE_MAX_COLUMNS 80

void json_init(struct json *json, struct buf *out)
{
    json->out = out;
    json->depth = 0;
    json->after_key = 0;
    json->done = 0;
}

void json_fini(struct json *json)
{
    assert(json->depth == 0 && json->done);
    buf_addc(json->out, '\n');
}

static void new_line(struct json *json)
{
    buf_addc(json->out, '\n');
    for (int i = 0; i < json->depth; i++)
        buf_add(json->out, "  ", 2);
}

/* The separator before the next key of an object or element of an array. */
static void begin_member(struct json *json)
{
    struct json_level *top = &json->level[json->depth - 1];
    if (!top->empty)
        buf_addc(json->out, ',');
    top->empty = 0;
    new_line(json);
}

static void begin_value(struct json *json)
{
    assert(!json->done);
    if (json->depth == 0) {
        json->done = 1;
        return;
    }
    if (json->level[json->depth - 1].close == '}') {
        assert(json->after_key);
        json->after_key = 0;
    } else {
        begin_member(json);
    }
}

static void open_level(struct json *json, char open, char close)
{
    begin_value(json);
    assert(json->depth < JSON_DEPTH_MAX);
    json->done = 0;
    if (json->depth > 0)
        json->level[json->depth - 1].flat = 0;
    json->level[json->depth++] = (struct json_level){.start = json->out->len,
                                                     .close = close,
                                                     .empty = 1,
                                                     .flat = 1};
    buf_addc(json->out, open);
}

/* The length of out[start..] with its line breaks removed, as join_lines leaves it. */
static size_t joined_length(const struct buf *out, size_t start)
{
    size_t length = 0;
    for (size_t i = start; i < out->len; i++) {
        length++;
        if (out->data[i] != '\n')
            continue;
        length -= out->data[i - 1] != ',';
        while (out->data[i + 1] == ' ')
            i++;
    }
    return length;
}

/* Replaces each line break and indent in out[start..] by a space after a comma, else nothing. */
static void join_lines(struct buf *out, size_t start)
{
    size_t to = start;
    for (size_t i = start; i < out->len; i++) {
        if (out->data[i] != '\n') {
            out->data[to++] = out->data[i];
            continue;
        }
        if (out->data[i - 1] == ',')
            out->data[to++] = ' ';
        while (out->data[i + 1] == ' ')
            i++;
    }
    buf_cut(out, to);
}

static size_t column_of(const struct buf *out, size_t at)
{
    size_t column = 0;
    while (at > 0 && out->data[at - 1] != '\n') {
        at--;
        column++;
    }
    return column;
}

/* Long arrays are ruled out by their size before anything is scanned. */
static int fits_line(const struct json *json, size_t start)
{
    size_t per_element = 2 + 2 * (size_t)(json->depth + 1);
    if (json->out->len - start > LINE_MAX_COLUMNS * per_element)
        return 0;
    return column_of(json->out, start) + joined_length(json->out, start) <= LINE_MAX_COLUMNS;
}

static void close_level(struct json *json, char close)
{
    assert(json->depth > 0 && !json->after_key);
    struct json_level top = json->level[--json->depth];
    assert(top.close == close);
    if (!top.empty)
        new_line(json);
    buf_addc(json->out, close);
    if (close == ']' && top.flat && !top.empty && fits_line(json, top.start))
        join_lines(json->out, top.start);
    if (json->depth == 0)
        json->done = 1;
}

void json_object_begin(struct json *json)
{
    open_level(json, '{', '}');
}

void json_object_end(struct json *json)
{
    close_level(json, '}');
}

void json_array_begin(struct json *json)
{
    open_level(json, '[', ']');
}

void json_array_end(struct json *json)
{
    close_level(json, ']');
}

static void add_control(struct buf *out, unsigned char c)
{
    static const char letters[] = "btnvfr"; /* 0x08 to 0x0D; \v is not JSON */
    if (c >= 0x08 && c <= 0x0D && c != 0x0B)
        buf_addf(out, "\\%c", letters[c - 0x08]);
    else
        buf_addf(out, "\\u%04x", c);
}

void json_quote(struct buf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    buf_addc(out, '"');
    while (*s) {
        int n = utf8_length(s);
        if (n == 0)
            buf_adds(out, "\xEF\xBF\xBD");
        else if (*s == '"' || *s == '\\')
            buf_addf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7F)
            add_control(out, *s);
        else
            buf_add(out, s, (size_t)n);
        s += n ? n : 1;
    }
    buf_addc(out, '"');
}

void json_key(struct json *json, const char *key)
{
    assert(json->depth > 0 && json->level[json->depth - 1].close == '}' && !json->after_key);
    begin_member(json);
    json_quote(json->out, key);
    buf_adds(json->out, ": ");
    json->after_key = 1;
}

void json_string(struct json *json, const char *text)
{
    begin_value(json);
    if (text)
        json_quote(json->out, text);
    else
        buf_adds(json->out, "null");
}

void json_int(struct json *json, int64_t value)
{
    begin_value(json);
    buf_addf(json->out, "%lld", (long long)value);
}

void json_uint(struct json *json, uint64_t value)
{
    begin_value(json);
    buf_addf(json->out, "%llu", (unsigned long long)value);
}

void json_double(struct json *json, double value)
{
    char text[UNITS_TEXT_MAX];
    begin_value(json);
    buf_adds(json->out, isfinite(value) ? units_format_double(text, sizeof text, value) : "null");
}

void json_decimal(struct json *json, uint64_t value, int digits)
{
    uint64_t one = 1;
    assert(digits >= 1 && digits <= 18);
    for (int i = 0; i < digits; i++)
        one *= 10;
    begin_value(json);
    buf_addf(json->out, "%llu.%0*llu", (unsigned long long)(value / one), digits,
             (unsigned long long)(value % one));
}

void json_bool(struct json *json, int value)
{
    begin_value(json);
    buf_adds(json->out, value ? "true" : "false");
}

void json_put_uint(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_uint(json, value);
}

void json_put_double(struct json *json, const char *key, double value)
{
    json_key(json, key);
    json_double(json, value);
}

void json_put_string(struct json *json, const char *key, const char *value)
{
    json_key(json, key);
    json_string(json, value);
}
