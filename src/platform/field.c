/*
 * field.c - reads and writes fields. Each type has one line in the table at the end: how text
 * becomes a value, and how a value becomes text. Values are read into a temporary first, so a field
 * changes only on success.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "platform/field_internal.h"

union value {
    vtime time;
    double number;
    uint64_t count;
    uint32_t range[2];
    uint8_t flag;
    char text[PLATFORM_PATH_MAX];
    struct platform_dims dims;
};

static int refuse_zero(const struct key *key, int zero, struct err *err)
{
    return zero && key->positive ? err_set(err, ERR_INPUT, "must be greater than 0") : 0;
}

static int is_optional(const struct key *key)
{
    return key->value && !*key->value;
}

/* ---- reading ---- */

static int read_time(const struct key *key, const char *text, union value *v, struct err *err)
{
    if (is_optional(key) && !*text) {
        v->time = VTIME_NEVER;
        return 0;
    }
    int rc = units_parse_time(text, &v->time, err);
    return rc ? rc : refuse_zero(key, v->time == 0, err);
}

static int read_bandwidth(const struct key *key, const char *text, union value *v, struct err *err)
{
    if (is_optional(key) && !*text) {
        v->number = NAN;
        return 0;
    }
    if (!key->positive && strcmp(text, "0") == 0) {
        v->number = 0;
        return 0;
    }
    return units_parse_bandwidth(text, &v->number, err);
}

static int read_factor(const struct key *key, const char *text, union value *v, struct err *err)
{
    if (is_optional(key) && !*text) {
        v->number = NAN;
        return 0;
    }
    int rc = units_parse_double(text, &v->number, err);
    return rc ? rc : refuse_zero(key, v->number == 0, err);
}

static int read_count(const struct key *key, const char *text, union value *v, struct err *err)
{
    if (is_optional(key) && !*text) {
        v->count = UINT64_MAX;
        return 0;
    }
    int rc = key->type == KEY_SIZE ? units_parse_size(text, &v->count, err)
                                   : units_parse_count(text, &v->count, err);
    return rc ? rc : refuse_zero(key, v->count == 0, err);
}

static int read_text(const struct key *key, const char *text, union value *v, struct err *err)
{
    size_t size = key->type == KEY_NAME ? PLATFORM_NAME_MAX : PLATFORM_PATH_MAX;
    if (strlen(text) >= size)
        return err_set(err, ERR_INPUT, "bad %s '%s': expected at most %zu characters",
                       key->type == KEY_NAME ? "name" : "text", text, size - 1);
    if (key->positive && !*text)
        return err_set(err, ERR_INPUT, "must not be empty");
    memset(v->text, 0, sizeof v->text);
    memcpy(v->text, text, strlen(text));
    return 0;
}

/* Reads digits only; returns how many there are, or 0 if they are not a number below 2^32 - 1. */
static size_t read_number(const char *text, uint32_t *out)
{
    size_t digits = strspn(text, "0123456789");
    uint64_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        value = 10 * value + (uint64_t)(text[i] - '0');
        if (value >= UINT32_MAX)
            return 0;
    }
    *out = (uint32_t)value;
    return digits;
}

/* "4x4x2"; empty text gives no sizes. */
static int read_dims(const struct key *key, const char *text, union value *v, struct err *err)
{
    struct platform_dims *dims = &v->dims;
    (void)key;
    memset(dims, 0, sizeof *dims);
    for (const char *at = text; *at;) {
        uint32_t size = 0;
        size_t digits = read_number(at, &size);
        if (digits == 0 || size == 0 || dims->count == PLATFORM_DIMS_MAX ||
            (at[digits] && (at[digits] != 'x' || !at[digits + 1])))
            return err_set(err, ERR_INPUT,
                           "bad sizes '%s': expected up to %d numbers above 0, such "
                           "as 4x4x2",
                           text, PLATFORM_DIMS_MAX);
        dims->size[dims->count++] = size;
        at += digits + (at[digits] == 'x');
    }
    return 0;
}

static int read_node(const struct key *key, const char *text, union value *v, struct err *err)
{
    size_t digits = read_number(text, &v->range[0]);
    (void)key;
    return digits && !text[digits]
               ? 0
               : err_set(err, ERR_INPUT, "bad node '%s': expected a number from 0, such as 3",
                         text);
}

static int read_range(const struct key *key, const char *text, union value *v, struct err *err)
{
    size_t first = read_number(text, &v->range[0]), last = 0;
    (void)key;
    v->range[1] = v->range[0];
    if (first && text[first] == '-') {
        last = read_number(text + first + 1, &v->range[1]);
        first = last ? first + 1 + last : 0;
    }
    if (first && !text[first] && v->range[0] <= v->range[1])
        return 0;
    return err_set(err, ERR_INPUT,
                   "bad nodes '%s': expected a number or a range, such as 3 or 0-15", text);
}

static int read_flag(const struct key *key, const char *text, union value *v, struct err *err)
{
    (void)key;
    v->flag = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    return v->flag || strcmp(text, "false") == 0 || strcmp(text, "no") == 0
               ? 0
               : err_set(err, ERR_INPUT, "bad value '%s': expected true or false", text);
}

/* ---- writing ---- */

/* An integer in the largest unit that needs no fraction. */
static void write_time(const union value *v, struct buf *out)
{
    static const struct {
        vtime size;
        const char *name;
    } units[] = {{VTIME_S, "s"}, {VTIME_MS, "ms"}, {VTIME_US, "us"}, {VTIME_NS, "ns"}, {1, "ps"}};
    size_t i = 0;
    if (v->time == VTIME_NEVER)
        return;
    while (v->time % units[i].size != 0)
        i++;
    buf_addf(out, "%lld%s", (long long)(v->time / units[i].size), units[i].name);
}

