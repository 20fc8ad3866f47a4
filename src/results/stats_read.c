/*
 * stats_read.c - reads statistics files: detects the format, and checks what the readers
 * (stats_json.c, stats_csv.c) found. JSON begins with a brace, CSV with its line of titles.
 *
 * After success every pair is in range, and there are at most PAIRS_MAX of them.
 */
#include "results/stats_read.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/sys.h"
#include "results/stats_internal.h"

#define PAIRS_MAX ((size_t)1 << 28)

int results_stats_add(struct results_stats *stats, struct results_stats_pair pair, struct err *err)
{
    if (stats->count == stats->cap) {
        size_t cap = stats->cap ? 2 * stats->cap : 1024;
        struct results_stats_pair *more = NULL;

        if (stats->count == PAIRS_MAX)
            return err_set(err, ERR_INPUT, "more than %zu pairs", PAIRS_MAX);
        more = mem_try_alloc(cap, sizeof *more);
        if (!more)
            return err_set(err, ERR_MEMORY, "no memory for %zu pairs", cap);
        if (stats->count)
            memcpy(more, stats->pairs, stats->count * sizeof *more);
        mem_free(stats->pairs);
        stats->pairs = more;
        stats->cap = cap;
    }
    stats->pairs[stats->count++] = pair;
    return 0;
}

size_t results_stats_line(const char *data, size_t offset)
{
    const char *at = data, *end = data + offset;
    size_t line = 1;

    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        line++;
        at++;
    }
    return line;
}

static int check(struct results_stats *s, struct err *err)
{
    if (s->group > s->ranks)
        return err_set(err, ERR_INPUT, "groups of %u ranks in a run of %u ranks", s->group,
                       s->ranks);
    s->entries = (uint32_t)(((uint64_t)s->ranks + s->group - 1) / s->group);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t a = s->pairs[i].source, b = s->pairs[i].destination;

        if (a >= s->entries || b >= s->entries)
            return err_set(err, ERR_INPUT, "pair %zu: no %s %u in a run of %u ranks", i + 1,
                           s->group > 1 ? "group" : "rank", a >= s->entries ? a : b, s->ranks);
    }
    return 0;
}

static int starts_with(const char *data, size_t size, const char *text)
{
    size_t n = strlen(text);

    return size >= n && memcmp(data, text, n) == 0;
}

int results_stats_parse(struct results_stats *stats, const void *data, size_t size, struct err *err)
{
    struct results_stats s = {0};
    const char *text = data;
    size_t skip = 0;
    int rc;

    while (skip < size && strchr(" \t\r\n", text[skip]) && text[skip])
        skip++;
    if (skip == size)
        return err_set(err, ERR_INPUT, "it is empty");
    if (text[skip] == '{')
        rc = results_stats_json(&s, text, size, err);
    else if (starts_with(text, size, RESULTS_STATS_CSV_HEAD))
        rc = results_stats_csv(&s, text, size, err);
    else
        return err_set(err, ERR_INPUT, "line %zu: neither a JSON object nor the titles '%s'",
                       results_stats_line(text, skip), RESULTS_STATS_CSV_HEAD);
    if (rc == 0)
        rc = check(&s, err);
    if (rc)
        results_stats_fini(&s);
    else
        *stats = s;
    return rc;
}

/* `data` stays NULL if the file is empty. */
static int map_file(const char *path, void **data, size_t *size, struct err *err)
{
    int fd = sys_open(path, O_RDONLY, 0), error;
    struct stat st;

    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "cannot read statistics '%s': %s", path, strerror(errno));
    error = fstat(fd, &st) ? errno : 0;
    if (!error && S_ISREG(st.st_mode) && st.st_size > 0) {
        *size = (size_t)st.st_size;
        *data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
        error = *data == MAP_FAILED ? errno : 0;
    }
    sys_close(fd);
    if (error)
        return err_set(err, ERR_SYSTEM, "cannot read statistics '%s': %s", path, strerror(error));
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "cannot use statistics '%s': not a regular file", path);
    return 0;
}

int results_stats_read(struct results_stats *stats, const char *path, struct err *err)
{
    struct err why = {0};
    void *data = NULL;
    size_t size = 0;
    int rc = map_file(path, &data, &size, err);

    if (rc)
        return rc;
    rc = results_stats_parse(stats, data, size, &why);
    if (data)
        munmap(data, size);
    if (rc == ERR_INPUT)
        return err_set(err, ERR_INPUT,
                       "cannot use statistics '%s': %s; make the file with 'orrery run --stats'",
                       path, why.text);
    if (rc)
        return err_set(err, rc, "cannot use statistics '%s': %s", path, why.text);
    return 0;
}

void results_stats_fini(struct results_stats *stats)
{
    mem_free(stats->pairs);
    *stats = (struct results_stats){0};
}
