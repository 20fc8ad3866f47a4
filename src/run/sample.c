/*
 * sample.c - reads the value of --sample.
 */
#define _GNU_SOURCE 1
#include "run/sample.h"

#include <string.h>

/* Reads digits only; 0: not a valid number. */
static uint64_t read_runs(const char *at, const char *end)
{
    uint64_t runs = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return 0;
        runs = 10 * runs + (uint64_t)(*at - '0');
        if (runs > RUN_SAMPLE_RUNS_MAX)
            return 0;
    }
    return runs;
}

static int read_one(const char *text, size_t length, struct run_sample *out, struct err *err)
{
    const char *colon = memrchr(text, ':', length);
    size_t name = colon ? (size_t)(colon - text) : 0;
    uint64_t runs = colon ? read_runs(colon + 1, text + length) : 0;
    if (name == 0 || name >= sizeof out->name || runs == 0)
        return err_set(err, ERR_INPUT, "bad sample '%.*s': expected REGION:RUNS, such as solve:10",
                       (int)(length < 100 ? length : 100), text);
    memset(out, 0, sizeof *out);
    memcpy(out->name, text, name);
    out->runs = runs;
    return 0;
}

int run_samples_read(const char *list, struct run_sample *samples, unsigned *count, struct err *err)
{
    for (;;) {
        struct run_sample s;
        size_t length = strcspn(list, ",");
        int rc = read_one(list, length, &s, err);
        if (rc)
            return rc;
        for (unsigned i = 0; i < *count; i++)
            if (strcmp(samples[i].name, s.name) == 0)
                return err_set(err, ERR_INPUT, "region '%s' is given twice", s.name);
        if (*count == RUN_SAMPLES_MAX)
            return err_set(err, ERR_INPUT, "at most %d regions", RUN_SAMPLES_MAX);
        samples[(*count)++] = s;
        if (!list[length])
            return 0;
        list += length + 1;
    }
}
