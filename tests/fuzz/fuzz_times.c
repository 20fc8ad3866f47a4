/*
 * Fuzz target: tables of times (--compute table, --counter-table). What is accepted is in order,
 * each entry once, and gives times that are neither negative nor infinite.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_file.h"
#include "run/times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(const struct run_times *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (run_times_find(t, t->entries[i].name) != &t->entries[i])
            abort();
        if (i && strcmp(t->entries[i - 1].name, t->entries[i].name) >= 0)
            abort();
    }
}

static void check_counts(const struct run_times *t)
{
    static const double counts[] = {0, 1, 1e3, 1e9, 1e18};
    for (size_t i = 1; i < t->count; i++)
        if (!(t->entries[i - 1].count < t->entries[i].count))
            abort();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (!(run_times_at(t, counts[i]) >= 0))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum run_times_kind kinds[] = {RUN_TIMES_NAMES, RUN_TIMES_COUNTS};
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    for (size_t k = 0; k < 2; k++) {
        struct run_times t;
        struct err err = {0};
        if (run_times_read(&t, path, kinds[k], &err)) {
            if (err.code != ERR_INPUT || !strstr(err.text, path))
                abort();
            continue;
        }
        for (size_t i = 0; i < t.count; i++)
            if (!(t.entries[i].seconds >= 0) || isinf(t.entries[i].seconds))
                abort();
        if (kinds[k] == RUN_TIMES_NAMES)
            check_names(&t);
        else
            check_counts(&t);
        run_times_fini(&t);
    }
    close(fd);
    return 0;
}
