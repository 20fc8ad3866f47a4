/*
 * raw.c - reads raw measurements. Lines are split in place in a copy; every number is checked, and
 * the quartiles must be in order, so that the fit can rely on them.
 */
#include "calibrate/raw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

#define FIRST "# orrery calibration 1"
#define HEADER "kind,where,ranks,bytes,samples,outliers,least,q1,median,q3,most,beyond_cores"
#define FIELDS 12
#define TIME_MAX 1e15 /* ns */
#define RECORDS_MAX 100000

static const char *const where_names[] = {"intra", "inter", "-"};

/* ---- one record ---- */

static int parse_where(const char *text, enum calibrate_where *out, struct err *err)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(text, where_names[i]) == 0) {
            *out = (enum calibrate_where)i;
            return 0;
        }
    return err_set(err, ERR_INPUT, "where: '%.40s' is none of intra, inter, -", text);
}

static int parse_number(const char *name, const char *text, uint64_t most, uint64_t *out,
                        struct err *err)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value > most)
        return err_set(err, ERR_INPUT, "%s: '%.40s' is not a whole number up to %llu", name, text,
                       (unsigned long long)most);
    *out = value;
    return 0;
}

static int parse_time(const char *name, const char *text, double *out, struct err *err)
{
    char *end;
    double value = strtod(text, &end);
    if (!*text || strspn(text, "0123456789.e+-") != strlen(text) || *end ||
        !(value >= 0 && value <= TIME_MAX))
        return err_set(err, ERR_INPUT, "%s: '%.40s' is not a time in nanoseconds", name, text);
    *out = value;
    return 0;
}

static int split(char *line, char *fields[FIELDS])
{
    int count = 0;
    for (char *at = line;; *at++ = 0) {
        if (count < FIELDS)
            fields[count] = at;
        count++;
        at += strcspn(at, ",");
        if (!*at)
            return count;
    }
}

static int parse_times(struct calibrate_record *r, char **fields, struct err *err)
{
    double *times[] = {&r->least, &r->q1, &r->median, &r->q3, &r->most}, before = 0;
    static const char *const names[] = {"least", "q1", "median", "q3", "most"};
    int rc = 0;
    for (int i = 0; i < 5 && rc == 0; i++) {
        rc = parse_time(names[i], fields[i], times[i], err);
        if (rc == 0 && *times[i] < before)
            rc = err_set(err, ERR_INPUT, "%s: '%.40s' is less than the value before it", names[i],
                         fields[i]);
        before = *times[i];
    }
    return rc;
}

static int parse_record(struct calibrate_record *r, char *line, struct err *err)
{
    char *f[FIELDS];
    uint64_t ranks, samples, outliers, beyond;
    int count = split(line, f);
    memset(r, 0, sizeof *r);
    if (count != FIELDS)
        return err_set(err, ERR_INPUT, "%d fields are expected, but there are %d", FIELDS, count);
    if (!*f[0] || strlen(f[0]) >= sizeof r->kind)
        return err_set(err, ERR_INPUT, "kind: '%.40s' is empty or too long", f[0]);
    strcpy(r->kind, f[0]);
    if (parse_where(f[1], &r->where, err) || parse_number("ranks", f[2], 1u << 30, &ranks, err) ||
        parse_number("bytes", f[3], CALIBRATE_BYTES_MAX, &r->bytes, err) ||
        parse_number("samples", f[4], 1u << 30, &samples, err) ||
        parse_number("outliers", f[5], 1u << 30, &outliers, err) || parse_times(r, f + 6, err) ||
        parse_number("beyond_cores", f[11], 1, &beyond, err))
        return ERR_INPUT;
    if (!ranks || !samples)
        return err_set(err, ERR_INPUT, "%s: must not be 0", ranks ? "samples" : "ranks");
    r->ranks = (uint32_t)ranks;
    r->samples = (uint32_t)samples;
    r->outliers = (uint32_t)outliers;
    r->beyond_cores = (int)beyond;
    return 0;
}

/* ---- the text ---- */

