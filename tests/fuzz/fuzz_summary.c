/*
 * Fuzz target: summaries of runs, as a sweep reads them. A summary without its last byte is
 * refused.
 */
#include "fuzz_file.h"
#include "results/summary_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_summary(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_MAX];
    struct results_summary summary;
    int fd = fuzz_file(data, size, path), is = results_summary_read(path, &summary);
    close(fd);
    return is;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    while (size > 0 && data[size - 1] != '}')
        size--;
    if (is_summary(data, size) && is_summary(data, size - 1))
        abort();
    return 0;
}
