/*
 * Fuzz target: summaries of runs, as a sweep reads them. A summary with a byte less at its end is none.
 */
#include <stdint.h>
#include <stdlib.h>

#include "results/summary_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct results_summary summary;
    while (size > 0 && data[size - 1] != '}')
        size--;
    if (results_summary_parse(data, size, &summary) &&
        results_summary_parse(data, size - 1, &summary))
        abort();
    return 0;
}