static void add_property(struct calibrate_raw *raw, char *line)
{
    char *colon = strstr(line, ": ");
    if (!colon)
        return;
    *colon = 0;
    ARRAY_EXTEND(raw->properties, raw->property_count);
    raw->properties[raw->property_count++] =
        (struct calibrate_property){mem_strdup(line + strspn(line, "# ")), mem_strdup(colon + 2)};
}

static int add_record(struct calibrate_raw *raw, char *line, struct err *err)
{
    struct calibrate_record r;
    int rc = parse_record(&r, line, err);
    if (rc)
        return rc;
    if (raw->count == RECORDS_MAX)
        return err_set(err, ERR_INPUT, "more than %d records", RECORDS_MAX);
    ARRAY_EXTEND(raw->records, raw->count);
    raw->records[raw->count++] = r;
    return 0;
}

/* Returns the line at *at, terminated, and moves *at past it. NULL at the end. */
static char *next_line(char **at)
{
    char *line = *at, *end;
    if (!*line)
        return NULL;
    end = line + strcspn(line, "\n");
    *at = *end ? end + 1 : end;
    *end = 0;
    if (end > line && end[-1] == '\r')
        end[-1] = 0;
    return line;
}

static int read_lines(struct calibrate_raw *raw, const char *file, char *at, struct err *err)
{
    int ended = 0, rc = 0;
    unsigned number = 1;
    char *line = next_line(&at);
    if (!line || strcmp(line, FIRST) != 0)
        return err_set(err, ERR_INPUT, "%s:1: not raw data of 'orrery calibrate': '%s' is expected",
                       file, FIRST);
    for (; rc == 0 && (line = next_line(&at));) {
        number++;
        if (strcmp(line, "# end") == 0)
            ended = 1;
        else if (*line == '#')
            add_property(raw, line);
        else if (*line && strcmp(line, HEADER) != 0)
            rc = add_record(raw, line, err);
    }
    if (rc)
        return err_prefix(err, "%s:%u", file, number);
    if (!ended)
        return err_set(err, ERR_INPUT, "%s:%u: '# end' is missing: the measurement did not end",
                       file, number);
    return 0;
}

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

int calibrate_raw_read(struct calibrate_raw *raw, const char *file, const char *text, size_t length,
                       struct err *err)
{
    char *copy = mem_try_alloc(length + 1, 1);
    memset(raw, 0, sizeof *raw);
    if (!copy)
        return err_set(err, ERR_MEMORY, "%s: not enough memory", file);
    if (length)
        memcpy(copy, text, length);
    copy[length] = 0;
    raw->hash = hash_of(text, length);
    int rc = memchr(copy, 0, length) ? err_set(err, ERR_INPUT, "%s: not a text", file)
                                     : read_lines(raw, file, copy, err);
    mem_free(copy);
    if (rc)
        calibrate_raw_fini(raw);
    return rc;
}

void calibrate_raw_fini(struct calibrate_raw *raw)
{
    for (size_t i = 0; i < raw->property_count; i++) {
        mem_free(raw->properties[i].name);
        mem_free(raw->properties[i].value);
    }
    mem_free(raw->properties);
    mem_free(raw->records);
    memset(raw, 0, sizeof *raw);
}

const struct calibrate_record *calibrate_raw_find(const struct calibrate_raw *raw, const char *kind,
                                                  enum calibrate_where where)
{
    for (size_t i = 0; i < raw->count; i++)
        if (strcmp(raw->records[i].kind, kind) == 0 &&
            (where == CALIBRATE_ANYWHERE || raw->records[i].where == where))
            return &raw->records[i];
    return NULL;
}

const char *calibrate_raw_property(const struct calibrate_raw *raw, const char *name)
{
    for (size_t i = 0; i < raw->property_count; i++)
        if (strcmp(raw->properties[i].name, name) == 0)
            return raw->properties[i].value;
    return "unknown";
}

unsigned calibrate_raw_number(const struct calibrate_raw *raw, const char *name)
{
    char *end;
    const char *text = calibrate_raw_property(raw, name);
    unsigned long value = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && value < 1u << 30 ? (unsigned)value : 0;
}
