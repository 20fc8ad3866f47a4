/*
 * Fuzz target: statistics files, JSON and CSV. What is accepted must be in range; what is not must
 * be refused as input, with a text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "results/stats_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct results_stats stats;
    struct err err = {0};

    if (results_stats_parse(&stats, data, size, &err)) {
        if (err.code != ERR_INPUT || !err.text[0])
            abort();
        return 0;
    }
    if (stats.ranks == 0 || stats.group == 0 || stats.entries > stats.ranks)
        abort();
    for (size_t i = 0; i < stats.count; i++)
        if (stats.pairs[i].source >= stats.entries || stats.pairs[i].destination >= stats.entries)
            abort();
    results_stats_fini(&stats);
    return 0;
}
