/*
 * Fuzz target: summaries of runs, as a sweep reads them. A summary with a byte less at its end is none.
 */
#include <stdint.h>
#include <stdlib.h>

#include "cli/sweep_summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sweep_summary summary;
    while (size > 0 && data[size - 1] != '}')
        size--;
    if (sweep_summary_parse(data, size, &summary) && sweep_summary_parse(data, size - 1, &summary))
        abort();
    return 0;
}
