/*
 * stats_csv.c - the CSV reader of statistics: one table, whose first column names the kind of row.
 * Fields are never quoted. Rows of other kinds are skipped, but must have seven fields, too:
 *
 *     run,ranks,,,RANKS,,TIME
 *     pair,,SOURCE,DESTINATION,MESSAGES,BYTES,
 *     groups,ranks_per_entry,,,RANKS,,          before the first group_pair
 *     group_pair,,SOURCE,DESTINATION,MESSAGES,BYTES,
 */
#include <inttypes.h>
#include <string.h>

#include "results/stats_internal.h"

#define FIELDS 7

enum field { KIND, NAME, SOURCE, DESTINATION, COUNT };

struct field_text {
    const char *at;
    size_t len;
};

static int is(const struct field_text *f, const char *text)
{
    return f->len == strlen(text) && memcmp(f->at, text, f->len) == 0;
}

/* Decimal digits only, at most `max`. */
static int number(const struct field_text *f, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < f->len; i++) {
        unsigned digit = (unsigned)(f->at[i] - '0');

        if (digit > 9 || value > (max - digit) / 10)
            return 0;
        value = 10 * value + digit;
    }
    *out = value;
    return f->len > 0;
}

static int split(const char *line, size_t len, struct field_text *f)
{
    const char *end = line + len;

    for (int i = 0; i < FIELDS; i++) {
        const char *comma = memchr(line, ',', (size_t)(end - line));

        if (!comma != (i == FIELDS - 1))
            return 0;
        f[i] = (struct field_text){line, (size_t)((comma ? comma : end) - line)};
        line = comma ? comma + 1 : end;
    }
    return 1;
}

/* A count of ranks: of the run, or of a group. */
static int read_ranks(const struct field_text *f, uint32_t *out, struct err *err)
{
    uint64_t n;

    if (!number(&f[COUNT], UINT32_MAX, &n) || n == 0)
        return err_set(err, ERR_INPUT, "not a number of ranks: '%.*s'", (int)f[COUNT].len,
                       f[COUNT].at);
    *out = (uint32_t)n;
    return 0;
}

static int read_pair(struct results_stats *s, const struct field_text *f, struct err *err)
{
    uint64_t from, to, messages;

    if (!number(&f[SOURCE], UINT32_MAX, &from) || !number(&f[DESTINATION], UINT32_MAX, &to) ||
        !number(&f[COUNT], INT64_MAX, &messages))
        return err_set(err, ERR_INPUT, "a pair needs source, destination and count");
    return results_stats_add(s, (struct results_stats_pair){(uint32_t)from, (uint32_t)to, messages},
                             err);
}

static int read_line(struct results_stats *s, const char *line, size_t len, struct err *err)
{
    struct field_text f[FIELDS];

    if (!split(line, len, f))
        return err_set(err, ERR_INPUT, "not %d fields", FIELDS);
    if (is(&f[KIND], "run") && is(&f[NAME], "ranks"))
        return read_ranks(f, &s->ranks, err);
    if (is(&f[KIND], "groups"))
        return read_ranks(f, &s->group, err);
    if (is(&f[KIND], "group_pair") && !s->group)
        return err_set(err, ERR_INPUT,
                       "the size of the groups is missing (statistics as JSON contain it)");
    if (is(&f[KIND], "pair") || is(&f[KIND], "group_pair"))
        return read_pair(s, f, err);
    return 0;
}

int results_stats_csv(struct results_stats *stats, const char *data, size_t size, struct err *err)
{
    const char *at = data, *end = data + size;
    struct err why = {0};

    for (size_t line = 1; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);
        int rc;

        if (!newline)
            return err_set(err, ERR_INPUT, "line %zu: the file ends in the middle of a line", line);
        if (len > 0 && at[len - 1] == '\r')
            len--;
        rc = line == 1 ? 0 : read_line(stats, at, len, &why);
        if (rc)
            return err_set(err, rc, "line %zu: %s", line, why.text);
        at = newline + 1;
    }
    if (!stats->ranks)
        return err_set(err, ERR_INPUT, "no row 'run,ranks'");
    if (!stats->group)
        stats->group = 1;
    return 0;
}