static void write_factor(const union value *v, struct buf *out)
{
    char text[UNITS_TEXT_MAX];
    if (!isnan(v->number))
        buf_adds(out, units_format_double(text, sizeof text, v->number));
}

/* With a prefix only if the number before it is whole, so that it reads back exactly. */
static void write_bandwidth(const union value *v, struct buf *out)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    union value part = *v;
    size_t i = 0;
    for (; i < 4 && v->number >= 1000 && v->number < 1e15 && fmod(part.number, 1000) == 0; i++)
        part.number /= 1000;
    write_factor(&part, out);
    if (isfinite(v->number) && v->number != 0)
        buf_addf(out, "%sbps", prefixes[i]);
}

static void write_size(const union value *v, struct buf *out)
{
    static const char *const prefixes[] = {"", "KiB", "MiB", "GiB"};
    uint64_t part = v->count;
    size_t i = 0;
    if (part == UINT64_MAX)
        return;
    for (; i < 3 && part && part % 1024 == 0; i++)
        part /= 1024;
    buf_addf(out, "%llu%s", (unsigned long long)part, prefixes[i]);
}

static void write_count(const union value *v, struct buf *out)
{
    if (v->count != UINT64_MAX)
        buf_addf(out, "%llu", (unsigned long long)v->count);
}

static void write_text(const union value *v, struct buf *out)
{
    buf_adds(out, v->text);
}

static void write_dims(const union value *v, struct buf *out)
{
    for (uint32_t d = 0; d < v->dims.count; d++)
        buf_addf(out, "%s%u", d ? "x" : "", v->dims.size[d]);
}

static void write_node(const union value *v, struct buf *out)
{
    buf_addf(out, "%u", v->range[0]);
}

static void write_range(const union value *v, struct buf *out)
{
    if (v->range[0] <= v->range[1])
        buf_addf(out, "%u", v->range[0]);
    if (v->range[0] < v->range[1])
        buf_addf(out, "-%u", v->range[1]);
}

static void write_flag(const union value *v, struct buf *out)
{
    buf_adds(out, v->flag ? "true" : "false");
}

/* ---- the table ---- */

static const struct type {
    size_t size;
    int (*read)(const struct key *, const char *text, union value *, struct err *);
    void (*write)(const union value *, struct buf *);
} types[KEY_TYPES] = {
    [KEY_TIME] = {sizeof(vtime), read_time, write_time},
    [KEY_BANDWIDTH] = {sizeof(double), read_bandwidth, write_bandwidth},
    [KEY_SIZE] = {sizeof(uint64_t), read_count, write_size},
    [KEY_COUNT] = {sizeof(uint64_t), read_count, write_count},
    [KEY_FACTOR] = {sizeof(double), read_factor, write_factor},
    [KEY_NAME] = {PLATFORM_NAME_MAX, read_text, write_text},
    [KEY_PATH] = {PLATFORM_PATH_MAX, read_text, write_text},
    [KEY_TEXT] = {PLATFORM_PATH_MAX, read_text, write_text},
    [KEY_DIMS] = {sizeof(struct platform_dims), read_dims, write_dims},
    [KEY_NODE] = {sizeof(uint32_t), read_node, write_node},
    [KEY_RANGE] = {2 * sizeof(uint32_t), read_range, write_range},
    [KEY_FLAG] = {sizeof(uint8_t), read_flag, write_flag},
};

int field_set(const struct key *key, void *object, const char *text, struct err *err)
{
    union value value;
    int rc = types[key->type].read(key, text, &value, err);
    if (rc == 0)
        memcpy((char *)object + key->offset, &value, types[key->type].size);
    return rc;
}

void field_print(const struct key *key, const void *object, struct buf *out)
{
    union value value;
    memcpy(&value, (const char *)object + key->offset, types[key->type].size);
    types[key->type].write(&value, out);
}

/* Defaults: a missing range ends before it begins; a required count is 0. */
static void clear(const struct key *key, void *at)
{
    static const uint32_t none[2] = {1, 0};
    memset(at, key->type == KEY_COUNT && !key->value ? 0xff : 0, types[key->type].size);
    if (key->type == KEY_RANGE)
        memcpy(at, none, sizeof none);
}

void field_defaults(const struct key *keys, size_t count, void *object)
{
    for (size_t i = 0; i < count; i++) {
        struct err err;
        clear(&keys[i], (char *)object + keys[i].offset);
        if (keys[i].value) {
            int rc = field_set(&keys[i], object, keys[i].value, &err);
            assert(rc == 0);
            (void)rc;
        }
    }
}

void field_help(const struct key *key, const char *prefix, struct buf *out)
{
    char head[96];
    const char *text = key->help;
    snprintf(head, sizeof head, "%s%s=%s", prefix, key->name, key->value ? key->value : "");
    buf_addf(out, "  %-27s", head);
    if (strlen(head) > 27)
        buf_addf(out, "\n  %27s", "");
    /* 50 columns of help, broken at spaces */
    while (strlen(text) > 50) {
        size_t n = 50;
        while (n && text[n] != ' ')
            n--;
        buf_addf(out, " %.*s\n  %27s", (int)n, text, "");
        text += n + 1;
    }
    buf_addf(out, " %s\n", text);
}

const struct key *field_find(const struct key *keys, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}
